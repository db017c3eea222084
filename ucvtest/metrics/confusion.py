"""Functions of a confusion matrix of shares, true classes in rows, with their gradients.

Each function takes the matrix P (C, C) and returns the metric and its gradient, an array (C, C). If
the metric is 0/0, both are NaN. In averages over classes, a class with 0/0 counts 0, and a class
that neither occurs nor is predicted is left out, as in scikit-learn.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MetricAndGradient = tuple[float, np.ndarray]

Places = Sequence[int] | None
"""Positions of classes; None for those that a table has."""

NOTHING = 1e-15
"""Denominators up to this value are rounding error."""


class ClassRatio(NamedTuple):
    """A ratio of one class against the rest.

    The numerator is `above` times the hits of the class. The denominator is the hits, the row and
    the column of the class, each times its factor.
    """

    above: float
    hits: float
    row: float
    column: float


PRECISION = ClassRatio(1.0, 0.0, 0.0, 1.0)
"""The share of a class among observations predicted as this class."""

RECALL = ClassRatio(1.0, 0.0, 1.0, 0.0)
"""The share predicted as a class among observations of this class."""

JACCARD = ClassRatio(1.0, -1.0, 1.0, 1.0)
"""Hits divided by all observations that are of a class or predicted as this class."""


def f_beta(beta: float = 1.0) -> ClassRatio:
    """The weighted harmonic mean of precision and recall."""
    return ClassRatio(1 + beta**2, 0.0, beta**2, 1.0)


def net_benefit(table: np.ndarray, threshold: float) -> MetricAndGradient:
    """True positives minus false positives times the odds of the threshold, per observation."""
    gains = np.array([[0.0, -threshold / (1 - threshold)], [0.0, 1.0]])
    return float((gains * table).sum()), gains


def of_one_class(table: np.ndarray, class_ratio: ClassRatio, places: Places) -> MetricAndGradient:
    """The ratio of one class, the only one of the places."""
    counted = _counted(table, places)
    values, denominators = _ratios(table, class_ratio)
    if not counted @ denominators > NOTHING:
        return _without_value(table)
    return float(counted @ values), _slopes(class_ratio, values, counted, denominators)


def averaged(table: np.ndarray, class_ratio: ClassRatio, places: Places) -> MetricAndGradient:
    """The mean over some classes, or over all that the table has ("macro")."""
    counted = _counted(table, places)
    values, denominators = _ratios(table, class_ratio)
    weights = counted / counted.sum()
    return float(weights @ values), _slopes(class_ratio, values, weights, denominators)


def weighted_by_class(
    table: np.ndarray, class_ratio: ClassRatio, places: Places
) -> MetricAndGradient:
    """The mean over classes weighted by their shares, which are also estimated ("weighted")."""
    counted = _counted(table, places)
    class_rates = counted * table.sum(axis=1)
    total = float(class_rates.sum())
    if not total > NOTHING:
        return _without_value(table)
    values, denominators = _ratios(table, class_ratio)
    value = float(class_rates @ values) / total
    gradient = _slopes(class_ratio, values, class_rates / total, denominators)
    return value, gradient + (counted * (values - value) / total)[:, None]


def micro_averaged(table: np.ndarray, class_ratio: ClassRatio, places: Places) -> MetricAndGradient:
    """A ratio of sums over classes ("micro")."""
    counted = _counted(table, places)
    _, denominators = _ratios(table, class_ratio)
    total = float(counted @ denominators)
    if not total > NOTHING:
        return _without_value(table)
    value = class_ratio.above * float(counted @ np.diag(table)) / total
    same, totals = np.full(len(table), value), np.full(len(table), total)
    return value, _slopes(class_ratio, same, counted, totals)


AVERAGES = {
    "binary": of_one_class,
    "macro": averaged,
    "weighted": weighted_by_class,
    "micro": micro_averaged,
}
"""The ratio of one class, and averages over classes, by their names in scikit-learn."""


def balanced_accuracy(table: np.ndarray) -> MetricAndGradient:
    """The mean recall of the classes that occur."""
    return averaged(table, RECALL, np.flatnonzero(table.sum(axis=1) > NOTHING).tolist())


def geometric_mean_of_recalls(table: np.ndarray) -> MetricAndGradient:
    """The geometric mean of the recalls of the classes that occur; 0 has no gradient."""
    recalls, denominators = _ratios(table, RECALL)
    occurs = denominators > NOTHING
    n_classes = int(occurs.sum())
    mean = float(np.prod(recalls[occurs]) ** (1 / n_classes))
    if not mean > 0:
        return mean, np.full(table.shape, np.nan)
    weights = np.divide(mean / n_classes, recalls, out=np.zeros(len(table)), where=occurs)
    return mean, _slopes(RECALL, recalls, weights, denominators)


def matthews(table: np.ndarray) -> MetricAndGradient:
    """The correlation of true and predicted classes (Matthews; Gorodkin for several classes)."""
    true, predicted = table.sum(axis=1), table.sum(axis=0)
    a, b = 1 - true @ true, 1 - predicted @ predicted
    if not a * b > NOTHING:
        return _without_value(table)
    root = math.sqrt(a * b)
    value = float(np.trace(table) - true @ predicted) / root
    slope = (np.eye(len(table)) - predicted[:, None] - true) / root
    return value, slope + value * (true[:, None] / a + predicted / b)


def chance_corrected(table: np.ndarray, power: float | None = None) -> MetricAndGradient:
    """Cohen's kappa; disagreements have equal weights, or a power of their distance.

    Distances count the classes that the table has.
    """
    class_numbers = np.cumsum(_counted(table, None))
    class_distance = np.abs(class_numbers[:, None] - class_numbers)
    weights = (class_distance > 0) * 1.0 if power is None else class_distance.astype(float) ** power
    true, predicted = table.sum(axis=1), table.sum(axis=0)
    expected = float(true @ weights @ predicted)
    if not expected > NOTHING:
        return _without_value(table)
    weighted_disagreement = float((weights * table).sum()) / expected
    by_chance = (weights @ predicted)[:, None] + true @ weights
    return 1 - weighted_disagreement, -(weights - weighted_disagreement * by_chance) / expected


def _counted(table: np.ndarray, places: Places) -> np.ndarray:
    """1 for each class in the places, or that occurs or is predicted; 0 for others."""
    if places is None:
        return ((table.sum(axis=1) > NOTHING) | (table.sum(axis=0) > NOTHING)) * 1.0
    return np.isin(np.arange(len(table)), places) * 1.0


def _ratios(table: np.ndarray, class_ratio: ClassRatio) -> tuple[np.ndarray, np.ndarray]:
    """The ratio of each class, 0 if it is 0/0, and its denominator."""
    hits = np.diag(table)
    denominators = (
        class_ratio.hits * hits
        + class_ratio.row * table.sum(axis=1)
        + class_ratio.column * table.sum(axis=0)
    )
    values = np.divide(
        class_ratio.above * hits,
        denominators,
        out=np.zeros(len(table)),
        where=denominators > NOTHING,
    )
    return values, denominators


def _slopes(
    class_ratio: ClassRatio, values: np.ndarray, weights: np.ndarray, denominators: np.ndarray
) -> np.ndarray:
    """The gradient of the sum of the ratios of classes times their weights.

    A cell is in one row and one column, so that memory for all classes is that of the table.
    """
    per_unit = np.divide(
        weights, denominators, out=np.zeros(len(weights)), where=denominators > NOTHING
    )
    by_row, by_column = (
        -per_unit * values * factor for factor in (class_ratio.row, class_ratio.column)
    )
    gradient = by_row[:, None] + by_column
    gradient[np.diag_indices(len(weights))] += per_unit * (
        class_ratio.above - values * class_ratio.hits
    )
    return gradient


def _without_value(table: np.ndarray) -> MetricAndGradient:
    return np.nan, np.full(table.shape, np.nan)
