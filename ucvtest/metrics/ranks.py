"""Metrics that rank: the area under the ROC curve."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.metrics.base import Kind, Metric
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

    kind: Kind = field(default="pairs", init=False)

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


MetricAndInfluence = tuple[float, np.ndarray]


def average_precision(y: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> MetricAndInfluence:
    """The sum over thresholds of precision times the step in recall, as in scikit-learn."""
    w = weights / weights.sum()
    positive, score_rank, n_places = _from_the_top(y, scores)
    hits = np.bincount(score_rank, w * positive, n_places)
    positive_weight = float(hits.sum())
    flagged_weight = np.cumsum(np.bincount(score_rank, w, n_places))
    precision = np.cumsum(hits) / flagged_weight
    value = float((hits * precision).sum()) / positive_weight
    # The effect of an observation on the precision at all thresholds that include it.
    as_hit, as_any = _tail(hits / flagged_weight), _tail(hits * precision / flagged_weight)
    moved = (
        positive * (precision[score_rank] - value)
        + positive * as_hit[score_rank]
        - as_any[score_rank]
    )
    return value, moved / positive_weight


def partial_area(
    y: np.ndarray, scores: np.ndarray, weights: np.ndarray, max_fpr: float
) -> MetricAndInfluence:
    """The area under the ROC curve up to a false positive rate, divided by this rate.

    The curve is linear between thresholds. McClish's (1989) form, as in scikit-learn, is linear in
    this area A: 1/2 + (A - max_fpr/2)/(2 - max_fpr).
    """
    w = weights / weights.sum()
    positive, score_rank, n_places = _from_the_top(y, scores)
    of_hits, of_rest = float((w * positive).sum()), float((w * ~positive).sum())
    tpr_steps = np.bincount(score_rank, w * positive, n_places) / of_hits
    fpr_steps = np.bincount(score_rank, w * ~positive, n_places) / of_rest
    heights, cumulative_fpr = np.cumsum(tpr_steps), np.cumsum(fpr_steps)
    cut = int(np.searchsorted(cumulative_fpr, max_fpr, side="left"))
    cut = min(cut, int(np.flatnonzero(fpr_steps)[-1]))
    low, fpr_left = heights[cut] - tpr_steps[cut], max_fpr - (cumulative_fpr[cut] - fpr_steps[cut])
    cut_share = fpr_left / fpr_steps[cut]
    middles = heights[:cut] - tpr_steps[:cut] / 2
    area = float(
        (fpr_steps[:cut] * middles).sum() + fpr_left * (low + cut_share * tpr_steps[cut] / 2)
    )
    # For a positive: the part of the axis up to the cut where it raises the curve.
    lifted = np.zeros(n_places)
    lifted[:cut] = _tail(fpr_steps[:cut]) - fpr_steps[:cut] / 2 + fpr_left
    lifted[cut] = fpr_left * cut_share / 2
    # For a negative: the height of the curve there, minus the height where it moves the cut.
    at_cut = low + cut_share * tpr_steps[cut]
    height = np.zeros(n_places)
    height[:cut] = middles - at_cut
    height[cut] = cut_share * (low + cut_share * tpr_steps[cut] / 2 - at_cut)
    moved = np.where(
        positive,
        (lifted[score_rank] - float((tpr_steps * lifted).sum())) / of_hits,
        (height[score_rank] - float((fpr_steps * height).sum())) / of_rest,
    )
    return area / max_fpr, moved / max_fpr


def _from_the_top(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Positive observations, and the place of each score among the distinct ones, highest first."""
    distinct_scores, score_rank = np.unique(-scores, return_inverse=True)
    return y == 1, score_rank, len(distinct_scores)


def _tail(values: np.ndarray) -> np.ndarray:
    """Sums of each value and all later ones."""
    tail_sums: np.ndarray = np.cumsum(values[::-1])[::-1]
    return tail_sums
