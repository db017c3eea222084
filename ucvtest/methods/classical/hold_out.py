"""The test on one held-out set: about two rules that have been learnt, not about learners."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from ucvtest.designs.design import Design
from ucvtest.designs.schemes import HoldOut
from ucvtest.inference.studentise import TABLE_ALPHA
from ucvtest.losses.from_predictions import EFFECTIVE_SIZE, WEIGHTED_ERRORS
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.fixed_rules import (
    THESE_RULES,
    mean_with_variance,
    of_these_rules,
    results_together,
)
from ucvtest.methods.classical.function_of_means import MetricOfRules
from ucvtest.methods.classical.ranks_of_rules import RanksOfRules, covariance_of_ranks
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.metrics.base import plural
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.exact import BinomialCounts
from ucvtest.stats.intervals import PlusFour
from ucvtest.stats.wald import Alternative, wald_interval, wald_pvalue

__all__ = ["HoldOutTest"]

FEW = 10
"""With fewer errors, or fewer observations on which two learners disagree, t is a rough guide."""


class HoldOutTest(ResamplingTest):
    r"""Test of the loss of one rule, or of two, on observations that were held out.

    Estimand: the expected loss (difference) of the rule(s) that this one learning set led to, at
    new observations: conditional on the learning set, and so not about the learner(s), which
    another learning set would lead to other rules. H0: it equals `null_value`. The estimate is
    the mean over the test set, the test Student's t test of the losses (for two learners of
    their paired differences) of the test observations; for the error rate of one rule the
    exact binomial test.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learner : learner
    other : learner, optional
        The learner to compare with on the same split; the estimate is `learner` minus `other`.
    design : uv.designs object or scikit-learn splitter, optional
        One split; by default a random third of the sample is tested.
    loss : str, callable, Loss or matrix, optional
        Not "auc", which is no mean of losses.
    null_value, alternative, scoring, metric, pos_label, missing, groups, group_weight, backend
        See `HypothesisTest`.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Reference: t with n_test - 1 degrees of freedom. Assumes independent test observations, and
    enough of them for the mean to be normal: with few errors, or few observations about which two
    learners disagree, intervals are too short on the side of the rarer outcome. For the error rate
    of one rule p-value and interval are the exact binomial ones, because Student's are liberal
    (size 0.12 at a nominal 0.05 with an error rate of 0.1 and 33 test observations): the interval
    is Clopper and Pearson's, the p-value twice the smaller tail, so that both always agree;
    Student's are shown beside them. For two rules `McNemarTest` is exact. The weighted error rate
    of one rule has four observations added to the effective number of them (Kish's; Agresti and
    Coull), because Student's interval is liberal and leaves 0 to 1
    (``studies/intervals/weighted_errors.py``). As a statement about learners the test is liberal,
    because it leaves out what varies between learning sets. Cost: one fit of each learner.

    With `metric`, such as "f1", the estimate is the metric of all test observations together, and
    rows of clusters count alike. Confusion metrics of one rule have two right and two wrong
    observations added for the interval and the p-value, differences one right and one wrong; R2 and
    others of numbers have the jackknife's interval on a scale of their own, average precision and
    partial AUCs (from predictions alone) quarters of observations added, on the logit scale. The
    page on metrics has the table of them, and what their intervals are worth.

    References
    ----------
    T. Dietterich (1998), Approximate statistical tests for comparing supervised classification
    learning algorithms, Neural Computation 10, sections 2 and 3.2. C. Clopper, E. Pearson
    (1934), The use of confidence or fiducial limits, Biometrika 26.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = uv.HoldOutTest(X[50:, :2], y[50:], "lda").fit(rng=0)
    >>> result.estimand
    'error rate of the rule learnt on this one learning set of 66'
    >>> result.tables["Intervals"]["interval"]
    ('t', 'exact binomial')
    """

    method_name = "hold_out"
    in_short = "one split, paired t test"
    admits = "one split into a learning and a test set"
    of_fixed_rules = True
    default_design = HoldOut()
    judges_several = True
    needs_values = True
    takes_auc = False
    takes_predictions = True

    @classmethod
    def simultaneous_results(
        cls, tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any]
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """See `HypothesisTest.simultaneous_results`."""
        if _of_ranks(losses):
            return results_together(tests, losses, options, covariance_of_ranks(losses))
        # A metric that is 0/0 has no estimate, which excludes no other.
        values = np.nan_to_num(losses.known_values)
        results, together = results_together(
            tests, losses, options, np.cov(values) / values.shape[1]
        )
        return results, _by_rules(results, together) if losses.metric.linearised else together

    def _check_design(self, design: Design) -> None:
        if design.n_resamples != 1:
            raise ValueError(
                f"design has {design.n_resamples} splits, but this test is about one: use "
                "uv.designs.HoldOut"
            )
        if design.test_sizes[0] < 2:
            raise ValueError("design tests one observation, and a spread needs two: test more")

    def _analysed(self, observed: LossDifference, options: None) -> TestResult:
        if observed.losses.metric.linearised:
            return self._of_metric(observed)
        values = observed.values
        n_tested = len(values)
        binary = self._counts_errors(observed)
        exact = not observed.paired and binary
        weighted = self._of_weighted_errors(observed)
        return self._result(
            observed,
            method="Hold-out binomial test" if exact else "Hold-out t test",
            estimand=_in_words(observed),
            estimator=mean_with_variance,
            reference="exact binomial" if exact else "t",
            df=math.nan if exact else n_tested - 1.0,
            status="ok" if exact else _status(observed),
            rule=_binomial(values) if exact else weighted,
            settings={"test_size": n_tested},
            diagnostics={"n_tested": n_tested, **(_counts(observed) if binary else {})},
            notes=(*_notes(observed, binary=binary), *_weight_notes(weighted)),
            tables=self._tables(observed) if exact else {},
        )

    def _of_metric(self, observed: LossDifference) -> TestResult:
        """Of a metric that is a function of means, or of ranks."""
        kind = RanksOfRules if _of_ranks(observed.losses) else MetricOfRules
        found = kind.of(observed, self.tested_clusters(observed))
        return self._result(
            observed,
            method="Hold-out test of a metric",
            estimand=_in_words(observed),
            estimator=found.estimate_of,
            reference="t",
            df=found.df,
            status=found.status,
            rule=found.rule(self.question.hypothesis.null_value),
            settings={"test_size": len(observed.values)},
            diagnostics={"n_tested": len(observed.values), **found.diagnostics},
            notes=(*_notes(observed, binary=False), *found.notes),
            pictures=found.pictures,
        )

    def _counts_errors(self, observed: LossDifference) -> bool:
        """Whether every loss is a whole error or none; ties that a learner left open count half.

        Means over the rows of clusters are none, even where all of these are right or wrong.
        """
        errors = observed.losses.metric.counts_errors and self.question.clusters is None
        return errors and bool(np.isin(observed.values, (-1, 0, 1)).all())

    def _of_weighted_errors(self, observed: LossDifference) -> PlusFour | None:
        """Of one rule's weighted error rate: four observations are added to the effective ones."""
        losses = observed.losses
        effective = losses.settings.get(EFFECTIVE_SIZE)
        if observed.paired or effective is None or losses.loss != WEIGHTED_ERRORS:
            return None
        estimate, variance = mean_with_variance(observed)
        df = len(observed.values) - 1.0
        null = self.question.hypothesis.null_value
        return PlusFour(estimate, variance, effective, null, df)

    def _tables(self, observed: LossDifference) -> dict[str, dict[str, tuple[Any, ...]]]:
        """Student's interval and the exact one, for the error rate of one learner."""
        hypothesis = self.question.hypothesis
        null, alternative = hypothesis.null_value, hypothesis.alternative
        t_pvalue, *t_interval = _student(observed.values, null, alternative)
        exact = _binomial(observed.values)
        interval = exact.interval(alternative, TABLE_ALPHA)
        pvalue = exact.pvalue(null, alternative)
        rows = [("t", *t_interval, t_pvalue), ("exact binomial", *interval, pvalue)]
        names = ("interval", "conf_low", "conf_high", "pvalue")
        table = dict(zip(names, zip(*rows, strict=True), strict=True))
        if math.isnan(null):
            del table["pvalue"]
        return {"Intervals": table}


def _by_rules(results: Mapping[Any, TestResult], together: JointEstimates) -> JointEstimates:
    """With the statistics of pairs that have observations added, as their intervals have them."""
    places = {name: place for place, name in enumerate(together.learners)}
    statistics = np.array(together.statistics)
    for key, each in results.items():
        if isinstance(key, str) or each.rule is None or math.isnan(each.estimate):
            continue
        first, second = (places[name] for name in key)
        statistics[first, second] = each.statistic
        statistics[second, first] = -each.statistic
    return replace(together, statistics=statistics)


def _of_ranks(losses: Losses) -> bool:
    return isinstance(losses.metric, SmoothMetric) and losses.metric.of_ranks


def _in_words(observed: LossDifference) -> str:
    if not observed.design.learns:
        return of_these_rules(observed)
    words = observed.losses.in_words
    (size,) = observed.design.learn_sizes
    if observed.paired:
        rules = f"the two rules learnt on this one learning set of {size}"
        return f"difference of the {plural(words)} of {rules}"
    return f"{words} of the rule learnt on this one learning set of {size}"


def _status(observed: LossDifference) -> str:
    if observed.identical or np.ptp(observed.values) > 0:
        return "ok"
    return (
        f"degenerate: all {len(observed.values)} test observations have the same loss, which "
        "leaves no variance to estimate; test more observations, or use a loss that varies"
    )


def _weight_notes(weighted: PlusFour | None) -> tuple[str, ...]:
    if weighted is None:
        return ()
    return (
        f"With their weights observations tell as much as {weighted.n_obs:.3g} of equal weight do "
        "(Kish's effective number), to which the interval adds four, two of them errors.",
    )


def _counts(observed: LossDifference) -> dict[str, int]:
    name = "n_disagreements" if observed.paired else "n_errors"
    return {name: int(np.count_nonzero(observed.values))}


def _notes(observed: LossDifference, *, binary: bool) -> tuple[str, ...]:
    whom = "these two rules" if observed.paired else "this rule"
    notes: tuple[str, ...] = (
        f"Conditional: a statement about {whom}, on one split of the sample, and not about "
        "what another learning set would have led to.",
    )
    if not observed.design.learns:
        notes = (THESE_RULES,)
    if not observed.paired and binary:
        notes = (*notes, "p-value and interval are the exact binomial ones (Clopper and Pearson).")
    counts = _counts(observed) if binary else {}
    n_tested = len(observed.values)
    if "n_disagreements" in counts and counts["n_disagreements"] < FEW:
        return (
            *notes,
            f"Of {n_tested} test observations one rule alone is right about "
            f"{counts['n_disagreements']}: too few for the t test to be more than a rough guide; "
            "McNemarTest is exact.",
        )
    return notes


def _student(values: np.ndarray, null: float, alternative: Alternative) -> tuple[float, ...]:
    """p-value and 95% interval; NaN where nothing varies, or nothing is tested."""
    if not np.ptp(values) > 0:
        return (math.nan, math.nan, math.nan)
    df, se = len(values) - 1.0, float(stats.sem(values))
    mean = float(values.mean())
    low, high = wald_interval(mean, se, "t", df, alternative, TABLE_ALPHA)
    return (wald_pvalue((mean - null) / se, "t", df, alternative), low, high)


def _binomial(values: np.ndarray) -> BinomialCounts:
    return BinomialCounts(int(values.sum()), len(values))
