"""The leave-pair-out test of Pahikkala et al. (2025), of an AUC against chance."""

import math
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ucvtest import hooks
from ucvtest.codes.critical_values import supremum_critical_value, supremum_pvalue
from ucvtest.codes.null_distributions import NullDistribution, simulated_nulls, wilcoxon_null
from ucvtest.common.checks import as_integer, check_workers
from ucvtest.common.exceptions import UcvtestWarning
from ucvtest.common.runtime import Stopwatch, make_generator, progress_bar
from ucvtest.data.formula import read_formula
from ucvtest.data.sample import as_response, response_has_classes
from ucvtest.designs.structure import pairs_of
from ucvtest.inference.from_losses import FromLosses, chosen_learners, refuse_arguments
from ucvtest.inference.report import INDEPENDENCE, reuse_notes
from ucvtest.kernels.leave_pair_out import LABELINGS_PER_CALL
from ucvtest.learners.adapters.translate import Backend
from ucvtest.losses.table import AUC, LossDifference, Losses
from ucvtest.methods.leave_pair_out.pair_errors import PairErrors, pair_errors
from ucvtest.results.pictures import Layer, Picture
from ucvtest.results.result import TestResult
from ucvtest.stats.monte_carlo import pvalue_error

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Forecast", "LeavePairOutTest"]

PValue = Literal["permutation", "supremum", "wmw", "empirical"]
PVALUES: tuple[PValue, ...] = ("permutation", "supremum", "wmw", "empirical")

N_SIMULATIONS = 10_000
"""Samples for each setting of the empirical p-value, as in the paper."""

MAX_LABELINGS = {"closed form": 5_000_000, "jitted fits": 20_000, "fits": 20_000}
"""Most labelings that "exact" goes through, by what one of them costs."""

LABELINGS_PER_BATCH = 4096

LONG = 60.0
"""Seconds from which a forecast is announced before the fits start."""

LEVELS = (0.05, 0.01, 0.001)
"""Levels of the table of critical values."""

LEVEL_SHOWN = 0.05
"""Level that the picture of the null distribution shows."""

IN_WORDS: dict[PValue, str] = {
    "permutation": "permutation",
    "supremum": "supremum over all algorithms",
    "wmw": "Wilcoxon-Mann-Whitney",
    "empirical": "simulated settings",
}


@dataclass(frozen=True)
class Forecast:
    """What a fit will cost.

    Parameters
    ----------
    n_fits : int
        Model fits, one for each held-out pair of each labeling.
    seconds : float
        For all of them, from the time that one labeling took.
    """

    n_fits: int
    seconds: float


class LeavePairOutTest(FromLosses):
    r"""Test of a leave-pair-out AUC against labels that mean nothing.

    Every pair of a positive and a negative observation is held out in turn, and counts as an
    error where the rule learnt from all others scores the negative one higher. W is the number
    of errors, ties counted one half; U = W/(n_1 n_0); AUC = 1 - U, an unbiased estimate of
    the AUC of rules learnt from n - 2 observations. H0: the labels are independent of all that
    the learner can see (every labeling with as many positives was equally likely).

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
        Labels of two classes, at least two observations of each.
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "ridge:1.0", or a callable ``(X_train, y_train, X_test) -> scores``. It must not depend
        on the order of the learning rows.
    pos_label, groups, backend
        See `HypothesisTest`.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Assumes that under H0 labels are exchangeable, nothing else: no distribution, no
    independence of features. Scores that tie cost one half (for linear smoothers, differences
    within rounding error), so that switching the two held-out labels turns W of the pair into
    1 - W. Ridge, kernel ridge and nearest neighbours have closed forms, O(n^2) for each
    labeling; other learners are fitted n_1 n_0 times for each.

    `from_losses` admits decision scores (loss "auc") under a design that leaves every pair out
    once (`uv.designs.LeavePairOut`). The p-values "supremum", "wmw" and "empirical" need the
    errors alone; "permutation" needs fits on permuted labels, and so is not available.

    References
    ----------
    T. Pahikkala, P. Movahedi, I. Montoya, H. Miikonen, I. Jambor, A. Airola, L. Major (2025),
    A link between coding theory and cross-validation with applications: (6), (8), (12), (18),
    Theorem 2. Errata: k in (4) and (6) must be 1 for an error; (5) fails for tied scores.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> rng = np.random.default_rng(3)
    >>> y = np.repeat([0, 1], [11, 9])
    >>> X = rng.normal(size=(20, 5)) + 0.8 * y[:, None]
    >>> result = uv.LeavePairOutTest(X, y, "ridge:1.0").fit(n_permutations=999, rng=0)
    >>> result.n_fits
    99000
    >>> bool(result.pvalue < 0.05)
    True
    """

    admits = "every pair of a positive and a negative left out once (LeavePairOut), with scores"

    _known: "_KnownErrors | None" = None

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        *,
        pos_label: Any = None,
        groups: None = None,
        backend: Backend = "auto",
    ) -> None:
        _check_labels(as_response(y), pos_label)
        super().__init__(
            X,
            y,
            learner,
            null_value=0.5,
            alternative="greater",
            output="score",
            pos_label=pos_label,
            groups=groups,
            backend=backend,
        )
        _check_class_sizes(self.sample.classes, self.sample.codes)
        self._check_learners(self.sample.n_obs - 2)

    @classmethod
    def from_formula(  # type: ignore[override]  # there is no other learner to compare with
        cls, formula: str, data: "pd.DataFrame", learner: Any, **kwargs: Any
    ) -> "LeavePairOutTest":
        """Create the test from a formula and a data frame, as in statsmodels.

        Parameters
        ----------
        formula : str
            See `HypothesisTest.from_formula`.
        data : DataFrame
        learner : learner
        **kwargs
            The keyword arguments of the class.

        Returns
        -------
        LeavePairOutTest

        Raises
        ------
        ValueError
            If the formula cannot be read, names what the data lack, or uses missing values.
        """
        y, X = read_formula(formula, data)
        return cls(X, y, learner, **kwargs)

    @classmethod
    def from_losses(  # type: ignore[override]  # one learner, and a null hypothesis of its own
        cls, losses: Losses, learner: str | int | None = None, other: None = None
    ) -> Self:
        """The test on scores that exist: `fit` then fits no model.

        Parameters
        ----------
        losses : Losses
            Of ``loss="auc"``.
        learner : str or int, optional
            Name or place in `losses`; must be given where there are several.
        other : None
            Refused: the test compares no learners.

        Returns
        -------
        LeavePairOutTest
            Its `fit` needs a `pvalue` other than "permutation".

        Raises
        ------
        ValueError
            If the losses are no scores, or their design does not leave out every pair once.
        """
        if other is not None:
            raise ValueError(
                f"{cls.__name__} compares no learners: leave other out, or use "
                "InfluenceFunctionTest"
            )
        if learner is None and isinstance(losses, Losses) and len(losses.learners) > 1:
            raise ValueError(
                f"losses has {len(losses.learners)} learners ({', '.join(losses.learners)}), and "
                "the test is about one: name learner"
            )
        given = chosen_learners(losses, learner, None)
        test = cls.__new__(cls)
        test.alternative, test.null_value, test.loss = "greater", 0.5, None
        test._given = given
        test._take(given)
        return test

    def _take(self, given: LossDifference) -> None:
        if given.losses.loss != AUC:
            raise ValueError(
                f"losses are of loss={given.losses.loss!r}, and the test needs scores: use "
                "uv.evaluate(..., loss='auc')"
            )
        _ = given.losses.known_values  # refuses means alone
        self._known = _KnownErrors(given, pairs_of(given.design, self.target))
        _check_class_sizes(np.array([0, 1]), self.target.astype(int))

    @property
    def method_name(self) -> str:
        """Short name for keys."""
        return "leave_pair_out"

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        return f"leave-pair-out AUC at learning-set size {self.n_obs - 2}"

    @property
    def labels(self) -> np.ndarray:
        """Which observations are positive, shape (n,)."""
        return self.target == 1.0

    @property
    def n_pairs(self) -> int:
        """Number of pairs of a positive and a negative observation."""
        n_positive = int(self.labels.sum())
        return n_positive * (self.n_obs - n_positive)

    def fit(
        self,
        pvalue: PValue = "permutation",
        n_permutations: int | Literal["exact"] = 9999,
        *,
        n_simulations: int = N_SIMULATIONS,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Count the errors and compare them with a null distribution.

        Parameters
        ----------
        pvalue : {"permutation", "supremum", "wmw", "empirical"}
            "permutation" counts the errors again under permuted labels, and is exact for this
            learner on these data. "supremum" is the largest probability of so few errors that
            any algorithm can have, or an upper bound for it: valid without one more fit, and
            conservative. "wmw" is the distribution for a fixed function, liberal or
            conservative for a learner. "empirical" is the largest p-value over eight simulated
            settings of ridge regression and nearest neighbours.
        n_permutations : int or "exact"
            For "permutation": labelings drawn besides the observed one, p = (count + 1)/(P + 1);
            or all C(n, n_1) of them, p = count/C(n, n_1).
        n_simulations : int
            For "empirical": samples for each setting.
        rng : None, int or numpy Generator
            Decides the draws, the same for every `n_jobs` and `batch_size`. The settings of the
            result keep the seed; None draws one. A Generator has none to keep.
        n_jobs : int, optional
            joblib's workers, for learners that are not jitted.
        batch_size : int, optional
            Labelings drawn and evaluated at once: bounds the memory, changes no result.
        progress : bool, optional
            Show a progress bar; by default on terminals, after three seconds.

        Returns
        -------
        TestResult
            ``statistic`` is U, ``estimate`` the AUC. ``diagnostics["null_errors"]`` and
            ``["null_probabilities"]`` hold the null distribution of W where there is one.

        Raises
        ------
        ValueError
            If an argument cannot be used, or a learner fails.

        Warns
        -----
        UcvtestWarning
            If the permutations will take longer than a minute: how many fits, and how long,
            before they start.
        """
        stopwatch = Stopwatch()
        plan = _plan(pvalue, n_permutations, n_simulations, rng, n_jobs, batch_size)
        if self._known is not None:
            self._refuse_fits(plan.pvalue, rng, n_jobs, batch_size)
            with progress_bar(progress, self.method_name, "fit") as bar:
                found = _Run(self, plan, self._known, bar).run()
            return self._finish(_result(self, plan, self._known, found, stopwatch.seconds))
        with hooks.fitting(self), progress_bar(progress, self.method_name, "fit") as bar:
            counter = pair_errors(self.sample, self.learner, n_jobs)
            if plan.pvalue == "permutation":
                self._check_enumeration(plan, counter)
            found = _Run(self, plan, counter, bar).run()
        return self._finish(_result(self, plan, counter, found, stopwatch.seconds))

    def _refuse_fits(self, pvalue: PValue, rng: Any, n_jobs: Any, batch_size: Any) -> None:
        if pvalue == "permutation":
            raise ValueError(
                "pvalue='permutation' needs fits on permuted labels, and scores are given: use "
                "'supremum', 'wmw' or 'empirical', or make the test from X and y"
            )
        refuse_arguments(n_jobs=n_jobs, batch_size=batch_size)
        if pvalue != "empirical":
            refuse_arguments(rng=rng)

    def forecast(
        self, n_permutations: int | Literal["exact"] = 9999, *, n_jobs: int | None = None
    ) -> Forecast:
        """How many fits a permutation p-value needs, and how long they will take.

        Parameters
        ----------
        n_permutations : int or "exact"
        n_jobs : int, optional
            joblib's workers, for learners that are not jitted.

        Returns
        -------
        Forecast

        Raises
        ------
        ValueError
            If `n_permutations` cannot be used.

        Notes
        -----
        The observed labeling is evaluated with a watch; twice by jitted learners, which are
        compiled the first time.
        """
        self._needs_data("forecast")
        plan = _plan("permutation", n_permutations, N_SIMULATIONS, 0, n_jobs, None)
        counter = pair_errors(self.sample, self.learner, n_jobs)
        if counter.how != "fits":
            self._seconds(counter)
        n_labelings = self._n_labelings(plan)
        return Forecast(n_labelings * self.n_pairs, n_labelings * self._seconds(counter))

    def _seconds(self, counter: PairErrors) -> float:
        """How long one labeling takes, of as many as are counted in one call."""
        size = LABELINGS_PER_CALL if counter.how == "closed form" else 1
        labelings = np.tile(self.labels, (size, 1))
        start = time.perf_counter()
        # A generator of its own, so that looking ahead changes no draw.
        counter.count(labelings, np.random.default_rng(0))
        return (time.perf_counter() - start) / size

    def _n_labelings(self, plan: "_Plan") -> int:
        if plan.n_permutations == "exact":
            return comb(self.sample.n_obs, int(self.labels.sum()))
        return int(plan.n_permutations) + 1

    def _check_enumeration(self, plan: "_Plan", counter: PairErrors) -> None:
        n_labelings, most = self._n_labelings(plan), MAX_LABELINGS[counter.how]
        if plan.n_permutations == "exact" and n_labelings > most:
            raise ValueError(
                f"n_permutations='exact' needs {n_labelings} labelings with {self.n_pairs} pairs "
                f"each, and learner {self.learner.name} allows {most}: use a number, such as 9999"
            )

    def _announce(self, plan: "_Plan", counter: PairErrors, seconds: float) -> None:
        """Say how long the fits will take, from the time of the observed labeling."""
        n_labelings = self._n_labelings(plan)
        if counter.how != "fits" and n_labelings * seconds > LONG:
            # The first call compiled, and a closed form counts many labelings in one.
            ties = counter.ties.copy()
            seconds = self._seconds(counter)
            counter.ties = ties
        if n_labelings * seconds <= LONG:
            return
        warnings.warn(
            f"{n_labelings * self.n_pairs} fits of {self.learner.name}, about "
            f"{_duration(n_labelings * seconds)}: a smaller n_permutations, more n_jobs, or a "
            "learner with a closed form (ridge, kernel_ridge, knn) takes less",
            UcvtestWarning,
            stacklevel=4,
        )


@dataclass(frozen=True)
class _Plan:
    """The validated arguments of a fit."""

    pvalue: PValue
    n_permutations: int | Literal["exact"]
    n_simulations: int
    seed: int | None
    generator: np.random.Generator
    batch_size: int

    def settings(self, n: int) -> dict[str, Any]:
        chosen: dict[str, Any] = {"learn_size": n - 2, "pvalue": self.pvalue}
        if self.pvalue == "permutation":
            chosen["n_permutations"] = self.n_permutations
        if self.pvalue == "empirical":
            chosen["n_simulations"] = self.n_simulations
        return chosen | {"rng": self.seed}


@dataclass(frozen=True, eq=False)
class _Found:
    """The errors of the observed labels, and their null distribution(s)."""

    n_errors: float
    n_ties: int
    n_labelings: int
    nulls: dict[str, NullDistribution]
    """By name; several for "empirical", none for "supremum"."""


class _KnownErrors:
    """The errors in scores that exist."""

    how = "given scores"

    def __init__(self, given: LossDifference, pairs: tuple[np.ndarray, np.ndarray]) -> None:
        positive, negative = pairs
        scores = given.losses.known_values[given.learner].reshape(-1, 2)
        # Of the two that are tested the one that comes first in the sample is the first.
        of_positive = np.where(positive < negative, scores[:, 0], scores[:, 1])
        of_negative = np.where(positive < negative, scores[:, 1], scores[:, 0])
        self._wrong = np.array([(of_positive < of_negative).sum()])
        self._tied = np.array([(of_positive == of_negative).sum()])
        self.ties = Counter(given.diagnostics)

    def count(
        self, labelings: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Wrong and tied pairs of the observed labeling, which is the only one asked for."""
        return self._wrong, self._tied


class _Run:
    """Counts errors for one labeling or for many."""

    def __init__(self, test: LeavePairOutTest, plan: _Plan, counter: PairErrors, bar: Any) -> None:
        self.test, self.plan, self.counter, self.bar = test, plan, counter, bar
        self.labels = test.labels
        self.n = len(self.labels)
        self.weight = int(self.labels.sum())

    def run(self) -> _Found:
        """Errors of the observed labels, and what they are compared with."""
        start = time.perf_counter()
        wrong, tied = self._count(self.labels[None])
        seconds = time.perf_counter() - start
        n_errors = float(wrong[0] + tied[0] / 2)
        n_labelings, nulls = 1, {}
        if self.plan.pvalue == "permutation":
            self.test._announce(self.plan, self.counter, seconds)
            null = self._permutations(n_errors)
            # The observed labeling is one of all, or comes on top of those that were drawn.
            n_labelings = int(null.counts.sum()) + null.sampled
            nulls = {"permutation": null}
        elif self.plan.pvalue == "wmw":
            nulls = {"wmw": wilcoxon_null(self.n, self.weight)}
        elif self.plan.pvalue == "empirical":
            nulls = simulated_nulls(
                self.n - self.weight, self.weight, self.plan.n_simulations, self.plan.generator
            )
        return _Found(n_errors, int(tied[0]), n_labelings, nulls)

    def _permutations(self, n_errors: float) -> NullDistribution:
        exact = self.plan.n_permutations == "exact"
        batches = self._all_labelings() if exact else self._random_labelings()
        errors = []
        for labelings in batches:
            wrong, tied = self._count(labelings)
            found = wrong + tied / 2
            if exact:
                # Fits with randomness of their own may differ when they are repeated.
                found[(labelings == self.labels).all(axis=1)] = n_errors
            errors.append(found)
        return NullDistribution.of(np.concatenate(errors), sampled=not exact)

    def _random_labelings(self) -> Iterator[np.ndarray]:
        total = int(self.plan.n_permutations)
        # Labelings and the seeds of fits come from generators of their own, so that neither
        # depends on how many are drawn at a time.
        (draws,) = self.plan.generator.spawn(1)
        for start in range(0, total, self.plan.batch_size):
            size = min(self.plan.batch_size, total - start)
            yield draws.permuted(np.tile(self.labels, (size, 1)), axis=1)

    def _all_labelings(self) -> Iterator[np.ndarray]:
        subsets = combinations(range(self.n), self.weight)
        while batch := list(islice(subsets, self.plan.batch_size)):
            labelings = np.zeros((len(batch), self.n), dtype=bool)
            np.put_along_axis(labelings, np.array(batch), True, axis=1)
            yield labelings

    def _count(self, labelings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        counts = self.counter.count(labelings, self.plan.generator)
        self.bar.update(len(labelings) * self.test.n_pairs)
        return counts


# ------------------------------------------------------------------------------------ result


def _result(
    test: LeavePairOutTest, plan: _Plan, counter: PairErrors, found: _Found, seconds: float
) -> TestResult:
    u = found.n_errors / test.n_pairs
    pvalue, worst = _pvalue(test, plan, found)
    null = found.nulls.get(worst)
    diagnostics: dict[str, Any] = {
        "n_errors": found.n_errors,
        "n_ties": found.n_ties,
        "n_pairs": test.n_pairs,
        "null_hypothesis": _NULL_HYPOTHESIS[plan.pvalue],
        "computed_by": counter.how,
        **counter.ties,
    }
    if null is not None:
        diagnostics["null_errors"] = null.errors
        diagnostics["null_probabilities"] = null.probabilities
        if null.sampled:
            diagnostics["mc_se_pvalue"] = pvalue_error(pvalue, int(null.counts.sum()))
    settings = test._settings() | plan.settings(test.n_obs)
    if test._given is not None and plan.pvalue != "empirical":
        settings["rng"] = test._given.losses.settings.get("rng")
    return TestResult(
        estimate=1.0 - u,
        se=math.nan,
        variance=math.nan,
        statistic=u,
        pvalue=pvalue,
        df=math.nan,
        null_value=0.5,
        alternative="greater",
        method="Leave-pair-out test of label independence",
        estimand=test.estimand,
        reference=IN_WORDS[plan.pvalue],
        status=_status(test, plan, found),
        n_obs=test.n_obs,
        n_fits=found.n_labelings * test.n_pairs,
        elapsed=seconds,
        settings={key: value for key, value in settings.items() if key not in _NOT_SET},
        diagnostics=diagnostics,
        notes=_notes(test, plan, counter, found, pvalue, worst),
        tables=_tables(test, plan, found, null),
        pictures={} if null is None else {"null": _picture(test, null, u)},
        better="higher",
        null_hypothesis=_NULL_HYPOTHESIS[plan.pvalue],
    )


_NOT_SET = ("other", "other_backend", "alternative", "null_value")


def _pvalue(test: LeavePairOutTest, plan: _Plan, found: _Found) -> tuple[float, str]:
    """The p-value, and the name of the null distribution that gives it."""
    n, weight = test.n_obs, int(test.labels.sum())
    if plan.pvalue == "supremum":
        return supremum_pvalue(found.n_errors, n, weight), ""
    # Half an error more than a whole number is not what fixed functions have: rounded up.
    n_errors = math.ceil(found.n_errors) if plan.pvalue == "wmw" else found.n_errors
    pvalues = {name: null.pvalue(n_errors) for name, null in found.nulls.items()}
    worst = max(pvalues, key=lambda name: pvalues[name])
    return pvalues[worst], worst


def _status(test: LeavePairOutTest, plan: _Plan, found: _Found) -> str:
    null = found.nulls.get("permutation")
    if found.n_ties == test.n_pairs:
        return (
            "degenerate: every pair is tied, so the learner scores all observations the same; "
            "use a learner that learns something, or a smaller penalty"
        )
    if null is not None and null.sampled and int(null.counts.sum()) < 19:
        return "too few permutations to reject at the 5% level: raise n_permutations to 999 or more"
    if null is not None and len(null.errors) == 1:
        return "degenerate: the number of errors is the same for all labelings"
    return "ok"


def _notes(
    test: LeavePairOutTest,
    plan: _Plan,
    counter: PairErrors,
    found: _Found,
    pvalue: float,
    worst: str,
) -> tuple[str, ...]:
    notes = [
        f"{found.n_errors:g} errors in {test.n_pairs} pairs; {found.n_ties} tied pairs count one "
        "half each."
    ]
    notes.append(_NULL_IN_WORDS[plan.pvalue])
    null = found.nulls.get(worst)
    if null is not None and null.sampled:
        size = int(null.counts.sum())
        error = pvalue_error(pvalue, size)
        notes.append(
            f"{size} {'permutations' if plan.pvalue == 'permutation' else 'samples a setting'}: "
            f"Monte-Carlo standard error of the p-value {error:.2g}."
        )
    if plan.pvalue == "empirical":
        notes.append(f"The largest p-value comes from: {worst}.")
    n, weight = test.n_obs, int(test.labels.sum())
    if plan.pvalue == "supremum" and supremum_critical_value(LEVEL_SHOWN, n, weight) < 0:
        notes.append(
            f"With {weight} positives and {n - weight} negatives the supremum test cannot reject "
            "at the 5% level, even without an error: use pvalue='permutation', or more data."
        )
    if counter.ties.get("distance_ties"):
        notes.append(
            "Some neighbours are equally far away; earlier rows count as nearer, and the result "
            "depends on the order of the rows."
        )
    notes.extend(reuse_notes(test._given))
    return tuple(notes)


_NULL_HYPOTHESIS: dict[PValue, str] = {
    "permutation": INDEPENDENCE,
    "supremum": INDEPENDENCE,
    # What a small p-value speaks against includes that nothing was learnt.
    "wmw": f"{INDEPENDENCE}, and the rule is not learnt from these labels",
    "empirical": f"{INDEPENDENCE}, and the learner errs as in the simulated settings",
}

_NULL_IN_WORDS: dict[PValue, str] = {
    "permutation": (
        "The p-value is exact for this learner on these data: it assumes that under the null "
        "hypothesis labels are exchangeable, and nothing else."
    ),
    "supremum": (
        "The p-value is valid for every learning algorithm: an upper bound for the share of "
        "labelings on which any can make so few errors. It is conservative."
    ),
    "wmw": (
        "The Wilcoxon-Mann-Whitney distribution is that of a function which learnt nothing from "
        "these labels; for a learner it is no valid null distribution."
    ),
    "empirical": (
        "The p-value is the largest over simulated settings of ridge regression and nearest "
        "neighbours: it holds for these, and for others by experience only."
    ),
}


def _tables(
    test: LeavePairOutTest, plan: _Plan, found: _Found, null: NullDistribution | None
) -> dict[str, dict[str, tuple[Any, ...]]]:
    n, weight = test.n_obs, int(test.labels.sum())
    if null is None:
        largest = [float(supremum_critical_value(alpha, n, weight)) for alpha in LEVELS]
    else:
        largest = [
            min(each.critical_value(alpha) for each in found.nulls.values()) for alpha in LEVELS
        ]
    tables: dict[str, dict[str, tuple[Any, ...]]] = {
        "Largest number of errors that rejects": {
            "level": tuple(f"{100 * alpha:g}%" for alpha in LEVELS),
            "errors": tuple("none" if errors < 0 else f"{errors:g}" for errors in largest),
            "AUC": tuple(
                "none" if errors < 0 else f"{1 - errors / test.n_pairs:.4f}" for errors in largest
            ),
        }
    }
    if plan.pvalue == "empirical":
        tables["Simulated settings"] = {
            "setting": tuple(found.nulls),
            "pvalue": tuple(each.pvalue(found.n_errors) for each in found.nulls.values()),
        }
    return tables


def _picture(test: LeavePairOutTest, null: NullDistribution, u: float) -> Picture:
    """The null distribution of U with the observed value and the level: Figures 1, 3 and 6."""
    layers = [
        Layer("bars", null.errors / test.n_pairs, null.probabilities, label="null distribution")
    ]
    critical = null.critical_value(LEVEL_SHOWN)
    if critical >= 0:
        layers.append(Layer("vertical", critical / test.n_pairs, label="5% level", role="limit"))
    layers.append(Layer("vertical", u, label="observed", role="estimate"))
    return Picture("share of wrong pairs, U", "probability", tuple(layers))


# ---------------------------------------------------------------------------------- checking


def _plan(
    pvalue: Any,
    n_permutations: Any,
    n_simulations: Any,
    rng: Any,
    n_jobs: int | None,
    batch_size: int | None,
) -> _Plan:
    if pvalue not in PVALUES:
        raise ValueError(f"pvalue={pvalue!r} is unknown: use one of {', '.join(PVALUES)}")
    if isinstance(n_permutations, str):
        if n_permutations != "exact":
            raise ValueError(
                f"n_permutations={n_permutations!r} is unknown: use an integer or 'exact'"
            )
    elif as_integer("n_permutations", n_permutations) < 1:
        raise ValueError(f"n_permutations must be at least 1, got {n_permutations}: use 9999")
    if as_integer("n_simulations", n_simulations) < 1:
        raise ValueError(f"n_simulations must be at least 1, got {n_simulations}: use 10000")
    check_workers(n_jobs, batch_size)
    generator, seed = make_generator(rng)
    return _Plan(
        pvalue,
        n_permutations,
        n_simulations,
        seed,
        generator,
        LABELINGS_PER_BATCH if batch_size is None else batch_size,
    )


def _check_labels(response: np.ndarray, pos_label: Any) -> None:
    if pos_label is None and response.ndim == 1 and not response_has_classes(response):
        raise ValueError(
            "y must hold labels of two classes, but it holds real values: "
            "cut them at a threshold, for example y > 0"
        )


def _check_class_sizes(classes: Any, codes: Any) -> None:
    sizes = np.bincount(codes, minlength=len(classes))
    if len(classes) != 2:
        raise ValueError(
            f"y must hold labels of two classes, got {len(classes)}: compare two of them, or one "
            "with all others, for example y == label"
        )
    few = int(sizes.argmin())
    if sizes[few] < 2:
        label, n = classes.tolist()[few], int(sizes.sum())
        raise ValueError(
            f"y holds the label {label!r} once: without it a rule has a single class to learn "
            f"from. Two or more are needed. What remains possible is a score that is not learnt "
            f"from these labels, with scipy.stats.mannwhitneyu(method='exact'): its smallest "
            f"p-value is 1/{n}"
        )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
