"""Variance "share": the jackknife variance, times the share of it that is left at half the size.

The jackknife variance of an AUC is too large by the higher-order terms. From learning sets of half
a class, which can be disjoint, the midpoint of it and its lower bound says by how much; no larger
share is taken at the size of the folds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ucvtest.common.runtime import row_batches
from ucvtest.designs.draws import draw_orders, learning_sets
from ucvtest.evaluation.source import LossSource
from ucvtest.kernels.auc_ustatistic.placed import LearningSets
from ucvtest.kernels.auc_ustatistic.sums import Sums
from ucvtest.kernels.auc_ustatistic.variances import Answer, Effects, estimate
from ucvtest.methods.influence.plan import Layout

__all__ = ["Share", "draw_shares"]

PAIRS, PAIRS_FOR_EACH = 600, 5
"""Pairs of disjoint learning sets: altogether, and for each observation, at least."""

STAGE_CELLS = 500_000
"""Scores of a learner that are in memory at a time."""


@dataclass(frozen=True)
class Share:
    """What is left of the jackknife variance, 1 at most, with its Monte-Carlo standard error."""

    value: float
    mc_se: float

    @classmethod
    def of(cls, answer: Answer) -> "Share":
        """Of an AUC or a difference at half the size; 1 where the jackknife finds no variance."""
        midpoint = answer.values["midpoint"]
        if not midpoint < answer.jackknife:
            return cls(1.0, 0.0)
        value = midpoint / answer.jackknife
        errors = (
            answer.mc_se["midpoint"] / midpoint,
            answer.mc_se["jackknife"] / answer.jackknife,
        )
        # An upper bound: errors of the two go in the same direction.
        return cls(value, value * math.hypot(*errors))

    def of_variance(self, variance: float, mc_se: float) -> tuple[float, float]:
        """The share of a jackknife variance, and its Monte-Carlo standard error."""
        return self.value * variance, math.hypot(self.value * mc_se, self.mc_se * variance)


def draw_shares(layout: Layout, source: LossSource, rng: np.random.Generator) -> tuple[Share, ...]:
    """Fit to pairs of disjoint learning sets: for one learner; or the difference, and each."""
    n_pairs = max(PAIRS, PAIRS_FOR_EACH * layout.n_obs)
    sums, n_drawn = Sums(), 0
    for part in row_batches(n_pairs, 2 * layout.n_obs, STAGE_CELLS):
        size = part.stop - part.start
        learning = _drawn(layout, size, rng)
        seeds = rng.integers(2**31 - 1, size=len(learning))
        scores = [each.astype(float) for each in source.each(learning, ~learning, seeds)]
        sets = LearningSets(_by_class(layout, learning), n_drawn + np.arange(2 * size) % size)
        sums.rank(sets, [_by_class(layout, each) for each in scores])
        n_drawn += size
    contrasts: Sequence[tuple[int, ...]] = [(1, -1), (1, 0), (0, 1)] if source.paired else [(1,)]
    effects = Effects.of(sums)
    return tuple(Share.of(estimate(effects, weights)) for weights in contrasts)


def _drawn(layout: Layout, n_pairs: int, rng: np.random.Generator) -> np.ndarray:
    """Pairs of learning sets (2 n_pairs, n), the first ones of all pairs first."""
    sets = np.zeros((2, n_pairs, layout.n_obs), dtype=bool)
    for members, size in zip(layout.classes, layout.half_sizes, strict=True):
        orders = draw_orders(rng, n_pairs, len(members))
        for k in range(2):
            sets[k][:, members] = learning_sets(orders, k * size, size)
    return sets.reshape(2 * n_pairs, -1)


def _by_class(layout: Layout, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    positives, negatives = layout.classes
    return values[:, positives], values[:, negatives]
