"""Survival metrics of many test sets of one sample, pooled, and the values of their observations.

A metric of pairs is the ratio of two sums over the test sets: of pairs in the right order, ties
half, and of all that are comparable; pairs are within test sets. A set without a comparable pair
adds nothing. Of a Brier score the errors of all that are tested are pooled. Censoring weights are
those of the whole sample, whatever is tested.

The value of an observation t in a test set of m is ``T + r + 2 (m - 1)/(m - 2) (p(t) - r)``. Of
pairs in the right order less T times all pairs, over the mean number of pairs in a set, r is the
sum of the set, and ``p(t)`` is m/2 times that of the pairs of t. The mean over the set is T + r.
The factor makes the jackknife of a kernel of g learning observations and one tested, which takes
these values for losses, that of the kernel of g and two tested, exactly.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.metrics.censoring import Censoring
from ucvtest.metrics.pairs_in_sets import pairs_in_sets
from ucvtest.metrics.times_and_risks import brier_weights

__all__ = ["BrierOfSets", "MetricOfSets", "PairsOfSets", "SumsOfSets"]


class MetricOfSets(ABC):
    """A metric of the test sets of one sample, by sums that are pooled over them."""

    @abstractmethod
    def sums(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """What each test set adds to the sums, (R, k, n), from predictions (R, n) or (R, n, K)."""

    @abstractmethod
    def value(self, sums: np.ndarray) -> float:
        """The metric of pooled sums (k, n); NaN where it has no value."""

    @abstractmethod
    def _values(self, sums: np.ndarray, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """See `values`."""

    def values(self, sums: np.ndarray, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """The values (R, n) of observations at pooled sums, each over the number of test sets.

        0 where nothing is tested, and where the metric has no value.
        """
        if not np.isfinite(self.value(sums)):
            return np.zeros(testing.shape)
        return self._values(sums, predictions, testing) * testing

    def value_and_gradient(self, sums: np.ndarray) -> tuple[float, np.ndarray]:
        """The metric, and no more, as `values` knows what observations move."""
        return self.value(sums), np.zeros(sums.shape)


@dataclass(frozen=True, eq=False)
class PairsOfSets(MetricOfSets):
    """Concordance, or the AUC at a time.

    Attributes
    ----------
    time_rank : ndarray, shape (n,)
        Of two that are compared the first has the lower one.
    first, second : ndarray, shape (n,)
        Weights of an observation as the first of a pair and as the second; those of a pair are
        multiplied.
    censoring : Censoring, optional
        The distribution whose own error moves the values, up to the time `at`.
    """

    times: SurvivalTimes
    time_rank: np.ndarray
    first: np.ndarray
    second: np.ndarray
    censoring: Censoring | None = None
    at: float = np.inf

    def sums(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """Of each observation as the first of its pairs: in the right order, and all."""
        right, pairs = self._pairs(predictions, testing)
        return np.stack([right[0], pairs[0]], axis=1)

    def value(self, sums: np.ndarray) -> float:
        """The share of pairs in the right order."""
        total = float(sums[1].sum())
        return float(sums[0].sum()) / total if total > 0 else np.nan

    def _values(self, sums: np.ndarray, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """See the module; of an AUC with what the censoring weights add."""
        value, total = self.value(sums), float(sums[1].sum())
        right, pairs = self._pairs(predictions, testing)
        moved = right - value * pairs
        of_set = moved[0].sum(axis=1, keepdims=True)
        size = testing.sum(axis=1, keepdims=True)
        twice = 2 * (size - 1) / np.maximum(size - 2, 1)
        centred = size / 2 * (moved[0] + moved[1]) - of_set
        linearised_values = value + (of_set + twice * centred) / total
        if self.censoring is not None:
            pair_parts = len(self.times) * (sums[0] - value * sums[1]) / total
            linearised_values = linearised_values + self.censoring.contribution(
                self.times.time, pair_parts, self.at
            )
        return np.asarray(linearised_values)

    def _pairs(self, predictions: np.ndarray, testing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of pairs in the right order, ties half, and of all pairs, (2, R, n) each.

        Of each observation as the first of its pairs, and as the second.
        """
        sizes = testing.sum(axis=1)
        pair_weights = np.zeros((2, 2, *testing.shape))
        for size in np.unique(sizes[sizes > 1]):
            rows = np.flatnonzero(sizes == size)
            tested = testing[rows]
            places = np.nonzero(tested)[1].reshape(len(rows), size)
            some_weights = np.zeros((2, 2, *tested.shape))
            some_weights[:, :, tested] = pairs_in_sets(
                self.time_rank[places],
                predictions[rows][tested].reshape(places.shape),
                self.first[places],
                self.second[places],
            ).reshape(2, 2, -1)
            pair_weights[:, :, rows] = some_weights
        return pair_weights[:, 0], pair_weights[:, 1]


@dataclass(frozen=True, eq=False)
class BrierOfSets(MetricOfSets):
    """A Brier score at a time, or its mean over several by the trapezoid rule.

    Attributes
    ----------
    targets : ndarray, shape (K, n)
        1 for those with an event by each of the times, 0 for those who are followed beyond.
    weights : ndarray, shape (K, n)
        Of the squared errors there; those censored before have none.
    shares : ndarray, shape (K,)
        Of the times in the mean; they sum to 1.
    """

    times: SurvivalTimes
    censoring: Censoring
    at: tuple[float, ...]
    targets: np.ndarray
    weights: np.ndarray
    shares: np.ndarray

    @classmethod
    def of(cls, times: SurvivalTimes, at: tuple[float, ...]) -> "BrierOfSets":
        """At these times, with the weights of the sample's censoring."""
        censoring = Censoring.of(times)
        at_times = [brier_weights(times, censoring, at=time) for time in at]
        targets, weights = map(np.array, zip(*at_times, strict=True))
        steps = np.diff(at)
        shares = np.ones(1)
        if len(at) > 1:
            trapezoid_steps = np.concatenate([[0.0], steps]) + np.concatenate([steps, [0.0]])
            shares = trapezoid_steps / (2 * (at[-1] - at[0]))
        return cls(times, censoring, at, targets, weights, shares)

    def sums(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """Errors at each of the times, and how often an observation is tested."""
        errors = self._errors(predictions) * testing[:, None]
        return np.concatenate([errors, testing[:, None]], axis=1)

    def value(self, sums: np.ndarray) -> float:
        """The mean error; without a value where nobody is followed up to a time."""
        if not self.censoring.at(self.at[-1]) > 0:
            return np.nan
        return float(self.shares @ sums[:-1].sum(axis=1)) / float(sums[-1].sum())

    def _values(self, sums: np.ndarray, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """Errors, with what the censoring weights add at the mean error of each observation."""
        means = sums[:-1] / np.maximum(sums[-1], np.finfo(float).tiny)
        added = np.zeros(len(self.times))
        for time_share, time, mean in zip(self.shares, self.at, means, strict=True):
            added += time_share * self.censoring.contribution_at(mean, time)
        errors = np.einsum("k,rkn->rn", self.shares, self._errors(predictions))
        return np.asarray(errors + added)

    def _errors(self, predictions: np.ndarray) -> np.ndarray:
        """Weighted squared errors (R, K, n)."""
        columns = predictions[:, None] if predictions.ndim == 2 else predictions.swapaxes(1, 2)
        weighted_errors: np.ndarray = self.weights * (columns - self.targets) ** 2
        return weighted_errors


class SumsOfSets:
    """Sums over everything tested so far, of one learner."""

    def __init__(self, metric: MetricOfSets) -> None:
        self._metric = metric
        self._sums: np.ndarray | float = 0.0
        self._n_sets = 0

    @property
    def means(self) -> np.ndarray:
        """The sums (k, n), each over the number of test sets."""
        return np.asarray(self._sums / self._n_sets)

    @property
    def directions(self) -> None:
        """None: the bias of the metric to second order is not known."""

    def add(self, predictions: np.ndarray, testing: np.ndarray, *, row_by_row: bool = True) -> None:
        """Add some test sets, always row by row."""
        self._change(1, predictions, testing)

    def take_away(
        self, predictions: np.ndarray, testing: np.ndarray, *, row_by_row: bool = True
    ) -> None:
        """Take test sets away that were added."""
        self._change(-1, predictions, testing)

    def _change(self, sign: int, predictions: np.ndarray, testing: np.ndarray) -> None:
        # One by one, so that rounding does not depend on which came together.
        for set_sums in self._metric.sums(predictions, testing):
            self._sums = self._sums + sign * set_sums
        self._n_sets += sign * len(testing)
