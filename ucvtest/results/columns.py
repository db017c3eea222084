"""Results of many pairs: their main numbers as arrays, each result when it is asked for."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np

from ucvtest.results.fields import quiet_interval
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import Alternative, wald_interval

Pair = tuple[str, str]

LevelOf = Callable[[str, float, Alternative], float]
"""One minus the level of an interval, by reference, degrees of freedom and alternative."""

NUMBERS = ("estimate", "se", "statistic", "pvalue", "df")


@dataclass(frozen=True, eq=False)
class PairNumbers:
    """What a test computes for many pairs at once, each an array of one number a pair.

    `plain` marks the pairs that have nothing else of their own. `rule` (see `Rule`) is what their
    intervals come from, with arrays of ends; without one they are Wald's.
    """

    estimate: np.ndarray
    se: np.ndarray
    statistic: np.ndarray
    pvalue: np.ndarray
    df: np.ndarray
    plain: np.ndarray
    rule: Any = None


class ResultColumns:
    """Numbers of many results of one test, in the order of their pairs.

    Parameters
    ----------
    pairs : tuple of (str, str)
    numbers : PairNumbers
    special : mapping of int to TestResult
        The results that are not plain, by their places.
    like : TestResult, optional
        A plain result: its words, its null value and its bounds are those of all plain ones.
    """

    def __init__(
        self,
        pairs: tuple[Pair, ...],
        numbers: PairNumbers,
        special: Mapping[int, TestResult],
        like: TestResult | None = None,
    ) -> None:
        self.pairs = pairs
        self._rule, self._like, self._special = numbers.rule, like, special
        columns = []
        for name in NUMBERS:
            column = np.array(getattr(numbers, name), dtype=float)
            column[list(special)] = [getattr(result, name) for result in special.values()]
            column.flags.writeable = False
            columns.append(column)
        self.estimate, self.se, self.statistic, self.pvalue, self.df = columns

    @classmethod
    def of(cls, results: Mapping[Pair, TestResult] | Self) -> Self:
        """The numbers of results that exist; as they are where they are columns already."""
        if isinstance(results, cls):
            return results
        assert isinstance(results, Mapping)
        empty = np.full(len(results), math.nan)
        numbers = PairNumbers(empty, empty, empty, empty, empty, np.zeros(len(results), dtype=bool))
        return cls(tuple(results), numbers, dict(enumerate(results.values())))

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def first(self) -> TestResult:
        """One of the results: a plain one if there is any."""
        return next(iter(self._special.values())) if self._like is None else self._like

    def values(self, name: str) -> list[Any]:
        """A field of all results."""
        if name in NUMBERS:
            numbers: list[Any] = getattr(self, name).tolist()
            return numbers
        values = [None if self._like is None else getattr(self._like, name)] * len(self)
        for place, result in self._special.items():
            values[place] = getattr(result, name)
        return values

    def intervals(self, level_of: LevelOf) -> list[tuple[float, float]]:
        """The intervals of `quiet_interval`, each at one minus a level."""
        ends = np.empty((len(self), 2))
        if self._like is not None:
            ends[:] = self._plain_intervals(self._like, level_of)
        for place, result in self._special.items():
            level = level_of(result.reference, result.df, result.alternative)
            ends[place] = quiet_interval(result, level)
        return [(low, high) for low, high in ends.tolist()]

    def _plain_intervals(self, like: TestResult, level_of: LevelOf) -> np.ndarray:
        reference, alternative = like.reference, like.alternative
        alpha = level_of(reference, like.df, alternative)
        if self._rule is not None:
            low, high = self._rule.interval(alternative, alpha)
        else:
            # Most tests have one number of degrees of freedom for all pairs.
            dfs, place_of = np.unique(self.df, return_inverse=True)
            levels = [level_of(reference, df, alternative) for df in dfs.tolist()]
            units = [
                wald_interval(0.0, 1.0, reference, df, alternative, level)
                for df, level in zip(dfs.tolist(), levels, strict=True)
            ]
            # Those without a standard error have intervals of their own.
            with np.errstate(invalid="ignore"):
                low, high = self.estimate + np.array(units)[place_of.ravel()].T * self.se
        if alternative == "two-sided" or alpha <= 0.5:
            low, high = np.minimum(low, self.estimate), np.maximum(high, self.estimate)
        limits = np.stack([low, high], axis=1)
        return np.where(np.isfinite(limits), np.clip(limits, *like.bounds), limits)


Key = tuple[str, str, str]


class PairResults(Mapping[Pair, TestResult]):
    """The results of one test, which are made when they are asked for; their numbers exist.

    Parameters
    ----------
    columns : ResultColumns
        Their numbers.
    result_of : callable
        Makes the result of a pair.
    """

    def __init__(self, columns: ResultColumns, result_of: Callable[[Pair], TestResult]) -> None:
        self.columns, self._result_of = columns, result_of
        self._places = {pair: place for place, pair in enumerate(columns.pairs)}
        self._made: dict[Pair, TestResult] = {}

    def __getitem__(self, pair: Pair) -> TestResult:
        if pair not in self._places:
            raise KeyError(pair)
        if pair not in self._made:
            self._made[pair] = self._result_of(pair)
        return self._made[pair]

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.columns.pairs)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, pair: object) -> bool:
        return pair in self._places


class ResultsOfTests(Mapping[Key, TestResult]):
    """The results of several tests, under the keys of a comparison.

    Parameters
    ----------
    by_test : mapping of str to (mapping of pair to TestResult)
    """

    def __init__(self, by_test: Mapping[str, Mapping[Pair, TestResult]]) -> None:
        self.by_test = dict(by_test)

    @property
    def columns(self) -> dict[str, ResultColumns]:
        """The numbers of each test."""
        return {
            test: results.columns if isinstance(results, PairResults) else ResultColumns.of(results)
            for test, results in self.by_test.items()
        }

    def __getitem__(self, key: Key) -> TestResult:
        if key not in self:
            raise KeyError(key)
        test, first, second = key
        return self.by_test[test][first, second]

    def __contains__(self, key: object) -> bool:
        # No result is made for that.
        if not (isinstance(key, tuple) and len(key) == 3):
            return False
        test, *pair = key
        return tuple(pair) in self.by_test.get(test, {})

    def __repr__(self) -> str:
        return f"<{len(self)} results of {', '.join(self.by_test)}>"

    def __iter__(self) -> Iterator[Key]:
        return chain.from_iterable(
            ((test, *pair) for pair in results) for test, results in self.by_test.items()
        )

    def __len__(self) -> int:
        return sum(map(len, self.by_test.values()))
