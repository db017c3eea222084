"""The test on one held-out set: about two rules that have been learnt, not about learners."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.common.words import arg, call
from ucvtest.data.groups import Clusters
from ucvtest.data.weights import DF_SHARE, EQUAL, few_by_weight
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import HoldOut
from ucvtest.inference.answer import Answer
from ucvtest.inference.base import fit_by
from ucvtest.inference.needs import Needs
from ucvtest.inference.options import FitOptions
from ucvtest.inference.question import of_units
from ucvtest.inference.status import MORE_OBSERVATIONS, without_spread
from ucvtest.losses.from_predictions import SCORE
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.error_rates import (
    ERROR_TESTS,
    ErrorTest,
    Tables,
    check_one_error_rate,
    counts_errors,
    counts_of_errors,
    marks_rows,
    rule_of_errors,
    rule_of_weighted_errors,
    shares_of_rules,
)
from ucvtest.methods.classical.fixed_rules import THESE_RULES, means_with_variances, of_these_rules
from ucvtest.methods.classical.function_of_means import metric_of_rules
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.methods.classical.several_rules import several_rules
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates

FEW = 10
"""With fewer errors, or fewer observations on which learners disagree, t is a rough guide."""

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
    marks_rows = True

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

    def analyse(self, observed: LossDifference, options: Options) -> Answer:
        """See `ResamplingTest.analyse`."""
        interval = options.interval
        if observed.losses.metric.linearised:
            return self._of_metric(observed)
        clusters = self.tested_clusters(observed)
        n_open = 0 if interval == "auto" else int((observed.values % 1 != 0).sum())
        if n_open:
            return self._of_rows(observed, interval, _left_open(n_open, interval))
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
        diagnostics, rule, tables = {"n_tested": n_tested}, None, Tables()
        if counts_errors(observed, self.question.clusters):
            diagnostics |= counts_of_errors(observed)
            rule, tables = rule_of_errors(observed, hypothesis, score=interval == "wilson")
        elif self.question.clusters is None:
            # The effective number of clusters is a different number.
            rule = rule_of_weighted_errors(observed, hypothesis.null_value)
        error_test = ERROR_TESTS["" if rule is None else rule.kind]
        df = (n_tested - 1.0) * observed.losses.settings.get(DF_SHARE, 1.0)
        return Answer(
            method=f"Hold-out {error_test.test} test",
            estimand=self._estimand(observed),
            **means_with_variances(observed),
            reference=error_test.reference,
            df=getattr(rule, "df", math.nan if rule is not None else df),
            status=_degenerate(observed) if rule is None and status == "ok" else status,
            pivot=rule,
            settings={"test_size": n_tested, "interval": interval},
            diagnostics=diagnostics,
            notes=_notes_on_rows(
                observed, error_test, n_disagreements=diagnostics.get("n_disagreements")
            ),
            tables=tables,
            observed=observed,
        )

    def _of_shares(
        self, observed: LossDifference, clusters: Clusters, interval: IntervalName
    ) -> Answer:
        """The answer of rows in clusters that are right or wrong."""
        score = interval == "wilson"
        shares = shares_of_rules(observed, clusters, self.question.hypothesis, score=score)
        kind = "t" if observed.paired else "score" if score else "binomial"
        return Answer(
            method=f"Hold-out {kind} test by clusters",
            estimand=self._estimand(observed),
            **means_with_variances(observed, clusters),
            reference="normal" if kind == "score" else kind,
            df=getattr(shares.rule, "df", math.nan),
            pivot=shares.rule,
            settings={"test_size": clusters.n_groups, "interval": interval},
            diagnostics={
                "n_tested": len(observed.values),
                "tested_groups": clusters.n_groups,
                **counts_of_errors(observed),
                "n_effective": shares.n_effective,
            },
            notes=(*_notes_on_rules(observed), shares.note),
            tables=shares.tables,
        )

    def _of_metric(self, observed: LossDifference) -> Answer:
        """The answer of a metric that is a function of means, of ranks, or of survival times."""
        answer = metric_of_rules(observed, self.tested_clusters(observed)).answer(
            "Hold-out test of a metric",
            self._estimand(observed),
            self.question.hypothesis.null_value,
        )
        return replace(
            answer,
            settings={"test_size": len(observed.values)},
            diagnostics={"n_tested": len(observed.values), **answer.diagnostics},
            notes=(*_notes_on_rules(observed), *answer.notes),
        )

    def _estimand(self, observed: LossDifference) -> str:
        """The estimand, with the size of the learning set if there is one."""
        if not observed.design.learns:
            return of_these_rules(observed)
        rules, size = "two rules" if observed.paired else "rule", self._learn_size(observed.design)
        return f"{observed.in_words} of the {rules} fitted to this learning set of {size}"


def _left_open(n_open: int, interval: str) -> str:
    """The status if predictions are neither right nor wrong, and an exact test is requested."""
    return (
        f"{n_open} predictions were undecided between two classes (loss 1/2), which is neither "
        f"right nor wrong: use a rule that decides ties, or leave {arg('interval', interval)} out"
    )


def _degenerate(observed: LossDifference) -> str:
    """The status if all losses are the same; "ok" otherwise."""
    values = observed.values
    if observed.identical or np.ptp(values) > 0:
        return "ok"
    marked = values[0] in (0, 1) and observed.losses.loss == SCORE
    remedy = (
        f"if 1 is right and 0 is wrong, make the losses by {call('Losses.from_correct')}, whose "
        "interval is exact"
        if marked and not observed.paired
        else MORE_OBSERVATIONS
    )
    return without_spread(observed, remedy=remedy)


def _notes_on_rules(observed: LossDifference) -> tuple[str, ...]:
    """The note on what the answer is about."""
    if not observed.design.learns:
        return (THESE_RULES,)
    whom = "these two rules" if observed.paired else "this rule"
    return (
        f"Conditional: a statement about {whom}, on one split of the sample, not about rules from "
        "another learning set.",
    )


def _notes_on_rows(
    observed: LossDifference, error_test: ErrorTest, *, n_disagreements: int | None
) -> tuple[str, ...]:
    """The notes on what the answer is about, and how it was computed."""
    notes, settings = _notes_on_rules(observed), observed.losses.settings
    if error_test.note:
        return (*notes, error_test.note)
    if not settings.get(EQUAL, True) and few_by_weight(settings) == "ok":
        notes = (*notes, "The degrees of freedom are those that the weights leave (Satterthwaite).")
    if n_disagreements is None or n_disagreements >= FEW:
        return notes
    few = Note(
        f"Of {len(observed.values)} test observations one rule alone is right about "
        f"{n_disagreements}: too few for the t test to be more than a rough guide; McNemar's test "
        "is exact.",
        f"The rules differ on {n_disagreements} observations, too few for a t test.",
    )
    return (*notes, few)
