"""Small positive definite systems: functions of one matrix, which are mapped over thousands.

Elimination is written out in elementary operations, with the batch as the minor axis: LAPACK calls
inside a jitted graph can deadlock XLA on the CPU, and are slower for systems this small.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ucvtest.common.float64 import jax, jnp

SINGULAR = 1e-10
"""Share of a diagonal element below which the rest of it, the other columns eliminated, is
rounding error of sums of products."""

CAREFUL = 1e-6
"""Pivots below this share of their diagonal element lose more than eight digits."""

CONSTANT = 1e-14
"""Share of the mean square up to which a variance is a rounding error."""

CANCELLED = 1e-7
"""Share of the mean square up to which a variance has lost too many digits."""

RANK = 1e-11
"""Share of the largest singular value below which a direction is rounding error."""

BLOCK = 8
"""Pivots eliminated in one loop before the matrices shrink, at least."""

MOST_BLOCKS = 3
"""About the blocks of a large matrix: each is compiled separately."""


# Indices in brackets may be negative or too large, which takes long to trace and to compile.
taken = partial(jnp.take, mode="clip")
taken_one = partial(jax.lax.dynamic_index_in_dim, keepdims=False)


def products(matrix: jax.Array) -> jax.Array:
    """Products of all pairs of columns i <= j, shape (n, p (p + 1)/2)."""
    i, j = np.triu_indices(matrix.shape[1])
    return taken(matrix, i, axis=1) * taken(matrix, j, axis=1)


def with_constant(x: jax.Array) -> jax.Array:
    """The columns, and one of ones."""
    return jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)


def divisor(mean_square: jax.Array, mean: jax.Array) -> jax.Array:
    """Variances (p,) of about centred columns to divide by.

    One for a constant column, as in scikit-learn's StandardScaler; NaN where the difference of the
    two would lose more than eight digits.
    """
    variance = mean_square - mean**2
    constant = variance <= CONSTANT * mean_square
    exact = variance > CANCELLED * mean_square
    return jnp.where(constant, 1.0, jnp.where(exact, variance, jnp.nan))


def principal_components(features: np.ndarray) -> np.ndarray:
    """As many columns as the rank, for the same |b| and the same fitted values."""
    left, singular, _ = np.linalg.svd(features, full_matrices=False)
    is_nonzero = singular > RANK * singular[0]
    return left[:, is_nonzero] * singular[is_nonzero]


def symmetric(packed: jax.Array, size: int) -> jax.Array:
    """The symmetric matrix (size, size) of the pairs i <= j (size (size + 1)/2,)."""
    i, j = np.triu_indices(size)
    position = np.zeros((size, size), dtype=int)
    position[i, j] = position[j, i] = np.arange(len(i))
    return taken(packed, position, axis=0)


def batch_last(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of single arrays, from one of arrays whose last axis is a batch.

    However often it is mapped, all batches become one last axis, which fills the vector units. What
    is the same in a whole batch has a last axis of one.
    """
    # Loops are mapped several times: the function is traced once for arrays of one shape.
    traced = jax.jit(function, inline=True)
    # Arguments with defaults would get them, and None is not an array.
    many = jax.custom_batching.custom_vmap(lambda *arrays: traced(*arrays))

    @many.def_vmap
    def _(size: int, is_batched: list[bool], *arrays: jax.Array) -> tuple[Any, Any]:
        inner = max(array.shape[-1] for array in arrays)

        def merged(array: jax.Array, batched: bool) -> jax.Array:
            if not batched and inner == 1:
                return array
            array = jnp.moveaxis(array, 0, -1) if batched else array[..., None]
            shape = (*array.shape[:-2], inner, size)
            return jnp.broadcast_to(array, shape).reshape(*shape[:-2], inner * size)

        out = many(*map(merged, arrays, is_batched))
        split = jax.tree.map(lambda o: jnp.moveaxis(o.reshape(*o.shape[:-1], -1, size), -1, 0), out)
        return split, jax.tree.map(lambda _: True, out)

    def single(*arrays: jax.Array) -> Any:
        return jax.tree.map(lambda o: o[..., 0], many(*(array[..., None] for array in arrays)))

    return single


def eliminate(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """X (q, m, R) with A X = B by elimination without pivoting, and the pivots (q, R).

    The last digits do not depend on equations 0 = x that fill up a system.
    """
    q, count = len(a), min(len(a), max(BLOCK, -(-len(a) // MOST_BLOCKS)))
    if a.shape[2] < b.shape[2]:
        # One system for all right sides.
        inverse, pivots = eliminate(a, jnp.eye(q, dtype=a.dtype)[:, :, None])
        x = jnp.einsum("ij,jmr->imr", inverse[:, :, 0], b, precision="highest")
        return x, jnp.broadcast_to(pivots, (q, b.shape[2]))

    def forward(k: jax.Array, rows: jax.Array) -> jax.Array:
        factor = jnp.where(jnp.arange(q)[:, None] > k, taken_one(rows, k, 1), 0.0)
        row = taken_one(rows, k, 0)
        return rows - factor[:, None] * (row / taken_one(row, k, 0))

    # The system shrinks from block to block.
    rows = jax.lax.fori_loop(0, count, forward, jnp.concatenate([a, b], axis=1))
    pivots = jnp.diagonal(rows[:count, :count], axis1=0, axis2=1).T
    head = rows[:count] / pivots[:, None]
    x = jnp.zeros((0, *b.shape[1:]), b.dtype)
    if count < q:
        x, more = eliminate(rows[count:, count:q], rows[count:, q:])
        pivots = jnp.concatenate([pivots, more])
    x = jnp.concatenate([head[:, q:], x])
    index = jnp.arange(count)[:, None]

    def backward(step: jax.Array, x: jax.Array) -> jax.Array:
        k = q - 1 - step
        factor = jnp.where(index < k, taken_one(head, k, 1), 0.0)
        return x.at[:count].add(-factor[:, None] * taken_one(x, k, 0))

    return jax.lax.fori_loop(0, q, backward, x), pivots


def sweep(a: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Inverses (q, q, R) of symmetric matrices, and the pivots (q, R)."""

    def step(k: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        a, pivots = carry
        # Comparisons with all places compile faster than assignments to one.
        is_own = (jnp.arange(len(a)) == k)[:, None]
        row, column = taken_one(a, k, 0), taken_one(a, k, 1)
        pivot = taken_one(row, k, 0)
        row = row / pivot
        edge = jnp.where(is_own, -1.0 / pivot, row)
        rest = jnp.where(is_own, edge[:, None], a - column[:, None] * row)
        return jnp.where(is_own[:, None], edge, rest), jnp.where(is_own, pivot, pivots)

    swept, pivots = jax.lax.fori_loop(0, len(a), step, (a, jnp.ones_like(a[0])))
    return -swept, pivots


solve = batch_last(eliminate)
invert = batch_last(sweep)


def solved(
    matrix: jax.Array,
    right: jax.Array,
    singular: float = SINGULAR,
    least_pivot: jax.Array | float = 0.0,
) -> jax.Array:
    """Solution (q, m) of one positive definite system (q, q), many of them side by side if mapped.

    NaN where a pivot does not exceed the share `singular` of its diagonal element or `least_pivot`.
    """
    solution, pivots = solve(matrix, right)
    regular = pivots > jnp.maximum(singular * jnp.diagonal(matrix), least_pivot)
    return jnp.where(regular.all(), solution, jnp.nan)


def inverted(matrix: jax.Array, singular: float = SINGULAR) -> tuple[jax.Array, jax.Array]:
    """Inverse (q, q) of one positive definite matrix, and the logarithm of its determinant.

    NaN as in the solution.
    """
    inverse, pivots = invert(matrix)
    regular = (pivots > singular * jnp.diagonal(matrix)).all()
    return jnp.where(regular, inverse, jnp.nan), jnp.log(jnp.where(regular, pivots, jnp.nan)).sum()
