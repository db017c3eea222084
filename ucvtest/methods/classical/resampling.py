"""Common part of tests on the losses of one design, from data or from existing losses."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.notes import Note
from ucvtest.common.words import arg, call, excerpt
from ucvtest.data.groups import Clusters, Groups
from ucvtest.designs.adapters import as_design
from ucvtest.designs.design import Design, learn_size
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.designs.structure import folds_of
from ucvtest.evaluation.evaluate import draw_design, evaluate_problem, plan_of
from ucvtest.inference.answer import Answer
from ucvtest.inference.arguments import Ask
from ucvtest.inference.base import HypothesisTest
from ucvtest.inference.needs import Traits, refuse
from ucvtest.inference.notes import OF_EXPECTED_PARTS, one_class_and_tie_notes
from ucvtest.inference.question import DataQuestion, Question, of_units
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.fixed_rules import of_these_rules
from ucvtest.methods.classical.many_pairs import (
    numbers_by_answers,
    numbers_of_shares,
    of_plain_means,
)
from ucvtest.methods.classical.survival_of_rules import turned_risks
from ucvtest.metrics.base import when_learning_from
from ucvtest.metrics.refusals import refuse_pooled
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.columns import PairNumbers

LOSSES_OF_CLASSES = ("zero_one", "log")


class ResamplingTest(HypothesisTest):
    """A test on the losses of one or two learners on the resamples of one design.

    It is made from data, and `fit` then evaluates the learners on a new draw of the design. Or it
    is made from existing losses by `from_losses`, and `fit` then only analyses them.

    Parameters
    ----------
    design : uv.designs object, int, scikit-learn splitter or list of splits, optional
        The resampling design; an integer is the number of folds. By default the class's
        `default_design`. For "auc", our designs are stratified unless they have ``stratify=False``.
    loss : str, callable, Loss or matrix, optional
        "auc" compares areas under the ROC curve instead of expected losses.
    null_value : float, optional
        Value of the estimand under H0; by default 0 for two learners, 1/2 for the AUC of one, and
        otherwise none.
    metric : str or metric, optional
        Instead of a loss, a metric that is not a mean of losses, such as "f1": see
        `Losses.from_predictions`.
    cv : int, splitter or iterable, optional
        scikit-learn's argument instead of `design`. An integer means the same as in
        `cross_val_score`: folds of adjacent rows, stratified for classes. With groups it is
        ``KFold(cv, stratify=True)`` of groups for classes, and ``KFold(cv)`` otherwise.
    """

    default_design: ClassVar[NamedDesign]
    pools_scores: ClassVar[bool] = False
    """Whether the AUC is computed from the pooled scores of all test sets, not as a mean over test
    sets."""
    marks_rows: ClassVar[bool] = False
    """Whether shares of right or wrong rows in clusters have a rule of their own."""
    pair_by_pair: ClassVar[bool] = False
    """Whether answers are about one pair of learners, not about all that `means_of_each` and
    `values_of_each` are of."""

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        design: Any = None,
        cv: Any = None,
        metric: Any = None,
        weights: Any = None,
        **ask: Unpack[Ask],
    ) -> None:
        question = self.question_of(X, y, learner, other, metric=metric, weights=weights, **ask)
        self._ask(question, design, cv)

    def _ask(self, question: Question, design: Any = None, cv: Any = None) -> None:
        super()._ask(question)
        if not isinstance(question, DataQuestion):
            assert question.design is not None
            self._refuse_design(question.design)
            return
        self.design = plan_of(question.problem, design, cv, self.default_design, question.n_dropped)
        # A trial draw refuses a design before the first fit. The real draw is checked again,
        # because a splitter may make sets of other sizes.
        trial = self._draw(np.random.default_rng(0))
        self.question = question.ready(trial.learn_sizes[0])

    @cached_property
    def design(self) -> NamedDesign:
        """The design to draw, or the design of given losses."""
        return as_design(self.question.design)

    @property
    def planned_fits(self) -> int | None:
        """See `HypothesisTest`: the fits of the design, for each learner."""
        if self.question.observed is not None:
            return 0
        return self.design.n_resamples * len(self.question.learners)

    def _draw(self, rng: np.random.Generator) -> Design:
        """Draw the design, if the test can use it and its losses fit into memory."""
        sample = self.question.data("a design").sample
        drawn_design = draw_design(self.design, sample, len(self.question.learners), rng)
        clusters = None if self.needs.by_rows else self.question.clusters
        units = drawn_design if clusters is None else drawn_design.by_groups(clusters.groups)
        refuse(self.needs, Traits.of(self.question, units), type(self).__name__)
        self._refuse_design(units)
        self.check_test_sets(drawn_design)
        return drawn_design

    def check_test_sets(self, design: Design) -> None:
        """Refuse test sets without an AUC if the mean over test sets is requested."""
        if self.question.metric.ranks_pairs and not self.pools_scores:
            refuse_single_classes(self.question, self.design, design)

    def shared_design(
        self, fit_options: Mapping[str, Any]
    ) -> tuple[NamedDesign | None, Mapping[str, Any]]:
        """See `HypothesisTest.shared_design`."""
        return self.design, fit_options

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
        """See `HypothesisTest.numbers_of_pairs`: by the answers to all pairs at once."""
        question, observed = self.question, self.question.observed
        of_sets = question.metric.ranks_pairs and self.needs.values
        if self.pair_by_pair or of_sets or observed is None or not of_plain_means(question):
            return None
        if self.marks_rows and question.metric.counts_errors:
            clusters = self.tested_clusters(observed)
            if clusters is not None and clusters.weight == "row":
                return numbers_of_shares(question, places, clusters)
        return numbers_by_answers(
            question, places, lambda observed: self.analyse(observed, options)
        )

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
        size, subject = self._learn_size(observed.design), observed.in_words
        units = "observations" if self.question.clusters is None else "clusters"
        if kind == "conditional":
            return f"{subject} of these rules fitted to {size} {units} each"
        return f"{subject} {when_learning_from(size, units)}"


def refuse_single_classes(question: Question, scheme: NamedDesign, drawn_design: Design) -> None:
    """Refuse test sets without one of two classes, which have no AUC."""
    codes, testing = question.target, drawn_design.testing
    lacking = [~testing[:, codes == code].any(axis=1) for code in (0, 1)]
    if not np.any(lacking):
        return
    code = int(np.any(lacking[1]))
    label = np.asarray(question.data("a design").sample.classes).tolist()[code]
    fewest = int(min((codes == code).sum() for code in (0, 1)))
    try:
        n_folds = int(folds_of(drawn_design).max()) + 1
    except ValueError:
        n_folds = 0
    another_loss = f"a loss that does not need two classes, such as {arg('loss', 'zero_one')}"
    if fewest < 2:
        remedy = f"use {another_loss}: the smaller class has a single observation"
    elif getattr(scheme, "stratify", None) and n_folds <= fewest:
        remedy = f"use another design, with larger test sets, or {another_loss}"
    else:
        limit = f" with at most {fewest} folds" if n_folds > fewest else ""
        ours = f"(the package's own are stratified for the AUC unless {arg('stratify', False)})"
        remedy = f"use a stratified design{limit} {ours}, or {another_loss}"
    raise ValueError(
        f"design ({scheme.words}) has {int(lacking[code].sum())} test sets without the label "
        f"{excerpt(label)}, which have no AUC: {remedy}"
    )


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
