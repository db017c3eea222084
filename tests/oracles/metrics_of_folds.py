"""Intervals of metrics of out-of-fold predictions, as the rules are written down: slow, for tests.

P is a table of shares, of (y, prediction) or (y, first, second); rows are pooled over the folds.
"""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
from scipy import stats

Value = Callable[[np.ndarray], float]


def f1(P: np.ndarray) -> float:
    """2 TP / (2 TP + FN + FP) of class 1."""
    return 2 * P[1, 1] / (2 * P[1, 1] + P[1].sum() - P[1, 1] + P[:, 1].sum() - P[1, 1])


def mcc(P: np.ndarray) -> float:
    """Matthews' correlation of C classes."""
    r, c = P.sum(axis=1), P.sum(axis=0)
    return (np.trace(P) - r @ c) / math.sqrt((1 - r @ r) * (1 - c @ c))


def gradient(f: Value, P: np.ndarray, h: float = 1e-5) -> np.ndarray:
    """df/dP, cell by cell, by differences of the fourth order."""
    G = np.zeros(P.shape)
    for cell in product(*map(range, P.shape)):
        E = np.zeros(P.shape)
        E[cell] = h
        G[cell] = (8 * (f(P + E) - f(P - E)) - (f(P + 2 * E) - f(P - 2 * E))) / (12 * h)
    return G


def difference(f: Value) -> Value:
    """Of two learners, as a function of the table of (y, first, second)."""
    return lambda P: f(P.sum(axis=2)) - f(P.sum(axis=1))


def variance(values: list[float], groups: list[int] | None) -> float:
    """Of the mean of values: of rows, or by sums over clusters."""
    n, mean = len(values), float(np.mean(values))
    if groups is None:
        return sum((x - mean) ** 2 for x in values) / (n * (n - 1))
    names = sorted(set(groups))
    sums = [
        sum(x - mean for x, name in zip(values, groups, strict=True) if name == each)
        for each in names
    ]
    return len(names) / (len(names) - 1) * sum(s * s for s in sums) / n**2


def added_rows(C: int, learners: int) -> np.ndarray:
    """Four rows, two of them right, of one learner; two, one of them right, of two."""
    if learners == 1:
        A = np.full((C, C), 2 / (C * (C - 1)))
        A[np.arange(C), np.arange(C)] = 2 / C
        return A
    A = np.zeros((C, C, C))
    for y, a, b in product(range(C), repeat=3):
        A[y, a, b] = 0.5 / C / (1 if a == y else C - 1) / (1 if b == y else C - 1)
    return A


def interval(
    f: Value,
    rows: list[tuple[int, ...]],
    C: int,
    *,
    low: float,
    high: float,
    groups: list[int] | None = None,
    alpha: float = 0.05,
) -> tuple[float, float, float, float]:
    """Estimate, its standard error, and the limits with rows added; `rows` are (y, a) or (y, a, b).

    T' -+ t sqrt(v'), T' = f(P'), P' = (n P + A)/(n + s), l' the gradient at P' centred under P',
    v' = [n^2 v(l') + n (mean of l' under P)^2 + sum A l'^2]/(n + s)^2, n the effective size.
    """
    learners, size = len(rows[0]) - 1, len(rows)
    f = f if learners == 1 else difference(f)
    P = np.zeros((C,) * (learners + 1))
    for row in rows:
        P[row] += 1 / size
    G = gradient(f, P)
    values = [f(P) + G[row] - (P * G).sum() for row in rows]
    n, df = float(size), size - 1
    if groups is not None:
        by_clusters, df = variance(values, groups), len(set(groups)) - 1
        n = min(max(n * variance(values, None) / by_clusters, 1.0), n)
    A = added_rows(C, learners)
    s = A.sum()
    Q = (n * P + A) / (n + s)
    G = gradient(f, Q)
    slopes = G - (Q * G).sum()
    v = (
        n**2 * variance([slopes[row] for row in rows], groups)
        + n * (P * slopes).sum() ** 2
        + (A * slopes**2).sum()
    ) / (n + s) ** 2
    half = stats.t.ppf(1 - alpha / 2, df) * math.sqrt(v)
    return (
        f(P),
        math.sqrt(variance(values, groups)),
        max(f(Q) - half, low),
        min(f(Q) + half, high),
    )


def interval_of_r2(
    y: np.ndarray, predictions: np.ndarray, alpha: float = 0.05
) -> tuple[float, float]:
    """The delete-one jackknife of log(1 - R2), and back."""

    def on_scale(y: np.ndarray, p: np.ndarray) -> float:
        return math.log(((y - p) ** 2).mean() / ((y - y.mean()) ** 2).mean())

    n = len(y)
    left = [on_scale(np.delete(y, i), np.delete(predictions, i)) for i in range(n)]
    se = math.sqrt((n - 1) / n * sum((each - np.mean(left)) ** 2 for each in left))
    middle, half = on_scale(y, predictions), stats.t.ppf(1 - alpha / 2, n - 1) * se
    return 1 - math.exp(middle + half), 1 - math.exp(middle - half)
