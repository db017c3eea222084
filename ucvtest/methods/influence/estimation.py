"""From options to influence values: draw resamples, evaluate them and sum up."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.words import arg
from ucvtest.evaluation.loss_source import FittedLosses, LossSource, PrecomputedLosses
from ucvtest.evaluation.problem import Problem
from ucvtest.kernels.influence.calls import repeats_needed
from ucvtest.kernels.influence.clusters import ClusterPairCounts, with_offset
from ucvtest.kernels.influence.estimate import Influence, Rows
from ucvtest.kernels.influence.large_tables import LARGE, LargePairCounts
from ucvtest.kernels.influence.sums import LossCounts, PairCounts
from ucvtest.methods.influence.half_sample_variance import HalfSampleShare, draw_shares
from ucvtest.methods.influence.options import InfluenceOptions, Layout
from ucvtest.methods.influence.resamples import (
    Bootstrap,
    Resamples,
    draw_bootstrap,
    draw_folds,
    single_folds,
)

STAGE_ROWS, STAGE_CELLS = 4096, 2_000_000
"""Most learning sets, and predictions, in memory at a time."""

UNCOVERED = 1e-6
"""Probability that some pair is still untested after the largest number of added repeats."""

MIN_REPEATS = 10
"""With fewer repeats their Monte-Carlo error cannot be estimated."""


# ---------------------------------------------------------------------------------- drawing


def draw_resamples(
    layout: Layout,
    options: InfluenceOptions,
    rng: np.random.Generator,
    most_repeats: int | None = None,
) -> Resamples:
    """Draw the resamples of a scheme; random test sets until every pair (observation) is tested.

    `most_repeats` is the number that a limit on fits allows.
    """
    classes, n_folds, scheme = layout.classes, layout.n_folds, options.scheme
    if scheme == "leave_one_out":
        return single_folds(classes)
    if scheme == "kfold" or (scheme == "repeated" and not layout.mixed):
        return draw_folds(rng, options.n_repeats, classes, n_folds, all_tested=True)
    draw: Callable[[int], Resamples] = partial(draw_bootstrap, rng, classes=classes)
    if scheme != "bootstrap":
        all_tested = scheme == "repeated"
        draw = partial(draw_folds, rng, classes=classes, n_folds=n_folds, all_tested=all_tested)
    return _covered(draw, layout, options.n_repeats, layout.tested_rate(scheme), most_repeats)


def times_tested(layout: Layout, resamples: Resamples) -> np.ndarray:
    """How often each pair, (n1, n0), or each observation, (n,), is tested."""
    if layout.pairs is None:
        return resamples.times_tested()
    return layout.pairs.times_together(resamples.parts(STAGE_CELLS))


def _covered(
    draw: Callable[[int], Resamples],
    layout: Layout,
    n_requested: int,
    tested_rate: float,
    most_repeats: int | None,
) -> Resamples:
    """The requested repeats, and more until every pair (observation) is tested.

    A repeat tests a given one with probability `tested_rate`.
    """
    resamples = draw(n_requested)
    tested = times_tested(layout, resamples)
    limit, remedy = n_requested + repeats_needed(tested_rate, tested.size, UNCOVERED), "n_repeats"
    if most_repeats is not None and most_repeats < limit:
        limit, remedy = most_repeats, f"{arg('max_fits')} or {arg('max_seconds')}, for repeats up"
    while not tested.all():
        if resamples.n_repeats >= limit:
            raise ValueError(
                f"{int((tested == 0).sum())} of {tested.size} "
                f"{layout.unit.replace('pair', 'pairs', 1)} were never tested in "
                f"{resamples.n_repeats} repeats: raise {remedy} to about "
                f"{repeats_needed(tested_rate, tested.size)} or more, or use fewer folds"
            )
        further_resamples = draw(
            min(max(n_requested // 10, MIN_REPEATS), limit - resamples.n_repeats)
        )
        tested += times_tested(layout, further_resamples)
        resamples = resamples.joined(further_resamples)
    return resamples


# ----------------------------------------------------------------------------------- losses


def fitted_losses(problem: Problem, resamples: Resamples, execution: Execution) -> FittedLosses:
    """Fits to the learning sets of these resamples, run on demand."""
    if isinstance(resamples, Bootstrap):
        return CopiedLosses(problem, execution, int(resamples.drawn.max()))
    return FittedLosses(problem, execution)


class CopiedLosses(FittedLosses):
    """Losses of learners that may learn from an observation several times, at most `copies`.

    The fitted sample contains `copies` of every observation, one after the other in blocks of n. An
    observation that is learnt from twice has two copies in the learning set.
    """

    def __init__(self, problem: Problem, execution: Execution, copies: int) -> None:
        sample = problem.sample
        index = np.tile(np.arange(sample.n_obs), copies)
        copied = replace(
            sample,
            features=sample.rows(index),
            response=sample.response[index],
            class_index=None if sample.class_index is None else sample.class_index[index],
            # Learners learn from copies of a sample, but designs are not drawn from them.
            groups=None,
        )
        super().__init__(replace(problem, sample=copied), execution)
        self._copies = copies
        self._of_copied = None if problem.loss is None else problem.clusters

    def losses_for(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> list[np.ndarray]:
        """See `LossSource`; `learning` counts how often each observation is learnt from."""
        clusters = self._of_copied
        if clusters is not None:
            index = clusters.groups.index
            learning, testing = learning[:, index], testing[:, index]
        n_obs = testing.shape[1]
        copied = np.hstack([learning > copy for copy in range(self._copies)])
        first = np.zeros_like(copied)
        first[:, :n_obs] = testing
        learner_losses = [values[:, :n_obs] for values in super().losses_for(copied, first, seeds)]
        if clusters is None:
            return learner_losses
        return [clusters.sums(values) for values in learner_losses]


# ------------------------------------------------------------------------------------- sums


@dataclass(frozen=True, eq=False)
class InfluenceEstimates:
    """The result of one pass of resampling: `influence` for the difference, `each` by learner.

    `all_tied` tells whether every rule gave one value to all tested observations. `shares` are
    shares of the jackknife variance, if requested: of the difference, then by learner.
    """

    influence: Influence
    learner_influences: tuple[Influence, ...]
    resamples: Resamples
    source: LossSource
    all_tied: bool
    shares: tuple[HalfSampleShare, ...] = ()


def estimate(
    problem: Problem, layout: Layout, options: InfluenceOptions, execution: Execution
) -> InfluenceEstimates:
    """Draw the resamples, fit the learners to their learning sets, and sum up their losses."""
    rng = execution.generator
    fits_of_repeat = layout.fits_of_repeat(options.scheme) * len(problem.learners)
    most_repeats = None if options.max_fits is None else options.max_fits // fits_of_repeat
    resamples = draw_resamples(layout, options, rng, most_repeats)
    source = fitted_losses(problem, resamples, execution)
    execution.announce_total(resamples.n_rows * len(problem.learners))
    estimates = estimates_from(layout, resamples, source, rng)
    if options.variance != "share":
        return estimates
    return replace(estimates, shares=draw_shares(layout, source, rng))


def estimates_from(
    layout: Layout, resamples: Resamples, source: LossSource, rng: np.random.Generator
) -> InfluenceEstimates:
    """Sum up the losses (scores) of all rows of the resamples."""
    row_batches = partial(resamples.parts, STAGE_CELLS, STAGE_ROWS)
    counts = _counts(layout, resamples.n_repeats, row_batches())
    sums = [counts.sums() for _ in range(2 if source.paired else 1)]
    all_tied = True
    for rows in row_batches():
        # Always drawn, so that the splits do not depend on which learners need a seed.
        seeds = rng.integers(2**31 - 1, size=len(rows.tested))
        tested = rows.tested if layout.pairs is None else layout.pairs.of_rows(rows.tested)
        for learner_sums, values in zip(sums, _values(layout, source, rows, seeds), strict=True):
            # Errors are small integers, in which sums would overflow.
            learner_sums.add(rows, values.astype(float, copy=False))
            # Whether every rule gives one value to all tested observations.
            highest = np.where(tested, values, -np.inf).max(axis=1)
            lowest = np.where(tested, values, np.inf).min(axis=1)
            all_tied = all_tied and bool((highest <= lowest).all())
    influences = [learner_sums.influence(row_batches()) for learner_sums in sums]
    if not layout.ranks_pairs and layout.clusters is not None:
        influences = [with_offset(influence, layout.clusters.offset) for influence in influences]
    return InfluenceEstimates(
        influence=influences[0] if len(influences) == 1 else influences[0].minus(influences[1]),
        learner_influences=tuple(influences),
        resamples=resamples,
        source=source,
        all_tied=all_tied,
    )


def _values(layout: Layout, source: LossSource, rows: Rows, seeds: np.ndarray) -> list[np.ndarray]:
    """Losses of the resampled units, or scores of the observations, by learner."""
    clusters = layout.clusters
    if clusters is None or (not layout.ranks_pairs and not isinstance(source, PrecomputedLosses)):
        return source.losses_for(rows.counts, rows.tested, seeds)
    # Scores, and existing losses, are of the rows of clusters.
    index = clusters.groups.index
    losses_or_scores = source.losses_for(rows.counts[:, index], rows.tested[:, index], seeds)
    if layout.ranks_pairs:
        return losses_or_scores
    return [clusters.sums(values) for values in losses_or_scores]


def _counts(layout: Layout, n_repeats: int, row_batches: Iterable[Rows]) -> PairCounts | LossCounts:
    """How often each unit is tested."""
    if not layout.ranks_pairs:
        return LossCounts.of(layout.n_obs, n_repeats, row_batches)
    if layout.pairs is not None:
        return ClusterPairCounts.of_pairs(layout.pairs, n_repeats, row_batches)
    n_positive = int(layout.positive.sum())
    large = n_positive * (layout.n_obs - n_positive) > LARGE
    counts: type[PairCounts] = LargePairCounts if large else PairCounts
    return counts.of(layout.positive, n_repeats, row_batches)
