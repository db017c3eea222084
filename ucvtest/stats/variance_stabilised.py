"""Intervals for an estimate whose standard error moves with it (Tibshirani 1988)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ucvtest.stats.wald import Alternative, TransformedT, wald_interval

__all__ = ["StabilisedT", "stabilised"]

MOST_BENT = 0.4
"""Largest change of the logarithm of the standard error over one standard error: a slope beyond it
is hardly known. As it does not depend on the level, p-values and intervals of all levels agree."""

FAR = 700.0
"""Exponents beyond which powers of e overflow."""


def stabilised(distance: np.ndarray | float, bend: np.ndarray | float) -> np.ndarray:
    """Distances in standard errors on the scale on which these are constant.

    `bend` is the slope of the logarithm of the standard error times the standard error.
    """
    bend = np.clip(bend, -MOST_BENT, MOST_BENT)
    straight = bend == 0
    bent = np.expm1(np.minimum(bend * distance, FAR)) / np.where(straight, 1.0, bend)
    return np.where(straight, distance, bent)


@dataclass(frozen=True)
class StabilisedT(TransformedT):
    r"""Student's t on the scale on which the standard error is constant.

    If the standard error at theta is :math:`se\,e^{\beta(\theta - U)}`, `slope` being beta, then
    :math:`z(\theta) = (e^{-\beta(\theta - U)} - 1)/(\beta\,se)` is compared with Student's t.
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

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval of z, transformed back, within what the estimand can be."""
        below, above = wald_interval(0.0, 1.0, "t", self.df, alternative, alpha)
        low, high = self._at(-below), self._at(-above)
        return max(low, self.least), min(high, self.most)

    @property
    def _bend(self) -> float:
        return min(max(self.slope * self.se, -MOST_BENT), MOST_BENT)

    def _statistic(self, null_value: float) -> float:
        """z of the null value."""
        if not self.least <= null_value <= self.most:
            return math.nan
        distance = (self.estimate - null_value) / self.se
        return float(stabilised(distance, self._bend))

    def _at(self, z: float) -> float:
        """The value of the estimand with this z; infinite beyond the last one."""
        bend = self._bend
        if not bend or math.isinf(z):
            return self.estimate - self.se * z
        if bend * z <= -1:
            return math.copysign(math.inf, bend)
        return self.estimate - self.se * math.log1p(bend * z) / bend
