"""Weighted means of losses: metrics of rows that do not count alike."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ucvtest.metrics.base import Metric, Units
from ucvtest.metrics.loss import Loss

__all__ = ["WEIGHTED", "weighted_loss", "weighted_metric"]

WEIGHTED = "weighted_"
"""What names of losses begin with whose rows have weights."""


def weighted_metric(metric: Metric) -> Metric:
    """The same mean over rows with weights; it counts no errors."""
    units = metric.units
    if units is not None:
        units = replace(
            units, name=f"{WEIGHTED}{units.name}", estimand=f"weighted {units.estimand}"
        )
    return replace(
        metric,
        name=f"{WEIGHTED}{metric.name}",
        estimand=f"weighted {replace(metric, units=None).in_words}",
        units=units,
    )


def weighted_loss(metric: Metric) -> Metric:
    """The weighted mean of a loss that users ask for.

    Raises
    ------
    ValueError
        If the metric is no mean of a loss.
    """
    if not isinstance(metric, Loss):
        raise ValueError(
            f"weights in the loss are for means over observations, and {metric.reported_name!r:.60}"
            " is none: pass weights={'fit': ...}, or another loss"
        )
    if metric.units is not None and not metric.units.greater_is_better:
        metric = _in_its_units(metric, metric.units)
    return weighted_metric(metric)


def _in_its_units(loss: Loss, units: Units) -> Loss:
    """Costs as values of a loss, of which more is worse too."""
    return replace(
        loss,
        name=units.name,
        function=partial(_changed, loss.function, units),
        estimand=units.estimand,
        bounds=loss.reported_bounds,
        units=None,
    )


def _changed(function: Any, units: Units, y: np.ndarray, prediction: np.ndarray) -> Any:
    return units.of(function(y, prediction))
