"""Metrics that were computed elsewhere, known by the record in tables of losses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ucvtest.data.output import Output
from ucvtest.metrics.base import Kind, Metric, Units
from ucvtest.metrics.loss import WEIGHTED, weighted_metric
from ucvtest.metrics.means import LOSSES, SCORES_OF_LOSSES
from ucvtest.metrics.ranks import AUC, AUC_NAME

COST_OF_ERRORS = "cost_of_errors"
"""The setting with the cost of an error, if all errors cost the same."""


def _as_given(y: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    return numbers


@dataclass(frozen=True)
class RecordedMetric(Metric):
    """Numbers of a metric without a known function; they are used as they are.

    `kind` is "set" for numbers of test sets instead of observations. `of_loss` is the loss whose
    score they are.
    """

    function: Callable[..., Any] = _as_given
    output: Output = "number"
    kind: Kind = field(default="mean", kw_only=True)
    greater_is_better: bool = field(default=False, kw_only=True)
    of_loss: Metric | None = field(default=None, kw_only=True)


KNOWN: Mapping[str, Metric] = {**LOSSES, AUC_NAME: AUC}
"""The metrics of ucvtest by name."""


def known_metric(name: Any) -> Metric | None:
    """The metric with this name in ucvtest; None for anything else. Aliases are not looked up."""
    return KNOWN.get(name) if isinstance(name, str) else None


def recorded_metric(record: RecordedMetric) -> Metric:
    """The metric that ucvtest knows by the name of a record, unless the record differs."""
    if record.name.startswith(WEIGHTED):
        name = record.name.removeprefix(WEIGHTED)
        unweighted = recorded_metric(
            replace(record, name=name, estimand=record.estimand.removeprefix("weighted "))
        )
        metric = weighted_metric(unweighted)
        if isinstance(metric, RecordedMetric) and metric.of_loss is not None:
            return replace(metric, of_loss=weighted_metric(metric.of_loss))
        return metric
    known = KNOWN.get(record.name)
    if known is not None and (
        known.kind == "pairs"
        or (known.bounds, known.greater_is_better) == (record.bounds, record.greater_is_better)
    ):
        return known
    if not record.greater_is_better or record.name not in SCORES_OF_LOSSES:
        return record
    loss: Metric = SCORES_OF_LOSSES[record.name]
    # The bounds of the loss follow from those of its score.
    assert loss.units is not None
    low_high = None if record.bounds is None else sorted(map(loss.units.back, record.bounds))
    bounds = None if low_high is None else (low_high[0], low_high[1])
    if bounds != loss.bounds:
        behind = recorded_metric(RecordedMetric(loss.name, estimand=loss.in_words, bounds=bounds))
        loss = replace(behind, units=loss.units)
    return replace(record, kind="mean", of_loss=loss)


def errors_behind(score: str, in_words: str) -> Metric:
    """The error rate if a score is 1 for each right answer and 0 for each wrong one."""
    return replace(LOSSES["zero_one"], units=Units(score, 1.0, in_words))
