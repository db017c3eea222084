"""Inference for error rates of independent observations, and the table of their intervals."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucvtest.common.words import arg, call
from ucvtest.data.groups import Clusters
from ucvtest.data.weights import EFFECTIVE_SIZE, EQUAL, few_by_weight
from ucvtest.inference import quantity
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import TABLE_ALPHA, Hypothesis
from ucvtest.losses.from_predictions import WEIGHTED_ERRORS
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.fixed_rules import mean_with_variance
from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.interval_rules import Rule
from ucvtest.stats.intervals import MovedT, PlusFour
from ucvtest.stats.shares import WilsonScore, difference_of_shares
from ucvtest.stats.wald import wald_interval, wald_pvalue

Tables = dict[str, dict[str, Any]]


def check_one_error_rate(interval: str, question: Question) -> None:
    """Refuse an interval of error rates if the test is about anything else."""
    of_one = f"{arg('interval', interval)} is for the error rate, or accuracy, of one rule"
    if question.paired:
        raise ValueError(
            f"{of_one}, but this is a difference of two: leave it out, or use "
            f"{call('McNemarTest')}, which is exact"
        )
    if not question.metric.counts_errors:
        raise ValueError(f"{of_one}, but this is the {question.metric.in_words}: leave it out")
    if question.clusters is not None and question.clusters.weight != "row":
        raise ValueError(
            f"{of_one} in which all rows have the same weight, but here all clusters do: pass "
            f"{arg('group_weight', 'row')}, or leave {arg('interval')} out"
        )


def counts_errors(observed: LossDifference, clusters: Clusters | None) -> bool:
    """Whether every loss is 0 or 1; undecided ties of a learner count half.

    Means over the rows of clusters do not qualify, even if all of them are right or wrong.
    """
    errors = observed.losses.metric.counts_errors and clusters is None
    return errors and bool(np.isin(observed.values, (-1, 0, 1)).all())


def rule_of_errors(observed: LossDifference, null_value: float, *, score: bool) -> Rule | None:
    """The inference for error rates; None for Student's t. With `score`, Wilson's test."""
    values = observed.values
    if observed.paired:
        # No observation distinguishes the rules: the exact test still has an answer.
        never = observed.identical and not observed.design.learns
        return PairedCounts(0, 0, len(values)) if never else None
    if score:
        return WilsonScore(float(values.mean()), len(values), null_value)
    return _binomial(values)


def rule_of_weighted_errors(
    observed: LossDifference, null_value: float
) -> PlusFour | MovedT | None:
    """Inference for weighted error rates: observations are added to the effective number of them.

    As many independent observations would have one degree of freedom less. None for Student's t,
    which a difference without weights has, and so one of equal weights; also where few rows decide.
    """
    losses = observed.losses
    size = losses.settings.get(EFFECTIVE_SIZE)
    if size is None or losses.loss != WEIGHTED_ERRORS or few_by_weight(losses.settings) != "ok":
        return None
    estimate, variance = mean_with_variance(observed)
    if not observed.paired:
        return PlusFour(estimate, variance, size, null_value)
    if losses.settings.get(EQUAL, True):
        return None
    return difference_of_shares(estimate, variance, size, size - 1, null_value)


def table_of_errors(values: np.ndarray, rule: Rule | None, hypothesis: Hypothesis) -> Tables:
    """Student's interval and the exact one, for the errors of one learner."""
    rules: dict[str, Rule] = {"exact binomial": _binomial(values)}
    if isinstance(rule, WilsonScore):
        rules["wilson"] = rule
    estimate = float(values.mean())
    se = float(values.std(ddof=1) / math.sqrt(len(values)))
    return table_of_intervals(rules, estimate, se, len(values) - 1.0, hypothesis)


def table_of_intervals(
    rules: Mapping[str, Rule], estimate: float, se: float, df: float, hypothesis: Hypothesis
) -> Tables:
    """The table of intervals: Student's, and the intervals for rules."""
    null, alternative = hypothesis.null_value, hypothesis.alternative
    rows: list[tuple[Any, ...]] = [("t", math.nan, math.nan, math.nan)]
    if se > 0:
        interval = wald_interval(estimate, se, "t", df, alternative, TABLE_ALPHA)
        rows = [("t", *interval, wald_pvalue((estimate - null) / se, "t", df, alternative))]
    for name, rule in rules.items():
        interval = rule.interval(alternative, TABLE_ALPHA)
        rows.append((name, *interval, rule.pvalue(null, alternative)))
    names = ("interval", "conf_low", "conf_high", "pvalue")
    table: dict[str, Any] = dict(zip(names, zip(*rows, strict=True), strict=True))
    table |= {name: quantity.value(table[name]) for name in ("conf_low", "conf_high")}
    if math.isnan(null):
        del table["pvalue"]
    return {"Intervals": table}


def _binomial(values: np.ndarray) -> BinomialCounts:
    return BinomialCounts(int(values.sum()), len(values))
