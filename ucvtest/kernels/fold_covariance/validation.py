"""Losses and folds that users pass, read and checked, and the jitted moments of losses."""

from functools import partial
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.common.checks import check_number
from ucvtest.common.float64 import in_float64, jax, jit, jnp
from ucvtest.data.groups import as_groups


def check_numbers(**numbers: Any) -> None:
    """Refuse anything but finite numbers."""
    for name, value in numbers.items():
        check_number(name, value)


def check_sizes(n_obs: Any, fold_size: Any) -> None:
    """Refuse sizes below one."""
    check_number("n_obs", n_obs, low=1)
    check_number("fold_size", fold_size, low=1)


def by_cluster(e: Any, fold: Any, groups: Any) -> tuple[Any, Any]:
    """Mean losses of clusters, and the fold of each; as they are without groups."""
    if groups is None:
        return e, fold
    losses, codes = as_numbers("e", e), as_array("fold", fold)
    user_groups = as_groups(groups, losses.shape[-1] if losses.ndim else 0)
    if user_groups is None or codes.shape not in (losses.shape, losses.shape[-1:]):
        return e, fold  # refused as without groups
    return user_groups.sums(losses) / user_groups.sizes, user_groups.common("fold", codes)


def checked_losses(e: np.ndarray, fold: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Losses and folds of shape (R, n), folds numbered from 0, and how many there are."""
    losses, folds = as_numbers("e", e), as_array("fold", fold)
    if losses.ndim not in (1, 2) or folds.shape not in (losses.shape, losses.shape[-1:]):
        raise ValueError(
            "e must have shape (n,) or (R, n), and fold the same, got "
            f"{losses.shape} and {folds.shape}"
        )
    if not losses.size:
        raise ValueError("e is empty: pass at least one loss for each fold")
    if folds.dtype.kind not in "iu":
        raise ValueError(f"fold must contain integers, got {folds.dtype}")
    if not np.isfinite(losses).all():
        raise ValueError(
            f"e contains {int((~np.isfinite(losses)).sum())} numbers that are not finite: leave "
            "out the observations that were not tested"
        )
    rows = [np.unique(row, return_inverse=True) for row in np.atleast_2d(folds)]
    counts = {len(labels) for labels, _ in rows}
    if len(counts) > 1:
        raise ValueError(
            f"fold has between {min(counts)} and {max(counts)} folds in its rows: every "
            "repetition must have the same number"
        )
    codes = np.stack([code for _, code in rows])
    losses = np.atleast_2d(losses)
    return losses, np.broadcast_to(codes, losses.shape), counts.pop()


@in_float64
@partial(jit, static_argnames="n_folds")
def moments_of_rows(losses: jax.Array, codes: jax.Array, n_folds: int) -> dict[str, jax.Array]:
    """losses, folds (R, n), folds from 0 to n_folds - 1; each of them occurs in every row."""
    n = losses.shape[1]

    def by_fold(values: jax.Array) -> jax.Array:
        def sums(row: jax.Array, code: jax.Array) -> jax.Array:
            return jax.ops.segment_sum(row, code, num_segments=n_folds)

        return jax.vmap(sums)(values, codes)

    size = by_fold(jnp.ones_like(losses))
    total = by_fold(losses)
    squares, fold_square_sums = (losses**2).sum(1), (total**2).sum(1)
    size_squares = (size**2).sum(1)
    mean = losses.mean(1)
    fold_mean = total / size
    residual = losses - jnp.take_along_axis(fold_mean, codes, axis=1)
    # Folds of one observation contain no pairs, and rounding would make 0/0 infinite.
    pairs = jnp.where(n == n_folds, jnp.nan, 1.0)
    lambda1 = pairs * (residual**2).sum(1) / max(n - n_folds, 1)
    between = (size * (fold_mean - mean[:, None]) ** 2).sum(1) / (n_folds - 1)
    # One for folds of the same size, and then the mean square between folds is lambda_2.
    weight = size_squares * (n_folds - 1) / (n**2 - size_squares)
    size_correction = jnp.where(weight == 1.0, 0.0, (weight - 1.0) * (between - lambda1))
    return {
        "mean": mean,
        "s1": squares / n,
        "s2": pairs * (fold_square_sums - squares) / (size_squares - n),
        "s3": (total.sum(1) ** 2 - fold_square_sums) / (n**2 - size_squares),
        "lambda1": lambda1,
        "lambda2": between + size_correction,
    }
