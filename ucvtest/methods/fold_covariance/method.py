"""The K-fold cross-validation test after Bengio and Grandvalet (2005)."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.data.groups import GroupWeight, units_of
from ucvtest.data.missing import Missing
from ucvtest.designs.draws import draw_orders, fold_numbers
from ucvtest.designs.schemes import KFold, NamedDesign
from ucvtest.designs.structure import folds_of
from ucvtest.evaluation.time_budget import check_fits
from ucvtest.inference.from_losses import FromLosses, LossesHeader, refuse_shared_seconds
from ucvtest.inference.notes import (
    learn_size,
    one_class_and_tie_notes,
    own_diagnostics,
    own_tables,
    reuse_notes,
    sizes_in_words,
)
from ucvtest.learners.adapters.translate import Backend
from ucvtest.methods.fold_covariance import reporting
from ucvtest.methods.fold_covariance.decomposition import Decomposition
from ucvtest.methods.fold_covariance.losses import cross_validated_losses, range_width
from ucvtest.methods.fold_covariance.options import (
    Estimator,
    Options,
    Rho,
    assumed_rho,
    checked_estimator,
    checked_folds,
    checked_repeats,
)
from ucvtest.metrics.loss import Loss
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import Alternative

__all__ = ["FoldCovarianceTest"]

ESTIMATE_WORDS = {"jackknife": "jackknife error", "cross_validation": "cross-validation error"}


class FoldCovarianceTest(FromLosses):
    r"""Test of a K-fold cross-validation error, or of the difference of two.

    Estimand: the expected loss (difference) of the rule(s) learnt on n - n/K random
    observations, at a new observation. H0: it equals `null_value`. The estimate is the mean
    over all observations, each tested by the rule learnt without its fold. Its variance has
    no unbiased estimate; the result says what can be known of it, and gives a test under an
    assumption about rho, the correlation of the mean losses of two folds.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "lasso:0.08", or a callable ``(X_train, y_train, X_test) -> predictions``. It must
        not depend on the order of the learning rows.
    other : learner, optional
        The learner to compare with, on the same folds; the estimate is `learner` minus
        `other`.
    n_folds : int
        K, from 2 to n (leave-one-out). Folds are random, without regard to classes; their
        sizes differ by one where n is not a multiple of K.
    estimator : {"cross_validation", "jackknife"}
        The mean cross-validated loss, or the jackknife estimate of the error of the rule
        learnt on all n observations, which corrects the loss on the learning set.
    null_value, alternative, loss, scoring, pos_label, missing, groups, group_weight, backend
        See `HypothesisTest`.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Assumes independent observations and learners that do not depend on the order of rows.
    The t reference takes fold means to be normal; neither that nor any value of rho is
    guaranteed, so the test can be liberal or conservative: it is as good as its rho. Cost:
    K fits of each learner for each repetition, one more for the jackknife.

    `from_losses` admits the loss of every observation under K-fold cross-validation, also
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
    takes_groups = True
    admits = "K-fold cross-validation, also repeated, with the loss of every observation"
    needs_values = True

    loss: Loss
    n_folds: int
    estimator: Estimator
    _given_folds: np.ndarray | None = None
    """Folds of the design of given losses, (R, n); None where `fit` draws them."""

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        n_folds: int = 10,
        estimator: Estimator = "cross_validation",
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        loss: Any = None,
        pos_label: Any = None,
        groups: Any = None,
        group_weight: GroupWeight = "group",
        backend: Backend = "auto",
        scoring: Any = None,
        missing: Missing = "raise",
    ) -> None:
        super().__init__(
            X,
            y,
            learner,
            other,
            null_value=null_value,
            alternative=alternative,
            loss=loss,
            pos_label=pos_label,
            groups=groups,
            group_weight=group_weight,
            backend=backend,
            missing=missing,
            scoring=scoring,
        )
        self.n_folds = checked_folds(n_folds, self.n_units, units_of(self.clusters))
        self.estimator = checked_estimator(estimator)
        self._check_learners(self._problem.learnt_rows(self.learn_sizes[0]))

    def _take(self, header: LossesHeader) -> None:
        folds = folds_of(header.design)
        sizes = header.design.test_sizes
        if sizes[-1] - sizes[0] > 1:
            raise ValueError(
                f"the design has folds of {sizes[0]} to {sizes[-1]} observations, and the test "
                "needs folds of equal size, to within one observation: use uv.designs.KFold"
            )
        header.check_losses()
        self._given_folds = folds
        self.n_folds = int(folds.max()) + 1
        self.estimator = "cross_validation"

    def _shared_design(
        self, fit_options: Mapping[str, Any]
    ) -> tuple[NamedDesign | None, Mapping[str, Any]]:
        refuse_shared_seconds(self.method_name, fit_options)
        # The jackknife needs losses on learning sets too, which no design has.
        if self.estimator == "jackknife":
            return None, fit_options
        others = dict(fit_options)
        return KFold(self.n_folds, others.pop("n_repeats", 1)), others

    @property
    def fold_sizes(self) -> tuple[int, ...]:
        """Number of observations in each fold."""
        folds = self._given_folds
        if folds is None:
            # Which observations are in a fold is drawn, and how many is not.
            folds = fold_numbers(np.arange(self.n_units)[None], self.n_folds)
        return tuple(np.bincount(folds[0]).tolist())

    @property
    def learn_sizes(self) -> tuple[int, ...]:
        """The different sizes of the learning sets, ascending."""
        return tuple(sorted({self.n_units - size for size in self.fold_sizes}))

    @property
    def estimand(self) -> str:
        """The estimand in words."""
        size = sizes_in_words(self.learn_sizes)
        if self.estimator == "jackknife":
            size = f"{self.n_units}, by the jackknife"
        if not self.paired:
            return f"unconditional {self.loss.in_words} at learning-set size {size}"
        return f"difference of unconditional {self.loss.plural} at learning-set size {size}"

    def fit(
        self,
        rho: Rho = "nadeau_bengio",
        n_repeats: int = 1,
        *,
        max_seconds: float | None = None,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Cross-validate, describe the covariance of the losses, and test.

        Parameters
        ----------
        rho : float, "nadeau_bengio" or None
            Assumed correlation of the mean losses of two folds, in (-1/(K - 1), 1), which
            turns the estimable part of the variance into a variance. "nadeau_bengio" is 1/K,
            the share of observations that are tested. None gives no test, only what can be
            known without an assumption.
        n_repeats : int
            Repetitions with new random folds, whose results are averaged. Each reduces the
            part of the variance that is due to the choice of folds, and that part alone.
            Given losses have the repetitions of their design.
        max_seconds : float, optional
            Refuse folds that take longer, about, before the first fit: some are timed. The
            number of fits is that of folds and repetitions and never cut short.
        rng, n_jobs, batch_size, progress
            See `HypothesisTest.fit`.

        Returns
        -------
        TestResult
            Its tables hold the moments, the variances with the test that each would give, and
            the p-value at several rho; its pictures are "admissible" and "sensitivity".

        Raises
        ------
        ValueError
            If an argument cannot be used, `max_seconds` does not suffice, or a learner fails on a
            split.
        """
        options = self._options(rho, n_repeats)
        return self._fit(options, rng, n_jobs, batch_size, progress, max_seconds)

    def _options(self, rho: Rho = "nadeau_bengio", n_repeats: int = 1) -> Options:
        """The options of `fit`, validated."""
        n_given = None if self._given_folds is None else len(self._given_folds)
        assumed = assumed_rho(rho, self.n_folds)
        repeats = checked_repeats(n_repeats, self.n_folds, self.n_units, n_given)
        return Options(rho, assumed, repeats)

    def _answer(self, options: Options, execution: Execution) -> TestResult:
        folds = self._given_folds
        if folds is None:
            orders = draw_orders(execution.generator, options.n_repeats, self.n_units)
            folds = fold_numbers(orders, self.n_folds)
            self._refuse_seconds(len(folds), execution)
        source = self._source(execution)
        e, *each = cross_validated_losses(
            folds, self.n_folds, self.estimator, execution.generator, source
        )
        found = Decomposition(
            e=e,
            folds=folds,
            width=range_width(self.loss.bounds, self.n_folds, self.estimator, paired=self.paired),
            jackknife=self.estimator == "jackknife",
            hypothesis=self.hypothesis,
            rho=options.assumed,
            name=options.name,
        )
        status = reporting.status(found, identical=source.identical)
        settings = self._settings() | self._own_settings(options, execution)
        own = reporting.own_values(found, each, settings)
        return TestResult(
            **vars(found.studentised(found.variance(found.rho), status)),
            method=f"Fold covariance test of the K-fold {ESTIMATE_WORDS[self.estimator]}",
            estimand=self.estimand,
            n_obs=self.n_obs,
            n_fits=source.n_fits,
            elapsed=math.nan,
            settings=settings,
            diagnostics=reporting.diagnostics(found) | own_diagnostics(own) | source.counts,
            notes=(
                *reporting.notes(found),
                *one_class_and_tie_notes(source.counts),
                *reuse_notes(self._given),
            ),
            tables=own_tables(own) | reporting.tables(found),
            pictures=reporting.pictures(found),
            assumption=reporting.assumption(found),
        )

    def _refuse_seconds(self, n_repeats: int, execution: Execution) -> None:
        """Refuse folds that take longer than there is time."""
        n_learners, n_sets = len(self.learners), n_repeats * self.n_folds
        needed = n_learners * (n_sets + (self.estimator == "jackknife"))
        execution.announce_total(needed)
        check_fits(
            self._problem,
            self._problem.learnt_rows(self.n_units - min(self.fold_sizes)),
            needed,
            execution,
            why=f"{n_repeats} x {self.n_folds} folds of {n_learners} learners have {needed}",
            remedy="fewer folds or repeats",
        )

    def _own_settings(self, options: Options, execution: Execution) -> dict[str, Any]:
        return {
            "learn_size": learn_size(self.learn_sizes),
            "n_folds": self.n_folds,
            "estimator": self.estimator,
            "rho": options.rho,
            "n_repeats": options.n_repeats,
            **({"rng": execution.seed} if self._given is None else {}),
        }
