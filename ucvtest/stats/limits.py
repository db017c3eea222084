"""Intervals within the possible values of an estimand, which contain their estimate."""

import math

from ucvtest.stats.wald import Alternative


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
