"""Survival times: how long each observation was followed, and whether it then had the event."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.equality import ByValue, same


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
