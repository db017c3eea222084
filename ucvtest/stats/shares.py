r"""Shares of right answers: Wilson's interval, clusters by an effective number, added observations.

Rows of a cluster tell less than as many independent rows do. The effective number is how many
independent rows would give the standard error that the clusters give.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ucvtest.stats.exact import BinomialCounts, tails
from ucvtest.stats.pivots import Pivot
from ucvtest.stats.wald import Alternative, ReferenceDistribution, wald_pvalue

ROUNDING = 1e-20
"""Variances of shares that are no more than rounding error."""

LEAST_PVALUE = 1e-200
"""Student's quantiles of smaller tails are not known, and effective numbers change no more."""

NEAR_MIDDLE = 1e-5
"""Tails that are nearer to 1/2 have Student's quantiles in the proportion of the densities at 0."""

SHOWN_TAIL = 0.025
"""Of a 95% interval, to which the effective number in diagnostics belongs."""


@dataclass(frozen=True)
class WilsonScore:
    """A share with the interval of Wilson (1927), and the score test that it inverts."""

    kind: ClassVar[str] = "wilson"
    reference: ClassVar[str] = "normal"
    df: ClassVar[float] = math.nan

    share: float
    n_obs: float
    null_value: float = math.nan

    @property
    def statistic(self) -> float:
        """That of the null value."""
        return self._statistic(self.null_value)

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of a share; it inverts the interval."""
        return wald_pvalue(self._statistic(null_value), "normal", math.nan, alternative)

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """Wilson's interval of the share."""
        z = ReferenceDistribution().isf(max(tails(alternative, alpha)))
        low = 0.0 if alternative == "less" else self._limit(-z)
        high = 1.0 if alternative == "greater" else self._limit(z)
        return low, high

    def _limit(self, z: float) -> float:
        p, n = self.share, self.n_obs
        if (p <= 0 and z <= 0) or (p >= 1 and z >= 0):
            # But for rounding.
            return p
        root = math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (p + z * z / (2 * n) + z * root) / (1 + z * z / n)

    def _statistic(self, null_value: float) -> float:
        """The distance to the null value over the standard error that this value implies."""
        if not 0 <= null_value <= 1:
            return math.nan
        distance = self.share - null_value
        se = math.sqrt(null_value * (1 - null_value) / self.n_obs)
        if se == 0:
            return 0.0 if distance == 0 else math.copysign(math.inf, distance)
        return distance / se


@dataclass(frozen=True)
class EffectiveCounts:
    r"""A share of rows in clusters, as if it were one of fewer independent rows.

    Korn and Graubard (1998): the exact binomial interval of Clopper and Pearson with
    :math:`n_e = p(1 - p)/v\,(t_{n-1}/t_{G-1})^2` rows in the place of n, between 1 and n, where v
    is the variance by clusters and the quantiles are those of the interval. Where clusters do not
    differ, as where all rows are right or all wrong, :math:`n_e = G`. With `score` Wilson's
    interval takes the place of the exact one. The number depends on the level, so the p-value is
    the level at which the interval just leaves out the null value.
    """

    kind: ClassVar[str] = "effective binomial"

    share: float
    variance: float
    n_obs: int
    n_groups: int
    score: bool = False

    @property
    def statistic(self) -> float:
        """The number of errors among the effective number of rows of a 95% interval."""
        return self.share * self.n_effective(SHOWN_TAIL)

    @property
    def opposite_statistic(self) -> float:
        """The same of right answers."""
        return (1 - self.share) * self.n_effective(SHOWN_TAIL)

    def n_effective(self, tail: float) -> float:
        """The effective number of rows of limits that leave out this probability on one side."""
        if not self.variance > ROUNDING:
            return float(self.n_groups)
        ratio = _ratio_of_quantiles(self.n_obs - 1.0, self.n_groups - 1.0, tail)
        effective_size = self.share * (1 - self.share) / self.variance * ratio**2
        return min(max(effective_size, 1.0), float(self.n_obs))

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of a share; it inverts the interval at every level."""
        if not 0 <= null_value <= 1:
            return math.nan

        def pvalue_at_level(alpha: float) -> float:
            return self._known(alternative, alpha).pvalue(null_value, alternative)

        # Beyond 1/2 on one side, and at 1 on two, the effective number changes no more.
        largest = 1.0 if alternative == "two-sided" else 0.5
        if pvalue_at_level(largest) >= largest:
            return pvalue_at_level(largest)
        if pvalue_at_level(LEAST_PVALUE) <= LEAST_PVALUE:
            return pvalue_at_level(LEAST_PVALUE)
        return _fixed_point(pvalue_at_level, largest)

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """Korn and Graubard's interval of the share."""
        return self._known(alternative, alpha).interval(alternative, alpha)

    def _known(self, alternative: Alternative, alpha: float) -> WilsonScore | BinomialCounts:
        """The rule for as many independent rows as are effective."""
        n = self.n_effective(max(tails(alternative, alpha)))
        return WilsonScore(self.share, n) if self.score else BinomialCounts(self.share * n, n)


def effective_number(independent: Any, clustered: Any, n_obs: int, n_groups: int) -> Any:
    """How many independent rows have the standard error of the clusters, between 1 and n.

    Parameters
    ----------
    independent, clustered : float or ndarray
        Variances of a mean over n rows, as if these were independent and by clusters.
    n_obs, n_groups : int
        The number of clusters is the answer where their variance is 0.
    """
    varies = clustered > ROUNDING
    number = np.clip(n_obs * independent / np.where(varies, clustered, 1.0), 1.0, n_obs)
    return np.where(varies, number, float(n_groups))


def difference_of_shares(
    estimate: Any, variance: Any, n: Any, df: float, null_value: float
) -> Pivot:
    """The difference of two shares with one right and one wrong observation added, or of many.

    Half an observation is added to each of four outcomes: both right, either one alone, both wrong
    (Agresti and Min 2005). The estimate then moves towards 0, and the variance is never 0.

    Parameters
    ----------
    estimate, variance : float or ndarray
        The difference in n rows, and the variance of their mean.
    n : float or ndarray
        Rows, or how many independent rows they are worth.
    df : float
        Degrees of freedom of Student's t.
    null_value : float
    """
    n_with_added = n + 2
    moved = n * estimate / n_with_added
    # Around the moved estimate: the rows, how far their mean is from it, and the added four halves.
    squares = n**2 * variance + n * (estimate - moved) ** 2 + 1 + 2 * moved**2
    return Pivot(moved, squares**0.5 / n_with_added, df, null_value, least=-1.0, most=1.0)


def _ratio_of_quantiles(larger_df: float, smaller_df: float, tail: float) -> float:
    """Student's quantile with more degrees of freedom over the one with fewer."""
    tail = min(max(tail, LEAST_PVALUE), 0.5)
    if tail > 0.5 - NEAR_MIDDLE:
        return _density_at_zero(smaller_df) / _density_at_zero(larger_df)
    return ReferenceDistribution(larger_df).isf(tail) / ReferenceDistribution(smaller_df).isf(tail)


def _density_at_zero(df: float) -> float:
    """Student's density at 0."""
    return math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)


def _fixed_point(pvalue_at_level: Callable[[float], float], largest: float) -> float:
    """The level that is its own p-value."""
    log_bracket = math.log(LEAST_PVALUE), math.log(largest)
    # Takes long to import, and most calls do without it.
    from scipy.optimize import brentq

    log_level = brentq(
        lambda level: pvalue_at_level(math.exp(level)) - math.exp(level), *log_bracket, xtol=1e-13
    )
    return math.exp(float(log_level))
