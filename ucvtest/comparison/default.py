"""The test that is run where none is named: what `advise` recommends for the question."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucvtest.advice.advise import Advice, advise
from ucvtest.common.exceptions import naming
from ucvtest.comparison.specs import TestSpec
from ucvtest.designs.schemes import KFold
from ucvtest.evaluation.problem import Problem
from ucvtest.learners.adapters.translate import choose_backend
from ucvtest.learners.base import SplitLearner
from ucvtest.methods.registry import class_named
from ucvtest.metrics.base import plural
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.set_scores import SetScore
from ucvtest.results.result import TestResult

__all__ = ["RECOMMENDED", "Recommended", "bounded", "recommended"]

RECOMMENDED = "recommended"

FITS_OF_JITTED, FITS_OF_OTHERS = 10_000, 400
"""Fits that can be afforded: seconds with jitted learners; with others minutes, where a fit takes a
tenth of a second or so."""

FITS_FOR_EACH = 10
"""Fits for each observation that the AUC of several classes needs."""

FEWEST_IN_CLASS = 3
"""With fewer observations of a class the tests with many fits have no AUC to learn and to test."""

DECIDED = ("loss", "metric")
"""Arguments of the constructor that the question decides."""


@dataclass(frozen=True)
class Recommended:
    """A test that was not named but recommended."""

    spec: TestSpec
    advice: Advice | None
    loss: str

    @property
    def note(self) -> str:
        """Why this test was run."""
        advice = self.advice
        if advice is None:
            return f"No test was named; {self.spec.name} can be about {self.loss}."
        doubts = [reason for reason in advice.reasons if reason.startswith("Cannot promise")]
        learners = "one learner" if advice.n_learners == 1 else "two learners"
        return (
            f"No test was named; this is what advise() recommends for {advice.n_obs} observations, "
            f"{learners}, {self.loss} and up to {advice.n_fits} fits. "
            f"{' '.join([advice.reasons[0], *doubts])}"
        )

    def noted(self, result: TestResult) -> TestResult:
        """A result of the test, with the reason why it was run."""
        return replace(result, notes=(*result.notes, self.note))


def recommended(
    validated: Callable[[], Problem],
    n_learners: int,
    loss: Any,
    affordable: Callable[[Problem], int] | None = None,
) -> Recommended:
    """What `advise` recommends for one learner, or for pairs of learners.

    `validated` gives the data and the learners, which a score of whole test sets does not ask for;
    `affordable` says how many fits there may be, in the place of the usual numbers; a test that no
    advice is about is no other with less time.

    Raises
    ------
    ValueError
        If data, learners or loss cannot be used.
    """
    if isinstance(loss, SetScore):
        return Recommended(TestSpec("corrected_t"), None, plural(loss.in_words))
    problem = validated()
    auc = problem.metric.ranks_pairs
    if auc and problem.sample.n_classes > 2:
        # Enough for its variance, however slow the learners are.
        fits = max(_affordable(problem), n_learners * FITS_FOR_EACH * problem.n_units)
        spec = TestSpec(class_named("UStatisticTest"), fit={"max_fits": fits})
        return Recommended(spec, None, f"the AUC of {problem.sample.n_classes} classes")
    # Losses of one's own have tails like those that the study calls other than zero-one.
    name = problem.metric.name
    known = name if auc or name in LOSSES else "squared"
    budget = (affordable or _affordable)(problem)
    n_fits = min(budget, FITS_OF_JITTED)
    fewest = _fewest_in_class(problem) if auc else 0
    if auc and fewest < FEWEST_IN_CLASS:
        n_fits = min(n_fits, FITS_OF_OTHERS)
    with naming("max_seconds") if affordable is not None else nullcontext():
        advice = advise(problem.n_units, n_fits, loss=known, learners=min(n_learners, 2))
    constructor = {name: each for name, each in advice.settings.items() if name not in DECIDED}
    design = constructor.get("design")
    if auc and isinstance(design, KFold):
        # Every test set needs both classes.
        constructor["design"] = replace(design, n_folds=max(2, min(design.n_folds, fewest)))
    options = dict(advice.options)
    if affordable is not None and design is None and "n_repeats" not in options:
        options["max_fits"] = min(options.get("max_fits", budget), budget)
    spec = TestSpec(class_named(advice.test), constructor, options)
    words = "the AUC" if auc else problem.metric.plural
    return Recommended(spec, advice, words)


def bounded(problem: Problem) -> TestSpec:
    """The test of all learners together, within the usual number of fits for each pair of them.

    Of jitted learners its own bound is as quick.
    """
    if _affordable(problem) == FITS_OF_JITTED:
        return TestSpec("ustatistic")
    n_learners = len(problem.learners)
    fits = FITS_OF_OTHERS // 2 * n_learners
    if problem.metric.ranks_pairs:
        # Enough for its variance, however slow the learners are.
        fits = max(fits, n_learners * FITS_FOR_EACH * problem.n_units)
    return TestSpec("ustatistic", fit={"max_fits": fits})


def _fewest_in_class(problem: Problem) -> int:
    """Observations, or clusters that have one, of the rarest class."""
    class_index, groups = problem.sample.target.astype(int), problem.sample.groups
    if groups is None:
        return int(np.bincount(class_index).min())
    return min(len(np.unique(groups.index[class_index == code])) for code in np.unique(class_index))


def _affordable(problem: Problem) -> int:
    half = problem.sample.n_obs // 2
    for learner in problem.learners.values():
        chosen = choose_backend(learner, problem.backend, problem.sample, problem.output, half)
        # What was translated costs what its jitted learner costs.
        if isinstance(chosen, SplitLearner):
            return FITS_OF_OTHERS
    return FITS_OF_JITTED
