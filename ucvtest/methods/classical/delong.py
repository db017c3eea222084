"""DeLong's test of the area under the ROC curve."""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from ucvtest.designs.design import Design
from ucvtest.designs.named import HoldOut
from ucvtest.designs.structure import n_folds_of
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.base import THESE_RULES, ResamplingTest
from ucvtest.results.result import TestResult
from ucvtest.stats.placements import Placements, auc_table, placements

__all__ = ["DeLongTest"]


class DeLongTest(ResamplingTest):
    r"""DeLong's test of an area under the ROC curve (AUC), or of the difference of two.

    Estimand: the AUC of the rule that was learnt, or the difference of the AUCs of two, on new
    observations (conditional on the sample: it is about these rules, not about the learners).
    H0: it equals `null_value`. The variance of the empirical AUC is
    :math:`s_{10}^2/n_1 + s_{01}^2/n_0`, the sample variances of the placement values: for each
    positive observation the share of negatives below it, for each negative the share of positives
    above it, ties counting half; for two rules of their differences, observation by observation.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
        Two classes.
    learner : learner
    other : learner, optional
        The learner to compare with on the same observations; the estimate is `learner` minus
        `other`.
    design : uv.designs object, int or scikit-learn splitter, optional
        One split, or K-fold cross-validation done once; by default `HoldOut` with a third of the
        observations tested.
    loss : "auc", optional
        There is no other for this test.
    null_value : float, optional
        By default 0 for two learners, 1/2 for one.
    alternative, pos_label, groups, backend
        See `HypothesisTest`.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Reference: the normal distribution; liberal with few observations of one class, or with an
    AUC near 1, where an interval can reach beyond it. With K folds the scores of all folds are
    pooled into one ROC curve: that takes scores of different rules to be on one scale, and the K
    rules to be one. A level that shifts from fold to fold, as posterior odds do with the classes'
    shares, lowers the pooled AUC (the mean of the folds' AUCs is beside it in the diagnostics);
    and that rules learnt from what the others are tested on is left out of the variance.
    `InfluenceFunctionTest` does neither. Cost: one fit of each learner, or K, and n log n steps.

    References
    ----------
    E. DeLong, D. DeLong, D. Clarke-Pearson (1988), Comparing the areas under two or more
    correlated receiver operating characteristic curves, Biometrics 44, equations 3 to 6.
    X. Sun, W. Xu (2014), Fast implementation of DeLong's algorithm, IEEE Signal Processing Letters
    21.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> test = uv.DeLongTest(X[50:, :2], y[50:], "lda", "knn:9", design=uv.designs.HoldOut(0.5))
    >>> result = test.fit(rng=0)
    >>> result.reference, result.n_fits
    ('normal', 2)
    """

    method_name = "delong"
    admits = "one split, or K-fold cross-validation done once, whose scores are pooled"
    default_design = HoldOut(1 / 3)
    only_loss = "auc"
    needs_values = True
    pools_scores = True

    def _admit(self, design: Design) -> None:
        n_folds_of(design)

    def _analysed(self, observed: LossDifference) -> TestResult:
        n_folds = n_folds_of(observed.design)
        labels = observed.tested_target
        counts = {"n_positive": int(labels.sum()), "n_negative": int((labels == 0).sum())}
        few = min(counts.values()) < 2
        places = (observed.learner, observed.other)
        scores = zip(places, observed.each.values(), strict=False)
        parts = {} if few else {place: placements(labels, row) for place, row in scores}
        found = _found(parts, observed)
        settings = self._settings_of(observed)
        names = [settings[key] for key in ("learner", "other")[: len(parts)]]
        pooled = {"mean_of_fold_aucs": float(observed.means.mean())} if n_folds > 1 else {}
        return self._result(
            observed,
            method="DeLong test of the AUC",
            estimand=self._in_words(observed, "conditional") + _pooled(n_folds),
            estimator=partial(_estimator, parts),
            reference="normal",
            status=_status(observed, found, counts),
            diagnostics=counts | pooled,
            notes=_notes(n_folds, bool(np.isnan(observed.means).any())),
            tables={"Learners": auc_table("learner", names, list(parts.values()))} if parts else {},
        )


Parts = Mapping[int | None, Placements]
"""The placement values of learners, by their places; none where a class has too few."""


def _found(parts: Parts, observed: LossDifference) -> Placements | None:
    if not parts:
        return None
    found = parts[observed.learner]
    return found - parts[observed.other] if observed.paired else found


def _estimator(parts: Parts, observed: LossDifference) -> tuple[float, float]:
    found = _found(parts, observed)
    return (math.nan, math.nan) if found is None else (found.mean, found.variance)


def _status(observed: LossDifference, found: Placements | None, counts: dict[str, int]) -> str:
    if found is None:
        return (
            f"no estimate: {counts['n_positive']} positive and {counts['n_negative']} negative "
            "observations were tested, and a variance needs two of each; test more, or use a "
            "splitter that keeps the classes in proportion"
        )
    if found.variance == 0 and not observed.identical:
        return (
            "all observations are ranked alike, or perfectly: the error of the AUC cannot be "
            "estimated; test more observations"
        )
    return "ok"


def _pooled(n_folds: int) -> str:
    return "" if n_folds == 1 else f" (pooled scores of this {n_folds}-fold cross-validation)"


def _notes(n_folds: int, one_class: bool) -> tuple[str, ...]:
    if n_folds == 1:
        return (THESE_RULES,)
    notes = (
        f"The scores of {n_folds} folds are pooled, as if one rule had given them: their scales "
        "are taken to be the same, and that rules learnt from what others are tested on is left "
        "out of the variance.",
        THESE_RULES,
    )
    if not one_class:
        return notes
    return (*notes, "Folds that test one class have no AUC of their own; pooling needs none.")
