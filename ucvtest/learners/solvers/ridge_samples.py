"""Ridge regression on many samples at once, each with the same learning sets."""

from functools import partial

from ucvtest.common.float64 import in_float64, jax, jit, jnp
from ucvtest.learners.solvers.linear_algebra import SINGULAR, solve_positive_definite


@in_float64
@partial(jit, static_argnames=("mean_scale", "penalize_intercept"))
def ridge_predictions(
    features: jax.Array,
    response: jax.Array,
    learning: jax.Array,
    lam: float,
    mean_scale: bool,
    penalize_intercept: bool,
) -> jax.Array:
    """Fitted values (B, R, n) of every learning set in every sample, the same sets in all.

    NaN where a system is singular. `mean_scale` multiplies the penalty by the size of the set.
    Normal equations, all fits along the minor axis, cost O(B R (n p^2 + p^3)).
    """
    n_samples, n, _ = features.shape
    n_sets = learning.shape[0]
    if penalize_intercept:
        x = jnp.concatenate([jnp.ones((n_samples, n, 1)), features], axis=2)
    else:
        x = features - features.mean(axis=1, keepdims=True)
    p = x.shape[2]
    weights = learning.astype(x.dtype)
    size = weights.sum(axis=1)
    total = jnp.einsum("bn,rn->br", response, weights, precision="highest")
    sum_x = jnp.einsum("bni,rn->ibr", x, weights, precision="highest")
    learnt = x[:, None] * weights[..., None]
    sum_xy = jnp.einsum("brni,bn->ibr", learnt, response, precision="highest")
    sum_xx = jnp.einsum("brni,bnj->ijbr", learnt, x, precision="highest")
    mean_x, mean_y = jnp.zeros_like(sum_x), jnp.zeros_like(total)
    if not penalize_intercept:
        mean_x, mean_y = sum_x / size, total / size
    gram = sum_xx - size * mean_x[:, None] * mean_x
    gram = gram + jnp.eye(p)[:, :, None, None] * (lam * jnp.where(mean_scale, size, 1.0))
    right = (sum_xy - size * mean_x * mean_y)[:, None]
    flat = n_samples * n_sets
    slope = solve_positive_definite(gram.reshape(p, p, flat), right.reshape(p, 1, flat), SINGULAR)
    slope = slope.reshape(p, n_samples, n_sets)
    intercept = mean_y - (slope * mean_x).sum(axis=0)
    fitted_values = jnp.einsum("pbr,bnp->brn", slope, x, precision="highest")
    return fitted_values + intercept[..., None]
