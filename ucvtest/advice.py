"""Which test to use: a rule that reads the calibration table."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ucvtest.base import as_integer
from ucvtest.losses import LOSSES
from ucvtest.procedures import PROCEDURES, About, Procedure

if TYPE_CHECKING:
    import pandas as pd

    from ucvtest.base import HypothesisTest

__all__ = ["Advice", "Evidence", "advise", "advise_from", "calibration_table"]

Goal = Literal["test", "interval"]
GOALS: tuple[Goal, ...] = get_args(Goal)
ABOUT: tuple[About, ...] = get_args(About)

MEAN_PROMISED, LOWEST_PROMISED = 0.94, 0.90
"""Coverage over the problems of the table, on average and in the worst one, that is asked of a
test before it is recommended with a promise; more than is promised (93% and 88%), since the
problems of users are not those of the table."""

SIZE_PROMISED = 0.075
"""Most true nulls that may be rejected at the 5% level."""

MISSING_PROMISED = 0.05
"""Largest share of samples without an answer, in any problem."""

FEWEST_PROBLEMS = 3
"""Evidence from fewer problems promises nothing."""

REFERENCE = {False: "corrected_t", True: "corrected_t_auc"}
"""Intervals are compared with those of this procedure: for losses, and for the AUC."""

N_RUNNERS_UP = 3


@dataclass(frozen=True)
class Evidence:
    """What the calibration table says of one test at about this sample size.

    Parameters
    ----------
    procedure : str
        Key in the calibration table.
    learn_size : int
        Observations that learn.
    n_fits : int
        Model fits, each learner and each learning set counted.
    n_problems, n_samples : int
        Behind the numbers.
    coverage : float
        Of nominal 95% intervals, mean over problems.
    lowest_coverage : float
        In the worst problem, whose name is `worst`.
    worst : str
    missing : float
        Largest share of samples without an answer in any problem.
    size : float
        Share of true nulls rejected at the 5% level; NaN where none was tested.
    width : float
        Width of the intervals over that of the corrected t test on the same samples,
        geometric mean.
    """

    procedure: str
    learn_size: int
    n_fits: int
    n_problems: int
    n_samples: int
    coverage: float
    lowest_coverage: float
    worst: str
    missing: float
    size: float
    width: float

    @property
    def promises(self) -> bool:
        """Whether it is good enough in every problem to be promised for another one."""
        return (
            self.n_problems >= FEWEST_PROBLEMS
            and self.coverage >= MEAN_PROMISED
            and self.lowest_coverage >= LOWEST_PROMISED
            and self.missing <= MISSING_PROMISED
            and not self.size > SIZE_PROMISED
        )

    @property
    def in_words(self) -> str:
        """One line for summaries."""
        return (
            f"{self.procedure}: coverage {self.coverage:.3f}, lowest {self.lowest_coverage:.3f} "
            f"({self.worst}), width {self.width:.2f}, {self.n_fits} fits, learning sets of "
            f"{self.learn_size}"
        )


@dataclass(frozen=True)
class Advice:
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
        import ucvtest

        if (other is not None) != (self.n_learners == 2):
            raise ValueError(
                f"other: the advice is for {self.n_learners} learner"
                f"{'s' if self.n_learners == 2 else ''}: ask advise(..., learners=...) again"
            )
        learners = (learner,) if other is None else (learner, other)
        test = getattr(ucvtest, self.test)
        return test(X, y, *learners, **{**self.settings, **arguments})

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
    The rule, which has no randomness: of the calibration table (`examples/calibration.py`) take
    the sample sizes next to `n`, below and above, the problems with this kind of loss (zero-one,
    AUC, or any other), and the tests that are valid, about what was asked, within `n_fits`.
    Those with nominal 95% intervals that cover at least 94% on average over problems and 90% in
    the worst, with at most 5% of samples without an answer in each problem and at most 7.5% of
    true nulls rejected, can be promised; of these the one with the narrowest intervals is
    recommended. Where there is none, the one whose worst problem is best is, without promise;
    nor is there one outside of the sample sizes studied (40 to 500).

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
) -> Advice:
    """`advise` by another calibration table, for example without some problems.

    Parameters
    ----------
    table : DataFrame
        See `calibration_table`.
    n, n_fits, loss, learners, goal, about
        See `advise`.

    Returns
    -------
    Advice
    """
    n_learners = _n_learners(learners)
    _check(n, n_fits, loss, goal, about)
    sizes, outside = _sizes_about(n, table)
    found = _evidence(table, sizes, n, loss, n_learners, goal, about)
    affordable = [each for each in found if each.n_fits <= n_fits]
    if not affordable:
        cheapest = min((each.n_fits for each in found), default=None)
        remedy = "nothing suits" if cheapest is None else f"use at least {cheapest}"
        raise ValueError(f"n_fits={n_fits} is too few for any test of this kind: {remedy}")
    ranked = sorted(affordable, key=_rank)
    best = ranked[0]
    promises = best.promises and not outside
    procedure = PROCEDURES[best.procedure]
    settings = procedure.settings(n)
    takes_loss = procedure.test not in ("InfluenceFunctionTest",) and not procedure.zero_one
    if takes_loss and not procedure.auc and loss != "zero_one":
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
        reasons=_reasons(best, procedure, ranked, sizes, outside, n_learners),
    )


def calibration_table() -> "pd.DataFrame":
    """The results of the calibration study, a new copy.

    Returns
    -------
    DataFrame
        One row for each problem, sample size, target ("difference" of two learners, "error" of
        the first, "independence") and procedure: size of the learning sets, model fits, true
        value and its standard error; samples, how many were answered and covered, with Clopper
        and Pearson's 95% limits; whether both learners are equally good; p-values, how many were
        at most 0.05, with limits; median width of the intervals.

    Examples
    --------
    >>> from ucvtest.advice import calibration_table
    >>> table = calibration_table()
    >>> len(set(table["problem"])) >= 12
    True
    """
    return _table().copy()


def calibration_settings() -> dict[str, Any]:
    """Seed, level, versions and problems of the calibration study."""
    return json.loads(resources.files("ucvtest").joinpath("data/calibration.json").read_text())


@cache
def _table() -> "pd.DataFrame":
    import pandas as pd

    with resources.files("ucvtest").joinpath("data/calibration.csv").open() as file:
        return pd.read_csv(file).merge(_losses_of_problems(), on="problem")


def _losses_of_problems() -> "pd.DataFrame":
    import pandas as pd

    known = calibration_settings()["problems"]
    return pd.DataFrame([{"problem": name, "loss": each["loss"]} for name, each in known.items()])


# ------------------------------------------------------------------------------- the rule


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
    if not isinstance(loss, str) or loss not in (*LOSSES, "auc"):
        raise ValueError(f"loss={loss!r} is unknown: use one of {', '.join(LOSSES)}, auc")
    if goal not in GOALS:
        raise ValueError(f"goal={goal!r} is unknown: use one of {', '.join(GOALS)}")
    if about not in ABOUT:
        raise ValueError(f"about={about!r} is unknown: use one of {', '.join(ABOUT)}")


def _sizes_about(n: int, table: "pd.DataFrame") -> tuple[tuple[int, ...], bool]:
    """Sample sizes of the table on both sides of n, and whether n lies outside of them all."""
    sizes = sorted(set(table["n_obs"].tolist()))
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
    auc = loss == "auc"
    target = "difference" if n_learners == 2 else "error"
    rows = table[table["n_obs"].isin(sizes) & (table["target"] == target)]
    if not auc:
        alike = (rows["loss"] == "zero_one") == (loss == "zero_one")
        rows = rows[alike]
    by_name = {str(name): cells for name, cells in rows.groupby("procedure", sort=False)}
    reference = by_name.get(REFERENCE[auc])
    found = []
    for name, cells in by_name.items():
        procedure = PROCEDURES[name]
        if _suits(procedure, auc, loss, goal, about):
            each = _summary(procedure, cells, reference, n, n_learners)
            found += [] if each is None else [each]
    return found


def _suits(procedure: Procedure, auc: bool, loss: str, goal: Goal, about: About) -> bool:
    if not procedure.valid or procedure.auc != auc or procedure.about != about:
        return False
    if procedure.zero_one and loss != "zero_one":
        return False
    # A test without an interval has no evidence but at a true null, and an interval without a
    # p-value is no test.
    return procedure.interval if goal == "interval" else procedure.interval and procedure.pvalue


def _summary(
    procedure: Procedure,
    cells: "pd.DataFrame",
    reference: Any,
    n: int,
    n_learners: int,
) -> Evidence | None:
    sums = cells.groupby("problem", sort=False)[["samples", "answered", "covered"]].sum()
    sums = sums[sums["answered"] > 0]
    if sums.empty:
        return None
    coverage = sums["covered"] / sums["answered"]
    null = cells[cells["equal"] == 1][["tested", "rejected"]].sum()
    return Evidence(
        procedure=procedure.name,
        learn_size=procedure.learn_size(n),
        n_fits=int(cells["n_fits"].max()),
        n_problems=len(sums),
        n_samples=int(sums["answered"].sum()),
        coverage=float(coverage.mean()),
        lowest_coverage=float(coverage.min()),
        worst=str(coverage.idxmin()),
        missing=float((1 - sums["answered"] / sums["samples"]).max()),
        size=float(null["rejected"] / null["tested"]) if null["tested"] else math.nan,
        width=_relative_width(cells, reference),
    )


def _relative_width(cells: "pd.DataFrame", reference: Any) -> float:
    if reference is None:
        return math.nan
    both = cells.merge(reference, on=["problem", "n_obs"], suffixes=("", "_reference"))
    ratios = (both["width"] / both["width_reference"]).to_numpy()
    ratios = ratios[np.isfinite(ratios) & (ratios > 0)]
    return float(np.exp(np.log(ratios).mean())) if len(ratios) else math.nan


def _rank(each: Evidence) -> tuple[Any, ...]:
    """Promised ones first, the narrowest first; of the others the best in its worst problem."""
    if each.promises:
        return (0, each.width, each.n_fits)
    return (1, -each.lowest_coverage, each.n_fits)


# --------------------------------------------------------------------------------- words


def _reasons(
    best: Evidence,
    procedure: Procedure,
    ranked: list[Evidence],
    sizes: tuple[int, ...],
    outside: bool,
    n_learners: int,
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
    liberal = [each.procedure for each in ranked if not each.promises]
    if best.promises and liberal:
        reasons.append(f"Not reliable enough in the table: {', '.join(liberal)}.")
    return (*reasons, *_doubts(best, outside))


def _doubts(best: Evidence, outside: bool) -> list[str]:
    """Why nothing can be promised."""
    doubts = []
    if outside:
        doubts.append("This sample size lies outside of those studied.")
    if best.n_problems < FEWEST_PROBLEMS:
        doubts.append(f"Only {best.n_problems} problems of this kind were studied.")
    if best.coverage < MEAN_PROMISED or best.lowest_coverage < LOWEST_PROMISED:
        doubts.append(
            "No test that suits covered 94% on average and 90% in the worst problem; this one is "
            "best in its worst."
        )
    if best.missing > MISSING_PROMISED:
        doubts.append(f"It gave no answer in {best.missing:.0%} of the samples of some problem.")
    if best.size > SIZE_PROMISED:
        doubts.append(f"It rejected {best.size:.1%} of true nulls at the 5% level.")
    return [f"Cannot promise: {doubt}" for doubt in doubts]
