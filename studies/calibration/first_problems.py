"""The problems that the calibration study began with; defaults were chosen on some."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from studies.calibration.problem import (
    SIMULATED,
    Made,
    both_labels,
    equally_good,
    makers,
    normal_classes,
    problem,
    read_data,
    standardised,
)


@problem(1, equal=True, no_signal=True)
def no_signal(rng: np.random.Generator) -> Made:
    """labels independent of four normal features; LDA against nearest centroid"""
    X = rng.normal(size=(SIMULATED // 2, 4)) * [1, 2, 1, 1]
    learners = ("lda", "nearest_centroid")
    return *both_labels(X), learners


@problem(2, equal=True, small=True)
def equal(rng: np.random.Generator) -> Made:
    """four normal features; least squares on two of them against the other two, equally good"""
    y = rng.integers(0, 2, SIMULATED // 2)
    X = rng.normal(size=(len(y), 4)) + 0.8 * y[:, None]
    return equally_good("ridge:0", X, y)


@problem(3, auc=True)
def weak(rng: np.random.Generator) -> Made:
    """four normal features of equal spread; LDA against nearest centroid"""
    X, y = normal_classes(rng, [0.6] * 4, 1.0)
    return X, y, ("lda", "nearest_centroid")


@problem(12, small=True)
def weak_2(rng: np.random.Generator) -> Made:
    """two normal features; LDA against nearest centroid"""
    X, y = normal_classes(rng, [0.8] * 2, [1, 2])
    return X, y, ("lda", "nearest_centroid")


@problem(13, equal=True, small=True)
def no_signal_2(rng: np.random.Generator) -> Made:
    """labels independent of two normal features; naive Bayes against three nearest neighbours"""
    X = rng.normal(size=(SIMULATED // 2, 2))
    learners = ("gaussian_nb", "knn:3")
    return *both_labels(X), learners


@problem(4, auc=True)
def medium(rng: np.random.Generator) -> Made:
    """four normal features, one with four times the spread; LDA against nearest centroid"""
    X, y = normal_classes(rng, [0.8] * 4, [1, 4, 1, 1])
    return X, y, ("lda", "nearest_centroid")


@problem(5)
def sparse(rng: np.random.Generator) -> Made:
    """200 normal features, ten informative; lasso against nearest centroid"""
    means = np.r_[np.full(10, 0.5), np.zeros(190)]
    X, y = normal_classes(rng, means, 1.0)
    return X[:8000], y[:8000], ("lasso:0.08", "nearest_centroid")


@problem(6, loss="squared")
def ridge(rng: np.random.Generator) -> Made:
    """ten correlated features, normal noise, squared loss; ridge against least squares"""
    X = 0.7 * rng.normal(size=(SIMULATED, 10)) + 0.7 * rng.normal(size=(SIMULATED, 1))
    y = X @ np.linspace(0, 0.4, 10) + rng.normal(size=SIMULATED)
    return X, y, ("ridge:5", "ridge:0")


@problem(7, loss="squared")
def skewed(rng: np.random.Generator) -> Made:
    """five features, log-normal noise, squared loss; ridge against least squares"""
    X = rng.normal(size=(SIMULATED, 5))
    noise = np.exp(0.8 * rng.normal(size=SIMULATED)) - np.exp(0.32)
    y = X @ np.full(5, 0.3) + noise
    return X, y, ("ridge:20", "ridge:0")


@problem(8, auc=True)
def neighbours(rng: np.random.Generator) -> Made:
    """three features that interact; 5 nearest neighbours against LDA"""
    X = rng.normal(size=(SIMULATED // 2, 3))
    logit = 2 * X[:, 0] + 2 * X[:, 1] * X[:, 2]
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-logit))).astype(int)
    return X, y, ("knn:5", "lda")


@problem(9)
def trees(rng: np.random.Generator) -> Made:
    """four features, classes in a corner; a tree of depth 3 against logistic regression"""
    X = rng.normal(size=(SIMULATED // 2, 4))
    y = (rng.random(len(X)) < np.where((X[:, 0] > 0) & (X[:, 1] > -0.5), 0.85, 0.2)).astype(int)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    return X, y, (tree, "logistic:1.0")


@problem(10, auc=True)
def imbalance(rng: np.random.Generator) -> Made:
    """classes 10:90, four normal features; LDA against naive Bayes"""
    X, y = normal_classes(rng, [0.9] * 4, [1, 2, 1, 1], 0.1)
    return X, y, ("lda", "gaussian_nb")


@problem(11, loss="log")
def log_loss(rng: np.random.Generator) -> Made:
    """four normal features, log loss; LDA against ridge logistic regression"""
    X, y = normal_classes(rng, [0.6] * 4, [1, 2, 1, 1])
    return X, y, ("lda", "logistic:0.1")


@problem()
def wdbc() -> Made:
    """WDBC, 569 x 30; naive Bayes against nearest centroid"""
    X, y = load_breast_cancer(return_X_y=True)
    return standardised(X), y, ("gaussian_nb", "nearest_centroid")


@problem(auc=True)
def pima() -> Made:
    """pima, 768 x 8; LDA against naive Bayes"""
    X, y = read_data("pima")
    return standardised(X), y, ("lda", "gaussian_nb")


@problem()
def ionosphere() -> Made:
    """ionosphere, 351 x 33; ridge against 3 nearest neighbours"""
    X, y = read_data("ionosphere")
    X = X[:, X.std(axis=0) > 0]
    return standardised(X), y, ("ridge:10", "knn:3")


@problem(auc=True)
def spambase() -> Made:
    """spambase, 4601 x 57, logarithms; naive Bayes against nearest centroid"""
    X, y = read_data("spambase")
    X = standardised(np.log1p(X))
    return X, y, ("gaussian_nb", "nearest_centroid")


@problem()
def letter() -> Made:
    """letter A-M against N-Z, 20000 x 16; 3 nearest neighbours against nearest centroid"""
    X, y = read_data("letter")
    return standardised(X), (y > "M").astype(int), ("knn:3", "nearest_centroid")


MAKERS = makers(globals())
