"""From effects of observations to variances of an AUC, of two classes or more.

Squared lengths are products of different blocks of rows, which are free of Monte-Carlo noise.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isnan, nan
from typing import Self

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.first_order import influence_values, jackknife_by_class
from ucvtest.stats.jackknife import (
    midpoint,
    pair_effects_factor,
)

VARIANCES = ("midpoint", "jackknife")

ROWS_FOR_EACH = 4
"""Fewest rows for each observation: half as many coefficients are fitted to half of the rows."""

ROUGH = 0.5
"""Monte-Carlo error, as a share of a variance, above which it is not used. Simulated intervals
held from 600 learning sets, where it is .2 to .3 for differences of AUCs."""

NO_VARIANCE = 1e-10
"""Jackknife variances up to here are taken for none."""

MOST_GROUPS, ROWS_IN_GROUP = 8, 4
"""The jackknife takes products of 2 to 8 groups of blocks, of at least 4 rows an observation where
there are as many: coefficients from fewer rows are noisy."""


@dataclass(frozen=True, eq=False)
class AucEstimate:
    """The complete AUC (difference) with its variances by name; NaN if there is none.

    `mc_se` are their Monte-Carlo errors; `u` contains u of each class; `df` is NaN where the
    jackknife is zero.
    """

    auc: float
    values: Mapping[str, float]
    mc_se: Mapping[str, float]
    jackknife: float
    pair_effects: float
    u: tuple[np.ndarray, ...]
    df: float
    mc_se_estimate: float

    def reversed(self) -> Self:
        """The difference the other way round."""
        return replace(self, auc=-self.auc, u=tuple(-class_influence for class_influence in self.u))

    def is_rough(self, name: str) -> bool:
        """Whether the Monte-Carlo error of a variance is too large to rely on it.

        A variance of zero was estimated below zero, unless nothing varies.
        """
        variance = self.values[name]
        if variance == 0 and self.mc_se_estimate > 0:
            return True
        return not self.mc_se[name] <= ROUGH * variance

    @classmethod
    def of_few_rows(cls, auc: float, shape: Shape) -> Self:
        """The mean AUC of too few rows for anything else."""
        unknown = dict.fromkeys(VARIANCES, nan)
        u = tuple(np.full(n, nan) for n in shape.sizes)
        return cls(auc, unknown, unknown, nan, nan, u, nan, nan)


@dataclass(frozen=True)
class _Components:
    """The jackknife of each class, and the pair effects M2."""

    by_class: tuple[float, ...]
    pair_effects: float

    @property
    def jackknife(self) -> float:
        return sum(self.by_class)

    @property
    def variances(self) -> dict[str, float]:
        """The variances by name.

        "midpoint" is that of the jackknife and its lower bound, not below M2/2.
        """
        j, m2 = self.jackknife, self.pair_effects
        if not j > NO_VARIANCE:
            return dict.fromkeys(VARIANCES, nan)
        return {"midpoint": midpoint(j, m2), "jackknife": j}

    def df(self, sizes: tuple[int, ...]) -> float:
        """Welch's degrees of freedom."""
        if not self.jackknife > NO_VARIANCE:
            return nan
        jackknife_and_size = zip(self.by_class, sizes, strict=True)
        welch_df = self.jackknife**2 / sum(j**2 / (n - 1) for j, n in jackknife_and_size)
        return float(np.clip(welch_df, 1, sum(sizes) - len(sizes)))


@dataclass(frozen=True, eq=False)
class BlockGroups:
    """Single effects b from G groups of blocks, and from the group of each block without it.

    `singles` (G, ..., n) and `left` (K, ..., n) are times `weight` (G,) and `left_weight` (K,),
    shares of the rows; `of_block` (K,) is the group of each block.
    """

    singles: np.ndarray
    weight: np.ndarray
    left: np.ndarray
    left_weight: np.ndarray
    of_block: np.ndarray

    @classmethod
    def of(
        cls, b: np.ndarray, n_rows: np.ndarray, effects: Callable[[np.ndarray], np.ndarray]
    ) -> Self:
        """From b (..., n) of all rows, the rows of each block (K,), and what gives b of blocks."""
        blocks, total = np.arange(N_BLOCKS), n_rows.sum()
        n_groups = int(np.clip(total // (ROWS_IN_GROUP * b.shape[-1]), 2, MOST_GROUPS))
        of_block = blocks % n_groups
        members = [np.flatnonzero(of_block == k) for k in range(n_groups)]
        members += [blocks[(of_block == of_block[k]) & (blocks != k)] for k in blocks]
        weight = np.array([n_rows[group_blocks].sum() for group_blocks in members]) / total
        single = np.zeros((len(members), *b.shape))
        for k, group_blocks in enumerate(members):
            if weight[k] > 0:
                single[k] = weight[k] * effects(group_blocks)
        (singles, left_out_effects), (of_groups, left_out_weights) = (
            np.split(values_and_weights, [n_groups]) for values_and_weights in (single, weight)
        )
        return cls(singles, of_groups, left_out_effects, left_out_weights, of_block)

    def combined(self, weights: np.ndarray) -> Self:
        """Of a linear combination of the learners, which are the second axis."""
        singles, left_out_effects = (
            np.einsum("d,kdi->ki", weights, learner_effects)
            for learner_effects in (self.singles, self.left)
        )
        return replace(self, singles=singles, left=left_out_effects)


@dataclass(frozen=True, eq=False)
class VarianceParts:
    """Squared lengths of single and pair effects, with the factors that make variances of them.

    `b` (n,), class after class; `groups` is None of a complete design; `inner` (K, K) are the inner
    products of the blocks' pair effects, times their shares of the rows `weight` (K,).
    """

    shape: Shape
    b: np.ndarray
    groups: BlockGroups | None
    inner: np.ndarray
    weight: np.ndarray

    @classmethod
    def of_singles(
        cls, shape: Shape, b: np.ndarray, groups: BlockGroups | None, weight: np.ndarray
    ) -> Self:
        """Without effects of pairs, for the jackknife alone."""
        no_pairs = np.zeros((N_BLOCKS, N_BLOCKS))
        return cls(shape, b, groups, no_pairs, weight)

    def raw(self) -> _Components:
        """Squares as they are, of a complete design."""
        singles = jackknife_by_class(self.shape, self.b**2).tolist()
        return _Components(tuple(singles), float(self.inner.sum()))

    def crossed(self, groups: BlockGroups) -> list[_Components]:
        """Products of different blocks only: of all blocks, and without each of them."""
        raw = jackknife_by_class(self.shape, self.b**2)
        single = self._crossed_singles(groups)
        # Of a class whose products are negative, the squares as they are.
        single = np.where(single > 0, single, raw)
        pairs = np.maximum(self._crossed_pairs(), 0.0)
        component_rows = zip(single.tolist(), pairs.tolist(), strict=True)
        return [_Components(tuple(by_class), m2) for by_class, m2 in component_rows]

    def _crossed_singles(self, groups: BlockGroups) -> np.ndarray:
        by_class = partial(jackknife_by_class, self.shape)
        total, gone = groups.singles.sum(axis=0), groups.of_block
        totals = np.vstack([total, total - groups.singles[gone] + groups.left])
        same_group, left_same = by_class(groups.singles**2), by_class(groups.left**2)
        sames = np.vstack(
            [same_group.sum(axis=0), same_group.sum(axis=0) - same_group[gone] + left_same]
        )
        left_out = [
            np.append(np.delete(groups.weight, group), weight)
            for group, weight in zip(gone, groups.left_weight, strict=True)
        ]
        weight_of_pairs = [
            group_weights.sum() ** 2 - (group_weights**2).sum()
            for group_weights in (groups.weight, *left_out)
        ]
        crossed_squares: np.ndarray = (by_class(totals**2) - sames) / np.array(weight_of_pairs)[
            :, None
        ]
        return crossed_squares

    def _crossed_pairs(self) -> np.ndarray:
        different_blocks = self.inner - np.diag(np.diag(self.inner))
        shares = np.outer(self.weight, self.weight)
        np.fill_diagonal(shares, 0.0)
        sums_without_block = [
            block_matrix.sum() - np.append(0.0, 2 * block_matrix.sum(axis=0))
            for block_matrix in (different_blocks, shares)
        ]
        ratio: np.ndarray = sums_without_block[0] / sums_without_block[1]
        return ratio


def auc_estimate(auc: float, variance_parts: VarianceParts, mc_se_estimate: float) -> AucEstimate:
    """The estimate with its variances; the Monte-Carlo error of the AUC is known."""
    shape, mc_se = variance_parts.shape, dict.fromkeys(VARIANCES, 0.0)
    if variance_parts.groups is None:
        all_components = variance_parts.raw()
    else:
        all_components, *left_out = variance_parts.crossed(variance_parts.groups)
        leave_one_out = [components.variances for components in left_out]
        mc_se = {
            name: _error_by_blocks([group_variances[name] for group_variances in leave_one_out])
            for name in VARIANCES
        }
    values = all_components.variances
    return AucEstimate(
        auc=auc,
        values=values,
        mc_se={name: nan if isnan(value) else mc_se[name] for name, value in values.items()},
        jackknife=all_components.jackknife,
        pair_effects=all_components.pair_effects,
        u=influence_values(shape, variance_parts.b),
        df=all_components.df(shape.sizes),
        mc_se_estimate=mc_se_estimate,
    )


def default_variance(shape: Shape) -> str:
    """The variance that is meant where none is named."""
    # Of several classes the midpoint has not been tried.
    return "midpoint" if shape.paired and len(shape.sizes) == 2 else "jackknife"


def _error_by_blocks(left_out: list[float]) -> float:
    """Monte-Carlo standard error from the values without each of the blocks."""
    return float(np.sqrt((N_BLOCKS - 1) * np.var(left_out)))


def pair_factor(n: int, m: int) -> float:
    """What the sum of squared pair effects of one class is multiplied by, for i < k."""
    return pair_effects_factor(n, m) if n - m >= 2 else 0.0
