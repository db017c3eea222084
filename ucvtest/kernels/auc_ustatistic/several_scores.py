"""Class-wise scores of one's own, checked, and the AUC of several classes from them."""

import math
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.kernels.auc_ustatistic.placed import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.several_classes import Classes, Sums, hand_till
from ucvtest.kernels.auc_ustatistic.several_variances import estimate, status

__all__ = ["from_class_scores"]

ROWS_FOR_EACH = 4
"""Fewest rows for each observation, as for two classes."""


def from_class_scores(
    scores: Any, learnt: Any, y: Any, other: Any, *, exact: bool, cluster: Any
) -> dict[str, Any]:
    """Hand and Till's AUC from scores (M, n, C): see `from_scores`."""
    mask, codes, draw = _learning_sets(learnt, y, cluster)
    n_classes = int(codes.max()) + 1
    shown = [_scores("scores", scores, mask, n_classes)]
    if other is not None:
        shown.append(_scores("other", other, mask, n_classes))
    learn_sizes = tuple(_learn_size(mask[:, codes == code], code) for code in range(n_classes))
    classes = Classes(codes, learn_sizes, hand_till(n_classes))
    _check_rows(mask, classes, draw, exact=exact)
    sums = Sums(classes, len(shown))
    sums.add(shown, mask, draw)
    found = estimate(sums, np.array([1.0, -1.0][: len(shown)]), exact=exact)
    default = "midpoint" if all(2 * g <= n for n, g in classes.by_class) else "jackknife"
    return {
        "auc": found.auc,
        "variance": found.values[default],
        "jackknife": found.jackknife,
        "pair_effects": found.pair_effects,
        "u": found.u,
        "df": found.df,
        "mc_se_estimate": found.mc_se_estimate,
        "mc_se_variance": found.mc_se[default],
        "status": status(sums, found),
    }


def _learning_sets(learnt: Any, y: Any, cluster: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The learning sets (M, n), the classes (n,) and the draws (M,)."""
    mask, labels = as_array("learnt", learnt), as_array("y", y)
    if mask.ndim != 2 or not len(mask):
        raise ValueError(f"learnt must have shape (M, n) with a row or more, got {mask.shape}")
    if not np.isin(mask, (0, 1)).all():
        raise ValueError("learnt must hold 0 and 1 only")
    n_rows, n_obs = mask.shape
    present = np.unique(labels) if labels.dtype.kind in "iufb" else np.array([])
    if labels.shape != (n_obs,) or len(present) < 2 or (present != np.arange(len(present))).any():
        raise ValueError(
            f"y must hold the classes 0, 1, ... of {n_obs} observations, each at least once, with "
            f"scores of shape (M, n, C), got {y!r:.60}"
        )
    draw = np.arange(n_rows)
    if cluster is not None:
        names = as_array("cluster", cluster)
        if names.shape != (n_rows,):
            raise ValueError(f"cluster must have shape ({n_rows},), got {names.shape}")
        draw = np.unique(names, return_inverse=True)[1]
    return mask.astype(bool), labels.astype(int), draw


def _learn_size(learnt: np.ndarray, code: int) -> int:
    """How many of a class a rule learns from; refuse what changes, or leaves too few."""
    sizes, n = learnt.sum(axis=1), learnt.shape[1]
    if sizes.min() != sizes.max():
        raise ValueError(
            f"learnt must hold as many observations of class {code} in every row, got from "
            f"{sizes.min()} to {sizes.max()}: draw learning sets within the classes"
        )
    if n - sizes[0] < 2:
        raise ValueError(
            f"learnt leaves {n - sizes[0]} of {n} observations of class {code}, and 2 at least "
            "must be tested: draw smaller learning sets"
        )
    if learnt.all(axis=0).any():
        raise ValueError(
            f"observation {int(learnt.all(axis=0).argmax())} of class {code} is in every learning "
            "set and never tested: draw learning sets at random"
        )
    return int(sizes[0])


def _check_rows(mask: np.ndarray, classes: Classes, draw: np.ndarray, *, exact: bool) -> None:
    """Refuse fewer rows than the variance needs, and designs that are not complete."""
    n_rows, n_obs = mask.shape
    if exact:
        complete = math.prod(math.comb(n, g) for n, g in classes.by_class)
        if n_rows != complete or len(np.unique(np.packbits(mask, axis=1), axis=0)) != complete:
            raise ValueError(
                f"exact=True needs each of the {complete} learning sets once, got {n_rows} rows"
                f"{'' if n_rows != complete else ', some of them equal'}: leave it out for "
                "learning sets drawn at random"
            )
        return
    if n_rows < ROWS_FOR_EACH * n_obs:
        raise ValueError(
            f"scores of {n_rows} learning sets do not suffice for {n_obs} observations: give at "
            f"least {ROWS_FOR_EACH * n_obs}, better {10 * n_obs}, or all there are with exact=True"
        )
    if len(np.unique(draw)) < N_BLOCKS:
        raise ValueError(
            f"cluster must name at least {N_BLOCKS} draws of rows, got {len(np.unique(draw))}"
        )


def _scores(name: str, scores: Any, mask: np.ndarray, n_classes: int) -> np.ndarray:
    """The scores (M, n, C), all there where they are tested."""
    values = as_numbers(name, scores)
    shape = (*mask.shape, n_classes)
    if values.shape != shape:
        raise ValueError(
            f"{name} must have shape (M, n, C) = {shape}, one score for each class in y, got "
            f"{values.shape}"
        )
    missing = np.isnan(values).any(axis=2) & ~mask
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise ValueError(
            f"{name} has NaN in row {row} for observation {column}, which is tested there: every "
            "tested observation needs a score of every class"
        )
    return values
