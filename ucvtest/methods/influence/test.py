"""Standard errors of cross-validated AUC and error rate by influence functions (Yousef)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import as_integer, check_workers
from ucvtest.common.runtime import Stopwatch, make_generator, progress_bar
from ucvtest.data.sample import Sample
from ucvtest.designs.design import Design
from ucvtest.designs.structure import folds_of, pairs_of
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.inference.from_losses import FromLosses, refuse_arguments
from ucvtest.inference.report import one_class_and_tie_notes, reuse_notes
from ucvtest.kernels.influence.ad_hoc import ad_hoc_by_repetition
from ucvtest.kernels.influence.estimate import Influence, Rows
from ucvtest.kernels.influence.sums import LossCounts, PairCounts, repeats_needed
from ucvtest.learners.adapters.translate import Backend
from ucvtest.learners.base import Learner
from ucvtest.losses.table import AUC, LossDifference
from ucvtest.methods.influence.resamples import (
    Bootstrap,
    Folds,
    Resamples,
    WholeFolds,
    draw_bootstrap,
    draw_folds,
    single_folds,
)
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import Alternative, wald_interval, wald_pvalue

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["InfluenceFunctionTest"]

Metric = Literal["auc", "error"]
Scheme = Literal["monte_carlo", "repeated", "bootstrap", "kfold", "leave_one_out"]
Variance = Literal[
    "influence", "term_1", "adhoc_1", "adhoc_2", "adhoc_3", "adhoc_3_mle", "adhoc_monte_carlo"
]

METRICS = ("auc", "error")
VARIANCES = (
    "influence",
    "term_1",
    "adhoc_1",
    "adhoc_2",
    "adhoc_3",
    "adhoc_3_mle",
    "adhoc_monte_carlo",
)
DEFAULT_REPEATS = {"monte_carlo": 1000, "repeated": 100, "bootstrap": 1000}
SINGLE = ("kfold", "leave_one_out")
"""Schemes with one repeat: not smooth."""

WITH_FOLDS = ("monte_carlo", "repeated", "kfold")

SCHEME_WORDS = {
    "monte_carlo": "Monte-Carlo cross-validation",
    "repeated": "repeated K-fold cross-validation",
    "bootstrap": "leave-one-out bootstrap",
    "kfold": "K-fold cross-validation",
    "leave_one_out": "leave-one-out cross-validation",
}

STAGE_ROWS, STAGE_CELLS = 4096, 2_000_000
"""Learning sets, and predictions, that are in memory at a time."""

UNCOVERED = 1e-6
"""Chance that some pair is still untested after the most repeats that are added."""

MIN_REPEATS = 10
"""Fewer repeats do not tell their own Monte-Carlo error."""

FEW_IN_CLASS = 10
"""Below so many observations in a class tests reject several times too often."""

FEW_TRAINING_SETS = 1000
"""Below so many training sets for each pair the variance is known to be too small: with 45 x 45 in
all (10 in a class, K = 5), the paper's mean standard error is 0.095 where 0.126 is true."""

LIBERAL = (
    "Liberal in small samples: with Monte-Carlo cross-validation and the influence variance, "
    "simulated tests at the nominal 5% level rejected equal AUCs in 25%, 14%, 10% and 7% of data "
    "sets with 5, 10, 20 and 60 observations in a class, an AUC of 1/2 in 29%, 21%, 15% and 12%."
)
"""See examples/reproduce_influence_size.py."""

ROUNDING = 1e-12
TABLE_ALPHA = 0.05


class InfluenceFunctionTest(FromLosses):
    r"""Standard error and test of a cross-validated AUC or error rate, or of a difference of two.

    Estimand: the expected AUC (error rate) of the rule(s) learnt on learning sets of the
    scheme's size, at new observations. H0: it equals `null_value`; by default 1/2 for one AUC,
    0 for a difference. The standard error comes from the influence of each observation on
    the cross-validated estimate: on what is tested, and on which training sets are drawn.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
        Two classes for the AUC, two or more for the error rate.
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as "lda", or
        a callable ``(X_train, y_train, X_test)`` that returns scores which rise with the
        positive class (metric "auc") or labels (metric "error").
    other : learner, optional
        The learner to compare with on the same splits; the estimate is `learner` minus
        `other`. For the AUC a positive difference speaks for the first.
    n_folds : int
        K: 1/K of each class (AUC) or of all observations (error rate) is tested at a time; of no
        meaning to the schemes "leave_one_out" and "bootstrap".
    metric : {"auc", "error"}
    null_value, alternative, pos_label, groups, backend
        See `HypothesisTest`.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Assumes independent observations and learners that do not depend on the order of rows. The
    reference is the normal distribution. The influence variance is biased down for small
    samples, most where few training sets are possible: by 25% of the standard deviation on average
    with 10 observations in a class, 16% with 20, 10% with 60 (the paper's tables 1 to 3); the
    ad-hoc variances treat folds as independent, are biased as well, and often are closer
    (`compare_variances` shows all). So tests are liberal: at the nominal 5% level, two learners
    with equal AUCs were told apart in 25%, 14%, 10% and 7% of simulated data sets with 5, 10, 20
    and 60 observations in a class, and an AUC of 1/2 was rejected in 29%, 21%, 15% and 12%; with
    the ad-hoc variances in up to 19%, 13%, 11% and 9%, and 25%, 24%, 26% and 26%
    (examples/reproduce_influence_size.py).

    Cost: one fit of each learner for each learning set, and
    O(M n1K n0K) for M learning sets that test n1K and n0K observations.

    K-fold and leave-one-out cross-validation are not smooth: each observation is tested by one
    rule only, and the influence variance is the naive one, of values taken for independent.

    For repeated K-fold cross-validation the paper leaves the derivative of the probability G of
    a partition open. Here: draw the training set of a pair as in Lemma 2; what remains is the
    fold of the tested observation, and the training set is divided into the other K - 1
    folds by chance. The score of the pair does not depend on that division, which therefore sums
    out, and (dG/d epsilon)/G = n1K - n1 I_i of (42b) remains, with I_i = 1 where i is in the
    tested fold. G must be normalised for each pair, as in (11): (27a) lacks that term. The
    limit for many repeats is then that of Monte-Carlo cross-validation, as it has to be. (If
    instead the probability of the whole partition were perturbed, the order of its folds
    forgotten, its derivative would be zero and term I all there is.) Both statements are tested
    by going through all orders in which the observations can be drawn.

    `from_losses` admits, for the error rate, zero-one losses under K-fold cross-validation (also
    repeated, or leave-one-out) and under random splits; for the AUC, scores (loss "auc") under
    repeated K-fold cross-validation and random splits that keep the classes in proportion (as
    ``StratifiedKFold`` and ``StratifiedShuffleSplit`` do), and leave-pair-out. Every observation
    (pair of the AUC) must be tested at least once.

    References
    ----------
    W. A. Yousef, Estimating the standard error of cross-validation-based estimators of
    classifier performance: Lemmas 2 and 3, (6)-(10), (27). Erratum: the sign of term III in
    (19). B. Efron, R. Tibshirani (1997), Improvements on cross-validation: the .632+
    bootstrap method. W. A. Yousef, R. F. Wagner, M. H. Loew (2005), Estimating the
    uncertainty in the estimated mean area under the ROC curve of a classifier.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> test = uv.InfluenceFunctionTest(X[50:, :2], y[50:], "lda", "knn:5")
    >>> result = test.fit(n_repeats=500, rng=0)
    >>> result.status
    'ok'
    >>> bool(abs(result.estimate) < 0.1)
    True
    """

    admits = (
        "zero-one losses under K-fold cross-validation, also repeated, or random splits of one "
        "size; scores under repeated K-fold cross-validation or random splits with as many of each "
        "class in every test set, or leave-pair-out"
    )

    n_folds: int
    metric: Metric
    _known: "_Known | None" = None

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        n_folds: int = 5,
        metric: Metric = "auc",
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        pos_label: Any = None,
        groups: None = None,
        backend: Backend = "auto",
    ) -> None:
        if metric not in METRICS:
            raise ValueError(f"metric={metric!r} is unknown: use one of {', '.join(METRICS)}")
        if null_value is None and metric == "auc" and other is None:
            null_value = 0.5
        super().__init__(
            X,
            y,
            learner,
            other,
            null_value=null_value,
            alternative=alternative,
            loss="zero_one" if metric == "error" else None,
            output="score" if metric == "auc" else None,
            pos_label=pos_label,
            groups=groups,
            backend=backend,
        )
        self.metric = metric
        if metric == "auc" and self.sample.n_classes != 2:
            raise ValueError(
                f"metric='auc' needs two classes, y has {self.sample.n_classes}: merge classes, "
                "or use metric='error'"
            )
        self.n_folds = as_integer("n_folds", n_folds)
        if self.n_folds < 2:
            raise ValueError(f"n_folds must be at least 2, got {self.n_folds}")
        # Every scheme leaves at least one of each class to learn from; some have no folds.
        self._check_classes(2)
        self._check_learners(self._learn_size(smallest=True))

    def _take(self, given: LossDifference) -> None:
        name = given.losses.loss
        if name not in (AUC, "zero_one"):
            raise ValueError(
                f"losses are of loss={name!r}, and the test is about the error rate ('zero_one') "
                "or the AUC ('auc')"
            )
        if not given.losses.known_values.size:
            raise ValueError("losses are empty")
        self.metric = "auc" if name == AUC else "error"
        self._known = _known(given, self.class_members)
        self.n_folds = self._known.n_folds

    @property
    def method_name(self) -> str:
        """Short name for keys."""
        return "influence"

    @property
    def class_members(self) -> tuple[np.ndarray, ...]:
        """What is resampled by itself: positives and negatives (AUC), or all (error rate)."""
        if self.metric == "error":
            return (np.arange(self.n_obs),)
        return (np.flatnonzero(self.target == 1), np.flatnonzero(self.target == 0))

    def fit(
        self,
        n_repeats: int | None = None,
        scheme: Scheme | None = None,
        variance: Variance = "influence",
        *,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Estimate, studentise and test.

        Parameters
        ----------
        n_repeats : int, optional
            By default 1000 (repeated: 100); one for "kfold" and "leave_one_out". With
            "monte_carlo" and "bootstrap" more are drawn if some pair (observation) has
            never been tested, up to so many that this has a chance of one in a million.
        scheme : {"monte_carlo", "repeated", "bootstrap", "kfold", "leave_one_out"}, optional
            What is drawn in each repeat; by default "monte_carlo", or what the design of given
            losses is. "monte_carlo": one fold of each class is tested.
            "repeated": a partition into folds; all combinations of a fold of positives and a
            fold of negatives are tested in turn (K^2 fits; K for the error rate). "kfold": the
            same once. "leave_one_out": every positive with every negative (every
            observation) is left out once. "bootstrap": learnt from a bootstrap sample of each
            class, tested on the rest (leave-pair-out bootstrap; leave-one-out for the error
            rate).
        variance : str
            The variance estimate to studentise with; all that exist for the scheme are
            reported. "influence"; "term_1", without the part of the training sets;
            "adhoc_1", "adhoc_2", "adhoc_3", "adhoc_3_mle" (8a-8c, averaged over repeats, for
            "repeated", "kfold" and "leave_one_out"; for the error rate "adhoc_1" is (6),
            the others but the last equal it); "adhoc_monte_carlo" (10) for "monte_carlo".
        rng : None, int or numpy Generator
            Decides the draws, the same for every learner, `n_jobs` and `batch_size`.
        n_jobs : int, optional
            joblib's workers, for learners that are not jitted.
        batch_size : int, optional
            Learning sets evaluated at once: bounds the memory, changes no result.
        progress : bool, optional
            Show a progress bar; by default on terminals, after three seconds.

        Returns
        -------
        TestResult

        Raises
        ------
        ValueError
            If an argument cannot be used, or a learner fails on a split.
        """
        if self._known is not None:
            refuse_arguments(rng=rng, n_jobs=n_jobs, batch_size=batch_size)
            result, _ = self._run(self._known_plan(n_repeats, scheme, variance), None)
            return self._finish(result)
        chosen = "monte_carlo" if scheme is None else scheme
        plan = self._plan(n_repeats, chosen, variance, rng, n_jobs, batch_size)
        with hooks.fitting(self), progress_bar(progress, self.method_name, "fit") as bar:
            result, _ = self._run(plan, bar)
        return self._finish(result)

    def compare_variances(
        self,
        n_repeats: int | None = None,
        schemes: Sequence[Scheme] = ("monte_carlo", "repeated", "kfold", "bootstrap"),
        *,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> "pd.DataFrame":
        """All variance estimates of several schemes side by side.

        Parameters
        ----------
        n_repeats : int, optional
            For each scheme that has repeats; by default as in `fit`.
        schemes : sequence of str
        rng, n_jobs, batch_size, progress
            See `fit`.

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
        ['influence', 'term_1', 'adhoc_monte_carlo', 'influence', 'term_1', 'adhoc_1',
         'adhoc_2', 'adhoc_3', 'adhoc_3_mle']
        """
        self._needs_data("compare_variances")
        if isinstance(schemes, str) or not len(schemes):
            raise ValueError(
                f"schemes must be a sequence of names, got {schemes!r}: use ('repeated',)"
            )
        import pandas as pd

        generator, _ = make_generator(rng)
        plans = [
            self._plan(
                None if scheme in SINGLE else n_repeats,
                scheme,
                "influence",
                generator,
                n_jobs,
                batch_size,
            )
            for scheme in schemes
        ]
        records: list[dict[str, Any]] = []
        with hooks.fitting(self), progress_bar(progress, self.method_name, "fit") as bar:
            for plan in plans:
                result, statuses = self._run(plan, bar)
                records += _records(plan, result, statuses)
        return pd.DataFrame(records)

    # ------------------------------------------------------------------ planning, checking

    def _check_classes(self, n_folds: int) -> None:
        """Refuse classes with fewer observations than folds."""
        fewest = min(self.class_members, key=len)
        if len(fewest) >= n_folds:
            return
        if self.metric == "error":
            raise ValueError(
                f"n_folds={n_folds} needs at least {n_folds} observations, got {len(fewest)}: use "
                "fewer folds, or scheme='leave_one_out'"
            )
        label = self.sample.response[fewest].tolist()[0]
        remedy = f"use n_folds <= {len(fewest)}, or scheme='leave_one_out'"
        raise ValueError(
            f"n_folds={n_folds} needs at least {n_folds} observations of each class, but class "
            f"{label!r} has {len(fewest)}: {remedy if len(fewest) > 1 else 'collect more of them'}"
        )

    def _learn_size(self, *, smallest: bool) -> int:
        """Observations that are learnt from in one fold's absence: the fewest, or the most."""
        sizes = [len(members) for members in self.class_members]
        if smallest:
            return self.sample.n_obs - sum(-(-size // self.n_folds) for size in sizes)
        return self.sample.n_obs - sum(size // self.n_folds for size in sizes)

    def _plan(
        self,
        n_repeats: Any,
        scheme: Any,
        variance: Any,
        rng: Any,
        n_jobs: int | None,
        batch_size: int | None,
    ) -> "_Plan":
        if scheme not in SCHEME_WORDS:
            raise ValueError(f"scheme={scheme!r} is unknown: use one of {', '.join(SCHEME_WORDS)}")
        if scheme in WITH_FOLDS:
            self._check_classes(self.n_folds)
        if scheme in SINGLE:
            if n_repeats is not None and as_integer("n_repeats", n_repeats) != 1:
                raise ValueError(
                    f"scheme={scheme!r} has one repeat, got n_repeats={n_repeats!r}: use "
                    "scheme='repeated' for more"
                )
            n_repeats = 1
        elif n_repeats is None:
            n_repeats = DEFAULT_REPEATS[scheme]
        if as_integer("n_repeats", n_repeats) < 1:
            raise ValueError(f"n_repeats must be at least 1, got {n_repeats}")
        self._check_variance(variance, scheme)
        check_workers(n_jobs, batch_size)
        generator, seed = make_generator(rng)
        return _Plan(
            n_repeats=int(n_repeats),
            scheme=scheme,
            variance=variance,
            seed=seed,
            generator=generator,
            n_jobs=n_jobs,
            batch_size=batch_size,
        )

    def _check_variance(self, variance: Any, scheme: str) -> None:
        offered = self._variances(scheme)
        if variance not in offered:
            known = variance in VARIANCES
            problem = f"does not exist for scheme={scheme!r}, metric={self.metric!r}"
            raise ValueError(
                f"variance={variance!r} {problem if known else 'is unknown'}: use one of "
                f"{', '.join(offered)}"
            )

    def _known_plan(self, n_repeats: Any, scheme: Any, variance: Any) -> "_Plan":
        """What the design of given losses leaves open: the variance."""
        assert self._known is not None
        known = self._known
        for name, value, own in (
            ("n_repeats", n_repeats, known.resamples.n_repeats),
            ("scheme", scheme, known.scheme),
        ):
            if value is not None and value != own:
                raise ValueError(
                    f"{name}={value!r}, but the design of the given losses has {own!r}: leave it "
                    "out"
                )
        self._check_variance(variance, known.scheme)
        generator = np.random.default_rng(0)  # decides nothing here
        repeats = known.resamples.n_repeats
        return _Plan(repeats, known.scheme, variance, None, generator, None, None)

    def _variances(self, scheme: str) -> tuple[str, ...]:
        """The variances that exist for a scheme."""
        if self._known is not None and (scheme == "monte_carlo" or self._known.whole_folds):
            # The ad-hoc forms are for test sets of 1/K, and for all pairs of folds.
            return ("influence", "term_1")
        if scheme == "bootstrap":
            return ("influence", "term_1")
        if scheme == "monte_carlo":
            return ("influence", "term_1", "adhoc_monte_carlo")
        if self.metric == "error":
            # The first three ad-hoc forms are one and the same for a single sample.
            return ("influence", "term_1", "adhoc_1", "adhoc_3_mle")
        sizes = {len(members) for members in self.class_members}
        if scheme == "leave_one_out" and len(sizes) > 1:
            # (8b) pairs folds of the same number, so it needs as many of each class.
            return ("influence", "term_1", "adhoc_1", "adhoc_3", "adhoc_3_mle")
        return ("influence", "term_1", "adhoc_1", "adhoc_2", "adhoc_3", "adhoc_3_mle")

    # ---------------------------------------------------------------------------- fit, result

    def _run(self, plan: "_Plan", bar: Any) -> tuple[TestResult, list[str]]:
        """The result, and the status that each variance would give it."""
        stopwatch = Stopwatch()
        run = _Run(self, plan, bar) if self._known is None else _KnownRun(self, plan, self._known)
        found = run.found()
        estimates = _variance_estimates(self, plan, run, found)
        chosen = _studentise(self, plan, run, found, estimates, plan.variance)
        statuses = [_status(plan, run, found, each) for each in estimates.values()]
        result = TestResult(
            estimate=found.estimate,
            se=chosen.se,
            variance=estimates[plan.variance].variance,
            statistic=chosen.statistic,
            pvalue=chosen.pvalue,
            df=math.nan,
            null_value=self.null_value,
            alternative=self.alternative,
            method=f"Influence-function test by {self._scheme_words(plan.scheme)}",
            estimand=self._estimand(plan.scheme),
            reference=chosen.reference,
            status=chosen.status,
            n_obs=self.n_obs,
            n_fits=run.n_fits,
            elapsed=stopwatch.seconds,
            settings=self._settings() | self._own_settings(plan),
            diagnostics=self._diagnostics(plan, run, found, estimates),
            notes=_notes(self, plan, run, found),
            tables={"Variances": _variance_table(self, plan, run, found, estimates)},
            better="higher" if self.metric == "auc" else "lower",
        )
        return result, statuses

    def _scheme_words(self, scheme: str) -> str:
        if scheme == "bootstrap" and self.metric == "auc":
            return "leave-pair-out bootstrap"
        return SCHEME_WORDS[scheme]

    def _estimand(self, scheme: str) -> str:
        name = "AUC" if self.metric == "auc" else "error rate"
        subject = name if not self.paired else f"difference of {name}s"
        if scheme == "bootstrap":
            return f"{subject} with bootstrap learning sets of {self.sample.n_obs}"
        return f"{subject} at learning-set size {self._size_learnt(scheme)}"

    def _size_learnt(self, scheme: str) -> int | str:
        if self._given is not None:
            sizes = self._given.design.learn_sizes
            return sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        if scheme == "bootstrap":
            return self.sample.n_obs
        if scheme == "leave_one_out":
            return self.sample.n_obs - len(self.class_members)
        fewest, most = (self._learn_size(smallest=smallest) for smallest in (True, False))
        if scheme == "monte_carlo" or fewest == most:
            return most
        return f"{fewest} to {most}"

    def _own_settings(self, plan: "_Plan") -> dict[str, Any]:
        seed = {} if self._known is not None else {"rng": plan.seed}
        return {
            "metric": self.metric,
            "scheme": plan.scheme,
            "n_folds": self.n_folds,
            "n_repeats": plan.n_repeats,
            "learn_size": self._size_learnt(plan.scheme),
            "variance": plan.variance,
            **seed,
        }

    def _diagnostics(
        self,
        plan: "_Plan",
        run: "_Run",
        found: Influence,
        estimates: Mapping[str, "_Estimate"],
    ) -> dict[str, Any]:
        total, each = run.resamples.training_sets
        diagnostics: dict[str, Any] = {
            "variance": plan.variance,
            "n_repeats": run.resamples.n_repeats,
            "training_sets": total,
            "training_sets_per_test": 1.0 if plan.scheme in SINGLE else each,
            "one_class_fits": run.one_class_fits,
            "influence": found.values,
            "term_1": found.first,
            "term_2": found.second,
            "term_3": found.third,
            **{f"variance_{name}": one.variance for name, one in estimates.items()},
            **run.ties,
        }
        if plan.scheme != "kfold":
            diagnostics["mc_se_estimate"] = _mc_se(plan, found)
            diagnostics["mc_se_variance"] = estimates[plan.variance].mc_se
        if plan.scheme not in SINGLE:
            diagnostics["mc_bias_variance"] = found.mc_bias_variance
        if self.paired:
            diagnostics["estimate_learner"], diagnostics["estimate_other"] = run.estimates
        return diagnostics


@dataclass(frozen=True)
class _Plan:
    """The validated arguments of a fit."""

    n_repeats: int
    scheme: str
    variance: str
    seed: int | None
    generator: np.random.Generator
    n_jobs: int | None
    batch_size: int | None


class _Run:
    """One pass of resampling: draws learning sets, has them evaluated, sums up."""

    def __init__(self, test: InfluenceFunctionTest, plan: _Plan, bar: Any) -> None:
        self.test, self.plan, self.bar = test, plan, bar
        self.n_fits = 0
        self.n_added = 0
        self.ties: dict[str, int] = {}
        self.estimates: tuple[float, ...] = ()
        self.n_learners = 2 if test.paired else 1
        self.identical = test.paired
        self.all_tied = True
        self.resamples = self._resamples()
        self._evaluators = [self._evaluator(learner) for learner in test.learners]

    @property
    def one_class_fits(self) -> int:
        """Fits to learning sets with a single class."""
        return sum(evaluator.one_class_fits for evaluator in self._evaluators)

    def found(self) -> Influence:
        """Estimate and influence values; differences for two learners."""
        counts = self._counts()
        sums = [counts.sums() for _ in range(self.n_learners)]
        for rows in self._stages():
            values = self._evaluated(rows)
            for each, value in zip(sums, values, strict=True):
                each.add(rows, value)
            self.identical = self.identical and bool((values[0] == values[-1])[rows.tested].all())
            self.all_tied = self.all_tied and all(_tied(each, rows.tested) for each in values)
        found = [each.influence(self._stages()) for each in sums]
        self.estimates = tuple(each.estimate for each in found)
        return found[0] if len(found) == 1 else found[0].minus(found[1])

    def _evaluated(self, rows: Rows) -> list[np.ndarray]:
        """Scores, or losses, of each learner where tested."""
        # Always drawn, so that the splits do not depend on which learners want a seed.
        seeds = self.plan.generator.integers(2**31 - 1, size=len(rows.tested))
        return [self._values(evaluator, rows, seeds) for evaluator in self._evaluators]

    def _resamples(self) -> Resamples:
        return self._covered(self._drawn(self.plan.n_repeats))

    def _drawn(self, n_repeats: int) -> Resamples:
        rng, classes, scheme = self.plan.generator, self.test.class_members, self.plan.scheme
        if scheme == "bootstrap":
            return draw_bootstrap(rng, n_repeats, classes)
        if scheme == "leave_one_out":
            return single_folds(classes)
        all_tested = scheme != "monte_carlo"
        return draw_folds(rng, n_repeats, classes, self.test.n_folds, all_tested=all_tested)

    def _covered(self, drawn: Resamples) -> Resamples:
        """The resamples, and further ones until every pair (observation) has been tested."""
        if self.plan.scheme not in ("monte_carlo", "bootstrap"):
            return drawn
        asked = drawn.n_repeats
        counted = _tested_together(drawn)
        n_cells = counted.size
        share = self._share_tested
        limit = asked + repeats_needed(share, n_cells, UNCOVERED)
        while not counted.all():
            if drawn.n_repeats >= limit:
                raise ValueError(
                    f"{int((counted == 0).sum())} of {n_cells} "
                    f"{'pairs' if counted.ndim == 2 else 'observations'} were never tested in "
                    f"{drawn.n_repeats} repeats: raise n_repeats to about "
                    f"{repeats_needed(share, n_cells)} or more, or use fewer folds"
                )
            more = self._drawn(min(max(asked // 10, MIN_REPEATS), limit - drawn.n_repeats))
            counted += _tested_together(more)
            drawn = drawn.joined(more)
        self.n_added = drawn.n_repeats - asked
        return drawn

    @property
    def _share_tested(self) -> float:
        """Probability that a repeat tests a given pair (observation)."""
        share = 1.0
        for members in self.test.class_members:
            n = len(members)
            if self.plan.scheme == "bootstrap":
                share *= (1 - 1 / n) ** n
            else:
                share *= (n // self.test.n_folds) / n
        return share

    def _counts(self) -> PairCounts | LossCounts:
        n_repeats = self.resamples.n_repeats
        if self.test.metric == "error":
            return LossCounts.of(self.test.n_obs, n_repeats, self._stages())
        return PairCounts.of(self.test.target, n_repeats, self._stages())

    def _stages(self) -> Iterator[Rows]:
        size = max(1, min(STAGE_ROWS, STAGE_CELLS // self.test.n_obs))
        for start in range(0, self.resamples.n_rows, size):
            yield self.resamples.rows(start, start + size)

    def _evaluator(self, learner: Learner) -> "_WeightedEvaluator":
        resamples = self.resamples
        copies = int(resamples.drawn.max()) if isinstance(resamples, Bootstrap) else 1
        sample = _copied(self.test.sample, copies)
        evaluator = Evaluator(
            sample,
            learner,
            self.test.output,
            n_jobs=self.plan.n_jobs,
            batch_size=self.plan.batch_size,
        )
        return _WeightedEvaluator(evaluator, copies)

    def _values(self, evaluator: "_WeightedEvaluator", rows: Rows, seeds: np.ndarray) -> np.ndarray:
        """Scores, or losses, where tested."""
        values, ties = evaluator.predict(rows, seeds)
        for kind, count in ties.items():
            self.ties[kind] = self.ties.get(kind, 0) + count
        self.n_fits += len(values)
        self.bar.update(len(values))
        loss = self.test.loss
        if loss is None:
            return values
        shown = np.where(rows.tested, values, 0.0)
        return np.where(rows.tested, loss.function(self.test.sample.target, shown), 0.0)


@dataclass(frozen=True, eq=False)
class _Known:
    """Given losses in the form that the sums need.

    Parameters
    ----------
    given : LossDifference
    scheme : str
    n_folds : int
        K; for random splits the nearest number to n over the size of a test set.
    resamples : Resamples
        With the same rows as the design, in their order.
    order : ndarray of int, optional
        The row of the design behind each row of `resamples`, where these are others.
    """

    given: LossDifference
    scheme: str
    n_folds: int
    resamples: Resamples
    order: np.ndarray | None = None

    @property
    def whole_folds(self) -> bool:
        """Whether folds of all classes are tested together."""
        return isinstance(self.resamples, WholeFolds)

    def values(self, learner: int) -> np.ndarray:
        """Scores, or losses, of all tested observations, row by row of `resamples`."""
        values = self.given.losses.known_values[learner]
        # Other orders are of pairs, so that each row has two.
        return values if self.order is None else values.reshape(-1, 2)[self.order].ravel()


def _known(given: LossDifference, classes: Sequence[np.ndarray]) -> _Known:
    """The scheme of a design, read off it.

    Raises
    ------
    ValueError
        If it is none of those that the test knows, or leaves a pair (observation) untested.
    """
    if len(classes) == 2 and given.losses.target is None:
        raise ValueError("losses have no target, which the AUC needs: pass y to from_arrays")
    found = _read_off(given, classes)
    untested = int((_tested_together(found.resamples) == 0).sum())
    if untested:
        what = "observations" if len(classes) == 1 else "pairs of a positive and a negative"
        raise ValueError(
            f"the design of the losses never tests {untested} {what} (together): use more repeats, "
            "as in StratifiedShuffleSplit(n_splits=1000) or RepeatedStratifiedKFold"
        )
    return found


def _read_off(given: LossDifference, classes: Sequence[np.ndarray]) -> _Known:
    design, auc = given.design, len(classes) == 2
    if auc and design.test_sizes == (2,):
        positive, negative = pairs_of(design, np.isin(np.arange(design.n_obs), classes[0]))
        order = np.lexsort((negative, positive))
        n_folds = max(map(len, classes))
        return _Known(given, "leave_one_out", n_folds, single_folds(classes), order)
    try:
        folds = folds_of(design)
    except ValueError:
        return _random_splits(given, classes)
    n_repeats, n_folds = len(folds), int(folds.max()) + 1
    _check_class_sizes(design, classes, 1)
    if auc:
        whole = WholeFolds(classes, folds, (n_folds, n_folds))
        return _Known(given, "repeated", n_folds, whole)
    single = "leave_one_out" if n_folds == design.n_obs else "kfold"
    resamples = Folds(classes, folds, (n_folds,))
    return _Known(given, "repeated" if n_repeats > 1 else single, n_folds, resamples)


def _random_splits(given: LossDifference, classes: Sequence[np.ndarray]) -> _Known:
    design = given.design
    if (design.learning == design.testing).any():
        raise ValueError(
            "the design leaves observations neither learnt from nor tested: use K-fold "
            "cross-validation or random splits of the whole sample"
        )
    _check_class_sizes(design, classes, 0)
    n_folds = round(design.n_obs / design.test_sizes[-1])
    splits = Folds(classes, design.learning.astype(np.uint8), (1,) * len(classes))
    return _Known(given, "monte_carlo", n_folds, splits)


def _check_class_sizes(design: Design, classes: Sequence[np.ndarray], most: int) -> None:
    """Refuse test sets that differ by more in the number of any class, or hold none of one."""
    for members in classes:
        sizes = design.testing[:, members].sum(axis=1)
        if sizes.max() - sizes.min() > most or not sizes.min():
            of_class = "" if len(classes) == 1 else " of one class"
            raise ValueError(
                f"the design tests between {sizes.min()} and {sizes.max()} observations{of_class} "
                "at a time, and the test needs as many each time"
                + ("" if len(classes) == 1 else ": use a stratified splitter of scikit-learn's")
            )


class _KnownRun(_Run):
    """The same sums from losses that exist."""

    def __init__(self, test: InfluenceFunctionTest, plan: _Plan, known: _Known) -> None:
        self._known = known
        self._next = 0
        super().__init__(test, plan, None)
        self.n_fits = known.given.n_fits
        counts = known.given.diagnostics
        self._one_class_fits = counts.pop("one_class_fits", 0)
        self.ties = counts

    @property
    def one_class_fits(self) -> int:
        """Fits to learning sets with a single class."""
        return self._one_class_fits

    def _resamples(self) -> Resamples:
        return self._known.resamples

    def _evaluated(self, rows: Rows) -> list[np.ndarray]:
        given = self._known.given
        part = slice(self._next, self._next + int(rows.tested.sum()))
        self._next = part.stop
        places = [given.learner] if given.other is None else [given.learner, given.other]
        found = []
        for place in places:
            values = np.zeros(rows.tested.shape)
            values[rows.tested] = self._known.values(place)[part]
            found.append(values)
        return found


def _tied(values: np.ndarray, tested: np.ndarray) -> bool:
    """Whether every rule gives one value to all that it is tested on."""
    highest = np.where(tested, values, -np.inf).max(axis=1)
    lowest = np.where(tested, values, np.inf).min(axis=1)
    return bool((highest <= lowest).all())


@dataclass
class _WeightedEvaluator:
    """An evaluator for learning sets that may hold an observation several times.

    The sample holds `copies` of every observation, one after the other in blocks of n; what
    is learnt from twice is in the learning set with two of its copies.
    """

    evaluator: Evaluator
    copies: int

    @property
    def one_class_fits(self) -> int:
        """Learning sets with a single class so far."""
        return self.evaluator.one_class_fits

    def predict(self, rows: Rows, seeds: np.ndarray) -> tuple[np.ndarray, Mapping[str, int]]:
        """Predictions (R, n), and ties, where tested."""
        learning = np.hstack([rows.counts > copy for copy in range(self.copies)])
        n_obs = rows.tested.shape[1]
        testing = np.zeros_like(learning)
        testing[:, :n_obs] = rows.tested
        predictions = self.evaluator.predict(learning, testing, seeds)
        return predictions.values[:, :n_obs], predictions.ties


def _copied(sample: Sample, copies: int) -> Sample:
    if copies == 1:
        return sample
    index = np.tile(np.arange(sample.n_obs), copies)
    return replace(
        sample,
        features=sample.rows(index),
        response=sample.response[index],
        codes=None if sample.codes is None else sample.codes[index],
    )


def _tested_together(resamples: Resamples) -> np.ndarray:
    """How often each pair, (n1, n0), or each observation, (n,), is tested."""
    classes = resamples.classes
    counted = np.zeros(tuple(map(len, classes)))
    step = max(1, STAGE_CELLS // sum(map(len, classes)))
    for start in range(0, resamples.n_rows, step):
        tested = [
            resamples.rows(start, start + step).tested[:, members].astype(float)
            for members in classes
        ]
        counted += tested[0].T @ tested[1] if len(tested) == 2 else tested[0].sum(axis=0)
    return counted


# --------------------------------------------------------------------------------- variances


@dataclass(frozen=True)
class _Estimate:
    """A variance and its Monte-Carlo standard error, NaN where it has none."""

    variance: float
    mc_se: float


@dataclass(frozen=True)
class _Studentised:
    se: float
    statistic: float
    pvalue: float
    reference: str
    status: str


def _variance_estimates(
    test: InfluenceFunctionTest, plan: _Plan, run: _Run, found: Influence
) -> dict[str, _Estimate]:
    """All variances that exist for the scheme."""
    estimates = {
        "influence": _Estimate(found.variance, found.mc_se_variance),
        "term_1": _Estimate(found.term_1_variance, found.mc_se_term_1_variance),
    }
    if plan.scheme == "monte_carlo":
        estimates["adhoc_monte_carlo"] = _spread_over_repeats(found.rows, test.n_folds)
    elif isinstance(run.resamples, Folds):
        folds = found.rows.reshape(-1, *run.resamples.n_tested_folds)
        overall = folds.reshape(len(folds), -1) @ run.resamples.fold_shares
        ad_hoc = ad_hoc_by_repetition(folds, overall)
        for name in test._variances(plan.scheme)[2:]:
            values = ad_hoc[name]
            spread = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else math.nan
            estimates[name] = _Estimate(float(values.mean()), float(spread))
    if plan.scheme == "leave_one_out":
        # Nothing was drawn.
        return {name: replace(each, mc_se=0.0) for name, each in estimates.items()}
    return estimates


def _spread_over_repeats(rows: np.ndarray, n_folds: int) -> _Estimate:
    """(10)."""
    m = len(rows)
    if m < 2:
        return _Estimate(math.nan, math.nan)
    squares = (rows - rows.mean()) ** 2
    variance = float(squares.sum() / (m - 1))
    return _Estimate(variance / n_folds, float(squares.std(ddof=1) / math.sqrt(m) / n_folds))


def _mc_se(plan: _Plan, found: Influence) -> float:
    return 0.0 if plan.scheme == "leave_one_out" else found.mc_se


def _studentise(
    test: InfluenceFunctionTest,
    plan: _Plan,
    run: _Run,
    found: Influence,
    estimates: Mapping[str, _Estimate],
    name: str,
) -> _Studentised:
    """Statistic and p-value with one of the variances, or the reason why there is none."""
    one = estimates[name]
    status = _status(plan, run, found, one)
    mc_se = _mc_se(plan, found)
    se = math.sqrt(one.variance + (0.0 if math.isnan(mc_se) else mc_se**2))
    statistic = math.nan
    if se > 0 and not math.isnan(test.null_value):
        statistic = (found.estimate - test.null_value) / se
    reference = "normal" if status == "ok" else "none"
    pvalue = wald_pvalue(statistic, reference, math.nan, test.alternative)
    return _Studentised(se, statistic, pvalue, reference, status)


def _status(plan: _Plan, run: _Run, found: Influence, one: _Estimate) -> str:
    if run.identical:
        return (
            "degenerate: the two learners gave the same scores (or labels) to every tested "
            "observation in every fit, so there is no difference to test; compare learners that "
            "differ"
        )
    sampled = plan.scheme not in SINGLE
    if sampled and run.resamples.n_repeats < MIN_REPEATS:
        return (
            f"too few resamples: {run.resamples.n_repeats} repeats do not tell their own "
            f"Monte-Carlo error; raise n_repeats to at least {MIN_REPEATS}"
        )
    if not one.variance > ROUNDING**2:
        return f"degenerate: the variance estimate is zero, {_why_zero(run)}"
    if sampled and not one.mc_se <= one.variance / 4:
        return (
            f"too few resamples: the Monte-Carlo standard error of the variance ({one.mc_se:.2g}) "
            f"is above a quarter of it ({one.variance:.2g}); raise n_repeats"
        )
    return "ok"


def _why_zero(run: _Run) -> str:
    if run.test.metric == "error":
        return "every observation was predicted equally well"
    if run.all_tied:
        return "all scores were equal: the learner tells no observation from another"
    return "every observation was ranked equally well"


def _variance_table(
    test: InfluenceFunctionTest,
    plan: _Plan,
    run: _Run,
    found: Influence,
    estimates: Mapping[str, _Estimate],
) -> Mapping[str, tuple[Any, ...]]:
    """All variances side by side, with the 95% interval and p-value that each would give."""
    rows = []
    for name, each in estimates.items():
        one = _studentise(test, plan, run, found, estimates, name)
        low, high = wald_interval(
            found.estimate, one.se, one.reference, math.nan, test.alternative, TABLE_ALPHA
        )
        rows.append((name, each.variance, each.mc_se, low, high, one.pvalue))
    columns = ("variance", "estimate", "mc_se", "conf_low", "conf_high", "pvalue")
    return dict(zip(columns, zip(*rows, strict=True), strict=True))


def _records(plan: _Plan, result: TestResult, statuses: list[str]) -> list[dict[str, Any]]:
    """The rows of `compare_variances` that one scheme makes."""
    table = result.tables["Variances"]
    columns = ("variance", "estimate", "conf_low", "conf_high", "pvalue")
    return [
        {
            "scheme": plan.scheme,
            "variance": name,
            "estimate": result.estimate,
            "sd": math.sqrt(variance),
            "conf_low": low,
            "conf_high": high,
            "pvalue": pvalue,
            "n_fits": result.n_fits,
            "status": status,
        }
        for name, variance, low, high, pvalue, status in zip(
            *(table[column] for column in columns), statuses, strict=True
        )
    ]


def _notes(
    test: InfluenceFunctionTest, plan: _Plan, run: _Run, found: Influence
) -> tuple[str, ...]:
    notes = [
        "Assumes independent observations and learners that do not depend on the order of rows."
    ]
    if not math.isnan(test.null_value):
        notes.append(LIBERAL)
    smallest = min(map(len, test.class_members))
    if test.metric == "auc" and smallest < FEW_IN_CLASS:
        notes.append(
            f"The smaller class has {smallest} observations: neither standard error nor p-value is "
            "to be trusted with so few. Against an AUC of 1/2 LeavePairOutTest has an exact test."
        )
    unit = "pair" if test.metric == "auc" else "observation"
    if plan.scheme in SINGLE:
        notes.append(
            f"{SCHEME_WORDS[plan.scheme][0].upper()}{SCHEME_WORDS[plan.scheme][1:]} is not "
            f"smooth: every {unit} is tested by one rule only, so that terms II and III are "
            "equal and the influence variance is the naive one, of values taken for independent. "
            "scheme='monte_carlo' or 'repeated' is smooth."
        )
    elif plan.variance == "influence" and run.resamples.training_sets[1] < FEW_TRAINING_SETS:
        notes.append(
            f"Only {run.resamples.training_sets[1]:.0f} training sets are possible for each {unit} "
            "that is tested: the influence variance is then too small."
        )
    if plan.variance.startswith("adhoc"):
        notes.append(
            "Ad-hoc variances treat folds (or repeats) as independent, which they are not; they "
            "have no theory."
        )
    if plan.variance == "term_1":
        notes.append("Term I alone leaves out that other samples give other training sets.")
    if run.n_added:
        notes.append(
            f"{run.n_added} repeats were added to the {plan.n_repeats} asked for, until every "
            f"{unit} had been tested."
        )
    if plan.variance == "influence" and found.mc_bias_variance > found.variance / 10:
        notes.append(
            f"About {found.mc_bias_variance / found.variance:.0%} of the influence variance is "
            "Monte-Carlo noise of the influence values, which makes it too large: raise n_repeats."
        )
    notes.extend(one_class_and_tie_notes({"one_class_fits": run.one_class_fits, **run.ties}))
    notes.extend(reuse_notes(test._given))
    return tuple(notes)
