"""The cross-validated losses, whose mean is the estimate, and their decomposition."""

import math
from dataclasses import dataclass

import numpy as np

from ucvtest.common.execution import Execution, row_batches
from ucvtest.common.float64 import check_platform
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.evaluation.time_budget import check_fits
from ucvtest.inference.question import Question
from ucvtest.methods.fold_covariance.decomposition import Decomposition
from ucvtest.methods.fold_covariance.options import Estimator, FoldCovarianceOptions, FoldScheme

ROW_CELLS = 4_000_000
"""Number of losses (fits times observations) in memory at a time."""


@dataclass(frozen=True, eq=False)
class FoldCovarianceEstimates:
    """The decomposition of the estimate, and the losses (R, n) of each of two learners."""

    decomposition: Decomposition
    learner_losses: tuple[np.ndarray, ...]
    source: LossSource


def estimate(
    question: Question, scheme: FoldScheme, options: FoldCovarianceOptions, execution: Execution
) -> FoldCovarianceEstimates:
    """Cross-validate on given folds, or on new ones, and decompose the losses."""
    check_platform()
    folds = scheme.user_folds
    if folds is None:
        folds = scheme.drawn(options.n_repeats, execution.generator)
        problem, n_repeats = question.data("a fold"), len(folds)
        n_learners = len(problem.learners)
        needed_fits = n_learners * (n_repeats * scheme.n_folds + scheme.jackknife)
        execution.announce_total(needed_fits)
        check_fits(
            problem,
            problem.learnt_rows(scheme.n_units - min(scheme.fold_sizes)),
            needed_fits,
            execution,
            reason=f"{n_repeats} x {scheme.n_folds} folds of {n_learners} learners have "
            f"{needed_fits}",
            remedy="fewer folds or repeats",
        )
    n_folds, estimator, source = scheme.n_folds, scheme.estimator, question.losses(execution)
    e, *learner_losses = cross_validated_losses(
        folds, n_folds, estimator, execution.generator, source
    )
    bounds = question.metric.bounds
    decomposition = Decomposition(
        e=e,
        folds=folds,
        width=range_width(bounds, n_folds, estimator, paired=question.paired),
        jackknife=scheme.jackknife,
        hypothesis=question.hypothesis,
        rho=options.assumed,
        name=options.name,
    )
    return FoldCovarianceEstimates(decomposition, tuple(learner_losses), source)


def cross_validated_losses(
    folds: np.ndarray,
    n_folds: int,
    estimator: Estimator,
    rng: np.random.Generator,
    source: LossSource,
) -> np.ndarray:
    """The e of section 2.5, (1, R, n); their mean is the estimate.

    For two learners, the losses of the difference, of the first and of the other, (3, R, n).

    e is the loss after learning without the fold. For the jackknife, it is K times the loss after
    learning everything, minus the losses after leaving out the other folds. All folds of one
    repetition after the other are evaluated. The jackknife first evaluates the losses after
    learning everything.
    """

    def losses(learning: np.ndarray, testing: np.ndarray) -> np.ndarray:
        seeds = rng.integers(2**31 - 1, size=len(learning))
        learner_losses = source.losses_for(learning, testing, seeds)
        # Counts of errors come in integers too small for K times a loss.
        return np.array(
            [learner_losses[0] - learner_losses[1], *learner_losses]
            if source.paired
            else learner_losses,
            dtype=float,
        )

    jackknife = estimator == "jackknife"
    n_repeats, n_obs = folds.shape
    e = np.zeros((3 if source.paired else 1, *folds.shape))
    if jackknife:
        all_observations = np.ones((1, n_obs), dtype=bool)
        e += n_folds * losses(all_observations, all_observations)
    for rows in row_batches(n_repeats * n_folds, n_obs, ROW_CELLS):
        repeat, left_out = np.divmod(np.arange(rows.start, rows.stop), n_folds)
        held_out = folds[repeat] == left_out[:, None]
        fold_losses = losses(~held_out, np.ones_like(held_out) if jackknife else held_out)
        if jackknife:
            fold_losses = np.where(held_out, 0.0, -fold_losses)
        # Fold by fold; a repetition has each fold once.
        for fold in range(n_folds):
            rows_of_fold = left_out == fold
            e[:, repeat[rows_of_fold]] += fold_losses[:, rows_of_fold]
    return e


def range_width(
    bounds: tuple[float, float] | None, n_folds: int, estimator: Estimator, *, paired: bool
) -> float:
    """Width of the range of `cross_validated_losses`; infinite for a loss without bounds."""
    if bounds is None:
        return math.inf
    width = bounds[1] - bounds[0]
    if estimator == "jackknife":
        # K times one loss minus K - 1 others.
        width *= 2 * n_folds - 1
    return width * (2 if paired else 1)
