"""From effects to variances: squared lengths by products of blocks, and what follows from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ucvtest.kernels.auc_ustatistic.disjoint import unbiased
from ucvtest.kernels.auc_ustatistic.effects import FirstOrder, PairEffects, first_order
from ucvtest.kernels.auc_ustatistic.placed import N_BLOCKS, Shape
from ucvtest.kernels.auc_ustatistic.sums import Sums
from ucvtest.kernels.ustatistic.variances import clipped, geometric, midpoint

__all__ = ["VARIANCES", "Answer", "Effects", "estimate"]

NO_VARIANCE = 1e-10
"""Jackknife variances up to here are taken for none."""

MOST_GROUPS, ROWS_IN_GROUP = 8, 4
"""The jackknife takes products of 2 to 8 groups of blocks, of at least 4 rows an observation where
there are as many: coefficients from fewer rows are noisy."""


VARIANCES = ("midpoint", "clipped", "jackknife", "unbiased")


@dataclass(frozen=True, eq=False)
class Answer:
    """The complete AUC (difference) with its variances by name, NaN where there is none.

    `mc_se` are their Monte-Carlo errors; `u` holds u1 and u0, or u of each class; `df` is NaN
    where the jackknife is zero.
    """

    auc: float
    values: Mapping[str, float]
    mc_se: Mapping[str, float]
    jackknife: float
    pair_effects: float
    u: tuple[np.ndarray, ...]
    df: float
    mc_se_estimate: float


@dataclass(frozen=True)
class _Parts:
    """The jackknife of each class, the pair effects M2, and the unbiased variance or NaN."""

    by_class: tuple[float, float]
    pair_effects: float
    unbiased: float

    @property
    def jackknife(self) -> float:
        return sum(self.by_class)

    @property
    def variances(self) -> dict[str, float]:
        """The variances by name.

        "midpoint" is that of the jackknife and its lower bound, not below M2/2; "clipped" the
        unbiased one within these two.
        """
        j, m2 = self.jackknife, self.pair_effects
        if not j > NO_VARIANCE:
            return dict.fromkeys(VARIANCES, np.nan)
        within = clipped(self.unbiased, geometric(j, m2), j)
        found = (midpoint(j, m2), within, j, self.unbiased)
        return dict(zip(VARIANCES, found, strict=True))

    def df(self, sizes: tuple[int, int]) -> float:
        """Welch's degrees of freedom."""
        if not self.jackknife > NO_VARIANCE:
            return np.nan
        parts = zip(self.by_class, sizes, strict=True)
        found = self.jackknife**2 / sum(j**2 / (n - 1) for j, n in parts)
        return float(np.clip(found, 1, sum(sizes) - 2))


def estimate(effects: "Effects", contrast: Sequence[float]) -> Answer:
    """The answer for a linear combination of learners, with a weight for each of them."""
    weights, sums = np.asarray(contrast, dtype=float), effects.sums
    shape = sums.shape
    squares = _Squares(shape, effects, weights)
    mc_se, mc_se_estimate = dict.fromkeys(VARIANCES, 0.0), 0.0
    if sums.exact:
        parts = squares.raw()
    else:
        parts, *left_out = squares.crossed()
        mc_se_estimate = _error_of_mean(sums, weights)
        without = [one.variances for one in left_out]
        mc_se = {name: _error_by_blocks([each[name] for each in without]) for name in VARIANCES}
    u1, u0 = (
        n * (n - 1) / (n - g - 1) * b
        for b, (n, g) in zip(shape.split(squares.b), shape.by_class, strict=True)
    )
    values = parts.variances
    return Answer(
        auc=float(weights @ effects.whole.auc),
        values=values,
        mc_se={name: mc_se[name] if value == value else np.nan for name, value in values.items()},
        jackknife=parts.jackknife,
        pair_effects=parts.pair_effects,
        u=(u1, u0),
        df=parts.df(shape.sizes),
        mc_se_estimate=mc_se_estimate,
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
class _Groups:
    """Single effects b from G groups of blocks, and from the group of each block without it.

    `singles` (G, D, n) and `left` (K, D, n) are times `weight` (G,) and `left_weight` (K,), shares
    of the rows; `of_block` (K,) is the group of each block.
    """

    singles: np.ndarray
    weight: np.ndarray
    left: np.ndarray
    left_weight: np.ndarray
    of_block: np.ndarray

    @classmethod
    def of(cls, sums: Sums) -> "_Groups":
        shape, moments = sums.shape, sums.moments
        n_groups = int(np.clip(sums.n_rows // (ROWS_IN_GROUP * shape.n_obs), 2, MOST_GROUPS))
        blocks = np.arange(N_BLOCKS)
        of_block = blocks % n_groups
        members = [np.flatnonzero(of_block == k) for k in range(n_groups)]
        members += [blocks[(of_block == of_block[k]) & (blocks != k)] for k in blocks]
        weight = np.array([moments.n_rows[part].sum() for part in members]) / sums.n_rows
        b = np.zeros((len(members), len(sums.pairs), shape.n_obs))
        for k, part in enumerate(members):
            if weight[k] > 0:
                first = first_order(shape, moments, part, exact=False)
                b[k] = weight[k] * first.contributions(shape)
        return cls(b[:n_groups], weight[:n_groups], b[n_groups:], weight[n_groups:], of_block)


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of every learner: of all rows, of groups of blocks, and of pairs by block."""

    sums: Sums
    whole: FirstOrder
    groups: _Groups | None
    pairs: PairEffects
    weight: np.ndarray
    unbiased: np.ndarray

    @classmethod
    def of(cls, sums: Sums) -> "Effects":
        """From the sums so far."""
        sums.settle()
        shape, n_rows = sums.shape, sums.moments.n_rows.astype(float)
        whole = first_order(shape, sums.moments, np.arange(N_BLOCKS), exact=sums.exact)
        return cls(
            sums=sums,
            whole=whole,
            groups=None if sums.exact else _Groups.of(sums),
            pairs=PairEffects.of(shape, n_rows, sums.residuals, sums.pairs),
            weight=n_rows / sums.n_rows,
            unbiased=_unbiased(sums, whole),
        )


def _unbiased(sums: Sums, whole: FirstOrder) -> np.ndarray:
    """The unbiased variance (D, D) of all rows, and without each block; NaN where there is none."""
    if sums.complete is not None:
        return sums.complete.unbiased(whole.auc)[None]
    if sums.stages is None:
        return np.full((N_BLOCKS + 1, len(whole.auc), len(whole.auc)), np.nan)
    left = [np.arange(N_BLOCKS) != k for k in range(-1, N_BLOCKS)]
    return np.stack([unbiased(sums.stages, kept) for kept in left])


class _Squares:
    """Squared lengths of single and pair effects, with the factors that make variances of them."""

    def __init__(self, shape: Shape, effects: Effects, weights: np.ndarray) -> None:
        self._shape, self._effects, self._weights = shape, effects, weights
        self._unbiased = np.einsum("d,kde,e->k", weights, effects.unbiased, weights).tolist()
        self.b = weights @ effects.whole.contributions(shape)
        self._single = [n * (n - 1) / (n - g - 1) ** 2 for n, g in shape.by_class]
        pair = [_pair_factor(n, g + 1) / 2 for n, g in shape.by_class]
        factors = (*pair, self._single[0] * self._single[1])
        # Inner products of blocks are all that is needed of the pair effects from here on.
        self._inner = np.zeros((N_BLOCKS, N_BLOCKS))
        for factor, tau in zip(factors, vars(effects.pairs).values(), strict=True):
            of_block = np.einsum("d,dkij->kij", weights, tau).reshape(N_BLOCKS, -1)
            of_block *= effects.weight[:, None]
            self._inner += factor * np.einsum("ki,li->kl", of_block, of_block)

    def raw(self) -> _Parts:
        """Squares as they are, of a complete design."""
        j1, j0 = self._by_class(self.b**2).tolist()
        return _Parts((j1, j0), float(self._inner.sum()), self._unbiased[0])

    def crossed(self) -> list[_Parts]:
        """Products of different blocks only: of all blocks, and without each of them."""
        raw = self._by_class(self.b**2)
        single = self._crossed_singles()
        # Of a class whose products are negative, the squares as they are.
        single = np.where(single > 0, single, raw)
        pairs = np.maximum(self._crossed_pairs(), 0.0)
        found = zip(single.tolist(), pairs.tolist(), self._unbiased, strict=True)
        return [_Parts((j1, j0), m2, other) for (j1, j0), m2, other in found]

    def _crossed_singles(self) -> np.ndarray:
        groups = self._effects.groups
        assert groups is not None
        of_groups, left = (
            np.einsum("d,kdi->ki", self._weights, part) for part in (groups.singles, groups.left)
        )
        total = of_groups.sum(axis=0)
        same, left_same = self._by_class(of_groups**2), self._by_class(left**2)
        gone = groups.of_block
        totals = np.vstack([total, total - of_groups[gone] + left])
        sames = np.vstack([same.sum(axis=0), same.sum(axis=0) - same[gone] + left_same])
        weight, left_weight = groups.weight, groups.left_weight
        different = [
            one.sum() ** 2 - (one**2).sum()
            for one in (
                weight,
                *(
                    np.append(np.delete(weight, g), w)
                    for g, w in zip(gone, left_weight, strict=True)
                ),
            )
        ]
        found: np.ndarray = (self._by_class(totals**2) - sames) / np.array(different)[:, None]
        return found

    def _crossed_pairs(self) -> np.ndarray:
        inner, weight = self._inner, self._effects.weight
        different = inner - np.diag(np.diag(inner))
        shares = np.outer(weight, weight)
        np.fill_diagonal(shares, 0.0)
        found = [part.sum() - np.append(0.0, 2 * part.sum(axis=0)) for part in (different, shares)]
        ratio: np.ndarray = found[0] / found[1]
        return ratio

    def _by_class(self, squares: np.ndarray) -> np.ndarray:
        """Sums over the observations of each class, (..., 2), as parts of a variance."""
        parts = zip(self._single, self._shape.split(squares), strict=True)
        return np.stack([factor * part.sum(axis=-1) for factor, part in parts], axis=-1)


def _pair_factor(n: int, m: int) -> float:
    """What the sum of squared pair effects of one class is multiplied by, for i < k."""
    if n - m < 2:
        return 0.0
    return (n - 1) * (n - 2) ** 2 * (n - 3) / ((n - m) * (n - m - 1)) ** 2
