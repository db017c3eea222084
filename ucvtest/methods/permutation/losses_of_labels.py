"""Losses of predictions by labels that rows do not have, for losses of any kind."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.data.sample import Sample
from ucvtest.kernels.permutation import generalization
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.matrix import matrix_loss


def losses_by_matrix(
    loss: Loss, sample: Sample, predictions: np.ndarray, labels: np.ndarray, reference: np.ndarray
) -> dict[str, np.ndarray]:
    """`generalization` for any loss, with the same arguments and result."""
    loss_matrix: Any = (
        loss.name if loss.name in ("squared", "absolute", "zero_one") else loss.matrix
    )
    if loss_matrix is None and loss.output == "label":
        loss_matrix = _matrix_of(loss, sample)
    if loss_matrix is not None:
        return generalization(predictions, labels, reference, loss_matrix)
    e_in = _by_function(loss, sample, labels, predictions).mean(axis=1)
    e_out = np.zeros(len(predictions))
    values, counts = np.unique(reference, return_counts=True)
    for value, count in zip(values, counts, strict=True):
        constant_labels = np.full(labels.shape, value)
        e_out += count * _by_function(loss, sample, constant_labels, predictions).mean(axis=1)
    e_out /= len(reference)
    return {"e_in": e_in, "e_out": e_out, "e_gen": e_out - e_in}


def losses_by_labels(
    loss: Loss, sample: Sample, predictions: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """The losses (P, n) of predictions, as a function of the true labels (P, n)."""
    if loss.output == "label" and loss.original_labels:
        loss = matrix_loss(_matrix_of(loss, sample))
    return lambda true: _by_function(loss, sample, true, predictions)


def _matrix_of(loss: Loss, sample: Sample) -> np.ndarray:
    """The loss of every prediction for every class, from the user's function."""
    codes = np.arange(sample.n_classes)
    true, predicted = np.repeat(codes, len(codes)), np.tile(codes, len(codes))
    if loss.original_labels:
        classes = np.asarray(sample.classes)
        true, predicted = classes[true], classes[predicted]
    costs = _finite(loss, loss.function(true, predicted[None]), (1, len(true)))
    return costs.reshape(len(codes), len(codes))


def _by_function(
    loss: Loss, sample: Sample, labels: np.ndarray, predictions: np.ndarray
) -> np.ndarray:
    """Losses (P, n) by the loss function, which receives one long sample.

    Predictions are (P, n), or (P, n, C) for probabilities of several classes.
    """
    # Functions that work in place change copies.
    true, predicted = labels.ravel().copy(), predictions.copy()
    if loss.original_labels and sample.classes is not None:
        true = sample.classes[true.astype(int)]
    loss_values = loss.function(true, predicted.reshape(1, -1, *predicted.shape[2:]))
    return _finite(loss, loss_values, (1, labels.size)).reshape(labels.shape)


def _finite(loss: Loss, loss_values: Any, shape: tuple[int, ...]) -> np.ndarray:
    values = as_numbers(f"the result of loss {loss.name}", loss_values)
    if values.shape != shape:
        raise ValueError(
            f"loss {loss.name} returned shape {values.shape} for predictions of shape {shape}: it "
            "must work element by element on arrays"
        )
    if not np.isfinite(values).all():
        raise ValueError(f"loss {loss.name} returned NaN or infinity: bound it")
    return values
