r"""The same sums for AUCs of observations in clusters; clusters are resampled.

Where every cluster has one label, clusters of positives and of negatives are two samples, and
:math:`\psi` of two of them is the mean over their rows, weighted. Otherwise the clusters are one
sample: the AUC is :math:`\theta = \sum N_{ab}/C_{ab}` over :math:`\sum v_{ab}`, over pairs of
different clusters, where :math:`N_{ab}` adds up the positives of a with the negatives of b, and
:math:`v_{ab}` is the weight of all these. With :math:`f_{ab} = (N_{ab} + N_{ba})/C_{ab}` and D the
mean of :math:`v_{ab} + v_{ba}` over the G (G - 1)/2 pairs,

    I_c = 2 (mean_b (f_cb - theta (v_cb + v_bc))/D),    II - III = 2/((G - 1) D) sum_m (c_mc - c_m)
    (a_m - b_m).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.kernels.influence.calls import calls, count_pairs, number_of_groups, rank_pairs
from ucvtest.kernels.influence.estimate import Influence, Rows
from ucvtest.kernels.influence.sums import LearningSets, PairCounts, PairSums


@dataclass(frozen=True, eq=False)
class ClusterPairs:
    """Rows (n,) in clusters, as an AUC compares them: positives with negatives of other clusters.

    `classes` are the clusters that are resampled by themselves: those of positives and those of
    negatives, or all as one where some are mixed.
    """

    clusters: Clusters
    positive: np.ndarray
    classes: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, clusters: Clusters, positive: np.ndarray) -> "ClusterPairs":
        """The pairs of rows that are positive, or not."""
        label = clusters.groups.classes(positive.astype(int))
        if label is None:
            return cls(clusters, positive, (np.arange(clusters.n_groups),))
        return cls(clusters, positive, (np.flatnonzero(label == 1), np.flatnonzero(label == 0)))

    @property
    def mixed(self) -> bool:
        """Whether some clusters contain both labels."""
        return len(self.classes) == 1

    @property
    def clusters_by_class(self) -> tuple[np.ndarray, np.ndarray]:
        """The clusters behind rows and columns of tables of pairs."""
        return (self.classes[0], self.classes[-1])

    def of_rows(self, of_clusters: np.ndarray) -> np.ndarray:
        """What clusters have in common, (R, G), row by row, (R, n)."""
        return of_clusters[:, self.clusters.groups.index]

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows that are positive, and the others."""
        return (np.flatnonzero(self.positive), np.flatnonzero(~self.positive))

    @cached_property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """How much each positive, and each negative, counts: 1 on average over the clusters."""
        class_weights = []
        for rows, clusters_of_class in zip(self.members, self.clusters_by_class, strict=True):
            index = self.clusters.groups.index[rows]
            if self.clusters.weight == "group":
                class_weights.append(1 / np.bincount(index)[index])
            else:
                class_weights.append(np.full(len(rows), len(clusters_of_class) / len(rows)))
        return class_weights[0], class_weights[1]

    @cached_property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """The row (column) of a table of pairs for each positive (negative)."""
        index = self.clusters.groups.index
        first, second = (
            np.searchsorted(clusters_of_class, index[rows])
            for clusters_of_class, rows in zip(self.clusters_by_class, self.members, strict=True)
        )
        return first, second

    @cached_property
    def table(self) -> np.ndarray:
        """The weight v of each pair of clusters; 0 of a cluster with itself."""
        sums = [
            np.bincount(cluster_index, weight, len(clusters_of_class))
            for cluster_index, weight, clusters_of_class in zip(
                self.places, self.weights, self.clusters_by_class, strict=True
            )
        ]
        pair_weights = np.outer(*sums)
        if self.mixed:
            np.fill_diagonal(pair_weights, 0.0)
        return pair_weights

    def times_together(self, row_batches: Iterable[Rows]) -> np.ndarray:
        """How often each pair is tested together; 1 of pairs without weight."""
        counted = np.zeros(self.table.shape)
        for rows in row_batches:
            first, second = (
                rows.tested[:, clusters_of_class].astype(float)
                for clusters_of_class in self.clusters_by_class
            )
            counted += first.T @ second
        return np.where(self.table > 0, counted, 1.0)


class ClusterPairCounts(PairCounts):
    """How often each pair of clusters is tested together."""

    pairs: ClusterPairs

    @classmethod
    def of_pairs(
        cls, pairs: ClusterPairs, n_repeats: int, row_batches: Iterable[Rows]
    ) -> "ClusterPairCounts":
        """Count; the rows are about clusters, and come in any number of parts."""
        has_weight = pairs.table > 0
        by_group = np.zeros((number_of_groups(has_weight.size, n_repeats), *has_weight.shape))
        for rows in row_batches:
            for call in calls(rows, pairs.clusters_by_class, len(by_group)):
                by_group += count_pairs(*call.design, call.group, shape=by_group.shape)
        # Pairs without weight count as tested once, with nothing to add up.
        by_group *= has_weight
        by_group[0] += ~has_weight
        pair_counts = cls(pairs.classes, n_repeats, by_group)
        object.__setattr__(pair_counts, "pairs", pairs)
        return pair_counts

    def sums(self) -> "PairSums":
        """The second pass, for the scores of the rows by one learner."""
        return ClusterPairSums(self) if self.pairs.mixed else TwoClassSums(self)


class TwoClassSums(PairSums):
    """Sums over repeats where every cluster has one label."""

    _counts: ClusterPairCounts

    @property
    def _clusters_by_class(self) -> tuple[np.ndarray, ...]:
        return self._counts.pairs.clusters_by_class

    def add(self, rows: Rows, values: np.ndarray) -> None:
        """Add the scores of the rows of tested clusters, (R, n)."""
        pairs = self._counts.pairs
        has_weight = pairs.table > 0
        inverse = has_weight / self._tested
        of_rows = Rows(pairs.of_rows(rows.tested), rows.counts, rows.repeat)
        for call in calls(of_rows, pairs.members, self._n_groups):
            places = [
                cluster_index[row_index]
                for cluster_index, row_index in zip(pairs.places, call.index, strict=True)
            ]
            weights = [
                weight[row_index] * is_tested
                for weight, row_index, is_tested in zip(
                    pairs.weights, call.index, call.weight, strict=True
                )
            ]
            sums, a, auc = rank_pairs(
                *call.scores(values),
                *places,
                *weights,
                call.group,
                inverse,
                shape=self._sums.shape,
            )
            self._sums += sums * has_weight
            self._a.append(a[: call.size])
            self._values.append(auc[: call.size])

    def _influence(self, sets: LearningSets) -> Influence:
        pair_influence = super()._influence(sets)
        first, table = pair_influence.first.copy(), self._counts.pairs.table
        for k, members in enumerate(self._counts.classes):
            first[members] += pair_influence.estimate * (1 - table.mean(axis=1 - k))
        return replace(pair_influence, first=first)


class ClusterPairSums(TwoClassSums):
    """Sums over repeats where clusters are mixed, and so one sample."""

    def _influence(self, sets: LearningSets) -> Influence:
        table = self._counts.pairs.table
        n = len(table)
        n_pairs = n * (n - 1) / 2
        scale = table.sum() / n_pairs
        pair_means = self._sums.sum(axis=0) / self._tested
        theta = float(pair_means.sum() / table.sum())

        def of_cluster(values: np.ndarray) -> np.ndarray:
            """Means over the pairs (..., G, G) that a cluster is in, twice."""
            cluster_sums = values.sum(axis=-1) + values.sum(axis=-2)
            return 2 * cluster_sums / ((n - 1) * scale)

        group = np.arange(self._counts.n_repeats) % self._n_groups
        effects = sets.effects / (n_pairs * scale)
        moved = (self._sums - self._counts.by_group * pair_means) / self._tested
        of_shares = of_cluster(moved) - 2 * np.bincount(group, effects, self._n_groups)[:, None]
        learnt = sets.learnt.mean() / sets.n_rows
        factor = n / (n_pairs * scale)
        return Influence(
            estimate=theta,
            first=of_cluster(pair_means - theta * table),
            second=factor * sets.second,
            third=factor * sets.third,
            by_group=factor * sets.by_group + of_shares * (1 + learnt * n / max(n - 2, 1)),
            first_by_group=of_shares,
            rows=np.concatenate(self._values),
            effects=effects,
            divisor=np.full(n, float(n)),
            n_in_kernel=2,
        )


def with_offset(influence: Influence, offset: np.ndarray | None) -> Influence:
    """The mean loss of rows, as a ratio, where clusters have different sizes; see `Clusters`."""
    return (
        influence
        if offset is None
        else replace(influence, first=influence.first + influence.estimate * offset)
    )
