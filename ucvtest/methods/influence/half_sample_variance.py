"""Variance "share": the jackknife variance times a share, estimated at half the size.

The jackknife variance of an AUC is too large by the higher-order terms. With learning sets of half
a class, which can be disjoint, the midpoint of this variance and its lower bound shows by how much.
The same share is used at the size of the folds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ucvtest.common.execution import row_batches
from ucvtest.designs.within_classes import WithinClasses
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.kernels.ustatistic.aucs import AucEstimate
from ucvtest.kernels.ustatistic.columns import Ranked
from ucvtest.kernels.ustatistic.contrasts import Estimate, estimate
from ucvtest.kernels.ustatistic.placements import two_classes
from ucvtest.kernels.ustatistic.rows import Rows, Strata
from ucvtest.methods.influence.options import Layout

PAIRS, PAIRS_FOR_EACH = 600, 5
"""Least number of pairs of disjoint learning sets: in total, and for each observation."""

STAGE_CELLS = 500_000
"""Most scores of a learner in memory at a time."""


@dataclass(frozen=True)
class HalfSampleShare:
    """The remaining share of the jackknife variance, at most 1, with its Monte-Carlo error."""

    value: float
    mc_se: float

    @classmethod
    def of(cls, estimate: Estimate) -> "HalfSampleShare":
        """The share for an AUC or a difference at half the size; 1 if the jackknife is 0."""
        variances, mc_errors = estimate.variances, estimate.errors
        midpoint, jackknife = variances.get("midpoint", math.nan), variances["jackknife"]
        if estimate.flat("jackknife") or not midpoint < jackknife:
            return cls(1.0, 0.0)
        value = midpoint / jackknife
        errors = mc_errors["midpoint"] / midpoint, mc_errors["jackknife"] / jackknife
        # An upper bound, because errors of the two have the same direction.
        return cls(value, value * math.hypot(*errors))

    def of_variance(self, variance: float, mc_se: float) -> tuple[float, float]:
        """The share of a jackknife variance, and its Monte-Carlo standard error."""
        return self.value * variance, math.hypot(self.value * mc_se, self.mc_se * variance)


def draw_shares(
    layout: Layout, source: LossSource, rng: np.random.Generator
) -> tuple[HalfSampleShare, ...]:
    """Fit to pairs of disjoint learning sets, for one learner, or for the difference and each."""
    n_pairs = max(PAIRS, PAIRS_FOR_EACH * layout.n_obs)
    sets = WithinClasses.of(layout.classes, layout.half_sizes)
    strata = Strata.of(layout.classes, layout.half_sizes)
    columns = Ranked(strata, 2 if source.paired else 1, two_classes()[::-1, ::-1])
    sums, n_drawn = Rows(strata, columns.n_columns), 0
    for pair_rows in row_batches(n_pairs, 2 * layout.n_obs, STAGE_CELLS):
        size = pair_rows.stop - pair_rows.start
        learning = sets.drawn(rng, size)
        seeds = rng.integers(2**31 - 1, size=len(learning))
        scores = source.losses_for(learning, ~learning, seeds)
        draw = n_drawn + sets.draws(size)
        sums.add(columns.placed(scores, learning, draw, sums.pair), learning, draw)
        n_drawn += size
    effects = sums.effects()
    contrasts: Sequence[tuple[int, ...]] = [(0, 1), (0,), (1,)] if source.paired else [(0,)]
    return tuple(
        HalfSampleShare.of(estimate(effects, columns.contrast(places, effects.u), AucEstimate))
        for places in contrasts
    )
