"""Intervals for an estimate whose standard error moves with it (Tibshirani 1988), in bounds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ucvtest.stats.wald import Alternative, TransformedT, wald_interval

MOST_BENT = 0.26
"""Largest change of the logarithm of the standard error over one standard error. With it p-values
are within a factor of 10 of Wald's, and each side is 0.80 to 1.42 times as wide. As it does not
depend on the level, p-values and intervals of all levels agree."""

FOLLOWED, MET = 2.0, 4.0
"""z up to which the slope is followed, and where the scale, straight from there, meets Wald's."""


@dataclass(frozen=True)
class BoundedScale:
    """Distances in standard errors, and the same where the standard error is constant (z).

    If the logarithm of the standard error changes by `bend` over one of them, z of a distance d is
    (e^(bend d) - 1)/bend. That was seen by leaving out single observations, which hardly move the
    estimate: from z = `FOLLOWED` on z is straight in d, and they are the same from `MET` on. Both
    ways rise, numbers or arrays.
    """

    bend: Any

    @classmethod
    def of(cls, slope: Any, slope_error: Any, se: Any) -> Self:
        """By the slope of the logarithm of the standard error, its error, and the latter."""
        return cls(np.clip(shrunk_slope(slope, slope_error) * se, -MOST_BENT, MOST_BENT))

    def z(self, distance: Any) -> Any:
        """Of distances between the estimate and another value."""
        bend, size = self.bend * np.sign(distance), np.abs(distance)
        unbent_limit = _unbent(bend, FOLLOWED)
        return np.sign(distance) * _followed(_bent, bend, size, unbent_limit, FOLLOWED)

    def distance(self, z: Any) -> Any:
        """The inverse: the distance with this z."""
        bend, size = self.bend * np.sign(z), np.abs(z)
        unbent_limit = _unbent(bend, FOLLOWED)
        return np.sign(z) * _followed(_unbent, bend, size, FOLLOWED, unbent_limit)


def shrunk_slope(slope: Any, slope_error: Any) -> Any:
    """As much of a slope as is to be believed; 0 where it, or its error, is not known.

    Of slopes around 0 with the variance s^2, s^2/(s^2 + error^2) of the observed slope is the best
    prediction; for s^2 the square of the slope is taken.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shrunk = np.divide(slope, 1 + np.divide(slope_error, slope) ** 2)
    return np.where(np.isnan(shrunk), 0.0, shrunk)


def _followed(
    curve: Callable[[Any, Any], Any], bend: Any, size: Any, curve_start: Any, curve_value: Any
) -> Any:
    """A curve from `curve_start` to `curve_value`, straight from there to `MET`, then the same."""
    straight = np.clip((size - curve_start) / (MET - curve_start), 0.0, 1.0) * (MET - curve_value)
    return curve(bend, np.minimum(size, curve_start)) + straight + np.maximum(size - MET, 0.0)


def _bent(bend: Any, distance: Any) -> Any:
    straight = bend == 0
    return np.where(straight, distance, np.expm1(bend * distance) / np.where(straight, 1.0, bend))


def _unbent(bend: Any, z: Any) -> Any:
    straight = bend == 0
    return np.where(straight, z, np.log1p(bend * z) / np.where(straight, 1.0, bend))


@dataclass(frozen=True)
class StabilisedT(TransformedT):
    r"""Student's t on the scale on which the standard error is constant.

    If the standard error at theta is :math:`se\,e^{\beta(\theta - U)}`, `slope` being beta, then
    :math:`z(\theta) = (e^{-\beta(\theta - U)} - 1)/(\beta\,se)` is compared with Student's t;
    beta is shrunk by its standard error `slope_error`, and bounded: see `BoundedScale`.
    `least` and `most` are what the estimand can be.
    """

    kind: ClassVar[str] = "stabilised t"

    estimate: float
    se: float
    df: float
    slope: float
    least: float = -math.inf
    most: float = math.inf
    null_value: float = math.nan
    slope_error: float = 0.0

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval of z, transformed back, within what the estimand can be."""
        below, above = wald_interval(0.0, 1.0, "t", self.df, alternative, alpha)
        low, high = self._at_value(-below), self._at_value(-above)
        return max(low, self.least), min(high, self.most)

    @property
    def _scale(self) -> BoundedScale:
        return BoundedScale.of(self.slope, self.slope_error, self.se)

    def _statistic(self, null_value: float) -> float:
        """z of the null value."""
        if not self.least <= null_value <= self.most:
            return math.nan
        return float(self._scale.z((self.estimate - null_value) / self.se))

    def _at_value(self, z: float) -> float:
        """The value of the estimand with this z."""
        return self.estimate - self.se * float(self._scale.distance(z))
