"""Functions of means of numbers, and their gradients: R2, correlations, skill, ratios of errors.

The numbers of an observation are computed from its response y and its prediction p. Functions take
means (..., k); gradients take means (k,).
"""

from typing import Any

import numpy as np

from ucvtest.metrics.means import LOSSES

ROUNDING = 1e-14
"""Variances up to this share of the mean square are rounding error."""


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


def root(c: np.ndarray) -> Any:
    """The square root of one mean."""
    return np.sqrt(c[..., 0])


def gradient_of_root(c: np.ndarray) -> np.ndarray:
    """The gradient of `root`; it does not exist at 0."""
    return np.array([0.5 / np.sqrt(c[0]) if c[0] > 0 else np.nan])


def explained(c: np.ndarray) -> Any:
    """1 minus the squared error divided by the variance of y: R2, and Brier's skill."""
    return 1 - c[..., 0] / _variance(c[..., 2], c[..., 1])


def gradient_of_explained(c: np.ndarray) -> np.ndarray:
    """The gradient of `explained`."""
    error, mean, square = c
    variance = square - mean**2
    return np.array([-1.0, -2 * mean * error / variance, error / variance]) / variance


def ratio(c: np.ndarray) -> Any:
    """The first divided by the second."""
    return c[..., 0] / c[..., 1]


def gradient_of_ratio(c: np.ndarray) -> np.ndarray:
    """The gradient of `ratio`."""
    return np.array([1.0, -c[0] / c[1]]) / c[1]


def pearson(c: np.ndarray) -> Any:
    """The correlation of y and p."""
    of_y, of_p = _variance(c[..., 2], c[..., 0]), _variance(c[..., 3], c[..., 1])
    return _covariance(c) / np.sqrt(of_y * of_p)


def gradient_of_pearson(c: np.ndarray) -> np.ndarray:
    """The gradient of `pearson`."""
    of_y, of_p, r = c[2] - c[0] ** 2, c[3] - c[1] ** 2, pearson(c)
    size = np.sqrt(of_y * of_p)
    by_means = [-c[1] / size + r * c[0] / of_y, -c[0] / size + r * c[1] / of_p]
    return np.array([*by_means, -r / (2 * of_y), -r / (2 * of_p), 1 / size])


def concordance(c: np.ndarray) -> Any:
    """Lin's concordance correlation of y and p."""
    return 2 * _covariance(c) / (c[..., 2] + c[..., 3] - 2 * c[..., 0] * c[..., 1])


def gradient_of_concordance(c: np.ndarray) -> np.ndarray:
    """The gradient of `concordance`."""
    value, squared_scale = concordance(c), c[2] + c[3] - 2 * c[0] * c[1]
    return (
        np.array([-2 * c[1] * (1 - value), -2 * c[0] * (1 - value), -value, -value, 2])
        / squared_scale
    )


def log_skill(c: np.ndarray) -> Any:
    """1 minus the log loss over that of predicting the share of the positive class."""
    return 1 - c[..., 0] / _entropy(c[..., 1])


def gradient_of_log_skill(c: np.ndarray) -> np.ndarray:
    """The gradient of `log_skill`."""
    loss, positive_rate = c
    entropy = _entropy(positive_rate)
    return np.array([-1.0, loss / entropy * np.log((1 - positive_rate) / positive_rate)]) / entropy


def _entropy(positive_rate: Any) -> Any:
    return -(positive_rate * np.log(positive_rate) + (1 - positive_rate) * np.log1p(-positive_rate))


def _variance(square: Any, mean: Any) -> Any:
    """The variance from the mean square.

    NaN if it is rounding error, as for numbers that are all 3.
    """
    variance = square - mean**2
    return np.where(variance > ROUNDING * square, variance, np.nan)


def _covariance(c: np.ndarray) -> Any:
    return c[..., 4] - c[..., 0] * c[..., 1]
