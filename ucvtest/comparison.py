"""Several tests, or several learners, side by side: fitted once, in one table."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from ucvtest import hooks
from ucvtest.base import Stopwatch, checked_alternative, make_generator, progress_bar
from ucvtest.comparison_plan import Group, Plan, Planned, Question, TestSpec, naming
from ucvtest.learners.translate import Backend
from ucvtest.loss_evaluation import evaluate_sample, named_learners
from ucvtest.results import Alternative, TestResult, _plain, _restored, check_written

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ucvtest.comparison_summary import ComparisonSummary

__all__ = ["Comparison", "Correction", "Fits", "Pair", "TestSpec", "compare"]

Correction = Literal[
    "holm", "bonferroni", "sidak", "holm-sidak", "simes-hochberg", "hommel", "fdr_bh", "fdr_by"
]
"""The corrections of statsmodels whose adjusted p-values do not depend on a level."""

FORMAT_VERSION = 1

OWN = "drawn by the test itself"
"""The design of tests that share none."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Fits:
    """Models that were fitted on one design, and the tests that used them.

    Parameters
    ----------
    design : str
        In words.
    learn_sizes : tuple of int
        Sizes of the learning sets.
    n_resamples : int or None
        Learning sets; None where the tests draw their own for each pair of learners.
    n_fits : int
        Model fits, each learner and each learning set counted once.
    tests : tuple of str
    """

    design: str
    learn_sizes: tuple[int, ...]
    n_resamples: int | None
    n_fits: int
    tests: tuple[str, ...]


# Compared and hashed by identity, as results are.
@dataclass(frozen=True, eq=False)
class Comparison:
    """Learners compared by one or several tests.

    Parameters
    ----------
    learners : tuple of str
        Names.
    results : mapping of (test, learner, other) to TestResult
        Every test of every pair; estimates are the first learner minus the second.
    fits : tuple of Fits
        What was fitted for it.
    correction : str or None
        How p-values are adjusted for the number of pairs.
    elapsed : float
        Seconds.
    settings : mapping
        All that is needed to repeat it on the same data.

    Notes
    -----
    p-values are adjusted over the pairs of learners within each test. Several tests of the same
    difference are no family: adjusting for their number would answer a question that nobody
    asks, and choosing among them by their p-values is not mended by it. Decide beforehand which
    one counts. A pair without a p-value counts in its family as p = 1. Intervals are not adjusted.
    """

    learners: tuple[str, ...]
    results: Mapping[tuple[str, str, str], TestResult]
    fits: tuple[Fits, ...]
    correction: str | None
    elapsed: float
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        for name in ("results", "settings"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies cannot be pickled; the dictionary form can.
        return (type(self).from_dict, (self.to_dict(),))

    def __repr__(self) -> str:
        return (
            f"Comparison(learners={self.learners}, tests={self.tests}, n_obs={self.n_obs}, "
            f"n_fits={self.n_fits})"
        )

    def __str__(self) -> str:
        return str(self.summary().as_text())

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests, by their labels."""
        return tuple(dict.fromkeys(test for test, _, _ in self.results))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of learners, first and second."""
        return tuple(dict.fromkeys((first, second) for _, first, second in self.results))

    @property
    def n_obs(self) -> int:
        """Observations."""
        return next(iter(self.results.values())).n_obs

    @property
    def n_fits(self) -> int:
        """Model fits in all: what tests share is counted once."""
        return sum(each.n_fits for each in self.fits)

    # Kept: statsmodels collects garbage at each adjustment, which takes longer than all else.
    @cached_property
    def adjusted_pvalues(self) -> Mapping[tuple[str, str, str], float]:
        """p-values adjusted for the number of pairs, under the keys of `results`."""
        adjusted: dict[tuple[str, str, str], float] = {}
        for test in self.tests:
            family = [key for key in self.results if key[0] == test]
            values = np.array([self.results[key].pvalue for key in family])
            adjusted |= dict(zip(family, _adjusted(values, self.correction), strict=True))
        return MappingProxyType({key: adjusted[key] for key in self.results})

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each test and pair, with 95% intervals."""
        return self.summary_frame()

    @property
    def verdict(self) -> str:
        """The answer in words, at the 5% level."""
        from ucvtest.comparison_summary import verdict

        return verdict(self)

    def result(
        self, test: str | None = None, learner: str | None = None, other: str | None = None
    ) -> TestResult:
        """One of the results.

        Parameters
        ----------
        test, learner, other : str, optional
            What has only one value may be left out.

        Raises
        ------
        ValueError
            If there is none, or more than one.
        """
        asked = (test, learner, other)
        found = [
            key
            for key in self.results
            if all(each is None or each == part for each, part in zip(asked, key, strict=True))
        ]
        if len(found) != 1:
            raise ValueError(
                f"{len(found)} results are of test={test!r}, learner={learner!r}, other={other!r}: "
                f"the tests are {', '.join(self.tests)}, and the pairs "
                + ", ".join(f"{first!r} and {second!r}" for first, second in self.pairs)
            )
        return self.results[found[0]]

    def summary(self, alpha: float = 0.05, *, with_verdict: bool = True) -> "ComparisonSummary":
        """Summary tables: ``as_text``, ``as_html``, ``as_latex``, ``as_markdown``.

        Parameters
        ----------
        alpha : float
            One minus the confidence level of the intervals, and the level of the verdict.
        with_verdict : bool
            Whether the verdict stands below the tables.
        """
        from ucvtest.comparison_summary import ComparisonSummary

        return ComparisonSummary(self, alpha, with_verdict=with_verdict)

    def summary_frame(self, alpha: float = 0.05) -> pd.DataFrame:
        """One row for each test and pair.

        Parameters
        ----------
        alpha : float
            One minus the confidence level of the intervals.

        Returns
        -------
        DataFrame
            The columns of a result's `summary_frame`, with test, learner, other,
            pvalue_adjusted and estimand. `n_fits` are the fits behind a row, which other rows
            may share.
        """
        adjusted = self.adjusted_pvalues
        rows = []
        for key, result in self.results.items():
            row = result.summary_frame(alpha)
            row.insert(list(row.columns).index("pvalue") + 1, "pvalue_adjusted", adjusted[key])
            for place, name in enumerate(("test", "learner", "other")):
                row.insert(place, name, key[place])
            rows.append(row.assign(estimand=result.estimand))
        return pd.concat(rows, ignore_index=True)

    @property
    def fits_frame(self) -> pd.DataFrame:
        """One row for each design that was fitted."""
        return pd.DataFrame(
            [
                {
                    "design": each.design,
                    "learn_size": " or ".join(map(str, each.learn_sizes)),
                    "n_resamples": each.n_resamples,
                    "n_fits": each.n_fits,
                    "tests": ", ".join(each.tests),
                }
                for each in self.fits
            ]
        ).astype({"n_resamples": "Int64"})

    def plot(self, ax: "Axes | None" = None, alpha: float = 0.05) -> "Axes":
        """Draw all estimates with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        alpha : float
            One minus the confidence level of the intervals, which are not adjusted.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `alpha` is outside (0, 1).
        """
        from ucvtest.comparison_plot import plot_comparison

        return plot_comparison(self, ax, alpha)

    def save_plot(self, path: str | Path, *, alpha: float = 0.05, dpi: float = 150) -> None:
        """Write what `plot` draws to a file, without a display and without pyplot.

        Parameters
        ----------
        path : path
            Its suffix (.png, .pdf, .svg) decides the format.
        alpha : float
            One minus the confidence level of the intervals.
        dpi : float
            Pixels per inch, where the format has pixels.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the suffix is none that matplotlib can write, or `alpha` outside (0, 1).
        """
        from ucvtest.comparison_plot import save_comparison

        save_comparison(self, path, alpha=alpha, dpi=dpi)

    def to_dict(self) -> dict[str, Any]:
        """A dictionary that `json.dumps` accepts; NaN and infinity become strings."""
        return {
            "format": "ucvtest.Comparison",
            "version": FORMAT_VERSION,
            "learners": list(self.learners),
            "results": [
                {"test": test, "learner": first, "other": second, "result": result.to_dict()}
                for (test, first, second), result in self.results.items()
            ],
            "fits": [
                {
                    "design": each.design,
                    "learn_sizes": list(each.learn_sizes),
                    "n_resamples": each.n_resamples,
                    "n_fits": each.n_fits,
                    "tests": list(each.tests),
                }
                for each in self.fits
            ],
            "correction": self.correction,
            "elapsed": _plain(self.elapsed),
            "settings": _plain(self.settings),
        }

    def to_json(self, **kwargs: Any) -> str:
        """`to_dict` as strict JSON; `kwargs` go to `json.dumps`."""
        return json.dumps(self.to_dict(), allow_nan=False, **kwargs)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Comparison":
        """The comparison that `to_dict` was called on.

        Raises
        ------
        ValueError
            If `data` was not written by `to_dict`, or by a newer version of it.
        """
        check_written(data, cls, "comparison", FORMAT_VERSION)
        return cls(
            learners=tuple(data["learners"]),
            results={
                (row["test"], row["learner"], row["other"]): TestResult.from_dict(row["result"])
                for row in data["results"]
            },
            fits=tuple(
                Fits(
                    each["design"],
                    tuple(each["learn_sizes"]),
                    each["n_resamples"],
                    each["n_fits"],
                    tuple(each["tests"]),
                )
                for each in data["fits"]
            ),
            correction=data["correction"],
            elapsed=_restored(data["elapsed"]),
            settings=_restored(data["settings"]),
        )


def compare(
    X: Any,
    y: Any,
    learners: Any,
    tests: Any = "recommended",
    *,
    loss: Any = None,
    alternative: Alternative = "two-sided",
    correction: Correction | None = "holm",
    pos_label: Any = None,
    backend: Backend = "auto",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compare two learners by several tests, or several learners in pairs.

    H0 of every test and pair: the expected loss (or AUC) of both learners is the same, at
    learning sets of the test's design. Learners are fitted once for each different design,
    whatever the number of tests and pairs that use it; tests that draw their own learning sets
    ("ustatistic", "influence") are fitted by themselves.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learners : sequence or mapping
        At least two; of a mapping the keys are the names.
    tests : "recommended", str, test class, TestSpec, a list of these, or a mapping
        Short names such as "corrected_t", classes such as ``uv.CorrectedTTest``, or
        ``uv.TestSpec(name, constructor, fit)`` with options; of a mapping the keys are the
        labels in the table.
    loss : str, callable, Loss or matrix, optional
        One for all tests; "auc" compares areas under the ROC curve.
    alternative : {"two-sided", "less", "greater"}
        H1: the first learner's loss (or AUC) differs from, is below, or is above the second's.
    correction : str or None
        How p-values are adjusted for the number of pairs within each test, as
        `statsmodels.stats.multitest.multipletests` names it; None leaves them.
    pos_label, backend : optional
        See the tests.
    rng : None, int or numpy Generator
        Decides all draws. Every design is drawn with the same seed, so that each result is that
        of the test by itself with this `rng`, whatever tests stand beside it.
    n_jobs : int, optional
        joblib's workers, for learners that are not jitted.
    batch_size : int, optional
        Learning sets evaluated at once: bounds the memory, changes no result.
    progress : bool, optional
        Show progress bars; by default on terminals, after three seconds.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If an argument cannot be used, or a test cannot answer the question; before the first
        fit. Later only if a learner fails on a split.

    Notes
    -----
    Different tests of the same difference are no family, and their p-values are not adjusted
    for their number: decide before looking which one counts. Cost: for each design its
    learning sets times the number of learners; "ustatistic" goes on until its Monte-Carlo error is
    small, which ``TestSpec("ustatistic", fit={"max_fits": 2000})`` bounds for slow learners.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tests = ["corrected_t", "fold_covariance"]
    >>> found = uv.compare(X[50:, :2], y[50:], ["lda", "knn:1", "majority"], tests, rng=0)
    >>> len(found.pairs), found.n_fits
    (3, 30)
    >>> found.frame[["test", "learner", "other", "pvalue", "pvalue_adjusted"]].shape
    (6, 5)
    """
    stopwatch = Stopwatch()
    checked_alternative(alternative)
    if correction is not None and correction not in get_args(Correction):
        raise ValueError(
            f"correction={correction!r} is unknown: use one of {', '.join(get_args(Correction))}, "
            "or None"
        )
    named = named_learners(learners)
    if len(named) < 2:
        raise ValueError(
            f"learners has {len(named)} learner, and a comparison needs two: use a test class for "
            "the error of one, such as uv.UStatisticTest(X, y, learner)"
        )
    generator, seed = make_generator(rng)
    seed = int(generator.integers(2**32)) if seed is None else seed
    question = Question(X, y, named, loss, alternative, pos_label, backend)
    run = _Run(Plan(question, tests, seed), n_jobs, batch_size, progress)
    results, fits = run.results(), run.fits
    plan, first = run.plan, run.plan.first
    comparison = Comparison(
        learners=tuple(named),
        results={
            (label, *pair): results[label, pair] for label in plan.specs for pair in run.pairs
        },
        fits=tuple(fits),
        correction=correction,
        elapsed=stopwatch.seconds,
        settings={
            "learners": list(named),
            "tests": {label: spec.words for label, spec in plan.specs.items()},
            "loss": "auc" if first.loss is None else first.loss.name,
            "alternative": alternative,
            "correction": correction,
            "pos_label": first._settings()["pos_label"],
            "backend": backend,
            "rng": seed,
        },
    )
    hooks.announce_comparison(first, comparison)
    return comparison


class _Run:
    """Fits what a plan needs, design by design, and runs its tests."""

    def __init__(
        self, plan: Plan, n_jobs: int | None, batch_size: int | None, progress: bool | None
    ) -> None:
        self.plan = plan
        self.n_jobs, self.batch_size, self.progress = n_jobs, batch_size, progress
        self.pairs = tuple(combinations(plan.question.learners, 2))
        self.fits: list[Fits] = []

    def results(self) -> dict[tuple[str, Pair], TestResult]:
        """The results by test and pair."""
        found: dict[tuple[str, Pair], TestResult] = {}
        # One design after the other, so that the losses of one are kept at a time.
        for group in self.plan.groups:
            found |= dict(self._of_group(group))
        for test in self.plan.alone:
            found |= dict(self._alone(test))
        return found

    def _of_group(self, group: Group) -> Iterator[tuple[tuple[str, Pair], TestResult]]:
        first = group.tests[0].made[0]
        learners = group.fitting(self.plan.question.learners)
        words = group.design.words
        with hooks.fitting(first), progress_bar(self.progress, words, "fit") as bar:
            losses = evaluate_sample(
                first.sample,
                learners,
                group.drawn,
                first.loss,
                group.rng,
                settings={"design": words, "rng": self.plan.seed},
                n_jobs=self.n_jobs,
                batch_size=self.batch_size,
                bar=bar,
                say_names=True,
            )
        labels = tuple(test.label for test in group.tests)
        sizes = group.drawn.learn_sizes
        self.fits.append(Fits(words, sizes, group.drawn.n_resamples, losses.n_fits, labels))
        for test in group.tests:
            for pair in self.pairs:
                with naming(test.label):
                    one: Any = test.from_losses(losses, *pair)
                    one._announced = False
                    yield (test.label, pair), one.fit(**test.fit_options)

    def _alone(self, test: Planned) -> Iterator[tuple[tuple[str, Pair], TestResult]]:
        n_fits, sizes = 0, set()
        for pair in self.pairs:
            with naming(test.label):
                one: Any = self.plan.question.test(test.spec, *pair)
                one._announced = False
                result = one.fit(
                    **test.spec.fit,
                    rng=self.plan.seed,
                    n_jobs=self.n_jobs,
                    batch_size=self.batch_size,
                    progress=self.progress,
                )
            n_fits += result.n_fits
            sizes.add(result.settings.get("learn_size"))
            names = dict(zip(("learner", "other"), pair, strict=True))
            yield (test.label, pair), replace(result, settings={**result.settings, **names})
        known = tuple(sorted(size for size in sizes if isinstance(size, int)))
        self.fits.append(Fits(OWN, known, None, n_fits, (test.label,)))


def _adjusted(pvalues: np.ndarray, correction: str | None) -> list[float]:
    """Adjusted p-values; NaN stays NaN, and counts as 1."""
    if correction is None or len(pvalues) == 1:
        return pvalues.tolist()
    missing = np.isnan(pvalues)
    found = multipletests(np.where(missing, 1.0, pvalues), method=correction)[1]
    return np.where(missing, math.nan, found).tolist()
