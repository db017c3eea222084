"""Survival times, and the risks that rules predicted."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_size
from ucvtest.losses.predicted import as_rows, check_finite, numbers_of, quoted
from ucvtest.losses.validation import is_numbered
from ucvtest.metrics.survival import SurvivalMetric


def of_survival(
    y: Any, rules: Mapping[str, Any], metric: SurvivalMetric, pos_label: Any
) -> dict[str, Any]:
    """The fields of `Losses` of one test set."""
    times = metric.times_of(y, pos_label)
    risks = as_rows(
        {name: _risks(name, user_risks, metric) for name, user_risks in rules.items()}, len(times)
    )
    return {"predictions": risks, "target": times.time, "event": times.event, "settings": {}}


def _by_time(name: str, user_risks: Any, metric: SurvivalMetric) -> Any:
    """A table whose columns are named by the times, in their order; anything else as it is."""
    if not hasattr(user_risks, "columns"):
        return user_risks
    times = list(metric.times)
    columns = _numbers_of(user_risks.columns)
    if sorted(columns) == times:
        return user_risks.iloc[:, np.argsort(columns)]
    if sorted(_numbers_of(user_risks.index)) == times:
        problem, remedy = "times in its rows", "transpose it"
    elif is_numbered(user_risks.columns):
        return user_risks
    else:
        problem = f"the columns {list(user_risks.columns)!s:.60}"
        remedy = "name columns by the times, or give them no names if they are in this order"
    raise ValueError(
        f"{name} has {problem}, but metric={metric.name!r:.40} needs a column for each time: "
        f"{remedy}"
    )


def _numbers_of(names: Any) -> list[float]:
    """Names as numbers; empty if there is another one among them."""
    try:
        return [float(name) for name in names]
    except (TypeError, ValueError):
        return []


def _risks(name: str, user_risks: Any, metric: SurvivalMetric) -> np.ndarray:
    """One risk for each observation, or one for each time of the metric."""
    if len(metric.times) < 2:
        risks = numbers_of(name, user_risks)
    else:
        risks = as_numbers(quoted(name), _by_time(quoted(name), user_risks, metric))
        if risks.ndim != 2 or risks.shape[1] != len(metric.times):
            raise ValueError(
                f"{quoted(name)} must have a column for each of the {len(metric.times)} times of "
                f"metric={metric.name!r:.60}, got shape {risks.shape}"
            )
        check_finite(quoted(name), risks, infinite=False)
        check_size(quoted(name), risks)
    if not metric.ranks and (risks.min() < 0 or risks.max() > 1):
        raise ValueError(
            f"{quoted(name)} goes from {risks.min():.3g} to {risks.max():.3g}, but "
            f"metric={metric.name!r:.60} needs probabilities of an event by then, between 0 and 1: "
            f"use metric='harrell' or uv.metrics.auc({metric.times[-1]:g}) for other risks"
        )
    return risks
