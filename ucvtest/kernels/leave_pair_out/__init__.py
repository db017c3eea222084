"""Errors of leave-pair-out cross-validation, for one labeling of a sample or for many.

Every pair of a positive observation i and a negative one j is held out in turn; the pair is
wrong where the rule learnt from the others scores j higher, and tied where it scores both
the same. W counts the wrong pairs and half of the tied ones, U = W/(n_1 n_0), AUC = 1 - U.
"""

from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.data.groups import (
    Clusters,
    GroupWeight,
    as_groups,
    check_group_weight,
    clusters_of,
)
from ucvtest.kernels.leave_pair_out.pair_counts import (
    LABELINGS_PER_CALL,
    count_by_neighbours,
    count_by_smoother,
)

__all__ = ["LABELINGS_PER_CALL", "errors", "nearest_neighbour_errors", "smoother_errors"]


def errors(
    scores: Any, y: Any, *, group_weight: GroupWeight = "group", groups: Any = None
) -> dict[str, float]:
    """Leave-pair-out errors of your own scores.

    Parameters
    ----------
    scores : array, shape (n, n)
        ``scores[i, j]`` is the score of observation i by the rule learnt without i and j. Only
        pairs from different classes are looked at.
    y : array, shape (n,)
        Labels 0 and 1; a higher score stands for 1.
    group_weight : {"group", "row"}
        Whether the rows of a class in a cluster share one weight, or every row counts the same.
    groups : array-like, shape (n,), optional
        The cluster of each row, the unit of resampling: labels of any type. ``scores[i, j]`` is
        then by the rule learnt without the clusters of i and j, and pairs within a cluster are
        not looked at.

    Returns
    -------
    dict
        ``n_errors`` (W, ties counted one half), ``n_ties``, ``n_pairs``, ``u`` and ``auc``. With
        `groups` pairs are of rows of different clusters; errors and ties are their weighted shares
        of ``n_pairs``.

    Raises
    ------
    ValueError
        If shapes do not match, `y` contains anything but 0 and 1 or only one of them, no two
        clusters have a pair, or a score that is needed is NaN.

    Notes
    -----
    Pahikkala et al. (2025), (6). Erratum: (4) and (6) as printed count the correct pairs.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> scores = np.tile([[3.0], [2.0], [2.0], [1.0]], 4)
    >>> uv.kernels.leave_pair_out.errors(scores, [1, 0, 1, 0])["n_errors"]
    0.5
    """
    matrix, labels = as_numbers("scores", scores), as_array("y", y)
    n = labels.size
    if labels.ndim != 1 or matrix.shape != (n, n):
        raise ValueError(
            f"scores must have shape (n, n) and y (n,), got {matrix.shape} and {labels.shape}"
        )
    if set(labels.tolist()) != {0, 1}:
        raise ValueError("y must contain 0 and 1, both at least once: code the positive class as 1")
    check_group_weight(group_weight, grouped=groups is not None)
    clusters = clusters_of(as_groups(groups, n), group_weight)
    pairs = np.ix_(labels == 1, labels == 0)
    positive, negative = matrix[pairs], matrix.T[pairs]
    if clusters is not None:
        return _cluster_errors(positive, negative, clusters, labels == 1)
    if np.isnan(positive).any() or np.isnan(negative).any():
        raise ValueError("scores contains NaN for a pair of different classes: score both of them")
    n_ties = int((positive == negative).sum())
    n_errors = float((positive < negative).sum() + n_ties / 2)
    u = n_errors / positive.size
    return {
        "n_errors": n_errors,
        "n_ties": n_ties,
        "n_pairs": positive.size,
        "u": u,
        "auc": 1.0 - u,
    }


def _cluster_errors(
    positive: np.ndarray, negative: np.ndarray, clusters: Clusters, first: np.ndarray
) -> dict[str, float]:
    """`errors` of pairs of rows of different clusters."""
    index = clusters.groups.index
    different_clusters = index[first][:, None] != index[~first]
    if not different_clusters.any():
        raise ValueError("groups leave no pair of different classes in different clusters")
    if np.isnan(positive[different_clusters]).any() or np.isnan(negative[different_clusters]).any():
        raise ValueError(
            "scores contains NaN for a pair of different classes and clusters: score both of them"
        )
    weight = different_clusters.astype(float)
    if clusters.weight == "group":
        of_row = [1 / np.bincount(index[rows])[index[rows]] for rows in (first, ~first)]
        weight *= np.outer(*of_row)
    pair_weight = weight / weight.sum()
    n_pairs = int(different_clusters.sum())
    tied = float(pair_weight[positive == negative].sum())
    u = float(pair_weight[positive < negative].sum()) + tied / 2
    return {
        "n_errors": u * n_pairs,
        "n_ties": tied * n_pairs,
        "n_pairs": n_pairs,
        "u": u,
        "auc": 1.0 - u,
    }


def smoother_errors(
    hat: np.ndarray, labelings: np.ndarray, *, groups: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Leave-pair-out errors of a linear smoother, for many labelings.

    Parameters
    ----------
    hat : ndarray, shape (n, n)
        Symmetric hat matrix of a fit to all observations, with the penalty of a fit to n - 2.
    labelings : ndarray of bool, shape (P, n)
    groups : None
        The cluster of each row: refused, as the hat matrix is that of fits to n - 2 rows, and two
        clusters are more. `LeavePairOutTest` has the closed form for clusters.

    Returns
    -------
    tuple of ndarray of int, shape (P,)
        Wrong pairs, and tied pairs: those whose difference is no more than rounding error.

    Raises
    ------
    ValueError
        If `groups` are given, or the other observations do not determine the fit for some pair.

    Notes
    -----
    Pahikkala et al. (2008) for ridge regression. Cost: O(P n^2).

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> X = np.arange(6.0)[:, None]
    >>> hat = uv.learners.hat_matrix(uv.learners.ridge(1.0), X)
    >>> y = np.array([[0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]], dtype=bool)
    >>> uv.kernels.leave_pair_out.smoother_errors(hat, y)
    (array([0, 4]), array([0, 2]))
    """
    _refuse_groups(groups, "the hat matrix is that of fits to n - 2 rows")
    hat = as_numbers("hat", hat)
    if hat.ndim != 2 or hat.shape[0] != hat.shape[1] or not np.isfinite(hat).all():
        raise ValueError(f"hat must contain finite numbers of shape (n, n), got {hat.shape}")
    labelings = _checked_labelings(labelings, len(hat))
    wrong_and_tied = count_by_smoother(hat, labelings)
    if wrong_and_tied is None:
        raise ValueError("the observations that are left do not determine the fit: raise lam")
    return wrong_and_tied


def nearest_neighbour_errors(
    nearest: np.ndarray, labelings: np.ndarray, *, groups: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Leave-pair-out errors of k nearest neighbours, for many labelings.

    Parameters
    ----------
    nearest : ndarray of int, shape (n, k + 1)
        The k + 1 nearest other observations of each one, nearest first.
    labelings : ndarray of bool, shape (P, n)
    groups : None
        The cluster of each row: refused, as the k + 1 nearest do not show who votes once two
        clusters are left out. `LeavePairOutTest` has the closed form for clusters.

    Returns
    -------
    tuple of ndarray of int, shape (P,)
        Wrong pairs, and tied pairs: those with equally many votes.

    Raises
    ------
    ValueError
        If `groups` are given.

    Notes
    -----
    Cost: O(P n^2), after one sort of the neighbours.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> nearest = np.array([[1, 2], [0, 2], [3, 1], [2, 1]])
    >>> y = np.array([[0, 0, 1, 1]], dtype=bool)
    >>> uv.kernels.leave_pair_out.nearest_neighbour_errors(nearest, y)
    (array([0]), array([0]))
    """
    _refuse_groups(groups, "k + 1 neighbours do not show who votes without two clusters")
    nearest = as_array("nearest", nearest)
    if nearest.ndim != 2 or nearest.shape[1] < 2 or nearest.dtype.kind not in "iu":
        raise ValueError(
            f"nearest must contain integers of shape (n, k + 1), got {nearest.dtype} "
            f"{nearest.shape}"
        )
    n = len(nearest)
    if nearest.size and not (nearest.min() >= 0 and nearest.max() < n):
        raise ValueError(f"nearest must contain numbers of observations from 0 to {n - 1}")
    labelings = _checked_labelings(labelings, n)
    return count_by_neighbours(nearest, labelings)


def _refuse_groups(groups: Any, reason: str) -> None:
    if groups is not None:
        raise ValueError(
            f"groups= is not supported here, as {reason}: use LeavePairOutTest with groups, or "
            "errors with the scores of rules learnt without two clusters"
        )


def _checked_labelings(labelings: Any, n_obs: int) -> np.ndarray:
    labels = as_array("labelings", labelings)
    if labels.ndim != 2 or labels.shape[1] != n_obs or not np.isin(labels, (0, 1)).all():
        raise ValueError(
            f"labelings must contain 0 and 1 of shape (P, {n_obs}), got {labels.shape}"
        )
    return labels.astype(bool, copy=False)
