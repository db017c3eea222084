"""Draws dealt to groups, whose spread gives Monte-Carlo errors."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ucvtest.common.padding import next_power_of_two, padded
from ucvtest.kernels.ustatistic.padding import padded_size

N_GROUPS = 32
"""Groups of draws: products of different groups are unbiased, and leaving one out at a
time gives the Monte-Carlo errors."""

N_GROUPS_LARGE, LARGE_OBS = 8, 500
"""Groups with more observations than `LARGE_OBS`: each group needs n x n sums."""

SETS_PER_CALL, SETS_PER_LARGE_CALL = 16, 128
"""Learning sets of each group and side in one jitted call: two fixed shapes, to compile twice only.
A large call keeps the sums of its groups, n x n each, from being written too often."""

SETS_AT_ONCE = 32
"""The smaller of the two shapes if all draws are known and more than `SETS_PER_CALL`."""

Draws = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""D1, D2, L1, L2 of shape (G, s, n): G draws with s learning sets on each of two sides."""


Call = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Arrays of one jitted call: draws by groups, padded, and their weights."""


class SetsOfCall(NamedTuple):
    """Learning sets of one jitted call: their row numbers (K, M), sides and weights, padded."""

    rows: np.ndarray
    l1: np.ndarray
    l2: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True, eq=False)
class DealtSets:
    """The learning sets of draws dealt to groups, which losses of any kind may share.

    `counted` keeps the counts of the sets of some groups.
    """

    sets: tuple[SetsOfCall, ...]
    counted: dict[tuple[int, int], Any] = field(default_factory=dict)

    @classmethod
    def deal(
        cls,
        both_sides: tuple[np.ndarray, np.ndarray],
        n_groups: int,
        cluster: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        *,
        at_once: bool = False,
    ) -> "DealtSets":
        """Deal sets (G, s, n) of both sides to groups; rows of one cluster stay together.

        `at_once` if there are no other draws.
        """
        n_rows, n_sets, n_obs = both_sides[0].shape
        if weight is None:
            weight = np.ones((n_rows, n_sets))
        size, places, first_row = padded_size(n_obs), next_power_of_two(n_sets), 0
        many = at_once and n_rows * places > n_groups * SETS_PER_CALL
        sizes = SETS_PER_LARGE_CALL, SETS_AT_ONCE if many else SETS_PER_CALL
        large, small = (max(1, n_of_call // places) for n_of_call in sizes)
        index = _dealt_rows(n_rows, n_groups, small, cluster)
        calls = []
        while first_row < index.shape[1]:
            depth = large if first_row + large <= index.shape[1] else small
            rows = index[:, first_row : first_row + depth]
            l1, l2 = (_filled(learning[rows], places, size, True) for learning in both_sides)
            row_weight = weight[rows] * (rows >= 0)[..., None]
            calls.append(SetsOfCall(rows, l1, l2, padded(row_weight, places, -1)))
            first_row += depth
        return cls(tuple(calls))

    @cached_property
    def learnt(self) -> np.ndarray:
        """The sets of each group as numbers, call by call and side by side, (K, S, n) padded."""
        n_groups, size = len(self.sets[0].rows), self.sets[0].l1.shape[-1]
        both_sides = [
            sets.reshape(n_groups, -1, size) for call in self.sets for sets in (call.l1, call.l2)
        ]
        return np.concatenate(both_sides, axis=1).astype(float)


@dataclass(frozen=True, eq=False)
class Dealt:
    """Draws dealt to groups: D1, D2 (G, s, n) of both sides, and their learning sets."""

    differences: tuple[np.ndarray, np.ndarray]
    sets: DealtSets

    @classmethod
    def deal(cls, draws: Draws, n_groups: int) -> "Dealt":
        """Deal draws, with the same weight, to groups."""
        return cls(draws[:2], DealtSets.deal(draws[2:], n_groups))

    def calls(self, groups: slice = slice(None)) -> Iterator[Call]:
        """d1, d2, l1, l2 of shape (K, M, s, n) and weights (K, M, s), M at a time; n is padded."""
        for rows, l1, l2, weight in self.sets.sets:
            d1, d2 = (
                _filled(differences[rows[groups]], l1.shape[-2], l1.shape[-1])
                for differences in self.differences
            )
            yield d1, d2, l1[groups], l2[groups], weight[groups]


def _dealt_rows(n_rows: int, n_groups: int, depth: int, cluster: np.ndarray | None) -> np.ndarray:
    """Row numbers (K, M) of the draws of each group, -1 where a group has fewer.

    M is a multiple of the depth.
    """
    draw = np.arange(n_rows) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    group = groups_of(draw, n_groups)
    position = np.empty(n_rows, dtype=int)
    for k in range(n_groups):
        members = np.flatnonzero(group == k)
        position[members] = np.arange(len(members))
    index = np.full((n_groups, -(-(int(position.max(initial=0)) + 1) // depth) * depth), -1)
    index[group, position] = np.arange(n_rows)
    return index


def _filled(rows: np.ndarray, n_places: int, size: int, fill: bool = False) -> np.ndarray:
    """Learning sets (K, M, s, n), or what belongs to them, with more observations and places."""
    return padded(padded(rows, size, -1, fill=fill), n_places, -2)


def groups_of(draw: np.ndarray, n_groups: int) -> np.ndarray:
    """The group of each draw, alternating between the halves so that a few draws reach both."""
    n_in_half = one_half(n_groups)
    group_order = sorted(range(n_groups), key=lambda k: (k % n_in_half, k))
    return np.array(group_order)[draw % n_groups]


def number_of_groups(n_obs: int, n_draws: int) -> int:
    """Number of groups that the draws are dealt to."""
    return min(N_GROUPS if n_obs <= LARGE_OBS else N_GROUPS_LARGE, n_draws)


def padded_groups(n_groups: int) -> int:
    """Number of groups that jitted functions see: one of two."""
    return N_GROUPS_LARGE if n_groups <= N_GROUPS_LARGE else N_GROUPS


def one_half(n_groups: int) -> int:
    """Groups in the first half; all groups if a half would have no products without one of them."""
    return n_groups // 2 if n_groups >= 6 else n_groups
