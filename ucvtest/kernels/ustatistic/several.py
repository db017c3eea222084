"""Several learners from the same learning sets: their mean losses, and all differences at once.

Sums over draws are linear in the losses, so that those of a difference are differences of sums.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ucvtest.kernels.ustatistic.accumulator import Accumulator
from ucvtest.kernels.ustatistic.variances import MonteCarloEstimates, Sums
from ucvtest.stats.jackknife import (
    error_of_groups,
    first_order_factor,
    leave_one_out_weights,
    pair_effects_factor,
)

N_GROUPS = 8
"""Groups of draws: each learner has n x n sums for each of them."""


class Differences(NamedTuple):
    """Variances, and Monte-Carlo errors of all pairs of L learners, (L, L).

    On the diagonal the same of each learner alone.
    """

    variance: np.ndarray
    mc_se_variance: np.ndarray
    mc_se: np.ndarray


class SeveralSums:
    """Sums over pairs of learning sets for each of several learners."""

    def __init__(
        self, n_obs: int, learn_size: int, n_learners: int, *, pair_effects: bool = True
    ) -> None:
        self._learner_sums = [
            Accumulator(
                n_obs, learn_size, disjoint=False, n_draws=N_GROUPS, pair_effects=pair_effects
            )
            for _ in range(n_learners)
        ]

    def add(
        self,
        learner_losses: Sequence[tuple[np.ndarray, np.ndarray]],
        sets: tuple[np.ndarray, np.ndarray],
        *,
        weight: np.ndarray | None = None,
        cluster: np.ndarray | None = None,
    ) -> None:
        """Add the losses (G, s, n) of both sides of each learner; see `Accumulator.add`."""
        for sums, losses in zip(self._learner_sums, learner_losses, strict=True):
            sums.add((*losses, *sets), weight=weight, cluster=cluster)

    def now(self) -> "Several":
        """The sums so far; valid until the next `add`."""
        return Several(tuple(sums.sums() for sums in self._learner_sums))


@dataclass(frozen=True, eq=False)
class Several:
    """Sums of several learners over the same draws."""

    learner_sums: tuple[Sums, ...]

    @cached_property
    def single_learners(self) -> tuple[MonteCarloEstimates, ...]:
        """All estimates of each learner."""
        return tuple(
            self.weighted({learner_index: 1.0}) for learner_index in range(len(self.learner_sums))
        )

    def weighted(self, weights: Mapping[int, float]) -> MonteCarloEstimates:
        """All estimates of a weighted sum of mean losses, by the places of the learners."""
        first = self.learner_sums[0]
        totals = {
            key: np.asarray(sum(w * self.learner_sums[k].totals[key] for k, w in weights.items()))
            for key in first.totals
            if key != "count"
        }
        counts = {"count": first.totals["count"]}
        # Without disjoint sets the blocks are not used, because their sums are not linear.
        sums = Sums(first.n_obs, first.learn_size, False, counts | totals, (), first.halves)
        return sums.with_slope(sums.estimates())

    @property
    def means(self) -> np.ndarray:
        """The estimates of all learners, (L,)."""
        return self._of_groups("mean").sum(axis=1) / self.learner_sums[0].totals["count"].sum()

    @property
    def covariance(self) -> np.ndarray:
        """The delete-one jackknife covariance matrix (L, L), by squares as they are.

        Positive semidefinite, and with the Monte-Carlo noise of the effects in it.
        """
        first = self.learner_sums[0]
        b = self._of_groups("b").sum(axis=1) / first.totals["count"].sum()
        return first_order_factor(first.n_obs, first.learn_size + 1) * np.einsum("in,jn->ij", b, b)

    def differences(self, name: str) -> Differences:
        """By the variance of this name, "midpoint" or "jackknife"."""
        first = self.learner_sums[0]
        n, m = first.n_obs, first.learn_size + 1
        count = first.totals["count"]
        group_selections = leave_one_out_weights(len(count))
        b = self._of_groups("b")
        variance = first_order_factor(n, m) * _crossed(b, group_selections, count)
        if name == "midpoint":
            tau = self._pair_effects()
            second = pair_effects_factor(n, m) / 2 * _crossed(tau, group_selections, count)
            variance = _midpoints(variance, np.maximum(second, 0.0))
        mean = self._of_groups("mean") @ group_selections.T / (group_selections @ count)
        mean_differences = mean[:, None] - mean[None]
        mean_differences[np.diag_indices(len(mean))] = mean
        return Differences(
            variance[0],
            error_of_groups(variance[1:] - variance[0], 0),
            error_of_groups(mean_differences[..., 1:] - mean_differences[..., :1], 2),
        )

    def difference(self, first: int, second: int) -> MonteCarloEstimates:
        """All estimates of the difference of two learners, by their places; computed once."""
        places = first, second
        if places not in self._known:
            self._known[places] = self.weighted({first: 1.0, second: -1.0})
        return self._known[places]

    def slopes(self) -> tuple[np.ndarray, np.ndarray]:
        """How the logarithms of standard errors of all differences move with them, (L, L).

        And the standard errors of these slopes. Those of a difference and of its reverse are of
        opposite sign; 0 on the diagonal.
        """
        slopes, errors = np.zeros((2, len(self.learner_sums), len(self.learner_sums)))
        for i, j in combinations(range(len(self.learner_sums)), 2):
            reversed_one = (j, i) in self._known
            difference_slope = self.difference(j, i) if reversed_one else self.difference(i, j)
            sign = -1.0 if reversed_one else 1.0
            slopes[i, j], slopes[j, i] = (
                sign * difference_slope.values["slope"],
                -sign * difference_slope.values["slope"],
            )
            errors[i, j] = errors[j, i] = difference_slope.slope_error
        return slopes, errors

    @cached_property
    def _known(self) -> dict[tuple[int, int], MonteCarloEstimates]:
        return {}

    def _pair_effects(self) -> np.ndarray:
        return np.stack([sums.pair_effects() for sums in self.learner_sums])

    def _of_groups(self, key: str) -> np.ndarray:
        return np.stack([sums.totals[key] for sums in self.learner_sums])


def _midpoints(jackknife: np.ndarray, second: np.ndarray) -> np.ndarray:
    """`midpoint` for arrays."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = np.where(jackknife > 0, jackknife**2 / (jackknife + second), jackknife)
    return np.maximum((jackknife + lower) / 2, second / 2)


def _crossed(vectors: np.ndarray, group_selections: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Squared lengths of differences of mean vectors, by products of different groups only.

    vectors (L, K, ...) are sums over the draws of K groups, keep (V, K); (V, L, L), with squared
    lengths of the vectors themselves on the diagonal. `crossed_product` is the same for one.
    """
    n_learners, k = vectors.shape[:2]
    rows = vectors.reshape(n_learners * k, -1)
    gram = (rows @ rows.T).reshape(n_learners, k, n_learners, k)
    same_group = np.einsum("lkmk->klm", gram)
    selected_gram = np.einsum("vk,lkmq->vlmq", group_selections, gram)
    products = np.einsum("vlmq,vq->vlm", selected_gram, group_selections) - np.einsum(
        "vk,klm->vlm", group_selections, same_group
    )
    selected_counts = group_selections * count
    products /= (selected_counts.sum(axis=1) ** 2 - (selected_counts**2).sum(axis=1))[:, None, None]
    squared_lengths = np.einsum("vll->vl", products).copy()
    squared_differences = (
        squared_lengths[:, :, None]
        + squared_lengths[:, None, :]
        - products
        - products.transpose(0, 2, 1)
    )
    places = np.arange(n_learners)
    squared_differences[:, places, places] = squared_lengths
    return squared_differences
