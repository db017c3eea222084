"""Where p-values and intervals come from, if not from an estimate and its standard error alone."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol

from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.intervals import HallT, LogT, MovedT, PlusFour
from ucvtest.stats.logit import LogitT, MovedLogitT
from ucvtest.stats.scales import OnScaleT, RootOf
from ucvtest.stats.shares import EffectiveCounts, WilsonScore
from ucvtest.stats.variance_stabilised import StabilisedT
from ucvtest.stats.wald import OTHER_SIDE, Alternative


class Rule(Protocol):
    """Counts, for exact tests; or an estimate on another scale, or with a skewed reference.

    The p-value is at most alpha exactly when the interval leaves out the null value.
    """

    kind: ClassVar[str]

    @property
    def statistic(self) -> float:
        """A statistic with a known null distribution; a count is an integer."""

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """The p-value; NaN where this value of the estimand cannot be tested."""

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval that belongs to the p-value, one-sided where that is."""


class StudentRule(Rule, Protocol):
    """A rule that refers to Student's t or to the normal distribution."""

    @property
    def df(self) -> float:
        """Degrees of freedom; NaN of the normal distribution."""

    @property
    def reference(self) -> str:
        """The distribution: "t" or "normal"."""


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


TYPES = (
    *(BinomialCounts, PairedCounts, EffectiveCounts, WilsonScore, LogitT, PlusFour, MovedT),
    *(HallT, LogT, OnScaleT, StabilisedT, ChangedUnits, RootOf, MovedLogitT),
)

KINDS: dict[str, type[Rule]] = {rule.kind: rule for rule in TYPES}
"""What can stand in the field `rule` of a result, by the names that files have for it."""


def rule_to_dict(rule: Rule) -> dict[str, Any]:
    """The rule with the name of its kind, for JSON."""
    if isinstance(rule, ChangedUnits):
        return {
            "kind": rule.kind,
            "rule": rule_to_dict(rule.rule),
            "shift": rule.shift,
            "slope": rule.slope,
        }
    if isinstance(rule, RootOf):
        return {"kind": rule.kind, "rule": rule_to_dict(rule.rule)}
    return {"kind": rule.kind, **asdict(rule)}  # type: ignore[call-overload]


def rule_from_dict(data: Mapping[str, Any]) -> Rule:
    """The rule that `rule_to_dict` was called on.

    Raises
    ------
    ValueError
        If `data` names no kind of rule.
    """
    rule_fields = dict(data)
    kind = rule_fields.pop("kind", None)
    if kind not in KINDS:
        raise ValueError(
            f"data has a rule of kind {kind!r}, which is unknown here: upgrade ucvtest"
        )
    if "rule" in rule_fields:
        rule_fields["rule"] = rule_from_dict(rule_fields["rule"])
    return KINDS[kind](**rule_fields)
