"""Standard errors of cross-validated AUC and error rate by influence functions (Yousef)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.evaluation.loss_source import PrecomputedLosses
from ucvtest.evaluation.problem import check_two_classes
from ucvtest.inference.answer import Answer
from ucvtest.inference.arguments import Ask, Run, spelled_out
from ucvtest.inference.base import HypothesisTest, fit_by
from ucvtest.inference.finish import reported_row
from ucvtest.inference.needs import Needs
from ucvtest.inference.question import DataQuestion, Question
from ucvtest.methods.influence.estimation import InfluenceEstimates, estimate, estimates_from
from ucvtest.methods.influence.options import (
    SINGLE,
    InfluenceOptions,
    Layout,
    MetricName,
    NumberOfRepeats,
    Options,
    Scheme,
    named_loss,
)
from ucvtest.methods.influence.precomputed import GivenLayout, layout_of_losses
from ucvtest.methods.influence.reporting import answer_from, option_settings, records
from ucvtest.methods.influence.variances import study_variances

if TYPE_CHECKING:
    import pandas as pd


class InfluenceFunctionTest(HypothesisTest):
    r"""Standard error and test of a cross-validated AUC or error rate, or of a difference of two.

    Estimand: the expected AUC (error rate) of the rule(s) learnt on learning sets of the scheme's
    size, at new observations. H0: it equals `null_value`; by default 1/2 for one AUC, 0 for a
    difference. The standard error comes from the influence of each observation on the
    cross-validated estimate, through the tested values and through the training sets that are
    drawn.

    Parameters
    ----------
    y : array-like, shape (n,)
        Two classes for the AUC, two or more for the error rate.
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as "lda", or
        a callable ``(X_train, y_train, X_test)`` that returns scores which rise with the
        positive class (for the AUC) or labels (for the error rate).
    n_folds : int
        K: 1/K of each class (AUC) or of all observations (error rate) is tested at a time. The
        schemes "leave_one_out" and "bootstrap" do not use it.
    metric : {"auc", "error"}, optional
        The same as `loss`: "auc", or "error" for "zero_one".
    loss : {"auc", "zero_one"}, optional
        The estimand: the AUC, by default, or the error rate.

    Notes
    -----
    Assumes independent observations and learners that do not depend on the order of rows. Cost:
    one fit of each learner for each learning set, and O(M n1K n0K) operations for M learning sets
    that test n1K and n0K observations.

    **Reference.** It is the normal distribution. With the variance "jackknife" it is Student's t,
    with Welch's degrees of freedom from the two classes (n - 1 for the error rate), and one AUC is
    tested on the logit scale, where its interval stays between 0 and 1. Whether an AUC exceeds 1/2
    is better answered by a permutation test.

    **The influence variance** is biased down in small samples, most where few training sets are
    possible: by 25% of the standard deviation on average with 10 observations in a class, 16% with
    20 and 10% with 60 (the paper's tables 1 to 3). The ad-hoc variances treat folds as independent;
    they are biased too, but often less (`compare_variances` shows all). Tests with these variances
    reject too often. At the nominal 5% level, two learners with equal AUCs were declared different
    in 25%, 14%, 10% and 7% of simulated data sets with 5, 10, 20 and 60 observations in a class,
    and an AUC of 1/2 was rejected in 29%, 21%, 15% and 12%; with the ad-hoc variances in up to 19%,
    13%, 11% and 9%, and 25%, 24%, 26% and 26% (studies/reproductions/influence_size.py).

    **The variance "jackknife"**, the default for the AUC, repairs this. Terms II and III treat the
    draws of a learning set as draws with replacement. They therefore give only 1 - g_c/n_c of the
    effect of the training sets (1/5 with five folds, 1/25 of its variance), where g_c of n_c
    observations are learnt from. With the factor (n_c - 1)/(n_c - g_c - 1) on II - III and the
    divisor n_c (n_c - 1), the variance from all possible repeats is exactly the delete-one
    jackknife. Its expectation is at least the true variance of the estimate from all learning sets.
    The repeats are dealt to up to 16 groups, and squares of influence values are products of
    different groups, so that Monte-Carlo noise does not add to them. The jackknife exceeds the
    variance by the effects of pairs and larger sets of observations. With learning sets of half of
    each class, `UStatisticTest` knows by how much: the variance "share" multiplies the jackknife by
    that share, at most 1. It is not proved that the share does not increase with learning sets of
    the folds' size; in simulations the intervals kept their level.

    **Other software.** The leave-one-out bootstrap of R's riskRegression (``Score``,
    ``split.method = "loob"``) draws from the whole sample and otherwise has the same estimates. Its
    standard error is that of the variance "term_1" times sqrt(n/(n - 1)), which ignores how
    training sets vary.

    **K-fold and leave-one-out cross-validation** are not smooth: each observation is tested by one
    rule only. The influence variance is then the naive one, for independent values.

    **Repeated K-fold cross-validation.** The paper leaves open the derivative of the probability G
    of a partition. Draw the training set of a pair as in Lemma 2. The rest is the fold of the
    tested observation, and the training set is divided into the other K - 1 folds at random. The
    score of the pair does not depend on that division, which sums out. This leaves (dG/d epsilon)/G
    = n1K - n1 I_i of (42b), with I_i = 1 if i is in the tested fold. G must be normalised for each
    pair, as in (11); that term is missing in (27a). The limit for many repeats is then that of
    Monte-Carlo cross-validation, as it must be. (If the probability of the whole partition were
    perturbed instead, ignoring the order of its folds, its derivative would be zero and only term I
    would remain.) Tests check both statements by enumerating all orders in which the observations
    can be drawn.

    **Given losses.** `from_losses` accepts, for the error rate, zero-one losses under K-fold
    cross-validation (also repeated, or leave-one-out) and under random splits; for the AUC, scores
    (loss "auc") under repeated K-fold cross-validation and random splits that keep the classes in
    proportion (as ``StratifiedKFold`` and ``StratifiedShuffleSplit`` do), and leave-pair-out. Every
    observation (pair of the AUC) must be tested at least once.

    References
    ----------
    W. A. Yousef, Estimating the standard error of cross-validation-based estimators of
    classifier performance: Lemmas 2 and 3, (6)-(10), (27). Errata: the sign of term III in
    (19); terms II and III of draws without replacement. B. Efron, R. Tibshirani (1997),
    Improvements on cross-validation: the .632+ bootstrap method. W. A. Yousef, R. F. Wagner,
    M. H. Loew (2005), Estimating the uncertainty in the estimated mean area under the ROC curve
    of a classifier.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> test = uv.InfluenceFunctionTest(X[50:, :2], y[50:], "lda", "knn:5")
    >>> result = test.fit(rng=0)
    >>> result.status
    'ok'
    >>> bool(abs(result.estimate) < 0.1)
    True
    """

    method_name = "influence"
    in_short = "repeated splits, variance by the influence function"
    needs = Needs(
        designs="zero-one losses under K-fold cross-validation, also repeated, or random splits of "
        "one size; scores under repeated K-fold cross-validation or random splits with as many of "
        "each class in every test set, or leave-pair-out",
        metrics=("zero_one", "auc"),
        clusters="rows",
    )

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        n_folds: int = 5,
        metric: MetricName | None = None,
        **ask: Unpack[Ask],
    ) -> None:
        ask["loss"] = named_loss(ask.get("loss"), metric, ask.get("scoring"))
        self._ask(self.question_of(X, y, learner, other, **ask), n_folds)

    def _ask(self, question: Question, n_folds: int = 5) -> None:
        super()._ask(question)
        if isinstance(question, DataQuestion):
            if question.metric.ranks_pairs:
                check_two_classes(question.sample, "metric", "error")
            self._layout = Layout.of(question, n_folds)
            fewest = self._layout.learn_sizes("repeated")[0]
            self.question = question.ready(question.problem.learnt_rows(fewest))
        else:
            self._layout = layout_of_losses(question)

    @property
    def metric(self) -> MetricName:
        """The estimand: "auc" or "error"."""
        return self._layout.metric

    @property
    def n_folds(self) -> int:
        """K; for given losses, the number in their design."""
        return self._layout.n_folds

    @property
    def class_members(self) -> tuple[np.ndarray, ...]:
        """The classes resampled separately: positives and negatives (AUC), or all (error rate)."""
        return self._layout.classes

    @fit_by(Options)
    def fit(self) -> None:
        """Estimate, studentise and test.

        Parameters
        ----------
        n_repeats : int or "auto"
            "auto" makes 4000 fits of each learner, 2000 if not all learners are jitted, and at
            least 20 repeats; "kfold" and "leave_one_out" have one. With "monte_carlo" and
            "bootstrap" more are drawn while some pair (observation) has never been tested, until
            the probability of that is below one in a million; a limit on fits that is too low for
            this is refused.
        scheme : {"monte_carlo", "repeated", "bootstrap", "kfold", "leave_one_out"}, optional
            The resampling in each repeat; by default "monte_carlo", or the scheme of the design of
            given losses. "monte_carlo": one fold of each class is tested. "repeated": a partition
            into folds; all combinations of a fold of positives and a fold of negatives are tested
            in turn (K^2 fits; K for the error rate). "kfold": the same once. "leave_one_out": every
            positive with every negative (every observation) is left out once. "bootstrap": a
            bootstrap sample of each class is the learning set, and the rest is tested
            (leave-pair-out bootstrap; leave-one-out for the error rate).
        variance : str
            The variance estimate to studentise with; all that exist for the scheme are reported.

            - "auto" is "jackknife" for the AUC, and with groups, where it exists; otherwise
              "influence".
            - "jackknife" is the paper's with the full effect of the training sets (see the notes of
              the class). It exists for "monte_carlo", and for "repeated" if the folds of a class
              have one size and at least two observations.
            - "influence" is the paper's variance, which is too small in small samples.
            - "share" is the jackknife variance times a share estimated with half of the sample, for
              the AUC (1200 further fits of each learner, or 10 n; reported only on request).
            - "term_1" ignores the training sets.
            - "adhoc_1", "adhoc_2", "adhoc_3" and "adhoc_3_mle" are (8a-8c), averaged over repeats,
              for "repeated", "kfold" and "leave_one_out". For the error rate "adhoc_1" is (6); the
              next two equal it.
            - "adhoc_monte_carlo" is (10), for "monte_carlo".
        max_fits : int, optional
            Largest number of model fits for "auto" repeats.
        max_seconds : float, optional
            Approximate limit on the seconds of the fits: some fits are timed, and `max_fits`
            becomes the number that fits into the time. The same `max_fits` and `rng` repeat the
            result.
        """

    def resolved(self, options: Options) -> InfluenceOptions:
        """See `HypothesisTest.resolved`."""
        return self._layout.resolved(self.question, options)

    def least_fits(self, options: InfluenceOptions) -> int:
        """See `HypothesisTest.least_fits`."""
        layout = self._layout
        assert isinstance(layout, Layout)
        return options.least_fits(layout, len(self.learners))

    def within_fits(self, options: InfluenceOptions, most_fits: int) -> InfluenceOptions:
        """See `HypothesisTest.within_fits`."""
        layout = self._layout
        assert isinstance(layout, Layout)
        return options.within_fits(layout, self.learners, most_fits)

    @spelled_out
    def compare_variances(
        self,
        n_repeats: NumberOfRepeats = "auto",
        schemes: Sequence[Scheme] = ("monte_carlo", "repeated", "kfold", "bootstrap"),
        **run: Unpack[Run],
    ) -> "pd.DataFrame":
        """All variance estimates of several schemes side by side.

        Parameters
        ----------
        n_repeats : int or "auto"
            Number of repeats for each scheme that has repeats; "auto" as in `fit`.
        schemes : sequence of str
        rng, n_jobs, batch_size, progress
            See `HypothesisTest.fit`.

        Returns
        -------
        DataFrame
            One row for each scheme and variance: estimate (AUC or error rate), sd (the
            square root of the variance), its 95% interval and p-value, model fits, status.

        Raises
        ------
        ValueError
            If an argument cannot be used, or a learner fails on a split.

        Examples
        --------
        >>> import ucvtest as uv
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> test = uv.InfluenceFunctionTest(X[50:, :2], y[50:], "lda")
        >>> frame = test.compare_variances(50, ("monte_carlo", "repeated"), rng=0)
        >>> list(frame["variance"])  # doctest: +NORMALIZE_WHITESPACE
        ['influence', 'jackknife', 'term_1', 'adhoc_monte_carlo',
         'influence', 'jackknife', 'term_1', 'adhoc_1', 'adhoc_2', 'adhoc_3', 'adhoc_3_mle']
        """
        question, layout = self.question, self._layout
        question.data("compare_variances")
        if (
            not isinstance(schemes, (list, tuple))
            or not schemes
            or not all(isinstance(scheme, str) for scheme in schemes)
        ):
            raise ValueError(
                f"schemes must be a sequence of names, got {schemes!r:.60}: use ('repeated',)"
            )
        import pandas as pd

        listed = [
            layout.resolved(question, Options("auto" if scheme in SINGLE else n_repeats, scheme))
            for scheme in schemes
        ]
        execution = question.execution(**run)
        rows: list[dict[str, Any]] = []
        with question.fitting(self, self.method_name, run.get("progress")) as bar:
            for options in listed:
                estimates = self._estimates(options, replace(execution, bar=bar))
                studied = study_variances(question.hypothesis, layout, options.scheme, estimates)
                variance_records = records(options.scheme, estimates.source.n_fits, studied)
                rows += [reported_row(question, row) for row in variance_records]
        return pd.DataFrame(rows)

    def _estimates(self, options: InfluenceOptions, execution: Execution) -> InfluenceEstimates:
        """Estimate and influence values, from fits or from given losses."""
        layout, losses = self._layout, self.question.observed
        if losses is not None and isinstance(layout, GivenLayout):
            source = PrecomputedLosses(losses, layout.order)
            return estimates_from(layout, layout.resamples, source, execution.generator)
        return estimate(self.question.data("a repeat"), layout, options, execution)

    def _answer(self, options: InfluenceOptions, execution: Execution) -> Answer:
        question, layout = self.question, self._layout
        if options.max_seconds is not None:
            options = options.within(layout, question.data("a repeat"), execution)
        estimates = self._estimates(options, execution)
        method_settings = option_settings(layout, options) | question.seed_settings(execution)
        return answer_from(layout, options, estimates, question, method_settings)
