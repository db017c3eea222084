"""p-values and intervals of a share on the logit scale, so that they stay between 0 and 1."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, logit

from ucvtest.stats.wald import Alternative, wald_interval, wald_pvalue

__all__ = ["LogitT"]

CLIPPED = 0.001
"""Estimates closer to 0 or 1 than this are taken for this: their logits run away."""


@dataclass(frozen=True)
class LogitT:
    """Student's t on the logit scale: the AUC of one learner. See `ucvtest.stats.rules.Rule`."""

    kind: ClassVar[str] = "logit t"

    estimate: float
    se: float
    df: float
    null_value: float = math.nan

    @property
    def statistic(self) -> float:
        """Logits between the estimate and the null value, over their standard error."""
        return self._statistic(self.null_value)

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of a value between 0 and 1, else NaN; it inverts the interval."""
        return wald_pvalue(self._statistic(null_value), "t", self.df, alternative)

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval on the logit scale, transformed back."""
        centre, se = self._on_logit_scale()
        low, high = wald_interval(centre, se, "t", self.df, alternative, alpha)
        return float(expit(low)), float(expit(high))

    def _on_logit_scale(self) -> tuple[float, float]:
        share = float(np.clip(self.estimate, CLIPPED, 1 - CLIPPED))
        return float(logit(share)), self.se / (share * (1 - share))

    def _statistic(self, null_value: float) -> float:
        if not 0 <= null_value <= 1:
            return math.nan
        centre, se = self._on_logit_scale()
        return (centre - float(logit(null_value))) / se
