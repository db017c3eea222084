"""Several metrics of the same learners: which of them share predictions, and what rows are called.

Metrics that are functions of means of the same kind of prediction cost the fits of one. Others,
such as "auc" beside "f1", are fitted by themselves, on learning sets from the same seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ucvtest.metrics.names import as_metric
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.metrics.smooth import SmoothMetric

__all__ = ["Family", "families_of", "is_several", "metric_label", "names_of"]


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
