r"""AUCs for rows in clusters of one class each, learnt from and tested as a whole.

psi(k, l) sums over the pairs of a positive row of cluster k and a negative row of cluster l, with
the product of their weights, how often the rule ranks the positive one higher. Clusters k and l are
then observations of a two-sample U-statistic, and all results for single rows apply to them.
Clusters with rows of several classes are in `mixed_clusters`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from ucvtest.common.padding import next_power_of_two
from ucvtest.data.groups import Clusters
from ucvtest.kernels.auc_ustatistic.blocks import LearningSets, Placed
from ucvtest.kernels.auc_ustatistic.placements import cluster_rank_sums
from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.kernels.auc_ustatistic.two_classes import TwoClasses

ROWS_OF_SHAPE = 16
"""Rows of a class are filled up to a multiple of this, so that samples share compiled code."""


@dataclass(frozen=True, eq=False)
class RowWeights:
    """The rows of each class, and their weights in each cluster: (N_c, G).

    `index` (n,) is the cluster of each row; of two classes the positive one is the first. Each
    class is padded by rows with weight 0. With the weight "group" the rows of one class in a
    cluster share the weight 1.
    """

    index: np.ndarray
    rows: tuple[np.ndarray, ...]
    weights: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, clusters: Clusters, classes: Sequence[np.ndarray]) -> Self:
        """From the indicators (n,) of each class."""
        index, rows, weights = clusters.groups.index, [], []
        for members in classes:
            class_rows = np.flatnonzero(members)
            matrix = (index[class_rows][:, None] == np.arange(clusters.n_groups)).astype(float)
            if clusters.weight == "group":
                matrix /= np.maximum(matrix.sum(axis=0), 1.0)
            filling = _filled_up(len(class_rows), few_shapes=len(classes) > 2) - len(class_rows)
            rows.append(np.pad(class_rows, (0, filling), mode="edge"))
            weights.append(np.pad(matrix, ((0, filling), (0, 0))))
        return cls(index, tuple(rows), tuple(weights))

    @cached_property
    def totals(self) -> np.ndarray:
        """What the rows of each class weigh together in each cluster, (C, G)."""
        return np.array([class_weights.sum(axis=0) for class_weights in self.weights])


def _filled_up(n_rows: int, *, few_shapes: bool) -> int:
    """Rows with those that weigh nothing; many pairs of classes have few shapes to compile."""
    multiple = -(-n_rows // ROWS_OF_SHAPE)
    if few_shapes:
        multiple = next_power_of_two(multiple)
    return ROWS_OF_SHAPE * multiple


class SingleLabelClusters(TwoClasses):
    """Sums over the rankings of clusters of positives and of negatives.

    `members` are the clusters of each class. With the weight "row" psi is that of `clusters`, whose
    theta comes from the first rows: what later ones change in it is of the order of its error.
    """

    def __init__(
        self,
        members: Sequence[np.ndarray],
        weights: RowWeights,
        *,
        exact: bool = False,
        rows_at_a_time: int | None = None,
    ) -> None:
        super().__init__(members, exact=exact, rows_at_a_time=rows_at_a_time)
        self._weights = weights
        shares = [
            class_weights[:, is_cluster_of_class]
            / class_weights[:, is_cluster_of_class].sum(axis=0).mean()
            for class_weights, is_cluster_of_class in zip(weights.weights, members, strict=True)
        ]
        self._shares = shares[0], shares[1]
        first, second = (class_weights.sum(axis=0) for class_weights in shares)
        self._count = np.outer(first, second)
        self._theta: np.ndarray | None = None

    def add(self, scores: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray) -> None:
        """Rank the scores (M, n) of the rows; learning sets (M, G) are of clusters."""
        self._effects = None
        first, second = self._weights.rows
        values = [learner_scores.astype(float, copy=False) for learner_scores in scores]
        by_class = [
            (learner_scores[:, first], learner_scores[:, second]) for learner_scores in values
        ]
        self.rank(LearningSets(self._by_class(learning), draw), by_class)
        if self._rows_at_a_time is not None and self.n_waiting >= self._rows_at_a_time:
            self.settle()

    def _start(self, sets: LearningSets, n_learners: int) -> None:
        super()._start(sets, n_learners)
        self.pairs = self.pairs.astype(float)

    def _ranked(
        self, sets: LearningSets, scores: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> Iterator[tuple[Placed, dict[str, np.ndarray]]]:
        if self._theta is None:
            self._theta = self._pilot(sets, scores)
        yield from self._offset_by(self._theta, sets, scores)

    def _offset_by(
        self,
        theta: np.ndarray,
        sets: LearningSets,
        scores: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> Iterator[tuple[Placed, dict[str, np.ndarray]]]:
        offset = theta[:, None, None] * (1 - self._count)
        for index in self._calls(sets):
            learnt = (sets.learnt[0][index], sets.learnt[1][index])
            rows = [
                np.stack([learner_scores[c][index] for learner_scores in scores]) for c in (0, 1)
            ]
            is_row = index >= 0
            sums = cluster_rank_sums((rows[0], rows[1]), learnt, is_row, self._shares, offset)
            counts = (sums.pop("counts1"), sums.pop("counts0"))
            sums["placed"] = np.concatenate(
                [class_counts.sum(axis=2) for class_counts in counts], axis=-1
            )
            yield Placed(index, learnt, counts), sums

    def _pilot(
        self, sets: LearningSets, scores: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> np.ndarray:
        """theta of each learner; any would do where all pairs of clusters count the same."""
        zero = np.zeros(len(scores))
        if np.ptp(self._count) < 1e-12:
            return zero
        total = sum(
            sums["pairs"].sum(axis=(1, 2, 3)) for _, sums in self._offset_by(zero, sets, scores)
        )
        tested = [(~learnt_clusters).astype(float) for learnt_clusters in sets.learnt]
        count = np.einsum("mi,ij,mj->", *(tested[0], self._count, tested[1]), optimize=True)
        theta: np.ndarray = total / (2 * count)
        return theta

    def why_flat(self) -> NoVariance:
        """Why one learner has no variance."""
        return NoVariance.CLUSTERS_ALIKE
