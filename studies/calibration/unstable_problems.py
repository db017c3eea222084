"""Error rates of pairs with one unstable learner: its rule changes much with few data.

They were written down, and by a draw (`default_rng([SEED, 400]).permutation` of their four names)
shared out between the problems that advice is derived from and those that it is judged on, before
any test was run on them, after `held_spam` had shown that such pairs decide the value of tests.
"""

import numpy as np

from studies.calibration.problem import SEED, SIMULATED, Problem, makers, normal_classes


def cauchy() -> Problem:
    rng = np.random.default_rng([SEED, 401])
    y = (rng.random(SIMULATED) < 0.5).astype(int)
    X = rng.standard_cauchy(size=(SIMULATED, 4)) + 0.8 * y[:, None]
    words = "four Cauchy features; LDA, led by outliers, against three nearest neighbours"
    return Problem("cauchy", words, X, y, ("lda", "knn:3"))


def strips() -> Problem:
    rng = np.random.default_rng([SEED, 402])
    y = (rng.random(SIMULATED) < 0.5).astype(int)
    side = np.where(rng.random(SIMULATED) < 0.6, 2.0, -2.0)
    X = rng.normal(size=(SIMULATED, 2))
    X[:, 0] += y * side
    words = "one class on both sides of the other; nearest centroid, which takes one side, against "
    return Problem("strips", f"{words}naive Bayes", X, y, ("nearest_centroid", "gaussian_nb"))


def spikes() -> Problem:
    rng = np.random.default_rng([SEED, 403])
    y = (rng.random(SIMULATED) < 0.5).astype(int)
    there = rng.random((SIMULATED, 8)) < np.where(y == 1, 0.3, 0.15)[:, None]
    X = there * np.exp(rng.normal(size=(SIMULATED, 8)))
    words = "eight features that are mostly zero; naive Bayes against ridge"
    return Problem("spikes", words, X, y, ("gaussian_nb", "ridge:1"), held_out=True)


def peaking() -> Problem:
    rng = np.random.default_rng([SEED, 404])
    X, y = normal_classes(rng, np.r_[np.full(10, 0.4), np.zeros(20)], 1.0)
    words = "30 normal features, ten of which matter; ridge with little penalty against nearest "
    return Problem(
        "peaking", f"{words}centroid", X, y, ("ridge:0.01", "nearest_centroid"), held_out=True
    )


MAKERS = makers(globals())
