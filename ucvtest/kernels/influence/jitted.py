"""The jitted sums behind the influence values: one call for some rows of tests."""

from functools import partial

from ucvtest.common.float64 import in_float64, jax, jit, jnp


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
