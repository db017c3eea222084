"""The K-fold cross-validation test after Bengio and Grandvalet (2005)."""

from collections.abc import Mapping
from typing import Any, Unpack

from ucvtest.common.execution import Execution
from ucvtest.data.groups import units_of
from ucvtest.designs.design import learn_size
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.designs.schemes import KFold
from ucvtest.inference.answer import Answer
from ucvtest.inference.arguments import Ask
from ucvtest.inference.base import HypothesisTest, fit_by
from ucvtest.inference.needs import Needs
from ucvtest.inference.question import DataQuestion, Question
from ucvtest.methods.fold_covariance.estimation import estimate
from ucvtest.methods.fold_covariance.options import (
    Estimator,
    FoldCovarianceOptions,
    FoldScheme,
    Options,
)
from ucvtest.methods.fold_covariance.reporting import answer_from
from ucvtest.metrics.base import when_learning_from


class FoldCovarianceTest(HypothesisTest):
    r"""Test of a K-fold cross-validation error, or of the difference of two.

    Estimand: the expected loss (difference) of the rule(s) learnt on n - n/K random
    observations, at a new observation. H0: it equals `null_value`. The estimate is the mean
    over all observations, each tested by the rule learnt without its fold. Its variance has no
    unbiased estimate. The result reports the parts of the variance that can be estimated, and a
    test that assumes a value of rho, the correlation of the mean losses of two folds.

    Parameters
    ----------
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "lasso:0.08", or a callable ``(X_train, y_train, X_test) -> predictions``. It must
        not depend on the order of the learning rows.
    n_folds : int
        K, from 2 to n (leave-one-out). Folds are random, without regard to classes; their
        sizes differ by one where n is not a multiple of K.
    estimator : {"cross_validation", "jackknife"}
        The mean cross-validated loss, or the jackknife estimate of the error of the rule
        learnt on all n observations, which corrects the loss on the learning set.

    Notes
    -----
    Assumes independent observations and learners that do not depend on the order of rows.
    The t reference assumes normal fold means. Neither that nor any value of rho is guaranteed: the
    test rejects too often if rho is assumed too small, and is conservative if it is assumed too
    large. Cost: K fits of each learner for each repetition, one more for the jackknife.

    `from_losses` accepts the loss of every observation under K-fold cross-validation, also
    repeated, whose folds differ in size by one at most. The design decides the number of
    repetitions. The jackknife, which needs losses on learning sets, is not available.

    References
    ----------
    Y. Bengio, Y. Grandvalet (2005), Bias in estimating the variance of K-fold
    cross-validation: (5.3), (5.4), (5.6), (5.12), Theorem 5.1, Lemmas 5.4 and 5.5. Errata: s2
    of (5.12) does not exist for leave-one-out; "thus asymptotically normal" in section 2.5 is
    not justified for dependent losses. rho: C. Nadeau, Y. Bengio (2003), Inference for the
    generalization error.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> test = uv.FoldCovarianceTest(X[50:, :2], y[50:], "lda", "knn:1", n_folds=10)
    >>> result = test.fit(rho="nadeau_bengio", rng=0)
    >>> result.status, result.n_fits
    ('ok', 20)
    >>> bool(result.variance > result.diagnostics["naive_variance"])
    True
    """

    method_name = "fold_covariance"
    in_short = "10 folds, with limits for their own variance"
    needs = Needs(
        designs="K-fold cross-validation, also repeated, with the loss of every observation",
        clusters="units",
    )

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        n_folds: int = 10,
        estimator: Estimator = "cross_validation",
        **ask: Unpack[Ask],
    ) -> None:
        self._ask(self.question_of(X, y, learner, other, **ask), n_folds, estimator)

    def _ask(
        self, question: Question, n_folds: int = 10, estimator: Estimator = "cross_validation"
    ) -> None:
        super()._ask(question)
        if isinstance(question, DataQuestion):
            units = units_of(question.clusters)
            self._scheme = FoldScheme.of(n_folds, estimator, question.n_units, units)
            fewest = self._scheme.learn_sizes[0]
            self.question = question.ready(question.problem.learnt_rows(fewest))
        else:
            assert question.design is not None
            self._scheme = FoldScheme.of_design(question.design)

    def shared_design(
        self, fit_options: Mapping[str, Any]
    ) -> tuple[NamedDesign | None, Mapping[str, Any]]:
        """See `HypothesisTest.shared_design`."""
        # The jackknife also needs losses on learning sets, which designs do not have.
        if self._scheme.jackknife:
            return None, fit_options
        other_options = dict(fit_options)
        return KFold(self._scheme.n_folds, other_options.pop("n_repeats", 1)), other_options

    @property
    def n_folds(self) -> int:
        """K."""
        return self._scheme.n_folds

    @property
    def estimator(self) -> Estimator:
        """The estimator: "cross_validation" or "jackknife"."""
        return self._scheme.estimator

    @property
    def fold_sizes(self) -> tuple[int, ...]:
        """Number of observations in each fold."""
        return self._scheme.fold_sizes

    @property
    def learn_sizes(self) -> tuple[int, ...]:
        """The different sizes of the learning sets, ascending."""
        return self._scheme.learn_sizes

    @property
    def estimand(self) -> str:
        """The estimand in words."""
        loss, scheme = self.question.metric, self._scheme
        units = units_of(self.question.clusters, "clusters")
        subject = f"difference in {loss.in_words}" if self.question.paired else loss.in_words
        if scheme.jackknife:
            return f"{subject} {when_learning_from(scheme.n_units, units)}, by the jackknife"
        return f"{subject} {when_learning_from(learn_size(scheme.learn_sizes), units)}"

    @fit_by(Options)
    def fit(self) -> None:
        """Cross-validate, describe the covariance of the losses, and test.

        Parameters
        ----------
        rho : float, "nadeau_bengio" or None
            Assumed correlation of the mean losses of two folds, in (-1/(K - 1), 1). With it, the
            estimable part of the variance gives the variance. "nadeau_bengio" is 1/K, the share
            of observations that are tested. None gives no test, only what can be estimated
            without an assumption.
        n_repeats : int
            Repetitions with new random folds, whose results are averaged. They reduce only the part
            of the variance that is due to the choice of folds. Given losses have the repetitions
            of their design.

        Returns
        -------
        TestResult
            Its tables contain the moments, the variances with the test that each would give, and
            the p-value at several rho; its pictures are "admissible" and "sensitivity".
        """

    def resolved(self, options: Options) -> FoldCovarianceOptions:
        """See `HypothesisTest.resolved`."""
        return FoldCovarianceOptions.of(options, self._scheme)

    def _answer(self, options: FoldCovarianceOptions, execution: Execution) -> Answer:
        question, scheme = self.question, self._scheme
        method_settings = scheme.settings | options.settings | question.seed_settings(execution)
        return answer_from(
            *estimate(question, scheme, options, execution),
            scheme.estimator,
            estimand=self.estimand,
            settings=method_settings,
        )
