"""Intervals on scales where a standard error moves less with its estimate, and on those of squares.

R2 and skills on that of log(1 - T), correlations on Fisher's, the root of a mean as the root of the
limits of that mean.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ucvtest.stats.wald import OTHER_SIDE, Alternative, TransformedT, wald_interval

ScaleName = Literal["identity", "log", "log1m", "fisher"]

LARGEST = 700.0
"""Beyond this exponentials overflow."""


@dataclass(frozen=True)
class MonotoneScale:
    """A scale with the way back; `falls` where a larger value is a smaller number on it."""

    there: Callable[[float], float]
    back: Callable[[float], float]
    falls: bool = False


SCALES: dict[ScaleName, MonotoneScale] = {
    "identity": MonotoneScale(float, float),
    "log": MonotoneScale(
        lambda value: math.log(value) if value > 0 else math.nan,
        lambda at: math.exp(min(at, LARGEST)),
    ),
    "log1m": MonotoneScale(
        lambda value: math.log(1 - value) if value < 1 else math.nan,
        lambda at: 1 - math.exp(min(at, LARGEST)),
        falls=True,
    ),
    "fisher": MonotoneScale(
        lambda value: math.atanh(value) if -1 < value < 1 else math.nan, math.tanh
    ),
}


@dataclass(frozen=True)
class OnScaleT(TransformedT):
    """Student's t on a scale, on which `se` is the standard error."""

    kind: ClassVar[str] = "t on a scale"

    estimate: float
    se: float
    df: float
    scale: ScaleName
    null_value: float = math.nan

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval on the scale, transformed back."""
        scale = SCALES[self.scale]
        scale_alternative = OTHER_SIDE[alternative] if scale.falls else alternative
        centre = scale.there(self.estimate)
        limits = wald_interval(centre, self.se, "t", self.df, scale_alternative, alpha)
        low, high = sorted(map(scale.back, limits))
        # One-sided intervals end at infinity on the scale.
        return (-math.inf if alternative == "less" else low), (
            math.inf if alternative == "greater" else high
        )

    def _statistic(self, null_value: float) -> float:
        """How far the estimate is above the null value, on the scale."""
        scale = SCALES[self.scale]
        distance = scale.there(self.estimate) - scale.there(null_value)
        return (-distance if scale.falls else distance) / self.se


@dataclass(frozen=True)
class RootOf:
    """The square root of what `rule` is about, which is never negative: RMSE from mean squares.

    `rule` is a rule of `ucvtest.stats.interval_rules`, which is above this module.
    """

    kind: ClassVar[str] = "root"

    rule: Any

    @property
    def statistic(self) -> float:
        """That of the square."""
        return float(self.rule.statistic)

    @property
    def df(self) -> float:
        """That of the square."""
        return float(self.rule.df)

    @property
    def reference(self) -> str:
        """That of the square."""
        return str(self.rule.reference)

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of a value of the root."""
        if null_value < 0:
            return math.nan
        square_pvalue: float = self.rule.pvalue(null_value**2, alternative)
        return square_pvalue

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The roots of the limits; a limit below 0 is 0."""
        low, high = self.rule.interval(alternative, alpha)
        return math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))
