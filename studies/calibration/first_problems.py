"""The problems that the calibration study began with; defaults were chosen on some."""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from studies.calibration.problem import (
    SEED,
    SIMULATED,
    Problem,
    both_labels,
    equally_good,
    makers,
    normal_classes,
    read_data,
    standardised,
)


def no_signal() -> Problem:
    rng = np.random.default_rng([SEED, 1])
    X = rng.normal(size=(SIMULATED // 2, 4)) * [1, 2, 1, 1]
    words = "labels independent of four normal features; LDA against nearest centroid"
    learners = ("lda", "nearest_centroid")
    return Problem("no_signal", words, *both_labels(X), learners, equal=True, no_signal=True)


def equal_learners() -> Problem:
    rng = np.random.default_rng([SEED, 2])
    y = rng.integers(0, 2, SIMULATED // 2)
    X = rng.normal(size=(len(y), 4)) + 0.8 * y[:, None]
    words = "four normal features; least squares on two of them against the other two, equally good"
    return Problem("equal", words, *equally_good("ridge:0", X, y), equal=True, small=True)


def weak() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 3]), [0.6] * 4, 1.0)
    words = "four normal features of equal spread; LDA against nearest centroid"
    return Problem("weak", words, X, y, ("lda", "nearest_centroid"), auc=True)


def weak_2() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 12]), [0.8] * 2, [1, 2])
    words = "two normal features; LDA against nearest centroid"
    return Problem("weak_2", words, X, y, ("lda", "nearest_centroid"), small=True)


def no_signal_2() -> Problem:
    X = np.random.default_rng([SEED, 13]).normal(size=(SIMULATED // 2, 2))
    about = "labels independent of two normal features"
    words = f"{about}; naive Bayes against three nearest neighbours"
    learners = ("gaussian_nb", "knn:3")
    return Problem("no_signal_2", words, *both_labels(X), learners, equal=True, small=True)


def medium() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 4]), [0.8] * 4, [1, 4, 1, 1])
    words = "four normal features, one with four times the spread; LDA against nearest centroid"
    return Problem("medium", words, X, y, ("lda", "nearest_centroid"), auc=True)


def sparse() -> Problem:
    means = np.r_[np.full(10, 0.5), np.zeros(190)]
    X, y = normal_classes(np.random.default_rng([SEED, 5]), means, 1.0)
    words = "200 normal features, ten of which matter; lasso against nearest centroid"
    return Problem("sparse", words, X[:8000], y[:8000], ("lasso:0.08", "nearest_centroid"))


def ridge_regression() -> Problem:
    rng = np.random.default_rng([SEED, 6])
    X = 0.7 * rng.normal(size=(SIMULATED, 10)) + 0.7 * rng.normal(size=(SIMULATED, 1))
    y = X @ np.linspace(0, 0.4, 10) + rng.normal(size=SIMULATED)
    words = "ten correlated features, normal noise, squared loss; ridge against least squares"
    return Problem("ridge", words, X, y, ("ridge:5", "ridge:0"), loss="squared")


def skewed() -> Problem:
    rng = np.random.default_rng([SEED, 7])
    X = rng.normal(size=(SIMULATED, 5))
    noise = np.exp(0.8 * rng.normal(size=SIMULATED)) - np.exp(0.32)
    y = X @ np.full(5, 0.3) + noise
    words = "five features, log-normal noise, squared loss; ridge against least squares"
    return Problem("skewed", words, X, y, ("ridge:20", "ridge:0"), loss="squared")


def neighbours() -> Problem:
    rng = np.random.default_rng([SEED, 8])
    X = rng.normal(size=(SIMULATED // 2, 3))
    logit = 2 * X[:, 0] + 2 * X[:, 1] * X[:, 2]
    y = (rng.random(len(X)) < 1 / (1 + np.exp(-logit))).astype(int)
    words = "three features that interact; 5 nearest neighbours against LDA"
    return Problem("neighbours", words, X, y, ("knn:5", "lda"), auc=True)


def trees() -> Problem:
    rng = np.random.default_rng([SEED, 9])
    X = rng.normal(size=(SIMULATED // 2, 4))
    y = (rng.random(len(X)) < np.where((X[:, 0] > 0) & (X[:, 1] > -0.5), 0.85, 0.2)).astype(int)
    words = "four features, classes in a corner; a tree of depth 3 against logistic regression"
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    return Problem("trees", words, X, y, (tree, "logistic:1.0"))


def imbalance() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 10]), [0.9] * 4, [1, 2, 1, 1], 0.1)
    words = "classes 10:90, four normal features; LDA against naive Bayes"
    return Problem("imbalance", words, X, y, ("lda", "gaussian_nb"), auc=True)


def log_loss() -> Problem:
    X, y = normal_classes(np.random.default_rng([SEED, 11]), [0.6] * 4, [1, 2, 1, 1])
    words = "four normal features, log loss; LDA against ridge logistic regression"
    return Problem("log_loss", words, X, y, ("lda", "logistic:0.1"), loss="log")


def wdbc() -> Problem:
    X, y = load_breast_cancer(return_X_y=True)
    words = "WDBC, 569 x 30; naive Bayes against nearest centroid"
    return Problem("wdbc", words, standardised(X), y, ("gaussian_nb", "nearest_centroid"))


def pima() -> Problem:
    X, y = read_data("pima")
    words = "pima, 768 x 8; LDA against naive Bayes"
    return Problem("pima", words, standardised(X), y, ("lda", "gaussian_nb"), auc=True)


def ionosphere() -> Problem:
    X, y = read_data("ionosphere")
    words = "ionosphere, 351 x 33; ridge against 3 nearest neighbours"
    X = X[:, X.std(axis=0) > 0]
    return Problem("ionosphere", words, standardised(X), y, ("ridge:10", "knn:3"))


def spambase() -> Problem:
    X, y = read_data("spambase")
    words = "spambase, 4601 x 57, logarithms; naive Bayes against nearest centroid"
    X = standardised(np.log1p(X))
    return Problem("spambase", words, X, y, ("gaussian_nb", "nearest_centroid"), auc=True)


def letter() -> Problem:
    X, y = read_data("letter")
    words = "letter A-M against N-Z, 20000 x 16; 3 nearest neighbours against nearest centroid"
    return Problem(
        "letter", words, standardised(X), (y > "M").astype(int), ("knn:3", "nearest_centroid")
    )


MAKERS = makers(globals())
