r"""Products over all pairs of sets of one stratum, from all learning sets.

With F_A the sum of Phi_0(S) over all S that contain the subset A, inclusion-exclusion gives every
sum of products at once,

    sum over pairs with \|S and S'\| = c of Phi_0(S) Phi_0(S')
        = sum_{k >= c} (-1)^(k-c) binom(k, c) B_k,    B_k = sum_{\|A\| = k} F_A^2,

and level k of F follows from level k + 1. This needs the C(n, m) values of Phi_0 instead of their
C(n, m)^2 products.
"""

from collections.abc import Mapping
from itertools import chain, combinations
from math import comb

import numpy as np

from ucvtest.kernels.ustatistic.rows import AdditiveFit, Residuals, Strata

MAX_SUBSETS = 20_000_000
"""Largest number of subsets S that enumeration keeps in memory (0.16 GB for the kernels)."""


class CompleteProducts:
    """Phi_0 of all sets S, by column, (V, C(n, m))."""

    def __init__(self, strata: Strata, n_columns: int) -> None:
        self._n, self._m = strata.n_units, strata.learn_sizes[0] + 1
        self._binomial = _binomials(self._n, self._m)
        self._kernel = np.zeros((n_columns, comb(self._n, self._m)))

    def add(
        self,
        fit: AdditiveFit,
        part: int,
        residuals: Residuals,
        draw: np.ndarray,
        rows: np.ndarray,
    ) -> None:
        """See `rows.Products`; a mean that is taken from all losses changes no variance."""
        self.add_all(residuals.x, residuals.learnt > 0)

    def close(self) -> None:
        """See `rows.Products`."""

    def add_all(self, placed: np.ndarray, learning: np.ndarray) -> None:
        """Add losses (V, R, n) and learning sets (R, n), each once in the end."""
        tested = ~learning
        ranks = self._ranks_with_one_added(learning)[tested]
        for kernel, losses in zip(self._kernel, placed, strict=True):
            kernel += np.bincount(ranks, losses[tested] / self._m, minlength=len(kernel))

    def variances(self, keeps: np.ndarray) -> Mapping[str, np.ndarray]:
        """See `rows.Products`."""
        kappa = self._kappas(self._kernel.mean(axis=1))
        # Of the centred kernel, the squared complete statistic is 0.
        asymptotic = self._m**2 * (kappa[1] - kappa[0]) / self._n
        return {"unbiased": -kappa[:1], "asymptotic": asymptotic[None]}

    def kappas(self) -> np.ndarray:
        """kappa_c (m + 1, V, V) for c = 0, ..., m; c = 0 is the squared expectation."""
        # Centred first: the alternating sums would lose digits to a large mean.
        centre = self._kernel.mean(axis=1)
        return self._kappas(centre) + np.outer(centre, centre)

    def _kappas(self, centre: np.ndarray) -> np.ndarray:
        n, m = self._n, self._m
        squares = [level @ level.T for level in self._levels(self._kernel - centre[:, None])]
        kappa = np.empty((m + 1, *squares[0].shape))
        for c in range(m + 1):
            terms = [(-1) ** (k - c) * comb(k, c) * squares[k] for k in range(c, m + 1)]
            kappa[c] = sum(terms) / (comb(n, m) * comb(m, c) * comb(n - m, m - c))
        return kappa

    def _levels(self, sums: np.ndarray) -> list[np.ndarray]:
        """F_A (V, ...) for all subsets A of size k, in colexicographic order, for k = 0, ..., m."""
        levels = [sums]
        for k in range(self._m, 0, -1):
            size = comb(self._n, k - 1)
            subsets, below = _subsets(self._n, k), np.zeros((len(sums), size))
            for ranks in self._ranks_with_one_dropped(subsets):
                for column, values in zip(below, sums, strict=True):
                    column += np.bincount(ranks, values, minlength=size)
            sums = below / (self._m - k + 1)
            levels.append(sums)
        return levels[::-1]

    def _ranks_with_one_added(self, learning: np.ndarray) -> np.ndarray:
        """Rank of L with t added, for every learning set and every t outside it; (R, n)."""
        position = learning.cumsum(axis=1)
        i = np.arange(self._n)
        member_ranks = np.where(learning, self._binomial[i, position], 0)
        shifted = np.where(learning, self._binomial[i, position + 1], 0)
        rank_before = member_ranks.cumsum(axis=1)
        rank_after = shifted.sum(axis=1, keepdims=True) - shifted.cumsum(axis=1)
        ranks: np.ndarray = rank_before + self._binomial[i, position + 1] + rank_after
        return ranks

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
