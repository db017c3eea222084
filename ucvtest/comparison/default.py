"""The test that is run where none is named: what `advise` recommends for the question."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ucvtest.advice.advise import Advice, advise
from ucvtest.common.notes import Note
from ucvtest.common.words import arg
from ucvtest.comparison.specs import TestSpec
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.designs.schemes import DisjointSets, KFold
from ucvtest.evaluation.problem import Problem
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS
from ucvtest.learners.base import SplitLearner
from ucvtest.methods.registry import class_named
from ucvtest.methods.ustatistic.options import FEW_PAIRS
from ucvtest.metrics.base import Metric
from ucvtest.metrics.loss import WEIGHTED
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.set_scores import SetScore
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.fields import Contrast
from ucvtest.results.result import TestResult


class Affordable(Protocol):
    """How many fits of two learners there may be."""

    def __call__(self, problem: Problem, *, shared: bool) -> int:
        """For each pair, or where they are `shared` by all pairs of a learner, in all."""


FITS_OF_JITTED = 10_000
"""Fits that can be afforded of jitted learners: seconds."""

FITS_OF_OTHERS = 400
"""The same of others, of all learners together: minutes, where a fit takes a tenth of a second or
so."""

FITS_FOR_SEVERAL = 4_000
"""Fits of two jitted learners that several metrics share: ten of them then take little more time
than one of them alone (studies/benchmarks/ten_metrics.py)."""

FIRST_ANSWER = 2 * FEW_PAIRS
"""Fits of each learner for a first answer, where learners are fitted one by one."""

FITS_FOR_EACH = 10
"""Fits for each observation that the AUC of several classes needs for its variance of many fits."""

FEWEST_IN_CLASS = 3
"""With fewer observations of a class the tests with many fits have no AUC to learn and to test."""

DECIDED = ("loss", "metric")
"""Arguments of the constructor that the question decides."""

MOST_BYTES = 500_000_000
"""Memory for predictions that several metrics share."""


def _more_fits() -> Note:
    return Note(
        f"Learners fitted one by one get {FIRST_ANSWER} fits each. For shorter intervals allow "
        f"more fits ({arg('max_fits')}) or seconds ({arg('max_seconds')}).",
        f"{FIRST_ANSWER} fits of each learner: more of them, or more time, shorten the interval.",
        1,
    )


def _fewer_fits() -> str:
    return (
        f"Simultaneous intervals take up to {FITS_OF_OTHERS // 2} fits of each learner that is "
        f"fitted one by one; another correction takes {FIRST_ANSWER}, and {arg('max_fits')} allows "
        "fewer."
    )


@dataclass(frozen=True)
class Recommended:
    """A test that was not named but recommended.

    `first` if it is an answer from twenty fits, `shared` if all pairs of learners have the same
    learning sets, so that each learner is fitted once to each, `jointly` if learners that are
    fitted one by one are judged together.
    """

    spec: TestSpec
    advice: Advice | None
    loss: str
    first: bool = False
    shared: bool = False
    jointly: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """Why this test was run, and how to ask for more fits, or fewer."""
        about_fits = (_more_fits(),) if self.first else (_fewer_fits(),) if self.jointly else ()
        advice = self.advice
        if advice is None:
            reason = f"No test was named; {self.spec.name} can be about {self.loss}."
            return (reason, *about_fits)
        cautions = [reason for reason in advice.reasons if isinstance(reason, Note)]
        learners = "one learner" if advice.n_learners == 1 else "two learners"
        advice_text = " ".join([advice.reasons[0], *cautions])
        reason = (
            f"No test was named; this is what advise() recommends for {advice.n_obs} observations, "
            f"{learners}, {self.loss} and up to {advice.n_fits} fits. {advice_text}"
        )
        return (Note(reason, cautions[0].line) if cautions else reason, *about_fits)

    def noted(self, result: TestResult) -> TestResult:
        """A result of the test, with the reason why it was run."""
        return replace(result, notes=(*result.notes, *self.notes))


def recommended(
    validated: Callable[[], Problem],
    n_learners: int,
    loss: Any,
    affordable: Affordable | None = None,
    *,
    contrast: Contrast = "difference",
    several: bool = False,
) -> Recommended:
    """What `advise` recommends for one learner, or for pairs of learners.

    `validated` gives the data and the learners, which a score of whole test sets does not ask for;
    `affordable` gives the number of fits of two learners that replaces the default numbers; a test
    without advice does not change with less time. Of `several` metrics the same fits
    serve all.

    Raises
    ------
    ValueError
        If data, learners or loss cannot be used.
    """
    if isinstance(loss, SetScore):
        return Recommended(TestSpec("corrected_t"), None, f"the {loss.in_words}")
    problem = validated()
    metric, slow = problem.metric, _one_by_one(problem)
    auc, of_pair = metric.ranks_pairs, min(n_learners, 2)
    first, shared = slow and affordable is None, slow and n_learners > 2
    first_options = {"max_fits": of_pair * FIRST_ANSWER} if first else {}
    if shared and affordable is not None:
        first_options = {"max_fits": affordable(problem, shared=True)}
    if auc and problem.sample.n_classes > 2:
        # Of quick learners enough for the variance of many fits.
        largest_budget = max(
            FITS_OF_OTHERS if slow else FITS_OF_JITTED, n_learners * FITS_FOR_EACH * problem.n_units
        )
        spec = TestSpec(
            class_named("UStatisticTest"), fit=first_options or {"max_fits": largest_budget}
        )
        auc_in_words = f"the AUC of {problem.sample.n_classes} classes"
        return Recommended(spec, None, auc_in_words, first, shared)
    fewest = _fewest_in_class(problem) if auc else FEWEST_IN_CLASS
    if fewest < FEWEST_IN_CLASS:
        # Too few for tests that draw learning sets.
        spec = TestSpec("corrected_t", {"design": KFold(max(2, min(5, fewest)))})
        return Recommended(spec, None, f"an AUC with so few observations of a class ({fewest})")
    if contrast == "ratio":
        spec = TestSpec("ustatistic", fit=first_options)
        return Recommended(spec, None, f"ratios of {metric.plural}", first, shared)
    usual_fits = FITS_FOR_SEVERAL if several else FITS_OF_JITTED
    budget = of_pair * FIRST_ANSWER if slow else usual_fits
    if affordable is not None:
        budget = affordable(problem, shared=shared)
    n_fits = min(budget, FITS_OF_JITTED)
    loss_in_words = "several metrics" if several else f"the {metric.in_words}"
    question: dict[str, Any] = {"loss": _known(metric)}
    if isinstance(metric, SmoothMetric) and not several:
        question = {"metric": metric}
    elif metric.linearised or metric.name.startswith(WEIGHTED):
        loss_in_words = f"{loss_in_words} (taken for the {LOSSES[_known(metric)].in_words})"
    advice = advise(problem.n_units, n_fits, learners=of_pair, **question)
    constructor = {
        name: setting for name, setting in advice.settings.items() if name not in DECIDED
    }
    options = dict(advice.options)
    if affordable is not None:
        options["max_fits"] = min(options.get("max_fits", budget), budget)
    spec = TestSpec(class_named(advice.test), constructor, options)
    return Recommended(spec, advice, loss_in_words, first, shared)


def _known(metric: Metric) -> str:
    """The name by which advice is asked: your own losses have tails like squared ones.

    Several metrics share one piece of advice. Linearised values of confusion metrics are a few
    numbers, as errors are.
    """
    if metric.of_cells:
        return "zero_one"
    name = metric.name.removeprefix(WEIGHTED)
    return name if metric.ranks_pairs or name in LOSSES else "squared"


def sets_for_several(
    test: Any, options: Mapping[str, Any], learners: Mapping[str, Any]
) -> tuple[NamedDesign, dict[str, Any]]:
    """Learning sets that several metrics share, and the options of `fit` left over.

    In the place of those that a test draws until one of them is known well enough.
    """
    left_options = dict(options)
    n_pairs, max_fits = left_options.pop("n_pairs", "auto"), left_options.pop("max_fits", None)
    problem = test.question.problem
    if n_pairs == "exact":
        raise ValueError(
            f"{arg('n_pairs', 'exact')} is not for several metrics: call once for each"
        )
    if left_options.pop("tol", None) is not None:
        raise ValueError(
            f"{arg('tol')} does not apply with several metrics, which share learning sets: name "
            f"their number by {arg('max_fits')}"
        )
    if n_pairs == "auto":
        slow = _one_by_one(problem.with_learners(learners))
        usual_fits = FITS_OF_OTHERS if slow else FITS_FOR_SEVERAL
        n_pairs = max((max_fits or usual_fits) // 4, LEAST_ROUNDS)
        # Predictions, and the design itself, are kept.
        of_each = 2 * problem.sample.n_obs * (2 + 8 * len(learners))
        n_pairs = min(n_pairs, max(MOST_BYTES // of_each, LEAST_ROUNDS))
    return DisjointSets(test.learn_size, n_draws=n_pairs), left_options


def bounded(problem: Problem) -> Recommended:
    """The test of all learners together, within the usual number of fits for each pair of them.

    Of jitted learners its own bound is as quick.
    """
    loss_in_words = "all learners together"
    if not _one_by_one(problem):
        return Recommended(TestSpec("ustatistic"), None, loss_in_words)
    fits = FITS_OF_OTHERS // 2 * len(problem.learners)
    spec = TestSpec("ustatistic", fit={"max_fits": fits})
    return Recommended(spec, None, loss_in_words, jointly=True)


def _fewest_in_class(problem: Problem) -> int:
    """Observations, or clusters that have one, of the rarest class."""
    class_index, groups = problem.sample.target.astype(int), problem.sample.groups
    if groups is None:
        return int(np.bincount(class_index).min())
    return min(len(np.unique(groups.index[class_index == code])) for code in np.unique(class_index))


def _one_by_one(problem: Problem) -> bool:
    """Whether a learner is fitted to one learning set at a time."""
    half_size = problem.sample.n_obs // 2
    # A translated estimator costs as much as its jitted learner.
    return any(
        isinstance(problem.fitted_by(learner, half_size), SplitLearner)
        for learner in problem.learners.values()
    )
