"""The influence-function test's estimates, for people with scores or losses of their own."""

from typing import Any

import numpy as np

from ucvtest.data.groups import Clusters, GroupWeight, as_groups, check_group_weight, clusters_of
from ucvtest.kernels.influence.clusters import ClusterPairCounts, ClusterPairs, with_offset
from ucvtest.kernels.influence.estimate import Rows, ad_hoc_by_repetition
from ucvtest.kernels.influence.sums import LossCounts, PairCounts
from ucvtest.kernels.influence.validation import (
    check_cluster_pairs_tested,
    check_folds,
    check_observations_tested,
    check_pairs_tested,
    checked_fold_values,
    checked_labels,
    checked_rows,
)

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
    """Cross-validated AUC, its influence values and standard error, from your own scores.

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
        u and terms for all, where some clusters contain both labels, which are resampled as one.

    Raises
    ------
    ValueError
        If shapes differ, a fold divides a group, a class is absent, the size of a fold changes, a
        tested score is NaN, counts are not bootstrap samples, or a pair is never tested: the
        message gives a sufficient number of repeats.

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
    values, mask, learnt = checked_rows(scores, tested, counts)
    labels = checked_labels(y, mask.shape[1])
    clusters = _clusters(groups, group_weight, mask.shape[1])
    if clusters is not None:
        pairs = ClusterPairs.of(clusters, labels == 1)
        return _auc_of_clusters(pairs, values, mask, learnt, bootstrap=counts is not None)
    for label in (0, 1):
        of_class = labels == label
        check_folds(
            mask[:, of_class],
            learnt[:, of_class],
            f"class {label}",
            bootstrap=counts is not None,
        )
    rows = Rows(mask, learnt, np.arange(len(mask)))
    counted = PairCounts.of(labels, len(mask), [rows])
    check_pairs_tested(counted.n_untested, mask, labels)
    sums = counted.sums()
    sums.add(rows, values)
    influence = sums.influence([rows])
    terms = np.stack([influence.first, influence.second, influence.third])
    return {
        "auc": influence.estimate,
        "u1": influence.values[labels == 1],
        "u0": influence.values[labels == 0],
        "se": float(np.sqrt(influence.variance)),
        "terms1": terms[:, labels == 1],
        "terms0": terms[:, labels == 0],
        "mc_se": influence.mc_se,
    }


def _auc_of_clusters(
    pairs: ClusterPairs,
    scores: np.ndarray,
    tested: np.ndarray,
    counts: np.ndarray,
    *,
    bootstrap: bool,
) -> dict[str, Any]:
    """`auc` where observations come in clusters."""
    mask, learnt = (
        pairs.clusters.groups.common(name, user_array)
        for name, user_array in (("tested", tested), ("counts", counts))
    )
    class_names = ("the sample",) if pairs.mixed else ("class 1", "class 0")
    for members, class_words in zip(pairs.classes, class_names, strict=True):
        check_folds(mask[:, members], learnt[:, members], class_words, bootstrap=bootstrap)
    rows = Rows(mask, learnt, np.arange(len(mask)))
    counted = ClusterPairCounts.of_pairs(pairs, len(mask), [rows])
    check_cluster_pairs_tested(counted.n_untested, len(mask))
    sums = counted.sums()
    sums.add(rows, scores)
    influence = sums.influence([rows])
    terms = np.stack([influence.first, influence.second, influence.third])
    influence_by_class: dict[str, Any] = {"u": influence.values, "terms": terms}
    if not pairs.mixed:
        influence_by_class = {
            f"u{1 - k}": influence.values[members] for k, members in enumerate(pairs.classes)
        }
        influence_by_class |= {
            f"terms{1 - k}": terms[:, members] for k, members in enumerate(pairs.classes)
        }
    return {
        "auc": influence.estimate,
        "se": float(np.sqrt(influence.variance)),
        "mc_se": influence.mc_se,
        **influence_by_class,
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
        counts are not bootstrap samples, or an observation is never tested.

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
    values, mask, learnt = checked_rows(losses, tested, counts)
    clusters = _clusters(groups, group_weight, mask.shape[1])
    if clusters is not None:
        values = clusters.sums(np.where(mask, values, 0.0))
        mask = clusters.groups.common("tested", mask)
        learnt = clusters.groups.common("counts", learnt)
    check_folds(mask, learnt, "the sample", bootstrap=counts is not None)
    rows = Rows(mask, learnt, np.arange(len(mask)))
    counted = LossCounts.of(mask.shape[1], len(mask), [rows])
    check_observations_tested(counted.n_untested, mask)
    sums = counted.sums()
    sums.add(rows, values)
    influence = with_offset(sums.influence([rows]), None if clusters is None else clusters.offset)
    return {
        "error": influence.estimate,
        "u": influence.values,
        "se": float(np.sqrt(influence.variance)),
        "terms": np.stack([influence.first, influence.second, influence.third]),
        "mc_se": influence.mc_se,
    }


def ad_hoc_variances(fold_values: Any, estimate: Any = None) -> dict[str, float]:
    """Variances that treat folds as independent; without a theory, but often the best.

    Parameters
    ----------
    fold_values : array, shape (R, K1, K0) or (R, K)
        AUC of each pair of test folds in each of R repetitions of K-fold cross-validation;
        or the mean loss of each fold.
    estimate : array, shape (R,), optional
        Cross-validated AUC or mean loss of each repetition; by default the mean over its
        folds, which differs from it where folds have different sizes.

    Returns
    -------
    dict
        adhoc_1, adhoc_2, adhoc_3, adhoc_3_mle: each averaged over repetitions. For mean
        losses the first three are one and the same; adhoc_2 is NaN unless K1 = K0.

    Raises
    ------
    ValueError
        If a shape is another, a value is NaN, or there are fewer than two folds.

    Notes
    -----
    Biased: for the error rate by minus the covariance of the errors of two observations in
    different folds, (7).

    References
    ----------
    Yousef, Estimating the standard error of cross-validation-based estimators of classifier
    performance, (6), (8a)-(8c), (9).

    Examples
    --------
    >>> from ucvtest.kernels import influence
    >>> found = influence.ad_hoc_variances([[0.1, 0.2, 0.3]])
    >>> print(f"{found['adhoc_1']:.6f} {found['adhoc_3_mle']:.6f}")
    0.003333 0.002222
    """
    by_repetition = ad_hoc_by_repetition(*checked_fold_values(fold_values, estimate))
    return {name: float(values.mean()) for name, values in by_repetition.items()}


def _clusters(groups: Any, weight: Any, n_obs: int) -> Clusters | None:
    return clusters_of(
        as_groups(groups, n_obs), check_group_weight(weight, grouped=groups is not None)
    )
