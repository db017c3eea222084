"""From an estimate and its variance to a test: one studentiser, and tables of such estimates."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ucvtest.inference import quantity
from ucvtest.results.fields import method_interval
from ucvtest.stats.interval_rules import Rule
from ucvtest.stats.pivots import Pivot, on_logit
from ucvtest.stats.wald import Alternative, wald_pvalue

TABLE_ALPHA = 0.05
"""Level of tables, which are made with the result."""


@dataclass(frozen=True)
class Hypothesis:
    """The value of an estimand under H0, NaN where nothing is tested, and the alternative."""

    null_value: float
    alternative: Alternative


@dataclass(frozen=True)
class Studentised:
    """An estimate with its test, or why there is none; the fields are those of a `TestResult`."""

    estimate: float
    variance: float
    se: float
    statistic: float
    pvalue: float
    df: float
    reference: str
    status: str
    null_value: float
    alternative: Alternative
    rule: Rule | None = None

    def interval(self, alpha: float = TABLE_ALPHA) -> tuple[float, float]:
        """The interval that belongs to the p-value."""
        return method_interval(self, alpha)


def studentise(
    hypothesis: Hypothesis,
    estimate: float,
    variance: float,
    *,
    mc_se: float = 0.0,
    reference: str,
    df: float = math.nan,
    status: str = "ok",
) -> Studentised:
    """Test an estimate against a hypothesis by its standard error, with `mc_se` as a part.

    The reference "none" gives no statistic. A status other than "ok" takes away reference, p-value
    and interval; a statistic is still shown.
    """
    mc_variance = 0.0 if math.isnan(mc_se) else mc_se**2
    se = math.sqrt(variance + mc_variance) if variance >= 0 else math.nan
    statistic = math.nan
    if reference != "none" and se > 0 and not math.isnan(hypothesis.null_value):
        statistic = (estimate - hypothesis.null_value) / se
    if status != "ok":
        reference, df = "none", math.nan
    pvalue = wald_pvalue(statistic, reference, df, hypothesis.alternative)
    return Studentised(
        estimate=estimate,
        variance=variance,
        se=se,
        statistic=statistic,
        pvalue=pvalue,
        df=df,
        reference=reference,
        status=status,
        null_value=hypothesis.null_value,
        alternative=hypothesis.alternative,
    )


def without_answer(studentised: Studentised, status: str) -> Studentised:
    """The same estimate with the reason why there is no test."""
    return replace(
        studentised,
        status=status,
        statistic=math.nan,
        pvalue=math.nan,
        df=math.nan,
        reference="none",
        rule=None,
    )


def on_logit_scale(studentised: Studentised) -> Studentised:
    """The same test of an AUC or another share, with an interval that stays between 0 and 1."""
    if studentised.reference == "none" or not studentised.se > 0:
        return studentised
    return by_rule(
        studentised,
        on_logit(studentised.estimate, studentised.se, studentised.df, studentised.null_value),
    )


def by_rule(studentised: Studentised, rule: Pivot) -> Studentised:
    """The same estimate, tested by a rule that has a reference distribution of its own."""
    return replace(
        studentised,
        statistic=rule.statistic,
        pvalue=rule.pvalue(studentised.null_value, studentised.alternative),
        df=rule.df,
        reference=rule.reference,
        rule=rule,
    )


def variance_table(
    rows: Iterable[tuple[Any, float | None, Studentised]], heading: str = "variance"
) -> Mapping[str, Any]:
    """Variances with their Monte-Carlo errors, and the 95% interval and p-value each would give.

    The column of errors is left out where all are None.
    """
    listed = list(rows)
    table: dict[str, Any] = {
        heading: tuple(name for name, _, _ in listed),
        "estimate": quantity.square(tuple(studentised.variance for _, _, studentised in listed)),
    }
    if any(mc_se is not None for _, mc_se, _ in listed):
        table["mc_se"] = quantity.square(tuple(mc_se for _, mc_se, _ in listed))
    intervals = [studentised.interval() for _, _, studentised in listed]
    table["conf_low"] = quantity.value(tuple(low for low, _ in intervals))
    table["conf_high"] = quantity.value(tuple(high for _, high in intervals))
    table["pvalue"] = tuple(studentised.pvalue for _, _, studentised in listed)
    return table
