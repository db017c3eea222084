"""What a test is asked: data and learners, or losses that exist; the same to whoever reads it.

A test is made of a question and of options of its own. `DataQuestion` is about learners that are
fitted when their losses are asked for, `LossesQuestion` about losses that were computed before.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Self, Unpack

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import HIGHEST, is_number
from ucvtest.common.execution import Execution, NoBar, progress_bar
from ucvtest.common.words import arg, call
from ucvtest.data.class_order import ORDERS, order_notes
from ucvtest.data.groups import Clusters, GroupWeight, as_groups, check_group_weight, clusters_of
from ucvtest.data.missing import Missing, complete_weighted_rows, dropped_note
from ucvtest.data.sample import Sample
from ucvtest.data.weights import WEIGHTS, WORTH
from ucvtest.designs.design import Design
from ucvtest.evaluation.loss_source import FittedLosses, LossSource, PrecomputedLosses
from ucvtest.evaluation.problem import Problem, named_learners
from ucvtest.inference.arguments import Run
from ucvtest.inference.notes import REUSED, sample_notes
from ucvtest.inference.studentise import Hypothesis
from ucvtest.learners.adapters.translated import remarks_of
from ucvtest.learners.base import Learner, notes_on_learners
from ucvtest.losses.clusters import of_clusters
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.metrics.base import Metric, Units
from ucvtest.metrics.ranges import (
    NAMELESS,
    NONNEGATIVE,
    Range,
    difference_range,
    range_in_words,
    range_of,
)
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.fields import Contrast
from ucvtest.stats.wald import OTHER_SIDE


@dataclass(frozen=True, eq=False, kw_only=True)
class Question(ABC):
    """What a test is asked, validated: a sample, one learner or two, a loss, a hypothesis."""

    hypothesis: Hypothesis
    """About what is computed; of a score that is a constant less a loss it is about the loss."""
    metric: Metric
    """What is computed."""
    paired: bool
    """Whether two learners are compared."""
    n_obs: int
    """Observations of the sample."""
    labels: np.ndarray | None = None
    """The target, where it is known."""
    clusters: Clusters | None = None
    """The clusters that are the observations of the test; None where rows are."""
    design: Design | None = None
    """The resamples that losses are given for; None where a test draws them itself."""
    observed: LossDifference | None = None
    """The losses that are given, if they are."""
    positive_class: Any = None
    """The positive class of two, as JSON knows it, where the metric depends on which it is."""
    weighted: str = ""
    """Where rows have weights, as settings keep it; "" where they count alike."""
    limited: bool = True
    """Whether something may be known of what the estimand can be, or its units change."""
    problem: Problem | None = None
    """The data, and the learners that can be fitted; None where losses are given."""
    has_values: bool = True
    """Whether more is known than the means of resamples."""

    @property
    def n_units(self) -> int:
        """Clusters, or observations if there are none."""
        return self.n_obs if self.clusters is None else self.clusters.n_groups

    @property
    def target(self) -> np.ndarray:
        """Numbers of the classes, or the real response, shape (n,)."""
        if self.labels is None:
            raise ValueError("losses have no target, which this test needs: make them with y")
        return self.labels

    @property
    def sample(self) -> Sample | None:
        """The data; None where losses are given."""
        return None if self.problem is None else self.problem.sample

    @property
    def learners(self) -> Mapping[str, Learner]:
        """The learners that can be fitted, by name; none where losses are given."""
        return {} if self.problem is None else self.problem.learners

    @property
    def learner_names(self) -> list[str]:
        """The names of the learner, or both."""
        return list(self.learners)

    @property
    def positive(self) -> Any:
        """The positive class, as JSON knows it; None if there is none, or losses are given."""
        return None if self.problem is None else self.problem.positive

    @property
    def worth(self) -> Mapping[str, float | bool]:
        """What rows are worth by their weights in the loss, as settings; empty without any."""
        return {}

    @property
    def asked_hypothesis(self) -> Hypothesis:
        """The hypothesis in the units of results, as it was asked."""
        units = self.metric.units
        if units is None:
            return self.hypothesis
        return hypothesis_about(
            self.hypothesis, units.of(self.hypothesis.null_value, paired=self.paired), units
        )

    def with_hypothesis(self, hypothesis: Hypothesis) -> Self:
        """The same question with another hypothesis about the same estimand."""
        return replace(self, hypothesis=hypothesis)

    def untested(self) -> Self:
        """The same question without a value that is tested."""
        return self.with_hypothesis(replace(self.hypothesis, null_value=math.nan))

    @property
    def range_of_one(self) -> Range:
        """What the value of one learner can be, in the units of results."""
        return range_of(self.metric)

    def range_of(self, contrast: Contrast) -> Range:
        """What the estimand can be, in the units of results."""
        if not self.paired:
            return self.range_of_one
        return NONNEGATIVE if contrast == "ratio" else difference_range(self.range_of_one)

    def check_null_value(self, remedy: str = "") -> None:
        """Refuse a null value that the value of one learner, or a difference, cannot have."""
        null_value = self.asked_hypothesis.null_value
        # One learner among several is not tested: its null value is NaN.
        if math.isnan(null_value) or self.metric.per_test_set:
            return
        low, high = self.range_of("difference")
        if not low <= null_value <= high:
            estimand = self.metric.in_words
            if self.paired:
                estimand = f"difference in {estimand}"
            raise ValueError(
                f"{arg('null_value', null_value)} is not a value that the {estimand} can have, "
                f"which {range_in_words((low, high))}: change it{remedy}"
            )

    @abstractmethod
    def data(self, purpose: str) -> Problem:
        """Data and learners; a ValueError that `purpose` needs them, where losses are given."""

    @abstractmethod
    def losses(self, execution: Execution) -> LossSource:
        """Where the losses of the learners come from, row by row of a design."""

    @abstractmethod
    def settings(self, test: str) -> dict[str, Any]:
        """What every test needs to be repeated on the same data, or from the same losses."""

    @abstractmethod
    def seed_settings(self, execution: Execution) -> dict[str, Any]:
        """The seed of the draws, as settings keep it; nothing where none were made."""

    @abstractmethod
    def execution(self, **run: Unpack[Run]) -> Execution:
        """How fits are run; arguments about draws and fits are refused where losses are given."""

    def refuse_budget(self, **arguments: Any) -> None:
        """Refuse arguments of `fit` that are about draws and fits, where there will be none."""
        return

    @abstractmethod
    def fitting(self, test: Any, description: str, progress: bool | None) -> Any:
        """The context of fits: hooks, and a progress bar, which is what it gives."""

    @property
    @abstractmethod
    def notes(self) -> list[str]:
        """Notes on the data and their learners, or on the losses that are given."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DataQuestion(Question):
    """A question about learners, which are fitted when their losses are asked for."""

    problem: Problem
    n_dropped: int = 0
    """Observations that were left out for missing values."""
    learn_size: int = 0
    """Observations in the smallest learning set, for which the learners are ready to be fitted."""

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        learners: Any,
        *,
        hypothesis: Hypothesis,
        loss: Any = None,
        groups: Any = None,
        missing: Missing = "raise",
        weights: Any = None,
        **data: Any,
    ) -> Self:
        """Validate data and learners: see `HypothesisTest` and `Problem.of` for the arguments."""
        X, y, groups, weights, n_dropped = complete_weighted_rows(X, y, groups, weights, missing)
        problem = Problem.of(X, y, learners, loss=loss, groups=groups, weights=weights, **data)
        paired, metric = len(problem.learners) > 1, problem.metric
        if metric.units is not None:
            null_value = metric.units.back(hypothesis.null_value, paired=paired)
            hypothesis = hypothesis_about(hypothesis, null_value, metric.units)
        return cls(
            hypothesis=hypothesis,
            metric=metric,
            paired=paired,
            n_obs=problem.sample.n_obs,
            labels=problem.sample.target,
            clusters=problem.clusters,
            positive_class=problem.positive_class,
            weighted="" if problem.weights is None else problem.weights.where,
            problem=problem,
            n_dropped=n_dropped,
        )

    @property
    def sample(self) -> Sample:
        """See `Question`."""
        return self.problem.sample

    @property
    def worth(self) -> Mapping[str, float | bool]:
        """See `Question`."""
        weights, everywhere = self.problem.loss_weights, np.ones((1, self.n_obs), dtype=bool)
        return {} if weights is None else weights.worth(everywhere, self.sample.groups)

    def ready(self, learn_size: int) -> Self:
        """The question with learners that can learn from so few rows, jitted where they can be."""
        return replace(self, problem=self.problem.fitting(learn_size), learn_size=learn_size)

    def with_learners(self, learners: Mapping[str, Learner]) -> Self:
        """The same question about other learners; the data are shared and not validated again."""
        problem = self.problem.with_learners(learners)
        return replace(self, problem=problem, paired=len(learners) > 1)

    def scored_by(self, metric: SmoothMetric) -> Self:
        """The same question about another metric of the same predictions."""
        problem = self.problem.scored_by(metric)
        return replace(self, problem=problem, metric=metric, positive_class=problem.positive_class)

    def on(self, design: Design, *, by_rows: bool) -> "LossesQuestion":
        """The same about the losses of two learners on a design, which are not computed yet."""
        question = LossesQuestion(
            hypothesis=self.hypothesis,
            metric=self.metric,
            paired=True,
            n_obs=self.n_obs,
            labels=self.labels,
            clusters=self.clusters,
            design=design,
            positive_class=self.positive_class,
        )
        return question if by_rows else question.by_clusters()

    def data(self, purpose: str) -> Problem:
        """See `Question`."""
        return self.problem

    def losses(self, execution: Execution) -> LossSource:
        """See `Question`."""
        return FittedLosses(self.problem, execution)

    def settings(self, test: str) -> dict[str, Any]:
        """See `Question`."""
        names, learners = list(self.learners), list(self.learners.values())
        return {
            "test": test,
            "learner": names[0],
            "other": names[1] if self.paired else None,
            "backend": learners[0].backend,
            "other_backend": learners[1].backend if self.paired else None,
            **({} if self.metric.ranks_pairs else {"loss": self.metric.name}),
            "null_value": self.hypothesis.null_value,
            "alternative": self.hypothesis.alternative,
            "pos_label": self.problem.positive,
        }

    def seed_settings(self, execution: Execution) -> dict[str, Any]:
        """See `Question`."""
        return {"rng": execution.seed}

    def execution(self, **run: Unpack[Run]) -> Execution:
        """See `Question`."""
        return Execution.of(run.get("rng"), run.get("n_jobs"), run.get("batch_size"))

    @contextmanager
    def fitting(self, test: Any, description: str, progress: bool | None) -> Iterator[Any]:
        """See `Question`."""
        with hooks.fitting(test), progress_bar(progress, description, "fit") as bar:
            # Those that take a fit; scikit-learn's refusals come before the other fits.
            remarks_of(self.learners.values())
            yield bar

    @property
    def notes(self) -> list[str]:
        """See `Question`."""
        learners = self.learners.values()
        about_learners = [*notes_on_learners(learners, self.sample), *remarks_of(learners)]
        about_rows = [*dropped_note(self.n_dropped), *sample_notes(self.sample)]
        return [*about_rows, *self.problem.order_notes, *about_learners]


@dataclass(frozen=True, eq=False, kw_only=True)
class LossesQuestion(Question):
    """A question about losses that exist, or will: without `observed` nothing can be run.

    The design, the labels and whether there are values are those of the observations of the test:
    of clusters, unless it takes the losses of their rows. `n_obs` are observations of the sample.
    """

    reported_losses: LossDifference | None = field(default=None, repr=False)
    """The losses as they were given, also where clusters are the observations."""

    @property
    def range_of_one(self) -> Range:
        """See `Question`; what the given losses contradict is not believed of their name."""
        if self.reported_losses is None or self.metric.bounds is not None:
            return range_of(self.metric)
        losses = self.reported_losses.losses
        if losses.values is None or self.metric.ranks_pairs:
            return range_of(self.metric, losses.means)
        return range_of(self.metric, losses.values, zero_one=True)

    @classmethod
    def of(
        cls,
        difference: LossDifference,
        hypothesis: Hypothesis,
        weight: GroupWeight | None,
        *,
        by_rows: bool,
    ) -> Self:
        """About losses; of the rows of clusters with `by_rows`, otherwise of clusters.

        A weight that is None is the usual one of the losses.
        """
        metric = difference.losses.metric
        # Of a function of means rows count alike, as in the value that others compute.
        by_cluster = isinstance(weight, str) and weight == "group"
        if by_cluster and (metric.linearised or difference.losses.weighted):
            if difference.losses.groups is not None:
                counted = "by their weights" if difference.losses.weighted else "alike"
                raise ValueError(
                    f"{arg('group_weight', 'group')} does not apply with "
                    f"{arg('metric', metric.name)}, whose rows count {counted}: leave it out"
                )
            weight = None
        if weight is None:
            weight = (
                difference.losses.usual_weight if difference.losses.groups is not None else "group"
            )
        if metric.of_loss is not None:
            metric, difference = metric.of_loss, difference.in_losses
        if metric.units is not None:
            null_value = metric.units.back(hypothesis.null_value, paired=difference.paired)
            hypothesis = hypothesis_about(hypothesis, null_value, metric.units)
        losses, clusters = difference.losses, None
        # An array as weight would be compared element by element.
        if losses.groups is not None or not isinstance(weight, str) or weight != "group":
            check_group_weight(weight, grouped=losses.groups is not None)
            clusters = clusters_of(as_groups(losses.groups, losses.design.n_obs), weight)
        question = cls(
            hypothesis=hypothesis,
            metric=metric,
            paired=difference.paired,
            n_obs=losses.design.n_obs,
            labels=losses.target,
            clusters=clusters,
            design=losses.design,
            observed=difference,
            positive_class=losses.settings.get("pos_label"),
            weighted=losses.settings.get(WEIGHTS, ""),
            has_values=losses.values is not None,
            reported_losses=difference,
            limited=losses.values is not None or metric.name not in NAMELESS,
        )
        return question if by_rows or clusters is None else question.by_clusters()

    def by_clusters(self) -> Self:
        """The same about the losses of clusters, where there are any."""
        if self.clusters is None or self.design is None:
            return self
        groups, observed = self.clusters.groups, self.observed
        labels = None if self.metric.ranks_pairs else self.labels
        return replace(
            self,
            design=self.design.by_groups(groups),
            labels=None if labels is None else groups.classes(labels),
            has_values=self.has_values and not self.metric.ranks_pairs,
            observed=None if observed is None else of_units(observed, self.clusters),
        )

    @property
    def learner_names(self) -> list[str]:
        """See `Question`."""
        difference = self.observed
        if difference is None:
            return []
        places = [index for index in (difference.learner, difference.other) if index is not None]
        return [difference.losses.learners[learner_index] for learner_index in places]

    @property
    def worth(self) -> Mapping[str, float | bool]:
        """See `Question`."""
        settings = {} if self.observed is None else self.observed.losses.settings
        return {name: settings[name] for name in WORTH if name in settings}

    def data(self, purpose: str) -> Problem:
        """See `Question`."""
        raise ValueError(
            f"{purpose} needs fits, and this test was made from losses: make it from data"
        )

    def losses(self, execution: Execution) -> LossSource:
        """See `Question`."""
        assert self.observed is not None
        return PrecomputedLosses(self.observed, rows=self.reported_losses)

    def settings(self, test: str) -> dict[str, Any]:
        """See `Question`."""
        difference = self.observed
        assert difference is not None
        losses = difference.losses
        loss_settings = dict(losses.settings)
        backends = loss_settings.pop("backends", {})
        name = losses.learners[difference.learner]
        other = None if difference.other is None else losses.learners[difference.other]
        return {
            "test": test,
            "learner": name,
            "other": other,
            "backend": backends.get(name),
            "other_backend": backends.get(other),
            "loss": losses.loss,
            "null_value": self.hypothesis.null_value,
            "alternative": self.hypothesis.alternative,
            **loss_settings,
        }

    def seed_settings(self, execution: Execution) -> dict[str, Any]:
        """See `Question`."""
        return {}

    def execution(self, **run: Unpack[Run]) -> Execution:
        """See `Question`."""
        run.pop("progress", None)
        self.refuse_budget(**run)
        # The generator decides nothing.
        return Execution(np.random.default_rng(0), None)

    def refuse_budget(self, **arguments: Any) -> None:
        """See `Question`."""
        for name, value in arguments.items():
            if value is not None:
                raise ValueError(
                    f"{name} does not apply when losses are given, because nothing is drawn or "
                    "fitted: leave it out"
                )

    def fitting(
        self, test: Any, description: str, progress: bool | None
    ) -> AbstractContextManager[Any]:
        """See `Question`: nothing is fitted."""
        return nullcontext(NoBar())

    @property
    def notes(self) -> list[str]:
        """See `Question`; that nothing was fitted for a result, unless nothing ever was."""
        if self.observed is None:
            return []
        losses, n_fits = self.observed.losses, self.observed.n_fits
        took = "" if math.isnan(losses.elapsed) else f" (all of them took {losses.elapsed:.3g} s)"
        reused = (
            f"{REUSED}: its {n_fits} fits are those behind the losses that it was given{took}, and "
            "may be shared with other tests."
        )
        ordered = order_notes(losses.settings) if ORDERS.intersection(losses.settings) else []
        return [reused, *ordered] if n_fits else ordered


def hypothesis_of(
    null_value: Any, alternative: Any, *, paired: bool, null_of_one: float
) -> Hypothesis:
    """By default two learners are equal, and of one nothing is tested where that is NaN."""
    if null_value is None:
        null_value = 0.0 if paired else null_of_one
    elif not is_number(null_value):
        raise ValueError(f"{arg('null_value')} must be a finite number, got {null_value!r:.60}")
    elif abs(null_value) > HIGHEST:
        raise ValueError(
            f"{arg('null_value')} must lie between -{HIGHEST:g} and {HIGHEST:g}, got {null_value:g}"
        )
    return Hypothesis(float(null_value), alternative)


def hypothesis_about(hypothesis: Hypothesis, null_value: float, units: Units) -> Hypothesis:
    """A hypothesis in other units, in which the null value is another number.

    Of a score more is better, of the loss behind it less, so that a side becomes the other one.
    """
    alternative = hypothesis.alternative
    return Hypothesis(null_value, OTHER_SIDE[alternative] if units.slope < 0 else alternative)


def of_units(observed: LossDifference, clusters: Clusters | None) -> LossDifference:
    """Losses of clusters, where these are the observations of a test."""
    if clusters is None:
        return observed
    return replace(observed, losses=of_clusters(observed.losses, clusters))


def by_name(learner: Any, other: Any) -> Any:
    """The learners by the names that were given to them, if any was."""
    user_learners = [learner] if other is None else [learner, other]
    if not any(isinstance(learner_or_mapping, Mapping) for learner_or_mapping in user_learners):
        return user_learners
    learners: dict[str, Any] = {}
    for learner_or_mapping in user_learners:
        if isinstance(learner_or_mapping, Mapping):
            name_and_learner = learner_or_mapping
        else:
            name_and_learner = named_learners(learner_or_mapping)
        if len(name_and_learner) != 1:
            raise ValueError(
                f"a learner with a name is {{'name': learner}}, one of them, got "
                f"{len(name_and_learner)}"
            )
        if set(name_and_learner) & set(learners):
            raise ValueError(
                f"both learners are called {next(iter(name_and_learner))!r}: name them apart"
            )
        learners |= name_and_learner
    return learners


def check_losses(losses: Any) -> None:
    """Refuse anything but a table of losses."""
    if not isinstance(losses, Losses):
        raise ValueError(
            f"losses must be uv.Losses, got {type(losses).__name__}: see {call('evaluate')}, "
            f"{call('Losses.from_predictions')} and {call('Losses.from_arrays')}"
        )
