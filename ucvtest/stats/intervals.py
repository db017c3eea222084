r"""Intervals that are not symmetric around the estimate, with the p-values that invert them.

Pseudo-values are what the delete-one jackknife says of every observation,
:math:`h_i = n(n-1)/(n-m)\,b_i`; their skewness and kurtosis say how far the estimate is from
normal, and how well its variance is known.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from ucvtest.stats.wald import (
    Alternative,
    ReferenceDistribution,
    TransformedT,
    wald_interval,
)

LEAST_DF = 4.0
"""Degrees of freedom that a kurtosis, itself estimated, does not go below."""

FEW_DF, LARGE_SKEWNESS = 10, 0.35
"""Degrees of freedom below, and skewness over the root of n above which few observations carry
most of the variance."""

ROUNDING = 1e-12
"""Differences, as a share of what differs, that are no more than rounding error."""

FAR = 1e30
"""Standard errors beyond which nothing changes, and cubes would overflow."""


@dataclass(frozen=True)
class Shape:
    """Skewness of n pseudo-values, and the degrees of freedom that their kurtosis leaves.

    `slope`, where it is known, is that of the logarithm of the standard error on the estimate,
    `slope_se` its standard error as a regression on n observations, and `slope_error` its
    Monte-Carlo standard error.
    """

    n_obs: int
    skewness: float
    df: float
    slope: float = math.nan
    slope_se: float = 0.0
    slope_error: float = 0.0

    @classmethod
    def of(
        cls,
        effects: np.ndarray,
        slope: float = math.nan,
        slope_se: float = 0.0,
        slope_error: float = 0.0,
    ) -> Self:
        """From numbers in proportion to the pseudo-values; values that are all alike are normal."""
        n, slope_arguments = len(effects), (slope, slope_se, slope_error)
        moved = effects - effects.mean()
        largest = float(np.abs(moved).max())
        if not largest > ROUNDING * float(np.abs(effects).max()):
            return cls(n, 0.0, n - 1.0, *slope_arguments)
        second, third, fourth = (float(((moved / largest) ** k).mean()) for k in (2, 3, 4))
        skewness = third / second**1.5 * math.sqrt(n * (n - 1)) / (n - 2)
        # Satterthwaite's: twice the squared variance over the variance of its estimate.
        df = 2 * n / max(fourth / second**2 - 1, 1e-9)
        return cls(n, skewness, min(max(df, LEAST_DF), n - 1.0), *slope_arguments)

    @property
    def flagged(self) -> bool:
        """Whether a few observations carry most of the variance."""
        return self.df < FEW_DF or abs(self.skewness) / math.sqrt(self.n_obs) > LARGE_SKEWNESS


@dataclass(frozen=True)
class PlusFour(TransformedT):
    """An error rate with two errors and two correct predictions added (Agresti and Coull 1998).

    They are added to the estimate and to its variance, which may be 0. Student's t with n - 1
    degrees of freedom, unless others are given; the interval is cut to what an error rate can be.
    """

    kind: ClassVar[str] = "plus four"

    estimate: float
    variance: float
    n_obs: float
    null_value: float = math.nan
    given_df: float | None = None

    @property
    def df(self) -> float:  # type: ignore[override]
        """Degrees of freedom."""
        return self.n_obs - 1.0 if self.given_df is None else self.given_df

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval around the moved estimate, from 0 to 1 at most."""
        low, high = wald_interval(*self._moved(), "t", self.df, alternative, alpha)
        return max(low, 0.0), min(high, 1.0)

    def _moved(self) -> tuple[float, float]:
        """The estimate and its standard error with the four observations added."""
        n, n_with_added = self.n_obs, self.n_obs + 4
        spread = n**2 * self.variance + 1 + 4 * n * (self.estimate - 0.5) ** 2 / n_with_added
        return (n * self.estimate + 2) / n_with_added, math.sqrt(spread) / n_with_added

    def _statistic(self, null_value: float) -> float:
        """The moved estimate less the null value, over its standard error."""
        if not 0 <= null_value <= 1:
            return math.nan
        centre, se = self._moved()
        return (centre - null_value) / se


@dataclass(frozen=True)
class MovedT(TransformedT):
    """An estimate and its standard error with observations added, cut to what it can be."""

    kind: ClassVar[str] = "added observations"

    estimate: float
    se: float
    df: float
    least: float = -math.inf
    most: float = math.inf
    null_value: float = math.nan

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval around the moved estimate, within what the estimand can be."""
        low, high = wald_interval(self.estimate, self.se, "t", self.df, alternative, alpha)
        return max(low, self.least), min(high, self.most)

    def _statistic(self, null_value: float) -> float:
        """The moved estimate less the null value, over its standard error."""
        if not self.least <= null_value <= self.most:
            return math.nan
        return (self.estimate - null_value) / self.se


@dataclass(frozen=True)
class HallT:
    r"""Hall's (1992) transformation, which takes the skewness out of a studentised estimate.

    With T the estimate less its expectation over the standard error and k = gamma/sqrt(n),
    :math:`g(T) = T + kT^2/3 + k^2T^3/27 + k/6` is compared with Student's t. It is a cubic that
    rises, and cube roots invert it exactly. The upper limit is the larger of those by the sample's
    skewness and by `least_above`, where this is more: sample skewness cannot exceed about sqrt(n),
    so that of a tail from which nothing was drawn cannot be estimated, and the limit does not rise
    throughout with the skewness. `least` and `most` are what the estimand can be.
    """

    kind: ClassVar[str] = "hall"
    reference: ClassVar[str] = "t"

    estimate: float
    se: float
    df: float
    n_obs: int
    skewness: float
    least_above: float = -math.inf
    least: float = -math.inf
    most: float = math.inf
    null_value: float = math.nan

    @property
    def statistic(self) -> float:
        """The transformed distance between the estimate and the null value.

        By the skewness of the end on whose side the null value is.
        """
        if not self.least <= self.null_value <= self.most:
            return math.nan
        below, above = self._transformed(self.null_value)
        return above if self.null_value > self.estimate else below

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of a value that the estimand can have, else NaN; it inverts the interval."""
        if not self.least <= null_value <= self.most:
            return math.nan
        student = ReferenceDistribution(self.df)
        below, above = self._transformed(null_value)
        if alternative == "greater":
            return student.sf(below)
        if alternative == "less":
            return student.cdf(above)
        return min(1.0, 2 * min(student.sf(below), student.cdf(above)))

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval from the inverse transformation, within what the estimand can be."""
        t = ReferenceDistribution(self.df).isf(alpha / 2 if alternative == "two-sided" else alpha)
        k, *other_skewnesses = self._skewnesses()
        low, high = -math.inf, math.inf
        if alternative != "less":
            low = self.estimate - self.se * _inverse(t, k)
        if alternative != "greater":
            high = max(
                self.estimate - self.se * _inverse(-t, other_skewness)
                for other_skewness in (k, *other_skewnesses)
            )
        return max(low, self.least), min(high, self.most)

    def _skewnesses(self) -> tuple[float, float]:
        """k of both ends, and the least one of the upper end."""
        root = math.sqrt(self.n_obs)
        return self.skewness / root, max(self.skewness, self.least_above) / root

    def _transformed(self, null_value: float) -> tuple[float, float]:
        """What the lower end, and the upper end, compare with Student's t."""
        t = min(max((self.estimate - null_value) / self.se, -FAR), FAR)
        below, smallest_transformed = (
            t + k * t * t / 3 + k * k * t * t * t / 27 + k / 6 for k in self._skewnesses()
        )
        return below, max(below, smallest_transformed)


def _inverse(x: float, k: float) -> float:
    """T with T + k T^2/3 + k^2 T^3/27 + k/6 = x; of k = 0 too."""
    moved = x - k / 6
    root = math.cbrt(1 + k * moved)
    return 3 * moved / (root * root + root + 1)


@dataclass(frozen=True)
class LogT(TransformedT):
    """Student's t on the log scale: a ratio, `se` being that of its logarithm."""

    kind: ClassVar[str] = "log t"

    estimate: float
    se: float
    df: float
    null_value: float = math.nan

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval of the logarithm, transformed back."""
        centre = math.log(self.estimate)
        low, high = wald_interval(centre, self.se, "t", self.df, alternative, alpha)
        return _exp(low), _exp(high)

    def _statistic(self, null_value: float) -> float:
        """The logarithm of the estimate over the null value, over its standard error."""
        if not null_value > 0:
            return math.nan
        return (math.log(self.estimate) - math.log(null_value)) / self.se


def _exp(value: float) -> float:
    return float(np.exp(min(value, 709.0))) if value < math.inf else math.inf
