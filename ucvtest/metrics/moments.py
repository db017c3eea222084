"""Functions of means of numbers: R2, correlations, skill, ratios of errors.

The numbers of an observation are computed from its response y and its prediction p. Functions take
means (..., k), complex ones too, by which their gradients are taken: f(x + ih) is f(x) + ih f'(x)
but for h^2, which is nothing for a step far below rounding error (Squire and Trapp 1998).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ucvtest.metrics.means import LOSSES

ROUNDING = 1e-14
"""Variances up to this share of the mean square are rounding error."""

STEP = 1e-30
"""The imaginary step of a gradient, as a share of the mean, which has units."""


def of_squared_error(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The squared error alone."""
    return ((y - p) ** 2)[..., None]


def of_error_and_response(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Squared error, y, y^2; y is centred, because no function of these depends on its origin."""
    error, y = (y - p) ** 2, y - y.mean()
    return np.stack([error, y, y**2], axis=-1)


def of_products(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """y, p, y^2, p^2, y p; the mean of y is subtracted from both."""
    middle = y.mean()
    y, p = y - middle, p - middle
    return np.stack([y, p, y**2, p**2, y * p], axis=-1)


def absolute_and_size(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The absolute error, and the absolute error of predicting 0."""
    return np.stack([np.abs(y - p), np.abs(y)], axis=-1)


def of_log_loss(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The log loss of a probability, and y, which is 0 or 1."""
    return np.stack([LOSSES["log"].function(y, p), y], axis=-1)


def value_and_gradient(
    function: Callable[[np.ndarray], Any], means: np.ndarray
) -> tuple[float, np.ndarray]:
    """A function at means (k,), and its gradient by an imaginary step in each of them."""
    steps = STEP * np.where(means == 0, 1.0, np.abs(means))
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = function(means + 1j * np.diag(steps))
        return float(function(means)), np.imag(moved) / steps


def root(c: np.ndarray) -> Any:
    """The square root of one mean, which has no slope at 0."""
    mean = c[..., 0]
    return np.sqrt(mean) * np.where(np.iscomplex(mean) & (mean.real == 0), np.nan, 1.0)


def explained(c: np.ndarray) -> Any:
    """1 minus the squared error divided by the variance of y: R2, and Brier's skill."""
    return 1 - c[..., 0] / _variance(c[..., 2], c[..., 1])


def ratio(c: np.ndarray) -> Any:
    """The first divided by the second."""
    return c[..., 0] / c[..., 1]


def pearson(c: np.ndarray) -> Any:
    """The correlation of y and p."""
    of_y, of_p = _variance(c[..., 2], c[..., 0]), _variance(c[..., 3], c[..., 1])
    return _covariance(c) / np.sqrt(of_y * of_p)


def concordance(c: np.ndarray) -> Any:
    """Lin's concordance correlation of y and p."""
    return 2 * _covariance(c) / (c[..., 2] + c[..., 3] - 2 * c[..., 0] * c[..., 1])


def log_skill(c: np.ndarray) -> Any:
    """1 minus the log loss over that of predicting the share of the positive class."""
    return 1 - c[..., 0] / _entropy(c[..., 1])


def _entropy(positive_rate: Any) -> Any:
    return -(positive_rate * np.log(positive_rate) + (1 - positive_rate) * np.log1p(-positive_rate))


def _variance(square: Any, mean: Any) -> Any:
    """The variance from the mean square.

    NaN if it is rounding error, as for numbers that are all 3.
    """
    variance = square - mean**2
    return np.where(np.real(variance) > ROUNDING * np.real(square), variance, np.nan)


def _covariance(c: np.ndarray) -> Any:
    return c[..., 4] - c[..., 0] * c[..., 1]


EXPLAINED = of_error_and_response, explained
LOG_SKILL = of_log_loss, log_skill
RMSE = of_squared_error, root
WAPE = absolute_and_size, ratio
PEARSON = of_products, pearson
CCC = of_products, concordance
