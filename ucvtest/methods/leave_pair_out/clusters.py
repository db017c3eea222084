"""Leave-pair-out errors for observations in clusters: every pair of clusters is left out."""

from abc import abstractmethod
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np

from ucvtest.common.execution import Execution, row_batches
from ucvtest.data.groups import Clusters
from ucvtest.data.sample import Sample
from ucvtest.kernels.leave_pair_out import LABELINGS_PER_CALL
from ucvtest.learners.adapters.translated import TranslatedLearner
from ucvtest.learners.base import Learner
from ucvtest.learners.batching import squared_distances
from ucvtest.learners.closed_forms.held_out import (
    has_hat_matrix,
    hat_matrix,
    held_out_predictions,
)
from ucvtest.learners.jitted.kernel_ridge import KernelRidge
from ucvtest.learners.jitted.neighbors import NearestNeighbors
from ucvtest.learners.jitted.ridge import Ridge
from ucvtest.methods.leave_pair_out.options import Sizes
from ucvtest.methods.leave_pair_out.pair_errors import Counts, PairErrors, method_of_fits, refitting
from ucvtest.stats.cluster_permutation import ExchangeableLabels

CELLS_PER_BATCH = 4_000_000
"""Most numbers in the arrays of one batch of labelings: 32 MB each."""

TIE = 1e-11
"""As for pairs of observations: see `ucvtest.kernels.leave_pair_out`."""

DIGITS = 9
"""Errors are weighted sums; rounding must not make equal ones different."""


def cluster_errors(
    sample: Sample, learner: Learner, clusters: Clusters, execution: Execution | None = None
) -> "ClusterErrors":
    """The closed form of a learner that has one, otherwise fits without every pair of clusters."""
    jitted_learner = learner.jitted if isinstance(learner, TranslatedLearner) else learner
    if has_hat_matrix(jitted_learner):
        try:
            return _OfSmoother(sample, jitted_learner, clusters)
        except ValueError:
            # scikit-learn has its own rule for singular equations.
            if jitted_learner is learner:
                raise
    if isinstance(jitted_learner, NearestNeighbors) and not jitted_learner.open_ties:
        return _OfNeighbours(sample, jitted_learner.k, clusters)
    return _OfFits(sample, learner, clusters, execution)


class ClusterErrors(PairErrors):
    """Counts the errors of labelings as numbers of pairs of rows; subclasses score these."""

    exchangeable: ExchangeableLabels
    tolerance: np.ndarray | float = 0.0
    """Differences of two scores, (n, n), that are rounding error."""

    def __init__(self, sample: Sample, clusters: Clusters, *options: Any) -> None:
        super().__init__(*options)
        self._clusters, self._index = clusters, clusters.groups.index
        self.exchangeable = ExchangeableLabels.of(sample.target == 1, self._index)

    def sizes(self, labels: np.ndarray) -> Sizes:
        """Pairs of rows of different clusters, and how many labelings there are."""
        n_clusters = self._clusters.n_groups
        positive, negative = self._by_cluster(labels[None]), self._by_cluster(~labels[None])
        return Sizes(
            len(labels),
            int(labels.sum()),
            n_within=int((positive * negative).sum()),
            labelings=self.exchangeable.n_labelings,
            fits=n_clusters * (n_clusters - 1) // 2,
        )

    def count(self, labelings: np.ndarray, rng: np.random.Generator) -> Counts:
        """See `PairErrors`; weighted, and scaled to the number of pairs of the observed labels."""
        n_obs = labelings.shape[1]
        batches = row_batches(len(labelings), n_obs * n_obs, CELLS_PER_BATCH)
        shares: list[np.ndarray] = []
        for rows in batches:
            scores = self._scores(labelings[rows], rng)[:, :, self._index]
            difference = scores - scores.transpose(0, 2, 1)
            positive, negative = self._weights(labelings[rows]), self._weights(~labelings[rows])
            weight = positive[:, :, None] * negative[:, None]
            weight *= self._index[:, None] != self._index
            wrong = np.where(difference < -self.tolerance, weight, 0.0).sum(axis=(1, 2))
            tied = np.where(np.abs(difference) <= self.tolerance, weight, 0.0).sum(axis=(1, 2))
            shares.append(np.stack([wrong, tied]) / weight.sum(axis=(1, 2)))
        n_pairs = self.sizes(self.exchangeable.labels).n_pairs
        n_wrong, tied = np.concatenate(shares, axis=1) * n_pairs
        return n_wrong.round(DIGITS), tied.round(DIGITS)

    def _by_cluster(self, is_in_class: np.ndarray) -> np.ndarray:
        """How many rows of each cluster are chosen, (P, G)."""
        return is_in_class.astype(float) @ np.eye(self._clusters.n_groups)[self._index]

    def _weights(self, is_in_class: np.ndarray) -> np.ndarray:
        """The weight of each chosen row, (P, n); 0 for others."""
        if self._clusters.weight == "row":
            return is_in_class.astype(float)
        return is_in_class / np.maximum(self._by_cluster(is_in_class)[:, self._index], 1)

    @abstractmethod
    def _scores(self, labelings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Scores (P, n, G) of each row by the rule learnt without its cluster and another one."""


class _OfSmoother(ClusterErrors):
    """Ridge and kernel ridge: scores are a fixed matrix times the labels."""

    def __init__(self, sample: Sample, learner: Ridge | KernelRidge, clusters: Clusters) -> None:
        super().__init__(sample, clusters, "closed form", LABELINGS_PER_CALL)
        n_obs, sizes = sample.n_obs, clusters.groups.sizes
        self._matrix = np.zeros((n_obs, clusters.n_groups, n_obs))
        pairs = np.array(list(combinations(range(clusters.n_groups), 2)))
        pair_sizes = sizes[pairs].sum(axis=1)
        for size in np.unique(pair_sizes).tolist():
            pairs_of_size = pairs[pair_sizes == size]
            held_out = (self._index == pairs_of_size[:, :1]) | (self._index == pairs_of_size[:, 1:])
            rows = np.nonzero(held_out)[1].reshape(len(pairs_of_size), size)
            hat = hat_matrix(learner, sample.matrix, n_obs - size)
            held_out_matrix = held_out_predictions(hat, np.eye(n_obs), rows)
            self._matrix[rows, _other(self._index[rows], pairs_of_size[:, None])] = held_out_matrix
        size = np.abs(self._matrix).sum(axis=2)[:, self._index]
        self.tolerance = TIE * (1.0 + size + size.T)

    def _scores(self, labelings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        n_obs, n_clusters, _ = self._matrix.shape
        cluster_scores = labelings.astype(float) @ self._matrix.reshape(-1, n_obs).T
        return cluster_scores.reshape(len(labelings), n_obs, n_clusters)


class _OfNeighbours(ClusterErrors):
    """k nearest neighbours, which do not depend on labels."""

    def __init__(self, sample: Sample, k: int, clusters: Clusters) -> None:
        super().__init__(sample, clusters, "closed form", LABELINGS_PER_CALL)
        n_obs, n_clusters = sample.n_obs, clusters.n_groups
        distance = squared_distances(sample.matrix)
        order = np.argsort(distance, axis=1, kind="stable")
        ranked = np.take_along_axis(distance, order, axis=1)
        self._nearest = np.zeros((n_obs, n_clusters, k), dtype=int)
        n_tied = 0
        for row in range(n_obs):
            outside = self._index[order[row]] != self._index[row]
            tied = np.diff(ranked[row][outside][: k + 1]) == 0
            n_tied += bool(tied.any())
            outside_rows, index = order[row][outside], self._index[order[row][outside]]
            for cluster in range(n_clusters):
                self._nearest[row, cluster] = outside_rows[index != cluster][:k]
        self.ties = Counter(distance_ties=n_tied)

    def _scores(self, labelings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        votes: np.ndarray = labelings[:, self._nearest].sum(axis=3)
        return votes


class _OfFits(ClusterErrors):
    """Any learner, fitted again without every pair of clusters for every labeling."""

    def __init__(
        self,
        sample: Sample,
        learner: Learner,
        clusters: Clusters,
        execution: Execution | None,
    ) -> None:
        super().__init__(sample, clusters, method_of_fits(learner))
        self._evaluator = refitting(sample, learner, execution)
        pairs = np.array(list(combinations(range(clusters.n_groups), 2)))
        self._pairs = pairs
        self._testing = (self._index == pairs[:, :1]) | (self._index == pairs[:, 1:])

    def _scores(self, labelings: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        n_labelings, n_pairs = len(labelings), len(self._pairs)
        cluster_scores = np.zeros((*labelings.shape, self._clusters.n_groups))
        for number in range(n_labelings):
            labels = np.repeat(labelings[number : number + 1].astype(float), n_pairs, axis=0)
            seeds = rng.integers(2**31 - 1, size=n_pairs)
            sets = ~self._testing, self._testing
            scores = self._evaluator.predict_labelings(labels, seeds, *sets, blank=False)
            self.ties.update(scores.ties)
            pair, row = np.nonzero(self._testing)
            other = _other(self._index[row], self._pairs[pair])
            cluster_scores[number, row, other] = scores.values[pair, row]
        return cluster_scores


def _other(own_cluster: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """The other cluster of each pair (..., 2)."""
    return pairs.sum(axis=-1) - own_cluster
