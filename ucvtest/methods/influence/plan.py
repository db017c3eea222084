"""What is resampled, and the options of a fit with their checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ucvtest.common.checks import as_integer, check_choice

__all__ = [
    "METRICS",
    "SCHEME_WORDS",
    "SINGLE",
    "Layout",
    "Metric",
    "Options",
    "Scheme",
    "Variance",
    "check_class_sizes",
    "check_variance",
    "resampled_classes",
]

Metric = Literal["auc", "error"]
Scheme = Literal["monte_carlo", "repeated", "bootstrap", "kfold", "leave_one_out"]
Variance = Literal[
    "influence", "term_1", "adhoc_1", "adhoc_2", "adhoc_3", "adhoc_3_mle", "adhoc_monte_carlo"
]

METRICS: tuple[Metric, ...] = get_args(Metric)
VARIANCES: tuple[Variance, ...] = get_args(Variance)
DEFAULT_REPEATS = {"monte_carlo": 1000, "repeated": 100, "bootstrap": 1000}
SINGLE = ("kfold", "leave_one_out")
"""Schemes with one repeat: not smooth."""

WITH_FOLDS = ("monte_carlo", "repeated", "kfold")

SCHEME_WORDS = {
    "monte_carlo": "Monte-Carlo cross-validation",
    "repeated": "repeated K-fold cross-validation",
    "bootstrap": "leave-one-out bootstrap",
    "kfold": "K-fold cross-validation",
    "leave_one_out": "leave-one-out cross-validation",
}


def resampled_classes(n_obs: int, target: np.ndarray | None) -> tuple[np.ndarray, ...]:
    """What is resampled by itself: positives and negatives, or without a target all."""
    if target is None:
        return (np.arange(n_obs),)
    return (np.flatnonzero(target == 1), np.flatnonzero(target == 0))


@dataclass(frozen=True, eq=False)
class Layout:
    """The classes resampled by themselves (see `resampled_classes`), and the number of folds."""

    classes: tuple[np.ndarray, ...]
    n_folds: int

    @property
    def metric(self) -> Metric:
        """What is estimated: the AUC compares two classes, the error rate knows one of all."""
        return "auc" if len(self.classes) == 2 else "error"

    @property
    def unit(self) -> str:
        """What is tested: a pair, or an observation."""
        return "pair" if self.metric == "auc" else "observation"

    @property
    def n_obs(self) -> int:
        """Observations of the sample."""
        return sum(map(len, self.classes))

    @property
    def positive(self) -> np.ndarray:
        """Which observations are positives, (n,), where there are two classes."""
        return np.isin(np.arange(self.n_obs), self.classes[0])

    def learn_sizes(self, scheme: str) -> tuple[int, ...]:
        """The sizes of the learning sets of a scheme: one, or the smallest and the largest."""
        if scheme == "bootstrap":
            return (self.n_obs,)
        if scheme == "leave_one_out":
            return (self.n_obs - len(self.classes),)
        sizes = list(map(len, self.classes))
        fewest = self.n_obs - sum(-(-size // self.n_folds) for size in sizes)
        most = self.n_obs - sum(size // self.n_folds for size in sizes)
        return (most,) if scheme == "monte_carlo" or fewest == most else (fewest, most)

    def variances(self, scheme: str) -> tuple[str, ...]:
        """The variances that exist for a scheme."""
        if scheme == "bootstrap":
            return ("influence", "term_1")
        if scheme == "monte_carlo":
            return ("influence", "term_1", "adhoc_monte_carlo")
        if self.metric == "error":
            # The first three ad-hoc forms are one and the same for a single sample.
            return ("influence", "term_1", "adhoc_1", "adhoc_3_mle")
        if scheme == "leave_one_out" and len(set(map(len, self.classes))) > 1:
            # (8b) pairs folds of the same number, so it needs as many of each class.
            return ("influence", "term_1", "adhoc_1", "adhoc_3", "adhoc_3_mle")
        return ("influence", "term_1", "adhoc_1", "adhoc_2", "adhoc_3", "adhoc_3_mle")


@dataclass(frozen=True)
class Options:
    """The validated options of a fit."""

    n_repeats: int
    scheme: str
    variance: str

    @classmethod
    def checked(
        cls, layout: Layout, response: np.ndarray, n_repeats: Any, scheme: Any, variance: Any
    ) -> "Options":
        """The options of a test that is made from data; `response` are the user's own labels."""
        check_choice("scheme", scheme, SCHEME_WORDS)
        if scheme in WITH_FOLDS:
            check_class_sizes(layout.classes, response, layout.n_folds)
        if scheme in SINGLE:
            if n_repeats is not None and as_integer("n_repeats", n_repeats) != 1:
                raise ValueError(
                    f"scheme={scheme!r} has one repeat, got n_repeats={n_repeats!r}: use "
                    "scheme='repeated' for more"
                )
            n_repeats = 1
        elif n_repeats is None:
            n_repeats = DEFAULT_REPEATS[scheme]
        if as_integer("n_repeats", n_repeats) < 1:
            raise ValueError(f"n_repeats must be at least 1, got {n_repeats}")
        check_variance(layout, scheme, variance)
        return cls(int(n_repeats), scheme, variance)


def check_class_sizes(classes: Sequence[np.ndarray], response: np.ndarray, n_folds: int) -> None:
    """Refuse classes with fewer observations than folds."""
    fewest = min(classes, key=len)
    if len(fewest) >= n_folds:
        return
    if len(classes) == 1:
        raise ValueError(
            f"n_folds={n_folds} needs at least {n_folds} observations, got {len(fewest)}: use "
            "fewer folds, or scheme='leave_one_out'"
        )
    label = response[fewest].tolist()[0]
    remedy = f"use n_folds <= {len(fewest)}, or scheme='leave_one_out'"
    raise ValueError(
        f"n_folds={n_folds} needs at least {n_folds} observations of each class, but class "
        f"{label!r} has {len(fewest)}: {remedy if len(fewest) > 1 else 'collect more of them'}"
    )


def check_variance(layout: Layout, scheme: str, variance: Any) -> None:
    """Refuse variances that do not exist for the scheme."""
    offered = layout.variances(scheme)
    if not isinstance(variance, str) or variance not in offered:
        known = isinstance(variance, str) and variance in VARIANCES
        problem = f"does not exist for scheme={scheme!r}, metric={layout.metric!r}"
        raise ValueError(
            f"variance={variance!r:.60} {problem if known else 'is unknown'}: use one of "
            f"{', '.join(offered)}"
        )
