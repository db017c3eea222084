"""Losses from a matrix: the costs of predicting one class for another."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.words import arg
from ucvtest.data.class_order import check_order, listed_labels
from ucvtest.data.positive_class import plain_label
from ucvtest.metrics.base import Metric, Units, with_ties
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.means import LOSSES

if TYPE_CHECKING:
    from ucvtest.data.sample import Sample

MATRIX, COST = "matrix", "expected cost"
"""The name of a loss by a matrix."""


def matrix_loss(matrix: Any) -> Loss:
    """Make a loss from a matrix of costs of predicting one class for another.

    Parameters
    ----------
    matrix : array or DataFrame, shape (C, C)
        ``matrix[true, predicted]``, with classes in ascending order, the positive one last. In a
        DataFrame, rows and columns are named by the classes, in any order.

    Returns
    -------
    Loss
        The zero-one loss if every error costs 1.

    Raises
    ------
    ValueError
        If it is not a square matrix of finite numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.losses import matrix_loss
    >>> loss = matrix_loss([[0, 1], [5, 0]])  # to miss the second class is five times worse
    >>> loss.function(np.array([0, 1]), np.array([[1, 0], [1, 0.5]]))
    array([[1. , 5. ],
           [1. , 2.5]])
    """
    names = None
    if hasattr(matrix, "columns"):
        rows, columns = list(matrix.index), list(matrix.columns)
        if sorted(map(str, rows)) != sorted(map(str, columns)):
            raise ValueError(
                f"{arg('loss')} has rows {listed_labels(rows)} and columns "
                f"{listed_labels(columns)}: name both by the labels of y"
            )
        # Row numbers are not names.
        if not rows == columns == list(range(len(rows))):
            names = tuple(rows)
            # Columns may be in a different order from rows.
            matrix = matrix[rows]
    try:
        costs = np.array(as_numbers("loss", matrix))
    except ValueError as error:
        raise ValueError(
            f"{arg('loss')} must be a matrix of numbers, loss[true, predicted]: {error}"
        ) from None
    if costs.ndim != 2 or costs.shape[0] != costs.shape[1]:
        raise ValueError(
            f"{arg('loss')} must be a matrix of shape (C, C) for C classes, got shape {costs.shape}"
        )
    if not np.isfinite(costs).all():
        raise ValueError(
            f"{arg('loss')} is a matrix with NaN or infinity: every cost must be finite"
        )
    costs.flags.writeable = False
    if cost_of_errors(costs) == 1:
        # The same question has the same answer: this is the error rate.
        return replace(LOSSES["zero_one"], matrix=costs)

    def cost(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
        true = y.astype(int)
        return np.asarray(with_ties(lambda codes: costs[true, codes], prediction))

    low, high = float(costs.min()), float(costs.max())
    bounds = (low, high) if low < high else None
    return Loss(
        MATRIX, cost, "label", estimand=COST, bounds=bounds, matrix=costs, class_names=names
    )


def costs_in_order(loss: Loss, sample: "Sample") -> Loss:
    """The loss with rows and columns of its matrix in the order of the classes of a sample.

    Raises
    ------
    ValueError
        If the matrix has names that are not the classes, or no names although a categorical
        declares another order.
    """
    if loss.matrix is None or not loss.orders_classes:
        return loss
    classes = [plain_label(label) for label in np.asarray(sample.classes)]
    if loss.class_names is None:
        positive = classes[-1] if sample.positive_named else None
        check_order("loss", classes, sample.declared, positive)
        return loss
    places = {str(name): class_position for class_position, name in enumerate(loss.class_names)}
    if sorted(places) != sorted(map(str, classes)):
        raise ValueError(
            f"{arg('loss')} has rows and columns {listed_labels(loss.class_names)}: name them by "
            f"the labels of y, {listed_labels(classes)}"
        )
    order = [places[str(label)] for label in classes]
    ordered = matrix_loss(loss.matrix[np.ix_(order, order)])
    return replace(ordered, class_names=tuple(classes))


def cost_order(metric: Metric, sample: "Sample") -> list[Any]:
    """The order of the classes in costs without names, if it matters."""
    if not isinstance(metric, Loss) or metric.class_names is not None or not metric.orders_classes:
        return []
    return [plain_label(label) for label in np.asarray(sample.classes)]


def cost_of_errors(costs: np.ndarray) -> float | None:
    """The cost of an error, if all errors cost the same and right answers cost nothing."""
    errors = costs[~np.eye(len(costs), dtype=bool)]
    if not len(errors) or not errors[0] > 0 or costs.diagonal().any():
        return None
    return float(errors[0]) if (errors == errors[0]).all() else None


def errors_at(cost: float, matrix: np.ndarray | None = None) -> Loss:
    """The zero-one loss, reported as a multiple of the error rate."""
    units = None if cost == 1 else Units(MATRIX, 0.0, COST, slope=cost)
    return replace(LOSSES["zero_one"], matrix=matrix, units=units)
