"""Losses, folds and numbers that users pass: read, and refused where need be."""

from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.common.checks import check_number
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
