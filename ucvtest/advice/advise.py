"""Which test to use: a rule that reads the calibration table."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ucvtest.advice.calibration import (
    FEWEST_PROBLEMS,
    FEWEST_SAMPLES,
    LIMITS,
    Evidence,
    Limits,
    calibration_table,
)
from ucvtest.advice.configured_tests import PROCEDURES, About, Procedure
from ucvtest.common.checks import as_integer, check_choice, named_options
from ucvtest.common.equality import ByValue
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.ranks import AUC
from ucvtest.metrics.recorded import known_metric

if TYPE_CHECKING:
    import pandas as pd

    from ucvtest.inference.base import HypothesisTest

__all__ = ["Advice", "advise", "advise_from"]


Goal = Literal["test", "interval"]
GOALS: tuple[Goal, ...] = get_args(Goal)
ABOUT: tuple[About, ...] = get_args(About)

REFERENCE = {False: "corrected_t", True: "corrected_t_auc"}
"""Intervals are compared with those of this procedure: for losses, and for the AUC."""

N_RUNNERS_UP = 3


@dataclass(frozen=True, eq=False)
class Advice(ByValue):
    """A test with all its settings, and why.

    Made by `advise`.

    Parameters
    ----------
    n_obs, n_fits : int
        What was asked: observations, and model fits that can be afforded.
    loss : str
    n_learners : int
    goal : {"test", "interval"}
    about : {"learner", "rules"}
    promises : bool
        Whether the evidence suffices for 93% coverage on average and 88% at least.
    test : str
        Name of the class in ucvtest.
    settings, options : mapping
        Arguments of its constructor, and of `fit`.
    evidence : Evidence
        What the calibration table says of it.
    runners_up : tuple of Evidence
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
    runners_up: tuple[Evidence, ...]
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
        from ucvtest.results.text_tables import page

        return page([line.strip() for line in str(self).split("\n")], [])

    def __str__(self) -> str:
        promise = "" if self.promises else " (cannot promise: see the reasons)"
        settings = [f"{name}={value!r}" for name, value in self.settings.items()]
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        lines = [
            f"{self.test}(X, y, ..., {', '.join(settings)}).fit({', '.join(options)}){promise}",
            *(f"  - {reason}" for reason in self.reasons),
        ]
        if self.runners_up:
            lines.append("  Next:")
            lines += [f"    {each.in_words}" for each in self.runners_up]
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
    """Recommend a test, its learning-set size and its number of resamples.

    Parameters
    ----------
    n : int
        Observations in the sample.
    n_fits : int
        Model fits that can be afforded, each learner and each learning set counted.
    loss : str
        Name of the loss, or "auc".
    learners : int or sequence
        2 for a difference, 1 for the loss of one learner; or the learners themselves.
    goal : {"test", "interval"}
        A p-value, or a confidence interval.
    about : {"learner", "rules"}
        Whether the question is about learning from samples like this one, or about the rules
        that were learnt here.

    Returns
    -------
    Advice
        With reasons, runners-up and a test that can be run; it says where it cannot promise.

    Raises
    ------
    ValueError
        If an argument cannot be used, or no test needs so few fits.

    Notes
    -----
    The rule, which has no randomness: of the calibration table (`studies/calibration/run.py`) take
    the sample sizes next to `n`, below and above, the problems with this kind of loss (zero-one,
    AUC, or any other), and the tests that are valid, about what was asked, within `n_fits`.
    Those with nominal 95% intervals that cover at least 94% on average over problems and 88% in
    the worst at these sizes, and 95% and 88% at all sizes of the table together, with at most a
    quarter of samples without an answer in each problem, at most 7.5% of true nulls rejected, and
    studied on three quarters of these problems at least, can be promised if their learning sets
    hold no more than half of the observations, or there is one test set: where larger learning
    sets overlap, no variance sees all of how rules differ from one to another, and intervals are
    too short for learners that are less stable than those of the table. Of these the one with the
    narrowest intervals is recommended. Where there is none, the one whose worst problem is best is,
    of those that mostly answer, without promise; nor is there a promise outside of the sample sizes
    studied (40 to 500). The limits of coverage were set on half of the problems and judged on the
    other half (`python studies/calibration/run.py --check` prints both).

    Narrow means narrow for its own estimand: a test may be about smaller learning sets than
    another, which the reasons say.

    Examples
    --------
    >>> import ucvtest as uv
    >>> advice = uv.advise(100, 20, goal="interval")
    >>> advice.evidence.n_fits <= 20
    True
    >>> advice.test in uv.__all__
    True
    """
    return advise_from(
        calibration_table(), n, n_fits, loss=loss, learners=learners, goal=goal, about=about
    )


def advise_from(
    table: "pd.DataFrame",
    n: int,
    n_fits: int,
    *,
    loss: str = "zero_one",
    learners: int | Sequence[Any] = 2,
    goal: Goal = "interval",
    about: About = "learner",
    limits: Limits = LIMITS,
) -> Advice:
    """`advise` by another calibration table, for example without some problems, or other limits."""
    n_learners = _n_learners(learners)
    _check(n, n_fits, loss, goal, about)
    sizes, outside = _sizes_about(n, table)
    found = _evidence(table, sizes, n, loss, n_learners, goal, about)
    affordable = [each for each in found if each.n_fits <= n_fits]
    if not found:
        raise ValueError(f"n={n} is too few observations for any test of this kind")
    if not affordable:
        cheapest = min((each.n_fits for each in found), default=None)
        remedy = "nothing suits" if cheapest is None else f"use at least {cheapest}"
        raise ValueError(f"n_fits={n_fits} is too few for any test of this kind: {remedy}")
    ranked = sorted(affordable, key=lambda each: _rank(each, limits))
    best = ranked[0]
    promises = best.meets(limits) and not outside
    procedure = PROCEDURES[best.procedure]
    settings = procedure.settings(n)
    if procedure.takes_loss and loss != "zero_one":
        settings["loss"] = loss
    return Advice(
        n_obs=n,
        n_fits=n_fits,
        loss=loss,
        n_learners=n_learners,
        goal=goal,
        about=about,
        promises=promises,
        test=procedure.test,
        settings=settings,
        options=procedure.options,
        evidence=best,
        runners_up=tuple(ranked[1 : 1 + N_RUNNERS_UP]),
        reasons=_reasons(best, procedure, ranked, sizes, outside, n_learners, limits),
    )


def _n_learners(learners: Any) -> int:
    if isinstance(learners, (list, tuple, dict)):
        return _n_learners(len(learners))
    number = as_integer("learners", learners)
    if number not in (1, 2):
        raise ValueError(f"learners must be 1 or 2 (compare more of them in pairs), got {number}")
    return number


def _check(n: int, n_fits: int, loss: Any, goal: Any, about: Any) -> None:
    if as_integer("n", n) < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    as_integer("n_fits", n_fits)
    if known_metric(loss) is None:
        raise ValueError(f"loss={loss!r} is unknown: use one of {', '.join(LOSSES)}, {AUC.name}")
    check_choice("goal", goal, GOALS)
    check_choice("about", about, ABOUT)


FEWEST_OBS = 40
"""The smallest sample size at which all tests were studied."""


def _sizes_about(n: int, table: "pd.DataFrame") -> tuple[tuple[int, ...], bool]:
    """Sample sizes of the table on both sides of n, and whether n lies outside of them all."""
    # Smaller samples were tried on few tests, which leaves nothing to choose from.
    sizes = np.unique(table["n_obs"][table["n_obs"] >= FEWEST_OBS].to_numpy()).tolist()
    below, above = [s for s in sizes if s <= n], [s for s in sizes if s >= n]
    found = {*below[-1:], *above[:1]}
    return tuple(sorted(found)), not (below and above)


def _evidence(
    table: "pd.DataFrame",
    sizes: tuple[int, ...],
    n: int,
    loss: str,
    n_learners: int,
    goal: Goal,
    about: About,
) -> list[Evidence]:
    metric = known_metric(loss)
    auc = metric is not None and metric.ranks_pairs
    target = "difference" if n_learners == 2 else "error"
    kept = table["target"].to_numpy() == target
    if not auc:
        kept &= (table["loss"].to_numpy() == "zero_one") == (loss == "zero_one")
    by_name: dict[str, list[Any]] = {}
    for cell in table[kept].itertuples(index=False):
        by_name.setdefault(str(cell.procedure), []).append(cell)
    widths = {(cell.problem, cell.n_obs): cell.width for cell in by_name.get(REFERENCE[auc], [])}
    found: list[Evidence] = []
    problems: set[str] = set()
    for name, cells in by_name.items():
        procedure = PROCEDURES[name]
        near = [cell for cell in cells if cell.n_obs in sizes]
        suits = _is_suitable(procedure, auc, loss, goal, about) and procedure.fits(n)
        studied = {cell.n_obs for cell in near if cell.answered}
        if suits and studied:
            one = _summary(procedure, near, _coverage(cells), widths, n)
            found.append(replace(one, both_sides=studied == set(sizes)))
            problems |= {cell.problem for cell in near if cell.answered}
    return [replace(one, unstudied=1 - one.n_problems / len(problems)) for one in found]


def _coverage(cells: list[Any]) -> dict[str, float]:
    """Of each problem where the test answered at all."""
    answered, covered = Counter[str](), Counter[str]()
    for cell in cells:
        answered[cell.problem] += cell.answered
        covered[cell.problem] += cell.covered
    return {name: covered[name] / count for name, count in answered.items() if count}


def _mean(coverage: Mapping[str, float]) -> float:
    return sum(coverage.values()) / len(coverage)


def _is_suitable(procedure: Procedure, auc: bool, loss: str, goal: Goal, about: About) -> bool:
    if not procedure.valid or procedure.auc != auc or procedure.about != about:
        return False
    if procedure.zero_one and loss != "zero_one":
        return False
    # A test without an interval has no evidence but at a true null, and an interval without a
    # p-value is no test.
    return procedure.interval and (procedure.pvalue or goal == "interval")


def _summary(
    procedure: Procedure,
    cells: list[Any],
    everywhere: Mapping[str, float],
    widths: Mapping[tuple[str, int], float],
    n: int,
) -> Evidence:
    samples, answered = Counter[str](), Counter[str]()
    for cell in cells:
        samples[cell.problem] += cell.samples
        answered[cell.problem] += cell.answered
    coverage = _coverage(cells)
    worst = min(coverage, key=lambda name: coverage[name])
    nulls = [(cell.rejected, cell.tested) for cell in cells if cell.equal]
    rejected, tested = (sum(each) for each in zip(*nulls, strict=True)) if nulls else (0, 0)
    return Evidence(
        procedure=procedure.name,
        learn_size=procedure.learn_size(n),
        n_fits=max(int(cell.n_fits) for cell in cells),
        n_problems=len(coverage),
        n_samples=sum(answered.values()),
        coverage=_mean(coverage),
        lowest_coverage=coverage[worst],
        worst=worst,
        all_sizes=_mean(everywhere),
        lowest_all_sizes=min(everywhere.values()),
        missing=max(1 - answered[name] / count for name, count in samples.items()),
        size=rejected / tested if tested else math.nan,
        width=_relative_width(cells, widths),
        overlapping=procedure.overlaps(n),
    )


def _relative_width(cells: list[Any], widths: Mapping[tuple[str, int], float]) -> float:
    ratios = [
        cell.width / widths[cell.problem, cell.n_obs]
        for cell in cells
        if widths.get((cell.problem, cell.n_obs), 0) > 0 and cell.width > 0
    ]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def _rank(each: Evidence, limits: Limits) -> tuple[Any, ...]:
    """Promised ones first, the narrowest first; of the others the best in its worst problem.

    Last come those that lack too many of the problems, or answers in one of them: the few there
    are say little, and whoever follows the advice wants one.
    """
    if each.meets(limits):
        return (0, each.width, each.n_fits)
    few = each.unstudied > limits.unstudied or each.missing > limits.missing
    return (2 if few else 1, -min(each.lowest_coverage, each.lowest_all_sizes), each.n_fits)


def _reasons(
    best: Evidence,
    procedure: Procedure,
    ranked: list[Evidence],
    sizes: tuple[int, ...],
    outside: bool,
    n_learners: int,
    limits: Limits,
) -> tuple[str, ...]:
    at = " and ".join(map(str, sizes))
    what = "the difference of two learners" if n_learners == 2 else "one learner"
    if procedure.about == "rules":
        estimand = f"It is about the rules learnt from {best.learn_size} of your observations."
    else:
        estimand = f"It is about {what} with learning sets of {best.learn_size}."
    reasons = [
        f"On {best.n_problems} problems with n = {at} its 95% intervals covered "
        f"{best.coverage:.1%} on average, {best.lowest_coverage:.1%} in the worst "
        f"({best.worst}); {best.n_samples} samples.",
        estimand,
        f"It needs {best.n_fits} model fits.",
    ]
    if np.isfinite(best.width) and abs(best.width - 1) >= 0.005:
        word = "narrower" if best.width < 1 else "wider"
        reasons.append(
            f"Its intervals are {abs(best.width - 1):.0%} {word} than those of the corrected t "
            "test."
        )
    if 0.01 < best.missing <= limits.missing:
        reasons.append(f"It gave no answer in {best.missing:.0%} of the samples of one problem.")
    liberal = [each.procedure for each in ranked if not each.holds(limits)]
    if best.meets(limits) and liberal:
        reasons.append(f"Not good enough in the table: {', '.join(liberal)}.")
    return (*reasons, *_caveats(best, outside, limits))


def _caveats(best: Evidence, outside: bool, limits: Limits) -> list[str]:
    """Why nothing can be promised."""
    doubts = []
    if outside:
        doubts.append("This sample size lies outside of those studied.")
    elif not best.both_sides:
        doubts.append("It was studied on one side of this sample size only.")
    if best.n_problems < FEWEST_PROBLEMS:
        doubts.append(f"Only {best.n_problems} problems of this kind were studied.")
    if best.unstudied > limits.unstudied:
        doubts.append(
            f"{best.unstudied:.0%} of the problems of this kind were studied without this test."
        )
    if best.n_samples < FEWEST_SAMPLES:
        doubts.append(f"Only {best.n_samples} samples are behind it.")
    mean, lowest = best.all_sizes, best.lowest_all_sizes
    low = min(best.lowest_coverage, lowest) < limits.lowest
    if low or best.coverage < limits.mean or mean < limits.all_sizes:
        doubts.append(
            f"No test that suits covered {limits.mean:.0%} on average and {limits.lowest:.0%} in "
            f"the worst problem at this size, and {limits.all_sizes:.0%} and {limits.lowest:.0%} "
            f"at all sizes together (this one there {mean:.1%} and {lowest:.1%}); this one is best "
            "in its worst."
        )
    if best.missing > limits.missing:
        doubts.append(f"It gave no answer in {best.missing:.0%} of the samples of some problem.")
    if best.overlapping:
        doubts.append(
            "Its learning sets hold most of the observations, so that its intervals can be too "
            "short for learners whose rules change much from one learning set to another."
        )
    if best.size > limits.size:
        doubts.append(f"It rejected {best.size:.1%} of true nulls at the 5% level.")
    return [f"Cannot promise: {doubt}" for doubt in doubts]
