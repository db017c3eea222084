r"""The complete statistic without Monte-Carlo error, from all learning sets.

With F_A the sum of Phi_0(S) over all S that contain the subset A, inclusion-exclusion
gives every sum of products at once,

    sum over pairs with \|S and S'\| = c of Phi_0(S) Phi_0(S')
        = sum_{k >= c} (-1)^(k-c) binom(k, c) B_k,    B_k = sum_{\|A\| = k} F_A^2,

and level k of F follows from level k + 1. This needs the C(n, m) values of Phi_0 instead of their
C(n, m)^2 products. Only NumPy.
"""

from collections.abc import Iterable
from itertools import chain, combinations
from math import comb

import numpy as np

from ucvtest.kernels.ustatistic.slopes import complete_slope
from ucvtest.stats.jackknife import (
    clipped,
    first_order_factor,
    geometric,
    has_pair_effects,
    midpoint,
    pair_effects_factor,
    test_effects,
)

MAX_SUBSETS = 20_000_000
"""Largest number of subsets S that enumeration keeps in memory (0.16 GB for their kernels)."""


class CompleteSums:
    """Sums over all learning sets of one size.

    `rules` gives loss differences and learning sets, both (R, n), some at a time; differences
    inside the learning sets are ignored. Estimates are for the differences plus their mean times
    `offset`, as for ratios of means.
    """

    def __init__(
        self,
        n_obs: int,
        learn_size: int,
        rules: Iterable[tuple[np.ndarray, np.ndarray]],
        offset: np.ndarray | None = None,
    ) -> None:
        self.n_obs, self.learn_size = n_obs, learn_size
        self.n_subsets = comb(n_obs, learn_size + 1)
        self._binomial = _binomials(n_obs, learn_size + 1)
        self._total = 0.0
        self._effect = np.zeros(n_obs)
        self._n_sets = 0
        self._kernel = np.zeros(self.n_subsets if self.pair_effects else 0)
        for differences, learning in rules:
            self._add(differences, learning)
        if offset is not None:
            self._add_offset(offset)

    @property
    def disjoint(self) -> bool:
        """Whether two disjoint S fit into the sample, so that every variance exists."""
        return self.n_obs >= 2 * self.learn_size + 2

    @property
    def pair_effects(self) -> bool:
        """Whether there is M2, and with it the midpoint variance."""
        return has_pair_effects(self.n_obs, self.learn_size)

    def _add(self, differences: np.ndarray, learning: np.ndarray) -> None:
        tested = ~learning
        values = np.where(tested, differences, 0.0)
        row_sums = values.sum(axis=1)
        self._total += row_sums.sum()
        self._effect += learning.T.astype(float) @ row_sums + values.sum(axis=0)
        self._n_sets += len(learning)
        if self.pair_effects:
            ranks = self._ranks_with_one_added(learning)[tested]
            self._kernel += np.bincount(
                ranks, values[tested] / (self.learn_size + 1), minlength=self.n_subsets
            )

    def _add_offset(self, offset: np.ndarray) -> None:
        n, m = self.n_obs, self.learn_size + 1
        # Over all sets its mean is zero, so theta does not change.
        self._effect += self._total * test_effects(n, m, offset)
        if self.pair_effects:
            theta = self._total / (self._n_sets * (n - self.learn_size))
            self._kernel += theta * offset[_subsets(n, m)].mean(axis=1)

    def estimates(self) -> dict[str, float]:
        """Delta-hat and all variances, exactly."""
        n, m = self.n_obs, self.learn_size + 1
        n_terms = self._n_sets * (n - self.learn_size)
        estimate = self._total / n_terms
        b = self.effects
        jackknife = first_order_factor(n, m) * float(b @ b)
        values = {"estimate": estimate, "jackknife": jackknife}
        if self.pair_effects:
            levels = self._levels(centre=estimate)
            tau = self._pair_effects(levels[2], b)
            second = pair_effects_factor(n, m) * float(tau @ tau)
            values["slope"], values["slope_error"] = self._slope(b, tau)
            values["geometric"] = geometric(jackknife, second)
            values["midpoint"] = midpoint(jackknife, second)
            values["pair_effects"] = second
        if self.disjoint:
            kappa = self._kappas(levels)
            # Of the centred kernel, the squared complete statistic is 0.
            values["unbiased"] = -kappa[0]
            values["asymptotic"] = m**2 * (kappa[1] - kappa[0]) / n
            values["clipped"] = clipped(values["unbiased"], values["geometric"], jackknife)
            values["theta_squared"] = estimate**2 - values["unbiased"]
        return values

    @property
    def effects(self) -> np.ndarray:
        """The first-order effects b, (n,)."""
        n, m = self.n_obs, self.learn_size + 1
        n_terms = self._n_sets * (n - self.learn_size)
        return self._effect / n_terms - m / n * (self._total / n_terms)

    def kappas(self) -> np.ndarray:
        """kappa_c for c = 0, ..., g + 1; c = 0 is Theta^2."""
        # Centred first: the alternating sums would lose digits to a large mean.
        centre = self._total / (self._n_sets * (self.n_obs - self.learn_size))
        return self._kappas(self._levels(centre)) + centre**2

    def _kappas(self, levels: list[np.ndarray]) -> np.ndarray:
        n, m = self.n_obs, self.learn_size + 1
        squares = [float(level @ level) for level in levels]
        kappa = np.empty(m + 1)
        for c in range(m + 1):
            terms = [(-1) ** (k - c) * comb(k, c) * squares[k] for k in range(c, m + 1)]
            kappa[c] = sum(terms) / (comb(n, m) * comb(m, c) * comb(n - m, m - c))
        return kappa

    def _levels(self, centre: float) -> list[np.ndarray]:
        """F_A for all subsets A of size k, in colexicographic order, for k = 0, ..., m."""
        m = self.learn_size + 1
        sums = self._kernel - centre
        levels = [sums]
        for k in range(m, 0, -1):
            subsets = _subsets(self.n_obs, k)
            below = np.zeros(comb(self.n_obs, k - 1))
            for ranks in self._ranks_with_one_dropped(subsets):
                below += np.bincount(ranks, sums, minlength=len(below))
            sums = below / (m - k + 1)
            levels.append(sums)
        return levels[::-1]

    def _pair_effects(self, pairs: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The pair effects tau_ij, i < j; M2 is the part of the variance that they account for."""
        n, m = self.n_obs, self.learn_size + 1
        joint = pairs / self.n_subsets
        i, j = _subsets(n, 2).T
        tau: np.ndarray = joint - (m - 1) / (n - 2) * (b[i] + b[j])
        return tau

    def _slope(self, b: np.ndarray, tau: np.ndarray) -> tuple[float, float]:
        """How the logarithm of the standard error moves with the estimate, and its error."""
        n = self.n_obs
        square = np.zeros((n, n))
        i, j = _subsets(n, 2).T
        square[i, j] = square[j, i] = tau
        return complete_slope(n, self.learn_size + 1, b, square)

    def _ranks_with_one_added(self, learning: np.ndarray) -> np.ndarray:
        """Rank of L with t added, for every learning set and every t outside it; (R, n)."""
        position = learning.cumsum(axis=1)
        i = np.arange(self.n_obs)
        member_ranks = np.where(learning, self._binomial[i, position], 0)
        shifted = np.where(learning, self._binomial[i, position + 1], 0)
        rank_before = member_ranks.cumsum(axis=1)
        rank_after = shifted.sum(axis=1, keepdims=True) - shifted.cumsum(axis=1)
        return rank_before + self._binomial[i, position + 1] + rank_after

    def _ranks_with_one_dropped(self, subsets: np.ndarray) -> list[np.ndarray]:
        k = subsets.shape[1]
        positions = np.arange(1, k + 1)
        rank_before = self._binomial[subsets, positions].cumsum(axis=1)
        shifted = self._binomial[subsets, positions - 1]
        rank_after = shifted.sum(axis=1, keepdims=True) - shifted.cumsum(axis=1)
        return [(rank_before[:, j - 1] if j else 0) + rank_after[:, j] for j in range(k)]


def _binomials(n: int, k: int) -> np.ndarray:
    """Table of binomial coefficients (i choose j), i < n, j <= k + 1."""
    return np.array([[comb(i, j) for j in range(k + 2)] for i in range(n)], dtype=np.int64)


def _subsets(n: int, k: int) -> np.ndarray:
    """All subsets of size k in colexicographic order, (C(n, k), k)."""
    size = comb(n, k) * k
    flat = np.fromiter(chain.from_iterable(combinations(range(n), k)), dtype=np.int64, count=size)
    # Lexicographic order, mirrored in the labels and in both directions, is colexicographic.
    return n - 1 - flat.reshape(-1, k)[::-1, ::-1]
