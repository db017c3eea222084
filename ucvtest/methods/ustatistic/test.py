"""The U-statistic test of Fuchs, Hornung, De Bin and Boulesteix (2013)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import as_integer, check_workers
from ucvtest.common.runtime import Stopwatch, make_generator, progress_bar
from ucvtest.designs.design import Design
from ucvtest.designs.draws import (
    all_learning_sets,
    draw_from_halves,
    draw_orders,
    exchange_one,
    learning_sets,
)
from ucvtest.designs.structure import disjoint_sets_of
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.inference.from_losses import FromLosses, refuse_arguments
from ucvtest.inference.report import reuse_notes, tie_notes
from ucvtest.kernels.ustatistic.accumulator import MAX_OBS_PAIR_EFFECTS, Accumulator
from ucvtest.kernels.ustatistic.groups_of_draws import Draws, number_of_groups
from ucvtest.kernels.ustatistic.overlaps import OverlapFit
from ucvtest.kernels.ustatistic.variances import MonteCarloEstimates
from ucvtest.learners.adapters.translate import Backend
from ucvtest.losses.loss import LOSSES, Loss, losses_where_tested
from ucvtest.losses.table import LossDifference
from ucvtest.methods.ustatistic.enumeration import MAX_SUBSETS, CompleteSums
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import Alternative, wald_interval, wald_pvalue

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["KappaProfile", "UStatisticTest", "resamples_for_precision"]

Variance = Literal["auto", "clipped", "jackknife", "unbiased", "asymptotic"]

VARIANCES = ("clipped", "jackknife", "unbiased", "asymptotic")
NEED_DISJOINT = ("clipped", "unbiased", "asymptotic")

FEW_OBS = 20
"""With fewer observations the clipped variance is too small too often: at n = 12 its nominal 95%
intervals covered 89.0%, the jackknife's 97.5%; at n = 20 they covered 92.5 to 95.5%
(examples/reproduce_coverage.py with --n-obs and --learn-size)."""

STAGE_PAIRS = 512
"""Pairs between the first checkpoints of "auto"."""

STAGE_CELLS = 4_000_000
"""Losses (pairs times observations) that a stage keeps in memory at most."""

SETS_PER_SIDE, SETS_PER_SIDE_LARGE = 8, 4
"""Learning sets drawn from each half of a random split: their products cost nothing, and lower the
Monte-Carlo error of Theta^2 (examples/benchmarks/designs.py). Fewer where learning sets are
larger than n/3: sets from one half then share most observations, which costs the other estimates
precision."""

EXCHANGE_SHARE = 4
"""One split in so many has a set fitted again with one observation exchanged, for the
asymptotic variance; every split where that one is asked for."""

ROUNDING = 1e-12
"""Standard error, as a share of the estimate, that is no more than rounding error."""

MIN_PAIRS = 20
"""Fewer pairs do not tell their own Monte-Carlo error."""

DEFAULT_TOL = 0.05

MAX_FITS_JITTED = 200_000
MAX_FITS_OTHERWISE = 20_000

TABLE_ALPHA = 0.05
"""Level of the table of variances, which is made with the result."""

REMEDY_PAIRS = "raise n_pairs (or, with n_pairs='auto', max_fits)"
REMEDY_LOSSES = "use losses of more draws (uv.designs.DisjointSets)"


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

    admits = (
        "disjoint learning sets of one size drawn in pairs (DisjointSets), with the loss of every "
        "other observation"
    )

    loss: Loss
    learn_size: int
    _drawn: tuple[int, int] = (0, 0)
    """Of given losses: numbers of draws and of learning sets on each side."""

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
        self.learn_size = _learn_size(learn_size, self.sample.n_obs)
        self._check_learners(self.learn_size)

    def _take(self, given: LossDifference) -> None:
        self._drawn = disjoint_sets_of(given.design)
        self.learn_size = given.design.learn_sizes[0]
        if not self.disjoint:
            raise ValueError(
                f"the design learns from {self.learn_size} of {self.n_obs} observations at a time, "
                f"and the test needs learn_size <= {self.n_obs // 2 - 1}"
            )
        if self._drawn[0] < 2:
            raise ValueError(
                "the design has one draw, and a Monte-Carlo error needs several: use "
                "uv.designs.DisjointSets with a larger n_draws"
            )
        _ = given.values  # refuses scores, and means alone

    @property
    def method_name(self) -> str:
        """Short name for keys."""
        return "ustatistic"

    @property
    def disjoint(self) -> bool:
        """Whether n >= 2g + 2, so that the unbiased variance exists."""
        return self.n_obs >= 2 * self.learn_size + 2

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        size = f"at learning-set size {self.learn_size}"
        if not self.paired:
            return f"unconditional {self.loss.in_words} {size}"
        return f"difference of unconditional {self.loss.plural} {size}"

    def fit(
        self,
        n_pairs: int | Literal["auto", "exact"] = "auto",
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
        rng : None, int or numpy Generator
            Decides the draws, the same for every learner, `n_jobs` and `batch_size`. The
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

        Raises
        ------
        ValueError
            If an argument cannot be used, or a learner fails on a split.
        """
        stopwatch = Stopwatch()
        if self._given is not None:
            refuse_arguments(max_fits=max_fits, rng=rng, n_jobs=n_jobs, batch_size=batch_size)
            plan = self._known_plan(n_pairs, variance, tol)
            known = _KnownRun(self, plan, self._given)
            return self._finish(self._result(plan, known, known.sampled(), stopwatch.seconds))
        plan = self._plan(n_pairs, variance, tol, max_fits, rng, n_jobs, batch_size)
        with hooks.fitting(self), progress_bar(progress, self.method_name, "fit") as bar:
            run = _Run(self, plan, bar)
            estimates = run.exact() if plan.n_pairs == "exact" else run.sampled()
        return self._finish(self._result(plan, run, estimates, stopwatch.seconds))

    def kappa_profile(
        self,
        c_values: Sequence[int] | None = None,
        n_pairs: int | Literal["exact"] = 1000,
        *,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> "KappaProfile":
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
        c_needed = self._c_values(c_values)
        if isinstance(n_pairs, str) and n_pairs != "exact":
            raise ValueError(f"n_pairs={n_pairs!r} is unknown here: use an integer or 'exact'")
        plan = self._plan(
            n_pairs, "jackknife", 0.05, None, rng, n_jobs, batch_size, "use a number of pairs"
        )
        with hooks.fitting(self), progress_bar(progress, "kappa", "fit") as bar:
            run = _Run(self, plan, bar)
            if plan.n_pairs == "exact":
                return run.exact_profile(c_needed)
            return run.sampled_profile(c_needed)

    # ------------------------------------------------------------------ planning, checking

    def _plan(
        self,
        n_pairs: Any,
        variance: Any,
        tol: float,
        max_fits: int | None,
        rng: Any,
        n_jobs: int | None,
        batch_size: int | None,
        remedy: str = "raise max_fits, or use n_pairs='auto'",
    ) -> "_Plan":
        jitted = all(learner.backend == "jax" for learner in self.learners)
        default_fits = MAX_FITS_JITTED if jitted else MAX_FITS_OTHERWISE
        if max_fits is not None and as_integer("max_fits", max_fits) < 4:
            raise ValueError(f"max_fits must be at least 4, got {max_fits}")
        if not isinstance(tol, (int, float)) or not 0 < tol < 1:
            raise ValueError(f"tol must lie between 0 and 1, got {tol!r}: use 0.05 for 5%")
        check_workers(n_jobs, batch_size)
        generator, seed = make_generator(rng)
        plan = _Plan(
            n_pairs=_n_pairs(n_pairs),
            variance=self._variance(variance),
            asked=variance,
            tol=float(tol),
            max_fits=default_fits if max_fits is None else max_fits,
            seed=seed,
            generator=generator,
            n_jobs=n_jobs,
            batch_size=batch_size,
        )
        if plan.n_pairs == "exact":
            self._check_enumeration(plan.max_fits, remedy)
        return plan

    def _known_plan(self, n_pairs: Any, variance: Any, tol: Any) -> "_Plan":
        """What given losses leave open: the variance."""
        number = self._drawn[0] * self._drawn[1]
        if n_pairs not in ("auto", number):
            raise ValueError(
                f"n_pairs={n_pairs!r}, but the given losses are of {number} pairs: leave it out"
            )
        if tol != DEFAULT_TOL:
            raise ValueError(f"tol={tol!r} has no use where losses are given: leave it out")
        if variance == "asymptotic":
            raise ValueError(
                "variance='asymptotic' needs further fits, and losses are given: use 'clipped' or "
                "'jackknife'"
            )
        generator = np.random.default_rng(0)  # decides nothing here
        chosen = self._variance(variance)
        return _Plan(number, chosen, variance, DEFAULT_TOL, 0, None, generator, None, None)

    def _variance(self, variance: str) -> str:
        n, g = self.n_obs, self.learn_size
        if variance == "auto":
            suits = FEW_OBS <= n <= MAX_OBS_PAIR_EFFECTS
            return "clipped" if self.disjoint and suits else "jackknife"
        if variance not in VARIANCES:
            raise ValueError(
                f"variance={variance!r} is unknown: use one of auto, {', '.join(VARIANCES)}"
            )
        if variance in NEED_DISJOINT and not self.disjoint:
            raise ValueError(
                f"variance={variance!r} needs n >= 2 * learn_size + 2, got n = {n} and "
                f"learn_size = {g}: use learn_size <= {n // 2 - 1}, or variance='jackknife'"
            )
        if variance == "clipped" and n > MAX_OBS_PAIR_EFFECTS:
            raise ValueError(
                f"variance='clipped' needs n <= {MAX_OBS_PAIR_EFFECTS}, got n = {n}: use "
                "variance='jackknife', which hardly differs from it there"
            )
        return variance

    def _check_enumeration(self, max_fits: int, remedy: str) -> None:
        n, g = self.sample.n_obs, self.learn_size
        n_fits = comb(n, g) * len(self.learners)
        if n_fits > max_fits:
            raise ValueError(
                f"n_pairs='exact' needs {n_fits} fits, max_fits is {max_fits}: {remedy}"
            )
        if self.disjoint and comb(n, g + 1) > MAX_SUBSETS:
            raise ValueError(
                f"n_pairs='exact' needs {comb(n, g + 1)} subsets in memory, more than "
                f"{MAX_SUBSETS}: use random pairs"
            )

    def _c_values(self, c_values: Sequence[int] | None) -> tuple[int, ...]:
        n, m = self.sample.n_obs, self.learn_size + 1
        lowest = max(0, 2 * m - n)
        if c_values is None:
            return tuple(range(lowest, m + 1))
        found = tuple(sorted({as_integer("c_values", c) for c in c_values}))
        if not found or found[0] < lowest or found[-1] > m:
            raise ValueError(
                f"c_values must be integers from {lowest} to {m} = learn_size + 1, "
                f"got {list(c_values)}"
            )
        return found

    # ------------------------------------------------------------------------------ result

    def _result(
        self, plan: "_Plan", run: "_Run", found: MonteCarloEstimates, seconds: float
    ) -> TestResult:
        chosen = _studentise(self, plan, run, found, run.variance)
        diagnostics = {
            "mc_se_estimate": found.mc_se["estimate"],
            "mc_se_variance": found.mc_se[run.variance],
            "variance": run.variance,
            "n_pairs": run.n_pairs,
            "converged": run.converged,
            "one_class_fits": run.one_class_fits,
            **{f"variance_{name}": value for name, value in _variances(found).items()},
            **run.ties,
        }
        if "theta_squared" in found.values:
            diagnostics["theta_squared"] = found.values["theta_squared"]
        return TestResult(
            estimate=float(found.values["estimate"]),
            se=chosen.se,
            variance=float(found.values[run.variance]),
            statistic=chosen.statistic,
            pvalue=chosen.pvalue,
            df=chosen.df,
            null_value=self.null_value,
            alternative=self.alternative,
            method="U-statistic test of the complete error estimate",
            estimand=self.estimand,
            reference=chosen.reference,
            status=chosen.status,
            n_obs=self.n_obs,
            n_fits=run.n_fits,
            elapsed=seconds,
            settings=self._settings() | self._own_settings(plan),
            diagnostics=diagnostics,
            notes=_notes(self, plan, run),
            tables={"Variances": _variance_table(self, plan, run, found)},
        )

    def _own_settings(self, plan: "_Plan") -> dict[str, Any]:
        own = plan.settings(self.learn_size)
        if self._given is None:
            return own
        return {name: own[name] for name in ("learn_size", "n_pairs", "variance")}


@dataclass(frozen=True)
class _Plan:
    """The validated arguments of a fit."""

    n_pairs: int | str
    variance: str
    asked: str
    tol: float
    max_fits: int
    seed: int | None
    generator: np.random.Generator
    n_jobs: int | None
    batch_size: int | None

    @property
    def fallback(self) -> bool:
        """Whether the jackknife may take over from the clipped variance."""
        return self.asked == "auto" and self.variance == "clipped"

    def settings(self, learn_size: int) -> dict[str, Any]:
        return {
            "learn_size": learn_size,
            "n_pairs": self.n_pairs,
            "variance": self.asked,
            "tol": self.tol,
            "max_fits": self.max_fits,
            "rng": self.seed,
        }


class _Run:
    """One pass of resampling: draws learning sets, has them evaluated, sums up."""

    remedy = REMEDY_PAIRS

    def __init__(self, test: UStatisticTest, plan: _Plan, bar: Any) -> None:
        self.test, self.plan, self.bar = test, plan, bar
        self.n = test.sample.n_obs
        self.g = test.learn_size
        self.evaluators = [
            Evaluator(
                test.sample,
                learner,
                test.loss.output,
                n_jobs=plan.n_jobs,
                batch_size=plan.batch_size,
            )
            for learner in test.learners
        ]
        self.ties: dict[str, int] = {}
        self.n_fits = 0
        self.n_pairs = 0
        self.converged = True
        self.identical = True
        self.variance = plan.variance
        self.given_up = 0

    @property
    def one_class_fits(self) -> int:
        """Fits to learning sets with a single class."""
        return sum(evaluator.one_class_fits for evaluator in self.evaluators)

    def sampled(self) -> MonteCarloEstimates:
        """Estimates from random pairs of learning sets."""
        n_sets = self._sets_per_side
        sums = Accumulator(
            self.n, self.g, disjoint=self.test.disjoint, n_draws=-(-self._fewest // n_sets)
        )
        # The sums over one stage are done while the next one is drawn and evaluated.
        with ThreadPoolExecutor(1) as background:
            pending: Future[None] | None = None
            for n_pairs, checkpoint in self._stages():
                block = self._draw(n_pairs, n_sets)
                if pending:
                    pending.result()
                pending = background.submit(sums.add, **block)
                self.n_pairs += n_pairs
                if checkpoint:
                    pending.result()
                    found = sums.estimates()
                    if self._precise(found):
                        break
                    if self._hopeless(found):
                        # The jackknife takes over, and prefers one set from each half.
                        self.variance, self.given_up, n_sets = "jackknife", self.n_pairs, 1
            if pending:
                pending.result()
        found = self._estimates(sums)
        self.converged = self.plan.n_pairs != "auto" or self._precise(found)
        return found

    def _estimates(self, sums: Accumulator) -> MonteCarloEstimates:
        """All estimates; the jackknife takes over where the clipped variance is too rough."""
        found = sums.estimates()
        if self.variance == "clipped" and self.plan.fallback and not _reliable(found, "clipped"):
            self.variance = "jackknife"
        return found

    def _draw(self, n_pairs: int, n_sets: int) -> dict[str, Any]:
        """Evaluate n_pairs learning sets on each side, n_sets to a draw: what is summed."""
        rng, n_draws = self.plan.generator, -(-n_pairs // n_sets)
        if not self.test.disjoint:
            orders = draw_orders(rng, n_draws, self.n)
            return {"draws": self._pairs(orders, max(0, 2 * self.g - self.n))}
        used = (np.arange(n_draws * n_sets) < n_pairs).reshape(n_draws, n_sets)
        l1, l2 = draw_from_halves(rng, n_draws, n_sets, self.n, self.g)
        n_exchanged = max(1, n_draws // self._exchange_every)
        exchanged = exchange_one(rng, l1[:n_exchanged, 0], l2[:n_exchanged, 0])
        found = self._differences(np.concatenate([_used(l1, used), _used(l2, used), exchanged]))
        first, second, third = np.split(found, [n_pairs, 2 * n_pairs])
        return {
            "draws": (_in_places(first, used), _in_places(second, used), l1, l2),
            "weight": used * 1.0,
            "exchanged": (third, exchanged),
        }

    def exact(self) -> MonteCarloEstimates:
        """Estimates from all learning sets."""
        values = self._enumerate().estimates()
        return MonteCarloEstimates(values, dict.fromkeys(values, 0.0))

    def exact_profile(self, c_values: tuple[int, ...]) -> "KappaProfile":
        """All kappa_c from all learning sets."""
        if not self.test.disjoint:
            raise ValueError(
                f"n_pairs='exact' needs n >= 2 * learn_size + 2 here, got n = {self.n} and "
                f"learn_size = {self.g}: use a number of pairs"
            )
        kappa = self._enumerate().kappas()[list(c_values)]
        return KappaProfile(c_values, kappa, np.zeros(len(kappa)), self.g, self.n_fits, kappa[None])

    def sampled_profile(self, c_values: tuple[int, ...]) -> "KappaProfile":
        """Chosen kappa_c from random pairs with every overlap that they need."""
        fit = OverlapFit(self.n, self.g, int(self.plan.n_pairs))
        sizes = _split(int(self.plan.n_pairs), self._stage_limit)
        for size in sizes:
            orders = draw_orders(self.plan.generator, size, self.n)
            fit.add(self._pairs(orders, max(0, 2 * self.g - self.n)))
        sums = fit.sums(c_values)
        for overlap in sums.overlaps:
            for size in sizes:
                orders = draw_orders(self.plan.generator, size, self.n)
                sums.add(overlap, self._pairs(orders, overlap))
        groups = sums.kappas()
        kappa, k = groups.mean(axis=0), len(groups)
        mc_se = groups.std(axis=0, ddof=1) / math.sqrt(k)
        return KappaProfile(c_values, kappa, mc_se, self.g, self.n_fits, groups)

    def _enumerate(self) -> CompleteSums:
        sums = CompleteSums(self.n, self.g)
        rows = max(1, min(4096, STAGE_CELLS // self.n))
        for learning in all_learning_sets(self.n, self.g, rows):
            sums.add(self._differences(learning), learning)
        self.n_pairs = comb(self.n, self.g) // 2
        return sums

    @property
    def _fewest(self) -> int:
        """A number of pairs that the first stage has at least."""
        if self.plan.n_pairs == "auto":
            return max(2, min(STAGE_PAIRS, self.plan.max_fits // (3 * len(self.evaluators))))
        return _split(int(self.plan.n_pairs), self._stage_limit)[-1]

    @property
    def _sets_per_side(self) -> int:
        """Learning sets from each half of a split: many, as long as every group gets a split."""
        # Only the products gain; the other estimates prefer independent sets.
        if self.plan.variance not in ("clipped", "unbiased"):
            return 1
        most = SETS_PER_SIDE if 3 * self.g <= self.n else SETS_PER_SIDE_LARGE
        return max(1, min(most, self._fewest // number_of_groups(self.n, self._fewest)))

    @property
    def _exchange_every(self) -> int:
        """One draw in so many has a set with one observation exchanged; 0 for none."""
        if not self.test.disjoint:
            return 0
        return 1 if self.plan.variance == "asymptotic" else EXCHANGE_SHARE

    @property
    def _affordable(self) -> int:
        """Pairs that max_fits still allows, one exchanged set for each draw counted."""
        fits_per_pair = 2.0
        if self._exchange_every:
            fits_per_pair += 1 / self._exchange_every
        left = self.plan.max_fits - self.n_fits
        return int(left / (fits_per_pair * len(self.evaluators)))

    @property
    def _stage_limit(self) -> int:
        """Pairs that one stage may hold."""
        return max(STAGE_PAIRS, min(8 * STAGE_PAIRS, STAGE_CELLS // self.n))

    def _stages(self) -> Iterator[tuple[int, bool]]:
        """Numbers of pairs to add, and whether "auto" looks at the precision after them."""
        if self.plan.n_pairs != "auto":
            for size in _split(int(self.plan.n_pairs), self._stage_limit):
                yield size, False
            return
        size = self._fewest
        while size >= self._fewest:
            yield size, True
            # Checkpoints grow by about a third, so that looking often costs little.
            wanted = max(self._fewest, self.n_pairs // 3)
            size = min(wanted, self._stage_limit, self._affordable)

    def _precise(self, found: MonteCarloEstimates) -> bool:
        chosen = self.variance
        variance, mc_se = found.values[chosen], found.mc_se[chosen]
        if _only_rounding(found, chosen):
            return True
        if not mc_se <= self.plan.tol * abs(variance):
            return False
        se = math.sqrt(max(variance, 0.0))
        return variance < 0 or found.mc_se["estimate"] <= self.plan.tol * se

    def _hopeless(self, found: MonteCarloEstimates) -> bool:
        """Whether even max_fits will not do, and the jackknife can take over."""
        undecided = self.plan.fallback and self.variance != "jackknife"
        if not undecided or self.n_pairs < 4 * STAGE_PAIRS:
            return False
        error_at_end = found.mc_se[self.variance] * math.sqrt(self.n_fits / self.plan.max_fits)
        return not error_at_end <= found.values[self.variance] / 4

    def _pairs(self, orders: np.ndarray, overlap: int) -> Draws:
        """One set on each side of every draw, with so many observations in common."""
        l1 = learning_sets(orders, 0, self.g)
        l2 = learning_sets(orders, self.g - overlap, self.g)
        d1, d2 = self._differences(l1), self._differences(l2)
        return d1[:, None], d2[:, None], l1[:, None], l2[:, None]

    def _differences(self, learning: np.ndarray) -> np.ndarray:
        """Loss, or loss difference, of every rule at every observation; 0 inside L."""
        # Always drawn, so that the splits do not depend on which learners want a seed.
        seeds = self.plan.generator.integers(2**31 - 1, size=len(learning))
        design = Design.leave_rest_out(learning)
        losses = []
        for evaluator in self.evaluators:
            predictions = evaluator.predict_all(design.learning, design.testing, seeds)
            losses.append(self._losses(predictions.values, design.testing))
            for kind, count in predictions.ties.items():
                self.ties[kind] = self.ties.get(kind, 0) + count
            self.n_fits += len(learning)
            self.bar.update(len(learning))
        if len(losses) == 1:
            self.identical = False
            return losses[0]
        self.identical = self.identical and np.array_equal(losses[0], losses[1])
        return losses[0] - losses[1]

    def _losses(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        if self.test.loss is LOSSES["zero_one"] and predictions.dtype == np.int8:
            # Counts of errors, in the small integers in which the codes came.
            wrong = predictions != self.test.sample.target.astype(np.int8)
            wrong &= testing
            return wrong.view(np.int8)
        return losses_where_tested(self.test.loss, self.test.sample, predictions, testing)


class _KnownRun(_Run):
    """The same sums from losses that exist."""

    remedy = REMEDY_LOSSES

    def __init__(self, test: UStatisticTest, plan: _Plan, given: LossDifference) -> None:
        self.test, self.plan, self.variance = test, plan, plan.variance
        self._design, self._values = given.design, given.values
        self.n, self.g = test.n_obs, test.learn_size
        self.n_fits = given.n_fits
        counts = given.diagnostics
        self._one_class_fits = counts.pop("one_class_fits", 0)
        self.ties = counts
        self.n_pairs = test._drawn[0] * test._drawn[1]
        self.identical = given.identical
        self.converged, self.given_up = True, 0

    @property
    def one_class_fits(self) -> int:
        """Fits to learning sets with a single class."""
        return self._one_class_fits

    def sampled(self) -> MonteCarloEstimates:
        """Estimates from all pairs, without the one that needs other fits."""
        n_draws, n_sets = self.test._drawn
        sums = Accumulator(self.n, self.g, disjoint=True, n_draws=n_draws)
        rows_of_draw = 2 * n_sets
        step = max(2, STAGE_CELLS // (rows_of_draw * self.n))
        for start in range(0, n_draws, step):
            stop = min(start + step, n_draws)
            sums.add(self._block(slice(start * rows_of_draw, stop * rows_of_draw), n_sets))
        found = self._estimates(sums)
        values, mc_se = ({**each} for each in (found.values, found.mc_se))
        for each in (values, mc_se):
            del each["asymptotic"]
        return MonteCarloEstimates(values, mc_se)

    def _block(self, rows: slice, n_sets: int) -> Draws:
        size = self.n - self.g
        learning = self._design.learning[rows]
        differences = np.zeros(learning.shape)
        differences[~learning] = self._values[rows.start * size : rows.stop * size]
        shape = (-1, 2, n_sets, self.n)
        d, sets = differences.reshape(shape), learning.reshape(shape)
        return d[:, 0], d[:, 1], sets[:, 0], sets[:, 1]


@dataclass(frozen=True)
class _Studentised:
    se: float
    statistic: float
    pvalue: float
    df: float
    reference: str
    status: str


def _studentise(
    test: UStatisticTest, plan: _Plan, run: _Run, found: MonteCarloEstimates, name: str
) -> _Studentised:
    """Statistic and p-value with one of the variances, or the reason why there is none."""
    status = _status(plan, run, found, name)
    variance = found.values[name]
    se = math.sqrt(variance + found.mc_se["estimate"] ** 2) if variance >= 0 else math.nan
    reference = "t" if name in ("clipped", "jackknife") else "normal"
    df = float(test.n_obs - 1) if reference == "t" else math.nan
    statistic = math.nan
    if se > 0 and not math.isnan(test.null_value):
        statistic = float((found.values["estimate"] - test.null_value) / se)
    if status != "ok":
        reference, df = "none", math.nan
    pvalue = wald_pvalue(statistic, reference, df, test.alternative)
    return _Studentised(se, statistic, pvalue, df, reference, status)


def _status(plan: _Plan, run: _Run, found: MonteCarloEstimates, name: str) -> str:
    variance, mc_se = found.values[name], found.mc_se[name]
    if run.test.paired and run.identical:
        return (
            "degenerate: the two learners had the same loss at every observation in every fit, "
            "so there is no difference to test; compare learners that differ"
        )
    if math.isnan(variance):
        return f"the {name} variance could not be estimated: {run.remedy}"
    if run.n_pairs < MIN_PAIRS and plan.n_pairs != "exact":
        return (
            f"too few resamples: {run.n_pairs} pairs do not tell their own Monte-Carlo error; "
            f"{run.remedy} to at least {MIN_PAIRS} pairs"
        )
    if _only_rounding(found, name):
        return "degenerate: the variance estimate is zero, the loss did not vary"
    if variance < 0 and name in ("unbiased", "asymptotic"):
        remedy = "clipped" if "clipped" in found.values else "jackknife"
        return (
            f"negative variance estimate ({variance:.3g}, Monte-Carlo standard error "
            f"{mc_se:.2g}), which an unbiased estimate can be at this sample size: "
            f"use variance={remedy!r}"
        )
    if not _reliable(found, name):
        return (
            f"too few resamples: the Monte-Carlo standard error of the variance ({mc_se:.2g}) "
            f"is above a quarter of it ({variance:.2g}); {run.remedy}"
            + ("" if name == "jackknife" else ", or use variance='jackknife'")
        )
    return "ok"


def _reliable(found: MonteCarloEstimates, name: str) -> bool:
    """Whether the Monte-Carlo error of a variance is at most a quarter of it."""
    return bool(found.mc_se[name] <= found.values[name] / 4)


def _only_rounding(found: MonteCarloEstimates, name: str) -> bool:
    """Whether a variance is zero, up to the rounding of losses that are all the same."""
    return abs(found.values[name]) <= (ROUNDING * found.values["estimate"]) ** 2


def _variances(found: MonteCarloEstimates) -> dict[str, float]:
    names = (*VARIANCES, "geometric")
    return {name: float(found.values[name]) for name in names if name in found.values}


def _variance_table(
    test: UStatisticTest, plan: _Plan, run: _Run, found: MonteCarloEstimates
) -> Mapping[str, tuple[Any, ...]]:
    """All variances side by side, with the 95% interval and p-value that each would give."""
    names = [name for name in VARIANCES if name in found.values]
    rows = []
    for name in names:
        one = _studentise(test, plan, run, found, name)
        low, high = wald_interval(
            found.values["estimate"], one.se, one.reference, one.df, test.alternative, TABLE_ALPHA
        )
        rows.append((name, found.values[name], found.mc_se[name], low, high, one.pvalue))
    columns = ("variance", "estimate", "mc_se", "conf_low", "conf_high", "pvalue")
    return dict(zip(columns, zip(*rows, strict=True), strict=True))


def _notes(test: UStatisticTest, plan: _Plan, run: _Run) -> tuple[str, ...]:
    notes = [
        "Assumes independent observations and learners that do not depend on the order of rows."
    ]
    if run.variance != plan.variance:
        reason = (
            f"{run.given_up} pairs let expect that the Monte-Carlo error of the {plan.variance} "
            f"one would be above a quarter of it even at max_fits = {plan.max_fits}"
            if run.given_up
            else f"the Monte-Carlo error of the {plan.variance} one is above a quarter of it"
        )
        notes.append(
            "The jackknife variance is used, too large rather than too small on average, because "
            f"{reason}."
        )
    if plan.variance in ("unbiased", "asymptotic"):
        notes.append(
            f"The {plan.variance} variance with the normal reference is liberal at small n; "
            "variance='clipped' holds its level better."
        )
    features = 0 if test._given is not None else test.sample.features.shape[1]
    if features > test.n_obs:
        notes.append(
            f"With more features ({features}) than observations ({test.sample.n_obs}) losses "
            "can be skewed, and the interval can cover less than its nominal level."
        )
    log_loss = test.loss.output == "probability"
    if run.one_class_fits:
        notes.append(
            f"{run.one_class_fits} fits had a learning set with a single class and predict it"
            + (", with probability 0 or 1: a wrong one costs 36." if log_loss else ".")
        )
    notes.extend(tie_notes(run.ties))
    if not run.converged:
        notes.append(
            f"Stopped at max_fits = {plan.max_fits} before the Monte-Carlo error fell below "
            f"tol = {plan.tol}; it is part of the standard error."
        )
    if test._given is not None:
        notes.append(
            "The estimate is not the plain mean of the given losses: what is additive over the "
            "observations serves as a control variate, which takes out its chance variation "
            "between the draws; the expectation is the same."
        )
    notes.extend(reuse_notes(test._given))
    return tuple(notes)


@dataclass(frozen=True, eq=False)
class KappaProfile:
    """Estimates of kappa_c, which predict the variance at another sample size.

    Parameters
    ----------
    c : tuple of int
        Numbers of observations that two sets S, S' of size g + 1 have in common.
    kappa : ndarray, shape (len(c),)
        Estimates of E[Phi_0(S) Phi_0(S')].
    mc_se : ndarray, shape (len(c),)
        Their Monte-Carlo standard errors; 0 for all learning sets.
    learn_size : int
    n_fits : int
    groups : ndarray, shape (K, len(c))
        The same estimates from K independent groups of draws.
    """

    c: tuple[int, ...]
    kappa: np.ndarray
    mc_se: np.ndarray
    learn_size: int
    n_fits: int
    groups: np.ndarray

    def variance(self, n: int) -> float:
        """Predicted variance of the complete error estimate from n observations.

        Parameters
        ----------
        n : int
            At least learn_size + 1.

        Returns
        -------
        float
            v(n) of (12). Unbiased, and so negative at times where n is large; see
            `variance_mc_se`.

        Raises
        ------
        ValueError
            If the profile lacks a kappa_c that this sample size needs.
        """
        return float(self._weights(n) @ self.kappa)

    def variance_mc_se(self, n: int) -> float:
        """Monte-Carlo standard error of `variance`; 0 for all learning sets."""
        values = self.groups @ self._weights(n)
        return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0

    def summary_frame(self) -> "pd.DataFrame":
        """One row for each c."""
        import pandas as pd

        return pd.DataFrame({"c": self.c, "kappa": self.kappa, "mc_se": self.mc_se})

    def _weights(self, n: int) -> np.ndarray:
        m = self.learn_size + 1
        if as_integer("n", n) < m:
            raise ValueError(f"n must be at least learn_size + 1 = {m}, got {n}")
        if 0 not in self.c:
            raise ValueError(
                "the profile lacks kappa_0, the squared expectation, which needs a sample of "
                f"2 * learn_size + 2 = {2 * m} observations or more: use a smaller learn_size"
            )
        alpha = {c: comb(m, c) * comb(n - m, m - c) / comb(n, m) for c in range(m + 1)}
        missing = [c for c in range(1, m + 1) if alpha[c] > 0 and c not in self.c]
        if missing:
            raise ValueError(f"the profile lacks kappa_c for c = {missing}: use c_values=None")
        weights = {**alpha, 0: alpha[0] - 1.0}
        return np.array([weights[c] for c in self.c])


def resamples_for_precision(
    precision: float, confidence: float = 0.99, low: float = -1.0, high: float = 1.0
) -> int:
    """Random splits that bring an error estimate within a distance of the complete one.

    Parameters
    ----------
    precision : float
        The distance, for example 0.005 to fix two digits.
    confidence : float
        Probability of being that close.
    low, high : float
        Range of the loss (difference): (-1, 1) for the difference of error rates, (0, 1)
        for one error rate.

    Returns
    -------
    int
        Number of independent splits with one test observation each. More observations
        tested in a split can only help.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Hoeffding's inequality: Fuchs et al. (2013), (19) and Corollary 5.1 (where N = 2d+1 is
    a misprint for 10^(2d+1)). It bounds the error of the estimate only, not that of its
    variance, which is much smaller itself.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.resamples_for_precision(0.01)
    105967
    """
    if not precision > 0:
        raise ValueError(f"precision must be positive, got {precision}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if not low < high:
        raise ValueError(f"low must be below high, got {low} and {high}")
    return math.ceil((high - low) ** 2 * math.log(2 / (1 - confidence)) / (2 * precision**2))


def _learn_size(learn_size: Any, n: int) -> int:
    if n < 4:
        raise ValueError(f"X has {n} observations: at least 4 are needed")
    if learn_size is None:
        return n // 2 - 1
    size = as_integer("learn_size", learn_size)
    if not 1 <= size < n - 1:
        raise ValueError(
            f"learn_size must lie between 1 and n - 2 = {n - 2}, got {size}: use {n // 2 - 1}, "
            "the largest for which every variance exists, or leave it out"
        )
    return size


def _n_pairs(n_pairs: Any) -> int | str:
    if isinstance(n_pairs, str):
        if n_pairs not in ("auto", "exact"):
            raise ValueError(f"n_pairs={n_pairs!r} is unknown: use an integer, 'auto' or 'exact'")
        return n_pairs
    number = as_integer("n_pairs", n_pairs)
    if number < 2:
        raise ValueError(f"n_pairs must be at least 2, got {number}: use 'auto'")
    return number


def _used(sets: np.ndarray, used: np.ndarray) -> np.ndarray:
    """The sets (G, s, n) that are used, as rows."""
    # Usually all of them, which need no copy.
    return sets.reshape(-1, sets.shape[2]) if used.all() else sets[used]


def _in_places(values: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Rows (R, n) in the places that are used, zeros in the others; (G, s, n)."""
    if used.all():
        return values.reshape(*used.shape, -1)
    placed = np.zeros((*used.shape, values.shape[1]), values.dtype)
    placed[used] = values
    return placed


def _split(total: int, most: int) -> list[int]:
    """Sizes that sum to a total, as equal as possible and none above `most`."""
    n_parts = -(-total // most)
    return [total // n_parts + (part < total % n_parts) for part in range(n_parts)]
