"""A rule in other units: what a rule about a loss says of a score, or of costs."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.shares import EffectiveCounts
from ucvtest.stats.wald import OTHER_SIDE, Alternative


@dataclass(frozen=True)
class ChangedUnits:
    """p-values and intervals of `shift` plus `slope` times what `rule` is about, to the last bit.

    `rule` is a rule of `ucvtest.stats.interval_rules`, which is above this module. With a slope
    below 0 it is a mirror image.
    """

    kind: ClassVar[str] = "changed units"

    rule: Any
    shift: float
    slope: float = -1.0

    @property
    def statistic(self) -> float:
        """With the sign of the slope; mirrored counts are of right answers."""
        if self.slope > 0:
            return float(self.rule.statistic)
        if isinstance(self.rule, BinomialCounts):
            return self.rule.n_obs - self.rule.n_errors
        if isinstance(self.rule, PairedCounts):
            return self.rule.only_second
        if isinstance(self.rule, EffectiveCounts):
            return self.rule.opposite_statistic
        return 0.0 - float(self.rule.statistic)

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of a value that the estimand can have, else NaN; it inverts the interval."""
        null_value = (null_value - self.shift) / self.slope + 0.0
        rule_pvalue: float = self.rule.pvalue(null_value, self._turned(alternative))
        return rule_pvalue

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval that belongs to the p-value, one-sided where that is."""
        rule_interval = self.rule.interval(self._turned(alternative), alpha)
        low, high = (self.shift + self.slope * limit for limit in rule_interval)
        return (low, high) if self.slope > 0 else (high, low)

    def _turned(self, alternative: Alternative) -> Alternative:
        return alternative if self.slope > 0 else OTHER_SIDE[alternative]
