"""Jitted sums of the residuals D - A over the draws of each group, and of their products."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ucvtest.common.float64 import in_float64, jax, jit_sums, jnp, to_device
from ucvtest.common.padding import padded
from ucvtest.kernels.ustatistic.control_variate import SETS_PER_SUM, Additive, Fits
from ucvtest.kernels.ustatistic.monte_carlo_groups import padded_groups
from ucvtest.kernels.ustatistic.padding import without_padding


class JointSums:
    """Sums of 2 X 1{i, j in S} over the draws of each group, (K, n, n), to be symmetrised.

    By far the largest sums: they are held once, and added to where they are.
    """

    def __init__(self, n_groups: int, n_obs: int) -> None:
        self._n_groups, self._n_obs = n_groups, n_obs
        self.padded: jax.Array | None = None
        """Of more groups and observations, as jitted functions see them; None before any draws."""

    @property
    def known(self) -> dict[str, np.ndarray]:
        """The sums so far, by their name; none before any draws."""
        if self.padded is None:
            return {}
        n_obs = self._n_obs
        return {"joint": np.asarray(self.padded)[: self._n_groups, :n_obs, :n_obs]}


def residual_sums(
    d1: np.ndarray,
    d2: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    weight: np.ndarray,
    additive: Fits,
    size: int,
    n_common: int,
    joint: JointSums | None = None,
    *,
    with_rows: bool = False,
) -> dict[str, np.ndarray]:
    """Sums over the draws of each group, from the residuals of an additive fit.

    M draws in each of K groups, s sets on each side: d1 (K, M, s, n), padded or not, weight
    (K, M, s), centre (K,), a and d (K, n); `n_common` observations are in any two sets of different
    sides. Sums of pairs of observations are added to `joint`. The products of "rows" (K, 2 M s, n)
    with the learning sets are the same sums.
    """
    centre, a, d = additive
    n_groups, n_obs = a.shape
    a, d = (padded(effects, d1.shape[-1], -1) for effects in (a, d))
    *arrays, centre, a, d = (
        padded(array, padded_groups(n_groups), 0)
        for array in (d1, d2, l1, l2, weight, centre, a, d)
    )
    sums = _residual_sums(joint, with_rows, *arrays, (centre, a, d), n_obs, size, n_common)
    of_groups = {key: value[:n_groups] for key, value in sums.items()}
    return without_padding(of_groups, n_obs, axes={"effect": 1, "rows": 1})


@in_float64
def _residual_sums(
    joint: JointSums | None, with_rows: bool, d1: np.ndarray, *arguments: Any
) -> dict[str, jax.Array]:
    if joint is None:
        return _sums_of_groups(None, d1, *arguments, with_rows=with_rows)[1]
    totals = joint.padded
    if totals is None:
        totals = to_device(np.zeros((len(d1), d1.shape[-1], d1.shape[-1])))
    joint.padded, sums = _sums_of_groups(totals, d1, *arguments)
    return sums


@partial(jit_sums, donate_argnames="joint", static_argnames="with_rows")
def _sums_of_groups(
    joint: jax.Array | None,
    d1: jax.Array,
    d2: jax.Array,
    l1: jax.Array,
    l2: jax.Array,
    weight: jax.Array,
    additive: Additive,
    n_obs: jax.Array,
    size: jax.Array,
    common: jax.Array,
    with_rows: bool = False,
) -> tuple[jax.Array | None, dict[str, jax.Array]]:
    def of_group(
        joint: jax.Array | None, group: tuple[Any, ...]
    ) -> tuple[jax.Array | None, dict[str, jax.Array]]:
        number, *arrays = group
        sums, rows, learning = _sums_of_group(*arrays, n_obs=n_obs, size=size, n_common=common)
        half_of_each = 1 / (4 * (n_obs - size))
        if joint is not None:
            joint = joint.at[number].add(half_of_each * _joint(rows, learning))
        if with_rows:
            sums["rows"] = half_of_each * _double(rows)
        return joint, sums

    # Group by group, so that its arrays stay in the processor's cache.
    groups = (jnp.arange(len(d1)), d1, d2, l1, l2, weight, additive)
    return jax.lax.scan(of_group, joint, groups)


def residuals_of_rows(differences: np.ndarray, learning: np.ndarray, additive: Fits) -> np.ndarray:
    """D - A with an additive fit for each row (H, n), also inside the learning sets."""
    centre, a, d = additive
    return differences - (np.einsum("hn,hn->h", learning, a) + centre)[:, None] - d


def add_up(totals: dict[str, np.ndarray], update: Mapping[str, np.ndarray]) -> None:
    """Add the arrays of one dictionary to those of another, in double precision."""
    for key, value in update.items():
        if key in totals:
            totals[key] += value
        else:
            totals[key] = value.astype(float)


def _sums_of_group(
    d1: jax.Array,
    d2: jax.Array,
    l1: jax.Array,
    l2: jax.Array,
    weight: jax.Array,
    additive: Additive,
    *,
    n_obs: jax.Array,
    size: jax.Array,
    n_common: jax.Array,
) -> tuple[dict[str, jax.Array], jax.Array, jax.Array]:
    """The sums, the rows of all learning sets, and these as numbers, (2 M s, n)."""
    first, second = _Side.of(d1, l1, additive), _Side.of(d2, l2, additive)
    # Either side counts as half a set; of each the mean over the observations tested with it.
    tested_share = 1 / (2 * (n_obs - size))
    mean = tested_share * (weight * _double(first.total + second.total)).sum()
    # Shares in b: the mean of X 1{i in S} over t, less the mean of X times m/n.
    inside = _inside(first, weight) + _inside(second, weight)
    effect = tested_share * inside - (size + 1) / n_obs * mean
    sums = {
        "count": weight.sum(),
        "mean": mean,
        "effect": effect,
        **_products(first, second, weight, n_obs - 2 * size + n_common, size - n_common),
    }
    return sums, *_half_residuals(first, second, learning=jnp.concatenate([l1, l2]), weight=weight)


class _Side(NamedTuple):
    """The learning sets on one side of M draws, s each."""

    x: jax.Array
    """Residuals D - A, 0 inside the learning sets, in the precision of A; (M, s, n)."""
    learning: jax.Array
    """Learning sets as numbers, (M, s, n)."""
    total: jax.Array
    """Sums of the residuals, (M, s)."""

    @classmethod
    def of(cls, differences: jax.Array, learning: jax.Array, additive: Additive) -> "_Side":
        centre, a, d = additive
        learnt = learning.astype(a.dtype)
        # Here and below, "highest": accelerators would round products by default.
        effect = jnp.matmul(learnt, a, precision="highest")
        x = jnp.where(learning, 0.0, differences - ((effect + centre)[..., None] + d))
        return cls(x, learnt, x.sum(-1))

    def summed(self, weight: jax.Array, values: jax.Array) -> jax.Array:
        """Weighted sums of values (M, s, n) over the sets of each draw, (M, n)."""
        weight = weight.astype(values.dtype)
        return _double(jnp.einsum("ms,msn->mn", weight, values, precision="highest"))


def _products(
    first: _Side, second: _Side, weight: jax.Array, n_outside: jax.Array, n_inside: jax.Array
) -> dict[str, jax.Array]:
    """Sums of the means of X1(t) X2(t') for sets of the first and of the second side.

    By where t and t' lie: different and outside both sets (product); one of them inside the
    other set (crossed); equal (diagonal); both inside the other set (swapped). `n_outside`
    observations are in neither of two sets, `n_inside` in the one and not in the other.
    """
    pairs = weight[:, :, None] * weight[:, None, :]
    # Of X1, summed inside the second set and outside both; of X2 likewise; (M, s, s).
    inside1 = _double(jnp.einsum("min,mjn->mij", first.x, second.learning, precision="highest"))
    inside2 = _double(jnp.einsum("min,mjn->mij", first.learning, second.x, precision="highest"))
    outside1 = _double(first.total)[:, :, None] - inside1
    outside2 = _double(second.total)[:, None, :] - inside2
    same_products = (first.summed(weight, first.x) * second.summed(weight, second.x)).sum()

    def mean(total: jax.Array, count: jax.Array) -> jax.Array:
        return total / jnp.maximum(count, 1)

    different_products = (pairs * outside1 * outside2).sum() - same_products
    crossed = (pairs * (inside1 * outside2 + outside1 * inside2)).sum()
    return {
        "n_products": pairs.sum(),
        "product": mean(different_products, n_outside * (n_outside - 1)),
        "crossed": mean(crossed / 2, n_inside * n_outside),
        "diagonal": mean(same_products, n_outside),
        "swapped": mean((pairs * inside1 * inside2).sum(), n_inside**2),
    }


def _inside(set_side: _Side, weight: jax.Array) -> jax.Array:
    """Sum over learning sets of the sum of X 1{i in S} over t, (n,)."""
    learnt = set_side.summed(weight * set_side.total, set_side.learning)
    return (learnt + set_side.summed(weight, set_side.x)).sum(0)


def _half_residuals(
    first: _Side, second: _Side, *, learning: jax.Array, weight: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Rows (2 M s, n) whose products with the learning sets are sums of pairs, and these sets.

    Inside its learning set a row is the sum of the residuals, outside twice each of them.
    """
    n = learning.shape[-1]
    total, x = (
        jnp.concatenate([a, b]) for a, b in ((first.total, second.total), (first.x, second.x))
    )
    half_residuals = jnp.where(learning, total[..., None], 2 * x)
    half_residuals *= jnp.concatenate([weight, weight]).astype(x.dtype)[..., None]
    return half_residuals.reshape(-1, n), learning.reshape(-1, n)


def _joint(rows: jax.Array, learning: jax.Array) -> jax.Array:
    """Sum over learning sets of the sum of 2 X 1{i, j in S} over t, to be symmetrised."""
    learnt = learning.astype(rows.dtype)
    step = len(rows) if rows.dtype == jnp.float64 else SETS_PER_SUM
    joint_sums = jnp.zeros((rows.shape[1], rows.shape[1]))
    for first_set in range(0, len(rows), step):
        set_rows = slice(first_set, first_set + step)
        joint_sums += _double(jnp.matmul(learnt[set_rows].T, rows[set_rows], precision="highest"))
    return joint_sums


def _double(array: jax.Array) -> jax.Array:
    return array.astype(jnp.float64)
