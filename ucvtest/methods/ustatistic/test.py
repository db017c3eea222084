"""The U-statistic test of Fuchs, Hornung, De Bin and Boulesteix (2013)."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from ucvtest import hooks
from ucvtest.common.runtime import Execution, progress_bar
from ucvtest.inference.from_losses import FromLosses, LossesHeader, refuse_arguments
from ucvtest.inference.report import own_diagnostics, own_tables, reuse_notes
from ucvtest.learners.adapters.translate import Backend
from ucvtest.losses.loss import Loss
from ucvtest.methods.ustatistic import report, run
from ucvtest.methods.ustatistic.kappa import KappaProfile, complete_profile, sampled_profile
from ucvtest.methods.ustatistic.plan import (
    DEFAULT_TOL,
    GivenPairs,
    NumberOfPairs,
    Options,
    ProfileOptions,
    Sizes,
    Variance,
)
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import Alternative

__all__ = ["UStatisticTest"]


class UStatisticTest(FromLosses):
    r"""Test of an error rate, or of the difference of two, over all learning sets of one size.

    Estimand: the expected loss (difference) of the rule(s) learnt on a random learning set
    of `learn_size` observations, at a new observation: an unconditional error. H0: it
    equals `null_value`. The estimate is the mean over all splits into a learning set of
    this size and a test set (leave-p-out), the unbiased estimate with the smallest
    variance.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "lasso:0.08", or a callable ``(X_train, y_train, X_test) -> predictions``. It must
        not depend on the order of the learning rows.
    other : learner, optional
        The learner to compare with; the estimate is `learner` minus `other`.
    learn_size : int, optional
        Number of observations to learn from, g; by default floor(n/2) - 1, the largest
        for which every variance exists.
    null_value, alternative, loss, pos_label, groups, backend
        See `HypothesisTest`.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Assumes independent observations and deterministic learners. The normal reference of
    the variances "unbiased" and "asymptotic" is the paper's; at small n both are liberal
    (the paper's 95% interval covers about 80% over 60 simulated settings with n = 60).
    "clipped", the default, covers 94% there and "jackknife" 96%. With more features than
    observations and skewed losses all of them can fall below their level. Cost: two fits
    of each learner for each pair, and O(n^2) operations.

    What each of two learners reaches alone, in the table "Learners", is its mean loss over the
    fits, with the standard error of its own delete-one jackknife variance: NaN where too few
    pairs are drawn to tell it.

    `from_losses` admits the loss of every observation under disjoint learning sets of one size
    drawn in pairs, each tested on all others (`uv.designs.DisjointSets`). Their number is that of
    the design: nothing is added where it is too small, and the status says so. There is no
    asymptotic variance then, which needs further fits.

    References
    ----------
    M. Fuchs, R. Hornung, R. De Bin, A.-L. Boulesteix (2013), A U-statistic estimator for
    the variance of resampling-based error estimators: (10), (15), Theorem 4.1. Erratum:
    the second case of Theorem 4.1 is biased down, not up.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> test = uv.UStatisticTest(X[50:, :2], y[50:], "lda", "nearest_centroid", learn_size=30)
    >>> result = test.fit(n_pairs=500, rng=0)
    >>> result.status
    'ok'
    >>> bool(abs(result.estimate) < 0.1)
    True
    """

    method_name = "ustatistic"
    admits = (
        "disjoint learning sets of one size drawn in pairs (DisjointSets), with the loss of every "
        "other observation"
    )

    loss: Loss
    learn_size: int
    _pairs: GivenPairs | None = None
    """Of a test that was made from losses."""

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        learn_size: int | None = None,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        loss: Any = None,
        pos_label: Any = None,
        groups: None = None,
        backend: Backend = "auto",
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
            backend=backend,
        )
        self.learn_size = Sizes.checked(self.n_obs, learn_size).learn_size
        self._check_learners(self.learn_size)

    def _take(self, header: LossesHeader) -> None:
        self._pairs = GivenPairs.of(header.design)
        self.learn_size = header.design.learn_sizes[0]
        header.check_losses()

    @property
    def disjoint(self) -> bool:
        """Whether n >= 2g + 2, so that the unbiased variance exists."""
        return self._sizes.disjoint

    @property
    def _sizes(self) -> Sizes:
        return Sizes(self.n_obs, self.learn_size)

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        size = f"at learning-set size {self.learn_size}"
        if not self.paired:
            return f"unconditional {self.loss.in_words} {size}"
        return f"difference of unconditional {self.loss.plural} {size}"

    def fit(
        self,
        n_pairs: NumberOfPairs = "auto",
        variance: Variance = "auto",
        tol: float = DEFAULT_TOL,
        max_fits: int | None = None,
        *,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Estimate, studentise and test.

        Parameters
        ----------
        n_pairs : int, "auto" or "exact"
            Pairs of disjoint learning sets to draw. "auto" draws until the Monte-Carlo
            error of the variance is below `tol` times the variance, and that of the
            estimate below `tol` times its standard error. "exact" learns from all
            C(n, g) learning sets.
        variance : {"auto", "clipped", "jackknife", "unbiased", "asymptotic"}
            The variance estimate to studentise with; all that exist are reported. "auto"
            is "clipped" where n >= 2g + 2 and 20 <= n <= 2000, unless its Monte-Carlo error
            stays above a quarter of it, else "jackknife".
        tol : float
            Relative Monte-Carlo error at which "auto" stops.
        max_fits : int, optional
            Model fits after which "auto" stops in any case, and that "exact" may need at
            most; by default 200 000 where every learner is jitted, else 20 000.
        rng, n_jobs, batch_size, progress
            See `HypothesisTest.fit`.

        Returns
        -------
        TestResult

        Raises
        ------
        ValueError
            If an argument cannot be used, or a learner fails on a split.
        """
        options = self._options(n_pairs, variance, tol, max_fits)
        return self._fit(options, rng, n_jobs, batch_size, progress)

    def _options(
        self,
        n_pairs: NumberOfPairs = "auto",
        variance: Variance = "auto",
        tol: float = DEFAULT_TOL,
        max_fits: int | None = None,
    ) -> Options:
        """The options of `fit`, validated."""
        if self._pairs is not None:
            refuse_arguments(max_fits=max_fits)
            return Options.for_losses(
                self._sizes, self._pairs, n_pairs=n_pairs, variance=variance, tol=tol
            )
        return Options.for_fits(
            self._sizes,
            self.learners,
            n_pairs=n_pairs,
            variance=variance,
            tol=tol,
            max_fits=max_fits,
        )

    def _answer(self, options: Options, execution: Execution) -> TestResult:
        source = self._source(execution)
        found = run.estimated(run.Sampler(self._sizes, source, execution.generator), options)
        tested = report.studentised(self.hypothesis, self.n_obs, options, found, source)
        notes = report.notes(options, found, source, self.loss, self._question)
        settings = self._settings() | options.settings(self.learn_size, execution.seed)
        own = report.own_values(found, settings)
        return TestResult(
            **vars(tested[found.variance]),
            method="U-statistic test of the complete error estimate",
            estimand=self.estimand,
            n_obs=self.n_obs,
            n_fits=source.n_fits,
            elapsed=math.nan,
            settings=settings,
            diagnostics=report.diagnostics(found, source) | own_diagnostics(own),
            notes=(*notes, *reuse_notes(self._given)),
            tables={**own_tables(own), "Variances": report.table(found, tested)},
        )

    def kappa_profile(
        self,
        c_values: Sequence[int] | None = None,
        n_pairs: int | Literal["exact"] = 1000,
        *,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> KappaProfile:
        """Estimate kappa_c = E[Phi_0(S) Phi_0(S')] for sets S, S' with c observations in common.

        They do not depend on n, so the full profile predicts the variance at any other
        sample size: see `KappaProfile.variance`.

        Parameters
        ----------
        c_values : sequence of int, optional
            Numbers of common observations, from max(0, 2g + 2 - n) to g + 1; by default all.
        n_pairs : int or "exact"
            Pairs of learning sets drawn for each overlap that is needed.
        rng, n_jobs, batch_size, progress
            See `fit`.

        Returns
        -------
        KappaProfile

        Raises
        ------
        ValueError
            If a value of c is impossible.

        Notes
        -----
        Fuchs et al. (2013), (13) and (14). Cost: 2 n_pairs fits of each learner for each of
        up to g + 2 overlaps, and as many for the control variate.
        """
        self._needs_data("kappa_profile")
        options = ProfileOptions.checked(self._sizes, self.learners, c_values, n_pairs)
        execution = Execution.of(rng, n_jobs, batch_size)
        with hooks.fitting(self), progress_bar(progress, "kappa", "fit") as bar:
            source = self._source(replace(execution, bar=bar))
            sampler = run.Sampler(self._sizes, source, execution.generator)
            if options.n_pairs is None:
                return complete_profile(sampler, options.c_values)
            return sampled_profile(sampler, options.c_values, options.n_pairs)
