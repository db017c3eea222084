"""Results by test and pair, of many pairs each made when it is first asked for."""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from ucvtest.results.columns import Pair, ResultColumns
from ucvtest.results.result import TestResult

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
