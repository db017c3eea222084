"""Optimism on permuted labels, from predictions of rules that were learnt from them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ucvtest.common.arrays import as_numbers
from ucvtest.data.groups import (
    Clusters,
    GroupWeight,
    as_groups,
    check_group_weight,
    clusters_of,
)
from ucvtest.stats.cluster_permutation import ExchangeableLabels

NAMED_LOSSES = ("squared", "absolute", "zero_one")


def generalization(
    predictions: ArrayLike,
    permuted_y: ArrayLike,
    y: ArrayLike,
    loss: Any = "squared",
    *,
    group_weight: GroupWeight = "group",
    groups: Any = None,
) -> dict[str, np.ndarray]:
    """In-sample error, out-of-sample error and optimism on labels that have been permuted.

    Parameters
    ----------
    predictions : array, shape (P, n)
        Row r contains the predictions of the rule learnt from ``permuted_y[r]``.
    permuted_y : array, shape (P, n)
        Labels that were learnt.
    y : array, shape (m,)
        The equally likely labels from which they were drawn: the observed ones, or one of each
        class for Rademacher labels.
    loss : {"squared", "absolute", "zero_one"} or array, shape (C, C)
        A matrix contains the loss ``loss[true, predicted]`` of labels 0, ..., C - 1, which
        "zero_one" needs as well. A prediction half-way between two classes is an undecided tie,
        which costs the mean of both.
    group_weight : {"group", "row"}
        Whether every cluster counts the same, or every row.
    groups : array-like, shape (n,), optional
        The cluster of each row, the unit of resampling: labels of any type; `y` are then the
        observed labels (n,). Labels change places between clusters where each has one label;
        otherwise within clusters, and those of clusters with one label among clusters of the
        same size. The label drawn again for a row is one that it can get.

    Returns
    -------
    dict of ndarray, shape (P,)
        e_in, e_out and e_gen = e_out - e_in, row by row.

    Raises
    ------
    ValueError
        If shapes do not match, values are not finite, labels are not those of the matrix, or
        `permuted_y` contains labels that a row of its group cannot get.

    Notes
    -----
    Paper: Theorems 1 and 2, section 2.3. For squared loss and permutations e_gen is
    2 mean((y^pi - ybar) g^pi); erratum: with replacement this is true on average only. Cost:
    O(P n), with a factor log m for absolute loss.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.kernels.permutation import generalization
    >>> y = np.array([0.0, 1.0, 1.0])
    >>> found = generalization([[1.0, 0.0, 1.0]], [[1.0, 0.0, 1.0]], y)
    >>> {name: float(value[0].round(4)) for name, value in found.items()}
    {'e_in': 0.0, 'e_out': 0.4444, 'e_gen': 0.4444}
    """
    predicted = as_numbers("predictions", predictions)
    labels, reference = as_numbers("permuted_y", permuted_y), as_numbers("y", y)
    if predicted.ndim != 2 or predicted.shape != labels.shape or reference.ndim != 1:
        raise ValueError(
            "predictions and permuted_y must have the same shape (P, n) and y shape (m,), got "
            f"{predicted.shape}, {labels.shape} and {reference.shape}"
        )
    if not predicted.size or not reference.size:
        raise ValueError("predictions, permuted_y and y must not be empty")
    for name, array in (("predictions", predicted), ("permuted_y", labels), ("y", reference)):
        if not np.isfinite(array).all():
            raise ValueError(f"{name} contains values that are not finite: drop or impute them")
    check_group_weight(group_weight, grouped=groups is not None)
    clusters = clusters_of(as_groups(groups, predicted.shape[1]), group_weight)
    if clusters is not None:
        return _of_clusters(predicted, labels, reference, loss, clusters)
    if isinstance(loss, str) and loss in ("squared", "absolute"):
        rule = _squared if loss == "squared" else _absolute
        e_in, e_out = rule(predicted, labels, reference)
    else:
        matrix = _matrix(loss, predicted, labels, reference)
        e_in, e_out = _by_matrix(predicted, labels, reference, matrix)
    return {"e_in": e_in, "e_out": e_out, "e_gen": e_out - e_in}


def _of_clusters(
    predicted: np.ndarray, labels: np.ndarray, observed: np.ndarray, loss: Any, clusters: Clusters
) -> dict[str, np.ndarray]:
    """The same where labels change places in clusters."""
    if observed.shape != clusters.groups.index.shape:
        raise ValueError(
            f"y must contain the observed label of each of {clusters.groups.n_obs} rows where "
            f"there are groups, got shape {observed.shape}"
        )
    exchangeable = ExchangeableLabels.of(observed, clusters.groups.index)
    possible = np.zeros(labels.shape, dtype=bool)
    for value, label_rates in zip(*exchangeable.shares(), strict=True):
        possible |= (labels == value) & (label_rates > 0)
    if not possible.all():
        row, observation = np.argwhere(~possible)[0].tolist()
        raise ValueError(
            f"permuted_y has {labels[row, observation]:g} in row {row} for observation "
            f"{observation}, which cannot get that label: permute within groups, and those of "
            "groups with one label among groups of one size (of any size where every group has one "
            "label)"
        )
    if isinstance(loss, str) and loss in ("squared", "absolute"):
        power = 2 if loss == "squared" else 1

        def losses(true: np.ndarray) -> np.ndarray:
            loss_values: np.ndarray = np.abs(predicted - true) ** power
            return loss_values
    else:
        matrix = _matrix(loss, predicted, labels, observed)
        lower, upper = np.floor(predicted).astype(int), np.ceil(predicted).astype(int)

        def losses(true: np.ndarray) -> np.ndarray:
            code = true.astype(int)
            loss_values: np.ndarray = (matrix[code, lower] + matrix[code, upper]) / 2
            return loss_values

    return mean_over_clusters(losses, labels, clusters.row_shares, exchangeable)


def mean_over_clusters(
    losses: Callable[[np.ndarray], np.ndarray],
    labels: np.ndarray,
    weight: np.ndarray,
    exchangeable: ExchangeableLabels,
) -> dict[str, np.ndarray]:
    """Mean losses on the labels (P, n) that were learnt, and on those that rows can get.

    `losses` gives those (P, n) of the predictions for any labels, `weight` (n,) is that of a row.
    """
    e_in, e_out = losses(labels) @ weight, np.zeros(len(labels))
    for value, label_rates in zip(*exchangeable.shares(), strict=True):
        e_out += losses(np.full(labels.shape, value)) @ (weight * label_rates)
    return {"e_in": e_in, "e_out": e_out, "e_gen": e_out - e_in}


def _matrix(
    loss: Any, predicted: np.ndarray, labels: np.ndarray, reference: np.ndarray
) -> np.ndarray:
    """The loss as a matrix with a row and a column for every label."""
    codes = (predicted, labels, reference)
    are_class_numbers = min(array.min() for array in codes) >= 0 and all(
        (array == np.floor(array)).all() for array in (labels, reference)
    )
    n_classes = 1 + int(np.ceil(max(array.max() for array in codes)))
    if isinstance(loss, str):
        if loss != "zero_one":
            raise ValueError(
                f"loss={loss!r:.60} is unknown: use one of {', '.join(NAMED_LOSSES)}, or a matrix"
            )
        if not are_class_numbers:
            raise ValueError(
                "loss='zero_one' compares class codes 0, 1, ..., and predictions, permuted_y or y "
                "contain other numbers: pass codes, as by np.unique(y, return_inverse=True)"
            )
        return 1.0 - np.eye(n_classes)
    matrix = as_numbers("loss", loss)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"loss must be a matrix of shape (C, C), got shape {matrix.shape}")
    if n_classes > len(matrix) or not are_class_numbers:
        raise ValueError(
            f"loss has shape {matrix.shape}, so labels must be codes 0 to {len(matrix) - 1}"
        )
    return matrix


# Compiled, these would be compiled again for every number of rows, which takes longer than they do.


def _squared(
    predicted: np.ndarray, labels: np.ndarray, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Theorem 1: the variance of the labels, and the distance from their mean."""
    e_out = reference.var() + ((predicted - reference.mean()) ** 2).mean(axis=1)
    return ((predicted - labels) ** 2).mean(axis=1), e_out


def _absolute(
    predicted: np.ndarray, labels: np.ndarray, reference: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Labels below a prediction and above it, from the cumulative sums of the sorted ones."""
    ordered, m = np.sort(reference), reference.size
    below = np.searchsorted(ordered, predicted)
    sums = np.append(0.0, np.cumsum(ordered))
    distance = predicted * (2 * below - m) + sums[-1] - 2 * sums[below]
    return np.abs(predicted - labels).mean(axis=1), (distance / m).mean(axis=1)


def _by_matrix(
    predicted: np.ndarray, labels: np.ndarray, reference: np.ndarray, matrix: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Losses looked up, and the expected loss of each prediction over the labels."""
    lower, upper = np.floor(predicted).astype(int), np.ceil(predicted).astype(int)
    row = labels.astype(int) * len(matrix)
    expected = matrix[reference.astype(int)].mean(axis=0)
    e_in = (matrix.take(row + lower) + matrix.take(row + upper)) / 2
    return e_in.mean(axis=1), ((expected.take(lower) + expected.take(upper)) / 2).mean(axis=1)
