"""The inputs of curves: labels and predictions, read and validated once."""

import re
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import AtLeast, declared
from ucvtest.common.execution import make_generator
from ucvtest.curves.result import DIFFERENCE
from ucvtest.curves.scored_rows import ScoredRows, scored_rows
from ucvtest.losses.predicted import quoted
from ucvtest.losses.table import Losses

MOST_LEARNERS = 2

MOST_POINTS = 100
"""Number of points if the user names no thresholds; thresholds between them change little."""

MOST_POINTS_OF_LEARNERS = 40
"""The same for learners, whose variances are computed point by point."""

LARGEST_SEED = 2**31
"""Upper limit of the seeds that are drawn from a Generator."""


@dataclass(frozen=True, eq=False)
class Inputs(ScoredRows):
    """The scores of one or two rules or learners, with the level and a seed."""

    alpha: float
    seed: int


def read_inputs(
    y: Any,
    predictions: Any,
    *,
    pos_label: Any,
    groups: Any,
    fold: Any,
    alpha: Any,
    rng: Any,
    probabilities: bool = False,
) -> Inputs:
    """Read the inputs that all curves have in common; see `roc`.

    Raises
    ------
    ValueError
        If an input cannot be used.
    """
    declared("alpha", alpha, Annotated[float, AtLeast(1e-6, 0.5)], 0.05)
    generator, seed = make_generator(rng)
    if isinstance(y, Losses):
        for name, value in (("pos_label", pos_label), ("groups", groups), ("fold", fold)):
            if value is not None:
                raise ValueError(
                    f"{name} is known to the losses, which were made with it: leave it out"
                )
        tested = scored_rows(y, predictions)
    else:
        tested = _of_predictions(y, predictions, pos_label=pos_label, groups=groups, fold=fold)
    named_in = "the losses" if isinstance(y, Losses) else "predictions"
    if len(tested.learners) > MOST_LEARNERS:
        raise ValueError(
            f"{named_in}: there are {len(tested.learners)} ({', '.join(tested.learners)}), but a "
            "curve shows one, or two and their difference: name one or two of them in predictions"
        )
    if DIFFERENCE in tested.learners:
        raise ValueError(
            f"{named_in}: the name {DIFFERENCE!r} means one minus the other here: use another name"
        )
    if probabilities and isinstance(y, Losses) and y.metric.output != "probability":
        raise ValueError(
            f"the losses (loss={y.loss!r}) keep scores, whose scale is not known, but this curve "
            f"needs probabilities: {_probabilities(y)}"
        )
    for name, scores in zip(tested.learners, tested.scores, strict=True):
        if not np.isfinite(scores).all():
            raise ValueError(
                f"{quoted(name)} contains infinite scores, which lie on one side of every "
                "threshold: replace them by finite numbers beyond all others"
            )
        if probabilities and (scores.min() < 0 or scores.max() > 1):
            raise ValueError(
                f"{quoted(name)} goes from {scores.min():.3g} to {scores.max():.3g}, but "
                f"probabilities lie between 0 and 1: {_probabilities(y)}, or use uv.curves.roc for "
                "other scores"
            )
    if seed is None:
        seed = int(generator.integers(LARGEST_SEED))
    return Inputs(**vars(tested), alpha=float(alpha), seed=seed)


def _probabilities(y: Any) -> str:
    if isinstance(y, Losses):
        return "make the losses with uv.evaluate(..., metric='brier_skill')"
    return "pass predict_proba(X)[:, 1]"


def _of_predictions(
    y: Any, predictions: Any, *, pos_label: Any, groups: Any, fold: Any
) -> ScoredRows:
    """Predictions that exist, read as losses read them."""
    if predictions is None:
        raise ValueError(
            "predictions is missing: pass the scores of one or two rules by name, such as "
            "{'a': scores}; or pass losses of uv.evaluate alone"
        )
    if isinstance(predictions, Losses):
        raise ValueError("predictions are losses, which take the place of y: pass them alone")
    try:
        losses = Losses.from_predictions(
            y, predictions, loss="auc", groups=groups, pos_label=pos_label, fold=fold
        )
    except ValueError as error:
        # Curves have no argument called loss.
        raise ValueError(re.sub(r"(?:loss=)?'auc'", "a curve", str(error))) from None
    if (losses.design.testing.sum(axis=0) > 1).any():
        raise ValueError(
            "fold has several repeats of the cross-validation, but a curve counts each row once: "
            "pass fold and predictions of one repeat"
        )
    return scored_rows(losses)


def as_thresholds(
    user_thresholds: Any, *, low: float = -np.inf, high: float = np.inf
) -> np.ndarray:
    """The user's thresholds, in ascending order, each once.

    Raises
    ------
    ValueError
        If there are none, or if any does not lie strictly between `low` and `high`.
    """
    thresholds = np.unique(np.atleast_1d(as_numbers("thresholds", user_thresholds)))
    if thresholds.size and (low < thresholds).all() and (thresholds < high).all():
        return thresholds
    between = "finite numbers" if np.isinf(high) else f"numbers above {low:g} and below {high:g}"
    raise ValueError(f"thresholds must contain {between}, got {user_thresholds!r:.60}")


def distinct_scores(inputs: Inputs) -> np.ndarray:
    """All scores that occur, but no more than a curve has points."""
    distinct = np.unique(inputs.scores)
    most_points = MOST_POINTS if inputs.learning is None else MOST_POINTS_OF_LEARNERS
    if len(distinct) <= most_points:
        return distinct
    return distinct[np.linspace(0, len(distinct) - 1, most_points).round().astype(int)]
