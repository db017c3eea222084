"""From effects to variances: squared lengths by products of blocks, and what follows from them."""

from dataclasses import dataclass

import numpy as np

from ucvtest.kernels.auc_ustatistic.effects import (
    Additive,
    Moments,
    PairEffects,
    contributions,
    first_order,
    pair_effects,
)
from ucvtest.kernels.auc_ustatistic.placed import N_BLOCKS, LearningSets, Placed

__all__ = ["Answer", "estimate"]

NO_VARIANCE = 1e-10
"""Jackknife variances up to here are taken for none."""

MOST_GROUPS, ROWS_IN_GROUP = 8, 4
"""The jackknife takes products of 2 to 8 groups of blocks, of at least 4 rows an observation where
there are as many: coefficients from fewer rows are noisy."""


@dataclass(frozen=True, eq=False)
class Answer:
    """The complete AUC (difference) with its variances; `u` holds u1 and u0.

    `variance` and `df` are NaN where the jackknife is zero.
    """

    auc: float
    variance: float
    jackknife: float
    pair_effects: float
    u: tuple[np.ndarray, np.ndarray]
    df: float
    mc_se_estimate: float
    mc_se_variance: float
    mc_se_jackknife: float


@dataclass(frozen=True)
class _Parts:
    """The jackknife of each class, and the pair effects M2."""

    by_class: tuple[float, float]
    pair_effects: float

    @property
    def jackknife(self) -> float:
        return sum(self.by_class)

    def variance(self, *, midpoint: bool) -> float:
        """The midpoint of the jackknife and its lower bound, not below M2/2; or the jackknife."""
        j, m2 = self.jackknife, self.pair_effects
        if not j > NO_VARIANCE:
            return np.nan
        return max((j + j**2 / (j + m2)) / 2, m2 / 2) if midpoint else j

    def df(self, sizes: tuple[int, int]) -> float:
        """Welch's degrees of freedom."""
        if not self.jackknife > NO_VARIANCE:
            return np.nan
        parts = zip(self.by_class, sizes, strict=True)
        found = self.jackknife**2 / sum(j**2 / (n - 1) for j, n in parts)
        return float(np.clip(found, 1, sum(sizes) - 2))


def estimate(sets: LearningSets, placed: Placed, *, exact: bool) -> Answer:
    """The estimate and its variances; `exact` if the rows are all learning sets, each once."""
    sums = Moments.of(sets, placed)
    whole = first_order(sets, sums.total(np.arange(N_BLOCKS)), exact=exact)
    b = contributions(sets, whole)
    effects = pair_effects(sets, placed, Additive.of(sets, whole))
    squares = _Squares(sets, sums, effects, b)
    midpoint = all(2 * g <= n for n, g in zip(sets.sizes, sets.learn_sizes, strict=True))
    parts = squares.raw() if exact else squares.crossed()
    mc_se, mc_se_variance, mc_se_jackknife = 0.0, 0.0, 0.0
    if not exact:
        mc_se = _error_of_mean(effects.rows, sets)
        left_out = [squares.crossed(without=k) for k in range(N_BLOCKS)]
        mc_se_variance = _error_by_blocks([one.variance(midpoint=midpoint) for one in left_out])
        mc_se_jackknife = _error_by_blocks([one.jackknife for one in left_out])
    variance = parts.variance(midpoint=midpoint)
    scaled = (n * (n - 1) / (n - g - 1) for n, g in zip(sets.sizes, sets.learn_sizes, strict=True))
    u1, u0 = (each * factor for each, factor in zip(b, scaled, strict=True))
    return Answer(
        auc=whole.auc,
        variance=variance,
        jackknife=parts.jackknife,
        pair_effects=parts.pair_effects,
        u=(u1, u0),
        df=parts.df(sets.sizes),
        mc_se_estimate=mc_se,
        mc_se_variance=mc_se_variance if variance > 0 else np.nan,
        mc_se_jackknife=mc_se_jackknife,
    )


def _error_by_blocks(left_out: list[float]) -> float:
    """Monte-Carlo standard error from the values without each of the blocks."""
    return float(np.sqrt((N_BLOCKS - 1) * np.var(left_out)))


def _error_of_mean(residuals: np.ndarray, sets: LearningSets) -> float:
    """Monte-Carlo standard error of the AUC: its residuals, summed over the rows of each draw.

    The fit of n - 1 coefficients makes residuals smaller than errors are, and has its own noise.
    """
    by_draw = np.bincount(sets.draw, residuals - residuals.mean())
    n_rows, n_draws = len(residuals), len(by_draw)
    freedom = 1 - (sum(sets.sizes) - 1) / n_rows
    squares = (by_draw**2).sum() * n_draws / (n_draws - 1) / freedom**2
    return float(np.sqrt(squares) / n_rows)


# --------------------------------------------------------------------------- squared lengths


class _Squares:
    """Squared lengths of single and pair effects, with the factors that make variances of them."""

    def __init__(
        self,
        sets: LearningSets,
        sums: Moments,
        effects: PairEffects,
        b: tuple[np.ndarray, np.ndarray],
    ) -> None:
        self._sets, self._sums, self._b = sets, sums, b
        n_obs, n_rows = sum(sets.sizes), int(sums.n_rows.sum())
        n_groups = int(np.clip(n_rows // (ROWS_IN_GROUP * n_obs), 2, MOST_GROUPS))
        self._group = np.arange(N_BLOCKS) % n_groups
        self._of_groups: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}
        sizes = tuple(zip(sets.sizes, sets.learn_sizes, strict=True))
        self._single = [n * (n - 1) / (n - g - 1) ** 2 for n, g in sizes]
        factors = [*(_pair_factor(n, g + 1) / 2 for n, g in sizes), np.prod(self._single)]
        taus = (effects.positives, effects.negatives, effects.across)
        # Inner products of blocks are all that is needed of the pair effects from here on.
        self._inner = np.zeros((N_BLOCKS, N_BLOCKS))
        weight = sums.n_rows / n_rows
        for factor, tau in zip(factors, taus, strict=True):
            of_block = (tau * weight[:, None, None]).reshape(N_BLOCKS, -1)
            self._inner += factor * np.einsum("ki,li->kl", of_block, of_block)
        self._weight = weight

    def raw(self) -> _Parts:
        """Squares as they are, of a complete design."""
        j1, j0 = (
            float(factor * (b**2).sum()) for factor, b in zip(self._single, self._b, strict=True)
        )
        return _Parts((j1, j0), float(self._inner.sum()))

    def crossed(self, without: int | None = None) -> _Parts:
        """Products of different blocks only, one block left out where wanted."""
        kept = np.arange(N_BLOCKS) != (-1 if without is None else without)
        inner, weight = self._inner[np.ix_(kept, kept)], self._weight[kept]
        pairs = (inner.sum() - np.trace(inner)) / (weight.sum() ** 2 - (weight**2).sum())
        groups = [np.flatnonzero(kept & (self._group == k)) for k in np.unique(self._group)]
        groups = [blocks for blocks in groups if len(blocks)]
        weight = np.array([self._weight[blocks].sum() for blocks in groups])
        singles = [self._single_effects(blocks) for blocks in groups]
        by_class = []
        for c, (factor, whole) in enumerate(zip(self._single, self._b, strict=True)):
            weighted = weight[:, None] * np.array([b[c] for b in singles])
            total = (weighted.sum(axis=0) ** 2).sum() - (weighted**2).sum()
            found = total / (weight.sum() ** 2 - (weight**2).sum())
            by_class.append(factor * float(found if found > 0 else (whole**2).sum()))
        return _Parts((by_class[0], by_class[1]), max(0.0, float(pairs)))

    def _single_effects(self, blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        key = tuple(blocks.tolist())
        if key not in self._of_groups:
            first = first_order(self._sets, self._sums.total(blocks), exact=False)
            self._of_groups[key] = contributions(self._sets, first)
        return self._of_groups[key]


def _pair_factor(n: int, m: int) -> float:
    """What the sum of squared pair effects of one class is multiplied by, for i < k."""
    if n - m < 2:
        return 0.0
    return (n - 1) * (n - 2) ** 2 * (n - 3) / ((n - m) * (n - m - 1)) ** 2
