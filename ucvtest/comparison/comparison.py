"""The outcome of `compare`: an immutable table of results."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ucvtest.common.checks import check_choice
from ucvtest.common.notes import in_brief
from ucvtest.common.words import arg
from ucvtest.results.columns import Pair, ResultColumns, ResultsOfTests
from ucvtest.results.fields import Contrast, check_alpha
from ucvtest.results.joint_result import JointResult
from ucvtest.results.result import TestResult
from ucvtest.results.serialising import Saved, from_plain, to_plain
from ucvtest.results.simultaneous import JointEstimates, JointStatistics, holm
from ucvtest.results.text_tables import Outcome, Tables

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Correction = Literal[
    "holm",
    "bonferroni",
    "sidak",
    "holm-sidak",
    "simes-hochberg",
    "hommel",
    "fdr_bh",
    "fdr_by",
    "simultaneous",
]
"""The corrections of statsmodels whose adjusted p-values do not depend on a level, and ours."""

MOST_SHOWN = 50
"""Pairs of each test in a summary."""

OF_ROWS = (
    *("estimate", "se", "statistic", "pvalue", "df", "null_value", "alternative", "method"),
    *("n_obs", "n_fits", "status", "estimand"),
)
"""Fields of results that frames show."""

COLUMNS = (
    *("learner", "other", "estimate", "se", "statistic", "pvalue", "pvalue_adjusted", "df"),
    *("conf_low", "conf_high", "null_value", "alternative", "method", "n_obs", "n_fits", "status"),
    "estimand",
)
"""Of frames, behind the test, in this order."""


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
        Learning sets; None where the tests draw their own for each pair of learners, 0 where rules
        are fixed.
    n_fits : int
        Model fits, each learner and each learning set counted once.
    tests : tuple of str
    """

    design: str
    learn_sizes: tuple[int, ...]
    n_resamples: int | None
    n_fits: int
    tests: tuple[str, ...]

    def __post_init__(self) -> None:
        # JSON has lists only.
        for name in ("learn_sizes", "tests"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class Comparison(Outcome, Saved):
    """Learners compared by one or several tests.

    Parameters
    ----------
    learners : tuple of str
        Names.
    results : mapping of (test, learner, other) to TestResult
        Every test of every pair; estimates are the first learner minus the second.
    fits : tuple of Fits
        The model fits made for it.
    correction : str or None
        How p-values are adjusted for the number of pairs.
    elapsed : float
        Seconds.
    settings : mapping
        All that is needed to repeat it on the same data.
    joint : mapping of test to JointResult
        Tests of all learners at once, of the tests that have one: see `joint_test`.
    together : mapping of test to JointEstimates
        What joins the learners after ``correction="simultaneous"``: see `best_set`.
    across : mapping of test to JointStatistics
        What joins all results of a test by several metrics, after ``correction="simultaneous"``.

    Notes
    -----
    p-values are adjusted over the pairs of learners within each test. They are not adjusted for
    the number of tests of the same difference: that would answer a question nobody asks, and would
    not repair a choice among tests by their p-values. Decide beforehand which test counts. A pair
    without a p-value counts as p = 1. Intervals are adjusted only after
    ``correction="simultaneous"``.
    """

    _result_kind: ClassVar[str] = "comparison"
    _later: ClassVar[Mapping[str, Any]] = {"across": {}}

    learners: tuple[str, ...]
    results: Mapping[tuple[str, str, str], TestResult]
    fits: tuple[Fits, ...]
    correction: str | None
    elapsed: float
    settings: Mapping[str, Any]
    joint: Mapping[str, JointResult] = field(default_factory=dict)
    together: Mapping[str, JointEstimates] = field(default_factory=dict)
    across: Mapping[str, JointStatistics] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.results, ResultsOfTests):
            object.__setattr__(self, "results", MappingProxyType(dict(self.results)))
        for name in ("settings", "joint", "together", "across"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __repr__(self) -> str:
        best_set = f", best_set={self.best_set()}" if len(self.together) == 1 else ""
        return (
            f"{type(self).__name__}(learners={self.learners}, tests={self.tests}, "
            f"n_obs={self.n_obs}, n_fits={self.n_fits}{best_set})"
        )

    @cached_property
    def columns(self) -> Mapping[str, ResultColumns]:
        """The numbers of each test, by its label: those of its results in the order of pairs."""
        if isinstance(self.results, ResultsOfTests):
            return MappingProxyType(self.results.columns)
        by_test: dict[str, dict[Pair, TestResult]] = {}
        for (test, *pair), result in self.results.items():
            by_test.setdefault(test, {})[pair[0], pair[1]] = result
        return MappingProxyType(
            {test: ResultColumns.of(results) for test, results in by_test.items()}
        )

    @property
    def tests(self) -> tuple[str, ...]:
        """The tests, by their labels."""
        return tuple(self.columns)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, where several were named; results are called by these then."""
        return tuple(self.settings.get("metrics", ()))

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of learners, first and second."""
        pairs, *further_pairs = (columns.pairs for columns in self.columns.values())
        if all(pairs == of_test for of_test in further_pairs):
            return pairs
        return tuple(dict.fromkeys((first, second) for _, first, second in self.results))

    @property
    def contrast(self) -> Contrast:
        """What all estimates are: differences, or ratios."""
        return next(iter(self.results.values())).contrast

    @property
    def n_obs(self) -> int:
        """Observations."""
        return next(iter(self.results.values())).n_obs

    @property
    def n_fits(self) -> int:
        """Model fits in all: what tests share is counted once."""
        return sum(design_fits.n_fits for design_fits in self.fits)

    # Kept: statsmodels collects garbage at each adjustment, which takes longer than all else.
    @cached_property
    def adjusted_pvalues(self) -> Mapping[tuple[str, str, str], float]:
        """p-values adjusted for the number of pairs, under the keys of `results`."""
        adjusted: dict[tuple[str, str, str], float] = {}
        for test, columns in self.columns.items():
            if test in self.together:
                values = self.together[test].adjusted(columns)
            else:
                values = _adjusted(columns.pvalue, self.correction)
            adjusted |= _by_key(test, columns, values)
        for joint_statistics in self.across.values():
            values = joint_statistics.adjusted([self.results[key] for key in joint_statistics.keys])
            adjusted |= dict(zip(joint_statistics.keys, values, strict=True))
        return MappingProxyType({key: adjusted[key] for key in self.results})

    @cached_property
    def shown_results(self) -> Mapping[tuple[str, str, str], TestResult]:
        """The results that summaries and pictures show: of many pairs those of smallest p-values.

        Others are in `frame`.
        """
        if max(map(len, self.columns.values())) <= MOST_SHOWN:
            return self.results
        results = {}
        for test, columns in self.columns.items():
            smallest = np.argsort(columns.pvalue, kind="stable")[:MOST_SHOWN].tolist()
            for place in smallest:
                key = (test, *columns.pairs[place])
                results[key] = self.results[key]
        return MappingProxyType(results)

    def of_test(self, test: str) -> dict[Pair, TestResult]:
        """The results of a test by pair.

        Raises
        ------
        ValueError
            If there is no test of this label.
        """
        check_choice("test", test, self.tests)
        return {pair: self.results[test, *pair] for pair in self.columns[test].pairs}

    def intervals(self, alpha: float = 0.05) -> Mapping[tuple[str, str, str], tuple[float, float]]:
        """Intervals under the keys of `results`: simultaneous ones where these were asked for.

        Parameters
        ----------
        alpha : float
            One minus the confidence level: of each interval, or of all of a test's together.
        """
        check_alpha(alpha)
        if alpha in self._known_intervals:
            return self._known_intervals[alpha]
        intervals_by_key: dict[tuple[str, str, str], tuple[float, float]] = {}
        for test, columns in self.columns.items():
            if test in self.together:
                values = self.together[test].intervals(columns, alpha)
            else:
                values = columns.intervals(lambda *_: alpha)
            intervals_by_key |= _by_key(test, columns, values)
        for joint_statistics in self.across.values():
            values = joint_statistics.intervals(
                [self.results[key] for key in joint_statistics.keys], alpha
            )
            intervals_by_key |= dict(zip(joint_statistics.keys, values, strict=True))
        self._known_intervals[alpha] = MappingProxyType(
            {key: intervals_by_key[key] for key in self.results}
        )
        return self._known_intervals[alpha]

    @cached_property
    def _known_intervals(self) -> dict[float, Mapping[tuple[str, str, str], tuple[float, float]]]:
        """By level: of many pairs they take a while."""
        return {}

    def best_set(self, alpha: float = 0.05, test: str | None = None) -> tuple[str, ...]:
        """The learners that may be the best one, after ``correction="simultaneous"``.

        A learner is excluded if another one is better by more than chance: its largest studentised
        distance to another exceeds the one-sided critical value of all its distances together. The
        set contains each best learner with a probability of at least 1 - alpha. Distances are on
        the scale of the intervals (stabilised for error rates). The set therefore excludes every
        learner that a simultaneous interval for all pairs shows to be worse than another. With
        ``baseline=`` only differences from the baseline are tested; standard errors of the other
        distances are then those of the jackknife.

        Parameters
        ----------
        alpha : float
        test : str, optional
            Its label, where there are several.

        Returns
        -------
        tuple of str
            Names, in the order in which they were given; at least one.

        Raises
        ------
        ValueError
            If there is no joint covariance of the learners, or several tests have one.

        Examples
        --------
        >>> import ucvtest as uv
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> learners = ["lda", "nearest_centroid", "majority"]
        >>> test = uv.TestSpec("ustatistic", fit={"n_pairs": 300})
        >>> found = uv.compare(
        ...     X[50:, :2], y[50:], learners, test, correction="simultaneous", rng=0
        ... )
        >>> found.best_set()
        ('lda', 'nearest_centroid')
        """
        check_alpha(alpha)
        return self._joined(test).best_set(alpha)

    def learner_frame(self, alpha: float = 0.05, test: str | None = None) -> "pd.DataFrame":
        """Each learner's own estimate, after ``correction="simultaneous"``: the best one first.

        Parameters
        ----------
        alpha : float
            One minus the confidence level of all intervals together, and the level of the set.
        test : str, optional
            Its label, where there are several.

        Returns
        -------
        DataFrame
            Columns learner, estimate, se, conf_low, conf_high and in_best_set. The intervals are
            simultaneous, so the one in the first row allows for the choice of that learner.

        Raises
        ------
        ValueError
            If there is no joint covariance of the learners, or several tests have one.
        """
        import pandas as pd

        check_alpha(alpha)
        joined = self._joined(test)
        low, high = zip(*joined.own_intervals(alpha), strict=True)
        best_set = joined.best_set(alpha)
        frame = pd.DataFrame(
            {
                "learner": joined.learners,
                "estimate": joined.estimates,
                "se": [result.se for result in joined.own.values()],
                "conf_low": low,
                "conf_high": high,
                "in_best_set": [name in best_set for name in joined.learners],
            }
        )
        return frame.iloc[joined.order].reset_index(drop=True)

    def _joined(self, test: str | None) -> JointEstimates:
        if not self.together:
            raise ValueError(
                "learners are not judged together here: compare them with "
                f"{arg('correction', 'simultaneous')}"
            )
        labels = _labelled(self.together, test)
        if len(labels) != 1:
            which = "several tests judge" if test is None else f"{arg('test', test)} does not judge"
            raise ValueError(
                f"{which} learners together: pass {arg('test')}, one of {', '.join(self.together)}"
            )
        return self.together[labels[0]]

    @property
    def frame(self) -> "pd.DataFrame":
        """One row for each test and pair, with 95% intervals."""
        return self.summary_frame()

    def result(
        self, test: str | None = None, learner: str | None = None, other: str | None = None
    ) -> TestResult:
        """One of the results.

        Parameters
        ----------
        test, learner, other : str, optional
            An argument with only one value may be left out.

        Raises
        ------
        ValueError
            If there is none, or more than one.
        """
        requested = (test, learner, other)
        keys = [
            key
            for key in self.results
            if all(
                requested_part is None
                or (isinstance(requested_part, str) and requested_part == key_part)
                for requested_part, key_part in zip(requested, key, strict=True)
            )
        ]
        if len(keys) != 1:
            raise ValueError(
                f"{len(keys)} results are of {arg('test', test)}, {arg('learner', learner)}, "
                f"{arg('other', other)}: "
                f"the tests are {', '.join(self.tests)}, and the pairs "
                + ", ".join(f"{first!r} and {second!r}" for first, second in self.pairs)
            )
        return self.results[keys[0]]

    def joint_test(self, test: str | None = None) -> JointResult:
        """The test that all learners are equal, at once instead of in pairs.

        DeLong's test has one, of the AUCs; others do not.

        Parameters
        ----------
        test : str, optional
            Its label, where several tests have one.

        Raises
        ------
        ValueError
            If there is none, or more than one.
        """
        labels = _labelled(self.joint, test)
        if len(labels) != 1:
            joint_tests = ", ".join(self.joint)
            fault = "there are several" if test is None else f"{arg('test', test)} has none"
            raise ValueError(
                f"{fault}, of joint tests of all learners: pass {arg('test')}, one of {joint_tests}"
                if joint_tests
                else (
                    f"there is no joint test of all learners: pass {arg('tests', 'delong')} and "
                    f"{arg('loss', 'auc')}"
                )
            )
        return self.joint[labels[0]]

    def summary_frame(self, alpha: float = 0.05) -> "pd.DataFrame":
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
            may share. Intervals are simultaneous after ``correction="simultaneous"``. Of several
            metrics there is a column metric behind test, the label of the result.
        """
        import pandas as pd

        adjusted, intervals = self.adjusted_pvalues, self.intervals(alpha)
        rows = {}
        for test, columns in self.columns.items():
            values = {name: columns.values(name) for name in OF_ROWS}
            if self.metrics:
                values["metric"] = [row["loss"] for row in columns.values("settings")]
            rows[test] = dict(zip(columns.pairs, zip(*values.values(), strict=True), strict=True))
        names = (*OF_ROWS, "metric") if self.metrics else OF_ROWS
        by_row = [rows[key[0]][key[1:]] for key in self.results]
        frame = pd.DataFrame(dict(zip(names, zip(*by_row, strict=True), strict=True)))
        frame["test"], frame["learner"], frame["other"] = zip(*self.results, strict=True)
        frame["pvalue_adjusted"] = list(adjusted.values())
        frame["conf_low"], frame["conf_high"] = zip(*intervals.values(), strict=True)
        metric = ("metric",) if self.metrics else ()
        return frame[["test", *metric, *COLUMNS]]

    @property
    def fits_frame(self) -> "pd.DataFrame":
        """One row for each design that was fitted."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "design": design_fits.design,
                    "learn_size": " or ".join(map(str, design_fits.learn_sizes)),
                    "n_resamples": design_fits.n_resamples,
                    "n_fits": design_fits.n_fits,
                    "tests": ", ".join(design_fits.tests),
                }
                for design_fits in self.fits
            ]
        ).astype({"n_resamples": "Int64"})

    @property
    def verdict(self) -> str:
        """The answer in words, at the 5% level."""
        from ucvtest.comparison.summary import verdict

        return verdict(self)

    def _tables(self, **options: Any) -> Tables:
        from ucvtest.comparison.summary import tables

        return tables(self, **options)

    def notes_in_brief(self) -> list[str]:
        """The lines below a printed verdict: at most three notes, then how many more there are."""
        from ucvtest.comparison.summary import all_notes

        return in_brief(all_notes(self))

    def plot(
        self,
        ax: "Axes | None" = None,
        alpha: float = 0.05,
        kind: Literal["pairs", "learners"] | None = None,
    ) -> "Axes":
        """Draw all estimates with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        alpha : float
            One minus the confidence level of the intervals, which are adjusted after
            ``correction="simultaneous"`` only.
        kind : {"pairs", "learners"}, optional
            The differences, or the estimate of each learner, the best set in colour: the default of
            three learners or more after ``correction="simultaneous"`` with one test.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `alpha` is outside (0, 1), or learners cannot be drawn.
        """
        from ucvtest.comparison.drawing import picture_of

        return picture_of(self, alpha, kind).on(ax)

    def save_plot(
        self,
        path: str | Path,
        *,
        alpha: float = 0.05,
        dpi: float = 150,
        kind: Literal["pairs", "learners"] | None = None,
    ) -> None:
        """Write what `plot` draws to a file, without a display and without pyplot.

        Parameters
        ----------
        path : path
            Its suffix (.png, .pdf, .svg) decides the format.
        alpha : float
            One minus the confidence level of the intervals.
        dpi : float
            Pixels per inch, where the format has pixels.
        kind : {"pairs", "learners"}, optional
            As for `plot`.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If the suffix is none that matplotlib can write, or `alpha` outside (0, 1).
        """
        from ucvtest.comparison.drawing import picture_of

        picture_of(self, alpha, kind).write(path, dpi)

    def _plain(self) -> dict[str, Any]:
        def saved(parts: Mapping[str, Any]) -> dict[str, Any]:
            return {test: part.to_dict() for test, part in parts.items()}

        return {
            "learners": list(self.learners),
            "results": [
                {"test": test, "learner": first, "other": second, "result": result.to_dict()}
                for (test, first, second), result in self.results.items()
            ],
            "fits": to_plain(self.fits),
            "correction": self.correction,
            "elapsed": to_plain(self.elapsed),
            "settings": to_plain(self.settings),
            "joint": saved(self.joint),
            "together": saved(self.together),
            # Nothing of a comparison by one metric, whose files are as they were.
            **({"across": saved(self.across)} if self.across else {}),
        }

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        def restored(kind: Any, name: str) -> dict[str, Any]:
            return {test: kind.from_dict(part) for test, part in data[name].items()}

        return {
            "learners": tuple(data["learners"]),
            "results": {
                (row["test"], row["learner"], row["other"]): TestResult.from_dict(row["result"])
                for row in data["results"]
            },
            "fits": tuple(Fits(**fits_fields) for fits_fields in data["fits"]),
            "correction": data["correction"],
            "elapsed": from_plain(data["elapsed"]),
            "settings": from_plain(data["settings"]),
            "joint": restored(JointResult, "joint"),
            "together": restored(JointEstimates, "together"),
            "across": restored(JointStatistics, "across"),
        }


def _labelled(tests: Iterable[str], test: Any) -> list[str]:
    """The tests of this label, or all; an array, compared element by element, is not a label."""
    return [key for key in tests if test is None or (isinstance(test, str) and key == test)]


def _by_key(
    test: str, columns: ResultColumns, values: Iterable[Any]
) -> dict[tuple[str, str, str], Any]:
    """Values of the pairs of a test under the keys of a comparison."""
    return {(test, *pair): value for pair, value in zip(columns.pairs, values, strict=True)}


def _adjusted(pvalues: np.ndarray, correction: str | None) -> list[float]:
    """Adjusted p-values; NaN stays NaN, and counts as 1."""
    if correction is None or len(pvalues) == 1:
        return pvalues.tolist()
    missing = np.isnan(pvalues)
    known_pvalues = np.where(missing, 1.0, pvalues)
    if correction == "holm":
        adjusted = holm(known_pvalues)
    else:
        # Takes long to import, and most calls do without it.
        from statsmodels.stats.multitest import multipletests

        adjusted = multipletests(known_pvalues, method=correction)[1]
    return np.where(missing, math.nan, adjusted).tolist()
