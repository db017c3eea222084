"""Estimates with the influence of every observation on them: one covariance for all of them.

A mean, an AUC, F1, average precision or a concordance is, to first order, a sum of influence
values. Squares of these, summed within strata (such as classes) and by cluster, are variances, and
products covariances.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import chdtrc

from ucvtest.stats.shares import effective_number

ROUNDING = 1e-10
"""What estimates, and errors as a share of the largest possible, may differ by and be equal."""


@dataclass(frozen=True, eq=False)
class Influence:
    """L estimates, and what every observation adds to the error of each.

    `values` (L, n) sum to 0. `strata` (n,) are numbers, such as those of classes, if observations
    are drawn from each by itself; `clusters` (n,) number the rows that belong together. With both,
    it is Obuchowski's (1997) variance: n_c/(n_c - 1) within a stratum of n_c clusters, and n/(n -
    1) for products across strata.
    """

    estimates: np.ndarray
    values: np.ndarray
    strata: np.ndarray | None = None
    clusters: np.ndarray | None = None

    @classmethod
    def of_means(cls, values: np.ndarray, clusters: np.ndarray | None = None) -> Self:
        """Of the means of values (L, n), all rows of clusters alike (Liang and Zeger 1986)."""
        means = values.mean(axis=1)
        return cls(means, (values - means[:, None]) / values.shape[1], None, clusters)

    def __sub__(self, other: Self) -> Self:
        estimates, values = self.estimates - other.estimates, self.values - other.values
        return replace(self, estimates=estimates, values=values)

    @property
    def n_units(self) -> int:
        """Observations, or clusters of them."""
        return self.values.shape[1] if self.clusters is None else int(self.clusters.max()) + 1

    @cached_property
    def counts(self) -> np.ndarray:
        """The units of each stratum, (S,); a cluster can be in several."""
        if self.strata is None:
            return np.array([self.n_units])
        if self.clusters is None:
            return np.bincount(self.strata)
        members = [self.strata == stratum for stratum in range(int(self.strata.max()) + 1)]
        return np.array([np.count_nonzero(np.bincount(self.clusters[rows])) for rows in members])

    @cached_property
    def _sums(self) -> np.ndarray:
        """The values of the units by stratum, (S, L, U)."""
        values = self.values[None]
        if self.strata is not None:
            members = self.strata == np.arange(len(self.counts))[:, None]
            values = np.where(members[:, None], values, 0.0)
        if self.clusters is None:
            return values
        n_units = self.n_units
        sums = [[np.bincount(self.clusters, row, n_units) for row in part] for part in values]
        return np.array(sums)

    @cached_property
    def by_stratum(self) -> np.ndarray:
        """The variances within strata, (S, L); NaN where a stratum has one unit."""
        return np.asarray(_factor(self.counts)[:, None] * (self._sums**2).sum(axis=2))

    @cached_property
    def roots(self) -> np.ndarray:
        """Vectors (L, k) whose products are the variances and covariances."""
        whole, factors = float(_factor(np.array(self.n_units))), _factor(self.counts)
        if self.strata is None or self.clusters is None:
            # Nothing is in two strata.
            strata = 0 if self.strata is None else self.strata
            sums = self.values if self.clusters is None else self._sums[0]
            return np.asarray(np.sqrt(factors)[strata] * sums)
        parts = [math.sqrt(whole) * self._sums.sum(axis=0)]
        parts += [
            math.sqrt(factor - whole) * sums
            for factor, sums in zip(factors, self._sums, strict=True)
        ]
        return np.concatenate(parts, axis=1)

    @property
    def covariance(self) -> np.ndarray:
        """The covariance matrix of the estimates, (L, L)."""
        return np.asarray(self.roots @ self.roots.T)

    @property
    def variances(self) -> np.ndarray:
        """Its diagonal, (L,)."""
        return np.asarray((self.roots**2).sum(axis=1))

    @property
    def welch(self) -> np.ndarray:
        """Degrees of freedom (L,): Welch's of strata, unless a cluster is in several of them."""
        return self._df(self.by_stratum)

    def welch_of_pairs(self, places: np.ndarray) -> np.ndarray:
        """The same of the differences of pairs of estimates, by their places (M, 2)."""
        first, other = places.T
        products = self._sums @ self._sums.transpose(0, 2, 1)
        covariances = _factor(self.counts)[:, None, None] * products
        return self._df(self.by_stratum[:, places].sum(axis=2) - 2 * covariances[:, first, other])

    def _df(self, by_stratum: np.ndarray) -> np.ndarray:
        if self.strata is None or self.counts.sum() > self.n_units:
            return np.full(by_stratum.shape[1], self.n_units - 1.0)
        return welch(by_stratum, self.counts[:, None] - 1)


def _factor(counts: np.ndarray) -> np.ndarray:
    """n/(n - 1); NaN for a single one."""
    return np.where(counts > 1, counts / np.maximum(counts - 1, 1), math.nan)


def welch(variances: np.ndarray, df: np.ndarray) -> np.ndarray:
    """Degrees of freedom of sums over the first axis of variances with their own; NaN for none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        total = variances.sum(axis=0)
        return np.where(total > 0, total**2 / (variances**2 / df).sum(axis=0), math.nan)


def variance_of_mean(values: np.ndarray, clusters: np.ndarray | None = None) -> float:
    """The variance of the mean of values (n,), of rows or of clusters."""
    return float(Influence.of_means(values[None], clusters).variances[0])


def effective_size(values: np.ndarray, clusters: np.ndarray | None) -> float:
    """Independent rows that would tell as much: Korn and Graubard (1998), between 1 and n.

    The number of clusters where nothing varies.
    """
    n = len(values)
    if clusters is None:
        return float(n)
    variances = variance_of_mean(values), variance_of_mean(values, clusters)
    return float(effective_number(*variances, n, int(clusters.max()) + 1))


@dataclass(frozen=True)
class Equality:
    """The chi-square test that several estimates are equal.

    No statistic, NaN, with no degrees of freedom, or where estimates differ without an error.
    """

    statistic: float
    df: int
    differ: bool
    """Whether a difference has no error, as of a perfect ranking and none at all."""

    @property
    def pvalue(self) -> float:
        """The probability of a larger statistic under H0."""
        return float(chdtrc(self.df, self.statistic)) if self.df else math.nan

    @classmethod
    def of(cls, influence: Influence) -> Self:
        """Test that the AUCs theta of k rules on the same observations are equal.

        (L theta)' (L S L')^- (L theta), in the words of equation 5 of DeLong, DeLong and
        Clarke-Pearson (1988). L takes the mean of all off each; every other L whose rows are k - 1
        contrasts gives the same. The degrees of freedom are the rank, which rules that rank alike
        reduce.
        """
        means = influence.estimates - influence.estimates.mean()
        roots = influence.roots
        # Singular values of the factor: L S L' itself has their squares, with half the digits.
        axes, lengths, _ = np.linalg.svd(roots - roots.mean(axis=0), full_matrices=False)
        # A standard error that is as large as can be, but for a factor.
        is_nonzero = lengths > ROUNDING * math.sqrt((1 / influence.counts).sum())
        principal_means = axes[:, is_nonzero].T @ means
        differ = bool(np.abs(means - axes[:, is_nonzero] @ principal_means).max() > ROUNDING)
        df, statistic = int(is_nonzero.sum()), math.nan
        if df and not differ:
            statistic = float(((principal_means / lengths[is_nonzero]) ** 2).sum())
        return cls(statistic, df, differ)
