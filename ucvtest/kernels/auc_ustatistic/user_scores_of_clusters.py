"""Learning sets of clusters and the scores of their rows, of one's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.kernels.auc_ustatistic.clusters import (
    MixedClusters,
    RankedClasses,
    RowWeights,
    SingleLabelClusters,
)
from ucvtest.kernels.auc_ustatistic.user_scores import GivenRows

__all__ = ["GivenClusters"]

LEAST_TESTED = 3
"""Clusters that learning sets leave at least, where some hold both labels: without one of them
there is a pair still."""


@dataclass(frozen=True, eq=False)
class GivenClusters:
    """`units` has learning sets (M, G) and classes of the clusters, `rows` those of their rows."""

    clusters: Clusters
    rows: GivenRows
    units: GivenRows
    several: bool
    """Whether there is a score for each class."""

    @classmethod
    def checked(
        cls,
        learnt: Any,
        y: Any,
        cluster: Any,
        clusters: Clusters,
        *,
        several: bool,
        exact: bool,
    ) -> Self:
        """Refuse what no variance can be had from, and learning sets that divide a cluster."""
        rows = GivenRows.read(learnt, y, cluster, several=several)
        groups = clusters.groups
        if several:
            groups.check_classes(rows.codes, rows.order)
        own = None if several else groups.classes(rows.codes)
        units = GivenRows(
            groups.common("learnt", rows.learnt),
            rows.draw,
            np.zeros(groups.n_groups, dtype=int) if own is None else own,
            (0,) if own is None else rows.order,
        )
        mixed = own is None
        units.check(
            exact=exact, unit="group", of_class=not mixed, least=LEAST_TESTED if mixed else 2
        )
        return cls(clusters, rows, units, several)

    @property
    def mixed(self) -> bool:
        """Whether all clusters are one sample: some hold both labels, or there are more labels."""
        return len(self.units.order) == 1

    def sums(self, positive: int | None, *, exact: bool) -> MixedClusters | SingleLabelClusters:
        """What adds up the rankings; `positive` is the one of several classes that is asked for."""
        codes = self.rows.codes
        if not self.mixed:
            weights = RowWeights.of(self.clusters, (codes == 1, codes == 0))
            return SingleLabelClusters(self.units.members, weights, exact=exact)
        rankings = (
            RankedClasses.of_several(self.clusters, codes, positive)
            if self.several
            else RankedClasses.of_two(self.clusters, codes == 1)
        )
        return MixedClusters(rankings, self.units.shape.learn_sizes[0], exact=exact)

    def add_to(self, sums: Any, scores: Sequence[np.ndarray]) -> None:
        """Rank the scores (M, n), or (M, n, C), of each learner."""
        sums.add(scores, self.units.learnt, self.rows.draw)
