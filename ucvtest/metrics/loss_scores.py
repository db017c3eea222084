"""scikit-learn's scores that are a constant minus a mean loss, which is computed instead."""

from dataclasses import replace

import numpy as np

from ucvtest.metrics.base import Units
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.means import LOSSES


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

NEGATIVE = {
    "neg_log_loss": LOSSES["log"],
    "neg_brier_score": LOSSES["brier"],
    "neg_mean_squared_error": LOSSES["squared"],
    "neg_mean_absolute_error": LOSSES["absolute"],
    "neg_mean_squared_log_error": OTHER_LOSSES[0],
    "neg_mean_absolute_percentage_error": OTHER_LOSSES[1],
    "neg_mean_poisson_deviance": OTHER_LOSSES[2],
    "neg_mean_gamma_deviance": OTHER_LOSSES[3],
}

SCORES_OF_LOSSES: dict[str, Loss] = {
    "accuracy": replace(LOSSES["zero_one"], units=Units("accuracy", 1.0, "accuracy")),
    **{
        name: replace(loss, units=Units(name, 0.0, f"negative {loss.estimand}"))
        for name, loss in NEGATIVE.items()
    },
}
"""The loss behind each score; the loss remembers the score."""
