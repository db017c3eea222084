"""Survival metrics, by pairs or errors of observations, pooled over test sets of one sample.

A metric of pairs is the ratio of two sums over the test sets: over pairs in the right order, with
ties half, and over all comparable pairs. Pairs are within test sets. A set without a comparable
pair adds 0. For a Brier score, the errors of all tested observations are pooled. Censoring weights
always come from the whole sample.

The value of an observation t in a test set of m is ``T + r + 2 (m - 1)/(m - 2) (p(t) - r)``. Take
pairs in the right order minus T times all pairs, divided by the mean number of pairs in a set: r is
its sum over the set, and ``p(t)`` is m/2 times its sum over the pairs of t. The mean of the values
over the set is T + r. With this factor, the jackknife of a kernel of g learning observations and
one tested observation, which uses these values as losses, is exactly the jackknife of the kernel of
g learning observations and two tested ones.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.metrics.censoring import Censoring
from ucvtest.metrics.pairs_in_sets import pairs_in_sets


class MetricOfSets(ABC):
    """A metric of the test sets of one sample, by sums that are pooled over them."""

    n_parts: ClassVar[int]
    """How many `parts` there are."""

    @abstractmethod
    def sums(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """Contributions of test sets to the sums, (R, k, n), by predictions (R, n) or (R, n, K)."""

    @abstractmethod
    def parts(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """Losses (k, R, n) of observations, 0 where untested, of whose means the metric is made."""

    @abstractmethod
    def means_of(self, sums: np.ndarray) -> np.ndarray:
        """The means (k,) of `parts`, from pooled sums."""

    @abstractmethod
    def linear_part(
        self, means: np.ndarray, sums: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray | float]:
        """The metric of means (k,) of `parts`, its gradient, and what else moves it (n,).

        The latter is the effect of censoring weights at the pooled `sums`. The metric is NaN where
        it has no value.
        """

    @abstractmethod
    def linearised(self, predictions: np.ndarray, sets: np.ndarray | None) -> np.ndarray:
        """The value (n,) of each observation, whose mean is the metric; NaN without a value.

        Every observation is tested once, in the test set of its number `sets` (n,); in a single one
        without them. The spread of the values gives the standard error of the metric (the
        infinitesimal jackknife).
        """

    def values(self, sums: np.ndarray, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """The values (R, n) of observations at pooled sums, divided by the number of test sets.

        0 for untested observations, and if the metric has no value.
        """
        values = self._values(sums, predictions, testing)
        return np.zeros(testing.shape) if np.isnan(values).any() else values

    def _values(self, sums: np.ndarray, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """The same; NaN if the metric has no value."""
        means = self.means_of(sums)
        value, gradient, fixed = self.linear_part(means, sums)
        moved = self.parts(predictions, testing) - means[:, None, None]
        return np.asarray((value + np.tensordot(gradient, moved, 1) + fixed) * testing)

    def of_each_set(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """The value of each test set, (R,): means of `values` at the sums pooled over these sets.

        They differ as the metric of each set alone does, weighted by its pairs. NaN if the pooled
        metric has no value.
        """
        sums = self.sums(predictions, testing).mean(axis=0)
        set_sums = self._values(sums, predictions, testing).sum(axis=1)
        return np.asarray(set_sums / testing.sum(axis=1))

    def value_and_gradient(self, sums: np.ndarray) -> tuple[float, np.ndarray]:
        """Only the metric; `values` has the effects of observations."""
        return self.linear_part(self.means_of(sums), sums)[0], np.zeros(sums.shape)


@dataclass(frozen=True, eq=False)
class PairsOfSets(MetricOfSets):
    """Concordance, or the AUC at a time.

    Attributes
    ----------
    time_rank : ndarray, shape (n,)
        The first observation of a pair has the lower rank.
    first, second : ndarray, shape (n,)
        Weights of an observation as the first and as the second of a pair; the weights of a pair
        are multiplied.
    censoring : Censoring, optional
        The distribution whose estimation error changes the values, up to the time `at`.
    """

    times: SurvivalTimes
    time_rank: np.ndarray
    first: np.ndarray
    second: np.ndarray
    censoring: Censoring | None = None
    at: float = np.inf

    n_parts: ClassVar[int] = 2

    def sums(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """Sums of each observation as the first of its pairs: in the right order, and all."""
        right, pairs = self._pairs(predictions, testing)
        return np.stack([right[0], pairs[0]], axis=1)

    def parts(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """See `MetricOfSets`: weights of pairs in the right order, and of all, as in the module."""
        size = testing.sum(axis=1, keepdims=True)
        twice = 2 * (size - 1) / np.maximum(size - 2, 1)
        losses = []
        for first, second in self._pairs(predictions, testing):
            of_set = first.sum(axis=1, keepdims=True)
            losses.append((of_set + twice * (size / 2 * (first + second) - of_set)) * testing)
        return np.stack(losses)

    def linear_part(
        self, means: np.ndarray, sums: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray | float]:
        """See `MetricOfSets`; for an AUC, with the effect of the censoring weights."""
        right, total = means
        if not total > 0:
            return np.nan, np.zeros(2), 0.0
        value = float(right / total)
        fixed: np.ndarray | float = 0.0
        if self.censoring is not None:
            pair_parts = len(self.times) * (sums[0] - value * sums[1]) / sums[1].sum()
            fixed = self.censoring.contribution(self.times.time, pair_parts, self.at)
        return value, np.array([1.0, -value]) / total, fixed

    def means_of(self, sums: np.ndarray) -> np.ndarray:
        """See `MetricOfSets`."""
        return np.asarray(sums.sum(axis=1))

    def linearised(self, predictions: np.ndarray, sets: np.ndarray | None) -> np.ndarray:
        """See `MetricOfSets`."""
        as_either = self._within(predictions, sets)
        value, gradient, fixed = self.linear_part(as_either[0].sum(axis=1), as_either[0])
        return np.asarray(value + len(predictions) * (gradient @ as_either.sum(axis=0)) + fixed)

    def half_within(
        self, risks: np.ndarray, sets: np.ndarray | None, clusters: np.ndarray
    ) -> np.ndarray:
        """Half of what pairs within clusters add to the values of rows, (n,).

        Without it they count once in the sum of a cluster, and not for both of their rows.
        """
        as_first = self._within(risks, sets)[0]
        _, gradient, _ = self.linear_part(as_first.sum(axis=1), as_first)
        within_clusters = self._within(risks, clusters).sum(axis=0) / 2
        return np.asarray(len(risks) * (gradient @ within_clusters))

    def _within(
        self, risks: np.ndarray, sets: np.ndarray | None, places: np.ndarray | slice = np.s_[:]
    ) -> np.ndarray:
        """Pairs within sets of the observations at some places: see `pairs_in_sets`."""
        order = self.time_rank[places], risks, self.first[places], self.second[places]
        return pairs_in_sets(*order, np.zeros(len(risks), dtype=int) if sets is None else sets)

    def _pairs(self, predictions: np.ndarray, testing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of pairs in the right order, ties half, and of all pairs, (2, R, n) each.

        They are sums of each observation as the first and as the second of its pairs.
        """
        sets, places = np.nonzero(testing)
        pair_weights = np.zeros((2, 2, *testing.shape))
        pair_weights[:, :, testing] = self._within(predictions[testing], sets, places)
        return pair_weights[:, 0], pair_weights[:, 1]


@dataclass(frozen=True, eq=False)
class BrierOfSets(MetricOfSets):
    """A Brier score at a time, or its mean over several by the trapezoid rule.

    Attributes
    ----------
    targets : ndarray, shape (K, n)
        1 for observations with an event by each of the times, 0 for observations followed beyond.
    weights : ndarray, shape (K, n)
        Weights of the squared errors at these times; 0 for observations censored before.
    shares : ndarray, shape (K,)
        Weights of the times in the mean; they sum to 1.
    """

    times: SurvivalTimes
    censoring: Censoring
    at: tuple[float, ...]
    targets: np.ndarray
    weights: np.ndarray
    shares: np.ndarray

    n_parts: ClassVar[int] = 1

    @classmethod
    def of(cls, times: SurvivalTimes, at: tuple[float, ...]) -> "BrierOfSets":
        """The score at these times, with the weights of the sample's censoring.

        Weights are 1/G(t-) for events, 1/G(at) for observations followed beyond, and 0 for
        observations censored before.
        """
        censoring = Censoring.of(times)
        targets, weights = np.zeros((2, len(at), times.n_obs))
        for place, time in enumerate(at):
            events, beyond = times.event & (times.time <= time), times.time > time
            targets[place, events] = 1.0
            weights[place, events] = 1 / censoring.before(times.time[events])
            weights[place, beyond] = 1 / censoring.at(time) if beyond.any() else 0.0
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

    def parts(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """See `MetricOfSets`: the errors, averaged over times."""
        errors = np.einsum("k,rkn->rn", self.shares, self._errors(predictions))
        return np.asarray(errors * testing)[None]

    def linear_part(
        self, means: np.ndarray, sums: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray | float]:
        """See `MetricOfSets`: the effect of the weights at the mean error of an observation."""
        if not self.censoring.at(self.at[-1]) > 0:
            return np.nan, np.zeros(1), 0.0
        errors = sums[:-1] / np.maximum(sums[-1], np.finfo(float).tiny)
        added = np.zeros(len(self.times))
        for time_share, time, mean in zip(self.shares, self.at, errors, strict=True):
            added += time_share * self.censoring.contribution_at(mean, time)
        return float(means[0]), np.ones(1), added

    def means_of(self, sums: np.ndarray) -> np.ndarray:
        """See `MetricOfSets`."""
        return np.array([self.shares @ sums[:-1].sum(axis=1) / sums[-1].sum()])

    def linearised(self, predictions: np.ndarray, sets: np.ndarray | None) -> np.ndarray:
        """See `MetricOfSets`; errors do not depend on the test set."""
        one_set, everywhere = predictions[None], np.ones((1, len(self.times)), dtype=bool)
        return self._values(self.sums(one_set, everywhere)[0], one_set, everywhere)[0]

    def _errors(self, predictions: np.ndarray) -> np.ndarray:
        """Weighted squared errors (R, K, n)."""
        columns = predictions[:, None] if predictions.ndim == 2 else predictions.swapaxes(1, 2)
        weighted_errors: np.ndarray = self.weights * (columns - self.targets) ** 2
        return weighted_errors


class SumsOfSets:
    """Sums over all observations tested so far, for one learner."""

    def __init__(self, metric: MetricOfSets) -> None:
        self._metric = metric
        self._sums: np.ndarray | float = 0.0
        self._n_sets = 0

    @property
    def means(self) -> np.ndarray:
        """The sums (k, n), divided by the number of test sets."""
        return np.asarray(self._sums / self._n_sets)

    @property
    def directions(self) -> None:
        """None, because the second-order bias of the metric is not known."""

    @property
    def errors(self) -> None:
        """None, because gradients do not need them."""

    def add(
        self,
        predictions: np.ndarray,
        testing: np.ndarray,
        *,
        sign: int = 1,
        row_by_row: bool = True,
    ) -> None:
        """Add some test sets, or remove them if the sign is -1; always row by row."""
        # One by one, so that rounding does not depend on how test sets are grouped.
        for set_sums in self._metric.sums(predictions, testing):
            self._sums = self._sums + sign * set_sums
        self._n_sets += sign * len(testing)
