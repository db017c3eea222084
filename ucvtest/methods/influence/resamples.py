"""Resampling designs of whole folds and bootstrap samples, made row by row on demand.

A row is one learning set with its tested observations. Designs keep one or two bytes for each
repeat and observation. Rows are made in parts, so that memory stays bounded.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb, inf, prod

import numpy as np

from ucvtest.common.execution import row_batches
from ucvtest.designs.draws import draw_orders
from ucvtest.kernels.influence.estimate import Rows
from ucvtest.kernels.influence.large_tables import LARGE, count_together, number_type

DRAW_CELLS = 2_000_000
"""Number of cells (repeats, or rows, times observations) drawn or counted at a time."""


@dataclass(frozen=True, eq=False)
class Resamples(ABC):
    """The observations of each class, and the draws, (M, n), with a row for each repeat."""

    classes: Sequence[np.ndarray]
    drawn: np.ndarray

    @property
    def n_repeats(self) -> int:
        """Number of repeats, M."""
        return len(self.drawn)

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Learning sets in all repeats."""

    @abstractmethod
    def rows(self, first_row: int, end_row: int) -> Rows:
        """Some of the rows; rows of one repeat are adjacent."""

    @property
    @abstractmethod
    def training_sets(self) -> tuple[float, float]:
        """Number of possible learning sets: in total, and for one tested pair."""

    def parts(self, most_cells: int, most_rows: int | None = None) -> Iterator[Rows]:
        """All rows, in parts with a limited number of cells (and rows)."""
        for row_batch in row_batches(self.n_rows, self.drawn.shape[1], most_cells, most_rows):
            yield self.rows(row_batch.start, row_batch.stop)

    def times_tested(self) -> np.ndarray:
        """How often each pair, (n1, n0), or each observation, (n,), is tested."""
        sizes = tuple(map(len, self.classes))
        if len(sizes) == 2 and prod(sizes) > LARGE:
            table = np.zeros(sizes, dtype=number_type(self.n_rows))
            for rows in self.parts(DRAW_CELLS):
                count_together(rows.tested, self.classes, table)
            return table
        counted = np.zeros(sizes)
        for rows in self.parts(DRAW_CELLS):
            tested = [rows.tested[:, members].astype(float) for members in self.classes]
            counted += tested[0].T @ tested[1] if len(tested) == 2 else tested[0].sum(axis=0)
        return counted

    def joined(self, further_resamples: "Resamples") -> "Resamples":
        """These repeats and further ones."""
        return replace(self, drawn=np.concatenate([self.drawn, further_resamples.drawn]))


@dataclass(frozen=True, eq=False)
class Folds(Resamples):
    """Partitions of each class into folds, and the combinations of folds that are tested.

    In each class the folds from 0 up to `n_tested_folds` are tested, in all combinations.
    """

    n_tested_folds: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """Learning sets in all repeats."""
        return self.n_repeats * prod(self.n_tested_folds)

    def rows(self, first_row: int, end_row: int) -> Rows:
        """Some of the rows; rows of one repeat are adjacent."""
        number = np.arange(first_row, min(end_row, self.n_rows))
        repeat, combination = np.divmod(number, prod(self.n_tested_folds))
        tested_fold = np.empty((len(number), self.drawn.shape[1]), dtype=self.drawn.dtype)
        places = np.unravel_index(combination, self.n_tested_folds)
        for members, fold_of_row in zip(self.classes, places, strict=True):
            tested_fold[:, members] = fold_of_row[:, None]
        tested = self.drawn[repeat] == tested_fold
        return Rows(tested, ~tested, repeat)

    @property
    def fold_shares(self) -> np.ndarray:
        """Share of all pairs (observations) that each combination tests, (combinations,)."""
        shares = np.ones(1)
        for members, k in zip(self.classes, self.n_tested_folds, strict=True):
            sizes = np.bincount(self.drawn[0, members], minlength=k)[:k]
            shares = np.outer(shares, sizes / len(members)).ravel()
        return shares

    @property
    def training_sets(self) -> tuple[float, float]:
        """Number of possible learning sets: in total, and for one tested pair."""
        sizes = [int((self.drawn[0, members] == 0).sum()) for members in self.classes]
        numbers = [len(members) for members in self.classes]
        total = prod(comb(n, k) for n, k in zip(numbers, sizes, strict=True))
        sets_per_test = prod(comb(n - 1, k - 1) for n, k in zip(numbers, sizes, strict=True))
        return _as_float(total), _as_float(sets_per_test)


@dataclass(frozen=True, eq=False)
class WholeFolds(Folds):
    """Partitions of the whole sample into K folds that contain members of every class.

    They are tested one after the other; `n_tested_folds` is K for each class.
    """

    @property
    def n_rows(self) -> int:
        """Learning sets in all repeats."""
        return self.n_repeats * self.n_tested_folds[0]

    def rows(self, first_row: int, end_row: int) -> Rows:
        """Some of the rows; rows of one repeat are adjacent."""
        number = np.arange(first_row, min(end_row, self.n_rows))
        repeat, fold = np.divmod(number, self.n_tested_folds[0])
        tested = self.drawn[repeat] == fold[:, None]
        return Rows(tested, ~tested, repeat)


@dataclass(frozen=True, eq=False)
class Bootstrap(Resamples):
    """Bootstrap samples of each class, drawn as counts; the rest is tested."""

    @property
    def n_rows(self) -> int:
        """The same: one learning set for each."""
        return len(self.drawn)

    def rows(self, first_row: int, end_row: int) -> Rows:
        """Some of the rows."""
        counts = self.drawn[first_row:end_row]
        return Rows(counts == 0, counts, np.arange(first_row, first_row + len(counts)))

    @property
    def training_sets(self) -> tuple[float, float]:
        """Number of possible samples: in total, and without a given pair."""
        numbers = [len(members) for members in self.classes]
        total = prod(comb(2 * n - 1, n) for n in numbers)
        return _as_float(total), _as_float(prod(comb(2 * n - 2, n) for n in numbers))


def draw_folds(
    rng: np.random.Generator,
    n_repeats: int,
    classes: Sequence[np.ndarray],
    n_folds: int,
    *,
    all_tested: bool,
) -> Folds:
    """Draw partitions of each class into folds whose sizes differ by one at most.

    All folds are tested (in all combinations), or a single one in each repeat, with floor(n_k/K)
    observations in a class of n_k. Folds are drawn repeat by repeat, so they do not depend on how
    many are drawn at a time.
    """
    n = sum(map(len, classes))
    fold = np.empty((n_repeats, n), dtype=np.min_scalar_type(n_folds))
    of_class = np.empty(n, dtype=int)
    for code, members in enumerate(classes):
        of_class[members] = code
    for rows in row_batches(n_repeats, n, DRAW_CELLS):
        orders = draw_orders(rng, rows.stop - rows.start, n)
        order_rank = np.empty(orders.shape, dtype=np.int64)
        np.put_along_axis(order_rank, orders, np.arange(n), axis=1)
        for members in classes:
            # The rank of an observation in its class, by the place at which it was drawn.
            rank = order_rank[:, members].argsort(axis=1).argsort(axis=1)
            in_rest = rank >= len(members) // n_folds
            fold[rows, members] = rank % n_folds if all_tested else in_rest
    return Folds(classes, fold, (n_folds if all_tested else 1,) * len(classes))


def single_folds(classes: Sequence[np.ndarray]) -> Folds:
    """Every observation (of each class) is a fold: leave-one-out, or one of each class."""
    n = sum(map(len, classes))
    fold = np.empty((1, n), dtype=np.min_scalar_type(n))
    for members in classes:
        fold[0, members] = np.arange(len(members))
    return Folds(classes, fold, tuple(map(len, classes)))


def draw_bootstrap(
    rng: np.random.Generator, n_repeats: int, classes: Sequence[np.ndarray]
) -> Bootstrap:
    """Draw bootstrap samples, separately in each class."""
    n = sum(map(len, classes))
    counts = np.zeros((n_repeats, n), dtype=np.uint16)
    for rows in row_batches(n_repeats, n, DRAW_CELLS):
        batch_counts = counts[rows]
        uniform = rng.random(batch_counts.shape)
        repeat = np.arange(len(batch_counts))[:, None]
        for members in classes:
            drawn_members = members[(uniform[:, members] * len(members)).astype(int)]
            np.add.at(batch_counts, (repeat, drawn_members), 1)
    return Bootstrap(classes, counts)


def _as_float(number: int) -> float:
    return float(number) if number.bit_length() < 1024 else inf
