"""Common part of tests on the losses of one design, from data or from existing losses."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.notes import Note
from ucvtest.data.groups import Clusters, Groups, units_of
from ucvtest.designs.adapters import as_design, design_or_cv
from ucvtest.designs.design import Design, learn_size
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.designs.structure import folds_of
from ucvtest.evaluation.evaluate import draw_design, evaluate_problem
from ucvtest.evaluation.problem import check_two_classes
from ucvtest.inference.arguments import Ask, Run
from ucvtest.inference.base import HypothesisTest
from ucvtest.inference.notes import OF_EXPECTED_PARTS, one_class_and_tie_notes
from ucvtest.inference.question import DataQuestion, Question, of_units
from ucvtest.inference.studentise import PerLearnerEstimates, on_logit_scale, studentise
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.fixed_rules import of_these_rules, without_spread
from ucvtest.methods.classical.survival_of_rules import no_value_in_words, turned_risks
from ucvtest.metrics.base import Metric, plural, when_learning_from
from ucvtest.metrics.names import wants_every_class
from ucvtest.metrics.ranges import difference_range, range_of
from ucvtest.metrics.refusals import refuse_pooled
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.plot_data import Picture
from ucvtest.results.result import TestResult
from ucvtest.results.wording import same_everywhere
from ucvtest.stats.interval_rules import Rule

Estimator = Callable[[LossDifference], tuple[float, float]]
"""From losses to the estimate and its variance, of one learner or of the difference of two."""

NO_VALUE = "no estimate: {} is 0/0 here, because {}; use more observations, or another metric"

LOSSES_OF_CLASSES = ("zero_one", "log")

ROUNDING = 1e-10
"""Standard errors up to this share of the losses are treated as rounding error."""


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

    takes_groups = True
    takes_set_scores = True
    takes_auc = True
    takes_metrics = True
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

    by_rows: bool
    """Whether the losses are losses of rows, even if rows are in clusters."""

    def _ask(self, question: Question, design: Any = None, cv: Any = None) -> None:
        super()._ask(question)
        self.by_rows = self.sees_rows(question.metric)
        if isinstance(question, DataQuestion):
            self.design = scheme_of(question, design, cv, self.default_design)
            # A trial draw, so that a design is refused before the first fit. The real draw is
            # checked again, because a splitter may make sets of other sizes.
            trial = self._draw(np.random.default_rng(0))
            self.question = question.ready(trial.learn_sizes[0])
        else:
            if self.needs_values:
                question.check_values()
            assert question.design is not None
            self._refuse_design(question.design)

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
        clusters = None if self.by_rows else self.question.clusters
        units = drawn_design if clusters is None else drawn_design.by_groups(clusters.groups)
        self._refuse_design(units)
        self.check_test_sets(drawn_design)
        return drawn_design

    def tested_clusters(self, observed: LossDifference) -> Clusters | None:
        """The clusters of the tested rows, for tests that take the losses of rows."""
        clusters = self.question.clusters
        if clusters is None:
            return None
        testing = observed.design.testing
        tested = np.broadcast_to(clusters.groups.index, testing.shape)[testing]
        return Clusters(Groups(*np.unique(tested, return_inverse=True)), clusters.weight)

    def check_test_sets(self, design: Design) -> None:
        """Refuse test sets without an AUC if the mean over test sets is requested."""
        if self.question.metric.ranks_pairs and not self.pools_scores:
            refuse_single_classes(self.question, self.design, design)

    def _refuse_design(self, design: Design) -> None:
        """Refuse designs that the test cannot use, and name the ones that it accepts."""
        self.refuse_in_time(self.question, design)
        try:
            self._check_design(design)
        except ValueError as error:
            raise ValueError(f"{error}; {type(self).__name__} accepts {self.admits}") from None
        if design.n_resamples > 1 and isinstance(self.question.metric, SmoothMetric):
            refuse_pooled(self.question.metric)

    @abstractmethod
    def _check_design(self, design: Design) -> None:
        """Refuse designs that the test cannot use."""

    def fit(self, **run: Unpack[Run]) -> TestResult:
        """Evaluate the learners unless losses are given, and test."""
        return self._fit(None, run)

    # --------------------------------------------------------------- from losses to a result

    def _answer(self, options: Any, execution: Execution) -> TestResult:
        question, observed = self.question, self.question.observed
        if observed is None:
            assert isinstance(question, DataQuestion)
            design = self._draw(execution.generator)
            losses = evaluate_problem(question.problem, design, execution, {"rng": execution.seed})
            observed = losses.in_losses.difference(0, 1 if question.paired else None)
            if not self.by_rows:
                observed = of_units(observed, question.clusters)
        return self._analysed(observed, options)

    @abstractmethod
    def _analysed(self, observed: LossDifference, options: Any) -> TestResult:
        """The result of the test on these losses, with the options of `fit`."""

    def shared_design(
        self, fit_options: Mapping[str, Any]
    ) -> tuple[NamedDesign | None, Mapping[str, Any]]:
        """See `HypothesisTest.shared_design`."""
        return self.design, fit_options

    def _learn_size(self, design: Design) -> int | str:
        """The size of the learning sets that the estimand is about.

        The number of clusters, if any.
        """
        clusters = self.question.clusters if self.by_rows else None
        # A design of clusters has one observation for each cluster.
        if clusters is not None and design.n_obs != clusters.n_groups:
            design = design.by_groups(clusters.groups)
        return learn_size(design.learn_sizes)

    def _result(
        self,
        observed: LossDifference,
        *,
        method: str,
        estimand: str,
        estimator: Estimator,
        reference: str,
        df: float = math.nan,
        status: str = "ok",
        has_se: bool = True,
        settings: Mapping[str, Any] | None = None,
        diagnostics: Mapping[str, Any],
        notes: tuple[str, ...],
        tables: Mapping[str, Mapping[str, tuple[Any, ...]]] | None = None,
        pictures: Mapping[str, Picture] | None = None,
        interval_name: str = "interval",
        assumption: str | None = None,
        rule: Rule | None = None,
        logit: bool = False,
    ) -> TestResult:
        """The result of a studentised statistic; no test unless `status` is "ok".

        With `logit` it is studentised on the logit scale. An exact test, given by `rule`, does not
        need a variance and always has an answer. Without `has_se` the variance only tells whether
        the losses vary; it is not the variance of the estimate.
        """
        losses = observed.losses
        estimate, variance = estimator(observed)
        if observed.paired and abs(estimate) <= rounding_of(observed):
            estimate = 0.0
        if rule is None:
            status = status_of(observed, estimate, variance, status, self.question.metric)
        # A result without a test has no statistic either.
        shown_reference = reference if status == "ok" else "none"
        hypothesis = self.question.hypothesis
        studentised = studentise(
            hypothesis, estimate, variance, reference=shown_reference, df=df, status=status
        )
        if logit:
            studentised = on_logit_scale(studentised)
        if rule is not None:
            studentised = replace(
                studentised,
                statistic=float(rule.statistic),
                pvalue=rule.pvalue(hypothesis.null_value, hypothesis.alternative),
                reference=reference,
                rule=rule,
            )
        if not has_se:
            studentised = replace(studentised, se=math.nan, variance=math.nan)
        settings = self._settings_of(observed) | dict(settings or {})
        per_learner = _of_each_learner(observed, estimator, has_se=has_se)
        learnt_parts = losses.metric.linearised and observed.design.n_resamples > 1
        turned: list[str] = []
        if losses.metric.of_survival:
            turned = turned_risks(observed, self.tested_clusters(observed))
        return TestResult(
            **vars(studentised),
            method=method,
            estimand=estimand,
            n_obs=observed.design.n_obs,
            n_fits=observed.n_fits,
            elapsed=math.nan,
            settings=settings,
            diagnostics={
                **observed.diagnostics,
                **({} if assumption is None else {"assumption": assumption}),
                **diagnostics,
                **per_learner.diagnostics,
            },
            notes=(
                *notes,
                *((OF_EXPECTED_PARTS,) if learnt_parts else ()),
                *_learning_notes(observed),
                *turned,
            ),
            tables={**per_learner.tables, **(tables or {})},
            pictures=pictures or {},
            better="higher" if losses.greater_is_better else "lower",
            interval_name=interval_name,
            assumption=assumption,
        )

    def _settings_of(self, observed: LossDifference) -> dict[str, Any]:
        """The settings that repeat the test on the same data, or from the same losses."""
        losses = observed.losses
        design, exist = observed.design, self.question.observed is not None
        loss_settings = {
            "design": losses.settings.get("design") or (design if exist else self.design).words,
            **({"learn_size": self._learn_size(design)} if design.learns else {}),
            **losses.settings,
        }
        loss_settings.pop("backends", None)
        return self.question.settings(self.method_name) | loss_settings | {"loss": losses.loss}

    def _in_words(self, observed: LossDifference, kind: str) -> str:
        """The estimand: the loss, of the rules fitted here or not, and the learning size.

        `kind` is "conditional" for a statement about the rules of these resamples.
        """
        if not observed.design.learns:
            return of_these_rules(observed)
        size, subject = self._learn_size(observed.design), observed.losses.in_words
        units = units_of(self.question.clusters, "clusters")
        if observed.paired:
            subject = f"difference in {subject}"
        if kind == "conditional":
            return f"{subject} of these rules fitted to {size} {units} each"
        return f"{subject} {when_learning_from(size, units)}"


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
    another_loss = "a loss that does not need two classes, such as loss='zero_one'"
    if fewest < 2:
        remedy = f"use {another_loss}: the smaller class has a single observation"
    elif getattr(scheme, "stratify", None) and n_folds <= fewest:
        remedy = f"use another design, with larger test sets, or {another_loss}"
    else:
        limit = f" with at most {fewest} folds" if n_folds > fewest else ""
        ours = "(uv.designs are stratified for the AUC unless stratify=False)"
        remedy = f"use a stratified design{limit} {ours}, or {another_loss}"
    raise ValueError(
        f"design ({scheme.words}) has {int(lacking[code].sum())} test sets without the "
        f"label {label!r}, which have no AUC: {remedy}"
    )


def rounding_of(observed: LossDifference) -> float:
    """What a difference may have by rounding alone: it can be tiny although its parts are not."""
    places = [place for place in (observed.learner, observed.other) if place is not None]
    return ROUNDING * float(np.abs(np.nan_to_num(observed.losses.means[places])).max())


def status_of(
    observed: LossDifference, estimate: float, variance: float, status: str, asked_metric: Metric
) -> str:
    """The status: "ok" if there is an answer, otherwise the reason.

    `status` is a reason known before. `asked_metric` is the metric of the question, which losses of
    clusters do not have.
    """
    if status != "ok":
        return status
    # Scores may be asked for, and losses be computed.
    scores = asked_metric.units is not None and asked_metric.units.slope < 0
    if observed.identical:
        return same_everywhere(
            of_sets=observed.losses.values is None,
            scores=scores or bool(observed.losses.greater_is_better),
            learnt=observed.design.learns,
        )
    metric = observed.losses.metric
    if math.isnan(estimate) and metric.of_survival:
        return no_value_in_words(observed)
    if math.isnan(estimate) and isinstance(metric, SmoothMetric):
        return NO_VALUE.format(metric.in_words, metric.without_value)
    if isinstance(asked_metric, SmoothMetric) and _is_impossible(observed, estimate, asked_metric):
        of_whom = "difference of the " if observed.paired else ""
        name = plural(asked_metric.in_words) if observed.paired else asked_metric.in_words
        return (
            f"no estimate: the mean of the linearised values, {estimate:.3g}, is not a value that "
            f"the {of_whom}{name} can have, because few observations are tested at once; test "
            "more, or use another test"
        )
    if math.isnan(estimate + variance) and np.isnan(observed.means).any():
        return (
            "no estimate: a resample tests one class only, which leaves its AUC without a value; "
            "use fewer folds, or a splitter that keeps the classes in proportion"
        )
    if math.isnan(variance):
        return "no variance estimate: too few resamples to estimate their spread; use more"
    if variance < 0:
        return (
            f"negative variance estimate ({variance:.3g}), which can happen with an unbiased "
            "estimator: use more resamples, or another test"
        )
    rounding = rounding_of(observed)
    if not variance > rounding**2:
        if observed.paired and 0 < np.nanmax(np.abs(observed.means)) <= rounding:
            return (
                "degenerate: the losses of the two learners differ by no more than rounding, so "
                "there is no difference to test; compare learners that differ"
            )
        if observed.design.n_resamples == 1:
            return without_spread(observed, scores=scores)
        remedy = "use more resamples, or another loss"
        return without_spread(observed, "in every resample", remedy, scores=scores)
    return "ok"


def _is_impossible(observed: LossDifference, estimate: float, metric: Metric) -> bool:
    """Whether linearised values of single test sets lead out of what the metric can be."""
    low, high = range_of(metric)
    if observed.paired:
        low, high = difference_range((low, high))
    rounding = rounding_of(observed)
    return not low - rounding <= estimate <= high + rounding


def _of_each_learner(
    observed: LossDifference, estimator: Estimator, *, has_se: bool
) -> PerLearnerEstimates:
    """The estimates of the test for each of two learners alone, from the same losses."""
    if observed.other is None:
        return PerLearnerEstimates()
    losses, places = observed.losses, (observed.learner, observed.other)
    values = [estimator(LossDifference(losses, learner_index, None)) for learner_index in places]
    # An unbiased variance estimate can be below 0.
    errors = [
        math.sqrt(variance) if has_se and variance >= 0 else math.nan for _, variance in values
    ]
    names = [losses.learners[learner_index] for learner_index in places]
    return PerLearnerEstimates.of_errors(names, [estimate for estimate, _ in values], errors)


def _learning_notes(observed: LossDifference) -> list[str]:
    """Notes on ties, and on learning sets without some classes, as with rows sorted by class."""
    notes = one_class_and_tie_notes(observed.diagnostics) if observed.diagnostics else []
    losses, design = observed.losses, observed.design
    if losses.target is None or losses.loss not in LOSSES_OF_CLASSES or not design.learns:
        return notes
    unlearnt = np.zeros(design.n_resamples, dtype=bool)
    for code in np.unique(losses.target):
        members = losses.target == code
        unlearnt |= design.testing[:, members].any(axis=1) & ~design.learning[:, members].any(
            axis=1
        )
    if not unlearnt.any():
        return notes
    resamples = f"{unlearnt.sum()} of {len(unlearnt)} resamples"
    absent = f"In {resamples} a tested class does not occur in the learning set"
    return [
        *notes,
        Note(
            f"{absent}, so it cannot be predicted. If rows are sorted, shuffle them "
            "(shuffle=True); if a class is rare, use a stratified splitter.",
            f"{absent}.",
        ),
    ]
