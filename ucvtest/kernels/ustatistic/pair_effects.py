"""Products of the residual effects of pairs of observations, tile by tile.

J are the sums of 2 X 1{i, j in S} over the draws of a group. With the first-order effects of the
group taken away, J + J' are the effects tau_ij of pairs. Variances need the products of tau of all
pairs of groups, (K, K), and no n x n array of tau. J itself is not needed either if all draws are
known: it is a product of two tables that have a row for each learning set.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

TILE, SETS, NUMBERS = 64, 64, 256
"""Observations of a tile, learning sets of a product, and numbers of a tile that are multiplied at
a time: with more of them BLAS would wake its other threads."""

TileOf = Callable[[slice, slice], np.ndarray]
"""J of all groups at some rows and columns, (K, a, b); an array that may be changed."""


@dataclass(frozen=True, eq=False)
class ResidualRows:
    """Two tables (K, S, n) of the learning sets of each group, whose product is J.

    `learnt` are the sets as numbers. `residuals` are half of the sum of the residuals inside the
    set, and the residual outside, scaled.
    """

    learnt: np.ndarray
    residuals: np.ndarray

    def tile(self, first: slice, second: slice) -> np.ndarray:
        """J at some rows and columns, (K, a, b)."""
        left = self.learnt[:, :, first].transpose(0, 2, 1)
        right = self.residuals[:, :, second]
        tile = left[:, :, :SETS] @ right[:, :SETS]
        for first_set in range(SETS, right.shape[1], SETS):
            sets = slice(first_set, first_set + SETS)
            tile += left[:, :, sets] @ right[:, sets]
        return tile


@dataclass(frozen=True, eq=False)
class PairEffects:
    """The effects tau_ij of the groups, computed where they are asked for.

    `effects` (K, n) of its row and of its column, and the `constant` (K,), are taken from each
    number of J + J'.
    """

    tile_of: TileOf
    effects: np.ndarray
    constant: np.ndarray

    @property
    def products(self) -> np.ndarray:
        """Products of all pairs of groups, summed over i and k, (K, K)."""
        n_groups, n_obs = self.effects.shape
        products = np.zeros((n_groups, n_groups))
        for first, second in _tiles(n_obs):
            # Those below the diagonal are the same.
            times = 1 if first == second else 2
            products += times * _products(self._tile(first, second).reshape(n_groups, -1))
        return products

    def strips(self) -> Iterator[np.ndarray]:
        """Some rows after others, with all columns, (K, a, n)."""
        parts = _parts(self.effects.shape[1])
        for rows in parts:
            yield np.concatenate([self._tile(rows, columns) for columns in parts], axis=2)

    def _tile(self, first: slice, second: slice) -> np.ndarray:
        """At some rows and columns, (K, a, b)."""
        of_rows = self.effects + self.constant[:, None] / 2
        tau = self.tile_of(first, second)
        tau -= of_rows[:, first, None]
        if first == second:
            tau = tau + tau.transpose(0, 2, 1)
            diagonal = np.arange(tau.shape[1])
            tau[:, diagonal, diagonal] = 0.0
            return tau
        mirrored = self.tile_of(second, first)
        mirrored -= of_rows[:, second, None]
        tau += mirrored.transpose(0, 2, 1)
        return tau


def _parts(n_obs: int) -> list[slice]:
    """Observations, some at a time."""
    return [slice(first, min(first + TILE, n_obs)) for first in range(0, n_obs, TILE)]


def _tiles(n_obs: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of the tiles on the diagonal and above it."""
    parts = _parts(n_obs)
    for number, first in enumerate(parts):
        for second in parts[number:]:
            yield first, second


def _products(rows: np.ndarray) -> np.ndarray:
    """Products of rows (K, N) with each other."""
    whole = rows.shape[1] // NUMBERS * NUMBERS
    parts = rows[:, :whole].reshape(len(rows), -1, NUMBERS).transpose(1, 0, 2)
    rest = rows[:, whole:]
    return np.asarray((parts @ parts.transpose(0, 2, 1)).sum(axis=0) + rest @ rest.T)
