"""Problems of the calibration study that are about the AUC alone.

True nulls are exact by construction: every point with both labels, or with its halves exchanged and
a learner on each half. Equal learners of unequal strength at every learning-set size cannot be had
so, but for classes that no feature tells apart.
"""

import numpy as np

from studies.calibration.problem import (
    SEED,
    SIMULATED,
    Problem,
    both_labels,
    equally_good,
    makers,
    normal_classes,
)


def null_2() -> Problem:
    X = np.random.default_rng([SEED, 101]).normal(size=(SIMULATED // 2, 2)) * [1, 2]
    return Problem(
        "null_2",
        "labels independent of two normal features; LDA against nearest centroid",
        *both_labels(X),
        ("lda", "nearest_centroid"),
        loss="auc",
        equal=True,
        auc=True,
    )


def null_20() -> Problem:
    X = np.random.default_rng([SEED, 102]).normal(size=(SIMULATED // 2, 20))
    return Problem(
        "null_20",
        "labels independent of 20 normal features; naive Bayes against nearest centroid",
        *both_labels(X),
        ("gaussian_nb", "nearest_centroid"),
        loss="auc",
        equal=True,
        auc=True,
    )


def _equal(name: str, number: int, shift: float, words: str) -> Problem:
    rng = np.random.default_rng([SEED, number])
    y = rng.integers(0, 2, SIMULATED // 2)
    X = rng.normal(size=(len(y), 4)) + shift * y[:, None]
    return Problem(
        name,
        f"four normal features, {words}; LDA on two of them against the other two, equally good",
        *equally_good("lda", X, y),
        loss="auc",
        equal=True,
        auc=True,
    )


def auc_equal() -> Problem:
    return _equal("auc_equal", 103, 0.8, "medium signal")


def auc_equal_weak() -> Problem:
    return _equal("auc_equal_weak", 104, 0.3, "little signal")


def imbalance_20() -> Problem:
    rng = np.random.default_rng([SEED, 105])
    X, y = normal_classes(rng, [0.9] * 4, [1, 2, 1, 1], 0.2)
    words = "classes 20:80, four normal features; LDA against naive Bayes"
    return Problem("imbalance_20", words, X, y, ("lda", "gaussian_nb"), loss="auc", auc=True)


def heavy_tails() -> Problem:
    rng = np.random.default_rng([SEED, 106])
    y = rng.integers(0, 2, SIMULATED)
    X = rng.standard_t(3, size=(SIMULATED, 4)) + 0.8 * y[:, None]
    words = "four features with three degrees of freedom; LDA against nearest centroid"
    return Problem("heavy_tails", words, X, y, ("lda", "nearest_centroid"), loss="auc", auc=True)


def lognormal() -> Problem:
    rng = np.random.default_rng([SEED, 107])
    X, y = normal_classes(rng, [0.6] * 4, 1.0)
    words = "four lognormal features; ridge against naive Bayes"
    learners = ("ridge:1", "gaussian_nb")
    return Problem("lognormal", words, np.exp(X), y, learners, loss="auc", auc=True)


def wide() -> Problem:
    rng = np.random.default_rng([SEED, 108])
    X, y = normal_classes(rng, np.r_[np.full(10, 0.5), np.zeros(190)], 1.0)
    words = "200 normal features, ten of which matter; ridge against naive Bayes"
    learners = ("ridge:100", "gaussian_nb")
    return Problem("wide", words, X[:4000], y[:4000], learners, loss="auc", auc=True)


def strong() -> Problem:
    rng = np.random.default_rng([SEED, 109])
    X, y = normal_classes(rng, [1.15] * 4, 1.0)
    words = "four normal features, AUC near .95; LDA against naive Bayes"
    return Problem("strong", words, X, y, ("lda", "gaussian_nb"), loss="auc", auc=True)


# ------------------------------------- written down before the first run, used for no choice


def held_mixture() -> Problem:
    rng = np.random.default_rng([SEED, 151])
    y = rng.integers(0, 2, SIMULATED // 2)
    X = rng.normal(size=(len(y), 2))
    X[:, 0] += 1.6 * rng.choice([-1, 1], len(y)) * y
    return Problem(
        "held_mixture",
        "two features, one class on both sides of the other; 5 nearest neighbours against naive "
        "Bayes",
        X,
        y,
        ("knn:5", "gaussian_nb"),
        loss="auc",
        auc=True,
        held_out=True,
    )


def held_equal() -> Problem:
    rng = np.random.default_rng([SEED, 152])
    y = (rng.random(SIMULATED // 2) < 0.3).astype(int)
    X = rng.laplace(size=(len(y), 4)) + 0.6 * y[:, None]
    return Problem(
        "held_equal",
        "classes 30:70, four Laplace features; naive Bayes on two of them against the other two, "
        "equally good",
        *equally_good("gaussian_nb", X, y),
        loss="auc",
        equal=True,
        auc=True,
        held_out=True,
    )


def held_correlated() -> Problem:
    rng = np.random.default_rng([SEED, 153])
    y = (rng.random(SIMULATED) < 0.3).astype(int)
    X = 0.7 * rng.normal(size=(SIMULATED, 10)) + 0.7 * rng.normal(size=(SIMULATED, 1))
    X += np.linspace(0, 0.8, 10) * y[:, None]
    return Problem(
        "held_correlated",
        "classes 30:70, ten correlated features; ridge against nearest centroid",
        X,
        y,
        ("ridge:20", "nearest_centroid"),
        loss="auc",
        auc=True,
        held_out=True,
    )


MAKERS = makers(globals())
