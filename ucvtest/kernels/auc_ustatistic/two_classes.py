"""The AUC of two classes and its variances, from the sums over learning sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from ucvtest.kernels.auc_ustatistic.block_sums import BlockSums
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS, LearningSets
from ucvtest.kernels.auc_ustatistic.first_order import FirstOrder, first_order
from ucvtest.kernels.auc_ustatistic.pair_effects import PairEffects
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.kernels.auc_ustatistic.variances import (
    AucEstimate,
    BlockGroups,
    VarianceParts,
    auc_estimate,
    pair_factor,
)
from ucvtest.stats.jackknife import first_order_factor


class TwoClasses(BlockSums):
    """Sums over the rankings of positives and negatives, the observations `members`.

    Placements of some `rows_at_a_time` stay in memory until their residuals are taken, by default
    those of all rows.
    """

    def __init__(
        self,
        members: Sequence[np.ndarray],
        *,
        exact: bool = False,
        rows_at_a_time: int | None = None,
    ) -> None:
        super().__init__(exact=exact)
        self._members, self._rows_at_a_time = members, rows_at_a_time
        self._effects: _Effects | None = None

    @property
    def n_learners(self) -> int:
        """Learners."""
        return len(self.pairs)

    def add(self, scores: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray) -> None:
        """Rank the scores (M, n) of each learner, looked at only where tested."""
        self._effects = None
        self.rank(
            LearningSets(self._by_class(learning), draw),
            [self._by_class(learner_scores.astype(float, copy=False)) for learner_scores in scores],
        )
        if self._rows_at_a_time is not None and self.n_waiting >= self._rows_at_a_time:
            self.settle()

    def _by_class(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        positives, negatives = self._members
        return values[:, positives], values[:, negatives]

    def mean(self, contrast: Sequence[float]) -> float:
        """The mean AUC, or a linear combination of them with a weight for each learner."""
        psi = self.pairs.sum(axis=(1, 2, 3))
        return float(np.dot(contrast, psi)) / (2 * np.prod(self.shape.tested) * self.n_rows)

    @property
    def covariance(self) -> np.ndarray:
        """The delete-one jackknife covariance matrix (D, D), by squares as they are."""
        effects_and_sizes = zip(
            self.shape.split(self._all_effects().b), self.shape.by_class, strict=True
        )
        class_jackknives = [
            first_order_factor(n, g + 1) * class_effects @ class_effects.T
            for class_effects, (n, g) in effects_and_sizes
        ]
        return np.asarray(sum(class_jackknives))

    def _all_effects(self) -> "_Effects":
        if self._effects is None:
            self._effects = _Effects.of(self)
        return self._effects

    def estimate(self, contrast: Sequence[float]) -> AucEstimate:
        """The estimate and its variances for a linear combination of the learners."""
        effects, weights = self._all_effects(), np.asarray(contrast, dtype=float)
        auc = float(weights @ effects.whole.auc)
        error = 0.0 if self.exact else _error_of_mean(self, weights)
        return auc_estimate(auc, effects.variance_parts(weights), error)

    def why_flat(self) -> NoVariance:
        """Why one learner has no variance."""
        n1 = self.shape.sizes[0]
        learnt = self.moments.learnt.sum(axis=0)
        # How often each pair was tested.
        n_pairs = self.n_rows - learnt[:n1, None] - learnt[n1:]
        n_pairs = n_pairs + self.moments.together.sum(axis=0)[:n1, n1:]
        (psi,) = self.pairs.sum(axis=1)
        if (psi == n_pairs).all():
            return NoVariance.EQUAL_SCORES
        if (psi == 2 * n_pairs).all() or not psi.any():
            return NoVariance.SEPARATED
        return NoVariance.OBSERVATIONS_ALIKE


@dataclass(frozen=True, eq=False)
class _Effects:
    """Effects of every learner: of all rows, of groups of blocks, and of pairs by block."""

    sums: BlockSums
    whole: FirstOrder
    b: np.ndarray
    groups: BlockGroups | None
    pairs: PairEffects
    weight: np.ndarray

    @classmethod
    def of(cls, sums: BlockSums) -> Self:
        """From the sums so far."""
        sums.settle()
        shape, n_rows = sums.shape, sums.moments.n_rows.astype(float)
        first_order_of_all = first_order(shape, sums.moments, np.arange(N_BLOCKS), exact=sums.exact)
        b = first_order_of_all.contributions(shape)

        def of_blocks(blocks: np.ndarray) -> np.ndarray:
            block_first_order = first_order(shape, sums.moments, blocks, exact=False)
            return block_first_order.contributions(shape)

        return cls(
            sums=sums,
            whole=first_order_of_all,
            b=b,
            groups=None if sums.exact else BlockGroups.of(b, sums.moments.n_rows, of_blocks),
            pairs=PairEffects.of(shape, n_rows, sums.residuals, sums.pairs),
            weight=n_rows / sums.n_rows,
        )

    def variance_parts(self, weights: np.ndarray) -> VarianceParts:
        """Squared lengths of a linear combination of the learners."""
        shape = self.sums.shape
        pair = [pair_factor(n, g + 1) / 2 for n, g in shape.by_class]
        first, second = (first_order_factor(n, g + 1) for n, g in shape.by_class)
        # Inner products of blocks are all that is needed of the pair effects from here on.
        block_products = np.zeros((N_BLOCKS, N_BLOCKS))
        for factor, tau in zip((*pair, first * second), vars(self.pairs).values(), strict=True):
            of_block = np.einsum("d,dkij->kij", weights, tau).reshape(N_BLOCKS, -1)
            of_block *= self.weight[:, None]
            block_products += factor * np.einsum("ki,li->kl", of_block, of_block)
        return VarianceParts(
            shape=shape,
            b=weights @ self.b,
            groups=None if self.groups is None else self.groups.combined(weights),
            inner=block_products,
            weight=self.weight,
        )


def _error_of_mean(sums: BlockSums, weights: np.ndarray) -> float:
    """Monte-Carlo standard error of the AUC: its residuals, summed over the rows of each draw.

    The fit of n - 1 coefficients makes residuals smaller than errors are, and has its own noise.
    """
    freedom = 1 - (sums.shape.n_obs - 1) / sums.n_rows
    squares = float(weights @ sums.squares @ weights) * sums.n_draws / (sums.n_draws - 1) / freedom
    return float(np.sqrt(squares) / sums.n_rows)
