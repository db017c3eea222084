"""Many pairs of learners at once: numbers of tests from arrays.

Each number is what the test of that pair alone gives, but for rounding.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.inference.answer import Answer
from ucvtest.inference.finish import Reported
from ucvtest.inference.question import Question
from ucvtest.inference.status import ROUNDING
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.error_rates import marks_rows, share_differences
from ucvtest.results.columns import PairNumbers
from ucvtest.stats.exact import PairedCounts, tails
from ucvtest.stats.interval_rules import ChangedUnits
from ucvtest.stats.melded import lower_ends
from ucvtest.stats.wald import Alternative, reference_of, wald_interval, wald_pvalue

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

    @property
    def values_of_each(self) -> np.ndarray:
        """The differences of the values, (M, T)."""
        first, other = self.pairs.T
        values = self.losses.known_values
        return np.asarray(values[first] - values[other])


def numbers_by_answers(
    question: Question, places: np.ndarray, analyse: Callable[[LossDifference], Answer]
) -> PairNumbers | None:
    """The numbers of many pairs by their `places` (M, 2), from the answers to some at a time."""
    assert question.observed is not None
    losses = question.observed.losses
    differ = _differ(losses, places)
    if not differ.any():
        return None
    # In front, where words come from, are two that differ.
    first, other = places[int(np.argmax(differ))].tolist()
    answers = [
        analyse(PairsOfLearners(losses, first, other, places[rows]))
        for rows in _parts(losses, places)
    ]
    answer = answers[0]
    by_rule = answer.pivot is not None or answer.pvalue is not None
    if by_rule or answer.reference not in ("normal", "t") or answer.df <= 0:
        return None
    if answer.null_value is not None:
        hypothesis = replace(question.hypothesis, null_value=answer.null_value)
        question = question.with_hypothesis(hypothesis)
    return student_numbers(
        *(question, losses if answer.observed is None else answer.observed.losses, places),
        np.concatenate([answer.estimates for answer in answers]),
        np.concatenate([answer.variances for answer in answers]),
        np.full(len(places), math.nan if answer.reference == "normal" else answer.df),
    )


def student_numbers(
    question: Question,
    losses: Losses,
    places: np.ndarray,
    estimate: np.ndarray,
    variance: np.ndarray,
    df: np.ndarray,
) -> PairNumbers:
    """Studentised numbers (M,) of many pairs; without `df` (NaN) the reference is the normal."""
    null, alternative = question.hypothesis.null_value, question.hypothesis.alternative
    with np.errstate(invalid="ignore", divide="ignore"):
        # As `studentise` adds the Monte-Carlo variance, 0.
        se = np.sqrt(np.where(variance >= 0, variance + 0.0, np.nan))
        statistic = (estimate - null) / se
        # Differences of a pair that are no more than rounding have no test, nor have equal losses.
        largest = np.abs(np.nan_to_num(losses.means)).max(axis=1)
        rounding = ROUNDING * np.maximum(*largest[places].T)
        plain = (variance > rounding**2) & np.isfinite(estimate) & _differ(losses, places)
    pvalue = wald_pvalue(statistic, reference_of(df[0]), df, alternative)
    return _reported(question, PairNumbers(estimate, se, statistic, pvalue, df, plain))


def numbers_of_shares(
    question: Question, places: np.ndarray, clusters: Clusters
) -> PairNumbers | None:
    """Differences of shares of rows in clusters; None where some are neither right nor wrong."""
    losses = question.observed.losses  # type: ignore[union-attr]
    if not marks_rows(losses, clusters):
        return None
    hypothesis, df = question.hypothesis, clusters.n_groups - 1.0
    estimate, variance, moved, se = shares_of_pairs(losses, places, clusters)
    statistic = (moved - hypothesis.null_value) / se
    numbers = PairNumbers(
        *(estimate, np.sqrt(variance), statistic),
        wald_pvalue(statistic, "t", df, hypothesis.alternative),
        np.full(len(places), df),
        np.ones(len(places), dtype=bool),
        PivotsOfPairs(moved, se, df),
    )
    return _reported(question, numbers)


def shares_of_pairs(
    losses: Losses, places: np.ndarray, clusters: Clusters
) -> tuple[np.ndarray, ...]:
    """Estimates (M,) and their variances; the same with observations added, and errors."""
    values, parts = losses.known_values, []
    for rows in _parts(losses, places):
        first, other = places[rows].T
        means, _, rules = share_differences(values[first] - values[other], clusters)
        parts.append((means.estimates, means.variances, rules.estimate, rules.se))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def mcnemar_numbers(question: Question, places: np.ndarray) -> PairNumbers | None:
    """McNemar's exact test, which knows pairs by their counts; None where there are ties."""
    losses = question.observed.losses  # type: ignore[union-attr]
    values = losses.known_values
    if (values % 1 != 0).any():
        return None
    n_obs = values.shape[1]
    errs = (values > 0).astype(float)
    jointly = errs @ errs.T
    counts = np.stack(
        [errs.sum(axis=1)[side] - jointly[tuple(places.T)] for side in places.T], axis=1
    )
    counts = counts.astype(int)
    distinct, place_of = np.unique(counts, axis=0, return_inverse=True)
    first, second = counts.T
    # Differences are 1, 0 and -1.
    estimate, alternative = (first - second) / n_obs, question.hypothesis.alternative
    squares = first + second - n_obs * estimate**2
    pvalues = [PairedCounts(b, c, n_obs).pvalue(0.0, alternative) for b, c in distinct.tolist()]
    numbers = PairNumbers(
        estimate,
        np.sqrt(squares / (n_obs - 1) / n_obs),
        first,
        np.array(pvalues)[place_of.ravel()],
        np.full(len(places), np.nan),
        np.ones(len(places), dtype=bool),
        CountsOfPairs(first, second, n_obs),
    )
    return _reported(question, numbers)


@dataclass(frozen=True, eq=False)
class PivotsOfPairs:
    """Moved estimates of many differences of shares, as `difference_of_shares` has that of one."""

    estimate: np.ndarray
    se: np.ndarray
    df: float

    def interval(self, alternative: Alternative, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """The intervals of the differences, which lie between -1 and 1."""
        unit = wald_interval(0.0, 1.0, "t", self.df, alternative, alpha)
        low, high = (np.clip(self.estimate + z * self.se, -1.0, 1.0) for z in unit)
        return low, high


@dataclass(frozen=True, eq=False)
class CountsOfPairs:
    """The counts of many pairs, as `PairedCounts` has those of one."""

    only_first: np.ndarray
    only_second: np.ndarray
    n_obs: int

    @property
    def opposite_statistic(self) -> np.ndarray:
        """See `PairedCounts`."""
        return self.only_second

    def interval(self, alternative: Alternative, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """The intervals of the differences of error rates."""
        # Both ends at once; that of the second rule less the first is a lower one too.
        tables = np.stack(
            [
                np.concatenate([self.only_first, self.only_second]),
                np.concatenate([self.only_second, self.only_first]),
                np.repeat(tails(alternative, alpha), len(self.only_first)),
            ]
        )
        (first, second, tail), place_of = np.unique(tables, axis=1, return_inverse=True)
        low, high = lower_ends(first, second, self.n_obs, tail)[place_of.ravel()].reshape(2, -1)
        return low, 0.0 - high


def of_plain_means(question: Question) -> bool:
    """Whether results are about differences of means that count alike, and no more."""
    return (
        question.observed is not None
        and question.paired
        and not question.weighted
        and not question.metric.linearised
    )


def _parts(losses: Losses, places: np.ndarray) -> list[slice]:
    """As many pairs at a time as fit into memory."""
    kept = losses.means if losses.values is None else losses.values
    step = max(1, CELLS // kept.shape[1])
    return [slice(start, start + step) for start in range(0, len(places), step)]


def _differ(losses: Losses, places: np.ndarray) -> np.ndarray:
    """Whether the losses of pairs differ anywhere."""
    kept = losses.means if losses.values is None else losses.values
    # NaN is equal to nothing, also not to itself.
    keys = np.unique(kept, axis=0, return_inverse=True, equal_nan=False)[1].ravel()
    return np.not_equal(*keys[places].T)


def _reported(question: Question, numbers: PairNumbers) -> PairNumbers:
    """The same in the units of results; estimates that cannot be have results of their own."""
    metric, rule = question.metric, numbers.rule
    units, plain = Reported(metric.units, True, math.nan), numbers.plain
    estimate = units.number("value", numbers.estimate)
    statistic = units.number("odd", numbers.statistic)
    if metric.units is not None and rule is not None:
        # Mirrored counts are of right answers.
        statistic = getattr(rule, "opposite_statistic", statistic) if units.reverses else statistic
        rule = ChangedUnits(rule, 0.0, metric.units.slope)
    if question.limited and metric.per_test_set:
        low, high = question.range_of("difference")
        plain = plain & (low <= estimate) & (estimate <= high)
    return replace(
        numbers,
        estimate=estimate,
        se=units.number("spread", numbers.se),
        statistic=statistic,
        plain=plain,
        rule=rule,
    )
