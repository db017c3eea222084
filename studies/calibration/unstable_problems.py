"""Error rates of pairs with one unstable learner: its rule changes much with few data.

They were written down, and by a draw (`default_rng([SEED, 400]).permutation` of their four names)
shared out between the problems that advice is derived from and those that it is judged on, before
any test was run on them, after `held_spam` had shown that such pairs decide the value of tests.
"""

import numpy as np

from studies.calibration.problem import SIMULATED, Made, makers, normal_classes, problem


@problem(401)
def cauchy(rng: np.random.Generator) -> Made:
    """four Cauchy features; LDA, led by outliers, against three nearest neighbours"""
    y = (rng.random(SIMULATED) < 0.5).astype(int)
    X = rng.standard_cauchy(size=(SIMULATED, 4)) + 0.8 * y[:, None]
    return X, y, ("lda", "knn:3")


@problem(402)
def strips(rng: np.random.Generator) -> Made:
    """one class on both sides of the other;

    nearest centroid, which takes one side, against naive Bayes
    """
    y = (rng.random(SIMULATED) < 0.5).astype(int)
    side = np.where(rng.random(SIMULATED) < 0.6, 2.0, -2.0)
    X = rng.normal(size=(SIMULATED, 2))
    X[:, 0] += y * side
    return X, y, ("nearest_centroid", "gaussian_nb")


@problem(403, held_out=True)
def spikes(rng: np.random.Generator) -> Made:
    """eight features that are mostly zero; naive Bayes against ridge"""
    y = (rng.random(SIMULATED) < 0.5).astype(int)
    there = rng.random((SIMULATED, 8)) < np.where(y == 1, 0.3, 0.15)[:, None]
    X = there * np.exp(rng.normal(size=(SIMULATED, 8)))
    return X, y, ("gaussian_nb", "ridge:1")


@problem(404, held_out=True)
def peaking(rng: np.random.Generator) -> Made:
    """30 normal features, ten informative;

    ridge with little penalty against nearest centroid
    """
    X, y = normal_classes(rng, np.r_[np.full(10, 0.4), np.zeros(20)], 1.0)
    return X, y, ("ridge:0.01", "nearest_centroid")


MAKERS = makers(globals())
