"""The metric of each resample; of functions of means also linearised values, from predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ucvtest.common.memo import memoised
from ucvtest.data.positive_class import json_label
from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.designs.design import Design
from ucvtest.metrics.base import Metric
from ucvtest.metrics.smooth import Cells, FunctionOfMeans, OfTimes, Ranks, SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.metrics.working_point import PartsOfTested

CLASSES = "classes"
"""The setting with the classes in the order of their numbers, for metrics that name some."""

ORDERED = "ordered_classes"
"""The setting with the classes whose order a categorical declares."""

OUTSIDE = "classes_outside_y"
"""The setting with the classes that predictions name and the response does not have."""


def function_of(
    metric: SmoothMetric, settings: Mapping[str, Any]
) -> FunctionOfMeans | Ranks | OfTimes:
    """The metric as a function of means, for the classes of losses with these settings.

    Every rule is scored by the classes of `y` and of its own predictions.
    """
    classes = settings.get(CLASSES, ())
    metric.check_order(classes, settings.get(ORDERED, ()))
    metric_of_means: FunctionOfMeans | Ranks | OfTimes = metric.made_for(classes)
    if isinstance(metric_of_means, Cells):
        outside = tuple(classes.index(label) for label in settings.get(OUTSIDE, ()))
        return replace(metric_of_means, outside=outside)
    return metric_of_means


def response_where_tested(
    design: Design, target: np.ndarray, event: np.ndarray | None
) -> np.ndarray | SurvivalTimes:
    """The response (n,) of all tested observations, (T,), resample by resample."""
    rows = np.broadcast_to(np.arange(design.n_obs), design.testing.shape)[design.testing]
    return target[rows] if event is None else SurvivalTimes(target[rows], event[rows])


def parts_of(
    design: Design, predictions: np.ndarray, target: np.ndarray, event: np.ndarray | None
) -> PartsOfTested:
    """The parts of everything tested, from predictions (L, T) and the response (n,)."""
    return PartsOfTested(response_where_tested(design, target, event), predictions)


def parts_where_tested(losses: Any) -> PartsOfTested:
    """The parts of everything tested, from losses with predictions: computed once."""
    return memoised(losses, tested_parts)


def tested_parts(losses: Any) -> PartsOfTested:
    """The same, computed each time."""
    return parts_of(losses.design, losses.predictions, np.asarray(losses.target), losses.event)


def folds_where_tested(
    design: Design, metric_of_means: FunctionOfMeans | Ranks | OfTimes
) -> np.ndarray | None:
    """The number of the test set of each tested observation, (T,), if there are several.

    None for metrics that are not about pairs of survival times.
    """
    if design.n_resamples == 1 or not isinstance(metric_of_means, OfTimes):
        return None
    return np.repeat(np.arange(design.n_resamples), design.n_tested)


def fields_of(
    metric: SmoothMetric,
    parts: PartsOfTested,
    *,
    design: Design,
    predictions: np.ndarray,
    target: np.ndarray,
    event: np.ndarray | None,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """The fields of a table of losses that the metric decides.

    Linearised values (L, T) have the metric of each test set as their means (L, R), except for
    pairs of survival times. A pair within a set counts in the values of both its observations, so
    that means of these would spread twice as much as the metric. Means are then values of sets.
    """
    metric_of_means = function_of(metric, settings)
    values = parts.linearised(metric_of_means, folds_where_tested(design, metric_of_means))
    if isinstance(metric, SurvivalMetric) and counts_pairs_twice(metric, design):
        assert event is not None
        in_sets, of_sets = metric.in_sets(SurvivalTimes(target, event)), []
        for learner_predictions in predictions:
            by_set = np.zeros(design.testing.shape)
            by_set[design.testing] = learner_predictions
            of_sets.append(in_sets.of_each_set(by_set, design.testing))
        means = np.array(of_sets)
    else:
        means = resample_means(values, design)
    low, high = metric.limits
    # A table would copy values that can be changed.
    values.flags.writeable = False
    return {
        "loss": metric.name,
        "values": values,
        "means": means,
        "in_words": metric.in_words,
        "bounds": (low, high) if np.isfinite([low, high]).all() else None,
        "greater_is_better": metric.greater_is_better,
        "smooth": metric,
    }


def counts_pairs_twice(metric: Metric, design: Design) -> bool:
    """Whether means of values over test sets are not values of these sets: see `fields_of`."""
    return metric.compares_pairs and design.n_resamples > 1


ABOUT_CLASSES = (CLASSES, ORDERED, OUTSIDE)
"""The settings that functions of means need."""


def kept_classes(
    classes: Sequence[Any] | None, order: Sequence[Any], outside: Sequence[Any] = ()
) -> dict[str, list[Any]]:
    """The settings with the classes, their declared order, and labels that `y` does not have."""
    if classes is None:
        return {}
    labels = [json_label(label) for label in order]
    ordered = [label for label in classes if label in labels]
    kept = {CLASSES: list(classes), ORDERED: ordered, OUTSIDE: list(outside)}
    return {name: setting for name, setting in kept.items() if setting or name == CLASSES}


def about_class(settings: Mapping[str, Any], metric: Metric) -> dict[str, Any]:
    """Settings of losses, with the positive class of two if the metric is about one class."""
    classes = settings.get(CLASSES, ())
    positive = classes[-1] if metric.of_one_class and len(classes) == 2 else None
    other_settings = {name: value for name, value in settings.items() if name != "pos_label"}
    return other_settings if positive is None else {**other_settings, "pos_label": positive}


def resample_values(
    learner_values: np.ndarray, design: Design, metric: Metric, target: np.ndarray | None
) -> np.ndarray:
    """The metric (L, R) of every resample, from the kept values of learners (see `Metric.kept`)."""
    if metric.per_test_set:
        return learner_values
    if metric.is_mean:
        return resample_means(learner_values, design)
    assert target is not None
    starts, stops = _places(design)
    labels = np.broadcast_to(target, design.testing.shape)[design.testing] == 1
    return np.array(
        [
            [metric.function(labels[a:b], row[a:b]) for a, b in zip(starts, stops, strict=True)]
            for row in learner_values
        ]
    )


def resample_means(learner_losses: np.ndarray, design: Design) -> np.ndarray:
    """Mean (L, R) of every resample of losses (L, T)."""
    starts, stops = _places(design)
    return np.add.reduceat(learner_losses, starts, axis=1) / (stops - starts)


def _places(design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Where the tested observations of each resample start and stop, among all tested ones."""
    stops = np.cumsum(design.n_tested)
    return np.concatenate([[0], stops[:-1]]), stops
