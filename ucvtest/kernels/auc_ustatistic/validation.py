"""Learning sets and scores that users pass to `from_scores`: read, and refused where need be."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.common.checks import is_integer
from ucvtest.data.class_sizes import Shape
from ucvtest.data.groups import Clusters
from ucvtest.kernels.ustatistic.rows import N_BLOCKS
from ucvtest.kernels.ustatistic.rows import ROWS_FOR_EACH as ROWS_OF_HALF

ROWS_FOR_EACH = 2 * ROWS_OF_HALF
"""Fewest rows for each observation: coefficients are fitted to either half of them."""

LEAST_TESTED = 3
"""Clusters that learning sets leave at least, where some contain both labels: without one of them
there is a pair still."""


@dataclass(frozen=True, eq=False)
class UserRows:
    """Learning sets (M, n), the draws (M,) that they came in, and the class of observations (n,).

    `order` are the labels in the order of `shape` and `members`; a single one where clusters are
    one sample.
    """

    learnt: np.ndarray
    draw: np.ndarray
    labels: np.ndarray
    order: tuple[int, ...]

    @cached_property
    def members(self) -> tuple[np.ndarray, ...]:
        """The observations of each class."""
        return tuple(np.flatnonzero(self.labels == label) for label in self.order)

    @cached_property
    def shape(self) -> Shape:
        """The sizes of classes and learning sets."""
        learn_sizes = [int(self.learnt[0, members].sum()) for members in self.members]
        return Shape(tuple(map(len, self.members)), tuple(learn_sizes))


def check_flags(*, exact: Any, pos_label: Any, several: bool) -> None:
    """Refuse `exact` unless it is True or False, and `pos_label` without a score for each class."""
    if not isinstance(exact, (bool, np.bool_)):
        raise ValueError(f"exact must be True or False, got {exact!r:.60}")
    if pos_label is not None and not several:
        raise ValueError(
            "pos_label is for scores of each class, of shape (M, n, C): leave it out, scores of "
            "shape (M, n) rise with class 1"
        )


def positive_class(n_classes: int, pos_label: Any) -> int | None:
    """The class that is told from the rest, if one is."""
    if pos_label is None:
        return None
    if not is_integer(pos_label) or not 0 <= pos_label < n_classes:
        raise ValueError(
            f"pos_label={pos_label!r:.60} is not one of the classes 0 to {n_classes - 1} in y"
        )
    return int(pos_label)


# ------------------------------------------------------------------- learning sets and labels


def checked_rows(
    learnt: Any,
    y: Any,
    cluster: Any,
    *,
    several: bool,
    exact: bool,
    grouped: bool,
) -> UserRows:
    """Learning sets of labelled observations; `several` classes have scores of their own.

    Where observations are `grouped`, the number and sizes of learning sets are those of clusters:
    see `checked_units`.
    """
    mask = as_array("learnt", learnt)
    if mask.ndim != 2 or not len(mask):
        raise ValueError(f"learnt must have shape (M, n) with a row or more, got {mask.shape}")
    if not np.isin(mask, (0, 1)).all():
        raise ValueError("learnt must contain 0 and 1 only")
    labels = _labels(y, mask.shape[1], several=several)
    # The AUC of two classes has the positives first.
    order = tuple(range(int(labels.max()) + 1)) if several else (1, 0)
    rows = UserRows(mask.astype(bool), _draws(cluster, len(mask)), labels, order)
    if not grouped:
        for label, members in zip(order, rows.members, strict=True):
            _check_sizes(
                rows.learnt[:, members], "observation", f" of class {label}", fewest_tested=2
            )
        _check_number(rows, "observation", exact=exact)
    return rows


def checked_units(rows: UserRows, clusters: Clusters, *, several: bool, exact: bool) -> UserRows:
    """The learning sets (M, G) and classes of clusters, which no set divides.

    The clusters are one sample where some contain both labels, or there are more labels.
    """
    groups = clusters.groups
    if several:
        groups.check_classes(rows.labels, rows.order)
    cluster_labels = None if several else groups.classes(rows.labels)
    learnt = groups.common("learnt", rows.learnt)
    if cluster_labels is None:
        units = UserRows(learnt, rows.draw, np.zeros(groups.n_groups, dtype=int), (0,))
        _check_sizes(learnt, "group", "", fewest_tested=LEAST_TESTED)
    else:
        units = UserRows(learnt, rows.draw, cluster_labels, rows.order)
        for label, members in zip(units.order, units.members, strict=True):
            _check_sizes(learnt[:, members], "group", f" of class {label}", fewest_tested=2)
    _check_number(units, "group", exact=exact)
    return units


def _labels(y: Any, n_obs: int, *, several: bool) -> np.ndarray:
    """The class of each observation: 0 and 1, or 0, 1, ... of several."""
    labels = as_array("y", y)
    present = np.unique(labels) if labels.dtype.kind in "iufb" else np.array([])
    if several:
        if labels.shape != (n_obs,) or len(present) < 2 or any(present != range(len(present))):
            raise ValueError(
                f"y must contain the classes 0, 1, ... of {n_obs} observations, each at least "
                f"once, with scores of shape (M, n, C), got {y!r:.60}"
            )
        return labels.astype(int)
    if labels.shape != (n_obs,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y must contain 0 and 1 for {n_obs} observations, got {y!r:.60}")
    for label in (1, 0):
        if label not in present:
            raise ValueError(f"y has no {label}: the AUC needs both classes")
    return labels.astype(int)


def _draws(cluster: Any, n_rows: int) -> np.ndarray:
    if cluster is None:
        return np.arange(n_rows)
    names = as_array("cluster", cluster)
    if names.shape != (n_rows,):
        raise ValueError(f"cluster must have shape ({n_rows},), got {names.shape}")
    return np.unique(names, return_inverse=True)[1]


def _check_sizes(learnt: np.ndarray, unit: str, class_words: str, *, fewest_tested: int) -> None:
    """Refuse learning sets that change in size, or leave too few of a class."""
    sizes, n = learnt.sum(axis=1), learnt.shape[1]
    if sizes.min() != sizes.max():
        raise ValueError(
            f"learnt must contain as many {unit}s{class_words} in every row, got from "
            f"{sizes.min()} to {sizes.max()}: draw learning sets "
            f"{'within the classes' if class_words else 'of one size'}"
        )
    if n - sizes[0] < fewest_tested:
        raise ValueError(
            f"learnt leaves {n - sizes[0]} of {n} {unit}s{class_words}, and {fewest_tested} at "
            "least must be tested: draw smaller learning sets"
        )
    if learnt.all(axis=0).any():
        raise ValueError(
            f"{unit} {int(learnt.all(axis=0).argmax())}{class_words} is in every learning set and "
            "never tested: draw learning sets at random"
        )


def _check_number(rows: UserRows, unit: str, *, exact: bool) -> None:
    """Refuse fewer rows than the variance needs, and designs that are not complete."""
    n_rows, n_obs = rows.learnt.shape
    if exact:
        complete = rows.shape.complete
        n_distinct = len(np.unique(np.packbits(rows.learnt, axis=1), axis=0))
        if n_rows != complete or n_distinct != complete:
            raise ValueError(
                f"exact=True needs each of the {complete} learning sets once, got {n_rows} rows"
                f"{'' if n_rows != complete else ', some of them equal'}: leave it out for "
                "learning sets drawn at random"
            )
        return
    if n_rows < ROWS_FOR_EACH * n_obs:
        raise ValueError(
            f"scores of {n_rows} learning sets do not suffice for {n_obs} {unit}s: give "
            f"at least {ROWS_FOR_EACH * n_obs}, better {10 * n_obs}, or all there are with "
            "exact=True"
        )
    n_draws = len(np.unique(rows.draw))
    if n_draws < N_BLOCKS:
        raise ValueError(f"cluster must name at least {N_BLOCKS} draws of rows, got {n_draws}")


# ------------------------------------------------------------------------------------ scores


def checked_scores(rows: UserRows, scores: Mapping[str, Any], *, several: bool) -> list[np.ndarray]:
    """The scores (M, n), or (M, n, C), of each learner by its name, all there where tested."""
    checked, shape = [], (*rows.learnt.shape, len(rows.order))[: 3 if several else 2]
    for name, user_scores in scores.items():
        values = as_numbers(name, user_scores)
        if values.shape != shape and several:
            raise ValueError(
                f"{name} must have shape (M, n, C) = {shape}, one score for each class in y, got "
                f"{values.shape}"
            )
        if values.shape != shape:
            raise ValueError(
                f"{name} and learnt must have one shape, got {values.shape} and {shape}"
            )
        missing = np.isnan(values).any(axis=2) if several else np.isnan(values)
        if (missing & ~rows.learnt).any():
            row, column = np.argwhere(missing & ~rows.learnt)[0]
            raise ValueError(
                f"{name} has NaN in row {row} for observation {column}, which is tested there: "
                f"every tested observation needs a score{' of every class' if several else ''}"
            )
        checked.append(values)
    return checked
