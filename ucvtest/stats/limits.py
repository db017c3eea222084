"""Intervals within what an estimand can be, that hold their estimate."""

import math

from ucvtest.stats.wald import Alternative

__all__ = ["holding", "within"]


def within(ends: tuple[float, float], bounds: tuple[float, float]) -> tuple[float, float]:
    """The interval cut to what the estimand can be; an end that is infinite stays so."""
    least, most = bounds
    low, high = (min(max(end, least), most) if math.isfinite(end) else end for end in ends)
    return low, high


def holding(
    ends: tuple[float, float], estimate: float, alternative: Alternative, alpha: float
) -> tuple[float, float]:
    """The interval, reaching to the estimate where it did not.

    One-sided intervals with a level below one half begin beyond the estimate, and stay so.
    """
    low, high = ends
    if any(map(math.isnan, (low, high, estimate))) or (alternative != "two-sided" and alpha > 0.5):
        return ends
    return min(low, estimate), max(high, estimate)
