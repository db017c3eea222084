"""The cross-validated losses whose mean is the estimate, and the range of their values."""

import math

import numpy as np

from ucvtest.common.execution import row_batches
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.methods.fold_covariance.options import Estimator

__all__ = ["cross_validated_losses", "range_width"]

ROW_CELLS = 4_000_000
"""Losses (fits times observations) that are in memory at a time."""


def cross_validated_losses(
    folds: np.ndarray,
    n_folds: int,
    estimator: Estimator,
    rng: np.random.Generator,
    source: LossSource,
) -> np.ndarray:
    """The e of section 2.5, whose mean is the estimate, (1, R, n).

    Of two learners those of the difference, of the first and of the other, (3, R, n).

    The loss after learning without the fold; for the jackknife K times the loss after learning
    everything less the losses after leaving out the other folds. The source is asked for all folds
    of one repetition after the other; the jackknife asks before for the losses after learning
    everything.
    """

    def losses(learning: np.ndarray, testing: np.ndarray) -> np.ndarray:
        seeds = rng.integers(2**31 - 1, size=len(learning))
        each = source.losses_for(learning, testing, seeds)
        # Counts of errors come in integers too small for K times a loss.
        return np.array([each[0] - each[1], *each] if source.paired else each, dtype=float)

    jackknife = estimator == "jackknife"
    n_repeats, n_obs = folds.shape
    e = np.zeros((3 if source.paired else 1, *folds.shape))
    if jackknife:
        everything = np.ones((1, n_obs), dtype=bool)
        e += n_folds * losses(everything, everything)
    for rows in row_batches(n_repeats * n_folds, n_obs, ROW_CELLS):
        repeat, left_out = np.divmod(np.arange(rows.start, rows.stop), n_folds)
        held = folds[repeat] == left_out[:, None]
        found = losses(~held, np.ones_like(held) if jackknife else held)
        if jackknife:
            found = np.where(held, 0.0, -found)
        # Fold by fold, each of which a repetition has once.
        for fold in range(n_folds):
            rows_of_fold = left_out == fold
            e[:, repeat[rows_of_fold]] += found[:, rows_of_fold]
    return e


def range_width(
    bounds: tuple[float, float] | None, n_folds: int, estimator: Estimator, *, paired: bool
) -> float:
    """Width of the range of `cross_validated_losses`; infinite for a loss without bounds."""
    if bounds is None:
        return math.inf
    width = bounds[1] - bounds[0]
    if estimator == "jackknife":
        # K times one loss less K - 1 others.
        width *= 2 * n_folds - 1
    return width * (2 if paired else 1)
