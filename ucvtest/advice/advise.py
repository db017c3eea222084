"""Which test to use: one line a question, with what the calibration table says of it."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ucvtest.advice.calibration import (
    FEWEST_PROBLEMS,
    LEAST_MEAN,
    WEAK,
    Cell,
    Evidence,
    WeakCell,
    calibration_cells,
    cells_of,
)
from ucvtest.advice.configured_tests import FEW_PAIRS, PROCEDURES, About, Procedure
from ucvtest.common.checks import as_integer, check_choice, named_options
from ucvtest.common.equality import ByValue
from ucvtest.metrics.base import Metric
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.ranks import AUC
from ucvtest.metrics.recorded import known_metric
from ucvtest.stats.few_fits import LEAST_ROUNDS

if TYPE_CHECKING:
    import pandas as pd

    from ucvtest.inference.base import HypothesisTest

__all__ = ["CAUTIONS", "Advice", "advise", "advise_from"]


Goal = Literal["test", "interval"]
GOALS: tuple[Goal, ...] = get_args(Goal)
ABOUT: tuple[About, ...] = get_args(About)

REFERENCE = {False: "corrected_t", True: "corrected_t_auc"}
"""Intervals are compared with those of this procedure: for losses, and for the AUC."""

BUDGETS = {
    False: (*(f"ustatistic_few_{2 * n_pairs}" for n_pairs in FEW_PAIRS), "ustatistic"),
    True: (*(f"ustatistic_auc_few_{2 * n_pairs}" for n_pairs in FEW_PAIRS), "ustatistic_auc"),
}
"""The U-statistic test with as many fits as were studied, the fewest first."""

WEAK_CELLS, FEWEST_SAMPLES = 3, 50
"""Of the weak cells so many are named, of those with as many samples or more."""

OUT_OF_FOLD = (
    "Scores of a K-fold cross-validation that exist already need no fit: "
    "Losses.from_predictions(fold=) and CrossValidationWaldTest are about the rules of these folds."
)
"""Where to go with them, for whom asks about the AUC of rules."""

CAUTIONS = ("Weak: ", "Cannot promise: ")
"""What reasons begin with that speak against an answer."""


@dataclass(frozen=True, eq=False)
class Advice(ByValue):
    """A test with all its settings, and why.

    Made by `advise`.

    Parameters
    ----------
    n_obs, n_fits : int
        Observations, and model fits that can be afforded, as passed to `advise`.
    loss : str
    n_learners : int
    goal : {"test", "interval"}
    about : {"learner", "rules"}
    promises : bool
        Whether 95% intervals contained the true value in 93% of the samples or more, on average
        over the problems of the study, and sizes and fits like these were studied. Single problems
        can be worse: `evidence.weak` names them.
    test : str
        Name of the class in ucvtest.
    settings, options : mapping
        Arguments of its constructor, and of `fit`.
    evidence : Evidence
        What the calibration table says of it, at the largest budget studied that can be afforded.
    reasons : tuple of str
    """

    n_obs: int
    n_fits: int
    loss: str
    n_learners: int
    goal: Goal
    about: About
    promises: bool
    test: str
    settings: Mapping[str, Any]
    options: Mapping[str, Any]
    evidence: Evidence
    reasons: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("settings", "options"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def make(
        self, X: Any, y: Any, learner: Any, other: Any = None, **arguments: Any
    ) -> "HypothesisTest":
        """The test that is recommended, on data; call ``fit(**advice.options)`` on it.

        Parameters
        ----------
        X, y, learner, other
            See the class of the test.
        **arguments
            Further arguments of its constructor, such as `alternative` or `pos_label`.

        Returns
        -------
        HypothesisTest

        Raises
        ------
        ValueError
            If the number of learners is not that which was asked about, or the test refuses the
            data.
        """
        from ucvtest.methods.registry import class_named

        if (other is not None) != (self.n_learners == 2):
            raise ValueError(
                f"other: the advice is for {self.n_learners} learner"
                f"{'s' if self.n_learners == 2 else ''}: ask advise(..., learners=...) again"
            )
        learners = (learner,) if other is None else (learner, other)
        test: Any = class_named(self.test)
        return test(X, y, *learners, **{**self.settings, **arguments})

    def _repr_html_(self) -> str:
        from ucvtest.results.summary_tables import page

        return page([line.strip() for line in str(self).split("\n")], [])

    def __str__(self) -> str:
        promise = "" if self.promises else " (cannot promise: see the reasons)"
        settings = [f"{name}={value!r:.60}" for name, value in self.settings.items()]
        options = [f"{name}={value!r:.60}" for name, value in self.options.items()]
        lines = [
            f"{self.test}(X, y, ..., {', '.join(settings)}).fit({', '.join(options)}){promise}",
            *(f"  - {reason}" for reason in self.reasons),
        ]
        return "\n".join(lines)


@named_options
def advise(
    n: int,
    n_fits: int = 10_000,
    *,
    loss: str = "zero_one",
    learners: int | Sequence[Any] = 2,
    goal: Goal = "interval",
    about: About = "learner",
) -> Advice:
    """Recommend a test, and say what to expect of it with this number of fits.

    Parameters
    ----------
    n : int
        Observations in the sample.
    n_fits : int
        Model fits that can be afforded, each learner and each learning set counted. Twenty fits of
        each learner are enough for a first answer.
    loss : str
        Name of the loss, or "auc".
    learners : int or sequence
        2 for a difference, 1 for the loss of one learner; or the learners themselves.
    goal : {"test", "interval"}
        A p-value, or a confidence interval: the tests recommended have both.
    about : {"learner", "rules"}
        Whether the question is about learning from samples like this one, or about the rules
        that were learnt here.

    Returns
    -------
    Advice
        With reasons and a test that can be run; `promises` is False if the study promises nothing.

    Raises
    ------
    ValueError
        If an argument cannot be used, or no test needs so few fits.

    Notes
    -----
    Each question has one test. A question about learners has `UStatisticTest`, which learns from
    half of the observations, with the fits that can be afforded: at least 6 of each learner. A
    question about fitted rules needs one test set: `McNemarTest` for two error rates, `DeLongTest`
    for AUCs, `HoldOutTest` otherwise.

    The calibration table (`studies/calibration/run.py`) shows what to expect. It is read for the
    problems with this loss (or with all but zero-one losses, if these are fewer than three), at the
    sample sizes next to `n`, with the largest budget studied that can be afforded. Cells in which
    fewer than 90% of the 95% intervals contained the true value are named. Nothing is promised
    outside of the sample sizes studied, or if the average over problems is below 93%.
    `python studies/calibration/run.py --check` compares the advice with problems that it was not
    derived from.

    Examples
    --------
    >>> import ucvtest as uv
    >>> advice = uv.advise(100, 40)
    >>> advice.test, advice.options["max_fits"]
    ('UStatisticTest', 40)
    >>> advice.evidence.n_fits
    40
    """
    return _advised(calibration_cells, n, n_fits, loss, learners, goal, about)


def advise_from(
    table: "pd.DataFrame",
    n: int,
    n_fits: int,
    *,
    loss: str = "zero_one",
    learners: int | Sequence[Any] = 2,
    goal: Goal = "interval",
    about: About = "learner",
) -> Advice:
    """`advise` by another calibration table, for example without some problems."""
    return _advised(partial(cells_of, table), n, n_fits, loss, learners, goal, about)


def _advised(
    cells_about: Callable[[frozenset[str]], Sequence[Cell]],
    n: int,
    n_fits: int,
    loss: str,
    learners: int | Sequence[Any],
    goal: Goal,
    about: About,
) -> Advice:
    n_learners = _n_learners(learners)
    metric = _checked(n, n_fits, loss, goal, about)
    names = _procedures(metric, n_learners, about)
    all_cells = cells_about(frozenset({*names, REFERENCE[metric.ranks_pairs]}))
    cells = _Cells.of(all_cells, metric, n, n_learners)
    rungs = cells.evidence(names)
    if not rungs:
        raise ValueError(f"n={n} is too few observations for any test of this kind")
    affordable = [rung for rung in rungs if rung.n_fits <= n_fits]
    best_affordable = affordable[-1] if affordable else rungs[0]
    procedure = PROCEDURES[best_affordable.procedure]
    least_fits = best_affordable.n_fits if about == "rules" else 2 * LEAST_ROUNDS * n_learners
    if n_fits < least_fits:
        raise ValueError(
            f"n_fits={n_fits} is too few for any test of this kind: use at least {least_fits}"
        )
    settings = procedure.settings(n)
    if procedure.takes_loss and loss != "zero_one":
        settings["loss"] = loss
    costlier = rungs[rungs.index(best_affordable) + 1 :]
    doubts = _doubts(best_affordable, procedure, n, n_fits)
    return Advice(
        n_obs=n,
        n_fits=n_fits,
        loss=loss,
        n_learners=n_learners,
        goal=goal,
        about=about,
        promises=not doubts,
        test=procedure.test,
        settings=settings,
        options=procedure.options if about == "rules" else _options(metric, n_fits),
        evidence=best_affordable,
        reasons=(
            *_reasons(cells, best_affordable, procedure, costlier),
            *((OUT_OF_FOLD,) if about == "rules" and metric.ranks_pairs else ()),
            *_weak(cells, best_affordable),
            *doubts,
        ),
    )


def _n_learners(learners: Any) -> int:
    if isinstance(learners, (list, tuple, dict)):
        return _n_learners(len(learners))
    number = as_integer("learners", learners)
    if number not in (1, 2):
        raise ValueError(f"learners must be 1 or 2 (compare more of them in pairs), got {number}")
    return number


def _checked(n: int, n_fits: int, loss: Any, goal: Any, about: Any) -> Metric:
    if as_integer("n", n) < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    as_integer("n_fits", n_fits)
    metric = known_metric(loss)
    if metric is None:
        raise ValueError(
            f"loss={loss!r:.60} is unknown: use one of {', '.join(LOSSES)}, {AUC.name}"
        )
    check_choice("goal", goal, GOALS)
    check_choice("about", about, ABOUT)
    return metric


# ---------------------------------------------------------------------------- the line


def _procedures(metric: Metric, n_learners: int, about: About) -> tuple[str, ...]:
    """The test for the question, with the numbers of fits that were studied, the fewest first."""
    if about == "rules":
        return (_of_one_test_set(metric, paired=n_learners == 2),)
    return BUDGETS[metric.ranks_pairs]


def _of_one_test_set(metric: Metric, *, paired: bool) -> str:
    if metric.ranks_pairs:
        return "delong"
    return "mcnemar" if paired and metric.counts_errors else "hold_out"


def _options(metric: Metric, n_fits: int) -> Mapping[str, Any]:
    """Options of `fit`: with the variance "auto" the fits decide which one there is."""
    full = PROCEDURES[BUDGETS[metric.ranks_pairs][-1]].options
    return {**full, "max_fits": min(n_fits, full.get("max_fits", n_fits))}


# ------------------------------------------------------------------------ the evidence


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells of the table about one kind of question, by procedure."""

    by_name: Mapping[str, list[Cell]]
    metric: Metric
    n_obs: int
    n_learners: int

    @classmethod
    def of(cls, all_cells: Sequence[Cell], metric: Metric, n_obs: int, n_learners: int) -> "_Cells":
        """Those with the same loss, or of fewer than three problems with all like it."""
        target = "difference" if n_learners == 2 else "error"
        losses = {cell.loss for cell in all_cells}
        if not metric.ranks_pairs:
            problems = {cell.problem for cell in all_cells if cell.loss == metric.name}
            is_alike = not metric.counts_errors and len(problems) < FEWEST_PROBLEMS
            losses = (
                {name for name in losses if _may_have_tails(name)} if is_alike else {metric.name}
            )
        by_name: dict[str, list[Cell]] = {}
        for cell in all_cells:
            if cell.target == target and cell.loss in losses and cell.answered:
                by_name.setdefault(cell.procedure, []).append(cell)
        return cls(by_name, metric, n_obs, n_learners)

    def near(self, name: str) -> list[Cell]:
        """Cells of a procedure at the sample sizes next to that which was asked about."""
        cells = self.by_name.get(name, [])
        sizes = {cell.n_obs for cell in cells}
        below = sorted(size for size in sizes if size <= self.n_obs)[-1:]
        above = sorted(size for size in sizes if size >= self.n_obs)[:1]
        return [cell for cell in cells if cell.n_obs in (*below, *above)]

    def evidence(self, names: Sequence[str]) -> list[Evidence]:
        """Evidence on the procedures that fit the sample."""
        return [
            self._of_one(PROCEDURES[name], cells)
            for name in names
            if (cells := self.near(name)) and PROCEDURES[name].fits(self.n_obs)
        ]

    def _of_one(self, procedure: Procedure, cells: list[Cell]) -> Evidence:
        answered, covered = Counter[str](), Counter[str]()
        for cell in cells:
            answered[cell.problem] += cell.answered
            covered[cell.problem] += cell.covered
        coverage = {name: covered[name] / count for name, count in answered.items()}
        worst_problem = min(coverage, key=lambda name: coverage[name])
        nulls = [(cell.rejected, cell.tested) for cell in cells if cell.equal]
        rejected, tested = (sum(counts) for counts in zip(*nulls, strict=True)) if nulls else (0, 0)
        sizes = tuple(sorted({cell.n_obs for cell in cells}))
        reference = self.near(REFERENCE[self.metric.ranks_pairs])
        return Evidence(
            procedure=procedure.name,
            learn_size=procedure.learn_size(self.n_obs),
            n_fits=max(cell.n_fits for cell in cells),
            sizes=sizes,
            n_problems=len(coverage),
            n_samples=sum(answered.values()),
            coverage=sum(coverage.values()) / len(coverage),
            lowest_coverage=coverage[worst_problem],
            worst=worst_problem,
            size=rejected / tested if tested else math.nan,
            width=relative_width(cells, reference),
            expected_width=self._expected_width(cells),
            weak=_weak_cells(cells),
            within=sizes[0] <= self.n_obs <= sizes[-1],
        )

    def _expected_width(self, cells: list[Cell]) -> float:
        """Widths fall with the root of the number of observations."""
        if not (self.metric.counts_errors or self.metric.ranks_pairs):
            return math.nan
        widths = [cell.width * math.sqrt(cell.n_obs / self.n_obs) for cell in cells]
        return float(np.exp(np.mean(np.log([width for width in widths if width > 0]))))


def _may_have_tails(name: str) -> bool:
    """Whether the table means losses of any size by this name, and no shares of errors or pairs."""
    metric = known_metric(name)
    return metric is None or (metric.is_mean and not metric.counts_errors)


def _weak_cells(cells: list[Cell]) -> tuple[WeakCell, ...]:
    weak_cells = [
        WeakCell(cell.problem, cell.n_obs, coverage, cell.answered)
        for cell in cells
        if cell.answered >= FEWEST_SAMPLES and (coverage := cell.covered / cell.answered) < WEAK
    ]
    return tuple(sorted(weak_cells, key=lambda cell: cell.coverage))


def relative_width(cells: Sequence[Cell], baseline_cells: Sequence[Cell]) -> float:
    """Widths over those of other cells with the same problem and size, geometric mean."""
    widths = {(cell.problem, cell.n_obs): cell.width for cell in baseline_cells}
    ratios = [
        cell.width / widths[cell.problem, cell.n_obs]
        for cell in cells
        if widths.get((cell.problem, cell.n_obs), 0) > 0 and cell.width > 0
    ]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


# ------------------------------------------------------------------------- the reasons


def _reasons(
    cells: _Cells, recommended: Evidence, procedure: Procedure, costlier: Sequence[Evidence]
) -> list[str]:
    sizes_text = " and ".join(map(str, recommended.sizes))
    estimand_words = "the difference of two learners" if cells.n_learners == 2 else "one learner"
    if procedure.about == "rules":
        estimand = (
            f"It is about the rules learnt from {recommended.learn_size} of your observations."
        )
    else:
        estimand = f"It is about {estimand_words} with learning sets of {recommended.learn_size}."
    listed = [
        f"With {_fits(recommended, cells)}, on {recommended.n_problems} problems with n = "
        f"{sizes_text}, its 95% intervals contained the true value in {recommended.coverage:.1%} "
        f"of the samples on average, {recommended.lowest_coverage:.1%} in the worst problem "
        f"({recommended.worst}); {recommended.n_samples} samples.",
        estimand,
    ]
    if math.isfinite(recommended.expected_width):
        listed.append(
            f"Expect 95% intervals of about {recommended.expected_width:.2g} from end to end."
        )
    if math.isfinite(recommended.width) and abs(recommended.width - 1) >= 0.005:
        comparative = "narrower" if recommended.width < 1 else "wider"
        listed.append(
            f"Its intervals are {abs(recommended.width - 1):.0%} {comparative} than those of the "
            "corrected t test."
        )
    if costlier:
        at_best = cells.near(recommended.procedure)
        gained = [
            f"{ratio:.2f} times as long with {_fits(alternative, cells)}"
            for alternative in costlier[:2]
            if math.isfinite(ratio := relative_width(cells.near(alternative.procedure), at_best))
        ]
        if gained:
            listed.append(f"With more fits intervals would be shorter: {', '.join(gained)}.")
    return listed


def _fits(evidence: Evidence, cells: _Cells) -> str:
    of_each = evidence.n_fits // cells.n_learners
    fits_text = "1 fit" if of_each == 1 else f"{of_each} fits"
    return f"{fits_text} of each learner" if cells.n_learners == 2 else fits_text


def _weak(cells: _Cells, recommended: Evidence) -> list[str]:
    """The cells that are below 90%, and what does better."""
    listed = []
    if recommended.weak:
        named_cells = "; ".join(map(str, recommended.weak[:WEAK_CELLS]))
        n_unnamed = len(recommended.weak) - WEAK_CELLS
        more_text = f"; and {n_unnamed} more" if n_unnamed > 0 else ""
        listed.append(
            f"Weak: fewer than 90% of the intervals were right in {named_cells}{more_text}."
        )
    metric = cells.metric
    if (
        recommended.weak
        and cells.n_learners == 2
        and not (metric.counts_errors or metric.ranks_pairs)
    ):
        listed.append(
            "Differences of losses with tails fall short; ratios (contrast='ratio') do better."
        )
    return listed


def _doubts(recommended: Evidence, procedure: Procedure, n: int, n_fits: int) -> list[str]:
    """Why nothing can be promised."""
    doubts = []
    if not recommended.within:
        sizes_text = " to ".join(map(str, sorted({recommended.sizes[0], recommended.sizes[-1]})))
        doubts.append(f"It was studied with n = {sizes_text} next to this sample size.")
    if n_fits < recommended.n_fits:
        doubts.append(f"The fewest fits that were studied are {recommended.n_fits}.")
    if recommended.n_problems < FEWEST_PROBLEMS:
        doubts.append(f"Only {recommended.n_problems} problems of this kind were studied.")
    if recommended.coverage < LEAST_MEAN:
        doubts.append(f"Its intervals were right in fewer than {LEAST_MEAN:.0%} of the samples.")
    if procedure.overlaps(n):
        doubts.append(
            "Its learning sets contain most of the observations, so that its intervals can be too "
            "short for learners whose rules change much from one learning set to another."
        )
    return [f"Cannot promise: {doubt}" for doubt in doubts]
