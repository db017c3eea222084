"""Functions of a confusion matrix of shares, true classes in rows, with their gradients.

Each function takes the matrix P (C, C) and returns the metric and its gradient, an array (C, C). If
the metric is 0/0, both are NaN. In averages over classes, a class with 0/0 counts 0, as in
scikit-learn.
"""

from collections.abc import Callable, Sequence

import numpy as np

MetricAndGradient = tuple[float, np.ndarray]
PartsOfClass = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]
"""Numerator and denominator of a ratio of one class against the rest, as weights of cells."""

NOTHING = 1e-15
"""Denominators up to this value are rounding error."""


def ratio(table: np.ndarray, above: np.ndarray, below: np.ndarray) -> MetricAndGradient:
    """Sums of cells, weighted by `above`, over those weighted by `below`."""
    denominator = float((below * table).sum())
    if not denominator > NOTHING:
        return np.nan, np.full(table.shape, np.nan)
    value = float((above * table).sum()) / denominator
    return value, (above - value * below) / denominator


def _masks(table: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Masks of the cell, the row and the column of a class."""
    hit, row, column = np.zeros((3, *table.shape))
    hit[k, k] = row[k] = column[:, k] = 1.0
    return hit, row, column


def net_benefit(table: np.ndarray, threshold: float) -> MetricAndGradient:
    """True positives minus false positives times the odds of the threshold, per observation."""
    gains = np.array([[0.0, -threshold / (1 - threshold)], [0.0, 1.0]])
    return float((gains * table).sum()), gains


def averaged(
    table: np.ndarray, class_ratio: PartsOfClass, places: Sequence[int]
) -> MetricAndGradient:
    """The mean over classes ("macro")."""
    values, gradients = zip(*(_or_zero(table, class_ratio, k) for k in places), strict=True)
    return float(np.mean(values)), np.mean(gradients, axis=0)


def weighted_by_class(
    table: np.ndarray, class_ratio: PartsOfClass, places: Sequence[int]
) -> MetricAndGradient:
    """The mean over classes weighted by their shares, which are also estimated ("weighted")."""
    total, value, gradient = 0.0, 0.0, np.zeros(table.shape)
    for k in places:
        class_rate = float(table[k].sum())
        class_value, slope = _or_zero(table, class_ratio, k)
        total, value = total + class_rate, value + class_rate * class_value
        gradient += class_rate * slope
        gradient[k] += class_value
    if not total > NOTHING:
        return np.nan, np.full(table.shape, np.nan)
    for k in places:
        gradient[k] -= value / total
    return value / total, gradient / total


def micro_averaged(
    table: np.ndarray, class_ratio: PartsOfClass, places: Sequence[int]
) -> MetricAndGradient:
    """A ratio of sums over classes ("micro")."""
    above, below = (
        sum(class_parts)
        for class_parts in zip(*(class_ratio(table, k) for k in places), strict=True)
    )
    return ratio(table, np.asarray(above), np.asarray(below))


def precision_parts(table: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The share of class k among observations predicted as class k."""
    hit, _, column = _masks(table, k)
    return hit, column


def recall_parts(table: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The share predicted as class k among observations of class k."""
    hit, row, _ = _masks(table, k)
    return hit, row


def f_beta_parts(table: np.ndarray, k: int, beta: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """The weighted harmonic mean of precision and recall."""
    hit, row, column = _masks(table, k)
    return (1 + beta**2) * hit, beta**2 * row + column


def jaccard_parts(table: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Hits divided by all observations that are of class k or predicted as class k."""
    hit, row, column = _masks(table, k)
    return hit, row + column - hit


def balanced_accuracy(table: np.ndarray) -> MetricAndGradient:
    """The mean recall of the classes that occur."""
    return averaged(table, recall_parts, np.flatnonzero(table.sum(axis=1) > NOTHING).tolist())


def geometric_mean_of_recalls(table: np.ndarray) -> MetricAndGradient:
    """The geometric mean of the recalls of the classes that occur; 0 has no gradient."""
    places = np.flatnonzero(table.sum(axis=1) > NOTHING).tolist()
    recalls = [ratio(table, *recall_parts(table, k)) for k in places]
    values = np.array([value for value, _ in recalls])
    mean = float(np.prod(values) ** (1 / len(places)))
    if not mean > 0:
        return mean, np.full(table.shape, np.nan)
    slopes = np.sum([slope / value for value, slope in recalls], axis=0)
    return mean, mean / len(places) * slopes


def matthews(table: np.ndarray) -> MetricAndGradient:
    """The correlation of true and predicted classes (Matthews; Gorodkin for several classes)."""
    true, predicted = table.sum(axis=1), table.sum(axis=0)
    a, b = 1 - true @ true, 1 - predicted @ predicted
    if not a * b > NOTHING:
        return np.nan, np.full(table.shape, np.nan)
    root = np.sqrt(a * b)
    value = float(np.trace(table) - true @ predicted) / root
    slope = (np.eye(len(table)) - predicted[:, None] - true) / root
    return value, slope + value * (true[:, None] / a + predicted / b)


def chance_corrected(table: np.ndarray, power: float | None = None) -> MetricAndGradient:
    """Cohen's kappa; disagreements have equal weights, or a power of their distance."""
    class_numbers = np.arange(len(table))
    class_distance = np.abs(class_numbers[:, None] - class_numbers)
    weights = (class_distance > 0) * 1.0 if power is None else class_distance.astype(float) ** power
    true, predicted = table.sum(axis=1), table.sum(axis=0)
    expected = float(true @ weights @ predicted)
    if not expected > NOTHING:
        return np.nan, np.full(table.shape, np.nan)
    weighted_disagreement = float((weights * table).sum()) / expected
    by_chance = (weights @ predicted)[:, None] + true @ weights
    return 1 - weighted_disagreement, -(weights - weighted_disagreement * by_chance) / expected


def _or_zero(table: np.ndarray, class_ratio: PartsOfClass, k: int) -> MetricAndGradient:
    """The ratio of a class; 0 if it is 0/0."""
    value, gradient = ratio(table, *class_ratio(table, k))
    return (0.0, np.zeros(gradient.shape)) if np.isnan(value) else (value, gradient)
