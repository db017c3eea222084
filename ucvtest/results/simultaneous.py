"""Several learners from the same learning sets: all that a joint comparison needs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from ucvtest.common.equality import ByValue
from ucvtest.results.columns import Pair, ResultColumns
from ucvtest.results.fields import quiet_interval
from ucvtest.results.result import TestResult
from ucvtest.results.serialising import freeze, from_plain, reading, to_plain
from ucvtest.stats.simultaneous import Critical, MultivariateT, as_normal
from ucvtest.stats.wald import Alternative, ReferenceDistribution

ROUNDING = 1e-12
"""Differences, as a share of what differs, that are rounding error."""


@dataclass(frozen=True, eq=False)
class JointEstimates(ByValue):
    """Several learners with the joint covariance matrix of their estimates.

    `own` are the results of each learner alone, `se` (L, L) the standard errors of differences, NaN
    if there is none, `covariance` (L, L) a positive semidefinite matrix from which correlations
    are taken, `df` the smallest number of degrees of freedom of any difference; where it is
    infinite, differences with df of their own are joined by a normal copula. `statistics` (L, L)
    are differences in standard errors, on the scale on which their intervals are symmetric; without
    them they are divided by `se`. Critical values are simulated with the seed.
    """

    own: Mapping[str, TestResult]
    se: np.ndarray
    covariance: np.ndarray
    df: float
    seed: int = 0
    statistics: np.ndarray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "own", MappingProxyType(dict(self.own)))
        if self.statistics is None:
            with np.errstate(divide="ignore", invalid="ignore"):
                differences = self.estimates[:, None] - self.estimates
                object.__setattr__(
                    self, "statistics", differences / np.asarray(self.se, dtype=float)
                )
        for name in ("se", "covariance", "statistics"):
            object.__setattr__(self, name, freeze(np.asarray(getattr(self, name), dtype=float)))

    @property
    def learners(self) -> tuple[str, ...]:
        """Names."""
        return tuple(self.own)

    @property
    def estimates(self) -> np.ndarray:
        """Of each learner, (L,)."""
        return np.array([result.estimate for result in self.own.values()])

    @cached_property
    def errors(self) -> MultivariateT:
        """The joint distribution of the errors of the estimates.

        An estimate that is 0/0 has no variance: its error is independent of the others then, and as
        large as they are on average.
        """
        has_variance = ~np.isnan(np.diag(self.covariance))
        if has_variance.all():
            return MultivariateT(self.covariance, self.df, self.seed)
        covariance = np.where(has_variance[:, None] & has_variance, self.covariance, 0.0)
        mean_variance = (
            float(np.diag(covariance)[has_variance].mean()) if has_variance.any() else 1.0
        )
        covariance[~has_variance, ~has_variance] = mean_variance
        return MultivariateT(covariance, self.df, self.seed)

    def adjusted(self, results: Mapping[Pair, TestResult] | ResultColumns) -> list[float]:
        """Step-down p-values of differences; NaN if there is none, which counts as p = 1."""
        columns = ResultColumns.of(results)
        return _adjusted(self.errors, self.df, columns, self._places(columns.pairs))

    def critical(
        self, results: Mapping[Pair, TestResult] | ResultColumns, alpha: float
    ) -> Critical:
        """A bound for all studentised errors of these differences, with probability 1 - alpha."""
        columns = ResultColumns.of(results)
        return self.errors.critical(alpha, self._places(columns.pairs), columns.first.alternative)

    def intervals(
        self, results: Mapping[Pair, TestResult] | ResultColumns, alpha: float
    ) -> list[tuple[float, float]]:
        """Intervals that all contain their differences with probability 1 - alpha."""
        columns = ResultColumns.of(results)
        value = self.critical(columns, alpha).value
        return columns.intervals(partial(_level, value, self.df))

    def own_intervals(self, alpha: float) -> list[tuple[float, float]]:
        """Intervals that all contain their values, and so also that of any learner chosen."""
        value = self.errors.critical(alpha).value
        return [_interval(result, value, self.df) for result in self.own.values()]

    @property
    def order(self) -> np.ndarray:
        """Places of the learners, the best one first."""
        higher = next(iter(self.own.values())).better == "higher"
        return np.argsort(-self.estimates if higher else self.estimates, kind="stable")

    def best_set(self, alpha: float) -> tuple[str, ...]:
        """The learners that may be the best: each best one is among them with 1 - alpha.

        No simultaneous interval says that one of them is worse than another.
        """
        assert self.statistics is not None
        higher = next(iter(self.own.values())).better == "higher"
        # Learners that cannot be distinguished do not exclude each other.
        has_statistic = (self.se > 0) & ~np.isnan(self.statistics)
        statistics = np.where(
            has_statistic, -self.statistics if higher else self.statistics, -math.inf
        )
        in_best_set = self._within(statistics.max(axis=1), alpha)
        return tuple(name for name, stays in zip(self.learners, in_best_set, strict=True) if stays)

    def _within(self, farthest: np.ndarray, alpha: float) -> np.ndarray:
        """Which of these statistics (L,) chance explains; the smallest one in any case."""
        least_critical, most_critical = (
            max(bound, 0.0) for bound in self.errors.around_worst(alpha)
        )
        within_chance: np.ndarray = farthest <= least_critical
        # Only between these bounds simulation decides, which takes a while for many learners.
        for learner_number in np.flatnonzero(~within_chance & (farthest <= most_critical)).tolist():
            question = (alpha, learner_number)
            if question not in self._worse:
                distance = float(farthest[learner_number])
                self._worse[question] = self.errors.exceeds_worst(learner_number, distance, alpha)
            within_chance[learner_number] = not self._worse[question]
        return within_chance

    @cached_property
    def _worse(self) -> dict[tuple[float, int], bool]:
        """Whether chance does not explain the largest distance, by level and place."""
        return {}

    def _places(self, pairs: Iterable[tuple[str, str]]) -> Sequence[tuple[int, int]]:
        numbers = {name: position for position, name in enumerate(self.own)}
        return [(numbers[first], numbers[second]) for first, second in pairs]

    def to_dict(self) -> dict[str, Any]:
        """A dictionary that `json.dumps` accepts."""
        learner_results = [
            {"learner": name, "result": result.to_dict()} for name, result in self.own.items()
        ]
        return {own.name: to_plain(getattr(self, own.name)) for own in fields(self)} | {
            "own": learner_results
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What `to_dict` was called on."""
        with reading("comparison"):
            other_fields = {
                name: from_plain(value) for name, value in data.items() if name != "own"
            }
            learner_results = {
                row["learner"]: TestResult.from_dict(row["result"]) for row in data["own"]
            }
            return cls(own=learner_results, **other_fields)


@dataclass(frozen=True, eq=False)
class JointStatistics(ByValue):
    """Results of one test by several metrics, of all pairs of learners, judged together.

    `keys` (K) are those of the results in a comparison, `correlation` (K, K) that of their errors,
    0 where it is not known: for two-sided tests that is on the safe side (Šidák 1967). `df` is the
    smallest number of degrees of freedom.
    """

    keys: tuple[tuple[str, str, str], ...]
    correlation: np.ndarray
    df: float
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", tuple((a, b, c) for a, b, c in self.keys))
        correlation = np.asarray(self.correlation, dtype=float)
        object.__setattr__(self, "correlation", freeze(correlation))

    @cached_property
    def errors(self) -> MultivariateT:
        """The joint distribution of the studentised errors."""
        return MultivariateT(self.correlation, self.df, self.seed)

    def critical(self, alternative: Alternative, alpha: float) -> Critical:
        """A bound for all studentised errors, with probability 1 - alpha."""
        return self.errors.critical(alpha, None, alternative)

    def adjusted(self, results: Sequence[TestResult]) -> list[float]:
        """Step-down p-values; NaN if there is none, which counts as 1."""
        numbered = {("", str(place)): result for place, result in enumerate(results)}
        places = [(place,) for place in range(len(results))]
        return _adjusted(self.errors, self.df, ResultColumns.of(numbered), places)

    def intervals(self, results: Sequence[TestResult], alpha: float) -> list[tuple[float, float]]:
        """Intervals that all contain their true values with probability 1 - alpha."""
        value = self.critical(results[0].alternative, alpha).value
        return [_interval(result, value, self.df) for result in results]

    def to_dict(self) -> dict[str, Any]:
        """A dictionary that `json.dumps` accepts."""
        return {
            statistics_field.name: to_plain(getattr(self, statistics_field.name))
            for statistics_field in fields(self)
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What `to_dict` was called on."""
        with reading("comparison"):
            field_values = {name: from_plain(value) for name, value in data.items()}
            return cls(**{**field_values, "keys": tuple(map(tuple, field_values["keys"]))})


def _adjusted(
    errors: MultivariateT, df: float, columns: ResultColumns, places: Sequence[tuple[int, ...]]
) -> list[float]:
    """Step-down p-values of results whose errors are jointly distributed with `df`; NaN if none."""
    statistics = columns.statistic.copy()
    if math.isinf(df):
        has_df = columns.df > 0
        statistics[has_df] = as_normal(statistics[has_df], columns.df[has_df])
    pvalues = columns.pvalue
    statistics[np.isnan(pvalues)] = math.nan
    simulated = errors.stepdown(statistics, places, columns.first.alternative)
    # Neither below a result's own p-value nor above Holm's: but for its Monte-Carlo error, and for
    # results whose reference distribution is not the joint one, simulation keeps to these bounds.
    within_bounds = np.clip(simulated, pvalues, holm(pvalues))
    return np.where(np.isnan(pvalues), math.nan, within_bounds).tolist()


def _interval(result: TestResult, critical: float, df: float) -> tuple[float, float]:
    """The result's own interval, at the level at which its quantile is the critical value."""
    level = _level(critical, df, result.reference, result.df, result.alternative)
    return quiet_interval(result, level)


def _level(
    critical: float, joint_df: float, reference: str, df: float, alternative: Alternative
) -> float:
    """The level at which the quantile of a result's own interval is the critical value.

    The joint number of degrees of freedom stands for that of exact intervals, which have none.
    """
    normal = reference == "normal" or math.isinf(joint_df)
    known_df = joint_df if math.isnan(df) else df
    tail = ReferenceDistribution(None if normal or math.isinf(known_df) else known_df).sf(critical)
    level = 2 * tail if alternative == "two-sided" else tail
    # Learners that never differ have the critical value 0, and no level is 1.
    return min(level, math.nextafter(1.0, 0.0))


def holm(pvalues: np.ndarray) -> np.ndarray:
    """Holm's adjusted p-values, a missing one counting as 1."""
    values = np.where(np.isnan(pvalues), 1.0, pvalues)
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(values), 0, -1)
    adjusted_pvalues = np.empty(len(values))
    adjusted_pvalues[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    return adjusted_pvalues
