"""Functionals of ranks of scores other than the AUC: average precision, area of a part of the ROC.

Each takes a response of zeros and ones, scores and weights (n,), and returns the metric T and the
influence of each observation: the derivative of T as weight moves to it, whose weighted mean is 0.
Scores that are tied are one threshold.
"""

import numpy as np

__all__ = ["average_precision", "partial_area"]

Found = tuple[float, np.ndarray]


def average_precision(y: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> Found:
    """The sum over thresholds of precision times the step in recall, as in scikit-learn."""
    w = weights / weights.sum()
    positive, place, n_places = _from_the_top(y, scores)
    hits = np.bincount(place, w * positive, n_places)
    share = float(hits.sum())
    taken = np.cumsum(np.bincount(place, w, n_places))
    precision = np.cumsum(hits) / taken
    value = float((hits * precision).sum()) / share
    # What an observation does to the precision at all thresholds that take it in.
    as_hit, as_any = _tail(hits / taken), _tail(hits * precision / taken)
    moved = positive * (precision[place] - value) + positive * as_hit[place] - as_any[place]
    return value, moved / share


def partial_area(y: np.ndarray, scores: np.ndarray, weights: np.ndarray, max_fpr: float) -> Found:
    """The area under the ROC curve up to a false positive rate, over that rate.

    The curve goes straight between thresholds. McClish's (1989) form, as in scikit-learn, is linear
    in it: 1/2 + (A - max_fpr/2)/(2 - max_fpr).
    """
    w = weights / weights.sum()
    positive, place, n_places = _from_the_top(y, scores)
    of_hits, of_rest = float((w * positive).sum()), float((w * ~positive).sum())
    up = np.bincount(place, w * positive, n_places) / of_hits
    right = np.bincount(place, w * ~positive, n_places) / of_rest
    heights, ends = np.cumsum(up), np.cumsum(right)
    cut = int(np.searchsorted(ends, max_fpr, side="left"))
    cut = min(cut, int(np.flatnonzero(right)[-1]))
    low, rest = heights[cut] - up[cut], max_fpr - (ends[cut] - right[cut])
    part = rest / right[cut]
    middles = heights[:cut] - up[:cut] / 2
    area = float((right[:cut] * middles).sum() + rest * (low + part * up[cut] / 2))
    # Of a positive: how much of the axis up to the cut it lifts the curve over.
    lifted = np.zeros(n_places)
    lifted[:cut] = _tail(right[:cut]) - right[:cut] / 2 + rest
    lifted[cut] = rest * part / 2
    # Of a negative: the height of the curve at it, less that where it moves the cut.
    at_cut = low + part * up[cut]
    height = np.zeros(n_places)
    height[:cut] = middles - at_cut
    height[cut] = part * (low + part * up[cut] / 2 - at_cut)
    moved = np.where(
        positive,
        (lifted[place] - float((up * lifted).sum())) / of_hits,
        (height[place] - float((right * height).sum())) / of_rest,
    )
    return area / max_fpr, moved / max_fpr


def _from_the_top(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Which are positive, and the place of each score among the different ones, highest first."""
    different, place = np.unique(-scores, return_inverse=True)
    return y == 1, place, len(different)


def _tail(values: np.ndarray) -> np.ndarray:
    """Sums of each value and all behind it."""
    found: np.ndarray = np.cumsum(values[::-1])[::-1]
    return found
