"""Functions of a confusion matrix of shares, true classes in rows, with their gradients.

Each function takes the matrix P (C, C), or an array (..., C, C) of them. It returns the metric
(...) and its gradient (..., C, C). Where the metric is 0/0, both are NaN. In averages over classes,
a class with 0/0 counts 0, and a class that neither occurs nor is predicted is left out, as in
scikit-learn.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

MetricAndGradient = tuple[np.ndarray, np.ndarray]

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
    return (gains * table).sum(axis=(-2, -1)), np.broadcast_to(gains, table.shape)


def of_one_class(table: np.ndarray, class_ratio: ClassRatio, places: Places) -> MetricAndGradient:
    """The ratio of one class, the only one of the places."""
    counted = _counted(table, places)
    values, denominators = _ratios(table, class_ratio)
    slopes = _slopes(class_ratio, values, counted, denominators)
    return _if(_dot(counted, denominators) > NOTHING, _dot(counted, values), slopes)


def averaged(table: np.ndarray, class_ratio: ClassRatio, places: Places) -> MetricAndGradient:
    """The mean over some classes, or over all that the table has ("macro")."""
    return _mean_of_classes(table, class_ratio, _counted(table, places))


def weighted_by_class(
    table: np.ndarray, class_ratio: ClassRatio, places: Places
) -> MetricAndGradient:
    """The mean over classes weighted by their shares, which are also estimated ("weighted")."""
    counted = _counted(table, places)
    class_rates = counted * table.sum(axis=-1)
    total = class_rates.sum(axis=-1, keepdims=True)
    values, denominators = _ratios(table, class_ratio)
    weights = _divided(class_rates, total)
    value = _dot(weights, values)
    gradient = _slopes(class_ratio, values, weights, denominators)
    gradient += _divided(counted * (values - value[..., None]), total)[..., None]
    return _if(total[..., 0] > NOTHING, value, gradient)


def micro_averaged(table: np.ndarray, class_ratio: ClassRatio, places: Places) -> MetricAndGradient:
    """A ratio of sums over classes ("micro")."""
    counted = _counted(table, places)
    total = _dot(counted, _ratios(table, class_ratio)[1])[..., None]
    value = _divided(class_ratio.above * _dot(counted, _diagonal(table))[..., None], total)
    slopes = _slopes(class_ratio, value, counted, total)
    return _if(total[..., 0] > NOTHING, value[..., 0], slopes)


AVERAGES = {
    "binary": of_one_class,
    "macro": averaged,
    "weighted": weighted_by_class,
    "micro": micro_averaged,
}
"""The ratio of one class, and averages over classes, by their names in scikit-learn."""


def balanced_accuracy(table: np.ndarray) -> MetricAndGradient:
    """The mean recall of the classes that occur."""
    return _mean_of_classes(table, RECALL, (table.sum(axis=-1) > NOTHING) * 1.0)


def geometric_mean_of_recalls(table: np.ndarray) -> MetricAndGradient:
    """The geometric mean of the recalls of the classes that occur; 0 has no gradient."""
    recalls, denominators = _ratios(table, RECALL)
    occurs = denominators > NOTHING
    n_classes = occurs.sum(axis=-1)
    mean = np.prod(np.where(occurs, recalls, 1.0), axis=-1) ** (1 / n_classes)
    positive = mean > 0
    weights = np.divide(
        (mean / n_classes)[..., None],
        recalls,
        out=np.zeros(recalls.shape),
        where=occurs & positive[..., None],
    )
    return mean, _if(positive, mean, _slopes(RECALL, recalls, weights, denominators))[1]


def matthews(table: np.ndarray) -> MetricAndGradient:
    """The correlation of true and predicted classes (Matthews; Gorodkin for several classes)."""
    true, predicted = table.sum(axis=-1), table.sum(axis=-2)
    a, b = 1 - _dot(true, true), 1 - _dot(predicted, predicted)
    defined = a * b > NOTHING
    # Any number in the place of a variance of 0.
    a, b = np.where(defined, a, 1.0)[..., None, None], np.where(defined, b, 1.0)[..., None, None]
    root = np.sqrt(a * b)
    value = (_diagonal(table).sum(axis=-1) - _dot(true, predicted))[..., None, None] / root
    down, across = np.s_[..., :, None], np.s_[..., None, :]
    slope = (np.eye(table.shape[-1]) - predicted[down] - true[across]) / root
    return _if(defined, value[..., 0, 0], slope + value * (true[down] / a + predicted[across] / b))


def chance_corrected(table: np.ndarray, power: float | None = None) -> MetricAndGradient:
    """Cohen's kappa; disagreements have equal weights, or a power of their distance.

    Distances count the classes that the table has.
    """
    class_numbers = np.cumsum(_counted(table, None), axis=-1)
    class_distance = np.abs(class_numbers[..., :, None] - class_numbers[..., None, :])
    weights = (class_distance > 0) * 1.0 if power is None else class_distance.astype(float) ** power
    true, predicted = table.sum(axis=-1)[..., None, :], table.sum(axis=-2)[..., None]
    expected = true @ weights @ predicted
    disagreement = (weights * table).sum(axis=(-2, -1), keepdims=True)
    weighted_disagreement = _divided(disagreement, expected)
    by_chance = weights @ predicted + true @ weights
    gradient = -_divided(weights - weighted_disagreement * by_chance, expected)
    return _if(expected[..., 0, 0] > NOTHING, 1 - weighted_disagreement[..., 0, 0], gradient)


def _counted(table: np.ndarray, places: Places) -> np.ndarray:
    """1 for each class in the places, or that occurs or is predicted; 0 for others."""
    if places is None:
        return ((table.sum(axis=-1) > NOTHING) | (table.sum(axis=-2) > NOTHING)) * 1.0
    return np.isin(np.arange(table.shape[-1]), places) * 1.0


def _diagonal(table: np.ndarray) -> np.ndarray:
    return np.diagonal(table, axis1=-2, axis2=-1)


def _dot(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The sum of products over classes, the last axis."""
    return np.asarray((first * second).sum(axis=-1))


def _divided(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """The quotient, 0 if it is 0/0."""
    quotient = np.zeros(np.broadcast_shapes(numerator.shape, denominator.shape))
    return np.divide(numerator, denominator, out=quotient, where=denominator > NOTHING)


def _ratios(table: np.ndarray, class_ratio: ClassRatio) -> tuple[np.ndarray, np.ndarray]:
    """The ratio of each class, 0 if it is 0/0, and its denominator."""
    hits = _diagonal(table)
    denominators = (
        class_ratio.hits * hits
        + class_ratio.row * table.sum(axis=-1)
        + class_ratio.column * table.sum(axis=-2)
    )
    return _divided(class_ratio.above * hits, denominators), denominators


def _mean_of_classes(
    table: np.ndarray, class_ratio: ClassRatio, counted: np.ndarray
) -> MetricAndGradient:
    values, denominators = _ratios(table, class_ratio)
    weights = counted / counted.sum(axis=-1, keepdims=True)
    return _dot(weights, values), _slopes(class_ratio, values, weights, denominators)


def _slopes(
    class_ratio: ClassRatio, values: np.ndarray, weights: np.ndarray, denominators: np.ndarray
) -> np.ndarray:
    """The gradient of the sum of the ratios of classes times their weights.

    A cell is in one row and one column, so that memory for all classes is that of the table.
    """
    per_unit = _divided(weights, denominators)
    by_row, by_column = (
        -per_unit * values * factor for factor in (class_ratio.row, class_ratio.column)
    )
    gradient = by_row[..., :, None] + by_column[..., None, :]
    classes = np.arange(per_unit.shape[-1])
    gradient[..., classes, classes] += per_unit * (class_ratio.above - values * class_ratio.hits)
    return np.asarray(gradient)


def _if(defined: Any, value: np.ndarray, gradient: np.ndarray) -> MetricAndGradient:
    """The metric and its gradient where there are any, NaN elsewhere."""
    return np.where(defined, value, np.nan), np.where(
        np.asarray(defined)[..., None, None], gradient, np.nan
    )
