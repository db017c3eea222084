"""Common part of the sums over rankings: of two classes, of several, and of clusters.

Each of them adds up how rules rank observations that they did not learn from, a part of the
learning sets at a time. It then gives the AUC and its variances.
"""

import math
from collections.abc import Sequence
from enum import Enum, auto
from typing import Protocol

import numpy as np

from ucvtest.data.class_sizes import Shape
from ucvtest.kernels.auc_ustatistic.variances import AucEstimate


class NoVariance(Enum):
    """Why an AUC, or the difference of two, has no variance."""

    NEVER_TOGETHER = auto()
    """Some two classes were tested together in no learning set."""
    EQUAL_SCORES = auto()
    """All tested scores of two classes were equal."""
    SEPARATED = auto()
    """The classes were separated completely, in every row."""
    OBSERVATIONS_ALIKE = auto()
    """Every observation was ranked equally well."""
    CLASSES_ALIKE = auto()
    """The same of several classes, as by equal scores."""
    CLUSTERS_ALIKE = auto()
    """Every cluster was ranked equally well."""
    LEARNERS_ALIKE = auto()
    """Two learners ranked every tested pair alike."""
    DIFFERENCE_ALIKE = auto()
    """Two learners differ by as much for every observation."""
    NOTHING_VARIES = auto()
    """The jackknife of one of several differences is zero."""


class RankedSums(Protocol):
    """Sums over the rankings of one learner or of several, by the learning sets so far."""

    @property
    def shape(self) -> Shape:
        """The sizes of classes and learning sets; of clusters where these are the units."""

    @property
    def n_rows(self) -> int:
        """Learning sets so far."""

    @property
    def n_learners(self) -> int:
        """Learners whose scores are ranked."""

    @property
    def alike(self) -> bool:
        """Whether all learners placed every observation alike."""

    def add(self, scores: Sequence[np.ndarray], learning: np.ndarray, draw: np.ndarray) -> None:
        """Rank the scores of each learner, (M, n) or (M, n, C), looked at only where tested.

        `learning` (M, n) are the learning sets; `draw` (M,) numbers the draws that they belong to.
        """

    def mean(self, contrast: Sequence[float]) -> float:
        """The mean AUC, or a linear combination of them with a weight for each learner."""

    def estimate(self, contrast: Sequence[float]) -> AucEstimate:
        """The estimate and its variances for a linear combination of the learners."""

    def why_flat(self) -> NoVariance:
        """Why one learner has no variance."""


def why_no_variance(sums: RankedSums, estimate: AucEstimate) -> NoVariance | None:
    """Of one learner, or the difference of two; None where there is a variance."""
    if not math.isnan(estimate.values["jackknife"]):
        return None
    if math.isnan(estimate.auc):
        return NoVariance.NEVER_TOGETHER
    if sums.n_learners == 1:
        return sums.why_flat()
    return NoVariance.LEARNERS_ALIKE if sums.alike else NoVariance.DIFFERENCE_ALIKE
