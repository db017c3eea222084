"""Studentised statistics: alternatives, reference distributions, p-values, intervals."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

Alternative = Literal["two-sided", "less", "greater"]
ALTERNATIVES: tuple[Alternative, ...] = ("two-sided", "less", "greater")
OTHER_SIDE: dict[Alternative, Alternative] = {
    "two-sided": "two-sided",
    "less": "greater",
    "greater": "less",
}
"""The same alternative about the negative of an estimand."""


@dataclass(frozen=True)
class ReferenceDistribution:
    """The normal distribution, or Student's with `df` degrees of freedom.

    Both are symmetric. SciPy's own objects take long to import.
    """

    df: float | None = None

    def cdf(self, x: float) -> float:
        """Probability of a value up to x."""
        return float(ndtr(x) if self.df is None else stdtr(self.df, x))

    def sf(self, x: float) -> float:
        """Probability of a value above x."""
        return self.cdf(-x)

    def isf(self, q: float) -> float:
        """The value that is exceeded with probability q."""
        return -float(ndtri(q) if self.df is None else stdtrit(self.df, q))


def reference_distribution(reference: str, df: float) -> ReferenceDistribution | None:
    """The distribution behind "normal" and "t"; None if there is none."""
    if reference == "normal":
        return ReferenceDistribution()
    if reference == "t" and df > 0:
        return ReferenceDistribution(df)
    return None


def reference_of(df: float) -> str:
    """The reference by name: Student's t, or without degrees of freedom (NaN) the normal."""
    return "normal" if math.isnan(df) else "t"


def wald_pvalue(statistic: Any, reference: str, df: Any, alternative: Alternative) -> Any:
    """p-value of a studentised statistic, or of several; NaN without a statistic or a reference."""
    if reference not in ("normal", "t"):
        return math.nan
    # Both distributions are symmetric.
    x = {"two-sided": -np.abs(statistic), "less": statistic, "greater": -statistic}[alternative]
    tail = ndtr(x) if reference == "normal" else stdtr(df, x)
    pvalue = 2 * tail if alternative == "two-sided" else tail
    return pvalue if np.ndim(pvalue) else float(pvalue)


def wald_interval(
    estimate: float, se: float, reference: str, df: float, alternative: Alternative, alpha: float
) -> tuple[float, float]:
    """Interval that belongs to `wald_pvalue`, one-sided where that is; NaN if there is none."""
    distribution = reference_distribution(reference, df)
    if distribution is None or not math.isfinite(se):
        return (math.nan, math.nan)
    if alternative == "two-sided":
        half_width = distribution.isf(alpha / 2) * se
        return (estimate - half_width, estimate + half_width)
    half_width = distribution.isf(alpha) * se
    if alternative == "less":
        return (-math.inf, estimate + half_width)
    return (estimate - half_width, math.inf)


def within(interval: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
    """The interval cut to what the estimand can be; an end that is infinite stays so."""
    lower_bound, upper_bound = bounds
    low, high = (
        min(max(limit, lower_bound), upper_bound) if math.isfinite(limit) else limit
        for limit in interval
    )
    return low, high


def holding(
    interval: tuple[float, float], estimate: float, alternative: Alternative, alpha: float
) -> tuple[float, float]:
    """The interval, reaching to the estimate where it did not.

    One-sided intervals with a level below one half begin beyond the estimate, and stay so.
    """
    low, high = interval
    if any(map(math.isnan, (low, high, estimate))) or (alternative != "two-sided" and alpha > 0.5):
        return interval
    return min(low, estimate), max(high, estimate)
