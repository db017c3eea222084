"""Which test to use: one line a question, with what the calibration table says of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ucvtest.advice.calibration import (
    FEWEST_PROBLEMS,
    LEAST_MEAN,
    Evidence,
    calibration_cells,
    cells_of,
    metric_cells,
)
from ucvtest.advice.configured_tests import FEW_PAIRS, PROCEDURES, About, Procedure
from ucvtest.advice.evidence import REFERENCE, CellsAbout, CellsAboutMetric, relative_width
from ucvtest.common.checks import as_integer, named_options
from ucvtest.common.equality import ByValue
from ucvtest.common.notes import Note
from ucvtest.common.words import arg, call
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS
from ucvtest.metrics.base import Metric
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.named import named_smooth_metric
from ucvtest.metrics.ranks import AUC
from ucvtest.metrics.recorded import known_metric
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.metrics.smooth import SmoothMetric

if TYPE_CHECKING:
    import pandas as pd

    from ucvtest.inference.base import HypothesisTest

Goal = Literal["test", "interval"]

BUDGETS = {
    False: (*(f"ustatistic_few_{2 * n_pairs}" for n_pairs in FEW_PAIRS), "ustatistic"),
    True: (*(f"ustatistic_auc_few_{2 * n_pairs}" for n_pairs in FEW_PAIRS), "ustatistic_auc"),
}
"""The U-statistic test with as many fits as were studied, the fewest first."""

WEAK_CELLS = 3
"""Of the weak cells so many are named."""


@dataclass(frozen=True, eq=False)
class Advice(ByValue):
    """A test with all its settings, and why.

    Made by `advise`.

    Parameters
    ----------
    n_obs, n_fits : int
        Observations, and model fits that can be afforded, as passed to `advise`.
    loss : str
        Name of the loss, or of the metric.
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
                f"other: the advice is for {self.n_learners} "
                f"learner{'s' if self.n_learners == 2 else ''}: ask for advice on another number"
            )
        learners = (learner,) if other is None else (learner, other)
        test: Any = class_named(self.test)
        return test(X, y, *learners, **{**self.settings, **arguments})

    def _repr_html_(self) -> str:
        from ucvtest.results.summary_tables import page

        return page([line.strip() for line in str(self).split("\n")], [])

    def __str__(self) -> str:
        promise = "" if self.promises else " (no promise: see the cautions)"
        settings = [f"{name}={_written(value)}" for name, value in self.settings.items()]
        options = [f"{name}={value!r:.60}" for name, value in self.options.items()]
        lines = [
            f"{self.test}(X, y, ..., {', '.join(settings)}).fit({', '.join(options)}){promise}",
            *(f"  - {reason}" for reason in self.reasons),
        ]
        return "\n".join(lines)


def _out_of_fold() -> str:
    """Where to go with scores of folds, for whom asks about the AUC of rules."""
    return (
        "Scores of a K-fold cross-validation that exist already need no fit: with their folds, "
        f"{call('Losses.from_predictions')} and {call('CrossValidationWaldTest')} are about the "
        "rules of these folds."
    )


def _written(setting: Any) -> str:
    return setting.name if isinstance(setting, Metric) else f"{setting!r:.60}"


@named_options
def advise(
    n: int,
    n_fits: int = 10_000,
    *,
    loss: str | None = None,
    learners: int | Sequence[Any] = 2,
    goal: Goal = "interval",
    about: About = "learner",
    metric: Any = None,
) -> Advice:
    """Recommend a test, and say what to expect of it with this number of fits.

    Parameters
    ----------
    n : int
        Observations in the sample.
    n_fits : int
        Model fits that can be afforded, each learner and each learning set counted. Twenty fits of
        each learner are enough for a first answer.
    loss : str, optional
        Name of the loss, or "auc"; "zero_one" without it.
    learners : int or sequence
        2 for a difference, 1 for the loss of one learner; or the learners themselves.
    goal : {"test", "interval"}
        A p-value, or a confidence interval: the tests recommended have both.
    about : {"learner", "rules"}
        Whether the question is about learning from samples like this one, or about the rules
        that were learnt here.
    metric : str or metric, optional
        Instead of a loss, a metric that is not a mean of losses, such as "f1" or "r2"; the tests
        then get it as ``metric=``.

    Returns
    -------
    Advice
        With reasons and a test that can be run; `promises` is False if the study promises nothing.

    Raises
    ------
    ValueError
        If an argument cannot be used, no test needs so few fits, or no metric like this one was
        studied.

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

    Metrics have rows from other studies with 50 samples in most cells: F1, MCC, balanced accuracy,
    R2 and RMSE of learners on problems of the calibration study, Harrell's concordance on problems
    with censored times, and more metrics of fixed rules. A promise then also needs 93% on average
    over all sample sizes. For a metric that was not studied, the numbers are those of the studied
    metric of the same kind whose intervals were worst, and nothing is promised.

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
    >>> uv.advise(100, 40, metric="f1").settings
    mappingproxy({'learn_size': 49, 'metric': 'f1'})
    """
    return advise_from(
        None, n, n_fits, loss=loss, learners=learners, goal=goal, about=about, metric=metric
    )


def advise_from(
    table: "pd.DataFrame | None",
    n: int,
    n_fits: int,
    *,
    loss: str | None = None,
    learners: int | Sequence[Any] = 2,
    goal: Goal = "interval",
    about: About = "learner",
    metric: Any = None,
) -> Advice:
    """`advise` by another calibration table, for example without some problems.

    In rows about a metric, its name is the loss.
    """
    n_learners = _n_learners(learners)
    if as_integer("n", n) < 2:
        raise ValueError(f"{arg('n')} must be at least 2, got {n}")
    as_integer("n_fits", n_fits)
    metric, argument = _metric_and_argument(loss, metric)
    names = _procedures(metric, n_learners, about)
    read = metric_cells if metric.linearised else calibration_cells
    cells_about = read if table is None else partial(cells_of, table)
    all_cells = cells_about(frozenset({*names, REFERENCE[metric.ranks_pairs]}))
    cells: CellsAbout
    if isinstance(metric, SmoothMetric):
        cells = CellsAboutMetric.of_metric(all_cells, metric, n, n_learners)
    else:
        cells = CellsAbout.of(all_cells, metric, n, n_learners)
    rungs = cells.evidence(names)
    if not rungs:
        raise ValueError(f"{arg('n', n)} is too few observations for any test of this kind")
    affordable = [rung for rung in rungs if rung.n_fits <= n_fits]
    best_affordable = affordable[-1] if affordable else rungs[0]
    procedure = PROCEDURES[best_affordable.procedure]
    least_fits = best_affordable.n_fits if about == "rules" else 2 * LEAST_ROUNDS * n_learners
    if n_fits < least_fits:
        raise ValueError(
            f"{arg('n_fits', n_fits)} is too few for any test of this kind: use at least "
            f"{least_fits}"
        )
    settings = procedure.settings(n)
    if procedure.takes_loss:
        settings |= argument
    costlier = rungs[rungs.index(best_affordable) + 1 :]
    doubts = [
        _caution(doubt)
        for doubt in (
            *cells.doubts(best_affordable),
            *_doubts(best_affordable, procedure, n, n_fits),
        )
    ]
    return Advice(
        n_obs=n,
        n_fits=n_fits,
        loss=metric.reported_name,
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
            *((_out_of_fold(),) if about == "rules" and metric.ranks_pairs else ()),
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


def _metric_and_argument(loss: Any, metric: Any) -> tuple[Metric, dict[str, Any]]:
    """The metric, and the argument of tests that asks for it; errors need none."""
    smooth = named_smooth_metric(loss) if metric is None else None
    if smooth is not None:
        metric, loss = loss, None
    if metric is not None:
        chosen = chosen_loss(loss, metric=metric)
        chosen_metric = chosen if isinstance(chosen, Metric) else known_metric(chosen)
        assert chosen_metric is not None
        return chosen_metric, {"metric": metric}
    name = "zero_one" if loss is None else loss
    known = known_metric(name)
    if known is None:
        raise ValueError(
            f"{arg('loss', loss)} is unknown: use one of {', '.join(LOSSES)}, {AUC.name}, or a "
            f"metric such as {arg('metric', 'f1')}"
        )
    return known, {} if name == "zero_one" else {"loss": name}


# ---------------------------------------------------------------------------- the line


def _procedures(metric: Metric, n_learners: int, about: About) -> tuple[str, ...]:
    """The test for the question, with the numbers of fits that were studied, the fewest first."""
    if about == "learner":
        return BUDGETS[metric.ranks_pairs]
    if metric.ranks_pairs:
        return ("delong",)
    return ("mcnemar" if n_learners == 2 and metric.counts_errors else "hold_out",)


def _options(metric: Metric, n_fits: int) -> Mapping[str, Any]:
    """Options of `fit`: with the variance "auto" the fits decide which one there is."""
    full = PROCEDURES[BUDGETS[metric.ranks_pairs][-1]].options
    return {**full, "max_fits": min(n_fits, full.get("max_fits", n_fits))}


# ------------------------------------------------------------------------- the reasons


def _reasons(
    cells: CellsAbout, recommended: Evidence, procedure: Procedure, costlier: Sequence[Evidence]
) -> list[str]:
    sizes_text = " and ".join(map(str, recommended.sizes))
    estimand_words = "the difference of two learners" if cells.n_learners == 2 else "one learner"
    if procedure.about == "rules":
        estimand = (
            f"It is about the rules learnt from {recommended.learn_size} of your observations."
        )
    else:
        # The sizes of classes and folds can make it one less, or one more.
        exact = procedure.design is None and not cells.metric.ranks_pairs
        about = "" if exact else "about "
        estimand = (
            f"It is about {estimand_words} with learning sets of {about}{recommended.learn_size}."
        )
    listed = [
        f"With {_fits(recommended, cells)}, on {recommended.n_problems} problems with n = "
        f"{sizes_text}, its 95% intervals{cells.estimand} contained the true value in "
        f"{recommended.coverage:.1%} of the samples on average, "
        f"{recommended.lowest_coverage:.1%} in the worst problem ({recommended.worst!r} in the "
        f"calibration study); {recommended.n_samples} samples.",
        *cells.remarks(recommended),
        estimand,
    ]
    if math.isfinite(recommended.expected_width):
        listed.append(f"Expect 95% intervals about {recommended.expected_width:.2g} wide.")
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


def _fits(evidence: Evidence, cells: CellsAbout) -> str:
    of_each = evidence.n_fits // cells.n_learners
    fits_text = "1 fit" if of_each == 1 else f"{of_each} fits"
    return f"{fits_text} of each learner" if cells.n_learners == 2 else fits_text


def _caution(doubt: str) -> Note:
    """A reason why nothing can be promised, which is short or has a line."""
    line = doubt.line if isinstance(doubt, Note) else doubt
    return Note(f"Caution: {doubt}", f"Caution: {line}")


def _weak(cells: CellsAbout, recommended: Evidence) -> list[str]:
    """The cells that are below 90%, and what does better."""
    listed: list[str] = []
    if recommended.weak:
        named_cells = "; ".join(map(str, recommended.weak[:WEAK_CELLS]))
        n_unnamed = len(recommended.weak) - WEAK_CELLS
        more_text = f"; and {n_unnamed} more" if n_unnamed > 0 else ""
        text = f"Weak: fewer than 90% of intervals were right in problem {named_cells}{more_text}."
        lowest = f"{recommended.weak[0].coverage:.0%}"
        line = f"In the worst simulation only {lowest} of 95% intervals contained the true value."
        listed.append(Note(text, line))
        listed += cells.remarks_on_weak(recommended)
    return listed


def _doubts(recommended: Evidence, procedure: Procedure, n: int, n_fits: int) -> list[str]:
    """Why nothing can be promised."""
    doubts: list[str] = []
    if not recommended.within:
        sizes_text = " to ".join(map(str, sorted({recommended.sizes[0], recommended.sizes[-1]})))
        doubts.append(f"The sample sizes studied nearest to this one are n = {sizes_text}.")
    if n_fits < recommended.n_fits:
        doubts.append(f"The fewest fits that were studied are {recommended.n_fits}.")
    if recommended.n_problems < FEWEST_PROBLEMS:
        doubts.append(f"Only {recommended.n_problems} problems of this kind were studied.")
    if recommended.coverage < LEAST_MEAN:
        doubts.append(f"Its intervals were right in fewer than {LEAST_MEAN:.0%} of the samples.")
    if procedure.overlaps(n):
        text = (
            "Its learning sets contain most of the observations, so that its intervals can be too "
            "short for learners whose rules change much from one learning set to another."
        )
        doubts.append(Note(text, "Intervals can be too short for unstable learners."))
    return doubts
