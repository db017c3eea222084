"""Ridge regression on many samples at once, each with the same learning sets."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from ucvtest.float64 import in_float64
from ucvtest.kernels.linear_algebra import SINGULAR, solve_positive_definite, symmetric

__all__ = ["ridge_predictions"]


@in_float64
@partial(jax.jit, static_argnames=("mean_scale", "penalize_intercept"))
def ridge_predictions(
    features: jax.Array,
    response: jax.Array,
    learning: jax.Array,
    lam: float,
    mean_scale: bool,
    penalize_intercept: bool,
) -> jax.Array:
    """Fit every learning set of every sample and predict all its observations.

    Parameters
    ----------
    features : Array, shape (B, n, p)
    response : Array, shape (B, n)
    learning : Array of bool, shape (R, n)
        The learning sets, the same in all samples.
    lam : float
        Penalty.
    mean_scale : bool
        Whether the penalty is multiplied by the size of the learning set.
    penalize_intercept : bool

    Returns
    -------
    Array, shape (B, R, n)
        Fitted values; NaN where a system of equations is singular.

    Notes
    -----
    Normal equations, all fits along the minor axis. Cost: O(B R (n p^2 + p^3)).
    """
    n_samples, n, _ = features.shape
    n_sets = learning.shape[0]
    one = jnp.ones((n_samples, n, 1))
    if penalize_intercept:
        x = jnp.concatenate([one, features], axis=2)
    else:
        x = features - features.mean(axis=1, keepdims=True)
    y = response[..., None]
    p = x.shape[2]
    i, j = np.triu_indices(p)
    columns = jnp.concatenate([one, y, x, x * y, x[..., i] * x[..., j]], axis=2)
    weights = learning.astype(columns.dtype)
    sums = jnp.einsum("bnk,rn->kbr", columns, weights, precision="highest")
    sums = sums.reshape(len(sums), n_samples * n_sets)
    size, total = sums[0], sums[1]
    sum_x, sum_xy, sum_xx = sums[2 : 2 + p], sums[2 + p : 2 + 2 * p], sums[2 + 2 * p :]
    mean_x, mean_y = jnp.zeros_like(sum_x), jnp.zeros_like(size)
    if not penalize_intercept:
        mean_x, mean_y = sum_x / size, total / size
    gram = symmetric(sum_xx - size * mean_x[i] * mean_x[j], p)
    gram = gram + jnp.eye(p)[:, :, None] * (lam * jnp.where(mean_scale, size, 1.0))
    right = (sum_xy - size * mean_x * mean_y)[:, None]
    slope = solve_positive_definite(gram, right, SINGULAR)[:, 0]
    intercept = (mean_y - (slope * mean_x).sum(axis=0)).reshape(n_samples, n_sets, 1)
    slope = slope.reshape(p, n_samples, n_sets)
    return jnp.einsum("pbr,bnp->brn", slope, x, precision="highest") + intercept
