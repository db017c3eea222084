"""Weighted means of losses: metrics of rows with different weights."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ucvtest.metrics.base import Metric, Units
from ucvtest.metrics.loss import Loss

WEIGHTED = "weighted_"
"""Prefix of names of losses whose rows have weights."""


def weighted_metric(metric: Metric) -> Metric:
    """The same mean over rows with weights; it does not count errors."""
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
    """The weighted mean of a loss that a user requests.

    Raises
    ------
    ValueError
        If the metric is not a mean of a loss.
    """
    if not isinstance(metric, Loss):
        raise ValueError(
            "weights in the loss are for means over observations, but "
            f"{metric.reported_name!r:.60} is not such a mean: pass weights={{'fit': ...}}, or "
            "another loss"
        )
    if metric.units is not None and not metric.units.greater_is_better:
        metric = _in_its_units(metric, metric.units)
    return weighted_metric(metric)


def _in_its_units(loss: Loss, units: Units) -> Loss:
    """Costs as values of a loss; higher costs are also worse."""
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
