"""Error rates on populations that no choice of an interval rests on.

They were written down for the study that the interval "stabilised" was decided by, and used for
nothing before that decision.
"""

import numpy as np

from studies.calibration.problem import SEED, SIMULATED, Problem, equally_good, makers, read_data

SPAM_COLUMNS = (51, 52, 54, 55, 15, 20, 24)


def held_spam() -> Problem:
    X, y = read_data("spambase")
    X = np.log1p(10 * X[:, SPAM_COLUMNS])
    words = "spambase, 4601 x 7, logarithms; LDA against naive Bayes, which is unstable"
    learners = ("lda", "gaussian_nb")
    return Problem("held_spam", words, X / X.std(axis=0), y, learners, held_out=True)


def held_tails() -> Problem:
    rng = np.random.default_rng([SEED, 301])
    y = (rng.random(SIMULATED // 2) < 0.35).astype(int)
    X = rng.standard_t(3, size=(len(y), 6)) + 0.6 * y[:, None]
    return Problem(
        "held_tails",
        "classes 35:65, six features with three degrees of freedom; LDA on three of them against "
        "the other three, equally good",
        *equally_good("lda", X, y),
        equal=True,
        held_out=True,
    )


def held_circle() -> Problem:
    rng = np.random.default_rng([SEED, 302])
    X = rng.normal(size=(SIMULATED // 2, 2))
    y = (((X**2).sum(axis=1) > 1.4) ^ (rng.random(len(X)) < 0.1)).astype(int)
    words = "two features, one class in a circle; nearest centroid against the nearest neighbour"
    return Problem("held_circle", words, X, y, ("nearest_centroid", "knn:1"), held_out=True)


MAKERS = makers(globals())
