"""Several metrics of the same learners: which of them share predictions, and what rows are called.

Metrics that are functions of means of the same kind of prediction cost the fits of one. Others,
such as "auc" beside "f1", are fitted by themselves, on learning sets from the same seed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.comparison.fields import Pair
from ucvtest.losses.table import Losses
from ucvtest.metrics.names import as_metric
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointStatistics

__all__ = [
    "Family",
    "across_metrics",
    "directions_of",
    "families_of",
    "is_several",
    "metric_label",
    "names_of",
]


@dataclass(frozen=True)
class Family:
    """A loss or metric, and others that are scored from the same predictions."""

    first: Any
    others: tuple[SmoothMetric, ...] = ()


def is_several(metric: Any) -> bool:
    """Whether `metric=` names several."""
    return isinstance(metric, (list, tuple))


def families_of(loss: Any, scoring: Any, metric: Any) -> tuple[Family, ...]:
    """What is compared, by the predictions that it needs; one unless `metric` is a list.

    Raises
    ------
    ValueError
        If several of the arguments are given, a metric is unknown, or one is named twice.
    """
    if not is_several(metric):
        return (Family(chosen_loss(loss, scoring, metric)),)
    if not metric:
        raise ValueError("metric is an empty list: name one metric at least")
    found: dict[Any, list[Any]] = {}
    names: list[str] = []
    for each in metric:
        chosen = chosen_loss(loss, scoring, each)
        name = chosen if isinstance(chosen, str) else chosen.name
        if name in names:
            raise ValueError(f"metric names {name!r:.60} twice: name each once")
        names.append(name)
        smooth = isinstance(chosen, SmoothMetric)
        found.setdefault((chosen.output, chosen.cut) if smooth else name, []).append(chosen)
    return tuple(Family(first, tuple(others)) for first, *others in found.values())


def names_of(metric: Sequence[Any]) -> tuple[str, ...]:
    """What results call several metrics, in the order in which they were named."""
    chosen = [chosen_loss(None, None, each) for each in metric]
    return tuple(as_metric(each, has_classes=True).reported_name for each in chosen)


def metric_label(test: str, metric: str, *, of_several_tests: bool) -> str:
    """What a test of one of several metrics is called: the metric, where there is one test."""
    return f"{test}: {metric}" if of_several_tests else metric


Key = tuple[str, str, str]


def directions_of(
    losses: Losses, pairs: Sequence[Pair], *, of_rows: bool
) -> dict[Pair, np.ndarray]:
    """What the errors of differences go by, of length 1: their products are correlations.

    Nothing for pairs whose metric has no value, and for tests (not `of_rows`) whose variances are
    not those of the values of rows.
    """
    if not (of_rows and losses.metric.linearised):
        return {}
    found = {}
    for pair in pairs:
        values = losses.difference(*pair).values
        moved = values - values.mean()
        if losses.groups is not None:
            testing = losses.design.testing
            moved = np.bincount(np.broadcast_to(losses.groups, testing.shape)[testing], moved)
        size = float(np.sqrt(moved @ moved))
        if size > 0 and math.isfinite(size):
            found[pair] = moved / size
    return found


def across_metrics(
    results: Mapping[Key, TestResult], directions: Mapping[Key, tuple[Any, np.ndarray]]
) -> JointStatistics:
    """What joins results of several metrics; `directions` with what they are from.

    Errors from other fits, or of unknown correlation, count as independent.
    """
    keys = tuple(results)
    correlation = np.eye(len(keys))
    for i, first in enumerate(keys):
        for j, second in enumerate(keys[:i]):
            if first not in directions or second not in directions:
                continue
            (source, one), (other_source, other) = directions[first], directions[second]
            if source == other_source:
                correlation[i, j] = correlation[j, i] = float(one @ other)
    known = [each.df for each in results.values() if not math.isnan(each.df)]
    return JointStatistics(keys, correlation, min(known, default=math.inf))
