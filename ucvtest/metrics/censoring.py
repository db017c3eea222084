"""Kaplan and Meier's estimate of the censoring distribution, and its effect on variances.

Events come before censorings at the same time, as in R. Weights are left limits: an event at t is
weighted by G(t-), the probability of not being censored before t.
"""

from dataclasses import dataclass

import numpy as np

from ucvtest.data.survival_times import SurvivalTimes


@dataclass(frozen=True, eq=False)
class Censoring:
    """The distribution of censoring times, estimated from observations.

    Attributes
    ----------
    places : ndarray, shape (S,)
        The distinct censored times, ascending.
    counts : ndarray, shape (S,)
        Number of observations censored at each time.
    followed : ndarray, shape (S,)
        Number of observations with this time or a later one.
    left : ndarray, shape (S + 1,)
        G: 1 before the first of these times, and its value from each of them on.
    """

    times: SurvivalTimes
    places: np.ndarray
    counts: np.ndarray
    followed: np.ndarray
    left: np.ndarray

    @classmethod
    def of(cls, times: SurvivalTimes) -> "Censoring":
        """Estimate the distribution from these times."""
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
        """Effects of observations, through G, on means of `weighted_parts` (n,) over G.

        This G is G(u-), where u are the `end_times` (n,), or G(limit) where u is infinite. Let H(s)
        be the mean of the parts that have s before u, and Y(s) = #(t >= s). The effect is n times
        the sum over s <= limit of H(s)/Y(s) (1{censored at s} - 1{t >= s} C(s)/Y(s)). This is the
        martingale of the Nelson-Aalen estimate, as in riskRegression (Gerds and Kattan 2021).
        """
        order = np.argsort(end_times)
        behind = np.concatenate([np.cumsum(weighted_parts[order][::-1])[::-1], [0.0]])
        reached = behind[np.searchsorted(end_times[order], self.places, side="right")]
        # If all remaining observations are censored, no later observation has a weight.
        jumps = np.where((self.places <= limit) & (self.left[1:] > 0), reached / self.followed, 0.0)
        drift = np.concatenate([[0.0], np.cumsum(jumps * self.counts / self.followed)])
        time, censored = self.times.time, ~self.times.event
        contributions: np.ndarray = -drift[np.searchsorted(self.places, time, side="right")]
        contributions[censored] += jumps[np.searchsorted(self.places, time[censored])]
        return contributions

    def contribution_at(self, errors: np.ndarray, at: float) -> np.ndarray:
        """The same for errors at a time.

        Observations followed beyond it have the weight of G(at).
        """
        followed_until = np.where(self.times.time > at, np.inf, self.times.time)
        return self.contribution(followed_until, errors, at)
