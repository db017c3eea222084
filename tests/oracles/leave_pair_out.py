"""Pahikkala et al. (2025) in the notation of the paper, and brute force; slow on purpose."""

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


def words(n, w):
    """S(n, w): all binary words of length n with w ones."""
    found = np.zeros((comb(n, w), n), dtype=bool)
    for row, ones in enumerate(combinations(range(n), w)):
        found[row, list(ones)] = True
    return found


def pair_errors(X, B, score):
    """k(i, j) of (4) for every pair with B_i = 1 and B_j = 0, 1 for an error, 1/2 for a tie.

    score(X_train, y_train, X_test) returns the scores of the two held-out observations.
    """
    found = {}
    for i in np.flatnonzero(B):
        for j in np.flatnonzero(~B):
            rest = np.ones(len(B), dtype=bool)
            rest[[i, j]] = False
            first, second = score(X[rest], B[rest].astype(int), X[[i, j]])
            found[int(i), int(j)] = (1.0 - np.sign(first - second)) / 2
    return found


def n_errors(X, B, score):
    """W: the sum of k over all pairs."""
    return sum(pair_errors(X, B, score).values())


@cache
def wilcoxon_words(W, n, w):
    """Q(W, n, w) of (9): labelings on which a fixed function has at most W errors."""
    if W < 0:
        return 0
    if w * (n - w) <= W:
        return comb(n, w)
    if w == 1 or n - w == 1:
        return W + 1
    return wilcoxon_words(W, n - 1, w) + wilcoxon_words(W - n + w, n - 1, w - 1)


def johnson_edges(n, w):
    """Pairs of words of S(n, w) at Hamming distance 2."""
    all_words = words(n, w)
    common = all_words.astype(int) @ all_words.T.astype(int)
    return np.argwhere(np.triu(common == w - 1, 1))


@cache
def largest_light_code(W, n, w):
    """L(W, n, w) by integer programming.

    Which words are in the code is binary. Every edge between two of them leaves one of them, in
    parts if need be: by the integrality of flows with whole capacities that is no relaxation.
    All words look the same, so the first one may be taken for granted.
    """
    edges, n_words = johnson_edges(n, w), comb(n, w)
    n_edges = len(edges)
    rows = np.arange(n_edges)
    directed = np.zeros((n_edges, n_words + 2 * n_edges))
    leaving = np.zeros((n_words, n_words + 2 * n_edges))
    for end in (0, 1):
        directed[rows, n_words + end * n_edges + rows] = 1
        directed[rows, edges[:, end]] = -1
        leaving[edges[:, end], n_words + end * n_edges + rows] = 1
    lower = np.zeros(n_words + 2 * n_edges)
    lower[0] = 1
    found = milp(
        np.concatenate([-np.ones(n_words), np.zeros(2 * n_edges)]),
        constraints=[LinearConstraint(directed, lb=-1), LinearConstraint(leaving, ub=W)],
        integrality=np.concatenate([np.ones(n_words), np.zeros(2 * n_edges)]),
        bounds=Bounds(lower, 1),
    )
    assert found.status == 0, found.message
    return round(-found.fun)
