"""The permutation estimate of out-of-sample error of Magdon-Ismail and Mertsalov (2011)."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import as_integer, check_workers
from ucvtest.common.runtime import Stopwatch, make_generator, progress_bar
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.inference.hypothesis_test import HypothesisTest
from ucvtest.inference.report import INDEPENDENCE, tie_notes
from ucvtest.kernels.permutation import (
    SAMPLINGS,
    Sampling,
    complexity_bound,
    error_bound,
    smoother_complexity,
    smoother_optimism,
)
from ucvtest.learners.adapters.translate import Backend
from ucvtest.losses.loss import Loss
from ucvtest.methods.permutation.labelings import (
    all_labels,
    draw_labels,
    n_labellings,
    reference_labels,
)
from ucvtest.methods.permutation.optimism import (
    Optimism,
    find_smoother,
    optimism,
    relabelled_losses,
)
from ucvtest.results.pictures import Layer, Picture
from ucvtest.results.result import TestResult
from ucvtest.stats.monte_carlo import pvalue_error

__all__ = ["PermutationComplexityTest"]

BATCH_CELLS = 2**21
"""Labels (labellings times observations) that are kept in memory at a time, at most."""

MAX_LABELLINGS_JITTED = 200_000
MAX_LABELLINGS_OTHERWISE = 20_000
"""Labellings that "exact" goes through, at most."""

TIED = 100 * np.finfo(float).eps
"""In-sample errors that differ by less are equal but for rounding, as a share of the error itself
and of that on new labels: the errors of a rule that interpolates are rounding and nothing else."""

LEAST_FOR_TEST = 19
"""Fewest permutations whose smallest p-value is 0.05."""

MOST_BARS = 60


class PermutationComplexityTest(HypothesisTest):
    r"""Out-of-sample error of a learner, from how well it fits permuted labels.

    Estimand: the expected loss, at a new observation, of the rule learnt from all n
    observations. The estimate is its in-sample error plus the optimism that the learner shows
    on permuted labels, where nothing can be learnt. H0 of the p-value: labels and features are
    independent; it is small where the in-sample error is smaller than on permuted labels.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as "ridge:1",
        or a callable ``(X_train, y_train, X_test) -> predictions``.
    loss : str, callable, Loss or matrix, optional
        By default zero_one for classes and squared error for a real response. A matrix holds
        ``loss[true, predicted]`` of the classes in ascending order, `pos_label` last. Two labels
        under squared or absolute loss are coded 0 and 1: with -1 and 1, as in the paper, squared
        error is four times as large.
    pos_label, groups, backend
        See `HypothesisTest`.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Assumes independent observations. That the optimism is the same on the real labels is an
    assumption: where the learner finds a strong signal, the estimate is often too large, and a
    learner that reproduces its labels (1 nearest neighbour) is assigned the error of guessing.
    The estimate has no standard error; what is given is its Monte-Carlo error. The p-value is
    valid for every learner. Cost: one fit for each labelling; "analytic" needs none.

    No losses of resamples are admitted by `from_losses`: what the test compares are fits of all
    observations to permuted labels, which no learning and test sets of one sample hold.

    References
    ----------
    M. Magdon-Ismail, K. Mertsalov (2011), A permutation approach to validation: Theorems 1 to 4
    and 6, Corollary 4, section 2.3. Errata: the constants of Corollary 4 and Theorem 6 (see
    `ucvtest.kernels.permutation`); Theorem 2 holds on average only with replacement.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> test = uv.PermutationComplexityTest(X[50:, :2], y[50:], "lda")
    >>> result = test.fit(n_permutations=99, rng=0)
    >>> result.pvalue
    0.01
    >>> bool(0 < result.diagnostics["e_gen"] < 0.2)
    True
    """

    admits = "none: it needs fits to permuted labels, which no losses of resamples hold"

    loss: Loss

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        *,
        loss: Any = None,
        pos_label: Any = None,
        groups: None = None,
        backend: Backend = "auto",
    ) -> None:
        super().__init__(
            X,
            y,
            learner,
            alternative="less",
            loss=loss,
            pos_label=pos_label,
            groups=groups,
            backend=backend,
        )
        _check_response(self)
        self._check_learners(self.sample.n_obs)

    @classmethod
    def from_losses(
        cls, losses: Any, learner: str | int | None = None, other: None = None
    ) -> NoReturn:
        """Refuse losses that exist, with the reason.

        Parameters
        ----------
        losses : Losses
        learner, other : optional

        Raises
        ------
        ValueError
            Always.
        """
        raise ValueError(
            f"{cls.__name__} admits no losses: it needs fits to permuted labels; make the test "
            "from X and y"
        )

    @property
    def method_name(self) -> str:
        """Short name for keys."""
        return "permutation"

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        return f"out-of-sample {self.loss.in_words} of the rule learnt from all observations"

    def fit(
        self,
        n_permutations: int | Literal["exact", "analytic"] = 100,
        sampling: Sampling = "permutation",
        delta: float = 0.05,
        *,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Estimate and test.

        Parameters
        ----------
        n_permutations : int, "exact" or "analytic"
            Labellings to draw. "exact" goes through all different ones. "analytic" is the
            mean over all of them in closed form, for squared loss and linear smoothers: ridge,
            polynomial and kernel ridge regression, `smoother`, nearest neighbours, and every
            regressor whose fit is a matrix times y. It gives no p-value.
        sampling : {"permutation", "bootstrap", "rademacher"}
            The observed labels in random order; labels drawn from them with replacement; or,
            for two classes, fair coins. Only permutations give a p-value.
        delta : float
            Probability with which the bounds may fail.
        rng : None, int or numpy Generator
            Decides the draws, the same for every learner, `n_jobs` and `batch_size`.
        n_jobs : int, optional
            joblib's workers, for learners that are not jitted.
        batch_size : int, optional
            Labellings evaluated at once: bounds the memory, changes no result.
        progress : bool, optional
            Show a progress bar; by default on terminals, after three seconds.

        Returns
        -------
        TestResult
            ``diagnostics`` holds e_in, e_gen and p_in; the bounds are there for zero_one loss
            and two classes.

        Raises
        ------
        ValueError
            If an argument cannot be used, or a learner fails on a labelling.
        """
        stopwatch = Stopwatch()
        plan = self._plan(n_permutations, sampling, delta, rng, n_jobs, batch_size)
        with hooks.fitting(self), progress_bar(progress, self.method_name, "fit") as bar:
            run = _Run(self, plan, bar)
            found = run.analytic() if plan.n_permutations == "analytic" else run.resampled()
        return self._finish(_result(self, plan, run, found, stopwatch.seconds))

    def _plan(
        self,
        n_permutations: Any,
        sampling: Any,
        delta: Any,
        rng: Any,
        n_jobs: int | None,
        batch_size: int | None,
    ) -> "_Plan":
        if sampling not in SAMPLINGS:
            raise ValueError(f"sampling={sampling!r} is unknown: use one of {', '.join(SAMPLINGS)}")
        if sampling == "rademacher" and self.sample.n_classes != 2:
            raise ValueError(
                "sampling='rademacher' needs two classes, as labels are drawn by a fair coin: use "
                "sampling='permutation'"
            )
        if not isinstance(delta, (int, float)) or not 0 < delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, got {delta!r}: use 0.05")
        check_workers(n_jobs, batch_size)
        generator, seed = make_generator(rng)
        plan = _Plan(
            _n_permutations(n_permutations),
            sampling,
            float(delta),
            seed,
            generator,
            n_jobs,
            batch_size,
        )
        if plan.n_permutations == "exact":
            self._check_enumeration(sampling)
        if plan.n_permutations == "analytic" and self.loss.name != "squared":
            raise ValueError(
                f"n_permutations='analytic' needs squared loss, got loss={self.loss.name!r}: use "
                "loss='squared', or a number of permutations"
            )
        return plan

    def _check_enumeration(self, sampling: Sampling) -> None:
        jitted = self.learner.backend == "jax"
        most = MAX_LABELLINGS_JITTED if jitted else MAX_LABELLINGS_OTHERWISE
        number = n_labellings(self.sample.target, sampling)
        if number > most:
            raise ValueError(
                f"n_permutations='exact' needs {number} fits, more than {most}: use a number of "
                "permutations, or 'analytic' for linear smoothers"
            )


@dataclass(frozen=True)
class _Plan:
    """The validated arguments of a fit."""

    n_permutations: int | str
    sampling: Sampling
    delta: float
    seed: int | None
    generator: np.random.Generator
    n_jobs: int | None
    batch_size: int | None

    def settings(self) -> dict[str, Any]:
        return {
            "n_permutations": self.n_permutations,
            "sampling": self.sampling,
            "delta": self.delta,
            "rng": self.seed,
        }


@dataclass(frozen=True)
class _Found:
    """Estimates, and the labellings that they come from; None for closed forms."""

    e_in: float
    e_gen: float
    p_in: float
    mc_se: Mapping[str, float]
    relabelled: Optimism | None
    observed: np.ndarray | None = None
    """Which of all labellings is the observed one; None where they are not enumerated."""


class _Run:
    """One pass: fits the real labels and the drawn ones, and sums up."""

    def __init__(self, test: PermutationComplexityTest, plan: _Plan, bar: Any) -> None:
        self.test, self.plan, self.bar = test, plan, bar
        self.n_fits = 0
        self.one_class_fits = 0
        self.ties: dict[str, int] = {}
        self.observed: list[np.ndarray] = []

    def resampled(self) -> _Found:
        """From labellings drawn at random, or from all."""
        test, plan = self.test, self.plan
        sample, loss = test.sample, test.loss
        evaluator = Evaluator(
            sample, test.learner, loss.output, n_jobs=plan.n_jobs, batch_size=plan.batch_size
        )
        # Seeds of the fits come from a stream of their own, so that labels depend on rng alone.
        seeds = np.random.default_rng(int(plan.generator.integers(2**63 - 1)))
        real = sample.target[None]
        predictions = evaluator.predict_labelings(real, seeds.integers(2**31 - 1, size=1))
        self._count(1, predictions.ties)
        e_in = relabelled_losses(loss, sample, predictions.values, real, sample.target)["e_in"]
        found = optimism(
            evaluator, sample, loss, plan.sampling, self._batches(), seeds, self._count
        )
        self.one_class_fits = evaluator.one_class_fits
        names = ("e_gen", "p_in", "e_in")
        errors = {name: found.mc_se(name) for name in names}
        observed = np.concatenate(self.observed) if self.observed else None
        means = found.mean("e_gen"), found.mean("p_in")
        return _Found(float(e_in[0]), *means, errors, found, observed)

    def analytic(self) -> _Found:
        """From the smoother, without labellings."""
        sample, sampling = self.test.sample, self.plan.sampling
        matrix, n_fits = find_smoother(self.test.learner, sample, self.plan.n_jobs)
        self._count(max(n_fits, 1), {})
        y, n = sample.target, sample.n_obs
        drawn = reference_labels(y, sampling)
        mean, variance = float(drawn.mean()), float(drawn.var())
        trace, total = float(np.trace(matrix)), float(matrix.sum())
        p_in = smoother_complexity(mean, variance, trace, total, n, sampling)
        if sample.n_classes == 2:
            # The same with labels and fitted values in -1, 1 instead of 0, 1.
            p_in = 4 * p_in - 2 * mean - 2 * mean * total / n + 1
        e_gen = smoother_optimism(variance, trace, total, n, sampling)
        e_in = float(np.mean((y - matrix @ y) ** 2))
        errors = dict.fromkeys(("e_gen", "p_in"), 0.0)
        return _Found(e_in, float(e_gen), float(p_in), errors, None)

    def _batches(self) -> Iterator[tuple[np.ndarray, np.ndarray | None]]:
        plan, target = self.plan, self.test.sample.target
        size = plan.batch_size or max(1, BATCH_CELLS // len(target))
        if plan.n_permutations == "exact":
            for labels, probability in all_labels(target, plan.sampling, size):
                self.observed.append((labels == target).all(axis=1))
                yield labels, probability
            return
        n_drawn = int(plan.n_permutations)
        for start in range(0, n_drawn, size):
            count = min(size, n_drawn - start)
            yield draw_labels(plan.generator, target, plan.sampling, count), None

    def _count(self, n_fits: int, ties: Mapping[str, int]) -> None:
        self.n_fits += n_fits
        self.bar.update(n_fits)
        for kind, count in ties.items():
            self.ties[kind] = self.ties.get(kind, 0) + count


def _result(
    test: PermutationComplexityTest, plan: _Plan, run: _Run, found: _Found, seconds: float
) -> TestResult:
    e_out = found.e_in + found.e_gen
    bounds = _bounds(test, plan, found)
    diagnostics: dict[str, Any] = {
        "e_in": found.e_in,
        "e_gen": found.e_gen,
        "p_in": found.p_in,
        "mc_se_estimate": found.mc_se["e_gen"],
        "mc_se_p_in": found.mc_se["p_in"],
        **bounds,
        "one_class_fits": run.one_class_fits,
        **run.ties,
    }
    tables = {"Parts": _parts(found, e_out)}
    if bounds:
        tables[f"Upper bounds that hold with probability {1 - plan.delta:g}"] = _bound_table(bounds)
    pictures = {}
    if found.relabelled is not None:
        diagnostics["e_in_permuted"] = found.relabelled.mean("e_in")
        diagnostics["mc_se_e_in_permuted"] = found.relabelled.mc_se("e_in")
        pictures["null distribution"] = _picture(test, plan, found.relabelled, found.e_in)
    pvalue, null_hypothesis = _pvalue(plan, found), None
    if not math.isnan(pvalue):
        exact = plan.n_permutations == "exact"
        diagnostics["mc_se_pvalue"] = (
            0.0 if exact else pvalue_error(pvalue, int(plan.n_permutations))
        )
        null_hypothesis = diagnostics["null_hypothesis"] = INDEPENDENCE
    matrix = test.loss.matrix
    return TestResult(
        estimate=e_out,
        se=math.nan,
        variance=math.nan,
        statistic=found.e_in,
        pvalue=pvalue,
        df=math.nan,
        null_value=math.nan,
        alternative="less",
        method="Permutation test and estimate of out-of-sample error",
        estimand=test.estimand,
        reference=_reference(plan, found),
        status=_status(plan),
        n_obs=test.sample.n_obs,
        n_fits=run.n_fits,
        elapsed=seconds,
        settings={
            **test._settings(),
            **plan.settings(),
            **({} if matrix is None else {"loss_matrix": matrix.tolist()}),
        },
        diagnostics=diagnostics,
        notes=_notes(test, plan, run, found),
        tables=tables,
        pictures=pictures,
        null_hypothesis=null_hypothesis,
    )


def _pvalue(plan: _Plan, found: _Found) -> float:
    """Share of labellings that are fitted as well as the real one, or better."""
    if found.relabelled is None or plan.sampling != "permutation":
        return math.nan
    e_out = found.relabelled.mean("e_in") + found.relabelled.mean("e_gen")
    tolerance = TIED * max(abs(found.e_in), abs(e_out))
    as_small = found.relabelled.e_in <= found.e_in + tolerance
    if found.relabelled.probability is not None and found.observed is not None:
        # Fits with randomness of their own may differ when they are repeated.
        as_small |= found.observed
        # All permutations are equally likely: a count, which no sum of shares rounds.
        return float(as_small.mean())
    return float((as_small.sum() + 1) / (len(as_small) + 1))


def _reference(plan: _Plan, found: _Found) -> str:
    if found.relabelled is None or plan.sampling != "permutation":
        return "none"
    number = len(found.relabelled.e_in)
    return f"all {number} labellings" if plan.n_permutations == "exact" else "permutation"


def _status(plan: _Plan) -> str:
    if plan.n_permutations == 1:
        return (
            "too few resamples: a single labelling does not tell its own Monte-Carlo error; raise "
            "n_permutations to at least 2"
        )
    return "ok"


def _bounds(test: PermutationComplexityTest, plan: _Plan, found: _Found) -> dict[str, float]:
    """Bounds of Theorem 6 and Corollary 4, for the error rate of two classes."""
    sample = test.sample
    if test.loss.name != "zero_one" or sample.n_classes != 2 or found.relabelled is None:
        return {}
    exact = plan.n_permutations == "exact"
    n_drawn = math.inf if exact else len(found.relabelled.e_in)
    # One half of delta for the draws, the other one for the sample.
    delta = plan.delta if exact else plan.delta / 2
    n_minority = int(np.bincount(sample.target.astype(int)).min())
    p_in = complexity_bound(found.p_in, sample.n_obs, n_minority, n_drawn, delta, plan.sampling)
    bound = error_bound(found.e_in, p_in, sample.n_obs, delta, plan.sampling)
    return {"p_in_bound": p_in, "error_bound": bound}


def _parts(found: _Found, e_out: float) -> dict[str, tuple[Any, ...]]:
    return {
        "part": ("e_in", "e_gen", "e_out", "P_in"),
        "value": (found.e_in, found.e_gen, e_out, found.p_in),
        "mc_se": (0.0, found.mc_se["e_gen"], found.mc_se["e_gen"], found.mc_se["p_in"]),
    }


def _bound_table(bounds: Mapping[str, float]) -> dict[str, tuple[Any, ...]]:
    return {
        "bound on": ("P_in (Theorem 6)", "error rate (Corollary 4)"),
        "value": (bounds["p_in_bound"], bounds["error_bound"]),
    }


def _picture(
    test: PermutationComplexityTest, plan: _Plan, relabelled: Optimism, e_in: float
) -> Picture:
    """In-sample errors on drawn labels as bars, and the one on the real labels."""
    weight = relabelled.probability
    if weight is None:
        weight = np.full(len(relabelled.e_in), 1.0 / len(relabelled.e_in))
    values, place = np.unique(relabelled.e_in.round(12), return_inverse=True)
    width = None
    heights = np.bincount(place, weight)
    if len(values) > MOST_BARS:
        heights, edges = np.histogram(relabelled.e_in, bins=MOST_BARS // 2, weights=weight)
        values, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
    label = {"permutation": "permuted", "bootstrap": "resampled", "rademacher": "coin-flip"}
    return Picture(
        f"in-sample {test.loss.in_words}",
        "share of labellings",
        (
            Layer("bars", values, heights, f"{label[plan.sampling]} labels", "data", width),
            Layer("vertical", x=e_in, label="observed labels", role="estimate"),
        ),
    )


def _notes(
    test: PermutationComplexityTest, plan: _Plan, run: _Run, found: _Found
) -> tuple[str, ...]:
    notes = [
        "The optimism on drawn labels stands for that on the real ones; the estimate has no "
        "standard error, and no interval."
    ]
    if plan.sampling != "permutation":
        notes.append("No p-value: the null distribution needs sampling='permutation'.")
    elif found.relabelled is None:
        notes.append("No p-value: the closed form has no null distribution; use permutations.")
    elif plan.n_permutations != "exact" and int(plan.n_permutations) < LEAST_FOR_TEST:
        notes.append(
            f"With {plan.n_permutations} permutations no p-value can be 0.05 or smaller: raise "
            "n_permutations to 999 for a test."
        )
    if _bounds(test, plan, found):
        notes.append(
            "The bounds hold for a learner that minimises the in-sample error over a class of "
            "rules with each rule's negation in it; above 1 they say nothing."
        )
    if test.sample.n_classes == 2 and test.loss.name in ("squared", "absolute"):
        notes.append("The classes are coded 0 and 1.")
    if run.one_class_fits:
        notes.append(
            f"{run.one_class_fits} labellings had a single class, which is then predicted."
        )
    notes.extend(tie_notes(run.ties))
    return tuple(notes)


def _check_response(test: PermutationComplexityTest) -> None:
    """Refuse responses of which nothing is left to permute."""
    sample = test.sample
    if sample.n_obs < 3:
        raise ValueError(f"X has {sample.n_obs} observations: at least 3 are needed")
    if sample.classes is None:
        if np.ptp(sample.target) == 0:
            raise ValueError(
                f"y is constant ({sample.target[0]:g}): its permutations are all the same, so "
                "there is nothing to test"
            )
        return
    counts = np.bincount(sample.target.astype(int))
    if counts.min() < 2:
        label = sample.classes.tolist()[int(counts.argmin())]
        raise ValueError(
            f"y has a single observation of class {label!r}: a class needs at least 2; drop it, "
            "or merge classes"
        )


def _n_permutations(n_permutations: Any) -> int | str:
    if isinstance(n_permutations, str):
        if n_permutations not in ("exact", "analytic"):
            raise ValueError(
                f"n_permutations={n_permutations!r} is unknown: use an integer, 'exact' or "
                "'analytic'"
            )
        return n_permutations
    number = as_integer("n_permutations", n_permutations)
    if number < 1:
        raise ValueError(f"n_permutations must be at least 1, got {number}: use 100")
    return number
