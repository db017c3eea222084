"""The test on one held-out set: about two rules that have been learnt, not about learners."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ucvtest.common.words import call
from ucvtest.data.groups import Clusters
from ucvtest.data.weights import DF_SHARE
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import HoldOut
from ucvtest.inference.answer import Answer
from ucvtest.inference.base import fit_by
from ucvtest.inference.needs import Needs
from ucvtest.inference.options import FitOptions
from ucvtest.inference.question import of_units
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.error_rates import (
    check_one_error_rate,
    counts_errors,
    rule_of_errors,
    rule_of_weighted_errors,
    table_of_errors,
)
from ucvtest.methods.classical.fixed_rules import mean_with_variance
from ucvtest.methods.classical.function_of_means import metric_of_rules
from ucvtest.methods.classical.hold_out_words import (
    counts_of_errors,
    degenerate,
    estimand_of,
    left_open,
    notes_on_rows,
    notes_on_rules,
)
from ucvtest.methods.classical.many_pairs import moments, of_plain_means, student_numbers
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.methods.classical.several_rules import several_rules
from ucvtest.methods.classical.shares_of_rules import SharesOfRules, marks_rows
from ucvtest.results.columns import PairNumbers
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.interval_rules import Rule
from ucvtest.stats.intervals import MovedT, PlusFour
from ucvtest.stats.shares import WilsonScore

IntervalName = Literal["auto", "exact", "wilson"]


@dataclass(frozen=True, kw_only=True)
class Options(FitOptions):
    """The options of `fit`."""

    interval: IntervalName = "auto"


class HoldOutTest(ResamplingTest):
    r"""Test of the loss of one rule, or of two, on held-out observations.

    Estimand: the expected loss (difference) at new observations of the rule(s) fitted to this one
    learning set. It is conditional on the learning set, and so not about the learner(s): another
    learning set would give other rules. H0: it equals `null_value`. The estimate is the mean over
    the test set. The test is Student's t test of the losses of the test observations (of the paired
    differences for two learners); the error rate or accuracy of one rule has the exact binomial
    test. If rows come in clusters, the row-weighted error rate is tested by the effective number of
    rows.

    Parameters
    ----------
    design : uv.designs object or scikit-learn splitter, optional
        One split; by default a random third of the sample is tested.
    loss : str, callable, Loss or matrix, optional
        Not "auc", which is not a mean of losses.

    Notes
    -----
    Reference: t with n_test - 1 degrees of freedom. The test assumes independent test observations,
    and enough of them for a normal mean. With few errors, or few observations on which two learners
    disagree, intervals are too short on the side of the rarer outcome. The error rate of one rule
    has the exact binomial p-value and interval, because Student's test rejects too often (size 0.12
    at a nominal 0.05 with an error rate of 0.1 and 33 test observations). The interval is Clopper
    and Pearson's and the p-value twice the smaller tail, so that the two always agree; the
    diagnostics also give Student's. For two rules `McNemarTest` is exact.

    The degrees of freedom of a weighted mean are Satterthwaite's (Bell and McCaffrey): n_test - 1
    if all weights are equal, fewer if they differ. For clusters, their share of those of equal
    weights is the share by the sums of weights. For the weighted error rate of one rule, four
    observations are added to the effective number of them (Kish's; Agresti and Coull), for the
    difference of two, two (Agresti and Min), because Student's interval is too short and can leave
    the range; the degrees of freedom are then one less than this number. If weights make
    observations worth fewer than four of equal weight, there is no test
    (``studies/intervals/weighted_errors.py``).

    Right-or-wrong rows in clusters (``group_weight="row"``; the default of `Losses.from_correct`
    and of scores of 0 and 1) have rules of their own. The error rate of one rule has the exact
    interval for an effective number of rows (Korn and Graubard); ``diagnostics["n_effective"]``
    gives that number at the 95% level. If all rows are right, or all wrong, it is the number of
    clusters. For the difference of two rules, one right and one wrong row are added to the
    effective number (Agresti and Min), and the reference is Student's t with one degree of freedom
    less than there are clusters. This has an answer even where the two rules never differ. With few
    clusters both are conservative on average. In the worst of 36 simulated settings these 95%
    intervals contained the true value in 92% of the samples, Wilson's in 90% and Student's in 18%
    (``studies/intervals/right_or_wrong.py``). If most rows are in a few clusters, intervals for
    one rule are too short, and a note says so. With ``group_weight="group"`` the means of clusters
    are studentised, which rejects too often for such rows.

    As a test about learners it rejects too often, because it ignores the variation between learning
    sets. Cost: one fit of each learner.

    With `metric`, such as "f1", the estimate is the metric of all test observations together, and
    all rows have the same weight, also in clusters. The page on metrics lists the rule for each
    metric and its measured coverage. Interval and p-value add two right and two wrong observations
    to the confusion matrix of one rule, and one of each for a difference; with three classes or
    more the standard error of one rule is half-way to the jackknife's. R2 and other metrics of
    numbers have the jackknife's interval, each on its own scale. Average precision and partial AUCs
    (from predictions alone) have a quarter of an observation of each class added, on the logit
    scale. Survival metrics are also from predictions alone: concordances and AUCs of one rule have
    Student's interval on the logit scale, Brier scores and differences on their own scale.

    References
    ----------
    T. Dietterich (1998), Approximate statistical tests for comparing supervised classification
    learning algorithms, Neural Computation 10, sections 2 and 3.2. C. Clopper, E. Pearson
    (1934), The use of confidence or fiducial limits, Biometrika 26. E. Wilson (1927), Probable
    inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association 22. E. Korn, B. Graubard (1998), Confidence intervals for proportions
    with small expected number of positive counts estimated from survey data, Survey Methodology
    24. A. Agresti, Y. Min (2005), Simple improved confidence intervals for comparing matched
    proportions, Statistics in Medicine 24. R. Bell, D. McCaffrey (2002), Bias reduction in standard
    errors for linear regression with multi-stage samples, Survey Methodology 28.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = uv.HoldOutTest(X[50:, :2], y[50:], "lda").fit(rng=0)
    >>> result.estimand
    'error rate of the rule fitted to this learning set of 66'
    >>> result.tables["Intervals"]["interval"]
    ('t', 'exact binomial')
    """

    method_name = "hold_out"
    in_short = "one split, paired t test"
    needs = Needs(
        designs="one split into a learning and a test set",
        metrics=("loss", "metric"),
        clusters="rows",
        weights=True,
        fixed=True,
        several=True,
    )
    default_design = HoldOut()

    @classmethod
    def simultaneous_results(
        cls, tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any]
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """See `HypothesisTest.simultaneous_results`."""
        return several_rules(tests, losses, options)

    def _check_design(self, design: Design) -> None:
        if design.n_resamples != 1:
            raise ValueError(
                f"design has {design.n_resamples} splits, but this test is about one: use "
                f"{call('designs.HoldOut')}"
            )
        clusters = self.question.clusters
        tested = design if clusters is None else design.by_groups(clusters.groups)
        if tested.test_sizes[0] < 2:
            raise ValueError(
                "design tests one observation, but a spread needs two: test more"
                if clusters is None
                else "design tests one group, but a spread needs two: test more"
            )

    @fit_by(Options)
    def fit(self) -> None:
        """Evaluate the learners where losses are not given, and test.

        Parameters
        ----------
        interval : {"auto", "exact", "wilson"}
            For the error rate, or accuracy, of one rule: "exact" is Clopper and Pearson's, and
            "wilson" is from Wilson's score test, which is shorter but has a lower coverage in the
            worst case. "auto" is "exact" there, and Student's for everything else. The p-value
            agrees with the interval.
        """

    def resolved(self, options: Options) -> Options:
        """See `HypothesisTest.resolved`."""
        if options.interval != "auto":
            check_one_error_rate(options.interval, self.question)
        return options

    def numbers_of_pairs(self, places: np.ndarray, options: Options) -> PairNumbers | None:
        """See `HypothesisTest.numbers_of_pairs`."""
        observed = self.question.observed
        if observed is None or not of_plain_means(self.question):
            return None
        values = observed.losses.known_values
        estimates, spread = moments(values, places)
        n_tested = values.shape[1]
        answer = Answer(
            method="",
            estimand="",
            estimates=estimates,
            variances=spread / n_tested,
            reference="t",
            df=n_tested - 1.0,
        )
        return student_numbers(self.question, places, answer)

    def analyse(self, observed: LossDifference, options: Options) -> Answer:
        """See `ResamplingTest.analyse`."""
        interval = options.interval
        if observed.losses.metric.linearised:
            return self._of_metric(observed)
        clusters = self.tested_clusters(observed)
        n_open = 0 if interval == "auto" else int((observed.values % 1 != 0).sum())
        if n_open:
            return self._of_rows(observed, interval, left_open(n_open, interval))
        if clusters is None:
            return self._of_rows(observed, interval)
        if marks_rows(observed.losses, clusters, observed.values):
            return self._of_shares(observed, clusters, interval)
        return self._of_rows(of_units(observed, self.question.clusters), interval)

    def _of_rows(
        self, observed: LossDifference, interval: IntervalName, status: str = "ok"
    ) -> Answer:
        """The answer of independent observations, which may be clusters.

        There is no test unless `status` is "ok".
        """
        n_tested, hypothesis = len(observed.values), self.question.hypothesis
        df = (n_tested - 1.0) * observed.losses.settings.get(DF_SHARE, 1.0)
        binary, null = counts_errors(observed, self.question.clusters), hypothesis.null_value
        tables: Mapping[str, Any] = {}
        if binary:
            rule: Rule | None = rule_of_errors(observed, null, score=interval == "wilson")
            if not observed.paired:
                tables = table_of_errors(observed.values, rule, hypothesis)
        else:
            # The effective number of clusters is a different number.
            independent = self.question.clusters is None
            rule = rule_of_weighted_errors(observed, null) if independent else None
        if isinstance(rule, (PlusFour, MovedT)):
            df = rule.df
        exact = isinstance(rule, (BinomialCounts, PairedCounts))
        score = isinstance(rule, WilsonScore)
        estimates, variances = zip(*map(mean_with_variance, observed.contrast_and_own), strict=True)
        return Answer(
            method=f"Hold-out {'score' if score else 'binomial' if exact else 't'} test",
            estimand=estimand_of(observed, self._learn_size),
            estimates=estimates,
            variances=variances,
            reference="normal" if score else "exact binomial" if exact else "t",
            df=math.nan if exact or score else df,
            status=degenerate(observed) if rule is None and status == "ok" else status,
            pivot=rule,
            settings={"test_size": n_tested, "interval": interval},
            diagnostics={"n_tested": n_tested, **(counts_of_errors(observed) if binary else {})},
            notes=notes_on_rows(observed, rule, binary=binary),
            tables=tables,
            observed=observed,
        )

    def _of_shares(
        self, observed: LossDifference, clusters: Clusters, interval: IntervalName
    ) -> Answer:
        """The answer of rows in clusters that are right or wrong."""
        hypothesis = self.question.hypothesis
        shares_of_rules = SharesOfRules(observed, clusters, hypothesis, score=interval == "wilson")
        estimates, variances = zip(
            *map(shares_of_rules.estimate_of, observed.contrast_and_own), strict=True
        )
        return Answer(
            method=f"Hold-out {shares_of_rules.kind} test by clusters",
            estimand=estimand_of(observed, self._learn_size),
            estimates=estimates,
            variances=variances,
            reference=shares_of_rules.reference,
            df=shares_of_rules.df,
            pivot=shares_of_rules.rule,
            settings={"test_size": clusters.n_groups, "interval": interval},
            diagnostics=shares_of_rules.diagnostics,
            notes=(*notes_on_rules(observed), shares_of_rules.note),
            tables=shares_of_rules.tables,
        )

    def _of_metric(self, observed: LossDifference) -> Answer:
        """The answer of a metric that is a function of means, of ranks, or of survival times."""
        answer = metric_of_rules(observed, self.tested_clusters(observed)).answer(
            "Hold-out test of a metric",
            estimand_of(observed, self._learn_size),
            self.question.hypothesis.null_value,
        )
        return replace(
            answer,
            settings={"test_size": len(observed.values)},
            diagnostics={"n_tested": len(observed.values), **answer.diagnostics},
            notes=(*notes_on_rules(observed), *answer.notes),
        )
