"""Inference for error rates of fixed rules: of independent rows, weighted ones, and clusters."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ucvtest.common.words import arg, call
from ucvtest.data.groups import Clusters
from ucvtest.data.weights import EFFECTIVE_SIZE, EQUAL, few_by_weight
from ucvtest.inference import quantity
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import TABLE_ALPHA, Hypothesis
from ucvtest.losses.from_predictions import WEIGHTED_ERRORS
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.fixed_rules import mean_with_variance
from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.influence import Influence
from ucvtest.stats.interval_rules import Rule
from ucvtest.stats.pivots import Pivot, plus_four
from ucvtest.stats.shares import (
    ROUNDING,
    EffectiveCounts,
    WilsonScore,
    difference_of_shares,
    effective_number,
)
from ucvtest.stats.wald import wald_interval, wald_pvalue

Tables = dict[str, dict[str, Any]]


class ErrorTest(NamedTuple):
    """How error rates are tested: the name of the test, its reference, and what a note says."""

    test: str
    reference: str
    note: str


ADDED = (
    "The interval adds {} to the effective number of observations, and Student's t has one degree "
    "of freedom less than this number."
)

ERROR_TESTS: Mapping[str, ErrorTest] = {
    "": ErrorTest("t", "t", ""),
    "binomial": ErrorTest(
        "binomial",
        "exact binomial",
        "p-value and interval are the exact binomial ones (Clopper and Pearson).",
    ),
    "wilson": ErrorTest(
        "score", "normal", "p-value and interval are from the score test (Wilson)."
    ),
    "paired binomial": ErrorTest(
        "binomial",
        "exact binomial",
        "The two rules are right and wrong on the same observations: p-value and interval are "
        "from McNemar's exact test.",
    ),
    "plus four": ErrorTest(
        "t", "t", ADDED.format("four observations, two of them errors (Agresti and Coull 1998)")
    ),
    "added observations": ErrorTest(
        "t", "t", ADDED.format("one right and one wrong observation (Agresti and Min 2005)")
    ),
}
"""By the kind of rule; "" is Student's t."""


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


def counts_of_errors(observed: LossDifference) -> dict[str, int]:
    """The number of errors, or of observations on which two rules differ."""
    name = "n_disagreements" if observed.paired else "n_errors"
    return {name: int(np.count_nonzero(observed.values))}


def rule_of_errors(
    observed: LossDifference, hypothesis: Hypothesis, *, score: bool
) -> tuple[Rule | None, Tables]:
    """The inference for error rates, None for Student's t, and a table for those of one rule.

    With `score` it is Wilson's test.
    """
    values, n = observed.values, len(observed.values)
    if observed.paired:
        # No observation distinguishes the rules: the exact test still has an answer.
        never = observed.identical and not observed.design.learns
        return PairedCounts(0, 0, n) if never else None, {}
    rate, rules = float(values.mean()), dict[str, Rule]()
    rules["exact binomial"] = BinomialCounts(int(values.sum()), n)
    if score:
        rules["wilson"] = WilsonScore(rate, n, hypothesis.null_value)
    se = float(values.std(ddof=1) / math.sqrt(n))
    table = table_of_intervals(rules, rate, se, n - 1.0, hypothesis)
    return rules["wilson" if score else "exact binomial"], table


def rule_of_weighted_errors(observed: LossDifference, null_value: float) -> Pivot | None:
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
        return plus_four(estimate, variance, size, null_value)
    if losses.settings.get(EQUAL, True):
        return None
    return difference_of_shares(estimate, variance, size, size - 1, null_value)


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


# ------------------------------------------------------------- right or wrong rows in clusters


class Shares(NamedTuple):
    """The inference for rows in clusters, with equal weights of rows that are right or wrong."""

    rule: EffectiveCounts | Pivot
    n_effective: float
    note: str
    tables: Tables


def marks_rows(losses: Losses, clusters: Clusters, values: np.ndarray | None = None) -> bool:
    """Whether every row, with equal weights, is right or wrong without undecided ties."""
    if clusters.weight != "row" or not losses.metric.counts_errors:
        return False
    values = losses.known_values if values is None else values
    return bool(np.isin(values, (-1, 0, 1)).all())


def share_differences(
    values: np.ndarray, clusters: Clusters, null_value: float = math.nan
) -> tuple[Influence, np.ndarray, Pivot]:
    """Differences of two shares of rows in clusters: means, effective numbers (M,), and rules.

    `values` (M, n) are 1 if only the first rule is wrong, -1 if only the second is wrong, and 0
    otherwise. The fields of the rule are arrays.
    """
    rows, means = Influence.of_means(values), Influence.of_means(clusters.values(values))
    n_groups, variances = clusters.n_groups, means.variances
    numbers = effective_number(rows.variances, variances, values.shape[1], n_groups)
    df = n_groups - 1.0
    rule = difference_of_shares(means.estimates, variances, numbers, df, null_value)
    return means, numbers, rule


def shares_of_rules(
    observed: LossDifference, clusters: Clusters, hypothesis: Hypothesis, *, score: bool = False
) -> Shares:
    """The error rate of one rule, by an effective number of rows, or the difference of two rates.

    With `score` the interval of one rate is Wilson's.
    """
    n_tested, n_groups = len(observed.values), clusters.n_groups
    estimate, variance = mean_with_variance(observed, clusters)
    tables, rule = Tables(), EffectiveCounts(estimate, variance, n_tested, n_groups, score)
    if observed.paired:
        _, numbers, rules = share_differences(
            observed.values[None], clusters, hypothesis.null_value
        )
        n_effective = float(numbers[0])
        (moved,), (se,) = np.asarray(rules.estimate).tolist(), np.asarray(rules.se).tolist()
        difference = replace(rules, estimate=moved, se=se)
    else:
        n_effective = rule.n_effective(TABLE_ALPHA / 2)
        kinds = {"korn graubard": replace(rule, score=False), "wilson": replace(rule, score=True)}
        tables = table_of_intervals(
            kinds, estimate, math.sqrt(variance), n_groups - 1.0, hypothesis
        )
    worth = f"The {n_tested} rows count as {n_effective:.3g} independent ones"
    if variance <= ROUNDING:
        worth = (
            f"Clusters do not differ, so the {n_tested} rows count as {n_groups}, the number "
            "of clusters"
        )
    if observed.paired:
        note = (
            f"{worth}. One right and one wrong observation are added (Agresti and Min 2005): "
            "the interval moves towards 0 and stays within -1 and 1."
        )
        return Shares(difference, n_effective, note, tables)
    kind = "that of Wilson's score test" if score else "the exact binomial one"
    note = f"{worth} (Korn and Graubard 1998), and the interval is {kind} for this number."
    return Shares(rule, n_effective, note, tables)
