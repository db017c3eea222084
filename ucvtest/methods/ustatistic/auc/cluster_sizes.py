"""The AUC for rows in clusters: the number of clusters in a learning set."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.words import arg
from ucvtest.data.groups import Clusters, units_of
from ucvtest.data.sample import Sample
from ucvtest.kernels.ustatistic.columns import (
    Columns,
    RankedClusters,
    RankedMixed,
    Ranking,
)
from ucvtest.kernels.ustatistic.placements import hand_till, two_classes
from ucvtest.methods.ustatistic.auc.class_sizes import AnySizes, ClassSizes, asked_sizes, in_words
from ucvtest.metrics.base import when_learning_from

LEAST_GROUPS = 6
"""Least number of clusters; learning sets leave three."""


@dataclass(frozen=True, eq=False)
class SingleLabelSizes(ClassSizes):
    """Clusters of positives and of negatives: the numbers are those of clusters."""

    clusters: Clusters = field(kw_only=True)

    @classmethod
    def of_clusters(
        cls, sample: Sample, clusters: Clusters, cluster_classes: np.ndarray, size: Any
    ) -> Self:
        """The sizes that a user asks for; `cluster_classes` are the classes of the clusters."""
        groups = clusters.groups
        units = replace(
            sample, response=sample.response[groups.first], class_index=cluster_classes, groups=None
        )
        members, sizes = asked_sizes(units, size, units_of(clusters))
        return cls.of(members[::-1], sizes[::-1], clusters=clusters)

    def of_rows(self, learning: np.ndarray) -> np.ndarray:
        """See `AnySizes`."""
        return learning[:, self.clusters.groups.index]

    def columns(self, n_learners: int) -> Columns:
        """See `AnySizes`."""
        groups = self.clusters.groups
        by_group = self.clusters.weight == "group"
        weight = 1 / groups.sizes[groups.index] if by_group else np.ones(groups.n_obs)
        v = two_classes()[::-1, ::-1]
        return RankedClusters(self.strata, n_learners, v, unit=groups.index, weight=weight)

    @property
    def n_scored(self) -> int:
        """See `AnySizes`."""
        return self.clusters.groups.n_obs

    @property
    def smallest(self) -> tuple[int, str]:
        """See `AnySizes`."""
        return min(self.sizes), f"The smaller class has {min(self.sizes)} groups"

    @property
    def about(self) -> str:
        """The case of the variances, in words."""
        return f"{arg('loss', 'auc')} with groups"

    @property
    def counts(self) -> dict[str, Any]:
        """Diagnostics of the sample."""
        return {"n_positive_groups": self.sizes[0], "n_negative_groups": self.sizes[1]}


@dataclass(frozen=True, eq=False)
class MixedSizes(AnySizes):
    """Clusters with rows of both classes."""

    clusters: Clusters = field(kw_only=True)
    rankings: tuple[Ranking, ...] = field(kw_only=True)

    known_variances: ClassVar[tuple[str, ...]] = ("jackknife",)

    @classmethod
    def of_clusters(cls, sample: Sample, clusters: Clusters, size: Any) -> Self:
        """The sizes that a user asks for."""
        units = _one_sample(clusters, size, "groups have rows of both classes")
        return cls.of(*units, clusters=clusters, rankings=(_ranking(sample.target == 1),))

    def of_rows(self, learning: np.ndarray) -> np.ndarray:
        """See `AnySizes`."""
        return learning[:, self.clusters.groups.index]

    def columns(self, n_learners: int) -> Columns:
        """See `AnySizes`."""
        index, by_group = self.clusters.groups.index, self.clusters.weight == "group"
        return RankedMixed(self.strata, n_learners, self.rankings, index, by_group)

    @property
    def has_pairs(self) -> bool:
        """See `AnySizes`."""
        return False

    @property
    def n_scored(self) -> int:
        """See `AnySizes`."""
        return self.clusters.groups.n_obs

    @property
    def smallest(self) -> tuple[int, str]:
        """See `AnySizes`."""
        index = self.clusters.groups.index
        classes = [rows for ranking in self.rankings for rows in ranking[:2]]
        count = min(len(np.unique(index[rows])) for rows in classes)
        return count, f"One of the classes is in {count} groups"

    @property
    def about(self) -> str:
        """The case of the variances, in words."""
        return f"{arg('loss', 'auc')} with groups of both classes"

    @property
    def counts(self) -> dict[str, Any]:
        """Diagnostics of the sample: those of clusters are in every result."""
        return {}

    def estimand(self, *, paired: bool) -> str:
        """The estimand in words."""
        subject = "difference in AUC" if paired else "AUC"
        return f"{subject} {when_learning_from(self.learn_sizes[0], 'clusters')}"


@dataclass(frozen=True, eq=False)
class SeveralMixedSizes(MixedSizes):
    """Clusters with rows of more than two classes.

    `positive` is the label of the last class if it is compared with the rest; None for Hand and
    Till's AUC of all pairs.
    """

    n_classes: int = field(kw_only=True)
    positive: Any = None

    @classmethod
    def checked(cls, sample: Sample, clusters: Clusters, size: Any, *, against_rest: bool) -> Self:
        """The sizes that a user asks for."""
        assert sample.class_index is not None
        units = _one_sample(clusters, size, f"there are {sample.n_classes} classes")
        labels, last = np.asarray(sample.classes).tolist(), sample.n_classes - 1
        codes = sample.class_index
        rankings: tuple[Ranking, ...]
        if against_rest:
            rankings = (_ranking(codes == last, last),)
        else:
            shares = hand_till(sample.n_classes)
            rankings = tuple(
                Ranking(np.flatnonzero(codes == c), np.flatnonzero(codes == d), c, shares[c, d])
                for c, d in np.argwhere(shares).tolist()
            )
        positive = labels[-1] if against_rest else None
        return cls.of(
            *units,
            clusters=clusters,
            rankings=rankings,
            n_classes=sample.n_classes,
            positive=positive,
        )

    @property
    def about(self) -> str:
        """The case of the variances, in words."""
        return f"{arg('loss', 'auc')} of {self.n_classes} classes with groups"

    @property
    def n_scores(self) -> int:
        """Scores that a rule gives each observation."""
        return self.n_classes

    def estimand(self, *, paired: bool) -> str:
        """The estimand in words."""
        about = in_words(self.n_classes, self.positive, paired=paired)
        return f"{about} {when_learning_from(self.learn_sizes[0], 'clusters')}"


def _ranking(is_above: np.ndarray, score: int | None = None) -> Ranking:
    """Some rows above all others."""
    return Ranking(np.flatnonzero(is_above), np.flatnonzero(~is_above), score)


def _one_sample(
    clusters: Clusters, size: Any, condition: str
) -> tuple[tuple[np.ndarray], tuple[int]]:
    """The number of clusters, and of clusters in a learning set: as requested, or about half."""
    n = clusters.n_groups
    if n < LEAST_GROUPS:
        raise ValueError(
            f"{arg('groups')} names {n} groups: at least {LEAST_GROUPS} are needed for "
            f"{arg('loss', 'auc')} where {condition}"
        )
    default = n // 2 - 1
    n_learnt = default if size is None else size
    if not is_integer(n_learnt):
        raise ValueError(
            f"{arg('learn_size')} must be a number of groups where {condition}, got {size!r:.60}: "
            f"use {default}, or leave it out"
        )
    if not 1 <= n_learnt <= n - 3:
        raise ValueError(
            f"{arg('learn_size')} must lie between 1 and {n - 3} of {n} groups, got {n_learnt}: "
            f"use {default}, or leave it out"
        )
    return (np.arange(n),), (int(n_learnt),)


ClusterSizes = SingleLabelSizes | MixedSizes


def cluster_sizes(
    sample: Sample, clusters: Clusters, learn_size: Any, *, against_rest: bool
) -> ClusterSizes:
    """The sizes for clusters of one class each, or for others."""
    if sample.n_classes > 2:
        return SeveralMixedSizes.checked(sample, clusters, learn_size, against_rest=against_rest)
    assert sample.class_index is not None
    cluster_classes = clusters.groups.classes(sample.class_index)
    if cluster_classes is None:
        return MixedSizes.of_clusters(sample, clusters, learn_size)
    return SingleLabelSizes.of_clusters(sample, clusters, cluster_classes, learn_size)
