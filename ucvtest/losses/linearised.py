"""Losses of metrics that are functions of means: their linearised values, from predictions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ucvtest.metrics.smooth import FunctionOfMeans, Ranks, SmoothMetric, linearised

__all__ = [
    "CLASSES",
    "OF_METRICS",
    "about_class",
    "errors_of_labels",
    "fields_of",
    "kept_classes",
    "linearised_values",
]

CLASSES = "classes"
"""The setting with the classes in the order of their numbers, for metrics that name some."""


OF_METRICS = (CLASSES, "pos_label")
"""Settings that losses have of metrics alone."""


def linearised_values(
    function: FunctionOfMeans | Ranks, target: np.ndarray, predictions: np.ndarray
) -> np.ndarray:
    """Linearised values (L, T) of each learner, from the response (T,) and predictions (L, T).

    Parts are pooled over everything that is tested (Forman and Scholz 2010).
    """
    return np.stack([linearised(function, target, row) for row in predictions])


def errors_of_labels(target: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """Errors (L, T) of predictions (L, T), numbers of classes; half of one half-way to the true."""
    below, above = np.floor(predictions), np.ceil(predictions)
    return ((below != target) * 1.0 + (above != target)) / 2


def fields_of(metric: SmoothMetric, values: np.ndarray, means: np.ndarray) -> dict[str, Any]:
    """What the metric decides of a table of losses."""
    low, high = metric.limits
    return {
        "loss": metric.name,
        "values": values,
        "means": means,
        "in_words": metric.in_words,
        "bounds": (low, high) if np.isfinite([low, high]).all() else None,
        "greater_is_better": metric.greater_is_better,
        "smooth": metric,
    }


def kept_classes(classes: Sequence[Any] | None) -> dict[str, list[Any]]:
    """The setting with the classes."""
    return {} if classes is None else {CLASSES: list(classes)}


def about_class(settings: Mapping[str, Any], metric: SmoothMetric) -> dict[str, Any]:
    """Settings of losses, with the positive class of two where the metric is about one."""
    classes = settings.get(CLASSES, ())
    positive = classes[-1] if metric.of_one_class and len(classes) == 2 else None
    kept = {name: value for name, value in settings.items() if name != "pos_label"}
    return kept if positive is None else {**kept, "pos_label": positive}
