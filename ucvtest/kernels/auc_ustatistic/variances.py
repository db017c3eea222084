"""From effects to variances: squared lengths by products of blocks, and what follows from them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ucvtest.kernels.auc_ustatistic.effects import FirstOrder, PairEffects, first_order
from ucvtest.kernels.auc_ustatistic.placed import N_BLOCKS, Shape
from ucvtest.kernels.auc_ustatistic.sums import Sums

__all__ = ["Answer", "estimates"]

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


def estimates(sums: Sums, contrasts: Sequence[Sequence[float]]) -> list[Answer]:
    """The answers for some linear combinations of learners, each a weight for every learner."""
    sums.settle()
    effects = _Effects.of(sums)
    return [_answer(sums, effects, np.asarray(weights, dtype=float)) for weights in contrasts]


def _answer(sums: Sums, effects: "_Effects", weights: np.ndarray) -> Answer:
    shape = sums.shape
    squares = _Squares(effects, weights)
    midpoint = all(2 * g <= n for n, g in shape.by_class)
    parts = squares.raw() if sums.exact else squares.crossed()
    mc_se, mc_se_variance, mc_se_jackknife = 0.0, 0.0, 0.0
    if not sums.exact:
        mc_se = _error_of_mean(sums, weights)
        left_out = [squares.crossed(without=k) for k in range(N_BLOCKS)]
        mc_se_variance = _error_by_blocks([one.variance(midpoint=midpoint) for one in left_out])
        mc_se_jackknife = _error_by_blocks([one.jackknife for one in left_out])
    variance = parts.variance(midpoint=midpoint)
    u1, u0 = (
        n * (n - 1) / (n - g - 1) * b
        for b, (n, g) in zip(shape.split(squares.b), shape.by_class, strict=True)
    )
    return Answer(
        auc=float(weights @ effects.whole.auc),
        variance=variance,
        jackknife=parts.jackknife,
        pair_effects=parts.pair_effects,
        u=(u1, u0),
        df=parts.df(shape.sizes),
        mc_se_estimate=mc_se,
        mc_se_variance=mc_se_variance if variance > 0 else np.nan,
        mc_se_jackknife=mc_se_jackknife,
    )


def _error_by_blocks(left_out: list[float]) -> float:
    """Monte-Carlo standard error from the values without each of the blocks."""
    return float(np.sqrt((N_BLOCKS - 1) * np.var(left_out)))


def _error_of_mean(sums: Sums, weights: np.ndarray) -> float:
    """Monte-Carlo standard error of the AUC: its residuals, summed over the rows of each draw.

    The fit of n - 1 coefficients makes residuals smaller than errors are, and has its own noise.
    """
    freedom = 1 - (sums.shape.n_obs - 1) / sums.n_rows
    squares = float(weights @ sums.squares @ weights) * sums.n_draws / (sums.n_draws - 1) / freedom
    return float(np.sqrt(squares) / sums.n_rows)


# --------------------------------------------------------------------------- squared lengths


@dataclass(frozen=True, eq=False)
class _Effects:
    """Effects of every learner: of all rows, of groups of blocks as needed, of pairs by block."""

    sums: Sums
    whole: FirstOrder
    pairs: PairEffects
    weight: np.ndarray
    group: np.ndarray
    of_groups: dict[tuple[int, ...], np.ndarray]

    @classmethod
    def of(cls, sums: Sums) -> "_Effects":
        shape, n_rows = sums.shape, sums.moments.n_rows.astype(float)
        n_groups = int(np.clip(sums.n_rows // (ROWS_IN_GROUP * shape.n_obs), 2, MOST_GROUPS))
        return cls(
            sums=sums,
            whole=first_order(shape, sums.moments, np.arange(N_BLOCKS), exact=sums.exact),
            pairs=PairEffects.of(shape, n_rows, sums.residuals, sums.pairs),
            weight=n_rows / sums.n_rows,
            group=np.arange(N_BLOCKS) % n_groups,
            of_groups={},
        )

    def single(self, blocks: np.ndarray) -> np.ndarray:
        """b (D, n) from some blocks."""
        key = tuple(blocks.tolist())
        if key not in self.of_groups:
            first = first_order(self.sums.shape, self.sums.moments, blocks, exact=False)
            self.of_groups[key] = first.contributions(self.sums.shape)
        return self.of_groups[key]


class _Squares:
    """Squared lengths of single and pair effects, with the factors that make variances of them."""

    def __init__(self, effects: _Effects, weights: np.ndarray) -> None:
        self._effects, self._weights = effects, weights
        self._shape: Shape = effects.sums.shape
        self.b = weights @ effects.whole.contributions(self._shape)
        self._single = [n * (n - 1) / (n - g - 1) ** 2 for n, g in self._shape.by_class]
        pair = [_pair_factor(n, g + 1) / 2 for n, g in self._shape.by_class]
        factors = (*pair, self._single[0] * self._single[1])
        # Inner products of blocks are all that is needed of the pair effects from here on.
        self._inner = np.zeros((N_BLOCKS, N_BLOCKS))
        for factor, tau in zip(factors, vars(effects.pairs).values(), strict=True):
            of_block = np.einsum("d,dkij->kij", weights, tau).reshape(N_BLOCKS, -1)
            of_block *= effects.weight[:, None]
            self._inner += factor * np.einsum("ki,li->kl", of_block, of_block)

    def raw(self) -> _Parts:
        """Squares as they are, of a complete design."""
        j1, j0 = self._squares_by_class(self.b)
        return _Parts((j1, j0), float(self._inner.sum()))

    def crossed(self, without: int | None = None) -> _Parts:
        """Products of different blocks only, one block left out where wanted."""
        effects = self._effects
        kept = np.arange(N_BLOCKS) != (-1 if without is None else without)
        inner, weight = self._inner[np.ix_(kept, kept)], effects.weight[kept]
        pairs = (inner.sum() - np.trace(inner)) / (weight.sum() ** 2 - (weight**2).sum())
        groups = [np.flatnonzero(kept & (effects.group == k)) for k in np.unique(effects.group)]
        groups = [blocks for blocks in groups if len(blocks)]
        weight = np.array([effects.weight[blocks].sum() for blocks in groups])
        singles = np.stack([self._weights @ effects.single(blocks) for blocks in groups])
        weighted = weight[:, None] * singles
        total = self._squares_by_class(weighted.sum(axis=0))
        same = self._squares_by_class(weighted)
        different = weight.sum() ** 2 - (weight**2).sum()
        by_class = [
            (x - y) / different if x > y else whole
            for x, y, whole in zip(total, same, self._squares_by_class(self.b), strict=True)
        ]
        return _Parts((by_class[0], by_class[1]), max(0.0, float(pairs)))

    def _squares_by_class(self, b: np.ndarray) -> tuple[float, float]:
        parts = zip(self._single, self._shape.split(b), strict=True)
        j1, j0 = (float(factor * (part**2).sum()) for factor, part in parts)
        return j1, j0


def _pair_factor(n: int, m: int) -> float:
    """What the sum of squared pair effects of one class is multiplied by, for i < k."""
    if n - m < 2:
        return 0.0
    return (n - 1) * (n - 2) ** 2 * (n - 3) / ((n - m) * (n - m - 1)) ** 2
