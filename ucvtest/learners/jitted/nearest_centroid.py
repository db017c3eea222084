"""The nearest class mean, many learning sets at once."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale, margins
from ucvtest.learners.batching import median_centred
from ucvtest.learners.jitted.discriminant import Discriminant
from ucvtest.learners.jitted.discriminant_rules import (
    Moments,
    Rules,
    centroid_rules,
    class_moments,
    standardised_centroid_rules,
    with_constant,
)


def nearest_centroid() -> "NearestCentroid":
    """Predict the class whose mean is nearest in Euclidean distance.

    Returns
    -------
    NearestCentroid
        Its score is the squared distance from the mean of the first class minus that from
        the mean of the second.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.nearest_centroid().name
    'nearest_centroid'
    """
    return NearestCentroid()


@dataclass(frozen=True)
class NearestCentroid(Discriminant):
    """Nearest class mean; made by `nearest_centroid`, or on features standardised in each set."""

    standardize: bool = False

    scale: ClassVar[Scale] = "discriminant"

    @property
    def name(self) -> str:
        """``nearest_centroid``."""
        return "nearest_centroid"

    def class_scores(self, scores: np.ndarray) -> np.ndarray:
        """How much farther the nearest other mean is, in squared distance."""
        return margins(scores)

    def prepare(self, sample: Sample) -> Moments:
        """Columns that all learning sets share."""
        features = median_centred(sample.matrix)
        squares = features**2 if self.standardize else np.empty((sample.n_obs, 0))
        return class_moments(sample, features, squares, with_constant(features))

    @property
    def _rules(self) -> tuple[Rules, bool]:
        return standardised_centroid_rules if self.standardize else centroid_rules, True
