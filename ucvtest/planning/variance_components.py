r"""The variance at another sample size, from components estimated on one sample.

A U-statistic of degree m has the variance :math:`V_n = \sum_{k=1}^m v_k`, where v_k belongs to
effects of k observations together. At N observations these components are :math:`v_k \binom nk /
\binom Nk`. The jackknife J has the expectation :math:`\sum_k k\,v_k (n-1)/(n-k)`, and the effects
M2 of pairs have the expectation :math:`\sum_k \binom k2 v_k (n-2)(n-3)/((n-k)(n-k-1))`. If v_1 is
known and the others are in proportion to :math:`\rho^{k-2}`, J and M2 determine all components. In
simulations (studies/planning/run.py), v_1 was 2 to 55% of J with learning sets of half of the
sample. Given v_1, the standard errors at 100 to 400 observations were right to 15%. So v_1 must be
estimated from the pilot, or be given.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from ucvtest.stats.jackknife import midpoint

LARGEST_RATIO = 4.0
"""Above this value, only the largest components remain."""

MOST_FIRST = 0.9
"""Largest share of J for single observations, so that some is left to the others."""


@dataclass(frozen=True)
class VarianceComponents:
    """Components of a variance at n_obs observations: `first`, then second ratio^(k - 2)."""

    n_obs: int
    degree: int
    first: float
    second: float
    ratio: float

    @classmethod
    def of(
        cls, n_obs: int, degree: int, jackknife: float, pair_effects: float, first: float
    ) -> Self:
        """The components with this v_1, J (which must be positive) and, if any have it, this M2."""
        first = min(first, MOST_FIRST * jackknife)
        higher_orders = jackknife - first

        def excess(ratio: float) -> float:
            unit = cls(n_obs, degree, 0.0, 1.0, ratio)
            return unit.pair_effects(n_obs) / unit.jackknife(n_obs) - pair_effects / higher_orders

        ratio = 0.0
        if excess(0.0) < 0:
            has_root = excess(LARGEST_RATIO) > 0
            ratio = float(brentq(excess, 0.0, LARGEST_RATIO)) if has_root else LARGEST_RATIO
        unit = cls(n_obs, degree, 0.0, 1.0, ratio)
        return replace(unit, first=first, second=higher_orders / unit.jackknife(n_obs))

    def first_at(self, n: int) -> float:
        """The component v_1 of the estimate from n observations."""
        return self.first * self.n_obs / n

    def variance(self, n: int) -> float:
        """The variance of the estimate from n observations."""
        return float(self._components(n).sum())

    def jackknife(self, n: int) -> float:
        """The expectation of the jackknife there; at least the variance."""
        k = self._k
        return float(self._components(n) @ (k * (n - 1) / (n - k)))

    def pair_effects(self, n: int) -> float:
        """The expectation of M2 there."""
        k = self._k
        expected_shares = k * (k - 1) / 2 * (n - 2) * (n - 3) / ((n - k) * (n - k - 1))
        return float(self._components(n) @ expected_shares)

    def reported(self, n: int, variance: str) -> float:
        """The variance that the test would report: "midpoint" or "jackknife"."""
        jackknife = self.jackknife(n)
        if variance == "jackknife":
            return jackknife
        return midpoint(jackknife, self.pair_effects(n))

    @property
    def _k(self) -> np.ndarray:
        return np.arange(1.0, self.degree + 1)

    def _components(self, n: int) -> np.ndarray:
        k = self._k
        by_order = np.concatenate([[self.first], self.second * self.ratio ** (k[1:] - 2)])
        logs = gammaln(self.n_obs + 1) - gammaln(self.n_obs + 1 - k)
        logs = logs - gammaln(n + 1) + gammaln(n + 1 - k)
        components: np.ndarray = by_order * np.exp(logs)
        return components


def log_error(df: float, mc_share: float) -> float:
    """Standard deviation of the logarithm of a standard error that was estimated.

    `df` are the degrees of freedom of its square, and `mc_share` is the Monte-Carlo error of the
    square divided by the square.
    """
    return math.sqrt(2 / df + mc_share**2) / 2
