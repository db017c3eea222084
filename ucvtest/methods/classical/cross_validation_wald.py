"""Wald intervals and tests from one K-fold cross-validation: Bayle et al., LeDell et al."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ucvtest.common.words import arg
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import KFold
from ucvtest.designs.structure import folds_of, n_folds_of
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.base import fit_by
from ucvtest.inference.needs import Needs
from ucvtest.inference.options import FitOptions
from ucvtest.inference.question import of_units
from ucvtest.inference.status import without_spread
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.fold_aucs import fold_aucs
from ucvtest.methods.classical.function_of_means import metric_of_rules
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.stats.influence import Influence

Variance = Literal["all_pairs", "within_fold"]

LITTLE_SIGNAL = (
    "This interval can be too short: in simulations of 50 and 100 observations, 95% intervals "
    "contained the true value in 75 to 91% of the samples if features had little signal or none. "
    "The U-statistic test, which is about learners, does better."
)
"""See studies/intervals/metrics_of_folds.py."""


@dataclass(frozen=True)
class Options(FitOptions):
    """The options of `fit`."""

    variance: Variance = "all_pairs"


class CrossValidationWaldTest(ResamplingTest):
    r"""Wald interval and test of the test error of one K-fold cross-validation.

    Estimand: the test error of this cross-validation. This is the expected loss at new observations
    of the K rules fitted to its learning sets, averaged over the folds in proportion to their size.
    It is conditional on the K rules, and so a random quantity: neither the risk of the learner at
    that learning-set size nor the error of the rule fitted to all observations. For two learners it
    is the difference. H0: it equals `null_value`. The
    estimate is the mean loss :math:`\hat R_n` of all observations, its variance
    :math:`\hat\sigma^2/n` with one of

    .. math:: \hat\sigma^2_{out} = \frac1n \sum_{j=1}^K \sum_{i \in B'_j} (h_{ij} - \hat R_n)^2,
        \qquad \hat\sigma^2_{in} = \sum_{j=1}^K \frac{n_j}{n} \frac{1}{n_j - 1}
        \sum_{i \in B'_j} (h_{ij} - \bar h_j)^2,

    called "all_pairs" and "within_fold". Here :math:`h_{ij}` is the loss at observation i of the
    rule fitted without its fold j, and :math:`n_j` is the size of that fold (the paper has equal
    folds).

    With a `metric` that is a function of means, such as "f1", the estimand is that function of the
    means of these K rules. The estimate is the metric of all out-of-fold predictions pooled (Forman
    and Scholz 2010), not the mean over folds. Correlations are refused: pooled over folds they are
    too low.

    With ``loss="auc"`` the estimand is the AUC of these rules, each ranking the pairs of its own
    fold. The estimate :math:`\hat A` is the share of all pairs within folds that are in the right
    order. Ties count half; scores of different folds are never compared. Its variance comes
    from influence values (LeDell, Petersen and van der Laan): with :math:`N_i` the pairs of
    observation i in the right order, :math:`C_i` all its pairs and C those of the sample,

    .. math:: l_i = \hat A + n (N_i - \hat A C_i)/C, \qquad
        \hat\sigma^2_{\hat A} = \sum_c \frac{n_c}{n_c - 1} \sum_{y_i = c}
        \frac{(l_i - \hat A)^2}{n^2},

    and for two learners from the differences of their :math:`l_i`. With repeats, estimate and
    variance are means over the repeats. With clusters, the :math:`l_i - \hat A` are summed by
    cluster; a pair within a cluster counts once in its sum.

    Parameters
    ----------
    design : uv.designs object, int or scikit-learn splitter, optional
        K-fold cross-validation done once, leave-one-out included; by default 10 folds. For the
        AUC it may be repeated.
    loss : str, callable, Loss or matrix, optional
        "auc" is the area under the ROC curve within folds.

    Notes
    -----
    Reference: normal. The test is asymptotically exact for stable learners. A learner is stable if
    exchanging one observation of a learning set changes the loss, less its mean over new
    observations, by less than the order of 1/sqrt(n) in root mean square. For unstable learners and
    small n the test rejects too often (with linear discriminant analysis of 20 features and n = 60,
    88% of the 95% intervals contain the true value). As a test of the risk it rejects too often as
    well, because the estimate varies more around the risk than around this estimand. The difference
    of two nearly equal learners can have a variance of a smaller order; the condition then fails.
    "all_pairs" includes the spread of the folds' means. "within_fold" does not, and needs two
    observations in each fold. Cost: K fits of each learner.

    The variance of a metric is that of its linearised values (of rows or clusters), with divisor
    n - 1; the reference is t. Limits are computed as for fixed rules (see `HoldOutTest`): two right
    and two wrong observations are added to the confusion matrix of one learner, one of each for a
    difference; metrics of numbers have the jackknife's limits, each on its own scale. For F1 and
    similar metrics at n = 40 to 200, on problems held back, 95% intervals contained the true value
    of one learner in 92% of the samples and the true difference in 94% (worst cells 88 and 89%).
    For R2 and Brier's skill they contained it in 75 to 95%, for differences of these and of the
    root mean squared error in 78 to 94%: use `UStatisticTest` for these.

    The AUC is compared with Student's t, with Welch's degrees of freedom or one less than there are
    clusters; one learner on the logit scale, a difference on its own scale. The published method
    takes the mean of the folds' AUCs, without the factors :math:`n_c/(n_c - 1)`, and the normal
    distribution. In one simulation (K = 5 and 10, n = 40 to 200) its 95% intervals contained the
    true value in 85.5% of the samples, and these in 94.7% (91 in the worst cell). For differences
    these contained it in 94.2% (83 in the worst cell: n = 40 and an AUC of 0.96); with five repeats
    in 96.3 and 98.1%.

    A fold with one class has no pairs and does not count. If all pairs within folds are in the
    right order, or all in the wrong one, the variance is 0. For one learner, a quarter of a
    positive and of a negative observation is then added above all others and below all others, for
    the interval and the p-value only; the interval ends at the estimate. Finished out-of-fold
    scores are tested by ``Losses.from_predictions(y, scores, fold=fold, loss="auc")``.

    References
    ----------
    P. Bayle, A. Bayle, L. Janson, L. Mackey (2020), Cross-validation confidence intervals for
    test error, Advances in Neural Information Processing Systems 33: the central limit theorem for
    the k-fold test error, and its within-fold and all-pairs variance estimators. E. LeDell,
    M. Petersen, M. van der Laan (2015), Computationally efficient confidence intervals for
    cross-validated area under the ROC curve estimates, Electronic Journal of Statistics 9. G.
    Forman, M. Scholz (2010), Apples-to-apples in cross-validation studies, ACM SIGKDD Explorations
    12: why parts are pooled.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> losses = uv.evaluate(["lda", "knn:1"], X[50:, :2], y[50:], design=10, rng=0)
    >>> result = uv.CrossValidationWaldTest.from_losses(losses, "lda").fit()
    >>> print(f"{result.estimate:.2f}, {result.se:.4f}")
    0.31, 0.0462
    """

    method_name = "cross_validation_wald"
    in_short = "10 folds: their own error, not that of the learner"
    needs = Needs(
        designs="K-fold cross-validation done once, leave-one-out included; for the AUC also "
        "repeated",
        metrics=("loss", "auc", "metric"),
        clusters="rows",
        weights=True,
    )
    default_design = KFold(10)

    def _check_design(self, design: Design) -> None:
        folds_of(design)
        if not self.question.metric.ranks_pairs:
            n_folds_of(design)

    def check_test_sets(self, design: Design) -> None:
        """Refuse designs without a test set that has both classes; a single such set has pairs."""
        positive = self.question.target == 1
        has_both_classes = design.testing[:, positive].any(axis=1) & design.testing[
            :, ~positive
        ].any(axis=1)
        if not has_both_classes.any():
            super().check_test_sets(design)

    @fit_by(Options)
    def fit(self) -> None:
        """Evaluate the learners where losses are not given, and test.

        Parameters
        ----------
        variance : {"all_pairs", "within_fold"}
            Around the mean of all losses, or around the mean of each fold. The result has both
            in a table. The AUC has its own variance; metrics such as "f1" have only "all_pairs".
        """

    def resolved(self, options: Options) -> Options:
        """See `HypothesisTest.resolved`."""
        variance, metric = options.variance, self.question.metric
        if metric.ranks_pairs:
            if variance != "all_pairs":
                raise ValueError(
                    f"{arg('variance', variance)} is for means of losses, but the AUC has its own "
                    "variance, of pairs within folds: leave it out"
                )
            return options
        if metric.linearised and variance == "within_fold":
            raise ValueError(
                f"{arg('variance', 'within_fold')} is not for {arg('metric', metric.name)}, whose "
                f"parts are pooled over the folds: use {arg('variance', 'all_pairs')}, or a loss"
            )
        losses_design = self.question.design
        design = self._draw(np.random.default_rng(0)) if losses_design is None else losses_design
        clusters = self.question.clusters
        _check_folds(variance, design if clusters is None else design.by_groups(clusters.groups))
        return options

    def analyse(self, observed: LossDifference, options: Options) -> Answer:
        """See `ResamplingTest.analyse`."""
        if observed.losses.metric.linearised:
            return self._of_metric(observed)
        of_whom, clusters = self.in_words(observed, "conditional"), self.question.clusters
        if self.question.metric.ranks_pairs:
            return fold_aucs(observed, clusters, self.null_value, of_whom)
        variance, observed = options.variance, of_units(observed, clusters)
        # A splitter may have made folds of other sizes than on trial.
        _check_folds(variance, observed.design)
        n_folds = observed.design.n_resamples
        values = observed.values_of_each
        fold_variances = _fold_variances(observed, values)
        variances = {name: float(of_each[0]) for name, of_each in fold_variances.items()}
        status = "ok"
        if not (observed.identical or variances[variance] > 0):
            status = without_spread(observed)
            if variances["all_pairs"] > 0:
                remedy = f"use {arg('variance', 'all_pairs')}"
                status = without_spread(observed, "within every fold", remedy)
        return Answer(
            method="Cross-validation Wald test",
            estimand=f"{of_whom} (average over the rules of this {n_folds}-fold cross-validation)",
            estimates=values.mean(axis=1),
            variances=fold_variances[variance],
            reference="normal",
            status=status,
            settings={"variance": variance},
            diagnostics={"variance": variance, "fold_means": quantity.value(observed.means)},
            notes=_notes(n_folds),
            tables={
                "Variances": {
                    "variance": tuple(variances),
                    "estimate": quantity.square(tuple(variances.values())),
                    "se": quantity.spread(tuple(map(math.sqrt, variances.values()))),
                }
            },
            observed=observed,
        )

    def _of_metric(self, observed: LossDifference) -> Answer:
        """The answer of a metric that is a function of means, pooled over the folds."""
        n_folds = observed.design.n_resamples
        survival = observed.losses.metric.of_survival
        pooled = "pairs within folds" if survival else "parts pooled over the folds"
        answer = metric_of_rules(observed, self.tested_clusters(observed)).answer(
            "Cross-validation Wald test of a metric",
            f"{observed.in_words} of the {n_folds} rules fitted here, {pooled}",
            self.question.hypothesis.null_value,
        )
        # Without signal predictions are nearly constant, and R2 and skill scores compare two nearly
        # equal rules, this one and the mean response. So do differences of root mean squares.
        scale = getattr(observed.losses.metric, "interval_scale", "identity")
        little_signal = scale == "log1m" or (scale == "sqrt" and observed.paired)
        return replace(
            answer,
            settings={"variance": "all_pairs"},
            diagnostics={"variance": "all_pairs", **answer.diagnostics},
            notes=(
                *_notes(n_folds, of_metric=True),
                *answer.notes,
                *([LITTLE_SIGNAL] if little_signal else []),
            ),
        )


def _check_folds(variance: Variance, design: Design) -> None:
    smallest = design.test_sizes[0]
    if variance == "within_fold" and smallest < 2:
        raise ValueError(
            f"{arg('variance', 'within_fold')} needs two observations in every fold, but one has "
            f"{smallest}: use {arg('variance', 'all_pairs')}, or fewer folds"
        )


def _fold_variances(observed: LossDifference, values: np.ndarray) -> dict[Variance, np.ndarray]:
    """Variances of the means of values (L, n); NaN for folds of one observation."""
    n, sizes = values.shape[1], observed.design.testing.sum(axis=1)
    all_pairs = Influence.of_means(values)
    around_fold = (values - np.repeat(observed.means_of_each, sizes, axis=1)) / n
    folds = np.repeat(np.arange(len(sizes)), sizes)
    within_fold = Influence(all_pairs.estimates, around_fold, folds)
    # The divisor is n, not n - 1.
    return {"all_pairs": all_pairs.variances * ((n - 1) / n), "within_fold": within_fold.variances}


def _notes(n_folds: int, *, of_metric: bool = False) -> tuple[str, ...]:
    estimand_words, risk = ("that", "that") if of_metric else ("the average test error", "the risk")
    return (
        f"Assumes independent observations. The estimand is {estimand_words} of the {n_folds} "
        f"rules of this cross-validation, as they are; for {risk} of the learner, which also "
        "concerns other samples, the interval is too short.",
        "Asymptotic: assumes that exchanging one observation hardly changes a rule's loss. The "
        "test rejects too often for unstable learners and small samples.",
    )
