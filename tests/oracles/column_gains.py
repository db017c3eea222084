"""The gain of a block of columns over all learning sets, one fit after the other.

U = 1/C(n, g) sum over learning sets L of size g of 1/(n - g) sum over i outside of L of
loss without the block less loss with it.
"""

from itertools import combinations

import numpy as np


def least_squares(X: np.ndarray, y: np.ndarray, x: np.ndarray) -> float:
    """The prediction at x of least squares with an intercept, learnt from X and y."""
    ones = np.ones((len(X), 1))
    coefficients = np.linalg.lstsq(np.hstack([ones, X]), y, rcond=None)[0]
    return float(coefficients[0] + x @ coefficients[1:])


def gain(X: np.ndarray, y: np.ndarray, block: list[int], g: int) -> float:
    """The gain of a block in squared error of least squares."""
    n, kept = len(y), [column for column in range(X.shape[1]) if column not in block]
    differences = []
    for learning in combinations(range(n), g):
        L = list(learning)
        for i in set(range(n)) - set(L):
            without = least_squares(X[np.ix_(L, kept)], y[L], X[i, kept])
            with_block = least_squares(X[L], y[L], X[i])
            differences.append((y[i] - without) ** 2 - (y[i] - with_block) ** 2)
    return float(np.mean(differences))
