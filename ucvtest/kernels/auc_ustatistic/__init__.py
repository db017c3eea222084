"""The AUC as a two-sample U-statistic, for people with scores of their own."""

from math import nan
from typing import Any

from ucvtest.common.arrays import as_array
from ucvtest.data.groups import (
    GroupWeight,
    as_groups,
    check_group_weight,
    clusters_of,
)
from ucvtest.kernels.auc_ustatistic.validation import (
    check_flags,
    checked_rows,
    checked_scores,
    checked_units,
    positive_class,
)
from ucvtest.kernels.ustatistic.aucs import (
    NO_VARIANCE,
    AucEstimate,
    influence,
    no_variance_in_words,
    too_rough,
)
from ucvtest.kernels.ustatistic.columns import Ranking, columns_of_aucs, rankings_of
from ucvtest.kernels.ustatistic.contrasts import estimate
from ucvtest.kernels.ustatistic.placements import hand_till, one_against_rest, two_classes
from ucvtest.kernels.ustatistic.rows import Rows, Strata

__all__ = ["from_scores"]


def from_scores(
    scores: Any,
    learnt: Any,
    y: Any,
    other: Any = None,
    *,
    exact: bool = False,
    cluster: Any = None,
    pos_label: Any = None,
    group_weight: GroupWeight = "group",
    groups: Any = None,
) -> dict[str, Any]:
    """Complete AUC, or difference of two, and its variance from random learning sets.

    Parameters
    ----------
    scores : array, shape (M, n), or (M, n, C)
        Decision scores that rise with the positive class; row m by the rule learnt on
        learning set m. Ignored where a rule has learnt. Scores for each of C classes give Hand
        and Till's AUC, or that of `pos_label` against the rest.
    learnt : array of 0/1, shape (M, n)
        The learning sets: in every row g1 positives and g0 negatives, drawn at random within
        the classes. At least two of each class are left, and the rule is tested on them.
    y : array of 0/1, shape (n,)
        With scores of C classes their numbers 0, 1, ..., C - 1.
    other : array, shape (M, n), optional
        Scores of another learner from the same learning sets; the estimate is then the first
        AUC minus the second.
    exact : bool
        Whether the rows are all learning sets, each once, so that nothing is random.
        Otherwise there must be at least 4 n rows; 10 n or more are better.
    cluster : array, shape (M,), optional
        Names the rows that were drawn together, for example two disjoint learning sets; by
        default rows were drawn independently.
    pos_label : int, optional
        With scores of C classes, the class whose AUC against all others together is estimated
        instead of Hand and Till's AUC of all pairs. The others have their shares in the sample.
    group_weight : {"group", "row"}
        Whether the rows of a class in a cluster share one weight (with `pos_label`, the rows of all
        other classes together), or every row counts the same.
    groups : array-like, shape (n,), optional
        The cluster of each row, which is the unit of resampling: labels of any type. Learning sets
        are then sets of whole clusters, with g1 clusters of positives and g0 of negatives. If some
        clusters contain both, and with scores of C classes, they have g of all clusters, and at
        least three are left.

    Returns
    -------
    dict
        auc: U, the mean over all learning sets and all pairs that they leave to be tested, or
        the difference of two; variance: of U over samples, without the Monte-Carlo error, as
        `UStatisticTest` takes by default: "midpoint" of two classes, "jackknife" where more than
        half of a class is learnt from, and of more than two; jackknife: J, that of U when
        observations are left out one by one; midpoint: that of J and its lower bound
        J^2/(J + M2), but M2/2 at least, NaN where more than half of a class is learnt from;
        pair_effects: M2; u1, u0: influence values of positives and negatives, J = sum u1^2/(n1 (n1
        - 1)) + sum u0^2/(n0 (n0 - 1)) up to Monte-Carlo noise; df: Welch's degrees of freedom for
        Student's t; mc_se_estimate, mc_se_variance: Monte-Carlo standard errors, 0 with `exact`;
        status: "ok"; "too few resamples" with a remedy where mc_se_variance is above half of the
        variance; or why variance and df are NaN. With scores of C classes a tuple u of the
        influence values of each class stands in the place of u1 and u0. With `groups` influence
        values, df and pairs are those of clusters; where some contain both classes, and with scores
        of C classes, variance is the jackknife, and there is one array u of all clusters.

    Raises
    ------
    ValueError
        If a learning set divides a group, `exact` is neither True nor False, shapes differ, a
        class is absent, one of C classes is in a single cluster, learning sets change in size or
        leave fewer than two observations of a class, some observation is never tested, a tested
        score is NaN, there are too few rows, or `pos_label` is not one of the C classes.

    Notes
    -----
    Independent observations; a rule that does not depend on the order of rows. The expectation
    of J is above the variance, for any learner; J is free of Monte-Carlo noise by products of
    different blocks of rows (raw squares only where these are negative). Where an AUC is near its
    lowest, as without any signal, effects of single observations vanish and J with them; effects
    of pairs do not, hence the floor. Fewer than eight observations of a class are too few to
    rely on any of this.

    Scores of a fixed rule, which learnt from none of these observations, are one row with `learnt`
    all zero and `exact`: J is then the variance of DeLong, DeLong and Clarke-Pearson (1988).

    Clusters that contain both classes are one sample, as those of C classes are always: pairs of
    rows of different clusters give a share of weights, and J uses its linear part.

    Hand and Till's AUC of C classes is the mean over all pairs of classes c and d of the AUC of c
    above d by the score of c and that of d above c by the score of d. Scores of a class must be
    comparable between observations, as probabilities are. With C = 2 and scores -s and s it is the
    AUC of s.

    Memory in addition to the arguments: three bytes an entry (five with `other`), and sums over
    pairs of observations for ten blocks of rows; of clusters that are one sample, eight bytes for
    each learning set and cluster, and for each row and cluster. Cost O(M n^2), of Hand and Till's
    AUC of clusters O(C M n^2).

    References
    ----------
    Fuchs, Hornung, De Bin and Boulesteix (2013) for the U-statistic of one sample; Efron and
    Stein (1981) for the jackknife; Hand and Till (2001), A simple generalisation of the area under
    the ROC curve for multiple class classification problems, Machine Learning 45. The influence
    function of Yousef with the factor (n_c - 1)/(n_c - g_c - 1) on terms II - III gives the same J.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.kernels import auc_ustatistic
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 10)
    >>> learnt = np.hstack([rng.permuted(np.tile(np.arange(10) < 4, (500, 1)), axis=1)
    ...                     for _ in range(2)])
    >>> scores = y + rng.normal(size=20) + 0.1 * rng.normal(size=(500, 20))
    >>> found = auc_ustatistic.from_scores(scores, learnt, y)
    >>> found["status"], found["u1"].shape
    ('ok', (10,))
    >>> bool(0 < found["variance"] <= found["jackknife"])
    True
    """
    several = as_array("scores", scores).ndim == 3
    check_flags(exact=exact, pos_label=pos_label, several=several)
    check_group_weight(group_weight, grouped=groups is not None)
    width = (0, *as_array("learnt", learnt).shape)[-1]
    clusters = clusters_of(as_groups(groups, width), group_weight)
    rows = checked_rows(
        learnt, y, cluster, several=several, exact=bool(exact), grouped=clusters is not None
    )
    units = rows
    if clusters is not None:
        units = checked_units(rows, clusters, several=several, exact=bool(exact))
    by_name = {"scores": scores} if other is None else {"scores": scores, "other": other}
    ranked = checked_scores(rows, by_name, several=several)
    positive = positive_class(len(rows.order), pos_label) if several else None
    strata = Strata.of(units.members, units.shape.learn_sizes)
    v, rankings = two_classes()[::-1, ::-1], tuple[Ranking, ...]()
    if several:
        sizes = rows.shape.sizes
        v = hand_till(len(sizes)) if positive is None else one_against_rest(sizes, positive)
    if clusters is not None and len(units.order) == 1:
        rankings = rankings_of(rows.labels, v, positive, several=several)
    columns = columns_of_aucs(strata, len(ranked), v, clusters, rankings)
    sums = Rows(strata, columns.n_columns, exact=bool(exact), pairs=len(units.order) > 1)
    placed = columns.placed(ranked, units.learnt, units.draw, sums.pair)
    sums.add(placed, units.learnt, units.draw)
    effects = sums.effects()
    places = tuple(range(len(ranked)))
    of_auc = estimate(effects, columns.contrast(places, effects.u), AucEstimate)
    assert isinstance(of_auc, AucEstimate)
    one_sample, has_midpoint = len(units.order) == 1, units.shape.paired
    default = "midpoint" if has_midpoint and len(units.order) == 2 else "jackknife"
    status, jackknife = "ok", of_auc.variances["jackknife"]
    if not jackknife > NO_VARIANCE:
        of_auc = of_auc.without_variance
        status = no_variance_in_words(columns.why_flat(of_auc.value, placed, ~units.learnt))
    elif not of_auc.reliable(default):
        status = too_rough(of_auc, default, "give scores from more learning sets")
    estimates_by_name = {
        "auc": of_auc.value,
        "variance": of_auc.variances[default],
        "jackknife": jackknife,
        # Effects of pairs of clusters are not added up.
        "pair_effects": nan if one_sample else of_auc.variances["pair_effects"],
        "df": of_auc.df,
        "mc_se_estimate": of_auc.mc_se,
        "mc_se_variance": of_auc.errors[default],
        "midpoint": nan
        if one_sample or not has_midpoint
        else of_auc.variances.get("midpoint", nan),
        "status": status,
    }
    influence_values = influence(strata, of_auc.b)
    u = tuple(influence_values[some] for some in strata.members)
    if one_sample:
        return estimates_by_name | {"u": u[0]}
    return estimates_by_name | ({"u": u} if several else {"u1": u[0], "u0": u[1]})
