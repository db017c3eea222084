"""The mirror image of a rule: what a rule about a loss says of a constant less this loss."""

from dataclasses import dataclass
from typing import Any, ClassVar

from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.wald import OTHER_SIDE, Alternative

__all__ = ["Mirrored"]


@dataclass(frozen=True)
class Mirrored:
    """p-values and intervals of `centre` less what `rule` is about, to the last bit.

    `rule` is a rule of `ucvtest.stats.interval_rules`, which is above this module.
    """

    kind: ClassVar[str] = "mirrored"

    rule: Any
    centre: float

    @property
    def statistic(self) -> float:
        """With its sign changed; of counts that of right predictions, or where one alone is."""
        if isinstance(self.rule, BinomialCounts):
            return self.rule.n_obs - self.rule.n_errors
        if isinstance(self.rule, PairedCounts):
            return self.rule.only_second
        return 0.0 - float(self.rule.statistic)

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of a value that the estimand can have, else NaN; it inverts the interval."""
        found: float = self.rule.pvalue(self.centre - null_value, OTHER_SIDE[alternative])
        return found

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval that belongs to the p-value, one-sided where that is."""
        low, high = self.rule.interval(OTHER_SIDE[alternative], alpha)
        return self.centre - high, self.centre - low
