"""The influence-function test's estimates, for people with scores or losses of their own."""

from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.data.groups import Clusters, GroupWeight, as_groups, check_group_weight, clusters_of
from ucvtest.kernels.influence.ad_hoc import ad_hoc_variances
from ucvtest.kernels.influence.clusters import ClusterPairCounts, ClusterPairs, with_offset
from ucvtest.kernels.influence.estimate import Rows
from ucvtest.kernels.influence.sums import LossCounts, PairCounts, repeats_needed

__all__ = ["ad_hoc_variances", "auc", "error"]


def auc(
    scores: Any,
    tested: Any,
    y: Any,
    counts: Any = None,
    *,
    group_weight: GroupWeight = "group",
    groups: Any = None,
) -> dict[str, Any]:
    """Cross-validated AUC, its influence values and standard error, from scores of one's own.

    Parameters
    ----------
    scores : array, shape (M, n)
        Decision scores that rise with the positive class; row m by the rule learnt without
        the observations tested in repeat m. Ignored where nothing is tested.
    tested : array of 0/1, shape (M, n)
        In each repeat one random fold of each class; the sizes of the folds do not change.
        Repeated K-fold cross-validation has K^2 rows for each repeat, all pairs of folds.
    y : array of 0/1, shape (n,)
    counts : array of integers, shape (M, n), optional
        For the leave-pair-out bootstrap: how often each observation is in the learning set,
        a bootstrap sample of each class and as large as it; the sizes of the test sets may then
        vary. By default one, where it is not tested.
    group_weight : {"group", "row"}
        Whether every cluster counts the same in its class, or every row.
    groups : array-like, shape (n,), optional
        The cluster of each observation, the unit of resampling: labels of any type. Folds are then
        folds of clusters, of one size in clusters; pairs are of different clusters.

    Returns
    -------
    dict
        auc; u1, u0: influence values of positives and negatives; se; terms1, terms0: terms I,
        II, III of each as rows, U = I + II - III; mc_se: Monte-Carlo standard error of auc
        with rows drawn independently. Of clusters instead of observations where there are groups;
        u and terms for all, where some clusters hold both labels, which are resampled as one.

    Raises
    ------
    ValueError
        If shapes differ, a fold divides a group, a class is absent, the size of a fold changes, a
        tested score is NaN, counts are no bootstrap samples, or a pair is never tested: the
        message says how many repeats would do.

    Notes
    -----
    Independent observations; a rule that does not depend on the order of rows. Biased down
    where few training sets are possible. Cost O(M n1K n0K) for folds of n1K and n0K.

    References
    ----------
    Yousef, Estimating the standard error of cross-validation-based estimators of classifier
    performance, Lemmas 2 and 3; Yousef, Wagner and Loew (2005) for the bootstrap. Erratum:
    (19) has the wrong sign at term III; its own proof, (46), has the right one.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.kernels import influence
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 10)
    >>> tested = np.hstack([rng.permuted(np.tile(np.arange(10) < 2, (500, 1)), axis=1)
    ...                     for _ in range(2)])
    >>> scores = y + rng.normal(size=20) + 0.1 * rng.normal(size=(500, 20))
    >>> found = influence.auc(scores, tested, y)
    >>> found["u1"].shape, bool(abs(found["u1"].sum()) < 1e-9), bool(found["se"] > 0)
    ((10,), True, True)
    """
    labels = as_array("y", y)
    values, mask, counts_given = _checked(scores, tested, counts)
    if labels.shape != (mask.shape[1],) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y must hold 0 and 1 for {mask.shape[1]} observations, got {y!r:.60}")
    for code in (0, 1):
        if not (labels == code).any():
            raise ValueError(f"y has no {code}: the AUC needs both classes")
    clusters = _clusters(groups, group_weight, mask.shape[1])
    if clusters is not None:
        pairs = ClusterPairs.of(clusters, labels == 1)
        return _auc_of_clusters(pairs, values, mask, counts_given, folds=counts is None)
    for code in (0, 1):
        if counts is None:
            _check_sizes(mask[:, labels == code], f"class {code}")
        else:
            _check_samples(counts_given[:, labels == code], f"class {code}")
    rows = Rows(mask, counts_given, np.arange(len(mask)))
    counted = PairCounts.of(labels, len(mask), [rows])
    if counted.n_untested:
        share = np.prod([mask[:, labels == code].mean() for code in (0, 1)])
        n_pairs = int((labels == 0).sum() * (labels == 1).sum())
        raise ValueError(
            f"{counted.n_untested} of {n_pairs} pairs are never tested together in "
            f"{len(mask)} repeats: about {repeats_needed(share, n_pairs)} repeats would do"
        )
    sums = counted.sums()
    sums.add(rows, values)
    found = sums.influence([rows])
    terms = np.stack([found.first, found.second, found.third])
    return {
        "auc": found.estimate,
        "u1": found.values[labels == 1],
        "u0": found.values[labels == 0],
        "se": float(np.sqrt(found.variance)),
        "terms1": terms[:, labels == 1],
        "terms0": terms[:, labels == 0],
        "mc_se": found.mc_se,
    }


def _auc_of_clusters(
    pairs: ClusterPairs, scores: np.ndarray, tested: np.ndarray, counts: np.ndarray, *, folds: bool
) -> dict[str, Any]:
    """`auc` where observations come in clusters."""
    mask, counts_given = (
        pairs.clusters.groups.common(name, each)
        for name, each in (("tested", tested), ("counts", counts))
    )
    where = ("the sample",) if pairs.mixed else ("class 1", "class 0")
    for members, what in zip(pairs.classes, where, strict=True):
        if folds:
            _check_sizes(mask[:, members], what)
        else:
            _check_samples(counts_given[:, members], what)
    rows = Rows(mask, counts_given, np.arange(len(mask)))
    counted = ClusterPairCounts.of_pairs(pairs, len(mask), [rows])
    if counted.n_untested:
        raise ValueError(
            f"{counted.n_untested} pairs of clusters are never tested together in {len(mask)} "
            "repeats: use more of them, or larger folds"
        )
    sums = counted.sums()
    sums.add(rows, scores)
    found = sums.influence([rows])
    terms = np.stack([found.first, found.second, found.third])
    parts: dict[str, Any] = {"u": found.values, "terms": terms}
    if not pairs.mixed:
        parts = {f"u{1 - k}": found.values[members] for k, members in enumerate(pairs.classes)}
        parts |= {f"terms{1 - k}": terms[:, members] for k, members in enumerate(pairs.classes)}
    return {
        "auc": found.estimate,
        "se": float(np.sqrt(found.variance)),
        "mc_se": found.mc_se,
        **parts,
    }


def error(
    losses: Any,
    tested: Any,
    counts: Any = None,
    *,
    group_weight: GroupWeight = "group",
    groups: Any = None,
) -> dict[str, Any]:
    """Cross-validated error rate, its influence values and standard error, from given losses.

    Parameters
    ----------
    losses : array, shape (M, n)
        Zero-one or any other losses of the rule learnt without the observations tested in
        repeat m. Ignored where nothing is tested.
    tested : array of 0/1, shape (M, n)
        In each repeat one random fold of all observations; its size does not change.
    counts : array of integers, shape (M, n), optional
        For the leave-one-out bootstrap: how often each observation is in the learning set;
        the sizes of the test sets may then vary. By default one, where it is not tested.
    group_weight : {"group", "row"}
        Whether every cluster counts the same, or every row, in a ratio of means.
    groups : array-like, shape (n,), optional
        The cluster of each observation, the unit of resampling: labels of any type. Folds are then
        folds of clusters, of one size in clusters.

    Returns
    -------
    dict
        error; u: influence values, of clusters where there are groups; se; terms: terms I, II, III
        as rows; mc_se: Monte-Carlo standard error of error with rows drawn independently.

    Raises
    ------
    ValueError
        If shapes differ, a fold divides a group, the fold changes its size, a tested loss is NaN,
        counts are no bootstrap samples, or an observation is never tested.

    Notes
    -----
    See `auc`. The bootstrap form is exact for the given samples; the published one of Efron
    and Tibshirani (1997) is its limit over all of them. Cost O(M n).

    References
    ----------
    As for `auc`; Efron and Tibshirani (1997).

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.kernels import influence
    >>> losses = np.tile([0.0, 1.0, 0.0, 1.0], (4, 1))
    >>> found = influence.error(losses, np.eye(4))
    >>> found["error"], found["se"]      # leave-one-out: the naive standard error
    (0.5, 0.25)
    """
    values, mask, counts_given = _checked(losses, tested, counts)
    clusters = _clusters(groups, group_weight, mask.shape[1])
    if clusters is not None:
        values = clusters.sums(np.where(mask, values, 0.0))
        mask = clusters.groups.common("tested", mask)
        counts_given = clusters.groups.common("counts", counts_given)
    if counts is None:
        _check_sizes(mask, "the sample")
    else:
        _check_samples(counts_given, "the sample")
    rows = Rows(mask, counts_given, np.arange(len(mask)))
    counted = LossCounts.of(mask.shape[1], len(mask), [rows])
    if counted.n_untested:
        needed = repeats_needed(mask.mean(), mask.shape[1])
        raise ValueError(
            f"{counted.n_untested} of {mask.shape[1]} observations are never tested in {len(mask)} "
            f"repeats: about {needed} repeats would do"
        )
    sums = counted.sums()
    sums.add(rows, values)
    found = with_offset(sums.influence([rows]), None if clusters is None else clusters.offset)
    return {
        "error": found.estimate,
        "u": found.values,
        "se": float(np.sqrt(found.variance)),
        "terms": np.stack([found.first, found.second, found.third]),
        "mc_se": found.mc_se,
    }


def _clusters(groups: Any, weight: Any, n_obs: int) -> Clusters | None:
    return clusters_of(
        as_groups(groups, n_obs), check_group_weight(weight, grouped=groups is not None)
    )


def _checked(values: Any, tested: Any, counts: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores or losses as floats, what is tested as booleans, and how often each is learnt from."""
    shown, mask = as_numbers("scores (or losses)", values), as_array("tested", tested)
    if shown.ndim != 2 or shown.shape != mask.shape or not len(mask):
        raise ValueError(
            "scores (or losses) and tested must have one shape (M, n), got "
            f"{shown.shape} and {mask.shape}"
        )
    if not np.isin(mask, (0, 1)).all():
        raise ValueError("tested must hold 0 and 1 only")
    mask = mask.astype(bool)
    if np.isnan(shown[mask]).any():
        row, column = np.argwhere(np.isnan(shown) & mask)[0]
        raise ValueError(
            f"repeat {row} has NaN for the tested observation {column}: every tested observation "
            "needs a score (or loss)"
        )
    if counts is None:
        return shown, mask, ~mask
    learnt = as_array("counts", counts)
    if learnt.shape != mask.shape or learnt.dtype.kind not in "iuf":
        raise ValueError(
            f"counts must be numbers of shape {mask.shape}, got {learnt.dtype} of {learnt.shape}"
        )
    if not ((learnt >= 0) & (learnt == np.rint(learnt))).all():
        raise ValueError("counts must be integers, zero or more: how often each one is learnt from")
    if (mask & (learnt > 0)).any():
        raise ValueError("counts and tested overlap: what is learnt from cannot be tested")
    return shown, mask, learnt


def _check_samples(learnt: np.ndarray, where: str) -> None:
    """Refuse counts that are no bootstrap samples, as large as what they are drawn from."""
    sizes, expected = learnt.sum(axis=1), learnt.shape[1]
    if (sizes != expected).any():
        row = int((sizes != expected).argmax())
        raise ValueError(
            f"counts must sum to {expected}, the observations of {where}, in every row, but row "
            f"{row} has {sizes[row]:.0f}: draw as many with replacement as there are"
        )


def _check_sizes(tested: np.ndarray, where: str) -> None:
    sizes = tested.sum(axis=1)
    if sizes.min() != sizes.max() or sizes.min() == 0:
        raise ValueError(
            f"tested must mark a fold of one size in every repeat, but in {where} sizes go from "
            f"{sizes.min()} to {sizes.max()}: draw folds of one size"
        )
