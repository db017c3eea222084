"""Simulations with a known answer: populations to draw from, and what losses on them are."""

import math

import numpy as np

from studies.simulate.folds import (  # noqa: F401
    FoldCovarianceSimulation,
    fold_covariance,
    hold_out,
)
from studies.simulate.many_samples import Sampler


def normal_classes(
    n_negative: int,
    n_positive: int,
    n_features: int,
    shift: float,
    *,
    rng: int | np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes with identity covariance matrices, as in section 4 of Yousef's paper.

    Means are zero in the class with label 0, which comes first, and `shift` in the other one.
    """
    y = np.repeat([0, 1], [n_negative, n_positive])
    X = np.random.default_rng(rng).normal(size=(len(y), n_features))
    return X + shift * y[:, None], y


def regression_sampler(n_features: int = 30, outlier_share: float = 0.0) -> Sampler:
    """Sampler of the linear regression of Bengio and Grandvalet's experiments 5.1 and 5.2.

    Normal features, and a response that their sum explains with an R^2 of 3/4. A share of the
    observations, 1 - p, which is 0.05 in the paper, has features and errors with ten times the
    standard deviation of the others. Without outliers y = sqrt(3/d) sum(x) + error of variance 1;
    with them both are divided by the root of p + 100 (1 - p), the mean variance of a feature.
    """
    unit = math.sqrt(1 + 99 * outlier_share)
    slope = math.sqrt(3 / n_features) / unit

    def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        scale = np.where(rng.random(n) < outlier_share, 10.0, 1.0)
        X = rng.normal(size=(n, n_features)) * scale[:, None]
        return X, slope * X.sum(axis=1) + rng.normal(size=n) * scale / unit

    return sampler


def population_sampler(X: np.ndarray, y: np.ndarray) -> Sampler:
    """Sampler that takes a data set for the population and draws from it with replacement."""

    def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        rows = rng.integers(len(X), size=n)
        return X[rows], y[rows]

    return sampler
