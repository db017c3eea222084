"""Which classes of rows in clusters are ranked against each other, and how often they are compared.

C(k, l) is the sum of the products of weights of the rows of one class in cluster k and of another
in cluster l; see `mixed_clusters`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.kernels.auc_ustatistic.clusters import RowWeights
from ucvtest.kernels.auc_ustatistic.several_classes import hand_till


@dataclass(frozen=True)
class Ranking:
    """A class whose rows are to be ranked above those of another, and how much that counts.

    `score` is the place among the scores for each class; None where rows have one score.
    """

    above: int
    below: int
    score: int | None = None
    share: float = 1.0


@dataclass(frozen=True, eq=False)
class RankedClasses:
    """What AUCs of clusters are made of: the rows of the classes, and which are ranked."""

    weights: RowWeights
    rankings: tuple[Ranking, ...]

    @classmethod
    def of_two(cls, clusters: Clusters, positive: np.ndarray) -> Self:
        """Of positive rows above all others."""
        return cls(RowWeights.of(clusters, (positive, ~positive)), (Ranking(0, 1),))

    @classmethod
    def of_several(cls, clusters: Clusters, labels: np.ndarray, positive: int | None) -> Self:
        """Of one of several classes above all others, or of all pairs of classes."""
        if positive is not None:
            of_one = labels == positive
            return cls(RowWeights.of(clusters, (of_one, ~of_one)), (Ranking(0, 1, positive),))
        shares = hand_till(int(labels.max()) + 1)
        weights = RowWeights.of(clusters, [labels == label for label in range(len(shares))])
        pairs = np.argwhere(shares).tolist()
        return cls(weights, tuple(Ranking(c, d, c, shares[c, d]) for c, d in pairs))

    @cached_property
    def of_pairs(self) -> np.ndarray:
        """The mean of C(k, l) + C(l, k) over pairs of different clusters, by ranking (P,)."""
        totals = self.weights.totals
        n_groups = totals.shape[1]
        sums = totals.sum(axis=1)
        pair_weights = 2 * (np.outer(sums, sums) - np.einsum("cg,dg->cd", totals, totals))
        return self._by_ranking(pair_weights) / (n_groups * (n_groups - 1))

    def tested(self, learning: np.ndarray) -> np.ndarray:
        """C(k, l) + C(l, k) summed over all pairs of clusters and all learning sets, (P,)."""
        is_tested, totals = (~learning).astype(float), self.weights.totals
        sums = np.einsum("mg,cg->mc", is_tested, totals)
        within_cluster = np.einsum("g,cg,dg->cd", is_tested.sum(axis=0), totals, totals)
        return self._by_ranking(2 * (np.einsum("mc,md->cd", sums, sums) - within_cluster))

    def expected(self, learning: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Sum over l of C(k, l) + C(l, k), with a factor (P,) for each ranking, by set (M, G)."""
        is_tested, totals = (~learning).astype(float), self.weights.totals
        weights = np.zeros((len(totals), len(totals)))
        for ranking, factor in zip(self.rankings, factors, strict=True):
            weights[ranking.above, ranking.below] += factor
            weights[ranking.below, ranking.above] += factor
        # By classes, not by pairs of clusters, and without BLAS: its threads are in JAX's way.
        other_totals = np.einsum("cd,dg->cg", weights, totals)
        sums = np.einsum("mg,cg->mc", is_tested, totals)
        within_cluster = (other_totals * totals).sum(axis=0)
        expected_weights: np.ndarray = (
            np.einsum("mc,cg->mg", sums, other_totals) - within_cluster
        ) * is_tested
        return expected_weights

    def _by_ranking(self, values: np.ndarray) -> np.ndarray:
        return np.array([values[ranking.above, ranking.below] for ranking in self.rankings])

    @property
    def shares(self) -> np.ndarray:
        """How much each ranking counts, (P,)."""
        return np.array([ranking.share for ranking in self.rankings])
