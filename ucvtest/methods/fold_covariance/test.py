"""The K-fold cross-validation test after Bengio and Grandvalet (2005)."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import as_integer, check_workers, is_number
from ucvtest.common.runtime import Stopwatch, make_generator, progress_bar
from ucvtest.designs.draws import draw_orders, fold_numbers
from ucvtest.designs.structure import folds_of
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.inference.from_losses import FromLosses, refuse_arguments
from ucvtest.inference.report import one_class_and_tie_notes, reuse_notes
from ucvtest.kernels.fold_covariance import (
    admissible_variances,
    mean_fold_size,
    moments,
    variance_given_rho,
)
from ucvtest.learners.adapters.translate import Backend
from ucvtest.losses.loss import Loss, losses_where_tested
from ucvtest.losses.table import LossDifference
from ucvtest.results.pictures import Layer, Picture
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import Alternative, ReferenceDistribution, wald_interval, wald_pvalue

__all__ = ["Estimator", "FoldCovarianceTest", "cross_validated_losses"]

Estimator = Literal["cross_validation", "jackknife"]
ESTIMATORS: tuple[Estimator, ...] = ("cross_validation", "jackknife")

Rho = float | Literal["nadeau_bengio"] | None

LEVEL = 0.05
"""Level of the tables and of the rho at which the verdict changes, made with the result."""

ROUNDING = 1e-12
"""Standard error, as a share of the estimate, that is no more than rounding error."""

ROW_CELLS = 4_000_000
"""Losses (fits times observations) that are in memory at a time."""

TABLE_RHOS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
"""Rows of the table of sensitivity; the picture has the whole curve."""

CURVE_POINTS = 200

NO_ASSUMPTION = (
    "no test without an assumption: the variance of a cross-validation mean has no unbiased "
    "estimate; pass rho='nadeau_bengio', or a correlation of your own, for a p-value"
)


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
        K, from 2 to n (leave-one-out). Folds are random, without regard to classes; where n
        is no multiple of K their sizes differ by one.
    estimator : {"cross_validation", "jackknife"}
        The mean cross-validated loss, or the jackknife estimate of the error of the rule
        learnt on all n observations, which corrects the loss on the learning set.
    null_value, alternative, loss, pos_label, groups, backend
        See `HypothesisTest`.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Assumes independent observations and learners that do not depend on the order of rows.
    The t reference takes fold means as normal; neither that nor any value of rho is
    guaranteed, so the test can be liberal or conservative: it is as good as its rho. Cost:
    K fits of each learner for each repetition, one more for the jackknife.

    `from_losses` admits the loss of every observation under K-fold cross-validation, also
    repeated, whose folds differ in size by one at most; the number of repetitions is that of the
    design, and the jackknife, which needs losses on learning sets, is not available.

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

    admits = "K-fold cross-validation, also repeated, with the loss of every observation"

    loss: Loss
    n_folds: int
    estimator: Estimator
    _known: "_GivenLosses | None" = None

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
        self.n_folds = checked_folds(n_folds, self.sample.n_obs)
        self.estimator = checked_estimator(estimator)
        self._check_learners(self.learn_sizes[0])

    def _take(self, given: LossDifference) -> None:
        folds = folds_of(given.design)
        sizes = given.design.test_sizes
        if sizes[-1] - sizes[0] > 1:
            raise ValueError(
                f"the design has folds of {sizes[0]} to {sizes[-1]} observations, and the test "
                "needs folds of one size, up to one observation: use uv.designs.KFold"
            )
        self._known = _GivenLosses(given, folds)
        self.n_folds = int(folds.max()) + 1
        self.estimator = "cross_validation"

    @property
    def method_name(self) -> str:
        """Short name for keys."""
        return "fold_covariance"

    @property
    def fold_sizes(self) -> tuple[int, ...]:
        """Number of observations in each fold."""
        if self._known is not None:
            return tuple(np.bincount(self._known.folds[0]).tolist())
        order = np.arange(self.sample.n_obs)[None]
        return tuple(np.bincount(fold_numbers(order, self.n_folds)[0]).tolist())

    @property
    def learn_sizes(self) -> tuple[int, ...]:
        """The sizes of the learning sets, without repetition, ascending."""
        return tuple(sorted({self.n_obs - size for size in self.fold_sizes}))

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        size = self._learn_size
        if self.estimator == "jackknife":
            size = f"{self.n_obs}, by the jackknife"
        if not self.paired:
            return f"unconditional {self.loss.in_words} at learning-set size {size}"
        return f"difference of unconditional {self.loss.plural} at learning-set size {size}"

    @property
    def _learn_size(self) -> str:
        return " or ".join(map(str, self.learn_sizes))

    def fit(
        self,
        rho: Rho = "nadeau_bengio",
        n_repeats: int = 1,
        *,
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
            Where losses are given their design has the repetitions.
        rng : None, int or numpy Generator
            Decides the folds, the same for every learner, `n_jobs` and `batch_size`. The
            settings of the result keep the seed; None draws one. A Generator has none to keep.
        n_jobs : int, optional
            joblib's workers, for learners that are not jitted.
        batch_size : int, optional
            Learning sets evaluated at once: bounds the memory, changes no result.
        progress : bool, optional
            Show a progress bar; by default on terminals, after three seconds.

        Returns
        -------
        TestResult
            Its tables have the moments, the variances with the test that each would give, and
            the p-value at several rho; its pictures are "admissible" and "sensitivity".

        Raises
        ------
        ValueError
            If an argument cannot be used, or a learner fails on a split.
        """
        stopwatch = Stopwatch()
        assumed = _assumed_rho(rho, self.n_folds)
        repeats = self._repeats(n_repeats)
        losses: _Losses | _GivenLosses
        if self._known is not None:
            refuse_arguments(rng=rng, n_jobs=n_jobs, batch_size=batch_size)
            losses, e, folds, seed = self._known, self._known.e, self._known.folds, None
        else:
            check_workers(n_jobs, batch_size)
            generator, seed = make_generator(rng)
            folds = fold_numbers(draw_orders(generator, repeats, self.n_obs), self.n_folds)
            with hooks.fitting(self), progress_bar(progress, self.method_name, "fit") as bar:
                losses = evaluated = _Losses(self, self._evaluators(n_jobs, batch_size), bar)
                e = evaluated.of(folds, generator)
        found = _Decomposition(self, e, folds, assumed, _name_of(rho))
        settings = {
            "learn_size": self.learn_sizes[0] if len(self.learn_sizes) == 1 else self._learn_size,
            "n_folds": self.n_folds,
            "estimator": self.estimator,
            "rho": rho,
            "n_repeats": repeats,
            **({"rng": seed} if self._given is None else {}),
        }
        return self._finish(self._result(found, losses, settings, stopwatch.seconds))

    def _repeats(self, n_repeats: Any) -> int:
        repeats = as_integer("n_repeats", n_repeats)
        if repeats < 1:
            raise ValueError(f"n_repeats must be at least 1, got {repeats}")
        if self._known is not None:
            n_given = len(self._known.folds)
            if repeats not in (1, n_given):
                raise ValueError(
                    f"n_repeats={repeats}, but the design of the given losses has {n_given}: leave "
                    "it out"
                )
            return n_given
        if repeats > 1 and self.n_folds == self.n_obs:
            raise ValueError(
                f"n_repeats={repeats} repeats the same leave-one-out splits: use n_repeats=1, or "
                "fewer folds"
            )
        return repeats

    def _evaluators(self, n_jobs: int | None, batch_size: int | None) -> list[Evaluator]:
        return [
            Evaluator(self.sample, learner, self.loss.output, n_jobs=n_jobs, batch_size=batch_size)
            for learner in self.learners
        ]

    def _result(
        self,
        found: "_Decomposition",
        losses: "_Losses | _GivenLosses",
        settings: dict[str, Any],
        seconds: float,
    ) -> TestResult:
        status = _status(found, losses)
        chosen = found.studentised(found.variance(found.rho), usable=status == "ok")
        words = {"jackknife": "jackknife error", "cross_validation": "cross-validation error"}
        return TestResult(
            estimate=found.mean,
            se=chosen.se,
            variance=found.variance(found.rho),
            statistic=chosen.statistic,
            pvalue=chosen.pvalue,
            df=chosen.df,
            null_value=self.null_value,
            alternative=self.alternative,
            method=f"Fold covariance test of the K-fold {words[self.estimator]}",
            estimand=self.estimand,
            reference=chosen.reference,
            status=status,
            n_obs=self.n_obs,
            n_fits=losses.n_fits,
            elapsed=seconds,
            settings=self._settings() | settings,
            diagnostics=found.diagnostics | losses.diagnostics,
            notes=_notes(self, found, losses),
            tables=_tables(found),
            pictures=_pictures(found),
            assumption=found.assumption,
        )


# --------------------------------------------------------------------------------- losses


class _Losses:
    """Losses of all observations under K-fold cross-validation, and what went by on the way."""

    def __init__(self, test: FoldCovarianceTest, evaluators: list[Evaluator], bar: Any) -> None:
        self._test, self._evaluators, self._bar = test, evaluators, bar
        self._ties: Counter[str] = Counter()
        self.n_fits = 0
        self.identical = len(evaluators) == 2

    def of(self, folds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The e of section 2.5 for folds (R, n)."""
        return cross_validated_losses(folds, self._test.n_folds, self._test.estimator, rng, self)

    def __call__(self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray) -> np.ndarray:
        """Losses, or their differences, where tested; 0 elsewhere."""
        test = self._test
        losses = []
        for evaluator in self._evaluators:
            predictions = evaluator.predict(learning, testing, seeds)
            losses.append(losses_where_tested(test.loss, test.sample, predictions.values, testing))
            self._ties.update(predictions.ties)
            self.n_fits += len(learning)
            self._bar.update(len(learning))
        if len(losses) == 1:
            return losses[0]
        self.identical = self.identical and bool((losses[0] == losses[1]).all())
        return losses[0] - losses[1]

    @property
    def diagnostics(self) -> dict[str, int]:
        """Ties, and learning sets with one class."""
        single = sum(evaluator.one_class_fits for evaluator in self._evaluators)
        return {"one_class_fits": single, **self._ties}


class _GivenLosses:
    """The same for losses that exist."""

    def __init__(self, given: LossDifference, folds: np.ndarray) -> None:
        self._given, self.folds = given, folds
        self.n_fits = given.n_fits
        self.identical = given.identical
        row, observation = np.nonzero(given.design.testing)
        self.e = np.empty(folds.shape)
        self.e[row // (given.design.n_resamples // len(folds)), observation] = given.values

    @property
    def diagnostics(self) -> dict[str, int]:
        """Ties, and learning sets with one class."""
        return {"one_class_fits": 0, **self._given.diagnostics}


def cross_validated_losses(
    folds: np.ndarray,
    n_folds: int,
    estimator: Estimator,
    rng: np.random.Generator,
    losses: Any,
) -> np.ndarray:
    """The e of section 2.5, whose mean is the estimate.

    Parameters
    ----------
    folds : ndarray of int, shape (R, n)
        R repetitions, every one with folds 0 to n_folds - 1.
    n_folds : int
    estimator : {"cross_validation", "jackknife"}
    rng : numpy Generator
        Draws one seed for each fit.
    losses : callable
        ``losses(learning, testing, seeds)``: losses (B, n) where tested, 0 elsewhere.

    Returns
    -------
    ndarray, shape (R, n)
        The loss after learning without the fold; for the jackknife K times the loss after
        learning everything less the losses after leaving out the other folds.
    """
    jackknife = estimator == "jackknife"
    n_obs = folds.shape[1]
    e = np.zeros(folds.shape)
    if jackknife:
        everything = np.ones((1, n_obs), dtype=bool)
        e += n_folds * losses(everything, everything, rng.integers(2**31 - 1, size=1))
    for rows in _row_batches(folds.size * n_folds // n_obs, n_obs):
        repeat, left_out = np.divmod(rows, n_folds)
        held = folds[repeat] == left_out[:, None]
        seeds = rng.integers(2**31 - 1, size=len(rows))
        testing = np.ones_like(held) if jackknife else held
        found = losses(~held, testing, seeds)
        np.add.at(e, repeat, np.where(held, 0.0, -found) if jackknife else found)
    return e


def _row_batches(n_rows: int, n_obs: int) -> Iterator[np.ndarray]:
    size = max(1, ROW_CELLS // n_obs)
    for start in range(0, n_rows, size):
        yield np.arange(start, min(start + size, n_rows))


# -------------------------------------------------------------------------- what is found


@dataclass(frozen=True)
class _Studentised:
    se: float
    statistic: float
    pvalue: float
    df: float
    reference: str
    low: float
    high: float


class _Decomposition:
    """The moments of the losses, and the variances that follow from them."""

    def __init__(
        self,
        test: FoldCovarianceTest,
        e: np.ndarray,
        folds: np.ndarray,
        rho: float,
        name: str,
    ) -> None:
        self._test, self._e, self._folds = test, e, folds
        self.rho, self.name = rho, name
        self.moments = moments(e, folds)
        self.n_repeats, self.n_obs = e.shape
        self.n_folds = test.n_folds
        self.fold_size = mean_fold_size(np.array(test.fold_sizes))

    @property
    def mean(self) -> float:
        return self.moments["mean"]

    @property
    def lambda1(self) -> float:
        return self.moments["lambda1"]

    @property
    def lambda2(self) -> float:
        return self.moments["lambda2"]

    @property
    def null_value(self) -> float:
        return self._test.null_value

    @property
    def jackknife(self) -> bool:
        return self._test.estimator == "jackknife"

    @property
    def reduction(self) -> float:
        """What averaging the repetitions takes off the variance of one of them."""
        if self.n_repeats == 1:
            return 0.0
        return (1 - 1 / self.n_repeats) * self.moments["repeat_variance"]

    @property
    def only_rounding(self) -> bool:
        """Whether fold means are all the same, up to rounding."""
        return abs(self.lambda2) / self.n_obs <= (ROUNDING * self.mean) ** 2

    def variance(self, rho: float) -> float:
        """Variance of the estimate under an assumed rho; NaN for none."""
        one = variance_given_rho(self.lambda2, rho, self.n_obs, self.fold_size)
        return one - self.reduction

    @cached_property
    def independent(self) -> float:
        """The variance that takes all losses as independent."""
        return float(self._e.var(axis=1, ddof=1).mean()) / self.n_obs - self.reduction

    @cached_property
    def width(self) -> float:
        """Width of the range of e; infinite for a loss without bounds."""
        bounds = self._test.loss.bounds
        if bounds is None:
            return math.inf
        width = bounds[1] - bounds[0]
        if self.jackknife:
            # K times one loss less K - 1 others.
            width *= 2 * self.n_folds - 1
        return width * (2 if self._test.paired else 1)

    @cached_property
    def admissible(self) -> tuple[float, float]:
        """The lowest and the highest variance of the estimate that are possible."""
        low, high = admissible_variances(
            self.lambda1,
            self.lambda2,
            self.n_obs,
            self.fold_size,
            width=self.width,
            nonnegative_omega=not self.jackknife,
        )
        return max(0.0, low - self.reduction), high - self.reduction

    def covariances(self, rho: float) -> tuple[float, float, float]:
        """sigma^2, omega and gamma that follow from a rho; all NaN without pairs within folds."""
        of_fold = self.lambda2 / self.fold_size / (1 - rho)
        omega = of_fold - self.lambda1 / self.fold_size
        if math.isnan(omega):
            return of_fold, math.nan, rho * of_fold
        return self.lambda1 + omega, omega, rho * of_fold

    def studentised(self, variance: float, *, usable: bool = True) -> _Studentised:
        """What a variance would give; NaN where it is not positive or not to be used."""
        test = self._test
        se = math.sqrt(variance) if variance >= 0 else math.nan
        positive = usable and 0 < se < math.inf and not self.only_rounding
        reference, df = ("t", float(self.n_folds - 1)) if positive else ("none", math.nan)
        statistic = math.nan
        if positive and not math.isnan(test.null_value):
            statistic = (self.mean - test.null_value) / se
        pvalue = wald_pvalue(statistic, reference, df, test.alternative)
        low, high = wald_interval(self.mean, se, reference, df, test.alternative, LEVEL)
        return _Studentised(se, statistic, pvalue, df, reference, low, high)

    @cached_property
    def rho_flip(self) -> float:
        """The rho up to which the null hypothesis is rejected at 5%; NaN where at none."""
        test = self._test
        distance = self.mean - test.null_value
        wrong_side = {"less": distance >= 0, "greater": distance <= 0, "two-sided": False}
        usable = self.lambda2 > 0 and not self.only_rounding
        if math.isnan(distance) or wrong_side[test.alternative] or not usable:
            return math.nan
        tail = LEVEL / 2 if test.alternative == "two-sided" else LEVEL
        critical = ReferenceDistribution(self.n_folds - 1).isf(tail)
        largest = (distance / critical) ** 2 + self.reduction
        odds = largest * self.fold_size / self.lambda2 - self.fold_size / self.n_obs
        flip = odds / (1 + odds)
        return flip if flip > -1 / (self.n_folds - 1) else math.nan

    @property
    def variances(self) -> dict[str, float]:
        """Variances by the name of what they assume."""
        names = {"independent": self.independent, "naive": self.variance(0.0)}
        names["nadeau_bengio"] = self.variance(1 / self.n_folds)
        if self.name:
            names.setdefault(self.name, self.variance(self.rho))
        return names

    @property
    def diagnostics(self) -> dict[str, Any]:
        sigma_squared, omega, gamma = self.covariances(self.rho)
        values = self.moments | {
            "lambda3": math.nan,
            "variance_independent": self.independent,
            "admissible_low": self.admissible[0],
            "admissible_high": self.admissible[1],
            "rho": self.rho,
            **({} if self.assumption is None else {"assumption": self.assumption}),
            "rho_flip": self.rho_flip,
            "sigma_squared": sigma_squared,
            "omega": omega,
            "gamma": gamma,
            "fold_means": self.fold_means,
        }
        del values["mean"]
        return values | ({"variance": self.name} if self.name else {})

    @property
    def assumption(self) -> str | None:
        """What the test takes for granted, for the verdict."""
        return None if math.isnan(self.rho) else f"rho = {self.rho:.3g}"

    @property
    def fold_means(self) -> np.ndarray:
        """Mean of e in every fold, (R, K)."""
        sums, sizes = np.zeros((2, self.n_repeats, self.n_folds))
        places = (np.arange(self.n_repeats)[:, None], self._folds)
        np.add.at(sums, places, self._e)
        np.add.at(sizes, places, 1)
        return sums / sizes


def _status(found: _Decomposition, losses: _Losses | _GivenLosses) -> str:
    if losses.identical:
        return (
            "degenerate: the two learners had the same loss at every observation in every fit, "
            "so there is no difference to test; compare learners that differ"
        )
    if math.isnan(found.rho):
        return NO_ASSUMPTION
    if found.only_rounding:
        return (
            "degenerate: the mean loss was the same in all folds, which leaves no variance to "
            "estimate; use other folds (rng), or a loss that varies"
        )
    variance = found.variance(found.rho)
    if variance < 0:
        cure = "a larger rho, or n_repeats=1" if found.lambda2 > 0 else "n_folds that divide n"
        return (
            f"negative variance estimate ({variance:.3g}), which an unbiased estimate can be: "
            f"use {cure}"
        )
    return "ok"


# -------------------------------------------------------------------- tables and pictures


def _tables(found: _Decomposition) -> dict[str, dict[str, tuple[Any, ...]]]:
    tables = {
        "Moments": _moment_table(found),
        "Variances": _variance_table("variance", found, found.variances),
        "Admissible variances": _variance_table(
            "end", found, dict(zip(("lowest", "highest"), found.admissible, strict=True))
        ),
    }
    if not found.only_rounding:
        tables["Sensitivity to rho"] = _sensitivity_table(found)
    if math.isnan(found.null_value):
        return {title: _without(table, "pvalue") for title, table in tables.items()}
    return tables


def _without(table: dict[str, tuple[Any, ...]], column: str) -> dict[str, tuple[Any, ...]]:
    return {name: cells for name, cells in table.items() if name != column}


def _moment_table(found: _Decomposition) -> dict[str, tuple[Any, ...]]:
    meanings = {
        "s1": "sigma^2 + mu^2",
        "s2": "omega + mu^2",
        "s3": "gamma + mu^2",
        "lambda1": "sigma^2 - omega",
        "lambda2": "sigma^2 + (m-1) omega - m gamma",
        "lambda3": "n times the variance: none exists",
    }
    return {
        "moment": tuple(meanings),
        "estimate": tuple(found.moments.get(name, math.nan) for name in meanings),
        "unbiased_for": tuple(meanings.values()),
    }


def _variance_table(
    heading: str, found: _Decomposition, variances: dict[str, float]
) -> dict[str, tuple[Any, ...]]:
    """Variances side by side, with the 95% interval and p-value that each would give."""
    rows = []
    for name, variance in variances.items():
        one = found.studentised(variance)
        rows.append((name, variance, one.low, one.high, one.pvalue))
    columns = (heading, "estimate", "conf_low", "conf_high", "pvalue")
    return dict(zip(columns, zip(*rows, strict=True), strict=True))


def _sensitivity_table(found: _Decomposition) -> dict[str, tuple[Any, ...]]:
    rows = []
    for rho in sorted({*TABLE_RHOS, 1 / found.n_folds}):
        one = found.studentised(found.variance(rho))
        rows.append((rho, one.se, one.low, one.high, one.pvalue))
    columns = ("rho", "se", "conf_low", "conf_high", "pvalue")
    return dict(zip(columns, zip(*rows, strict=True), strict=True))


def _pictures(found: _Decomposition) -> dict[str, Picture]:
    pictures = {"admissible": _admissible_picture(found), "sensitivity": _sensitivity(found)}
    return {kind: picture for kind, picture in pictures.items() if picture is not None}


def _admissible_picture(found: _Decomposition) -> Picture | None:
    """Figure 5.3 in units of sigma^2, and the line in it that the estimates leave open.

    With lambda_1 and lambda_2 fixed, gamma/sigma^2 is linear in u = omega/sigma^2, because
    sigma^2 = lambda_1/(1 - u): it is u - slope (1 - u).
    """
    n, m = found.n_obs, found.fold_size
    if not found.lambda1 > 0:
        return None
    least = -1 / (m - 1) if found.jackknife else 0.0
    ends = np.array([least, 1.0])
    above, below = (1 + (m - 1) * ends) / m, -(1 + (m - 1) * ends) / (n - m)
    slope = (found.lambda2 - found.lambda1) / (m * found.lambda1)
    # Where the variance of the mean would be zero.
    lowest = (slope - 1 / (n - m)) / (1 + slope + (m - 1) / (n - m))
    highest = max(1 - 4 * found.lambda1 / found.width**2, 0.0)
    line = np.array([max(lowest, least), highest])
    layers = [
        Layer(
            "area",
            np.concatenate([ends, ends[::-1]]),
            np.concatenate([below, above[::-1]]),
            label="possible",
        ),
        Layer(
            "line", line, line - slope * (1 - line), label="left open by the losses", role="other"
        ),
    ]
    sigma_squared, omega, gamma = found.covariances(found.rho)
    if sigma_squared > 0:
        layers.append(
            Layer(
                "points",
                omega / sigma_squared,
                gamma / sigma_squared,
                label=f"rho = {found.rho:.3g}",
                role="estimate",
            )
        )
    layers.append(
        Layer("horizontal", y=0.0, label="gamma = 0, as naive variances have it", role="null")
    )
    return Picture(
        "omega / sigma^2 (covariance within a fold)",
        "gamma / sigma^2 (covariance between folds)",
        tuple(layers),
    )


def _sensitivity(found: _Decomposition) -> Picture | None:
    """The p-value over all admissible rho."""
    lowest = -1 / (found.n_folds - 1)
    rhos = np.linspace(lowest, 1, CURVE_POINTS + 2)[1:-1]
    pvalues = np.array([found.studentised(found.variance(rho)).pvalue for rho in rhos])
    exists = np.isfinite(pvalues)
    if not exists.any():
        return None
    layers = [
        Layer("line", rhos[exists], pvalues[exists], label="p-value"),
        Layer("horizontal", y=LEVEL, label=f"{LEVEL:.0%} level", role="limit"),
    ]
    if not math.isnan(found.rho):
        label = f"assumed: rho = {found.rho:.3g}"
        layers.append(Layer("vertical", x=found.rho, label=label, role="estimate"))
    if not math.isnan(found.rho_flip):
        label = f"verdict changes: rho = {found.rho_flip:.3g}"
        layers.append(Layer("vertical", x=found.rho_flip, label=label, role="other"))
    return Picture("rho (correlation of the mean losses of two folds)", "p-value", tuple(layers))


# ----------------------------------------------------------------------------- in words


def _notes(
    test: FoldCovarianceTest, found: _Decomposition, losses: _Losses | _GivenLosses
) -> tuple[str, ...]:
    notes = [
        "Assumes independent observations and learners that do not depend on the order of rows.",
        "lambda3, n times the variance of the estimate, has no unbiased estimate (Bengio and "
        "Grandvalet 2005, Theorem 5.1): only quadratic forms a s1 + b s2 + c s3 could be one, "
        "with a + b + c = 1 to match the variance and a + b + c = 0 to be free of the squared "
        "mean. The losses hold a single draw of their mean, and repeating the cross-validation "
        "gives no other.",
        _admissible_note(found),
        "The naive variance takes folds as independent; its expectation is too small by gamma, "
        "the covariance of losses in different folds.",
        *_rho_notes(found),
        *_special_notes(test, found),
    ]
    notes.extend(one_class_and_tie_notes(losses.diagnostics))
    notes.extend(reuse_notes(test._given))
    return tuple(notes)


def _admissible_note(found: _Decomposition) -> str:
    low, high = found.admissible
    if high < low:
        return (
            f"The estimates of lambda1 and lambda2 contradict the bounds of the loss: no variance "
            f"of at least {low:.3g} is possible below {high:.3g}. Their errors are large here."
        )
    fixed = "lambda2" if math.isnan(found.lambda1) else "lambda1 and lambda2"
    end = "on, without end" if math.isinf(high) else f"to {high:.3g}"
    return f"With {fixed} as estimated, every variance from {low:.3g} {end} is possible."


def _rho_notes(found: _Decomposition) -> list[str]:
    notes = []
    if not math.isnan(found.rho):
        _, omega, _ = found.covariances(found.rho)
        source = ", 1/K, after Nadeau and Bengio" if found.name == "nadeau_bengio" else ""
        notes.append(
            f"The test assumes rho = {found.rho:.3g}{source}: a correlation of the mean losses of "
            "two folds that the data cannot confirm. Fold means are taken as normal."
        )
        if omega < 0 and not found.jackknife:
            notes.append(
                "With this rho the estimates make omega negative, which it cannot be: a larger "
                "rho fits them better, or lambda2 is estimated too low by chance."
            )
    flip = found.rho_flip
    if math.isnan(flip):
        if not math.isnan(found.null_value) and found.lambda2 > 0 and not found.only_rounding:
            notes.append(f"No possible rho gives a rejection at the {LEVEL:.0%} level.")
        return notes
    # Two decimals say nothing of small ones, and -0.00 nothing at all.
    shown = f"{flip:.2f}" if abs(flip) >= 0.1 else f"{flip:.2g}"
    if math.isnan(found.rho) or found.rho <= flip:
        return [*notes, f"Rejection at the {LEVEL:.0%} level stands up to rho = {shown}."]
    return [*notes, f"Rejection at the {LEVEL:.0%} level would need rho below {shown}."]


def _special_notes(test: FoldCovarianceTest, found: _Decomposition) -> list[str]:
    notes = []
    if found.n_folds == found.n_obs:
        notes.append(
            "Leave-one-out: there are no pairs within folds, so s2, omega and lambda1 do not exist."
        )
    if found.n_folds == 2:
        notes.append(
            "Two folds: the learning sets are disjoint, yet gamma is not zero, because each is "
            "the test set of the other; one degree of freedom is left."
        )
    if len(set(test.fold_sizes)) > 1:
        notes.append(
            f"Folds have {min(test.fold_sizes)} or {max(test.fold_sizes)} observations and are "
            "weighted accordingly; one observation more or less to learn from is taken to change "
            "no variance."
        )
    if found.jackknife:
        notes.append(
            "The losses of the jackknife can have a negative covariance within folds, which "
            "makes more variances possible than for cross-validation."
        )
    if found.n_repeats > 1:
        notes.append(
            f"Mean of {found.n_repeats} repetitions: moments are averaged, and the variance of "
            f"the estimate is that of one repetition less {found.reduction:.3g}, estimated from "
            "the variance between repetitions."
        )
    return notes


# ------------------------------------------------------------------------------ checking


def checked_folds(n_folds: Any, n_obs: int) -> int:
    """The number of folds, if n observations can be split into as many.

    Raises
    ------
    ValueError
        If it is no integer from 2 to n, or n is below 3.
    """
    if n_obs < 3:
        raise ValueError(f"X has {n_obs} observations: at least 3 are needed")
    number = as_integer("n_folds", n_folds)
    if not 2 <= number <= n_obs:
        raise ValueError(
            f"n_folds must lie between 2 and n = {n_obs}, got {number}: use {min(10, n_obs)}"
        )
    return number


def checked_estimator(estimator: Any) -> Estimator:
    """The name of an estimator.

    Raises
    ------
    ValueError
        If it is unknown.
    """
    if estimator not in ESTIMATORS:
        raise ValueError(f"estimator={estimator!r} is unknown: use one of {', '.join(ESTIMATORS)}")
    return estimator


def _assumed_rho(rho: Any, n_folds: int) -> float:
    """The number that an assumption stands for; NaN for none."""
    if rho is None:
        return math.nan
    if isinstance(rho, str):
        if rho != "nadeau_bengio":
            raise ValueError(f"rho={rho!r} is unknown: use 'nadeau_bengio', a number or None")
        return 1 / n_folds
    lowest = -1 / (n_folds - 1)
    if not is_number(rho) or not lowest < rho < 1:
        raise ValueError(
            f"rho must lie between -1/(n_folds - 1) = {lowest:.3g} and 1, got {rho!r}: use "
            "'nadeau_bengio' for 1/n_folds, or None for no assumption"
        )
    return float(rho)


def _name_of(rho: Rho) -> str:
    """How tables name the variance under an assumption; empty for none."""
    if rho is None:
        return ""
    if isinstance(rho, str):
        return rho
    return "naive" if rho == 0 else f"rho = {rho:g}"
