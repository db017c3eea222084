"""The inputs of curves: labels and predictions, read and validated once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_is_float, check_number
from ucvtest.common.execution import make_generator
from ucvtest.curves.fields import DIFFERENCE
from ucvtest.data.groups import Groups, as_groups
from ucvtest.losses.table import Losses

__all__ = ["Inputs", "as_thresholds", "distinct_scores", "read_inputs"]

MOST_LEARNERS = 2

MOST_POINTS = 100
"""Number of points if the user names no thresholds; thresholds between them change little."""

LARGEST_SEED = 2**31
"""Upper limit of the seeds that are drawn from a Generator."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """The predictions of one or two rules for the same rows.

    Parameters
    ----------
    positive : ndarray of bool, shape (n,)
    scores : ndarray, shape (L, n)
    learners : tuple of str
    groups : Groups or None
    n_folds : int
        0 if the rules are fixed.
    pos_label : object
        The positive class, in the form for settings.
    alpha : float
    seed : int
    """

    positive: np.ndarray
    scores: np.ndarray
    learners: tuple[str, ...]
    groups: Groups | None
    n_folds: int
    pos_label: Any
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
    check_is_float("alpha", alpha, "0.05")
    check_number("alpha", alpha, low=1e-6, high=0.5)
    generator, seed = make_generator(rng)
    try:
        losses = Losses.from_predictions(
            y, predictions, loss="auc", groups=groups, pos_label=pos_label, fold=fold
        )
    except ValueError as error:
        # Curves have no argument called loss.
        raise ValueError(str(error).replace("loss='auc'", "a curve")) from None
    if len(losses.learners) > MOST_LEARNERS:
        raise ValueError(
            f"predictions contains {len(losses.learners)} rules, but a curve shows one rule, or "
            "two and their difference: pass one or two of them at a time"
        )
    if DIFFERENCE in losses.learners:
        raise ValueError(
            f"predictions has the key {DIFFERENCE!r}, which here means one rule minus the other: "
            "rename it"
        )
    scores, target = _by_row(losses), losses.target
    assert target is not None
    if not np.isfinite(scores).all():
        raise ValueError(
            "predictions contains infinite scores, which lie on one side of every threshold: "
            "replace them by finite numbers beyond all others"
        )
    if probabilities and (scores.min() < 0 or scores.max() > 1):
        raise ValueError(
            f"predictions goes from {scores.min():.3g} to {scores.max():.3g}, but probabilities "
            "lie between 0 and 1: pass predict_proba(X)[:, 1], or use uv.curves.roc for other "
            "scores"
        )
    return Inputs(
        positive=target == 1,
        scores=scores,
        learners=losses.learners,
        groups=as_groups(losses.groups, len(target)),
        n_folds=0 if fold is None else losses.design.n_resamples,
        pos_label=losses.settings.get("pos_label"),
        alpha=float(alpha),
        seed=int(generator.integers(LARGEST_SEED)) if seed is None else seed,
    )


def _by_row(losses: Losses) -> np.ndarray:
    """The scores (L, n) in the order of the rows; losses have them fold by fold."""
    testing = losses.design.testing
    rows = np.nonzero(testing)[1]
    if len(rows) > testing.shape[1]:
        raise ValueError(
            "fold has several repeats of the cross-validation, but a curve counts each row once: "
            "pass fold and predictions of one repeat"
        )
    scores_by_row = np.empty((len(losses.learners), len(rows)))
    scores_by_row[:, rows] = losses.known_values
    return scores_by_row


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


def distinct_scores(scores: np.ndarray) -> np.ndarray:
    """All scores that occur, but no more than a curve has points."""
    distinct = np.unique(scores)
    if len(distinct) <= MOST_POINTS:
        return distinct
    return distinct[np.linspace(0, len(distinct) - 1, MOST_POINTS).round().astype(int)]
