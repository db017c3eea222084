"""Metrics that rank: the area under the ROC curve."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ucvtest.metrics.base import Metric, Scale
from ucvtest.stats.placements import midranks

if TYPE_CHECKING:
    from ucvtest.data.sample import Sample

AUC_NAME = "auc"
"""The name of the AUC for users and in tables of losses."""


@dataclass(frozen=True)
class RankMetric(Metric):
    """The share of pairs of observations that scores put in the right order.

    `function` takes the positive observations of one test set, as booleans, and the scores. It
    returns NaN for a test set without pairs.
    """

    ranks_pairs: ClassVar[bool] = True
    """Every pair is of two observations of different classes."""

    @property
    def scale(self) -> Scale:
        """A share of pairs lies between 0 and 1."""
        return "logit"

    @property
    def needs_every_class(self) -> bool:
        """A test set of one class has no pairs."""
        return True

    def kept(
        self, sample: "Sample", predictions: np.ndarray, testing: np.ndarray, first: int = 0
    ) -> np.ndarray:
        """The scores themselves."""
        return predictions


def _area(positive: np.ndarray, scores: np.ndarray) -> float:
    """Share of pairs in the right order, ties half; NaN for one class. Scores may be infinite."""
    n1 = int(positive.sum())
    n0 = len(positive) - n1
    if not n1 or not n0:
        return math.nan
    above = float(midranks(scores)[positive].sum()) - n1 * (n1 + 1) / 2
    return above / (n1 * n0)


AUC = RankMetric(AUC_NAME, _area, "score", estimand="AUC", bounds=(0.0, 1.0))
