"""Where p-values and intervals come from, if not from an estimate and its standard error alone."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.pivots import Hall, Pivot, Stabilised
from ucvtest.stats.shares import EffectiveCounts, WilsonScore
from ucvtest.stats.wald import OTHER_SIDE, Alternative


class Rule(Protocol):
    """Counts, for exact tests; or an estimate on another scale, or with a skewed reference.

    The p-value is at most alpha exactly when the interval leaves out the null value.
    """

    @property
    def kind(self) -> str:
        """What words about it are found by."""

    @property
    def statistic(self) -> float:
        """A statistic with a known null distribution; a count is an integer."""

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """The p-value; NaN where this value of the estimand cannot be tested."""

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval that belongs to the p-value, one-sided where that is."""


@dataclass(frozen=True)
class ChangedUnits:
    """p-values and intervals of `shift` plus `slope` times what `rule` is about, to the last bit.

    With a slope below 0 it is a mirror image.
    """

    kind: ClassVar[str] = "changed units"

    rule: Rule
    shift: float
    slope: float = -1.0

    @property
    def statistic(self) -> float:
        """With the sign of the slope; mirrored counts are of right answers."""
        if self.slope > 0:
            return float(self.rule.statistic)
        opposite: float | None = getattr(self.rule, "opposite_statistic", None)
        return 0.0 - float(self.rule.statistic) if opposite is None else opposite

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


TYPES = (
    *(BinomialCounts, PairedCounts, EffectiveCounts, WilsonScore),
    *(Pivot, Hall, Stabilised, ChangedUnits),
)
"""What can stand in the field `rule` of a result."""

PIVOTS = (
    *("added observations", "plus four", "t on a scale", "log t", "logit t"),
    "logit t with added observations",
)
"""The kinds of `Pivot`."""

KINDS: dict[str, type[Any]] = {
    **{rule.kind: rule for rule in TYPES},
    **dict.fromkeys(PIVOTS, Pivot),
    "root": Hall,
}
"""By the names that files have for them."""


def rule_to_dict(rule: Rule) -> dict[str, Any]:
    """The rule with the name of its kind, for JSON."""
    if isinstance(rule, ChangedUnits):
        return {"kind": rule.kind, **vars(rule), "rule": rule_to_dict(rule.rule)}
    return {"kind": rule.kind, **asdict(rule)}  # type: ignore[call-overload]


def rule_from_dict(data: Mapping[str, Any]) -> Rule:
    """The rule that `rule_to_dict` was called on.

    Raises
    ------
    ValueError
        If `data` names no kind of rule.
    """
    rule_fields, kind = dict(data), data.get("kind")
    if kind not in KINDS:
        raise ValueError(
            f"data has a rule of kind {kind!r}, which is unknown here: upgrade ucvtest"
        )
    if "rule" in rule_fields:
        rule_fields["rule"] = rule_from_dict(rule_fields["rule"])
    if not issubclass(KINDS[kind], Pivot):
        del rule_fields["kind"]
    rule: Rule = KINDS[kind](**rule_fields)
    return rule
