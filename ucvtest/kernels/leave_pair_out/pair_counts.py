r"""Wrong and tied pairs of many labelings, without a fit for each pair.

Linear smoothers. With H the hat matrix of a fit to all observations (with the penalty of a
fit to n - 2) and e = y - H y, the held-out pair has f_S = y_S - (I - H_SS)^(-1) e_S, so that

    f_i - f_j = 1 - ((1 - h_jj - h_ij) e_i - (1 - h_ii - h_ij) e_j)/det(I - H_SS):

a matrix product for all labelings, and two multiplications for each pair.

Nearest neighbours. Leaving out j changes the votes for i only if j is among the k nearest of
i; then the neighbour of rank k + 1 votes in its place. The features need one sort.
"""

from functools import partial
from typing import Any

import numpy as np

from ucvtest.common.float64 import in_float64, jax, jit, jnp
from ucvtest.common.padding import next_multiple, padded

TIE = 1e-11
"""Difference of two fitted values, relative to the terms of its sum, below which it is rounding
error and the pair is tied."""

UNDETERMINED = 1e-10
"""Smallest det(I - H_SS) with which the other observations still determine the fit."""

LABELINGS_PER_CALL = 1024
"""A fixed shape, so that one compilation is enough; labels of 100 observations take 0.8 MB."""

FEW_LABELINGS, LARGE = 8, 500
"""A second shape, for single labelings of more than so many observations."""

OBS_STEP = 8
"""Samples are filled up to a multiple of this, so that similar sizes share a compilation."""


def count_by_smoother(
    hat: np.ndarray, labelings: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Of a linear smoother; None where some pair leaves too few observations for the fit."""
    one_minus_leverage = 1.0 - np.diag(hat)
    determinant = one_minus_leverage[:, None] * one_minus_leverage - hat**2
    np.fill_diagonal(determinant, 1.0)
    if not (determinant > UNDETERMINED).all():
        return None
    # Row i, column j: what e_i and e_j count for in f_i - f_j.
    own_residual_weight = (one_minus_leverage[None, :] - hat) / determinant
    other_residual_weight = own_residual_weight.T
    tolerance = TIE * (1.0 + np.abs(own_residual_weight) + np.abs(other_residual_weight))
    residual = np.eye(len(hat)) - hat
    matrices = tuple(
        _padded(matrix, 0, 1)
        for matrix in (residual, own_residual_weight, other_residual_weight, tolerance)
    )
    return _in_batches(_smoother, matrices, labelings)


def count_by_neighbours(
    nearest: np.ndarray, labelings: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of k nearest neighbours, from the k + 1 nearest of each observation."""
    n, ranks = nearest.shape
    votes, near = np.zeros((n, n)), np.zeros((n, n))
    rows = np.arange(n)[:, None]
    near[rows, nearest[:, : ranks - 1]] = 1
    votes[np.arange(n), nearest[:, -1]] = 1
    matrices = tuple(_padded(matrix, 0, 1) for matrix in (near, votes))
    return _in_batches(_neighbours, matrices, labelings)


# --------------------------------------------------------------------------- jitted sums


@jit
def _smoother(
    matrices: tuple[jax.Array, ...], positive: jax.Array, negative: jax.Array
) -> tuple[jax.Array, jax.Array]:
    residual, own_residual_weight, other_residual_weight, tolerance = matrices
    e = jnp.matmul(residual, positive.astype(residual.dtype), precision="highest")

    def differences(i: jax.Array) -> tuple[jax.Array, jax.Array]:
        return 1.0 - own_residual_weight[i][:, None] * e[i] + other_residual_weight[i][
            :, None
        ] * e, tolerance[i][:, None]

    return _count(differences, positive, negative)


@jit
def _neighbours(
    matrices: tuple[jax.Array, ...], positive: jax.Array, negative: jax.Array
) -> tuple[jax.Array, jax.Array]:
    near, replacement = matrices
    y = positive.astype(near.dtype)
    small = partial(jnp.asarray, dtype=jnp.int32)
    votes, following = small(near @ y), small(replacement @ y)
    neighbours = small(near)

    def differences(i: jax.Array) -> tuple[jax.Array, jax.Array]:
        # i is positive and j negative: without the other, i loses no vote and j loses one.
        of_i = votes[i] + neighbours[i][:, None] * following[i]
        of_j = votes + neighbours[:, i][:, None] * (following - 1)
        return of_i - of_j, jnp.int32(0)

    return _count(differences, positive, negative)


def _count(
    differences: Any, positive: jax.Array, negative: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Wrong and tied pairs of each labeling; the first of a pair goes through all rows."""

    def add(i: jax.Array, counts: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        difference, tolerance = differences(i)
        counted = positive[i] & negative
        n_wrong = counted & (difference < -tolerance)
        tied = counted & (abs(difference) <= tolerance)
        return (
            counts[0] + n_wrong.sum(axis=0, dtype=jnp.int32),
            counts[1] + tied.sum(axis=0, dtype=jnp.int32),
        )

    zero = jnp.zeros(positive.shape[1], jnp.int32)
    n_wrong, tied = jax.lax.fori_loop(0, positive.shape[0], add, (zero, zero))
    return n_wrong, tied


@in_float64
def _in_batches(
    count: Any, matrices: tuple[np.ndarray, ...], labelings: np.ndarray
) -> tuple[Any, Any]:
    """Counts for any number of labelings, in calls of one shape."""
    n_labelings = len(labelings)
    shared = jax.tree_util.tree_map(jnp.asarray, matrices)
    n_wrong, tied = np.empty(n_labelings, int), np.empty(n_labelings, int)
    # Another compilation is worth it only where a labeling takes long.
    few = n_labelings <= FEW_LABELINGS and labelings.shape[1] > LARGE
    per_call = FEW_LABELINGS if few else LABELINGS_PER_CALL
    for first_labeling in range(0, n_labelings, per_call):
        batch = labelings[first_labeling : first_labeling + per_call]
        rows = slice(first_labeling, first_labeling + len(batch))
        # Padding is neither positive nor negative, so it is in no pair.
        positive = padded(_padded(batch.T, 0), per_call, 1)
        negative = padded(_padded(~batch.T, 0), per_call, 1)
        counts = count(shared, positive, negative)
        n_wrong[rows], tied[rows] = (
            np.asarray(batch_counts)[: len(batch)] for batch_counts in counts
        )
    return n_wrong, tied


def _padded(array: np.ndarray, *axes: int) -> np.ndarray:
    """The array, padded with zeros after its observations on some axes."""
    return padded(array, next_multiple(array.shape[axes[0]], OBS_STEP), *axes)
