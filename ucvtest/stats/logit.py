"""p-values and intervals of a share on the logit scale, so that they stay between 0 and 1."""

import math
from dataclasses import dataclass
from typing import ClassVar

from scipy.special import expit, logit

from ucvtest.stats.wald import Alternative, TransformedT, wald_interval

CLIPPED = 0.001
"""Estimates closer to 0 or 1 than this are taken for this: their logits run away. Intervals reach
to the estimate nevertheless."""


@dataclass(frozen=True)
class LogitT(TransformedT):
    """Student's t on the logit scale: the AUC of one learner. See `Rule`.

    Without degrees of freedom (NaN) the normal distribution.
    """

    kind: ClassVar[str] = "logit t"

    estimate: float
    se: float
    df: float
    null_value: float = math.nan

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval on the logit scale, transformed back."""
        *centres, se = self._on_logit_scale()
        if alternative != "two-sided" and alpha > 0.5:
            # Such an interval begins beyond the estimate.
            centres.reverse()
        low, high = (
            wald_interval(centre, se, self.reference, self.df, alternative, alpha)[limit_index]
            for limit_index, centre in enumerate(centres)
        )
        return float(expit(low)), float(expit(high))

    def _on_logit_scale(self) -> tuple[float, float, float]:
        """The shift of logits from the estimate to the value used in its place."""
        taken_for = self._taken_for
        proportions = sorted((taken_for, min(max(self.estimate, 0.0), 1.0)))
        return (
            float(logit(proportions[0])),
            float(logit(proportions[1])),
            self.se / (taken_for * (1 - taken_for)),
        )

    @property
    def _taken_for(self) -> float:
        """A number whose logit does not run away."""
        return min(max(self.estimate, CLIPPED), 1 - CLIPPED)

    def _statistic(self, null_value: float) -> float:
        """Logits between the estimate and the null value, over their standard error."""
        if not 0 <= null_value <= 1:
            return math.nan
        lowest, highest, se = self._on_logit_scale()
        null = float(logit(null_value))
        if lowest <= null <= highest:
            return 0.0
        return (min(max(null, lowest), highest) - null) / se


@dataclass(frozen=True)
class MovedLogitT(LogitT):
    """The same of an estimate at 0 or 1, for which observations are added to tell its error.

    `moved` is the estimate with them, and `se` belongs to it. Intervals reach to the estimate.
    """

    kind: ClassVar[str] = "logit t with added observations"

    moved: float = math.nan

    @property
    def _taken_for(self) -> float:
        return self.moved
