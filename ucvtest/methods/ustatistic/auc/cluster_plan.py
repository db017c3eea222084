"""The AUC where rows come in clusters: how many of these are learnt from."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ucvtest.data.groups import Clusters, units_of
from ucvtest.data.sample import Sample
from ucvtest.kernels.auc_ustatistic.clusters import RowWeights
from ucvtest.methods.ustatistic.auc.plan import AnySizes, ClassSizes, asked_sizes

__all__ = ["ClusterSizes", "MixedSizes", "SingleLabelSizes", "cluster_sizes"]

LEAST_MIXED = 6
"""Clusters of which learning sets leave three."""


@dataclass(frozen=True, eq=False)
class SingleLabelSizes(ClassSizes):
    """Clusters of positives and of negatives: the numbers are those of clusters."""

    weights: RowWeights = field(kw_only=True)

    known_variances: ClassVar[tuple[str, ...]] = ("midpoint", "jackknife")

    @classmethod
    def of_clusters(cls, sample: Sample, clusters: Clusters, own: np.ndarray, size: Any) -> Self:
        """The sizes that a user asks for; `own` are the classes of the clusters."""
        groups = clusters.groups
        units = replace(sample, response=sample.response[groups.first], codes=own, groups=None)
        members, sizes = asked_sizes(units, size, units_of(clusters))
        weights = RowWeights.of(clusters, sample.target == 1)
        return cls.of(members[::-1], sizes[::-1], weights=weights)

    @property
    def about(self) -> str:
        """What the variances are for."""
        return "loss='auc' with groups"

    @property
    def counts(self) -> dict[str, Any]:
        """Diagnostics of the sample."""
        return {"n_positive_groups": self.sizes[0], "n_negative_groups": self.sizes[1]}


@dataclass(frozen=True, eq=False)
class MixedSizes(AnySizes):
    """Clusters with rows of both classes."""

    weights: RowWeights = field(kw_only=True)

    known_variances: ClassVar[tuple[str, ...]] = ("jackknife",)

    @classmethod
    def of_clusters(cls, sample: Sample, clusters: Clusters, size: Any) -> Self:
        """The sizes that a user asks for."""
        n = clusters.n_groups
        if n < LEAST_MIXED:
            raise ValueError(
                f"groups names {n} groups: at least {LEAST_MIXED} are needed for loss='auc' where "
                "groups have rows of both classes"
            )
        default = n // 2 - 1
        asked = default if size is None else size
        if isinstance(asked, bool) or not isinstance(asked, (int, np.integer)):
            raise ValueError(
                f"learn_size must be a number of groups where these have rows of both classes, got "
                f"{size!r:.60}: use {default}, or leave it out"
            )
        if not 1 <= asked <= n - 3:
            raise ValueError(
                f"learn_size must lie between 1 and {n - 3} of {n} groups, got {asked}: use "
                f"{default}, or leave it out"
            )
        weights = RowWeights.of(clusters, sample.target == 1)
        return cls.of((np.arange(n),), (int(asked),), weights=weights)

    @property
    def about(self) -> str:
        """What the variances are for."""
        return "loss='auc' with groups of both classes"

    @property
    def default_variance(self) -> str:
        """The variance that "auto" stands for."""
        return "jackknife"

    @property
    def counts(self) -> dict[str, Any]:
        """Diagnostics of the sample: those of clusters are in every result."""
        return {}

    def estimand(self, *, paired: bool) -> str:
        """What is estimated, in words."""
        subject = "difference of unconditional AUCs" if paired else "unconditional AUC"
        return f"{subject} at learning-set size {self.learn_sizes[0]}"


ClusterSizes = SingleLabelSizes | MixedSizes


def cluster_sizes(sample: Sample, clusters: Clusters, learn_size: Any) -> ClusterSizes:
    """The sizes for clusters of one class each, or for others."""
    if sample.n_classes != 2:
        raise ValueError(
            f"the AUC of {sample.n_classes} classes does not allow for groups: merge classes into "
            "two, or use loss='zero_one'"
        )
    assert sample.codes is not None
    own = clusters.groups.classes(sample.codes)
    if own is None:
        return MixedSizes.of_clusters(sample, clusters, learn_size)
    return SingleLabelSizes.of_clusters(sample, clusters, own, learn_size)
