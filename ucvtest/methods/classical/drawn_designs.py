"""Tests that draw a design when they are made from data: what users name, and its refusals."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np

from ucvtest.common.words import arg, excerpt
from ucvtest.designs.adapters import as_design, design_or_cv
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.designs.structure import folds_of
from ucvtest.evaluation.evaluate import draw_design
from ucvtest.evaluation.problem import check_two_classes
from ucvtest.inference.arguments import Ask
from ucvtest.inference.base import HypothesisTest
from ucvtest.inference.needs import Traits, refuse
from ucvtest.inference.question import DataQuestion, Question
from ucvtest.metrics.names import wants_every_class


class DrawnDesignTest(HypothesisTest):
    """A test on the losses of one design, which it draws where it is made from data.

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

    if TYPE_CHECKING:

        def _ask(self, question: Question, design: Any = None, cv: Any = None) -> None: ...

    def _plan(self, question: DataQuestion, design: Any, cv: Any) -> None:
        """Keep the design, and the question with learners that are ready for it.

        A trial draw refuses a design before the first fit. The real draw is checked again, because
        a splitter may make sets of other sizes.
        """
        self.design = scheme_of(question, design, cv, self.default_design)
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

    @abstractmethod
    def _refuse_design(self, design: Design) -> None:
        """Refuse designs that the test cannot use."""


def scheme_of(question: DataQuestion, design: Any, cv: Any, default: NamedDesign) -> NamedDesign:
    """The design or splitter to draw: named by the user, or the test's default."""
    sample, has_classes = question.sample, question.sample.n_classes > 0
    if question.metric.ranks_pairs:
        check_two_classes(sample)
    design_or_splitter = design_or_cv(
        design,
        cv,
        sample.response,
        has_classes=has_classes,
        n_dropped=question.n_dropped,
        groups=sample.groups,
    )
    # The sample's own copies, so that data that change later do not change the splits.
    return as_design(
        default if design_or_splitter is None else design_or_splitter,
        sample.features,
        sample.response,
        auc=wants_every_class(question.metric, has_classes=has_classes),
        groups=question.problem.given_groups,
    )


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
