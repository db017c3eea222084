"""The AUC as a two-sample U-statistic, for people with scores of their own."""

import math
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array, as_numbers
from ucvtest.data.groups import refuse_groups
from ucvtest.kernels.auc_ustatistic.placed import N_BLOCKS, LearningSets
from ucvtest.kernels.auc_ustatistic.several_scores import from_class_scores
from ucvtest.kernels.auc_ustatistic.status import status
from ucvtest.kernels.auc_ustatistic.sums import Sums
from ucvtest.kernels.auc_ustatistic.variances import Effects, estimate

__all__ = ["from_scores"]

ROWS_FOR_EACH = 4
"""Fewest rows for each observation: half as many coefficients are fitted to half of the rows."""


def from_scores(
    scores: Any,
    learnt: Any,
    y: Any,
    other: Any = None,
    *,
    exact: bool = False,
    cluster: Any = None,
    groups: Any = None,
) -> dict[str, Any]:
    """Complete AUC, or difference of two, and its variance from random learning sets.

    Parameters
    ----------
    scores : array, shape (M, n), or (M, n, C)
        Decision scores that rise with the positive class; row m by the rule learnt on
        learning set m. Ignored where a rule has learnt. Scores for each of C classes give Hand
        and Till's AUC.
    learnt : array of 0/1, shape (M, n)
        The learning sets: in every row g1 positives and g0 negatives, drawn at random within
        the classes. At least two of each class are left; they are what the rule is tested on.
    y : array of 0/1, shape (n,)
        With scores of C classes their numbers 0, 1, ..., C - 1.
    other : array, shape (M, n), optional
        Scores of another learner from the same learning sets; the estimate is then the first
        AUC minus the second.
    exact : bool
        Whether the rows are all learning sets, each once: nothing is left to chance then.
        Otherwise there must be at least 4 n rows; 10 n or more are better.
    cluster : array, shape (M,), optional
        Names the rows that were drawn together, for example two disjoint learning sets; by
        default rows were drawn independently.
    groups : None
        The cluster of each observation, the unit of resampling: refused, as independent
        observations are assumed.

    Returns
    -------
    dict
        auc: U, the mean over all learning sets and all pairs that they leave to be tested, or
        the difference of two; variance: of U over samples, without the Monte-Carlo error: the
        midpoint of the jackknife J and its lower bound J^2/(J + M2), but M2/2 at least; J where
        more than half of a class is learnt from; jackknife: J, that of U when observations are
        left out one by one; unbiased: the unbiased variance, and clipped: the same, but not outside
        J^2/(J + M2) and J, both NaN unless rows come in disjoint pairs that `cluster` names (or
        `exact`) and leave two of each class to both; pair_effects: M2; u1, u0: influence values of
        positives and negatives, J = sum u1^2/(n1 (n1 - 1)) + sum u0^2/(n0 (n0 - 1)) up to
        Monte-Carlo noise; df: Welch's degrees of freedom for Student's t; mc_se_estimate,
        mc_se_variance, mc_se_clipped, mc_se_unbiased: Monte-Carlo standard errors, 0 with `exact`;
        status: "ok", or why variance and df are NaN. With scores of C classes a tuple u of the
        influence values of each class stands in the place of u1 and u0, and there are neither
        unbiased nor clipped.

    Raises
    ------
    ValueError
        If `groups` are given, `exact` is neither True nor False, shapes differ, a class is absent,
        learning sets change in size or leave fewer than two observations of a class, some
        observation is never tested, a tested score is NaN, or there are too few rows.

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

    Hand and Till's AUC of C classes is the mean over all pairs of classes c and d of the AUC of c
    above d by the score of c and that of d above c by the score of d. Scores of a class must be
    comparable between observations, as probabilities are. With C = 2 and scores -s and s it is the
    AUC of s.

    Memory beside the arguments: three bytes an entry (five with `other`), and sums over pairs of
    observations for ten blocks of rows. Cost O(M n^2).

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
    refuse_groups(groups, "the estimator")
    if not isinstance(exact, (bool, np.bool_)):
        raise ValueError(f"exact must be True or False, got {exact!r:.60}")
    if np.ndim(scores) == 3:
        return from_class_scores(scores, learnt, y, other, exact=bool(exact), cluster=cluster)
    sets, by_class = _learning_sets(learnt, y, cluster, exact=exact)
    shown = [_scores("scores", scores, sets, by_class)]
    if other is not None:
        shown.append(_scores("other", other, sets, by_class))
    sums = Sums(exact=bool(exact))
    sums.rank(sets, shown)
    found = estimate(Effects.of(sums), (1, -1)[: len(shown)])
    default = "midpoint" if all(2 * g <= n for n, g in sets.shape.by_class) else "jackknife"
    return {
        "auc": found.auc,
        "variance": found.values[default],
        "jackknife": found.jackknife,
        "clipped": found.values["clipped"],
        "unbiased": found.values["unbiased"],
        "pair_effects": found.pair_effects,
        "u1": found.u[0],
        "u0": found.u[1],
        "df": found.df,
        "mc_se_estimate": found.mc_se_estimate,
        "mc_se_variance": found.mc_se[default],
        "mc_se_clipped": found.mc_se["clipped"],
        "mc_se_unbiased": found.mc_se["unbiased"],
        "status": status(sums, found),
    }


# ---------------------------------------------------------------------------------- checks


def _learning_sets(
    learnt: Any, y: Any, cluster: Any, *, exact: bool
) -> tuple[LearningSets, tuple[np.ndarray, np.ndarray]]:
    """The learning sets by class, and the observations of both classes."""
    mask, labels = as_array("learnt", learnt), as_array("y", y)
    if mask.ndim != 2 or not len(mask):
        raise ValueError(f"learnt must have shape (M, n) with a row or more, got {mask.shape}")
    if not np.isin(mask, (0, 1)).all():
        raise ValueError("learnt must hold 0 and 1 only")
    mask = mask.astype(bool)
    n_rows, n_obs = mask.shape
    if labels.shape != (n_obs,) or not np.isin(labels, (0, 1)).all():
        raise ValueError(f"y must hold 0 and 1 for {n_obs} observations, got {y!r:.60}")
    by_class = (np.flatnonzero(labels == 1), np.flatnonzero(labels == 0))
    for code, members in zip((1, 0), by_class, strict=True):
        if not len(members):
            raise ValueError(f"y has no {code}: the AUC needs both classes")
        _check_class(mask[:, members], code)
    draw = np.arange(n_rows)
    if cluster is not None:
        names = as_array("cluster", cluster)
        if names.shape != (n_rows,):
            raise ValueError(f"cluster must have shape ({n_rows},), got {names.shape}")
        draw = np.unique(names, return_inverse=True)[1]
    sets = LearningSets((mask[:, by_class[0]], mask[:, by_class[1]]), draw)
    _check_rows(mask, sets, exact=exact)
    return sets, by_class


def _check_class(learnt: np.ndarray, code: int) -> None:
    """Refuse learning sets that change in size, or leave too few of a class."""
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


def _check_rows(mask: np.ndarray, sets: LearningSets, *, exact: bool) -> None:
    """Refuse fewer rows than the variance needs, and designs that are not complete."""
    n_rows, n_obs = mask.shape
    if exact:
        complete = math.prod(math.comb(n, g) for n, g in sets.shape.by_class)
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
    n_draws = len(np.unique(sets.draw))
    if n_draws < N_BLOCKS:
        raise ValueError(f"cluster must name at least {N_BLOCKS} draws of rows, got {n_draws}")


def _scores(
    name: str, scores: Any, sets: LearningSets, by_class: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The scores by class, those of what was learnt from as zero."""
    values = as_numbers(name, scores)
    shape = (len(sets.draw), sets.shape.n_obs)
    if values.shape != shape:
        raise ValueError(f"{name} and learnt must have one shape, got {values.shape} and {shape}")
    parts = []
    for learnt, members in zip(sets.learnt, by_class, strict=True):
        part = values[:, members]
        missing = np.isnan(part) & ~learnt
        if missing.any():
            row, column = np.argwhere(missing)[0]
            raise ValueError(
                f"{name} has NaN in row {row} for observation {members[column]}, which is tested "
                "there: every tested observation needs a score"
            )
        parts.append(part)
    return parts[0], parts[1]
