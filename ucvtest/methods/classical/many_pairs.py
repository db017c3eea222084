"""Many pairs of learners at once: the numbers of Student's and McNemar's tests from arrays.

Each number is what the test of that pair alone gives, to the bit: differences and sums are taken in
the same order.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from ucvtest.inference.answer import Answer
from ucvtest.inference.finish import Reported
from ucvtest.inference.question import Question
from ucvtest.inference.status import ROUNDING
from ucvtest.losses.table import LossDifference
from ucvtest.results.columns import PairNumbers
from ucvtest.stats.exact import PairedCounts
from ucvtest.stats.interval_rules import ChangedUnits, Rule
from ucvtest.stats.wald import reference_distribution

CELLS = 2_000_000
"""Differences of losses that are kept at a time."""


@dataclass(frozen=True, eq=False)
class PairsOfLearners(LossDifference):
    """The losses of a pair of learners, in front of those of many, for tests of means alone."""

    pairs: np.ndarray
    """All pairs, (M, 2), by the positions of their learners."""

    @property
    def means_of_each(self) -> np.ndarray:
        """The differences of the means of resamples, (M, R)."""
        first, other = self.pairs.T
        means = self.losses.means
        return np.asarray(means[first] - means[other])


def student_numbers(question: Question, places: np.ndarray, answer: Answer) -> PairNumbers | None:
    """Studentised numbers of the estimates of many pairs by their `places` (M, 2).

    They are `of_plain_means`; None where a test has a rule of its own.
    """
    by_rule = answer.pivot is not None or answer.pvalue is not None
    distribution = reference_distribution(answer.reference, answer.df)
    if by_rule or distribution is None:
        return None
    losses = question.observed.losses  # type: ignore[union-attr]
    estimate, variance = np.asarray(answer.estimates), np.asarray(answer.variances)
    hypothesis = question.hypothesis
    null = hypothesis.null_value if answer.null_value is None else answer.null_value
    with np.errstate(invalid="ignore", divide="ignore"):
        # As `studentise` adds the Monte-Carlo variance, 0.
        se = np.sqrt(np.where(variance >= 0, variance + 0.0, np.nan))
        statistic = (estimate - null) / se
        # Differences of a pair that are no more than rounding have no test, nor have equal losses.
        largest = np.abs(np.nan_to_num(losses.means)).max(axis=1)
        rounding = ROUNDING * np.maximum(*largest[places].T)
        plain = (variance > rounding**2) & np.isfinite(estimate)
    kept = losses.means if losses.values is None else losses.values
    # NaN is equal to nothing, also not to itself.
    keys = np.unique(kept, axis=0, return_inverse=True, equal_nan=False)[1].ravel()
    plain &= ~np.equal(*keys[places].T)
    # The p-values of `wald_pvalue`.
    if hypothesis.alternative == "two-sided":
        pvalue = 2 * distribution.cdfs(-np.abs(statistic))
    else:
        pvalue = distribution.cdfs(statistic if hypothesis.alternative == "less" else -statistic)
    numbers = PairNumbers(estimate, se, statistic, pvalue, np.full(len(places), answer.df), plain)
    return _reported(question, numbers)


def mcnemar_numbers(question: Question, places: np.ndarray) -> PairNumbers | None:
    """McNemar's exact test, which knows pairs by their counts; None for clusters and ties."""
    if not of_plain_means(question):
        return None
    losses = question.observed.losses  # type: ignore[union-attr]
    values = losses.known_values
    if (values % 1 != 0).any():
        return None
    estimate, spread = moments(values, places)
    n_obs = values.shape[1]
    errs = (values > 0).astype(float)
    jointly = errs @ errs.T
    counts = np.stack(
        [errs.sum(axis=1)[side] - jointly[tuple(places.T)] for side in places.T], axis=1
    )
    distinct, rule_of = np.unique(counts.astype(int), axis=0, return_inverse=True)
    rules = [PairedCounts(first, second, n_obs) for first, second in distinct.tolist()]
    alternative, units = question.hypothesis.alternative, question.metric.units
    pvalues = np.array([rule.pvalue(0.0, alternative) for rule in rules])
    reported_rules: list[Rule] = list(rules)
    if units is not None:
        reported_rules = [ChangedUnits(rule, 0.0, units.slope) for rule in rules]
    statistics = np.array([float(rule.statistic) for rule in reported_rules])
    rule_of = rule_of.ravel()
    numbers = PairNumbers(
        estimate,
        np.sqrt(spread / n_obs + 0.0),
        statistics[rule_of],
        pvalues[rule_of],
        np.full(len(places), np.nan),
        np.ones(len(places), dtype=bool),
        tuple(reported_rules),
        rule_of,
    )
    return _reported(question, numbers)


def of_plain_means(question: Question) -> bool:
    """Whether results are about differences of means of independent rows, and no more."""
    return (
        question.observed is not None
        and question.paired
        and question.clusters is None
        and not question.weighted
        and not question.metric.linearised
    )


def moments(values: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and sample variances of the differences of pairs, some at a time."""
    estimate, spread = np.empty((2, len(places)))
    step = max(1, CELLS // values.shape[1])
    for start in range(0, len(places), step):
        rows = slice(start, start + step)
        first, second = places[rows].T
        differences = values[first] - values[second]
        estimate[rows] = differences.mean(axis=1)
        spread[rows] = differences.var(axis=1, ddof=1)
    return estimate, spread


def _reported(question: Question, numbers: PairNumbers) -> PairNumbers:
    """The same in the units of results; estimates that cannot be have results of their own."""
    units = Reported(question.metric.units, True, math.nan)
    estimate, plain = units.number("value", numbers.estimate), numbers.plain
    if question.limited and question.metric.per_test_set:
        low, high = question.range_of("difference")
        plain = plain & (low <= estimate) & (estimate <= high)
    statistic = numbers.statistic
    return replace(
        numbers,
        estimate=estimate,
        se=units.number("spread", numbers.se),
        statistic=statistic if numbers.rules else units.number("odd", statistic),
        plain=plain,
    )
