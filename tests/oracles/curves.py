"""Points of curves with their intervals, row by row, as the rules are written.

Influence values are derivatives by the weight of a row, taken numerically; observations are added
as rows with weights.
"""

from collections.abc import Callable

import numpy as np
from scipy import stats

STEP = 1e-5

Metric = Callable[[np.ndarray, np.ndarray, np.ndarray], float]
"""Of labels, predictions of each learner (L, n) and weights."""


def ratio(numerator: Callable, denominator: Callable) -> Metric:
    """A ratio of weighted sums of what rows count, by label and prediction; one learner."""

    def metric(y, flagged, weight):
        above, below = (
            sum(w * count(a, b) for a, b, w in zip(y, flagged[0], weight, strict=True))
            for count in (numerator, denominator)
        )
        return above / below

    return metric


SENSITIVITY = ratio(lambda y, f: y * f, lambda y, f: y)
SPECIFICITY = ratio(lambda y, f: (1 - y) * (1 - f), lambda y, f: 1 - y)
PRECISION = ratio(lambda y, f: y * f, lambda y, f: f)


def net_benefit(threshold: float) -> Metric:
    odds = threshold / (1 - threshold)
    return ratio(lambda y, f: y * f - odds * (1 - y) * f, lambda y, f: 1)


def difference(metric: Metric) -> Metric:
    return lambda y, flagged, weight: (
        metric(y, flagged[:1], weight) - metric(y, flagged[1:], weight)
    )


def influence(metric: Metric, y, flagged, weight) -> np.ndarray:
    """Derivatives by the share of each row, with total weight fixed: their weighted mean is 0."""
    total = weight.sum()
    found = []
    for row in range(len(y)):
        step = STEP * (np.arange(len(y)) == row)
        up, down = (metric(y, flagged, weight + sign * step) for sign in (1, -1))
        found.append((up - down) / (2 * STEP) * total)
    return np.array(found)


def variance(values: np.ndarray, groups: np.ndarray) -> float:
    """Of the mean of the values, by sums of clusters."""
    moved = values - values.mean()
    sums = np.array([moved[groups == each].sum() for each in np.unique(groups)])
    n_groups = len(sums)
    return n_groups / (n_groups - 1) * (sums @ sums) / len(values) ** 2


def effective_size(metric: Metric, y, flagged, groups) -> float:
    """Independent rows that the clusters are worth; where all rows agree, one each."""
    n, n_groups = len(y), len(np.unique(groups))
    if n_groups == n:
        return float(n)
    with np.errstate(all="ignore"):
        values = influence(metric, y, flagged, np.ones(n))
    by_cluster = variance(values, groups)
    if not by_cluster > 1e-12:
        return float(n_groups)
    return float(np.clip(n * variance(values, np.arange(n)) / by_cluster, 1, n))


def interval(metric: Metric, y, flagged, groups, *, least, most=1.0, alpha=0.05):
    """Plus four for one learner, plus two for a difference, by rows that are added."""
    n, n_e = len(y), effective_size(metric, y, flagged, groups)
    if len(flagged) == 1:
        cells = [(a, b) for a in (0, 1) for b in (0, 1)]
        weight = 1.0
    else:
        cells = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        weight = 0.25
    added = np.array(cells).T
    longer_y = np.concatenate([y, added[0]])
    longer = np.concatenate([flagged, added[1:]], axis=1)
    weights = np.concatenate([np.full(n, n_e / n), np.full(len(cells), weight)])
    values = influence(metric, longer_y, longer, weights)
    rows, others = values[:n], values[n:]
    spread = n_e**2 * variance(rows, groups) + n_e * rows.mean() ** 2 + weight * (others @ others)
    total = n_e + weight * len(cells)
    centre = metric(longer_y, longer, weights)
    half = stats.t.ppf(1 - alpha / 2, len(np.unique(groups)) - 1) * np.sqrt(spread) / total
    return max(centre - half, least), min(centre + half, most)
