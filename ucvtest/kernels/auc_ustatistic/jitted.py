"""The jitted sums over learning sets: rankings of what was tested, and their residuals."""

import jax
import jax.numpy as jnp

from ucvtest.common.float64 import in_float64, jit_sums

__all__ = ["count_ranked", "moment_sums", "residual_sums"]


@in_float64
@jit_sums
def count_ranked(
    scores1: jax.Array, scores0: jax.Array, tested1: jax.Array, tested0: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Twice the sums of psi over the tested pairs, as integers.

    Scores and what is tested are (K, B, n1) and (K, B, n0). Over negatives (K, B, n1), over
    positives (K, B, n0), and over the rows of each block (K, n1, n0). The compiler forms no array
    of all psi: each sum compares anew.
    """
    s1, s0 = scores1[..., :, None], scores0[..., None, :]
    both = tested1[..., :, None] & tested0[..., None, :]
    # Comparisons, not differences: infinite scores have none.
    twice = jnp.where(both, (s1 > s0).astype(jnp.int32) + (s1 >= s0), 0)
    return (
        twice.sum(-1, dtype=jnp.int32),
        twice.sum(-2, dtype=jnp.int32),
        twice.sum(1, dtype=jnp.int32),
    )


@in_float64
@jit_sums
def moment_sums(
    placed: tuple[jax.Array, jax.Array], learnt: tuple[jax.Array, jax.Array], weight: jax.Array
) -> tuple[jax.Array, ...]:
    """Sums over the rows of each block, positives first: see `Moments`, and `residual_sums`."""
    w = jnp.concatenate(learnt, axis=-1).astype(weight.dtype) * weight[..., None]
    n_tested = weight * learnt[0].shape[-1] - w[..., : learnt[0].shape[-1]].sum(-1)
    auc = placed[0].sum(-1) / jnp.maximum(n_tested, 1.0)
    return (
        weight.sum(1),
        auc.sum(1),
        w.sum(1),
        (auc[..., None] * w).sum(1),
        jnp.concatenate(placed, axis=-1).sum(1),
        _product(w, w),
    )


@in_float64
@jit_sums
def residual_sums(
    placed: tuple[jax.Array, jax.Array],
    learnt: tuple[jax.Array, jax.Array],
    weight: jax.Array,
    additive: tuple[jax.Array, tuple[jax.Array, jax.Array], tuple[jax.Array, jax.Array]],
) -> dict[str, jax.Array]:
    """Sums of X = psi - A over the rows of each block.

    `placed` are P1 and P0 of psi, zero where an observation is not tested; `weight` (K, B) is 0 for
    rows that fill up a call; `additive` holds U, the coefficients lambda of what is learnt from and
    d of what is tested.
    """
    centre, learning, testing = additive
    w = [part.astype(weight.dtype) * weight[..., None] for part in learnt]
    t = [weight[..., None] - part for part in w]
    size = [jnp.maximum(part.sum(-1, keepdims=True), 1.0) for part in t]
    fit = centre * weight + sum(part @ each for part, each in zip(w, learning, strict=True))
    means = [part @ each / n[..., 0] for part, each, n in zip(t, testing, size, strict=True)]
    x = [
        placed[c] - t[c] * ((fit + means[1 - c])[..., None] + testing[c] * weight[..., None])
        for c in (0, 1)
    ]
    xbar = x[0].sum(-1) / size[0][..., 0]
    sums = {"count": weight.sum(1), "xbar": xbar.sum(1), "rows": xbar}
    share = [x[c] / size[c] for c in (0, 1)]
    for c, name in enumerate("10"):
        inside = w[c] * xbar[..., None]
        mixed = _product(w[c], share[c])
        sums[f"own_{name}"] = (inside + share[c]).sum(1)
        sums[f"joint_{name}"] = _product(inside, w[c]) + mixed + jnp.swapaxes(mixed, 1, 2)
    # All of a pair of classes but the sums of psi itself, which only need what A is without it.
    fitted = _product(t[0] * (fit / (size[0] * size[1])[..., 0])[..., None], t[1])
    both = _product(t[0] / size[0], t[1] / size[1])
    sums["across"] = (
        _product(w[0] * xbar[..., None] + share[0], w[1])
        + _product(w[0], share[1])
        - fitted
        - both * (testing[0][:, None] + testing[1])
    )
    return sums


def _product(left: jax.Array, right: jax.Array) -> jax.Array:
    return jnp.einsum("kbi,kbj->kij", left, right)
