"""Ridge regression in the dual form: one equation for each observation that is learnt from."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ucvtest.common.float64 import jax, jit, jnp
from ucvtest.common.padding import next_multiple, padded
from ucvtest.learners.jitted.many_labelings import product
from ucvtest.learners.solvers.linear_algebra import solve_positive_definite

SIZE_STEP, DUAL_STEP = 16, 64
"""In the dual form, sizes of systems and of samples are multiples of these, so that few sizes are
compiled. Padding a sample costs little compared with the system."""

MOST_BATCHED = 128
"""Observations up to which systems in the dual form are solved many at a time: for larger ones
LAPACK, one by one, is two to six times faster."""

DUAL_ROWS = 64
"""Labelings at a time that are multiplied with a smoother matrix, at least."""


@dataclass(frozen=True, eq=False)
class DualSmoother:
    """What all labelings of one learning set share in the dual form."""

    matrix: Any
    """ndarray (n, n): labels times this are fitted values; zero for those not learnt from."""

    @classmethod
    def of(cls, gram: Any, learning: np.ndarray, *settings: Any) -> "DualSmoother":
        """From inner products and one learning set (n,); the settings are the last of `dual`."""
        members, n_obs = np.flatnonzero(learning), len(learning)
        matrix = np.zeros((n_obs, n_obs))
        unit_responses = np.eye(len(members))
        matrix[members] = _one_set(np.asarray(gram), members, n_obs, unit_responses, *settings).T
        return cls(matrix)

    def fitted(self, labels: np.ndarray) -> np.ndarray:
        """Fitted values (R, n)."""
        return product(labels, self.matrix, DUAL_ROWS)


def dual_scores(
    gram: Any,
    response: Any,
    learning: np.ndarray,
    labels: np.ndarray | None,
    *settings: Any,
) -> np.ndarray:
    """Fitted values (R, n) by the dual form; the settings are the last arguments of `dual`."""
    if labels is not None and len(learning) == 1:
        return DualSmoother.of(gram, learning[0], *settings).fitted(labels)
    if learning.shape[1] > MOST_BATCHED:
        responses = np.asarray(response) if labels is None else labels
        responses = np.broadcast_to(responses[..., : learning.shape[1]], learning.shape)
        # One by one, by LAPACK: large systems fill the processor alone.
        own_gram, large_values = np.asarray(gram), np.empty(learning.shape)
        for row, (learnt, own) in enumerate(zip(learning, responses, strict=True)):
            members = np.flatnonzero(learnt)
            inner = own_gram if own_gram.ndim == 2 else own_gram[:, :, row]
            large_values[row] = _one_set(inner, members, len(learnt), own[members], *settings)
        return large_values
    if labels is not None:
        response = dual_padded(labels, 1)
    fitted_values = dual(gram, response, *positions(learning), *settings)
    return np.asarray(fitted_values)[:, : learning.shape[1]]


def dual_paths(
    gram_or_device_gram: Any,
    response: Any,
    learning: np.ndarray,
    lams: np.ndarray,
    singular: float,
    mean_scale: bool,
    penalize_intercept: bool,
) -> np.ndarray:
    """Fitted values (L, R, n) for L penalties, from the eigenvalues of each learning set's system.

    NaN where the smallest eigenvalue is rounding error, as `dual` gives it for a pivot.
    """
    gram_array, y = np.asarray(gram_or_device_gram), np.asarray(response)
    fitted_values = np.empty((len(lams), *learning.shape))
    n_obs = learning.shape[1]
    for row, learnt in enumerate(learning):
        members = np.flatnonzero(learnt)
        centred, mean_weight = _centred(gram_array, members, n_obs, penalize_intercept)
        gram = centred[members]
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        penalties = lams * (len(members) if mean_scale else 1.0)
        shrunk = values + penalties[:, None]
        weights = (vectors.T @ y[members]) / shrunk
        row_values = weights @ (centred @ vectors).T + mean_weight * y[members].sum()
        row_values[~(shrunk.min(axis=1) > singular * shrunk.max(axis=1))] = np.nan
        fitted_values[:, row] = row_values
    return fitted_values


def _one_set(
    gram: np.ndarray,
    members: np.ndarray,
    n_obs: int,
    response: np.ndarray,
    lam: float,
    singular: float,
    mean_scale: bool,
    penalize_intercept: bool,
) -> np.ndarray:
    """Fitted values (n,) or (n, P) for the responses (g,) or (g, P) of one learning set."""
    centred, mean_weight = _centred(gram, members, n_obs, penalize_intercept)
    penalty = lam * (len(members) if mean_scale else 1.0)
    weights = _solved(centred[members], penalty, singular, response)
    return mean_weight * response.sum(axis=0) + centred @ weights


def _centred(
    gram: np.ndarray, members: np.ndarray, n_obs: int, penalize_intercept: bool
) -> tuple[np.ndarray, float]:
    """Inner products with those learnt from, (n, g), and 1/g; 0 where nothing is centred."""
    mean_weight = 0.0 if penalize_intercept else 1.0 / len(members)
    centred = gram[:n_obs, members]
    centred = centred - mean_weight * centred[members].sum(axis=0)
    return centred - mean_weight * centred.sum(axis=1, keepdims=True), mean_weight


def _solved(gram: np.ndarray, penalty: float, singular: float, right: np.ndarray) -> np.ndarray:
    """Solution of (gram + penalty) x = right.

    NaN if `solve_positive_definite` does not find one.
    """
    gram = gram + penalty * np.eye(len(gram))
    try:
        root = np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return np.full_like(right, np.nan, dtype=float)
    # The pivots of elimination are the squares of the root's diagonal.
    if not (root.diagonal() ** 2 > singular * gram.diagonal()).all():
        return np.full_like(right, np.nan, dtype=float)
    from scipy.linalg import cho_solve

    return cho_solve((root, True), right)


def dual_size(n_obs: int) -> int:
    """Number of observations that the dual form sees."""
    return next_multiple(n_obs, DUAL_STEP)


def dual_padded(array: np.ndarray, first_axis: int = 0) -> np.ndarray:
    """The array with zeros after its observations along the axes from the first one on."""
    return padded(array, dual_size(array.shape[-1]), *range(first_axis, array.ndim))


def positions(learning: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of the members of each learning set (g, R), and which of them are real."""
    sizes = learning.sum(axis=1)
    positions = -(-int(sizes.max()) // SIZE_STEP) * SIZE_STEP
    row, member = np.nonzero(learning)
    index = np.zeros((positions, len(learning)), dtype=int)
    index[np.arange(len(row)) - (sizes.cumsum() - sizes)[row], row] = member
    return index, np.arange(positions)[:, None] < sizes


@partial(jit, static_argnums=7)
def dual(
    inner_products: jax.Array,
    response: jax.Array,
    index: jax.Array,
    is_member: jax.Array,
    lam: float,
    singular: float,
    mean_scale: bool,
    penalize_intercept: bool,
) -> jax.Array:
    """Solve (K + lam I) a = y, a system for every learning set, for fitted values (R, n).

    K, `inner_products`, is (n, n), or (n, n, R) for those of each set; `response` (n,) or (R, n).
    `index` (g, R) are the members; positions beyond the size of a set, not `is_member`, name any
    observation. NaN where a pivot is below the share `singular` of its diagonal element.
    `mean_scale` multiplies the penalty by the size of the set. `penalize_intercept` False centres
    by the learning set, which is an intercept without a penalty; True does not: an intercept is
    then part of K, or there is none.
    """
    n, (g, n_sets) = len(inner_products), index.shape
    member = is_member.astype(inner_products.dtype)
    size = member.sum(axis=0)
    y = (response[index] if response.ndim == 1 else response[jnp.arange(n_sets), index]) * member
    several = (jnp.arange(n_sets),) if inner_products.ndim == 3 else ()
    gram = inner_products[(index[:, None], index[None], *several)]
    mean_inner = jnp.zeros((g, n_sets))
    mean_y = jnp.zeros(n_sets)
    if not penalize_intercept:
        # Centring by the learning set; inner products of x with it need only this half,
        # because the solution sums to zero.
        mean_inner = (gram * member).sum(axis=1) / size
        mean_y = y.sum(axis=0) / size
        grand = (mean_inner * member).sum(axis=0) / size
        gram = gram - mean_inner[:, None] - mean_inner[None] + grand
    gram = gram * member[:, None] * member
    # Positions beyond the size of a smaller learning set get an equation 0 = lam a.
    gram = gram + jnp.eye(g)[:, :, None] * (lam * jnp.where(mean_scale, size, 1.0))
    right = ((y - mean_y) * member)[:, None]
    weight = solve_positive_definite(gram, right, singular, size.max().astype(int))[:, 0]
    spread = jnp.zeros((n, n_sets)).at[index, jnp.arange(n_sets)].add(weight)
    product = "nmr,mr->rn" if several else "nm,mr->rn"
    fitted_values = jnp.einsum(product, inner_products, spread, precision="highest")
    return fitted_values + (mean_y - (weight * mean_inner).sum(axis=0))[:, None]
