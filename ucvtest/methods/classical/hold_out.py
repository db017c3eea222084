"""The test on one held-out set: about two rules that have been learnt, not about learners."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from scipy import stats

from ucvtest.common.checks import check_choice
from ucvtest.data.groups import Clusters, refuse_groups
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import HoldOut
from ucvtest.inference.question import of_units
from ucvtest.inference.studentise import TABLE_ALPHA
from ucvtest.losses.from_predictions import EFFECTIVE_SIZE, SCORE, WEIGHTED_ERRORS
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.fixed_rules import (
    THESE_RULES,
    mean_with_variance,
    of_these_rules,
    results_together,
    share_difference,
    shares_in_pairs,
)
from ucvtest.methods.classical.function_of_means import MetricOfRules
from ucvtest.methods.classical.ranks_of_rules import RanksOfRules, covariance_of_ranks
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.metrics.base import plural
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.interval_rules import Rule
from ucvtest.stats.intervals import MovedT, PlusFour
from ucvtest.stats.shares import ROUNDING, EffectiveCounts, WilsonScore
from ucvtest.stats.wald import Alternative, wald_interval, wald_pvalue

__all__ = ["HoldOutTest"]

IntervalName = Literal["auto", "exact", "wilson"]
NAMES: tuple[IntervalName, ...] = get_args(IntervalName)

FEW = 10
"""With fewer errors, or fewer observations on which two learners disagree, t is a rough guide."""


class HoldOutTest(ResamplingTest):
    r"""Test of the loss of one rule, or of two, on observations that were held out.

    Estimand: the expected loss (difference) of the rule(s) that this one learning set led to, at
    new observations: conditional on the learning set, and so not about the learner(s), which
    another learning set would lead to other rules. H0: it equals `null_value`. The estimate is
    the mean over the test set, the test Student's t test of the losses (for two learners of
    their paired differences) of the test observations; for the error rate, or accuracy, of one
    rule the exact binomial test. Of rows that come in clusters the row-weighted error rate is
    tested by the effective number of rows.

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
    (``studies/intervals/weighted_errors.py``).

    Rows that are right or wrong, in clusters (``group_weight="row"``; the default of
    `Losses.from_correct` and of scores of 0 and 1): the error rate of one rule has the exact
    interval for an effective number of rows (Korn and Graubard), ``diagnostics["n_effective"]``
    at the level of 95%. It is the number of clusters where all rows are right, or all wrong. The
    difference of two has one right and one wrong row added to the effective number (Agresti and
    Min), and Student's t with one degree of freedom less than there are clusters; it has an answer
    where two rules never differ. With few clusters both are conservative on average; in the worst
    of 36 simulated settings they covered 92%, Wilson's 90%, Student's 18%
    (``studies/intervals/right_or_wrong.py``). With
    ``group_weight="group"`` the means of clusters are studentised, which is liberal there.

    As a statement about learners the test is liberal,
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
    (1934), The use of confidence or fiducial limits, Biometrika 26. E. Wilson (1927), Probable
    inference, the law of succession, and statistical inference, Journal of the American
    Statistical Association 22. E. Korn, B. Graubard (1998), Confidence intervals for proportions
    with small expected number of positive counts estimated from survey data, Survey Methodology
    24. A. Agresti, Y. Min (2005), Simple improved confidence intervals for comparing matched
    proportions, Statistics in Medicine 24.

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
    takes_rows = True
    takes_predictions = True

    @classmethod
    def simultaneous_results(
        cls, tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any]
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """See `HypothesisTest.simultaneous_results`."""
        if _of_ranks(losses):
            if losses.groups is not None:
                refuse_groups(losses.groups)
            return results_together(tests, losses, options, covariance_of_ranks(losses))
        # A metric that is 0/0 has no estimate, which excludes no other.
        values, pairs = np.nan_to_num(losses.known_values), None
        clusters = next(iter(tests.values())).tested_clusters(losses.difference(0))
        if clusters is None:
            covariance = np.cov(values) / values.shape[1]
        else:
            covariance = np.cov([clusters.values(row) for row in values]) / clusters.n_groups
            if _marks_rows(losses, clusters):
                pairs = shares_in_pairs(values, clusters)
        results, together = results_together(tests, losses, options, covariance, pairs)
        return results, _by_rules(results, together) if losses.metric.linearised else together

    def _check_design(self, design: Design) -> None:
        if design.n_resamples != 1:
            raise ValueError(
                f"design has {design.n_resamples} splits, but this test is about one: use "
                "uv.designs.HoldOut"
            )
        clusters = self.question.clusters
        tested = design if clusters is None else design.by_groups(clusters.groups)
        if tested.test_sizes[0] < 2:
            raise ValueError(
                "design tests one observation, and a spread needs two: test more"
                if clusters is None
                else "design tests one group, and a spread needs two: test more"
            )

    def fit(
        self,
        *,
        interval: IntervalName = "auto",
        max_seconds: float | None = None,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Evaluate the learners where losses are not given, and test.

        Parameters
        ----------
        interval : {"auto", "exact", "wilson"}
            Of the error rate, or accuracy, of one rule: "exact" is Clopper and Pearson's, "wilson"
            that of Wilson's score test, which is shorter and covers less in the worst case. "auto"
            takes "exact" there, and Student's for all else. The p-value belongs to the interval.
        max_seconds : float, optional
            Refuse a design that takes longer, about, before the first fit: some are timed. The
            number of fits is that of the design and never cut short.
        rng, n_jobs, batch_size, progress
            See `HypothesisTest.fit`.

        Returns
        -------
        TestResult

        Raises
        ------
        ValueError
            If an argument cannot be used, `max_seconds` does not suffice, or a learner fails on a
            split.
        """
        options = self.fit_options(interval)
        execution = self.question.execution(rng, n_jobs, batch_size, max_seconds)
        return self._fit(options, execution, progress)

    def fit_options(self, interval: IntervalName = "auto") -> IntervalName:
        """The option of `fit`, validated."""
        check_choice("interval", interval, NAMES)
        if interval == "auto":
            return interval
        of_one = f"interval={interval!r} is for the error rate, or accuracy, of one rule"
        if self.paired:
            raise ValueError(
                f"{of_one}, and this is a difference of two: leave it out, or use McNemarTest, "
                "which is exact"
            )
        words = self.question.metric.in_words
        if not self.question.metric.counts_errors:
            raise ValueError(f"{of_one}, and this is the {words}: leave it out")
        clusters = self.question.clusters
        if clusters is not None and clusters.weight != "row":
            raise ValueError(
                f"{of_one} in which rows count alike, and here clusters do: pass "
                "group_weight='row', or leave interval out"
            )
        return interval

    def _analysed(self, observed: LossDifference, options: IntervalName) -> TestResult:
        if observed.losses.metric.linearised:
            return self._of_metric(observed)
        clusters = self.tested_clusters(observed)
        n_open = 0 if options == "auto" else int((observed.values % 1 != 0).sum())
        if n_open:
            return self._of_rows(observed, options, _left_open(n_open, options))
        if clusters is None:
            return self._of_rows(observed, options)
        if _marks_rows(observed.losses, clusters, observed.values):
            return self._of_shares(observed, clusters, options)
        return self._of_rows(of_units(observed, self.question.clusters), options)

    def _of_rows(
        self, observed: LossDifference, interval: IntervalName, status: str = "ok"
    ) -> TestResult:
        """Independent observations, which may be clusters; no test where `status` is not "ok"."""
        values = observed.values
        n_tested = len(values)
        binary = self._counts_errors(observed)
        rule = self._rule(observed, interval) if binary else self._of_weighted_errors(observed)
        exact = isinstance(rule, (BinomialCounts, PairedCounts))
        score = isinstance(rule, WilsonScore)
        return self._result(
            observed,
            method=f"Hold-out {'score' if score else 'binomial' if exact else 't'} test",
            estimand=_in_words(observed, self._learn_size),
            estimator=mean_with_variance,
            reference="normal" if score else "exact binomial" if exact else "t",
            df=math.nan if exact or score else n_tested - 1.0,
            status=_status(observed) if rule is None and status == "ok" else status,
            rule=rule,
            settings={"test_size": n_tested, "interval": interval},
            diagnostics={"n_tested": n_tested, **(_counts(observed) if binary else {})},
            notes=(*_notes(observed, rule, binary=binary), *_weight_notes(rule)),
            tables={} if observed.paired or not binary else self._tables(observed, rule),
        )

    def _of_shares(
        self, observed: LossDifference, clusters: Clusters, interval: IntervalName
    ) -> TestResult:
        """Rows that are right or wrong, and not independent: rows of clusters."""
        estimator = partial(mean_with_variance, clusters=clusters)
        estimate, variance = estimator(observed)
        n_tested, n_groups = len(observed.values), clusters.n_groups
        tables: dict[str, dict[str, tuple[Any, ...]]] = {}
        rule: EffectiveCounts | MovedT
        if observed.paired:
            null = self.question.hypothesis.null_value
            n_effective, rule = share_difference(observed.values, clusters, null)
            kind, reference, df = "t", "t", n_groups - 1.0
        else:
            score = interval == "wilson"
            rule = EffectiveCounts(estimate, variance, n_tested, n_groups, score)
            n_effective = rule.n_effective(TABLE_ALPHA / 2)
            kind, reference = ("score", "normal") if score else ("binomial", "binomial")
            tables, df = self._share_tables(rule, estimate, math.sqrt(variance)), math.nan
        note = _effective_note(rule, n_effective, n_tested, n_groups, alike=variance <= ROUNDING)
        return self._result(
            observed,
            method=f"Hold-out {kind} test by clusters",
            estimand=_in_words(observed, self._learn_size),
            estimator=estimator,
            reference=reference,
            df=df,
            rule=rule,
            settings={"test_size": n_groups, "interval": interval},
            diagnostics={
                "n_tested": n_tested,
                "tested_groups": n_groups,
                **_counts(observed),
                "n_effective": n_effective,
            },
            notes=(*_rule_notes(observed), note),
            tables=tables,
        )

    def _of_metric(self, observed: LossDifference) -> TestResult:
        """Of a metric that is a function of means, or of ranks."""
        kind = RanksOfRules if _of_ranks(observed.losses) else MetricOfRules
        found = kind.of(observed, self.tested_clusters(observed))
        return self._result(
            observed,
            method="Hold-out test of a metric",
            estimand=_in_words(observed, self._learn_size),
            estimator=found.estimate_of,
            reference="t",
            df=found.df,
            status=found.status,
            rule=found.rule(self.question.hypothesis.null_value),
            settings={"test_size": len(observed.values)},
            diagnostics={"n_tested": len(observed.values), **found.diagnostics},
            notes=(*_rule_notes(observed), *found.notes),
            pictures=found.pictures,
        )

    def _counts_errors(self, observed: LossDifference) -> bool:
        """Whether every loss is a whole error or none; ties that a learner left open count half.

        Means over the rows of clusters are none, even where all of these are right or wrong.
        """
        errors = observed.losses.metric.counts_errors and self.question.clusters is None
        return errors and bool(np.isin(observed.values, (-1, 0, 1)).all())

    def _rule(self, observed: LossDifference, interval: IntervalName) -> Rule | None:
        """What error rates are judged by; None for Student's t."""
        values = observed.values
        if observed.paired:
            # No observation tells two rules apart: the exact test has an answer.
            never = observed.identical and not observed.design.learns
            return PairedCounts(0, 0, len(values)) if never else None
        if interval == "wilson":
            null = self.question.hypothesis.null_value
            return WilsonScore(float(values.mean()), len(values), null)
        return _binomial(values)

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

    def _tables(
        self, observed: LossDifference, rule: Rule | None
    ) -> dict[str, dict[str, tuple[Any, ...]]]:
        """Student's interval and the exact one, for the error rate of one learner."""
        values = observed.values
        rules: dict[str, Rule] = {"exact binomial": _binomial(values)}
        if isinstance(rule, WilsonScore):
            rules["wilson"] = rule
        return self._intervals(
            rules, float(values.mean()), float(stats.sem(values)), len(values) - 1.0
        )

    def _share_tables(
        self, rule: EffectiveCounts, estimate: float, se: float
    ) -> dict[str, dict[str, tuple[Any, ...]]]:
        """The same for rows of clusters, by their effective number."""
        rules: dict[str, Rule] = {
            "korn graubard": replace(rule, score=False),
            "wilson": replace(rule, score=True),
        }
        return self._intervals(rules, estimate, se, rule.n_groups - 1.0)

    def _intervals(
        self, rules: Mapping[str, Rule], estimate: float, se: float, df: float
    ) -> dict[str, dict[str, tuple[Any, ...]]]:
        """The table of intervals: Student's, and those of rules."""
        hypothesis = self.question.hypothesis
        null, alternative = hypothesis.null_value, hypothesis.alternative
        t_pvalue, *t_interval = _student(estimate, se, df, null, alternative)
        rows: list[tuple[Any, ...]] = [("t", *t_interval, t_pvalue)]
        for name, rule in rules.items():
            ends = rule.interval(alternative, TABLE_ALPHA)
            rows.append((name, *ends, rule.pvalue(null, alternative)))
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


def _marks_rows(losses: Losses, clusters: Clusters, values: np.ndarray | None = None) -> bool:
    """Whether rows, which count alike, are each right or wrong, and none is left open."""
    if clusters.weight != "row" or not losses.metric.counts_errors:
        return False
    values = losses.known_values if values is None else values
    return bool(np.isin(values, (-1, 0, 1)).all())


def _in_words(observed: LossDifference, size_of: Callable[[Design], int | str]) -> str:
    if not observed.design.learns:
        return of_these_rules(observed)
    words, size = observed.losses.in_words, size_of(observed.design)
    if observed.paired:
        rules = f"the two rules learnt on this one learning set of {size}"
        return f"difference of the {plural(words)} of {rules}"
    return f"{words} of the rule learnt on this one learning set of {size}"


def _left_open(n_open: int, interval: IntervalName) -> str:
    return (
        f"{n_open} predictions were left open between two classes (loss 1/2), which is neither "
        f"right nor wrong: use a rule for ties that decides, or leave interval={interval!r} out"
    )


def _status(observed: LossDifference) -> str:
    values = observed.values
    if observed.identical or np.ptp(values) > 0:
        return "ok"
    marked = values[0] in (0, 1) and observed.losses.loss == SCORE
    remedy = (
        "where 1 is right and 0 is wrong, make the losses by Losses.from_correct, whose interval "
        "is exact"
        if marked and not observed.paired
        else "test more observations, or use a loss that varies"
    )
    return (
        f"degenerate: all {len(values)} test observations have the same loss, which "
        f"leaves no variance to estimate; {remedy}"
    )


def _weight_notes(rule: Rule | None) -> tuple[str, ...]:
    if not isinstance(rule, PlusFour):
        return ()
    return (
        f"With their weights observations tell as much as {rule.n_obs:.3g} of equal weight do "
        "(Kish's effective number), to which the interval adds four, two of them errors.",
    )


def _counts(observed: LossDifference) -> dict[str, int]:
    name = "n_disagreements" if observed.paired else "n_errors"
    return {name: int(np.count_nonzero(observed.values))}


def _rule_notes(observed: LossDifference) -> tuple[str, ...]:
    """What the answer is about."""
    if not observed.design.learns:
        return (THESE_RULES,)
    whom = "these two rules" if observed.paired else "this rule"
    return (
        f"Conditional: a statement about {whom}, on one split of the sample, and not about "
        "what another learning set would have led to.",
    )


def _notes(observed: LossDifference, rule: Rule | None, *, binary: bool) -> tuple[str, ...]:
    notes = _rule_notes(observed)
    if isinstance(rule, BinomialCounts):
        return (*notes, "p-value and interval are the exact binomial ones (Clopper and Pearson).")
    if isinstance(rule, WilsonScore):
        return (*notes, "p-value and interval are those of the score test (Wilson).")
    if isinstance(rule, PairedCounts):
        return (
            *notes,
            "The two rules are right and wrong on the same observations: p-value and interval are "
            "those of McNemar's exact test.",
        )
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


def _effective_note(
    rule: Rule, n_effective: float, n_tested: int, n_groups: int, *, alike: bool
) -> str:
    """How rows of clusters are counted, and what became of them."""
    worth = f"The {n_tested} rows count as {n_effective:.3g} independent ones"
    if alike:
        worth = f"Clusters do not differ, so the {n_tested} rows count as {n_groups}, their number"
    if isinstance(rule, MovedT):
        return (
            f"{worth}. One right and one wrong observation are added to these (Agresti and Min "
            "2005): the interval moves towards 0, and stays within -1 and 1."
        )
    score = isinstance(rule, EffectiveCounts) and rule.score
    kind = "that of Wilson's score test" if score else "the exact binomial one"
    return f"{worth} (Korn and Graubard 1998), and the interval is {kind} for so many."


def _student(
    estimate: float, se: float, df: float, null: float, alternative: Alternative
) -> tuple[float, ...]:
    """p-value and 95% interval; NaN where nothing varies, or nothing is tested."""
    if not se > 0:
        return (math.nan, math.nan, math.nan)
    low, high = wald_interval(estimate, se, "t", df, alternative, TABLE_ALPHA)
    return (wald_pvalue((estimate - null) / se, "t", df, alternative), low, high)


def _binomial(values: np.ndarray) -> BinomialCounts:
    return BinomialCounts(int(values.sum()), len(values))
