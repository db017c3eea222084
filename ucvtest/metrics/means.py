"""Losses by name: the cost of a prediction, averaged over observations."""

from dataclasses import replace

import numpy as np

from ucvtest.common.words import arg
from ucvtest.metrics.base import Units
from ucvtest.metrics.loss import Loss

LOG = "log"

CERTAIN_AND_WRONG = "certain_and_wrong"
"""The count of predictions whose log loss would be infinite."""

MOST_LOG_LOSS = -float(np.log(np.finfo(float).eps))
"""The log loss where the probability of what happened is 0."""


def _zero_one(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    # A prediction half-way between two classes is an undecided tie: it costs 1/2.
    undecided = prediction != np.floor(prediction)
    return np.where(undecided, 0.5, (prediction != y).astype(float))


def _squared(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return (prediction - y) ** 2


def _absolute(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.abs(prediction - y)


def _log(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    # The smallest positive step below 1 keeps a certain but wrong prediction finite (36.0).
    tiny = np.finfo(float).eps
    probability = np.clip(prediction, tiny, 1 - tiny)
    return -np.where(y == 1, np.log(probability), np.log1p(-probability))


def _log_of_several(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    tiny = np.finfo(float).eps
    true = np.broadcast_to(y.astype(int)[:, None], (*prediction.shape[:2], 1))
    probability = np.take_along_axis(prediction, true, axis=2)[..., 0]
    log_loss: np.ndarray = -np.log(np.clip(probability, tiny, 1 - tiny))
    return log_loss


def _brier_of_several(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    observed = y.astype(int)[:, None] == np.arange(prediction.shape[2])
    return ((prediction - observed) ** 2).sum(axis=2)


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("zero_one", _zero_one, "label", estimand="error rate", bounds=(0.0, 1.0)),
        Loss("squared", _squared, "number", estimand="mean squared error"),
        Loss("absolute", _absolute, "number", estimand="mean absolute error"),
        Loss(LOG, _log, "probability", estimand="log loss"),
        Loss("brier", _squared, "probability", estimand="Brier score", bounds=(0.0, 1.0)),
    )
}

OF_SEVERAL = {
    loss.name: loss
    for loss in (
        Loss("log", _log_of_several, "probability", estimand="log loss"),
        Loss("brier", _brier_of_several, "probability", estimand="Brier score", bounds=(0.0, 2.0)),
    )
}
"""Losses of the probabilities of more than two classes, (R, n, C)."""


def for_classes(loss: Loss, n_classes: int) -> Loss:
    """The same loss for this number of classes.

    Raises
    ------
    ValueError
        If it scores the probability of one of two classes, and there are more.
    """
    loss_without_units = replace(loss, units=None)
    if loss.output != "probability" or n_classes <= 2 or loss_without_units in OF_SEVERAL.values():
        return loss
    if loss_without_units != LOSSES.get(loss.name):
        raise ValueError(
            f"{arg('loss', loss.name)} scores the probability of one of two classes, but y has "
            f"{n_classes}: use {arg('loss', 'log', 'brier')}, or merge classes"
        )
    loss_of_several = OF_SEVERAL[loss.name]
    return loss_of_several if loss.units is None else replace(loss_of_several, units=loss.units)


def certain_and_wrong(log_losses: np.ndarray) -> dict[str, int]:
    """The count of log losses that would be infinite; empty if none would."""
    number = int(np.count_nonzero(log_losses >= MOST_LOG_LOSS - 1e-9))
    return {CERTAIN_AND_WRONG: number} if number else {}


def _squared_log(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    _check_above(-1, "mean squared log error", y=y, predictions=prediction)
    return (np.log1p(y) - np.log1p(prediction)) ** 2


def _relative(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.abs(prediction - y) / np.maximum(np.abs(y), np.finfo(float).eps)


def _poisson(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    from scipy.special import xlogy

    _check_above(0, "mean Poisson deviance", or_equal=True, y=y)
    _check_above(0, "mean Poisson deviance", predictions=prediction)
    return 2 * (xlogy(y, y / prediction) - y + prediction)


def _gamma(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    _check_above(0, "mean gamma deviance", y=y, predictions=prediction)
    return 2 * (np.log(prediction / y) + y / prediction - 1)


def _check_above(
    limit: float, in_words: str, *, or_equal: bool = False, **numbers: np.ndarray
) -> None:
    """Refuse numbers for which a loss is not defined; two wrong signs would cancel in a ratio."""
    for name, values in numbers.items():
        least = float(values.min())
        if least < limit or (least == limit and not or_equal):
            raise ValueError(
                f"the {in_words} needs {name} {'of at least' if or_equal else 'above'} {limit:g}, "
                f"got {least:.6g}: use 'neg_mean_squared_error', or correct the {name}"
            )


OTHER_LOSSES = (
    Loss("squared_log", _squared_log, "number", estimand="mean squared log error"),
    Loss("relative", _relative, "number", estimand="mean absolute percentage error"),
    Loss("poisson", _poisson, "number", estimand="mean Poisson deviance"),
    Loss("gamma", _gamma, "number", estimand="mean gamma deviance"),
)

LOSSES_OF_SKLEARN = {
    loss.estimand.lower().replace(" ", "_"): loss
    for loss in (*LOSSES.values(), *OTHER_LOSSES)
    if loss.output != "label"
}
"""Losses by the names in scikit-learn, which are their words: "mean_squared_error"."""

SCORES_OF_LOSSES: dict[str, Loss] = {
    "accuracy": replace(LOSSES["zero_one"], units=Units("accuracy", 1.0, "accuracy")),
    **{
        f"neg_{name}": replace(loss, units=Units(f"neg_{name}", 0.0, f"negative {loss.estimand}"))
        for name, loss in LOSSES_OF_SKLEARN.items()
    },
}
"""The loss behind each score; the loss remembers the score."""
