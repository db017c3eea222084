"""What users pass to `auc` and `error`: read, and refused where need be."""

from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.kernels.influence.calls import repeats_needed


def checked_rows(
    values: Any, tested: Any, counts: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores or losses as floats, tests as booleans, and how often each is learnt from."""
    numbers, mask = as_numbers("scores (or losses)", values), as_array("tested", tested)
    if numbers.ndim != 2 or numbers.shape != mask.shape or not len(mask):
        raise ValueError(
            "scores (or losses) and tested must have one shape (M, n), got "
            f"{numbers.shape} and {mask.shape}"
        )
    if not np.isin(mask, (0, 1)).all():
        raise ValueError("tested must contain 0 and 1 only")
    mask = mask.astype(bool)
    if np.isnan(numbers[mask]).any():
        row, column = np.argwhere(np.isnan(numbers) & mask)[0]
        raise ValueError(
            f"repeat {row} has NaN for the tested observation {column}: every tested observation "
            "needs a score (or loss)"
        )
    if counts is None:
        return numbers, mask, ~mask
    learnt = as_array("counts", counts)
    if learnt.shape != mask.shape or learnt.dtype.kind not in "iuf":
        raise ValueError(
            f"counts must be numbers of shape {mask.shape}, got {learnt.dtype} of {learnt.shape}"
        )
    if not ((learnt >= 0) & (learnt == np.rint(learnt))).all():
        raise ValueError("counts must be integers, zero or more: how often each one is learnt from")
    if (mask & (learnt > 0)).any():
        raise ValueError("counts and tested overlap: learnt observations cannot be tested")
    return numbers, mask, learnt


def checked_labels(y: Any, n_obs: int) -> np.ndarray:
    """Labels 0 and 1, both of them there."""
    labels = as_array("y", y)
    if labels.shape != (n_obs,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y must contain 0 and 1 for {n_obs} observations, got {y!r:.60}")
    for label in (0, 1):
        if not (labels == label).any():
            raise ValueError(f"y has no {label}: the AUC needs both classes")
    return labels


def checked_fold_values(fold_values: Any, estimate: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Values of folds, or of pairs of them, and estimates, in each repetition."""
    folds = as_numbers("fold_values", fold_values)
    if folds.ndim not in (2, 3) or not len(folds) or min(folds.shape[1:]) < 2:
        raise ValueError(
            "fold_values must have shape (R, K1, K0) or (R, K) with at least two folds, got "
            f"{folds.shape}"
        )
    if np.isnan(folds).any():
        raise ValueError(
            f"fold_values contains {int(np.isnan(folds).sum())} NaN: every fold (pair of folds) "
            "needs a value"
        )
    if estimate is not None and np.shape(estimate) != folds.shape[:1]:
        raise ValueError(f"estimate must have shape {folds.shape[:1]}, got {np.shape(estimate)}")
    return folds, None if estimate is None else as_numbers("estimate", estimate)


def check_folds(
    tested: np.ndarray, learnt: np.ndarray, class_words: str, *, bootstrap: bool
) -> None:
    """Refuse anything but folds of one size, or bootstrap samples, of `class_words`."""
    if bootstrap:
        sizes, expected = learnt.sum(axis=1), learnt.shape[1]
        if (sizes != expected).any():
            row = int((sizes != expected).argmax())
            raise ValueError(
                f"counts must sum to {expected}, the observations of {class_words}, in every row, "
                f"but row {row} has {sizes[row]:.0f}: draw as many with replacement as there are"
            )
        return
    sizes = tested.sum(axis=1)
    if sizes.min() != sizes.max() or sizes.min() == 0:
        raise ValueError(
            f"tested must mark a fold of one size in every repeat, but in {class_words} sizes go "
            f"from {sizes.min()} to {sizes.max()}: draw folds of one size"
        )


def check_pairs_tested(n_untested: int, mask: np.ndarray, labels: np.ndarray) -> None:
    """Refuse repeats that never test some pair together."""
    if not n_untested:
        return
    tested_rate = np.prod([mask[:, labels == label].mean() for label in (0, 1)])
    n_pairs = int((labels == 0).sum() * (labels == 1).sum())
    raise ValueError(
        f"{n_untested} of {n_pairs} pairs are never tested together in "
        f"{len(mask)} repeats: about {repeats_needed(tested_rate, n_pairs)} repeats would do"
    )


def check_cluster_pairs_tested(n_untested: int, n_repeats: int) -> None:
    """The same for pairs of clusters."""
    if n_untested:
        raise ValueError(
            f"{n_untested} pairs of clusters are never tested together in {n_repeats} "
            "repeats: use more of them, or larger folds"
        )


def check_observations_tested(n_untested: int, mask: np.ndarray) -> None:
    """Refuse repeats that never test some observation."""
    if n_untested:
        needed_repeats = repeats_needed(mask.mean(), mask.shape[1])
        raise ValueError(
            f"{n_untested} of {mask.shape[1]} observations are never tested in {len(mask)} "
            f"repeats: about {needed_repeats} repeats would do"
        )
