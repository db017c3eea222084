"""Kaplan and Meier's estimate of when observations are censored, and what it adds to variances.

Events come before censorings of the same time, as in R, and weights are left limits: an event at t
is weighted by G(t-), the chance of not being censored before t.
"""

from dataclasses import dataclass

import numpy as np

from ucvtest.data.survival_times import SurvivalTimes

__all__ = ["Censoring"]


@dataclass(frozen=True, eq=False)
class Censoring:
    """The distribution of censoring times, from the observations that it is about.

    Attributes
    ----------
    places : ndarray, shape (S,)
        The different times that are censored, ascending.
    counts : ndarray, shape (S,)
        How many are censored there.
    followed : ndarray, shape (S,)
        How many observations have such a time or a later one.
    left : ndarray, shape (S + 1,)
        G: 1 before the first of these times, and what is left of it from each of them on.
    """

    times: SurvivalTimes
    places: np.ndarray
    counts: np.ndarray
    followed: np.ndarray
    left: np.ndarray

    @classmethod
    def of(cls, times: SurvivalTimes) -> "Censoring":
        """The estimate from these times."""
        places, counts = np.unique(times.time[~times.event], return_counts=True)
        followed = times.n_obs - np.searchsorted(np.sort(times.time), places, side="left")
        events = np.sort(times.time[times.event])
        events_there = np.searchsorted(events, places, "right") - np.searchsorted(events, places)
        steps = 1 - counts / (followed - events_there)
        left = np.concatenate([[1.0], np.cumprod(steps)])
        return cls(times, places, counts, followed, left)

    def before(self, time: np.ndarray) -> np.ndarray:
        """G(t-)."""
        return np.asarray(self.left[np.searchsorted(self.places, time, side="left")])

    def at(self, time: float) -> float:
        """G(t)."""
        return float(self.left[np.searchsorted(self.places, time, side="right")])

    def contribution(
        self, end_times: np.ndarray, weighted_parts: np.ndarray, limit: float = np.inf
    ) -> np.ndarray:
        """What each observation moves by its part in G, in means of `weighted_parts` (n,) over a G.

        That G is G(u-), u being the `end_times` (n,), or G(limit) where u is infinite. With H(s)
        the mean of the parts that have s before u, and Y(s) = #(t >= s), it is n times the sum over
        s <= limit of H(s)/Y(s) (1{censored at s} - 1{t >= s} C(s)/Y(s)): the martingale of the
        Nelson-Aalen estimate, as in riskRegression (Gerds and Kattan 2021).
        """
        order = np.argsort(end_times)
        behind = np.concatenate([np.cumsum(weighted_parts[order][::-1])[::-1], [0.0]])
        reached = behind[np.searchsorted(end_times[order], self.places, side="right")]
        # Where all that are left are censored, no later observation has a weight.
        jumps = np.where((self.places <= limit) & (self.left[1:] > 0), reached / self.followed, 0.0)
        drift = np.concatenate([[0.0], np.cumsum(jumps * self.counts / self.followed)])
        time, censored = self.times.time, ~self.times.event
        contributions: np.ndarray = -drift[np.searchsorted(self.places, time, side="right")]
        contributions[censored] += jumps[np.searchsorted(self.places, time[censored])]
        return contributions

    def contribution_at(self, errors: np.ndarray, at: float) -> np.ndarray:
        """The same of errors at a time, weighted by G(at) of those who are followed beyond it."""
        followed_until = np.where(self.times.time > at, np.inf, self.times.time)
        return self.contribution(followed_until, errors, at)
