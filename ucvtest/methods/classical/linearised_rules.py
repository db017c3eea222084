"""Common part of metrics of fixed rules: a mean of linearised values, and its spread."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.losses.table import LossDifference
from ucvtest.stats.linearised import variance_of_mean


@dataclass(frozen=True)
class LinearisedRules(ABC):
    """A metric of one learner, or its difference of two, from predictions of rows.

    `index` (T,) has the cluster of each tested row, numbered from 0; None if there are no clusters.
    """

    observed: LossDifference
    index: np.ndarray | None = None

    @classmethod
    def of(cls, observed: LossDifference, clusters: Clusters | None) -> Self:
        """Make it from losses that keep predictions."""
        return cls(observed, None if clusters is None else clusters.groups.index)

    @property
    @abstractmethod
    def estimate(self) -> float:
        """The metric, or its difference; NaN if it has no value."""

    @property
    def variance(self) -> float:
        """The variance of the mean of linearised values."""
        return variance_of_mean(self.observed.values, self.index)

    @property
    def df(self) -> float:
        """Degrees of freedom, of rows or clusters."""
        size = len(self.observed.values) if self.index is None else int(self.index.max()) + 1
        return size - 1.0

    def estimate_of(self, observed: LossDifference) -> tuple[float, float]:
        """Estimate and variance, also of one of the learners alone."""
        other_rules = type(self)(observed, self.index)
        return other_rules.estimate, other_rules.variance
