"""Survival times: how long each observation was followed, and whether it then had the event."""

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from ucvtest.common.arrays import NO_TIMES
from ucvtest.common.equality import ByValue, same
from ucvtest.common.words import arg, call

MOST_LABELS = 20

DURATION = re.compile(r"-?\d+ days?( [+-]?\d+:\d\d:\d\d(\.\d+)?)?")
"""Durations as pandas writes them into files."""


@dataclass(frozen=True, eq=False)
class SurvivalTimes(ByValue):
    """Times that may be censored; `survival` makes them.

    Parameters
    ----------
    time : ndarray, shape (n,)
        How long each observation was followed: float64, finite, not negative.
    event : ndarray of bool, shape (n,)
        Whether the event ended the time. Otherwise the time is censored.
    index : pandas.Index, optional
        The names of the observations, which are compared with those of other data.
    """

    time: np.ndarray
    event: np.ndarray
    index: Any = None

    def __post_init__(self) -> None:
        for name, kind in (("time", np.float64), ("event", np.bool_)):
            array = np.array(getattr(self, name), dtype=kind)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.time.shape != self.event.shape or self.time.ndim != 1:
            raise ValueError(
                f"time and event must be two vectors of one length, got shapes {self.time.shape} "
                f"and {self.event.shape}"
            )

    @property
    def n_obs(self) -> int:
        """Number of observations, n."""
        return len(self.time)

    @property
    def n_events(self) -> int:
        """Number of observations that had the event."""
        return int(self.event.sum())

    @property
    def records(self) -> np.ndarray:
        """The structured array that scikit-survival reads: the event first."""
        structured = np.empty(self.n_obs, dtype=[("event", np.bool_), ("time", np.float64)])
        structured["event"], structured["time"] = self.event, self.time
        return structured

    def __len__(self) -> int:
        return len(self.time)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SurvivalTimes):
            return NotImplemented
        return same(self.time, other.time) and same(self.event, other.event)

    __hash__ = ByValue.__hash__

    def __repr__(self) -> str:
        return f"SurvivalTimes(n_obs={self.n_obs}, n_events={self.n_events})"

    def take(self, rows: Any) -> "SurvivalTimes":
        """The times of some observations, by their numbers or a mask; there may be no event."""
        index = None if self.index is None else self.index[rows]
        return SurvivalTimes(self.time[rows], self.event[rows], index)


def refuse_survival(array: np.ndarray) -> None:
    """Refuse responses of times with a status, and of durations.

    Raises
    ------
    ValueError
    """
    if array.dtype.names is not None:
        raise ValueError(of_survival(f"with the fields {', '.join(array.dtype.names)}"))
    if array.ndim == 2 and array.shape[1] == 2 and _are_times_with_status(array):
        raise ValueError(of_survival("two columns, one of them a status"))
    if array.dtype.kind not in "OUT" or array.ndim != 1 or not array.size:
        return
    first = array[0]
    if isinstance(first, (tuple, np.void)):
        raise ValueError(of_survival("a tuple for each observation"))
    if isinstance(first, (timedelta, np.timedelta64)):
        raise ValueError(NO_TIMES.format("y"))
    texts = array.tolist()
    # A few different dates or times may be labels.
    several = isinstance(first, str) and len({*texts}) > MOST_LABELS
    if several and all(
        isinstance(text, str) and DURATION.fullmatch(text.strip()) for text in texts
    ):
        raise ValueError(
            f"y contains durations as texts, such as {str(first)!r:.40}: convert them to numbers, "
            "for example by pandas.to_timedelta(y).dt.total_seconds(), if they are amounts, or "
            f"make survival times by {call('survival', 'time, event')} if some are censored"
        )


def _are_times_with_status(array: np.ndarray) -> bool:
    try:
        numbers = array.astype(float)
    except (TypeError, ValueError):
        return False
    status = [bool(np.isin(column, (0, 1)).all()) for column in numbers.T]
    return sum(status) == 1 and bool((numbers[:, status.index(False)] >= 0).all())


def of_survival(words: str) -> str:
    """Why a response of this form is refused."""
    return (
        f"y is a survival time ({words}), which may be censored; tests of labels or numbers cannot "
        f"use it: pass {call('survival', 'time, event')} with a survival metric, such as "
        f"{arg('metric', 'harrell')}, or take the status at a fixed time"
    )
