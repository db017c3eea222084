"""The same sums over pairs of many observations, in whole numbers that take little memory.

How often a pair is tested, C, and twice the number of times it is ranked right, 2N, are whole
numbers of 16 or 32 bits. Each row adds to the part of the tables that it tests, and all that is
needed of N/C and its square are sums along rows and columns, some rows at a time.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from ucvtest.kernels.influence.calls import group_of, number_of_groups
from ucvtest.kernels.influence.estimate import Rows
from ucvtest.kernels.influence.sums import PairCounts, PairMeans, PairSums

LARGE = 500_000
"""Pairs from which on these tables are quicker than jitted sums."""

MOST_SHORT = 30_000
"""Repeats of which twice the number fits into 16 bits."""

CELLS = 2_000_000
"""Pairs that are summed at a time."""


class LargePairCounts(PairCounts):
    """How often each pair is tested together: `by_group` are small whole numbers."""

    @classmethod
    def of(cls, y: np.ndarray, n_repeats: int, row_batches: Iterable[Rows]) -> "LargePairCounts":
        """Count; see `PairCounts.of`."""
        classes = (np.flatnonzero(y == 1), np.flatnonzero(y != 1))
        n1, n0 = map(len, classes)
        n_groups = number_of_groups(n1 * n0, n_repeats)
        by_group = np.zeros((n_groups, n1, n0), dtype=number_type(n_repeats))
        for rows in row_batches:
            group = group_of(rows, n_groups)
            for number in np.unique(group):
                count_together(rows.tested[group == number], classes, by_group[number])
        return cls(classes, n_repeats, by_group)

    @cached_property
    def times(self) -> np.ndarray:
        """How often each pair is tested."""
        return self.by_group.sum(axis=0, dtype=self.by_group.dtype)

    @property
    def n_untested(self) -> int:
        """Pairs that are never tested."""
        return int(np.count_nonzero(self.times == 0))

    def sums(self) -> "LargePairSums":
        """The second pass, for the scores of one learner."""
        return LargePairSums(self)


class LargePairSums(PairSums):
    """Sums over repeats: made by `LargePairCounts.sums`."""

    _counts: LargePairCounts

    def __init__(self, counts: LargePairCounts) -> None:
        self._counts, self._n_groups = counts, len(counts.by_group)
        self._twice = np.zeros_like(counts.by_group)
        self._a: list[np.ndarray] = []
        self._values: list[np.ndarray] = []

    def add(self, rows: Rows, values: np.ndarray) -> None:
        """Add the scores of some rows, (R, n), looked at only where tested."""
        classes, group = self._counts.classes, group_of(rows, self._n_groups)
        tested = [rows.tested[:, members] for members in classes]
        scores = [values[:, members] for members in classes]
        times, n0 = self._counts.times.ravel(), len(classes[1])
        a, auc = np.zeros((2, len(values)))
        for row in range(len(values)):
            first, second = (np.flatnonzero(of_class[row]) for of_class in tested)
            if not (len(first) and len(second)):
                continue
            score1, score0 = scores[0][row, first][:, None], scores[1][row, second]
            # Comparisons, not differences: infinite scores have none.
            twice = ((score1 > score0).view(np.uint8) + (score1 >= score0)).ravel()
            places = (first[:, None] * n0 + second).ravel()
            table = self._twice[group[row]].reshape(-1)
            table[places] = table.take(places) + twice
            a[row] = (twice / times.take(places)).sum() / 2
            auc[row] = twice.sum() / (2 * len(twice))
        self._a.append(a)
        self._values.append(auc)

    def _weights(self) -> np.ndarray:
        """None are kept: `_b` makes those that it needs."""
        return np.empty(0)

    def _b(self, rows: Rows, weights: np.ndarray) -> np.ndarray:
        first, second = (rows.tested[:, members].astype(float) for members in self._counts.classes)
        b = np.zeros(len(first))
        for part in _parts(self._twice.shape[1:]):
            of_pairs = (
                self._twice[:, part].sum(axis=0) / 2 / self._counts.times[part].astype(float) ** 2
            )
            b += ((first[:, part] @ of_pairs) * second).sum(axis=1)
        return b

    def _means(self) -> PairMeans:
        n_groups, n1, n0 = self._twice.shape
        rows, columns = np.empty(n1), np.zeros(n0)
        moved_rows, moved_columns = np.empty((n_groups, n1)), np.zeros((n_groups, n0))
        for part in _parts((n1, n0)):
            times = self._counts.times[part].astype(float)
            means = self._twice[:, part].sum(axis=0) / 2 / times
            rows[part] = means.mean(axis=1)
            columns += means.sum(axis=0) / n1
            for number in range(n_groups):
                moved = self._twice[number, part] / 2 - self._counts.by_group[number, part] * means
                moved /= times
                moved_rows[number, part] = moved.mean(axis=1)
                moved_columns[number] += moved.sum(axis=0) / n1
        return PairMeans(float(rows.mean()), (rows, columns), (moved_rows, moved_columns))


def number_type(n_repeats: int) -> type[np.unsignedinteger]:
    """Whole numbers large enough for twice the number of repeats."""
    return np.uint16 if n_repeats <= MOST_SHORT else np.uint32


def count_together(tested: np.ndarray, classes: Sequence[np.ndarray], table: np.ndarray) -> None:
    """Add to a table (n1, n0) how many of some rows test each pair."""
    # Exact below 2^24 rows.
    first, second = (tested[:, members].astype(np.float32) for members in classes)
    for part in _parts(table.shape):
        table[part] += (first[:, part].T @ second).astype(table.dtype)


def _parts(shape: tuple[int, ...]) -> Iterator[slice]:
    """Some positives at a time."""
    n1, n0 = shape
    step = max(1, CELLS // n0)
    for first in range(0, n1, step):
        yield slice(first, min(first + step, n1))
