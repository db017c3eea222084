"""McNemar's exact test of two rules on the same observations."""

from dataclasses import replace

import numpy as np

from ucvtest.common.words import arg
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import HoldOut
from ucvtest.designs.structure import n_folds_of
from ucvtest.inference.answer import Answer
from ucvtest.inference.needs import Needs
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.error_rates import marks_rows, shares_of_rules
from ucvtest.methods.classical.fixed_rules import THESE_RULES, means_with_variances
from ucvtest.methods.classical.many_pairs import mcnemar_numbers, of_plain_means
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.results.columns import PairNumbers
from ucvtest.stats.exact import PairedCounts

FEW = 10
"""With fewer clusters in which two rules differ, t is a rough guide."""

LEARNT_FROM = "The rules of {} folds have learnt from observations on which the others are tested"


UNDECIDED = (
    "{} predictions were undecided between two classes (loss 1/2), which is neither right nor "
    "wrong: use a rule that decides ties, or another test"
)
SINGLE_GROUP = "no variance estimate: a single group was tested; test two at least, better twenty"


class McNemarTest(ResamplingTest):
    r"""McNemar's exact test of the error rates of two rules.

    Estimand: the difference of the error rates of the two rules that were learnt, on new
    observations (conditional on the sample: it is about these rules, not about the learners). With
    K folds it is the average over the K pairs of rules. H0: both rules have the same error rate.
    Each of the :math:`b + c` observations that just one rule gets wrong is then equally likely to
    be an error of either. The p-value is that of :math:`b` heads in :math:`b + c` throws of a fair
    coin; the estimate is :math:`(b - c)/n_{test}`.

    Parameters
    ----------
    learner, other : learner
        Two learners; the estimate is `learner` minus `other`.
    design : uv.designs object, int or scikit-learn splitter, optional
        One split, or K-fold cross-validation done once; by default `HoldOut` with a third of the
        observations tested.
    loss : "zero_one", optional
        This test has no other loss.
    null_value : float, optional
        0; this test has no other null value.
    weights
        None: all rows have the same weight in this test.

    Notes
    -----
    The p-value of a single split is exact, given the learning set. It is discrete, and therefore
    conservative. With K folds, each observation is tested by a rule that learnt from the others;
    the number of errors is then not binomial, and the test rejects too often where learners are
    unstable. `statistic` is the number of observations that only the first rule gets wrong. The
    interval is that of Fay and Lumbard for a difference of paired proportions: it excludes 0
    exactly when the p-value is at most `alpha`, and exists even where the rules never differ. `se`
    is the standard error of a mean of differences; neither p-value nor interval uses it. Cost: one
    fit of each learner, or K.

    If some groups contain several observations, b and c are not binomial counts. The statistic is
    then the difference of the error rates over its cluster-robust standard error; the reference is
    Student's t with one degree of freedom less than there are clusters. With
    ``group_weight="group"`` each cluster counts the same, as in Durkalski et al.; with "row" each
    observation does, as in Yang, Sun and Hardin. They use the variance under H0; here it is
    centred, so that the interval agrees with the p-value. With "row", one right and one wrong
    answer are added to the effective number of independent observations, as in `HoldOutTest`: 95%
    intervals contained the true difference in 97.4% of the samples (92.0% in the worst setting),
    those of the t test in 80.8% (13.8%; ``studies/intervals/right_or_wrong.py``). With "group" the
    interval is too short if the rules differ in few clusters, and there is none if they never
    differ.

    References
    ----------
    Q. McNemar (1947), Note on the sampling error of the difference between correlated proportions
    or percentages, Psychometrika 12. T. Dietterich (1998), Approximate statistical tests for
    comparing supervised classification learning algorithms, Neural Computation 10, section 3.1.
    M. Fay, K. Lumbard (2021), Confidence intervals for difference in proportions for matched pairs
    compatible with exact McNemar's or sign tests, Statistics in Medicine 40. V. Durkalski, Y.
    Palesch, S. Lipsitz, P. Rust (2003), Analysis of clustered matched-pair data, Statistics in
    Medicine 22. Z. Yang, X. Sun, J. Hardin (2010), A note on the tests for clustered matched-pair
    binary data, Biometrical Journal 52.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> losses = uv.evaluate(["lda", "knn:1"], X[50:, :2], y[50:], design=10, rng=0)
    >>> result = uv.McNemarTest.from_losses(losses, "lda", "knn:1").fit()
    >>> result.diagnostics["only_first_wrong"], result.diagnostics["only_second_wrong"]
    (8, 17)
    >>> round(result.pvalue, 4)
    0.1078
    """

    method_name = "mcnemar"
    in_short = "one split, exact test of the errors"
    r_function = "mcnemar_learners_test"
    needs = Needs(
        designs="one split, or K-fold cross-validation done once",
        metrics=("zero_one",),
        learners="two",
        clusters="rows",
        fixed=True,
        without={"null_value": "tests equal error rates; leave it out, or use another test"},
    )
    default_design = HoldOut(1 / 3)
    marks_rows = True

    def _check_design(self, design: Design) -> None:
        n_folds_of(design)

    def numbers_of_pairs(self, places: np.ndarray, options: object) -> PairNumbers | None:
        """See `HypothesisTest.numbers_of_pairs`."""
        if self.question.clusters is None and of_plain_means(self.question):
            return mcnemar_numbers(self.question, places)
        return super().numbers_of_pairs(places, options)

    def analyse(self, observed: LossDifference, options: object) -> Answer:
        """See `ResamplingTest.analyse`."""
        clusters, n_folds = self.tested_clusters(observed), n_folds_of(observed.design)
        first, second = observed.values_by_learner.values()
        # 1 where the second rule errs, and 2 more where the first does.
        cells = np.bincount(2 * (first > 0) + (second > 0), minlength=4).tolist()
        both_right, only_second, only_first, both_wrong = cells
        diagnostics = {
            "only_first_wrong": only_first,
            "only_second_wrong": only_second,
            "n_tested": len(first),
        }
        table = {
            "": ("first right", "first wrong"),
            "second right": (both_right, only_first),
            "second wrong": (only_second, both_wrong),
        }
        averaged = ignored = ""
        if n_folds > 1:
            averaged = f" (average over the rules of this {n_folds}-fold cross-validation)"
            ignored = f"{LEARNT_FROM.format(n_folds)}, which "
        kind = "exact" if n_folds == 1 else "binomial"
        answer = Answer(
            method="McNemar test of the error rates",
            estimand=self.in_words(observed, "conditional") + averaged,
            **means_with_variances(observed, clusters),
            reference="exact binomial" if n_folds == 1 else "binomial",
            diagnostics=diagnostics,
            tables={"Observations": table},
        )
        if clusters is None:
            n_open = int(((first % 1 != 0) | (second % 1 != 0)).sum())
            units = self.question.metric.units
            counts_right = units is not None and units.greater_is_better
            left_out = "the binomial distribution ignores: the p-value is exact for one split only."
            note = (
                f"The p-value is the {kind} one of the {only_first + only_second} observations "
                "where one rule errs and the other does not; the statistic is the number of those "
                f"where {'the first is right' if counts_right else 'it is the first'}. The "
                "interval (Fay and Lumbard 2021) agrees with the p-value."
            )
            counts = PairedCounts(only_first, only_second, len(first))
            return replace(
                answer,
                status=UNDECIDED.format(n_open) if n_open else "ok",
                pivot=None if n_open else counts,
                notes=(*((ignored + left_out,) if ignored else ()), note, THESE_RULES),
            )

        # The difference of error rates over its robust standard error, by Student's t.
        n_telling = int(np.count_nonzero(clusters.groups.sums(observed.values != 0)))
        diagnostics |= {"tested_groups": clusters.n_groups, "telling_groups": n_telling}
        notes, pivot = [THESE_RULES], None
        if marks_rows(observed.losses, clusters, observed.values):
            shares = shares_of_rules(observed, clusters, self.question.hypothesis)
            notes, pivot = [THESE_RULES, shares.note], shares.rule
            diagnostics["n_effective"] = shares.n_effective
        elif n_telling < FEW:
            few = (
                f"The rules differ in {n_telling} clusters: too few for the t test to be more than "
                f"a rough guide; {arg('group_weight', 'row')} adds observations to few of them."
            )
            notes = [few, THESE_RULES]
        return replace(
            answer,
            method="McNemar test of the error rates by clusters",
            reference="t",
            df=clusters.n_groups - 1.0,
            status="ok" if clusters.n_groups > 1 else SINGLE_GROUP,
            pivot=pivot,
            diagnostics=diagnostics,
            notes=(*((f"{ignored}the standard error ignores.",) if ignored else ()), *notes),
        )
