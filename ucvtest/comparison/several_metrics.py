"""Several metrics of the same learners: which of them share predictions, and what rows are called.

Metrics that are functions of means of the same kind of prediction cost the fits of one. Others,
such as "auc" together with "f1", are fitted by themselves, on learning sets from the same seed.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ucvtest.common.words import arg
from ucvtest.losses.table import Losses
from ucvtest.metrics.names import as_metric
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.columns import Key, Pair
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointStatistics

Family = tuple[Any, *tuple[SmoothMetric, ...]]
"""A loss or metric, and others that are scored from the same predictions."""


def is_several(metric: Any) -> bool:
    """Whether `metric=` names several."""
    return isinstance(metric, (list, tuple))


def families_of(loss: Any, scoring: Any, metric: Any, weights: Any = None) -> tuple[Family, ...]:
    """The metrics compared, by the predictions that it needs; one unless `metric` is a list.

    Raises
    ------
    ValueError
        If several of the arguments are given, a metric is unknown, or one is named twice.
    """
    if not is_several(metric):
        return ((chosen_loss(loss, scoring, metric, weights),),)
    all_chosen = [chosen_loss(loss, scoring, metric_choice) for metric_choice in metric]
    names = [
        metric_choice if isinstance(metric_choice, str) else metric_choice.name
        for metric_choice in all_chosen
    ]
    check_names(names)
    by_predictions: dict[Any, list[Any]] = {}
    for name, metric_or_loss in zip(names, all_chosen, strict=True):
        smooth = isinstance(metric_or_loss, SmoothMetric)
        by_predictions.setdefault(
            (metric_or_loss.output, metric_or_loss.cut) if smooth else name, []
        ).append(metric_or_loss)
    return tuple(map(tuple, by_predictions.values()))


def check_names(names: Sequence[str]) -> None:
    """Refuse a list of no metric, and one that names a metric twice."""
    if not names:
        raise ValueError(f"{arg('metric')} is an empty list: name one metric at least")
    repeated_names = [name for position, name in enumerate(names) if name in names[:position]]
    if repeated_names:
        raise ValueError(f"{arg('metric')} names {repeated_names[0]!r:.60} twice: name each once")


def names_of(metric: Sequence[Any]) -> tuple[str, ...]:
    """What results call several metrics, in the order in which they were named."""
    metrics = [chosen_loss(None, None, metric_choice) for metric_choice in metric]
    return tuple(
        as_metric(metric_or_loss, has_classes=True).reported_name for metric_or_loss in metrics
    )


def metric_label(test: str, metric: str, tests: Collection[str]) -> str:
    """What a test of one of several metrics is called: the metric, where there is one test."""
    return f"{test}: {metric}" if len(tests) > 1 else metric


def directions_of(losses: Losses, pairs: Sequence[Pair]) -> dict[Pair, np.ndarray]:
    """What the errors of differences go by, of length 1: their products are correlations.

    Nothing for pairs whose metric has no value.
    """
    if not losses.metric.linearised:
        return {}
    directions = {}
    for pair in pairs:
        values = losses.difference(*pair).values
        moved = values - values.mean()
        if losses.groups is not None:
            testing = losses.design.testing
            moved = np.bincount(np.broadcast_to(losses.groups, testing.shape)[testing], moved)
        size = float(np.sqrt(moved @ moved))
        if size > 0 and math.isfinite(size):
            directions[pair] = moved / size
    return directions


def joint_statistics(
    tests: Collection[str],
    metrics: Collection[str],
    results: Mapping[Key, TestResult],
    directions: Mapping[Key, tuple[Any, np.ndarray]],
) -> dict[str, JointStatistics]:
    """The joint statistics of the metrics of each test; one metric does not have any.

    `directions` come with their sources. Errors from other fits, or of unknown correlation, count
    as independent.
    """
    by_test = {}
    for test in tests if len(metrics) > 1 else ():
        labels = [metric_label(test, metric, tests) for metric in metrics]
        keys = tuple(key for key in results if key[0] in labels)
        correlation = np.eye(len(keys))
        for i, first in enumerate(keys):
            for j, second in enumerate(keys[:i]):
                if first not in directions or second not in directions:
                    continue
                source, direction = directions[first]
                other_source, other_direction = directions[second]
                if source == other_source:
                    correlation[i, j] = correlation[j, i] = float(direction @ other_direction)
        finite_df = [results[key].df for key in keys if not math.isnan(results[key].df)]
        by_test[test] = JointStatistics(keys, correlation, min(finite_df, default=math.inf))
    return by_test
