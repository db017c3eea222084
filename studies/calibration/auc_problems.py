"""Problems of the calibration study that are about the AUC alone.

True nulls are exact by construction: every point with both labels, or with its halves exchanged and
a learner on each half. Equal learners of unequal strength at every learning-set size cannot be had
so, but for classes that no feature tells apart.
"""

import numpy as np

from studies.calibration.problem import (
    SIMULATED,
    Made,
    both_labels,
    equally_good,
    makers,
    normal_classes,
    problem,
)

OF_AUC = {"loss": "auc", "auc": True}


@problem(101, equal=True, **OF_AUC)
def null_2(rng: np.random.Generator) -> Made:
    """labels independent of two normal features; LDA against nearest centroid"""
    X = rng.normal(size=(SIMULATED // 2, 2)) * [1, 2]
    return *both_labels(X), ("lda", "nearest_centroid")


@problem(102, equal=True, **OF_AUC)
def null_20(rng: np.random.Generator) -> Made:
    """labels independent of 20 normal features; naive Bayes against nearest centroid"""
    X = rng.normal(size=(SIMULATED // 2, 20))
    return *both_labels(X), ("gaussian_nb", "nearest_centroid")


def _equal(rng: np.random.Generator, shift: float) -> Made:
    y = rng.integers(0, 2, SIMULATED // 2)
    X = rng.normal(size=(len(y), 4)) + shift * y[:, None]
    return equally_good("lda", X, y)


@problem(103, equal=True, **OF_AUC)
def auc_equal(rng: np.random.Generator) -> Made:
    """four normal features, medium signal;

    LDA on two of them against the other two, equally good
    """
    return _equal(rng, 0.8)


@problem(104, equal=True, **OF_AUC)
def auc_equal_weak(rng: np.random.Generator) -> Made:
    """four normal features, little signal;

    LDA on two of them against the other two, equally good
    """
    return _equal(rng, 0.3)


@problem(105, **OF_AUC)
def imbalance_20(rng: np.random.Generator) -> Made:
    """classes 20:80, four normal features; LDA against naive Bayes"""
    X, y = normal_classes(rng, [0.9] * 4, [1, 2, 1, 1], 0.2)
    return X, y, ("lda", "gaussian_nb")


@problem(106, **OF_AUC)
def heavy_tails(rng: np.random.Generator) -> Made:
    """four features with three degrees of freedom; LDA against nearest centroid"""
    y = rng.integers(0, 2, SIMULATED)
    X = rng.standard_t(3, size=(SIMULATED, 4)) + 0.8 * y[:, None]
    return X, y, ("lda", "nearest_centroid")


@problem(107, **OF_AUC)
def lognormal(rng: np.random.Generator) -> Made:
    """four lognormal features; ridge against naive Bayes"""
    X, y = normal_classes(rng, [0.6] * 4, 1.0)
    learners = ("ridge:1", "gaussian_nb")
    return np.exp(X), y, learners


@problem(108, **OF_AUC)
def wide(rng: np.random.Generator) -> Made:
    """200 normal features, ten informative; ridge against naive Bayes"""
    X, y = normal_classes(rng, np.r_[np.full(10, 0.5), np.zeros(190)], 1.0)
    learners = ("ridge:100", "gaussian_nb")
    return X[:4000], y[:4000], learners


@problem(109, **OF_AUC)
def strong(rng: np.random.Generator) -> Made:
    """four normal features, AUC near .95; LDA against naive Bayes"""
    X, y = normal_classes(rng, [1.15] * 4, 1.0)
    return X, y, ("lda", "gaussian_nb")


# ------------------------------------- written down before the first run, used for no choice


@problem(151, **OF_AUC, held_out=True)
def held_mixture(rng: np.random.Generator) -> Made:
    """two features, one class on both sides of the other;

    5 nearest neighbours against naive Bayes
    """
    y = rng.integers(0, 2, SIMULATED // 2)
    X = rng.normal(size=(len(y), 2))
    X[:, 0] += 1.6 * rng.choice([-1, 1], len(y)) * y
    return X, y, ("knn:5", "gaussian_nb")


@problem(152, equal=True, **OF_AUC, held_out=True)
def held_equal(rng: np.random.Generator) -> Made:
    """classes 30:70, four Laplace features;

    naive Bayes on two of them against the other two, equally good
    """
    y = (rng.random(SIMULATED // 2) < 0.3).astype(int)
    X = rng.laplace(size=(len(y), 4)) + 0.6 * y[:, None]
    return equally_good("gaussian_nb", X, y)


@problem(153, **OF_AUC, held_out=True)
def held_correlated(rng: np.random.Generator) -> Made:
    """classes 30:70, ten correlated features; ridge against nearest centroid"""
    y = (rng.random(SIMULATED) < 0.3).astype(int)
    X = 0.7 * rng.normal(size=(SIMULATED, 10)) + 0.7 * rng.normal(size=(SIMULATED, 1))
    X += np.linspace(0, 0.8, 10) * y[:, None]
    return X, y, ("ridge:20", "nearest_centroid")


MAKERS = makers(globals())
