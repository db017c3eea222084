"""Checks of the parts of losses: learners with names, and consistent shapes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ucvtest.common.checks import HALF_A_PAIR, check_text
from ucvtest.common.words import arg, call, excerpt, place
from ucvtest.data.groups import as_groups
from ucvtest.losses.linearised import counts_pairs_twice
from ucvtest.losses.resample_means import resample_means


def as_names(learners: Sequence[str] | None, n_learners: int) -> tuple[str, ...]:
    """The names of the learners, all different; numbered ones by default."""
    if learners is None:
        return tuple(f"learner {learner_number}" for learner_number in range(1, n_learners + 1))
    if not isinstance(learners, Sequence):
        raise ValueError(f"learners must be {n_learners} different names, got {excerpt(learners)}")
    names = tuple(learners)
    strings = not isinstance(learners, str) and all(
        isinstance(name, str) and name.strip() for name in names
    )
    if not strings or len(names) != n_learners or len(set(names)) < n_learners:
        raise ValueError(f"learners must be {n_learners} different names, got {list(names)}")
    if HALF_A_PAIR.search("".join(names)):
        for name in names:
            check_text("learners: the name", name)
    return names


def check_parts(losses: Any) -> None:
    """Refuse parts that are inconsistent; losses may come from a file."""
    n_learners, design = len(losses.learners), losses.design
    if not n_learners:
        raise ValueError("learners is empty: losses of at least one learner are needed")
    if losses.means is None:
        raise ValueError("means are missing: one is needed for each learner and resample")
    shapes: list[tuple[str, tuple[int, ...]]] = [
        ("means", (n_learners, design.n_resamples)),
        ("values", (n_learners, int(design.testing.sum()))),
        ("target", (design.n_obs,)),
        ("groups", (design.n_obs,)),
        ("event", (design.n_obs,)),
    ]
    if losses.predictions is not None:
        # With probabilities by several times, each observation has more than one value.
        shapes.append(("predictions", (*shapes[1][1], *losses.predictions.shape[2:3])))
    for name, shape in shapes:
        array = getattr(losses, name)
        if array is not None and (array.shape != shape or array.dtype.kind not in "fiub"):
            raise ValueError(
                f"{name} must contain numbers of shape {shape}, got {array.dtype} {array.shape}"
            )
    if losses.groups is not None:
        groups = as_groups(losses.groups, design.n_obs)
        is_integer = losses.groups.dtype.kind in "iu"
        if groups is None or not is_integer or not np.array_equal(groups.index, losses.groups):
            raise ValueError(
                f"{arg('groups')} must be numbered from {place(0)} in the order in which they "
                "first appear"
            )
        design.check_groups(groups)
    auc = losses.metric.ranks_pairs
    if auc:
        _check_areas(losses)
    losses_or_means = losses.means if losses.values is None else losses.values
    if losses.predictions is not None:
        _check_predictions(losses)
        return
    # The AUC of a test set of one class has no value, which tests tell by their status.
    may_be_nan = auc and losses.values is None
    has_nan = not may_be_nan and np.isnan(losses_or_means).any()
    if has_nan or (not auc and np.isinf(losses_or_means).any()):
        raise ValueError("values must be finite numbers (scores may be infinite)")
    if not auc and losses.values is not None:
        _check_means(losses)


def _check_predictions(losses: Any) -> None:
    """Refuse values that cannot be values of a function of means; if it is 0/0, all are NaN."""
    if losses.values is None or losses.target is None:
        raise ValueError("predictions need values and target as well")
    if not np.isfinite(losses.predictions).all():
        raise ValueError("predictions must be finite numbers")
    if losses.metric.of_survival == (losses.event is None):
        raise ValueError(
            f"{arg('event')} is needed for a survival metric, and must be absent for other metrics"
        )
    if np.isfinite(losses.values).all():
        _check_means(losses)
        return
    undefined = np.isnan(losses.values)
    if np.isinf(losses.values).any() or (undefined.any(axis=1) != undefined.all(axis=1)).any():
        raise ValueError("values must be finite numbers, or all NaN for a learner")


def _check_areas(losses: Any) -> None:
    """Refuse impossible scores, labels and areas under the ROC curve."""
    if (losses.target is None) != (losses.values is None):
        raise ValueError(f"{arg('loss', 'auc')} needs values and target, or neither")
    if losses.target is not None and set(losses.target.tolist()) != {0.0, 1.0}:
        raise ValueError(f"{arg('loss', 'auc')} needs a target of zeros and ones")
    if not losses.greater_is_better:
        raise ValueError(
            f"{arg('greater_is_better')} must be {excerpt(True)} for {arg('loss', 'auc')}, or left "
            "out"
        )
    # AUCs are not computed again, because that is slow for many small test sets.
    possible = np.isnan(losses.means) | ((losses.means >= 0) & (losses.means <= 1))
    if not possible.all():
        raise ValueError(
            f"means are AUCs for {arg('loss', 'auc')}, so they must lie between 0 and 1"
        )


def _check_means(losses: Any) -> None:
    """Refuse means of other losses: some tests use the means, others the values."""
    if counts_pairs_twice(losses.metric, losses.design):
        # Values of sets are not computed again, because that is slow for many sets.
        if not np.isfinite(losses.means).all():
            raise ValueError("means must be finite numbers where values are")
        return
    expected = resample_means(losses.values, losses.design)
    rounding = 1e-9 * float(max(losses.values.max(), -losses.values.min()))
    if not np.allclose(losses.means, expected, rtol=0, atol=rounding):
        raise ValueError(
            "means are not the means of values: leave the computation to "
            f"{call('Losses.from_arrays')}"
        )
