"""Rows of repeats as jitted calls take them, their groups, and how many repeats are needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ucvtest.common.float64 import in_float64, jax, jit, jnp
from ucvtest.kernels.influence.estimate import Rows

MAX_GROUPS = 16
"""Groups of repeats, whose spread gives the Monte-Carlo errors."""

GROUP_CELLS = 2**22
"""Sums over pairs that all groups may contain: 32 MB; at least two groups in any case."""

CALL_CELLS = 2**21
"""Values of psi in one jitted call: 16 MB."""

ROW_STEP, SIZE_STEP = 128, 8
"""Rows of a call, and varying numbers of tested observations, are filled up to multiples of
these, so that they share compilations."""


@dataclass(frozen=True, eq=False)
class Call:
    """Rows of one jitted call: index arrays of tested observations, padded with weight zero."""

    classes: Sequence[np.ndarray]
    index: list[np.ndarray]
    weight: list[np.ndarray]
    group: np.ndarray
    part: slice
    size: int

    @classmethod
    def make(
        cls,
        classes: Sequence[np.ndarray],
        tested: list[np.ndarray],
        sizes: list[int],
        group: np.ndarray,
        call_rows: slice,
    ) -> "Call":
        """Make them from tested observations, (R, n_c) of each class, and index columns."""
        n_rows = -(-len(group) // ROW_STEP) * ROW_STEP if len(group) >= ROW_STEP else len(group)
        index, weight = [], []
        for class_tested, size in zip(tested, sizes, strict=True):
            row, member_index = np.nonzero(class_tested)
            position = np.cumsum(class_tested, axis=1)[row, member_index] - 1
            of_class = np.zeros((n_rows, size), dtype=np.int32)
            weight_of_class = np.zeros((n_rows, size))
            of_class[row, position] = member_index
            weight_of_class[row, position] = 1.0
            index.append(of_class)
            weight.append(weight_of_class)
        padded = np.zeros(n_rows, dtype=np.int32)
        padded[: len(group)] = group
        return cls(classes, index, weight, padded, call_rows, len(group))

    @property
    def design(self) -> tuple[np.ndarray, ...]:
        """The index arrays and weights of each class."""
        return (*self.index, *self.weight)

    def scores(self, scores: np.ndarray) -> tuple[np.ndarray, ...]:
        """Those of the tested observations; entries of weight zero are undefined."""
        tested_scores = []
        for members, index in zip(self.classes, self.index, strict=True):
            of_class = np.zeros(index.shape)
            places = members[index[: self.size]]
            of_class[: self.size] = np.take_along_axis(scores[self.part], places, axis=1)
            tested_scores.append(of_class)
        return tuple(tested_scores)


def calls(rows: Rows, classes: Sequence[np.ndarray], n_groups: int) -> Iterator[Call]:
    """The rows in parts of bounded size, each with its index arrays."""
    tested = [rows.tested[:, members] for members in classes]
    # The columns that the indices of tested observations need.
    sizes = []
    for class_tested in tested:
        counts = class_tested.sum(axis=1)
        size = max(int(counts.max()), 1)
        if counts.min() < size:
            size = min(-(-size // SIZE_STEP) * SIZE_STEP, class_tested.shape[1])
        sizes.append(size)
    limit = max(1, CALL_CELLS // (sizes[0] * sizes[1]))
    group = group_of(rows, n_groups)
    for first_row in range(0, len(group), limit):
        call_rows = slice(first_row, first_row + limit)
        yield Call.make(
            classes,
            [class_tested[call_rows] for class_tested in tested],
            sizes,
            group[call_rows],
            call_rows,
        )


def number_of_groups(n_sums: int, n_repeats: int) -> int:
    """Groups of repeats that fit into memory, with this number of sums each."""
    return min(max(GROUP_CELLS // max(n_sums, 1), 2), MAX_GROUPS, n_repeats)


def group_of(rows: Rows, n_groups: int) -> np.ndarray:
    """The group of repeats that each row belongs to."""
    return rows.repeat % n_groups


def repeats_needed(tested_rate: float, n_cells: int, chance: float = 0.01) -> int:
    """Repeats after which the chance that some cell is still untested is at most `chance`.

    A cell is a pair, or an observation; `tested_rate` is the probability that a repeat tests one.
    """
    if tested_rate >= 1:
        return 1
    return int(np.ceil(np.log(n_cells / chance) / -np.log1p(-max(tested_rate, 1e-12))))


@in_float64
@partial(jit, static_argnames="shape")
def count_pairs(
    first: jax.Array,
    second: jax.Array,
    weight1: jax.Array,
    weight0: jax.Array,
    group: jax.Array,
    shape: tuple[int, ...],
) -> jax.Array:
    """C of every group, (G, n1, n0): how often each pair is tested."""
    weight = weight1[:, :, None] * weight0[:, None, :]
    empty = jnp.zeros(shape[0] * shape[1] * shape[2], dtype=weight.dtype)
    return empty.at[_pair_index(first, second, group, shape)].add(weight).reshape(shape)


@in_float64
@partial(jit, static_argnames="shape")
def rank_pairs(
    scores1: jax.Array,
    scores0: jax.Array,
    first: jax.Array,
    second: jax.Array,
    weight1: jax.Array,
    weight0: jax.Array,
    group: jax.Array,
    inverse: jax.Array,
    shape: tuple[int, ...],
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """N of every group, a and the AUC of every row; inverse = 1/C, (n1, n0)."""
    s1, s0 = scores1[:, :, None], scores0[:, None, :]
    weight = weight1[:, :, None] * weight0[:, None, :]
    # Comparisons, not differences: infinite scores have none.
    psi = ((s1 > s0).astype(weight.dtype) + (s1 >= s0)) / 2 * weight
    empty = jnp.zeros(shape[0] * shape[1] * shape[2], dtype=weight.dtype)
    n = empty.at[_pair_index(first, second, group, shape)].add(psi).reshape(shape)
    a = (psi * inverse[first[:, :, None], second[:, None, :]]).sum((1, 2))
    return n, a, psi.sum((1, 2)) / jnp.maximum(weight.sum((1, 2)), 1.0)


@in_float64
@jit
def sum_over_pairs(
    first: jax.Array, second: jax.Array, weight1: jax.Array, weight0: jax.Array, matrix: jax.Array
) -> jax.Array:
    """Sum of a matrix (n1, n0) over the tested pairs of every row."""
    weight = weight1[:, :, None] * weight0[:, None, :]
    return (weight * matrix[first[:, :, None], second[:, None, :]]).sum((1, 2))


@in_float64
@partial(jit, static_argnames="n_groups")
def sum_losses(
    losses: jax.Array, tested: jax.Array, group: jax.Array, inverse: jax.Array, n_groups: int
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Sums of losses of every group (G, n), a and the mean loss of every row."""
    tested_losses = jnp.where(tested, losses, 0.0)
    sums = (
        jnp.zeros((n_groups, losses.shape[1]), dtype=tested_losses.dtype)
        .at[group]
        .add(tested_losses)
    )
    n_tested = jnp.maximum(tested.sum(1), 1)
    return sums, tested_losses @ inverse, tested_losses.sum(1) / n_tested


def _pair_index(
    first: jax.Array, second: jax.Array, group: jax.Array, shape: tuple[int, ...]
) -> jax.Array:
    _, n1, n0 = shape
    return (group[:, None, None] * n1 + first[:, :, None]) * n0 + second[:, None, :]
