"""Samplers that simulations draw from: a population that is given, and a linear regression."""

import math
from typing import Any

import numpy as np

from studies.simulate.many_samples import Sampler
from ucvtest.common.arrays import as_array
from ucvtest.common.checks import as_integer, check_number


def regression_sampler(n_features: int = 30, outlier_share: float = 0.0) -> Sampler:
    """Sampler of the linear regression of experiments 5.1 and 5.2.

    Parameters
    ----------
    n_features : int
        d.
    outlier_share : float
        Share 1 - p of observations whose features and errors have ten times the standard
        deviation of the others; the paper's is 0.05.

    Returns
    -------
    callable
        ``sampler(rng, n)``: normal features, and a response that their sum explains with an
        R^2 of 3/4.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Bengio and Grandvalet (2005). Without outliers y = sqrt(3/d) sum(x) + error of variance 1;
    with them both are divided by the root of p + 100 (1 - p), the mean variance of a feature.

    Examples
    --------
    >>> import numpy as np
    >>> from studies import simulate
    >>> X, y = simulate.regression_sampler(5)(np.random.default_rng(0), 7)
    >>> X.shape, y.shape
    ((7, 5), (7,))
    """
    if as_integer("n_features", n_features) < 1:
        raise ValueError(f"n_features must be at least 1, got {n_features}")
    check_number("outlier_share", outlier_share, low=0, high=1)
    unit = math.sqrt(1 + 99 * outlier_share)
    slope = math.sqrt(3 / n_features) / unit

    def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        scale = np.where(rng.random(n) < outlier_share, 10.0, 1.0)
        X = rng.normal(size=(n, n_features)) * scale[:, None]
        return X, slope * X.sum(axis=1) + rng.normal(size=n) * scale / unit

    return sampler


def population_sampler(X: Any, y: Any) -> Sampler:
    """Sampler that takes a data set for the population and draws from it with replacement.

    Parameters
    ----------
    X : array, shape (N, p)
    y : array, shape (N,)

    Returns
    -------
    callable
        ``sampler(rng, n)``.

    Raises
    ------
    ValueError
        If lengths differ.

    Examples
    --------
    >>> import numpy as np
    >>> from studies import simulate
    >>> sampler = simulate.population_sampler(np.eye(3), np.array([0, 1, 1]))
    >>> X, y = sampler(np.random.default_rng(0), 5)
    >>> X.shape
    (5, 3)
    """
    features, response = as_array("X", X), as_array("y", y)
    if features.ndim != 2 or response.shape != features.shape[:1]:
        raise ValueError(
            f"X and y must have shapes (N, p) and (N,), got {features.shape} and {response.shape}"
        )

    def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        row_numbers = rng.integers(len(features), size=n)
        return features[row_numbers], response[row_numbers]

    return sampler
