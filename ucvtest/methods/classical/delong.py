"""DeLong's test of the area under the ROC curve."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ucvtest.common.words import arg, has
from ucvtest.data.groups import GroupWeight
from ucvtest.data.positive_class import with_positive
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import HoldOut
from ucvtest.designs.structure import n_folds_of
from ucvtest.inference.answer import Answer
from ucvtest.inference.base import fit_by
from ucvtest.inference.needs import Needs
from ucvtest.inference.notes import NEW_ROW
from ucvtest.inference.options import FitOptions
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.fixed_rules import THESE_RULES
from ucvtest.methods.classical.many_pairs import of_plain_means, student_numbers
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.methods.classical.several_aucs import (
    RANKED_ALIKE,
    TestedLabels,
    area_table,
    joint_test,
    several_names,
    unknown,
)
from ucvtest.methods.classical.several_rules import results_together
from ucvtest.results.columns import PairNumbers
from ucvtest.results.joint_result import JointResult
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.results.wording import SAME_RANKING
from ucvtest.stats.placements import midranks
from ucvtest.stats.wald import reference_of

IntervalName = Literal["auto", "logit", "wald"]

ON_LOGIT_SCALE = (
    "Interval and p-value are computed on the logit scale, which keeps the interval between 0 and "
    "1; the published ones are those of the interval 'wald'."
)

NEARLY_ALIKE = 1e-3
"""Variances of differences below this share of those of both AUCs lose digits."""


@dataclass(frozen=True, kw_only=True)
class Options(FitOptions):
    """The options of `fit`."""

    interval: IntervalName = "auto"


class DeLongTest(ResamplingTest):
    r"""DeLong's test of an area under the ROC curve (AUC), or of the difference of two.

    Estimand: the AUC of the fitted rule on new observations, or the difference between the AUCs of
    two (conditional on the sample: it is about these rules, not about the learners). H0: it equals
    `null_value`. The variance of the empirical AUC is :math:`s_{10}^2/n_1 + s_{01}^2/n_0`, where
    :math:`s_{10}^2` and :math:`s_{01}^2` are the sample variances of the placement values. The
    placement value of a positive observation is the share of negatives below it, that of a
    negative the share of positives above it; ties count half. For two rules they are the variances
    of the differences between placement values, observation by observation.

    Parameters
    ----------
    y : array-like, shape (n,)
        Two classes.
    design : uv.designs object, int or scikit-learn splitter, optional
        One split, or K-fold cross-validation done once; by default `HoldOut` with a third of the
        observations tested.
    loss : "auc", optional
        This test has no other loss.
    null_value : float, optional
        By default 0 for two learners, 1/2 for one.
    weights
        None: all rows have the same weight in this test.

    Notes
    -----
    Reference: the normal distribution. The AUC of one learner is tested on the logit scale, where
    intervals stay between 0 and 1. These 95% intervals contained the true AUC in 94 to 98% of the
    samples in each of 30 simulated cells, with 7 to 100 observations of a class and AUCs of .6 to
    .98 (``studies/intervals/auc_of_rules.py``). The published intervals, ``interval="wald"``,
    contained it in 83 to 95% where most samples have an answer; they miss on one side, and are cut
    at 1 with few observations.

    With K folds the scores of all folds are pooled into one ROC curve. Pooling assumes that the
    scores of different rules are on one scale. A level that shifts from fold to fold, as posterior
    odds do with the shares of the classes, lowers the pooled AUC; the diagnostics also give the
    mean of the folds' AUCs. The variance ignores that each rule learnt from observations that
    others are tested on. `InfluenceFunctionTest` has neither fault. With fewer than three
    observations of a class there is no test, and the status says so. Cost: one fit of each learner,
    or K, and n log n steps.

    If some groups contain several observations, deviations of placement values are summed by
    cluster (Obuchowski 1997). The reference is then Student's t, with one degree of freedom less
    than there are clusters, or with Welch's where each cluster has one label. Over 36 simulated
    cells with 20 to 100 clusters (``studies/clusters/fixed_rules.csv``) such 95% intervals
    contained the true AUC in 95% of the samples, 91% in the worst cell, and the true difference in
    95 and 92%. With fewer clusters and an AUC near 1 they contain it less often. With
    ``group_weight="row"`` the AUC is that of all rows, as in the paper; with "group" each cluster
    with a positive counts the same among the positives, and likewise among the negatives. `joint`
    tests three or more AUCs at once; `uv.compare` does so too, see `Comparison.joint_test`.

    References
    ----------
    E. DeLong, D. DeLong, D. Clarke-Pearson (1988), Comparing the areas under two or more
    correlated receiver operating characteristic curves, Biometrics 44, equations 3 to 6.
    N. Obuchowski (1997), Nonparametric analysis of clustered ROC curve data, Biometrics 53.
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
    in_short = "one split, areas under the ROC curve"
    r_function = "delong_learners_test"
    needs = Needs(
        designs="one split, or K-fold cross-validation done once, whose scores are pooled",
        metrics=("auc",),
        clusters="rows",
        fixed=True,
        several=True,
        null_by_options=True,
    )
    default_design = HoldOut(1 / 3)
    pools_scores = True

    @classmethod
    def joint(
        cls,
        losses: Losses,
        learners: Sequence[str | int] | None = None,
        *,
        group_weight: GroupWeight = "group",
    ) -> JointResult:
        r"""Test that the AUCs of several rules are equal, all at once.

        The statistic is :math:`(L\hat\theta)' (L S L')^- L\hat\theta` of the paper's equation 5,
        with the AUCs :math:`\hat\theta`, their covariance matrix S and contrasts L that span all
        differences, which contrasts does not matter. Under H0 it has a chi-square distribution in
        large samples; its degrees of freedom are the rank of :math:`L S L'`: k - 1, less where
        rules rank alike. For two rules it is the square of the test's normal statistic, with the
        same two-sided p-value.

        Parameters
        ----------
        losses : Losses
            Scores, ``loss="auc"``, on a design that the test accepts.
        learners : sequence of str or int, optional
            Names or positions of at least two; by default all.
        group_weight : {"group", "row"}
            See the class.

        Returns
        -------
        JointResult

        Raises
        ------
        ValueError
            If there are fewer than two learners, one is named twice, or the losses cannot be used.

        Examples
        --------
        Scores of three rules for eight new observations:

        >>> import ucvtest as uv
        >>> y = [0, 1, 0, 1, 0, 1, 0, 1]
        >>> scores = {
        ...     "a": [0.1, 0.9, 0.2, 0.8, 0.6, 0.5, 0.3, 0.7],
        ...     "b": [0.4, 0.3, 0.1, 0.9, 0.7, 0.8, 0.2, 0.6],
        ...     "c": [0.5, 0.6, 0.8, 0.2, 0.3, 0.9, 0.4, 0.1],
        ... }
        >>> losses = uv.Losses.from_predictions(y, scores, loss="auc")
        >>> found = uv.DeLongTest.joint(losses)
        >>> found.estimates
        (0.9375, 0.8125, 0.4375)
        >>> found.df, round(found.statistic, 3), round(found.pvalue, 4)
        (2, 2.586, 0.2744)
        """
        names = several_names(losses, learners)
        # The first two pass through all checks of the test.
        test = cls.from_losses(losses, *names[:2], group_weight=group_weight)
        observed = test.question.observed
        assert observed is not None
        tested = TestedLabels(observed.tested_target, test.tested_clusters(observed))
        pooled = _pooled(n_folds_of(observed.design))
        estimand = with_positive(f"AUCs{pooled}", test.question.positive_class)
        if tested.clusters is not None:
            estimand = f"{estimand} ({NEW_ROW[tested.clusters.weight]})"
        return joint_test(losses, names, tested, estimand)

    @classmethod
    def joint_result(
        cls, losses: Losses, group_weight: GroupWeight = "group"
    ) -> JointResult | None:
        """See `HypothesisTest.joint_result`."""
        return cls.joint(losses, group_weight=group_weight)

    @classmethod
    def simultaneous_results(
        cls, tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any]
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """See `HypothesisTest.simultaneous_results`."""
        clusters = next(iter(tests.values())).question.clusters
        weight: GroupWeight = "group" if clusters is None else clusters.weight
        covariance = cls.joint(losses, group_weight=weight).covariance
        return results_together(tests, losses, options, covariance)

    def _check_design(self, design: Design) -> None:
        n_folds_of(design)

    @fit_by(Options)
    def fit(self) -> None:
        """Evaluate the learners where scores are not given, and test.

        Parameters
        ----------
        interval : {"auto", "logit", "wald"}
            "wald" is the estimate plus and minus its standard error times a quantile, as
            published; "logit", for the AUC of one learner, the same on the logit scale. "auto"
            takes "logit" for one learner, and for each of two in the table, but "wald" for their
            difference. The p-value belongs to the interval.
        """

    def resolved(self, options: Options) -> Options:
        """See `HypothesisTest.resolved`."""
        if options.interval == "logit" and self.paired:
            raise ValueError(
                f"{arg('interval', 'logit')} is for the AUC of one learner, but a difference of "
                "two has no such scale: leave it out"
            )
        if options.interval != "wald":
            or_wald = f", or use {arg('interval', 'wald')}" if has("interval") else ""
            self.question.check_null_value(remedy=or_wald)
        return options

    def numbers_of_pairs(self, places: np.ndarray, options: Options) -> PairNumbers | None:
        """See `HypothesisTest.numbers_of_pairs`: by the covariance of all AUCs."""
        observed = self.question.observed
        if observed is None or not of_plain_means(self.question):
            return None
        tested = TestedLabels(observed.tested_target, self.tested_clusters(observed))
        if tested.status != "ok":
            return None
        influence, (first, other) = tested.influence(observed.losses.known_values), places.T
        areas, covariance = influence.estimates, influence.covariance
        variances = np.diag(covariance)
        sums = variances[first] + variances[other]
        differences = sums - 2 * covariance[first, other]
        # Those of rules that rank nearly alike are rounding, and computed one by one.
        differences[differences < NEARLY_ALIKE * sums] = np.nan
        df = np.full(len(places), math.nan)
        if tested.clusters is not None:
            df = influence.welch_of_pairs(places)
        of_pairs = places, areas[first] - areas[other], differences, df
        return student_numbers(self.question, observed.losses, *of_pairs)

    def analyse(self, observed: LossDifference, options: Options) -> Answer:
        """See `ResamplingTest.analyse`."""
        n_folds = n_folds_of(observed.design)
        tested = TestedLabels(observed.tested_target, self.tested_clusters(observed))
        scores = observed.losses.known_values[[*observed.places]]
        estimates = variances = dfs = np.array(unknown(observed))
        if not tested.few:
            influence = tested.influence(scores, paired=observed.paired)
            estimates, variances = influence.estimates, influence.variances
            dfs = tested.df(influence)
        # The logit scale is for one learner, also for each of two in the table.
        by_logit = options.interval != "wald"
        logit, status = by_logit and not observed.paired, tested.status
        if status == "ok" and variances[0] == 0 and not observed.identical:
            status = RANKED_ALIKE
            if observed.paired and not observed.design.learns:
                first, second = midranks(scores)
                status = SAME_RANKING if (first == second).all() else RANKED_ALIKE
        own = [*zip(estimates, variances, dfs, strict=True)][-len(scores) :]
        table = area_table(
            observed.values_by_learner, own, by_logit=by_logit, known=tested.status == "ok"
        )
        pooled = {"mean_of_fold_aucs": float(observed.means.mean())} if n_folds > 1 else {}
        return Answer(
            method="DeLong test of the AUC" + tested.by_clusters,
            estimand=self.in_words(observed, "conditional") + _pooled(n_folds),
            estimates=estimates,
            variances=variances,
            reference=reference_of(dfs[0]),
            df=float(dfs[0]),
            logit=logit,
            settings={"interval": options.interval},
            status=status,
            diagnostics=tested.counts | pooled,
            notes=(
                *_notes(n_folds, bool(np.isnan(observed.means).any())),
                *((ON_LOGIT_SCALE,) if logit and status == "ok" else ()),
            ),
            tables={} if tested.few else {"Learners": table},
        )


def _pooled(n_folds: int) -> str:
    return "" if n_folds == 1 else f" (pooled scores of this {n_folds}-fold cross-validation)"


def _notes(n_folds: int, one_class: bool) -> tuple[str, ...]:
    if n_folds == 1:
        return (THESE_RULES,)
    notes = (
        f"The scores of {n_folds} folds are pooled as if they came from one rule. This assumes "
        "that their scales are the same; the variance ignores that rules learnt from observations "
        "on which others are tested.",
        THESE_RULES,
    )
    if not one_class:
        return notes
    return (*notes, "Folds that test one class have no AUC, but pooling does not need it.")
