"""A response of survival times, made from two vectors, a structured array or a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import check_size
from ucvtest.common.words import arg
from ucvtest.data.sample import (
    as_column,
    check_vector,
    has_index,
    refuse_missing,
    refuse_other_order,
)
from ucvtest.data.survival_times import SurvivalTimes

EVENTS = ("event", "status", "death", "dead", "died")
"""Names that identify the column of events, if both columns contain only zeros and ones."""


def survival(time: Any, event: Any = None) -> SurvivalTimes:
    """Make a response of survival times, which may be censored.

    Metrics such as "harrell" and ``uv.metrics.brier(at=365)`` need it. Tests that are not about
    survival refuse it.

    Parameters
    ----------
    time : array-like, shape (n,)
        How long each observation was followed, in any unit: finite and not negative. Without
        `event`, also an object with both: scikit-survival's structured array (one field of
        booleans, one of numbers), or a DataFrame with two columns. The column of events contains
        zeros and ones, or is named "event" or "status".
    event : array-like, shape (n,), optional
        True or 1 if the event ended the time, False or 0 if the time is censored.

    Returns
    -------
    SurvivalTimes
        With the fields `time` and `event`.

    Raises
    ------
    ValueError
        If lengths or indices do not match, values are missing, times are negative or infinite,
        `event` contains anything but 0 and 1, or nobody had the event.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.survival([5, 8, 3, 8], [1, 0, 1, 1])
    SurvivalTimes(n_obs=4, n_events=3)
    """
    if event is None:
        survival_times = as_survival(time)
        if survival_times is None:
            raise ValueError(
                f"{arg('event')} is missing: pass 1 if the event ended the time, and 0 if the time "
                "is censored"
            )
        return survival_times
    if isinstance(time, SurvivalTimes):
        raise ValueError("time contains events already: leave event out")
    refuse_other_order("time", time, "event", event)
    times, events = _times(time), _events(event)
    if len(times) != len(events):
        raise ValueError(f"time has {len(times)} values, and event {len(events)}")
    if not events.any():
        raise ValueError(
            f"{arg('event')} is 0 everywhere, so all times are censored: a survival metric needs "
            "at least one event"
        )
    index = next((column.index for column in (time, event) if has_index(column)), None)
    return SurvivalTimes(times, events, index)


def as_survival(y: Any) -> SurvivalTimes | None:
    """Convert recognised survival times; return None for anything else.

    Raises
    ------
    ValueError
        If survival times are recognised, but not valid.
    """
    if isinstance(y, SurvivalTimes):
        return y
    names: Sequence[Any] = ()
    if hasattr(y, "columns") and hasattr(y, "__getitem__"):
        names = list(y.columns)
    elif isinstance(y, np.ndarray) and y.dtype.names is not None and y.ndim == 1:
        names = y.dtype.names
    if len(names) != 2:
        return None
    columns = {str(name): y[name] for name in names}
    arrays = {name: as_column(name, column) for name, column in columns.items()}
    booleans = [name for name, array in arrays.items() if array.dtype.kind == "b"]
    binary = [
        name
        for name, array in arrays.items()
        if array.dtype.kind in "biuf" and np.isin(array, (0, 1)).all()
    ]
    named = [name for name in arrays if name.lower() in EVENTS]
    for event_columns in (booleans, binary, named):
        if len(event_columns) == 1:
            (event,) = event_columns
            (time,) = (name for name in columns if name != event)
            return survival(columns[time], columns[event])
    return None


def _times(time: Any) -> np.ndarray:
    times = as_numbers("time", as_column("time", time))
    check_vector("time", times)
    if not len(times):
        raise ValueError("time is empty: at least one observation is needed")
    if not np.isfinite(times).all():
        n_bad = int((~np.isfinite(times)).sum())
        raise ValueError(
            f"time has {n_bad} values that are missing or infinite: drop these observations"
        )
    if times.min() < 0:
        raise ValueError(
            f"time goes down to {times.min():.3g}: survival times are not negative, so subtract "
            "the start of each observation"
        )
    check_size("time", times)
    return times


def _events(event: Any) -> np.ndarray:
    event_column = as_column("event", event)
    check_vector("event", event_column)
    refuse_missing("event", event_column)
    if event_column.dtype.kind == "b":
        return event_column
    different = list(dict.fromkeys(event_column.tolist()))
    if set(different) <= {0, 1}:
        return np.asarray(event_column == 1)
    if set(different) <= {1, 2}:
        raise ValueError(
            f"{arg('event')} contains 1 and 2, as in some data sets of R, where 2 is the event: "
            "make it 0 and 1, as event == 2 does"
        )
    listed = ", ".join(f"{value!r:.30}" for value in different[:5])
    raise ValueError(
        f"{arg('event')} must contain 1 for an event and 0 for a censored time, got {listed}: pass "
        "a comparison, such as status == 'dead'"
    )
