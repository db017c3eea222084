"""The neighbours of every observation by their distance, a block of observations at a time.

The memory is bounded. Of large samples only the nearest neighbours are kept. If a walk needs more
of them, all neighbours of these observations are sorted again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ucvtest.common.float64 import to_device
from ucvtest.common.padding import next_multiple, padded
from ucvtest.learners.batching import OBS_STEP, padded_size, squared_distances

BLOCK_NUMBERS = 2**22
"""Distances that are sorted at a time, about: 32 MB, and a few copies."""

KEPT_BYTES = 2**28
"""Memory of the neighbours that are kept in one order, about."""

LEAST_RANKS = 4
"""Neighbours that are kept for each one that votes, at least."""

DISTANCE_DIGITS = 8 * np.finfo(float).eps
"""Rounding error of a squared distance, for each feature and relative to the largest square."""


class Neighbours(NamedTuple):
    """Neighbours of B observations, as JAX arrays; of N observations the last ones are empty."""

    order: Any
    """(K, B): the observations by their distance from each one; N stands for none."""
    tied: Any
    """(K, B): whether as far away as the one before."""
    values: Any
    """(K, V, B): what these neighbours vote."""
    empty: Any
    """(B,): the observations that only fill up."""


RankRows = Callable[[np.ndarray], tuple[tuple[np.ndarray, ...], np.ndarray]]
"""From some rows to their neighbours (B, n) in one order or several, and which of the first order
are as far away as the one before (B, n)."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The neighbours of a sample in one of several orders."""

    rank_rows: RankRows
    number: int
    """Which of the orders. Ties are marked in the first."""
    values: np.ndarray
    """(V, n): what each observation votes."""
    nearest: Neighbours
    """Neighbours that are kept for all observations."""

    @property
    def is_complete(self) -> bool:
        """Whether all neighbours are kept."""
        return len(self.nearest.order) >= self.values.shape[1]

    def complete(self, rows: np.ndarray) -> Iterator[tuple[np.ndarray, Neighbours]]:
        """All neighbours of some rows, a block of rows at a time."""
        n_obs = self.values.shape[1]
        size = padded_size(n_obs)
        for block in _blocks(rows, n_obs):
            orders, tied = self.rank_rows(block)
            # Always as many columns, for one compilation.
            order = np.full((size, padded_size(_rows_of_block(n_obs))), size, np.int32)
            marks = np.zeros(order.shape, dtype=bool)
            order[:n_obs, : len(block)] = orders[self.number].T
            if self.number == 0:
                marks[:n_obs, : len(block)] = tied.T
            yield block, _neighbours(order, marks, self.values, len(block))


def by_distance(matrix: np.ndarray) -> RankRows:
    """Nearest first, and of equally distant ones the earlier row."""

    def rank_rows(rows: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        distance = squared_distances(matrix[rows], matrix)
        order = np.argsort(distance, axis=1, kind="stable")
        return (order,), _equal_to_last(distance, order)

    return rank_rows


def by_groups_of_distances(matrix: np.ndarray, response: np.ndarray) -> RankRows:
    """Nearest first, and in three orders those whose distances differ by rounding at most.

    As the rows come, with the smallest response first, and with the largest first.
    """
    largest = np.square(matrix).sum(axis=1).max()
    tolerance = DISTANCE_DIGITS * matrix.shape[1] * largest

    def rank_rows(rows: np.ndarray) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        group = _groups(squared_distances(matrix[rows], matrix), tolerance)
        by_row = np.argsort(group, axis=1, kind="stable")
        tied = _equal_to_last(group, by_row)
        if not tied.any():
            return (by_row, by_row, by_row), tied
        responses = np.broadcast_to(response, group.shape)
        by_response = (np.lexsort((sign * responses, group)) for sign in (1.0, -1.0))
        return (by_row, *by_response), tied

    return rank_rows


def rank_neighbours(
    rank_rows: RankRows, values: np.ndarray, k: int
) -> tuple[tuple[Ranking, ...], bool]:
    """The nearest neighbours of all observations, and whether any neighbours are tied.

    Only if some are tied there is more than one order. Each takes about `KEPT_BYTES` at most, or
    `LEAST_RANKS` neighbours for each of the k that vote.
    """
    n_values, n_obs = values.shape
    size = padded_size(n_obs)
    bytes_of_rank = size * (np.dtype(np.int32).itemsize + 1 + n_values * values.itemsize)
    n_ranks = max(KEPT_BYTES // bytes_of_rank, LEAST_RANKS * k)
    n_ranks = min(next_multiple(n_ranks, OBS_STEP), size)
    nearest = [np.full((n_ranks, size), size, np.int32)]
    marks = np.zeros((n_ranks, size), dtype=bool)
    has_ties = False
    for rows in _blocks(np.arange(n_obs), n_obs):
        orders, tied = rank_rows(rows)
        if tied.any():
            has_ties = True
            nearest += [nearest[0].copy() for _ in orders[len(nearest) :]]
        # The orders differ from the first rows on that have ties.
        for kept, order in zip(nearest, orders, strict=False):
            kept[:n_obs, rows] = order[:, :n_ranks].T
        marks[:n_obs, rows] = tied[:, :n_ranks].T
    no_marks = np.zeros_like(marks) if len(nearest) > 1 else marks
    rankings = (
        Ranking(
            *(rank_rows, number, values),
            _neighbours(kept, no_marks if number else marks, values, n_obs),
        )
        for number, kept in enumerate(nearest)
    )
    return tuple(rankings), has_ties


def _neighbours(order: np.ndarray, tied: np.ndarray, values: np.ndarray, n_rows: int) -> Neighbours:
    """Arrays of the device, with what the neighbours vote; some rows only fill up."""
    n_members, n_columns = padded_size(values.shape[1]), order.shape[1]
    votes = np.moveaxis(padded(values, n_members + 1, 1)[:, order], 1, 0)
    device_arrays = to_device((order, tied, votes, np.arange(n_columns) >= n_rows))
    return Neighbours(*device_arrays)


def _blocks(rows: np.ndarray, n_obs: int) -> Iterator[np.ndarray]:
    """Rows whose distances from all observations are sorted at a time."""
    size = _rows_of_block(n_obs)
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


def _rows_of_block(n_obs: int) -> int:
    return min(max(OBS_STEP, BLOCK_NUMBERS // n_obs), n_obs)


def _equal_to_last(keys: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Whether each of the ordered keys (B, n) equals the one before."""
    ranked = np.take_along_axis(keys, order, axis=1)
    tied = np.zeros(order.shape, dtype=bool)
    tied[:, 1:] = ranked[:, 1:] == ranked[:, :-1]
    return tied


def _groups(distance: np.ndarray, tolerance: float) -> np.ndarray:
    """Ranks (B, n) of the squared distances in each row; equal where they differ by rounding."""
    order = np.argsort(distance, axis=1)
    steps = np.diff(np.take_along_axis(distance, order, axis=1), axis=1) > tolerance
    rank = np.pad(steps.cumsum(axis=1), ((0, 0), (1, 0)))
    groups = np.empty_like(rank)
    np.put_along_axis(groups, order, rank, axis=1)
    return groups
