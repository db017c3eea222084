"""The question that a test answers: data, learners and loss, validated once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import check_choice, check_names, check_text
from ucvtest.common.exceptions import warn_caller
from ucvtest.common.words import arg, call
from ucvtest.data.class_order import COSTS, order_note
from ucvtest.data.groups import Clusters, Groups, GroupWeight, check_group_weight, clusters_of
from ucvtest.data.output import OUTPUTS, Output
from ucvtest.data.positive_class import check_positive_of_metric, json_label, plain_label
from ucvtest.data.rows import Reported
from ucvtest.data.sample import Sample, as_response, make_sample, taken_for_classes
from ucvtest.data.weights import WEIGHTS, RowWeights
from ucvtest.learners.adapters.backends import Backend, choose_backend
from ucvtest.learners.adapters.coerce import as_learner, as_learners
from ucvtest.learners.adapters.estimators import CallableLearner
from ucvtest.learners.adapters.survival import for_survival
from ucvtest.learners.adapters.translated import remarks_of
from ucvtest.learners.base import Learner
from ucvtest.metrics.base import Metric
from ucvtest.metrics.loss import Loss, weighted_loss
from ucvtest.metrics.matrix import cost_order, costs_in_order
from ucvtest.metrics.means import for_classes
from ucvtest.metrics.names import as_metric, output_of
from ucvtest.metrics.ranks import AUC
from ucvtest.metrics.set_scores import SetScore, check_positive_of
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric


@dataclass(frozen=True, eq=False)
class Problem:
    """One sample, the learners that are asked about, and the metric of their predictions.

    Made by `of`, which validates everything that does not depend on a design.
    """

    sample: Sample
    learners: Mapping[str, Learner]
    metric: Metric
    backend: Backend
    group_weight: GroupWeight = "group"
    given_groups: Groups | None = None
    """The groups as they were passed, for splitters: also where each has one row."""
    weights: RowWeights | None = None
    """Where rows count more than others; None where they count alike."""

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        learners: Any,
        *,
        loss: Any = None,
        output: Output | None = None,
        pos_label: Any = None,
        groups: Any = None,
        group_weight: Any = "group",
        backend: Backend = "auto",
        weights: Mapping[str, Any] | None = None,
    ) -> Self:
        """Validate what a user passes; the output "score" means the AUC, in the place of a loss.

        A survival metric takes survival times as `y`, and learners of them.

        Warnings about rows are given, unless X is `Reported`. Groups of one row each are none.
        """
        weight = check_group_weight(group_weight, grouped=groups is not None)
        learners_by_name = named_learners(learners)
        metric: Metric
        if isinstance(loss, SurvivalMetric):
            y, as_classes, metric = loss.times_of(y, pos_label), False, loss
            learners_by_name = {
                name: for_survival(named_learner, loss.times)
                for name, named_learner in learners_by_name.items()
            }
        else:
            as_classes = taken_for_classes(
                y,
                output or output_of(loss),
                regresses=any(learner.regresses for learner in learners_by_name.values()),
                pos_label=pos_label,
            )
            if output is None:
                metric = as_metric(loss, has_classes=as_classes)
            else:
                check_choice("output", output, OUTPUTS)
                if output != "score":
                    raise ValueError(
                        f"{arg('output', output)} needs a loss: pass one that scores it"
                    )
                metric = AUC
            if metric.output != "number" and not as_classes:
                raise ValueError(
                    "y must contain class labels for this test, but it contains real values"
                    if metric.ranks_pairs
                    else f"{metric.name!r} needs class labels, but y contains real values: "
                    "use 'squared' or 'absolute'"
                )
            if isinstance(metric, SmoothMetric) and pos_label is not None:
                # Before the class is looked for among numbers.
                metric.refuse_labels(as_response(y))
                metric.refuse_positive(0)
        features = X.features if isinstance(X, Reported) else X
        sample = make_sample(features, y, as_classes=as_classes, pos_label=pos_label, groups=groups)
        clusters = sample.groups
        if clusters is not None and clusters.single:
            sample, weight = replace(sample, groups=None), "group"
        by_class = metric.output == "score" or metric.per_test_set
        # Of several classes a mean loss can do without one in some learning sets.
        if sample.n_classes == 2 or (by_class and not metric.of_survival):
            groups, codes, classes = sample.groups, sample.class_index, sample.classes
            if groups is not None and codes is not None and classes is not None:
                groups.check_classes(codes, classes.tolist())
        if isinstance(metric, Loss):
            metric = checked_costs(metric, sample)
            metric = for_classes(metric, sample.n_classes)
        if isinstance(metric, SmoothMetric):
            if not metric.of_survival:
                _check_smooth(metric, sample)
            # Rows count alike, as in the value that others compute.
            weight = "group" if sample.groups is None else "row"
        if isinstance(metric, SetScore):
            check_positive_of(metric, sample)
        row_weights = RowWeights.of(weights, features, y, sample.n_obs)
        if row_weights is not None:
            sample = replace(sample, fit_weights=row_weights.in_fit)
            if row_weights.in_loss is not None:
                metric = weighted_loss(metric)
                if sample.groups is not None and weight != "row":
                    raise ValueError(
                        f"weights in the loss are for rows, but {arg('group_weight', 'group')} "
                        f"counts every group the same: pass {arg('group_weight', 'row')}, or "
                        "weights for 'fit' alone"
                    )
        if features is X:
            # Of rows that cannot be independent.
            for remark in sample.remarks:
                if remark.warns:
                    warn_caller(remark.text)
        problem = cls(sample, {}, metric, backend, weight, clusters, row_weights)
        return problem.with_learners(learners_by_name)

    def with_learners(self, learners: Mapping[str, Learner]) -> Self:
        """The same data and metric with other learners."""
        suited = {
            name: for_survival(learner, self.times)
            if self.metric.of_survival
            else learner.for_sample(self.sample)
            for name, learner in learners.items()
        }
        return replace(self, learners=suited)

    def scored_by(self, metric: SmoothMetric) -> Self:
        """The same predictions of the same data, about another metric of them."""
        if not metric.of_survival:
            _check_smooth(metric, self.sample)
        return replace(self, metric=metric)

    def fitting(self, learn_size: int) -> Self:
        """The problem with learners that can learn from so few, jitted where they can be."""
        fitting_learners = {
            name: self.ready(learner, learn_size) for name, learner in self.learners.items()
        }
        return replace(self, learners=fitting_learners)

    def ready(self, learner: Learner, learn_size: int) -> Learner:
        """A learner as it is fitted: checked, a jitted one in the place of an estimator."""
        learner.check(self.sample, self.output, learn_size)
        if self.sample.fit_weights is not None:
            learner.check_weights()
            if self.backend == "jax":
                raise ValueError(
                    f"{arg('backend', 'jax')} fits without weights: use {arg('backend', 'auto')}, "
                    "or weights for 'loss' alone"
                )
        return self.fitted_by(learner, learn_size)

    def fitted_by(self, learner: Learner, learn_size: int) -> Learner:
        """What does the fits of a learner: a jitted one in the place of an estimator."""
        if self.sample.fit_weights is not None:
            # Jitted ones take none.
            return learner
        return choose_backend(learner, self.backend, self.sample, self.output, learn_size)

    @property
    def weights_asked(self) -> dict[str, Any]:
        """The weights as a checkpoint keeps them; nothing where rows count alike."""
        return {} if self.weights is None else {WEIGHTS: self.weights.parts}

    @property
    def loss_weights(self) -> RowWeights | None:
        """The weights, where they are in the loss."""
        return None if self.weights is None or self.weights.in_loss is None else self.weights

    @property
    def clusters(self) -> Clusters | None:
        """The groups as observations of a test; None where rows are by themselves."""
        return clusters_of(self.sample.groups, self.group_weight)

    @property
    def n_units(self) -> int:
        """Clusters, or observations if there are none: the units of learning sets."""
        return self.sample.n_obs if self.clusters is None else self.clusters.n_groups

    def learnt_rows(self, n_units: int) -> int:
        """Rows in a learning set of that many clusters at least: the smallest ones."""
        if self.clusters is None:
            return n_units
        return int(np.sort(self.clusters.groups.sizes)[:n_units].sum())

    @property
    def positive(self) -> Any:
        """The positive class, as JSON knows it; None for a real response."""
        classes = self.sample.classes
        return None if classes is None else plain_label(classes[-1])

    @property
    def positive_class(self) -> Any:
        """The positive class of two, where the metric depends on which it is; otherwise None."""
        return self.metric.positive_class(self.sample)

    @property
    def cost_order(self) -> list[Any]:
        """The classes in the order in which costs without names have them, where it matters."""
        return cost_order(self.metric, self.sample)

    @property
    def order_notes(self) -> list[str]:
        """Notes on the order in which arrays without names have the classes."""
        notes = [order_note(COSTS, self.cost_order)] if self.cost_order else []
        scores = self.output in ("score", "probability") and self.sample.n_classes > 2
        if scores and any(
            isinstance(getattr(learner, "inner", learner), CallableLearner)
            for learner in self.learners.values()
        ):
            labels = np.sort(np.asarray(self.sample.classes))
            notes.append(order_note("Columns of arrays that functions return", labels))
        return notes

    @property
    def output(self) -> Output:
        """What the learners must predict."""
        return self.metric.output

    @property
    def times(self) -> tuple[float, ...]:
        """By when the events are whose probabilities are predicted; none of other metrics."""
        return self.metric.times if isinstance(self.metric, SurvivalMetric) else ()

    @property
    def loss(self) -> Loss | None:
        """The metric, for tests that take all of them but the AUC for a loss; None for the AUC."""
        metric: Any = self.metric
        return None if metric.ranks_pairs else metric


def _check_smooth(metric: SmoothMetric, sample: Sample) -> None:
    """Refuse classes that the metric is not about, and to guess the positive one of two."""
    classes = None if sample.classes is None else np.asarray(sample.classes)
    if classes is not None:
        metric.refuse_labels(classes)
        metric.check_order(classes.tolist(), sample.order)
    metric.made_for([] if classes is None else [*map(json_label, classes)])
    if sample.positive_named:
        metric.refuse_positive(sample.n_classes)
    if classes is None or not metric.of_one_class:
        return
    if len(classes) != 2:
        raise ValueError(
            f"{arg('metric', metric.name)} needs two classes, but y has {len(classes)}: merge "
            "classes, name an average, such as 'f1_macro'"
        )
    if metric.asks_for_class:
        check_positive_of_metric(
            classes, arg("metric", metric.name), is_named=sample.positive_named
        )


def warn_of_learners(learners: Iterable[Learner]) -> None:
    """Warn the user of learners that predict something else than the estimators they stand for."""
    for remark in remarks_of(learners):
        warn_caller(remark)


def named_learners(learners: Any) -> dict[str, Learner]:
    """Names and learners in their order; the names of jitted ones are their own."""
    if isinstance(learners, Mapping):
        check_names("learners", learners)
        for name in learners:
            check_text("learners: the key", name)
    if isinstance(learners, (Mapping, list, tuple)) and not learners:
        raise ValueError("learners is empty: pass at least one")
    if isinstance(learners, Mapping):
        return {name: as_learner(learner) for name, learner in learners.items()}
    learners_by_name: dict[str, Learner] = {}
    for user_learner in learners if isinstance(learners, (list, tuple)) else [learners]:
        for learner in as_learners(user_learner):
            name, number = learner.name, 1
            while name in learners_by_name:
                number += 1
                name = f"{learner.name} ({number})"
            learners_by_name[name] = learner
    return learners_by_name


def check_two_classes(sample: Sample, argument: str = "", instead: str = "zero_one") -> None:
    """Refuse the AUC where there are not two classes."""
    if sample.n_classes == 2:
        return
    auc, other = (arg(argument, name) if argument else repr(name) for name in ("auc", instead))
    raise ValueError(
        f"{auc} needs two classes, but y has {sample.n_classes}: merge classes, use {other}, or "
        f"{call('UStatisticTest')}, which estimates Hand and Till's AUC of several classes"
    )


def checked_costs(loss: Loss, sample: Sample) -> Loss:
    """The loss, with costs in the order of the classes; a matrix of another size is refused."""
    if loss.matrix is not None and len(loss.matrix) != sample.n_classes:
        classes = ", ".join(map(repr, np.asarray(sample.classes).tolist()))
        raise ValueError(
            f"{arg('loss')} has shape {loss.matrix.shape}, but y has {sample.n_classes} classes "
            f"({classes:.60}): pass one row for each true class and one column for each prediction"
        )
    return costs_in_order(loss, sample)
