"""Error rates on populations that no choice of an interval rests on.

They were written down for the study that the interval "stabilised" was decided by, and used for
nothing before that decision.
"""

import numpy as np

from studies.calibration.problem import (
    SIMULATED,
    Made,
    equally_good,
    makers,
    problem,
    read_data,
)

SPAM_COLUMNS = (51, 52, 54, 55, 15, 20, 24)


@problem(held_out=True)
def held_spam() -> Made:
    """spambase, 4601 x 7, logarithms; LDA against naive Bayes, which is unstable"""
    X, y = read_data("spambase")
    X = np.log1p(10 * X[:, SPAM_COLUMNS])
    learners = ("lda", "gaussian_nb")
    return X / X.std(axis=0), y, learners


@problem(301, equal=True, held_out=True)
def held_tails(rng: np.random.Generator) -> Made:
    """classes 35:65, six features with three degrees of freedom;

    LDA on three of them against the other three, equally good
    """
    y = (rng.random(SIMULATED // 2) < 0.35).astype(int)
    X = rng.standard_t(3, size=(len(y), 6)) + 0.6 * y[:, None]
    return equally_good("lda", X, y)


@problem(302, held_out=True)
def held_circle(rng: np.random.Generator) -> Made:
    """two features, one class in a circle; nearest centroid against the nearest neighbour"""
    X = rng.normal(size=(SIMULATED // 2, 2))
    y = (((X**2).sum(axis=1) > 1.4) ^ (rng.random(len(X)) < 0.1)).astype(int)
    return X, y, ("nearest_centroid", "knn:1")


MAKERS = makers(globals())
