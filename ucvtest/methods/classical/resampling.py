"""Common part of tests on the losses of one design, from data or from existing losses."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.notes import Note
from ucvtest.common.words import call
from ucvtest.data.groups import Clusters, Groups
from ucvtest.designs.design import Design, learn_size
from ucvtest.evaluation.evaluate import evaluate_problem
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import OF_EXPECTED_PARTS, one_class_and_tie_notes
from ucvtest.inference.question import DataQuestion, Question, of_units
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.drawn_designs import DrawnDesignTest
from ucvtest.methods.classical.fixed_rules import of_these_rules
from ucvtest.methods.classical.many_pairs import (
    PairsOfLearners,
    of_plain_means,
    student_numbers,
)
from ucvtest.methods.classical.survival_of_rules import turned_risks
from ucvtest.metrics.base import when_learning_from
from ucvtest.metrics.refusals import refuse_pooled
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.columns import PairNumbers

LOSSES_OF_CLASSES = ("zero_one", "log")


class ResamplingTest(DrawnDesignTest):
    """A test on the losses of one or two learners on the resamples of one design.

    It is made from data, and `fit` then evaluates the learners on a new draw of the design. Or it
    is made from existing losses by `from_losses`, and `fit` then only analyses them.
    """

    def _ask(self, question: Question, design: Any = None, cv: Any = None) -> None:
        super()._ask(question)
        if isinstance(question, DataQuestion):
            self._plan(question, design, cv)
        else:
            assert question.design is not None
            self._refuse_design(question.design)

    def tested_clusters(self, observed: LossDifference) -> Clusters | None:
        """The clusters of the tested rows, for tests that take the losses of rows."""
        clusters = self.question.clusters
        if clusters is None:
            return None
        testing = observed.design.testing
        tested = np.broadcast_to(clusters.groups.index, testing.shape)[testing]
        return Clusters(Groups(*np.unique(tested, return_inverse=True)), clusters.weight)

    def _refuse_design(self, design: Design) -> None:
        """Refuse designs that the test cannot use, and name the ones that it accepts."""
        try:
            self._check_design(design)
        except ValueError as error:
            raise ValueError(
                f"{error}; {call(type(self).__name__)} accepts {self.needs.designs}"
            ) from None
        if design.n_resamples > 1 and isinstance(self.question.metric, SmoothMetric):
            refuse_pooled(self.question.metric)

    @abstractmethod
    def _check_design(self, design: Design) -> None:
        """Refuse designs that the test cannot use."""

    # --------------------------------------------------------------- from losses to an answer

    def _answer(self, options: Any, execution: Execution) -> Answer:
        question, observed = self.question, self.question.observed
        if observed is None:
            assert isinstance(question, DataQuestion)
            design = self._draw(execution.generator)
            losses = evaluate_problem(question.problem, design, execution, {"rng": execution.seed})
            observed = losses.in_losses.difference(0, 1 if question.paired else None)
            if not self.needs.by_rows:
                observed = of_units(observed, question.clusters)
        answer = self.analyse(observed, options)
        # Some take the losses of clusters in the place of those of rows.
        observed = observed if answer.observed is None else answer.observed
        losses, design = observed.losses, observed.design
        notes = [*answer.notes]
        if observed.diagnostics or losses.target is not None:
            clusters = self.tested_clusters(observed) if losses.metric.of_survival else None
            notes += notes_on_losses(observed, clusters)
        drawn_design = self.design if question.observed is None else design
        settings = {
            "design": losses.settings.get("design") or drawn_design.words,
            **({"learn_size": self._learn_size(design)} if design.learns else {}),
            **losses.settings,
            "loss": losses.loss,
            **answer.settings,
        }
        settings.pop("backends", None)
        return replace(answer, observed=observed, settings=settings, notes=notes)

    @abstractmethod
    def analyse(self, observed: LossDifference, options: Any) -> Answer:
        """The answer of the test from these losses, with the options of `fit`: see `Answer`."""

    def numbers_of_pairs(self, places: np.ndarray, options: Any) -> PairNumbers | None:
        """See `HypothesisTest.numbers_of_pairs`: by the answer to all pairs, of tests of means."""
        question = self.question
        if self.needs.values or question.observed is None or not of_plain_means(question):
            return None
        first, other = places[0].tolist()
        pairs = PairsOfLearners(question.observed.losses, first, other, places)
        return student_numbers(question, places, self.analyse(pairs, options))

    def _learn_size(self, design: Design) -> int | str:
        """The size of the learning sets that the estimand is about.

        The number of clusters, if any.
        """
        clusters = self.question.clusters if self.needs.by_rows else None
        # A design of clusters has one observation for each cluster.
        if clusters is not None and design.n_obs != clusters.n_groups:
            design = design.by_groups(clusters.groups)
        return learn_size(design.learn_sizes)

    def in_words(self, observed: LossDifference, kind: str) -> str:
        """The estimand: the loss, of the rules fitted here or not, and the learning size.

        `kind` is "conditional" for a statement about the rules of these resamples.
        """
        if not observed.design.learns:
            return of_these_rules(observed)
        size, subject = self._learn_size(observed.design), observed.losses.in_words
        units = "observations" if self.question.clusters is None else "clusters"
        if observed.paired:
            subject = f"difference in {subject}"
        if kind == "conditional":
            return f"{subject} of these rules fitted to {size} {units} each"
        return f"{subject} {when_learning_from(size, units)}"


def notes_on_losses(observed: LossDifference, clusters: Clusters | None) -> list[str]:
    """Notes on means of parts, ties, classes that were not learnt, and predictions turned round.

    Rows that are sorted by class leave learning sets without some classes.
    """
    losses, design, notes = observed.losses, observed.design, list[str]()
    if losses.metric.linearised and design.n_resamples > 1:
        notes.append(OF_EXPECTED_PARTS)
    if observed.diagnostics:
        notes += one_class_and_tie_notes(observed.diagnostics)
    if losses.target is not None and losses.loss in LOSSES_OF_CLASSES and design.learns:
        unlearnt = np.zeros(design.n_resamples, dtype=bool)
        for code in np.unique(losses.target):
            members = losses.target == code
            tested, learnt = design.testing[:, members], design.learning[:, members]
            unlearnt |= tested.any(axis=1) & ~learnt.any(axis=1)
        if unlearnt.any():
            resamples = f"{unlearnt.sum()} of {len(unlearnt)} resamples"
            absent = f"In {resamples} a tested class does not occur in the learning set"
            text = (
                f"{absent}, so it cannot be predicted. If rows are sorted, shuffle them; if a "
                "class is rare, use stratified folds."
            )
            notes.append(Note(text, f"{absent}."))
    return notes + (turned_risks(observed, clusters) if losses.metric.of_survival else [])
