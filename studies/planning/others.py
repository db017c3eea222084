"""AUCs, groups and ratios: other questions than a difference of mean losses."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import ucvtest as uv
from studies.planning.problems import (
    CENTRED,
    PROBLEMS,
    RIDGES,
    Sampler,
    classes,
    crossed,
    quadratic,
)
from ucvtest.planning.typical_variances import SMOOTH, STEPS

OTHER_SIZES = (40, 100)


@dataclass(frozen=True)
class Other:
    """Another question than a difference of mean losses: its sampler also returns arguments.

    `least` is what v_1 is taken for at least, as a share of the jackknife.
    """

    name: str
    sampler: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray, dict[str, Any]]]
    learners: tuple[str, ...]
    effect: dict[str, float]
    question: dict[str, Any] = field(default_factory=dict)
    chosen: bool = True
    least: float = STEPS

    @property
    def sizes(self) -> dict[str, Any]:
        """Observations of each class, or groups, to learn from: of a pilot of 40."""
        if self.question.get("loss") != "auc":
            return {"learn_size": 19}
        return {"learn_size": (13, 5) if self.name == "auc, imbalanced" else (9, 9)}


def in_turn(sampler: Sampler, share: float = 0.5) -> Any:
    """Samples with fixed numbers of two classes, as the AUC has them."""

    def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        X, y = sampler(rng, 8 * n)
        positive = round(share * n)
        rows = np.r_[np.flatnonzero(y == 1)[:positive], np.flatnonzero(y == 0)[: n - positive]]
        return X[rows], y[rows], {}

    return drawn


def in_groups(shift: float, alike: float, size: int = 2) -> Any:
    """Groups of rows of one class, whose features are correlated."""

    def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        groups = np.repeat(np.arange(n), size)
        y = np.repeat(rng.integers(2, size=n), size)
        X = rng.normal(size=(size * n, 4)) + alike * rng.normal(size=(n, 4))[groups]
        X[:, 0] += shift * y
        return X, y, {"groups": groups}

    return drawn


def one_feature(shift: float, n_features: int) -> Sampler:
    """Two normal classes that differ in one of independent features."""

    def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.integers(2, size=n)
        X = rng.normal(size=(n, n_features))
        X[:, 0] += shift * y
        return X, y

    return sampler


def squares(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """A regression."""
    return *PROBLEMS["regression"].sampler(rng, n), {}


FIVE_POINTS, RANKED = {"difference": 0.05}, {"loss": "auc"}
OF_AUCS: tuple[tuple[str, Any, tuple[str, ...], bool], ...] = (
    ("auc", in_turn(one_feature(1.2, 4)), CENTRED, True),
    ("auc, correlated", in_turn(classes(0.6)), CENTRED, True),
    ("auc, neighbours", in_turn(classes(0.6)), ("knn:7", "lda"), True),
    ("auc, bayes", in_turn(one_feature(0.6, 6)), ("lda", "gaussian_nb"), True),
    ("auc, quadratic", in_turn(quadratic), ("qda", "lda"), True),
    ("auc, wide", in_turn(one_feature(1.6, 14)), CENTRED, True),
    ("auc, one learner", in_turn(one_feature(1.2, 4)), ("lda",), True),
    ("auc, logistic", in_turn(classes(0.4)), ("logistic:1", "gaussian_nb"), False),
    ("auc, crossed", in_turn(crossed), ("knn:5", "qda"), False),
    ("auc, imbalanced", in_turn(classes(0.8), 0.3), CENTRED, False),
    ("auc, one of neighbours", in_turn(classes(0.5)), ("knn:5",), False),
)
"""Name, sampler, learners, and whether a rule was chosen on it."""

OTHERS = (
    *(
        Other(
            *(name, sampler, learners),
            FIVE_POINTS if len(learners) == 2 else {"width": 0.1},
            RANKED,
            chosen=chosen,
        )
        for name, sampler, learners, chosen in OF_AUCS
    ),
    Other("groups", in_groups(1.5, 1.0), CENTRED, FIVE_POINTS),
    Other("groups, bayes", in_groups(1.0, 0.5), ("lda", "gaussian_nb"), FIVE_POINTS),
    Other("groups, neighbours", in_groups(1.5, 1.0), ("knn:3", "lda"), FIVE_POINTS),
    Other(
        *("groups of three", in_groups(1.2, 0.8, 3), ("knn:1", "nearest_centroid"), FIVE_POINTS),
        chosen=False,
    ),
    Other("ratio", squares, RIDGES, {"ratio": 1.3}, {"loss": "squared"}, least=SMOOTH),
)


def other_rows(each: Other, n_samples: int) -> Iterator[dict[str, Any]]:
    """What plans from pilots of 40 say of 100, and what other samples of 100 report."""
    pilot, n = OTHER_SIZES
    for sample in range(n_samples):
        rng = np.random.default_rng([9, sample])
        X, y, more = each.sampler(rng, pilot)
        asked = {**each.question, **each.effect, **more, **each.sizes}
        plan = uv.plan(X, y, *each.learners, **asked, n=n, curve=False, rng=sample)
        X, y, more = each.sampler(rng, n)
        contrast = {"contrast": "ratio"} if "ratio" in each.effect else {}
        question = {**each.question, **contrast, **more, **each.sizes}
        found = uv.UStatisticTest(X, y, *each.learners, **question).fit(n_pairs=600, rng=sample)
        row = {"predicted": plan.frame["se"][0], "jackknife": plan.settings["jackknife"]}
        row |= {"pair_effects": plan.settings["pair_effects"]}
        row |= {"reported": math.sqrt(max(found.variance, 0.0))}
        row |= {"estimate": math.log(found.estimate) if contrast else found.estimate}
        yield row | {"mc": found.diagnostics["mc_se_estimate"] ** 2}
