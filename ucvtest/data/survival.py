"""Tests that are not about survival refuse survival times; they are not labels or numbers."""

import re
from datetime import timedelta
from typing import Any

import numpy as np

from ucvtest.common.arrays import NO_TIMES
from ucvtest.data.survival_times import SurvivalTimes

SURVIVAL = (
    "y is a survival time ({}), which may be censored; tests of labels or numbers cannot use it: "
    "pass uv.survival(time, event) with a survival metric, such as metric='harrell', or take the "
    "status at a fixed time"
)

MOST_LABELS = 20

DURATION = re.compile(r"-?\d+ days?( [+-]?\d+:\d\d:\d\d(\.\d+)?)?")
"""Durations as pandas writes them into files."""


def refuse_survival_times(y: Any) -> None:
    """Refuse a response made by `uv.survival`.

    Raises
    ------
    ValueError
    """
    if isinstance(y, SurvivalTimes):
        raise ValueError(SURVIVAL.format(f"{y.n_obs} times, {y.n_events} of them with the event"))


def refuse_survival(array: np.ndarray) -> None:
    """Refuse responses of times with a status, and of durations.

    Raises
    ------
    ValueError
    """
    if array.dtype.names is not None:
        raise ValueError(SURVIVAL.format(f"with the fields {', '.join(array.dtype.names)}"))
    if array.ndim == 2 and array.shape[1] == 2 and _are_times_with_status(array):
        raise ValueError(SURVIVAL.format("two columns, one of them a status"))
    if array.dtype.kind not in "OUT" or array.ndim != 1 or not array.size:
        return
    first = array[0]
    if isinstance(first, (tuple, np.void)):
        raise ValueError(SURVIVAL.format("a tuple for each observation"))
    if isinstance(first, (timedelta, np.timedelta64)):
        raise ValueError(NO_TIMES.format("y"))
    texts = array.tolist()
    # A few different dates or times may be labels.
    if isinstance(first, str) and len({*texts}) > MOST_LABELS and all(map(_is_duration, texts)):
        raise ValueError(
            f"y contains durations as texts, such as {str(first)!r:.40}: convert them to numbers, "
            "for example by pandas.to_timedelta(y).dt.total_seconds(), if they are amounts, or "
            "make survival times by uv.survival(time, event) if some are censored"
        )


def _are_times_with_status(array: np.ndarray) -> bool:
    try:
        numbers = array.astype(float)
    except (TypeError, ValueError):
        return False
    status = [bool(np.isin(column, (0, 1)).all()) for column in numbers.T]
    return sum(status) == 1 and bool((numbers[:, status.index(False)] >= 0).all())


def _is_duration(value: Any) -> bool:
    return isinstance(value, str) and DURATION.fullmatch(value.strip()) is not None
