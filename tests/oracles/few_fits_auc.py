"""The variance of an AUC from few fits, in the notation of its derivation: sums written out."""

from itertools import product

import numpy as np


def psi(scores, i, j):
    """Whether i is ranked above j, ties by half."""
    return float(scores[i] > scores[j]) + 0.5 * float(scores[i] == scores[j])


def few_fits_of_auc(scores, rounds, classes):
    """Estimate, variance, noise E and degrees of freedom of a sum of AUCs.

    `scores[s][r][j][t]` with sign s at t of the rule learnt on the set `rounds[r][j]`, the sets
    of a round disjoint; `classes` are the positives and the negatives.
    """
    n_rounds, q = len(rounds), len(rounds[0])
    sets = list(product(range(n_rounds), range(q)))
    phi, placed = np.zeros((n_rounds, q)), {}
    for r, j in sets:
        first, second = ([i for i in c if i not in rounds[r][j]] for c in classes)
        table = {}
        for i, k in product(first, second):
            table[i, k] = sum(sign * psi(each[r][j], i, k) for sign, each in scores.items())
        phi[r, j] = np.mean(list(table.values()))
        for i in first:
            placed[r, j, i] = np.mean([table[i, k] for k in second])
        for k in second:
            placed[r, j, k] = np.mean([table[i, k] for i in first])

    f = n_rounds * (q - 1) - 1
    known = np.zeros((n_rounds, q))
    parts = []
    for c in classes:
        n = len(c)
        g = len(set(c) & set(rounds[0][0]))
        m = g + 1
        y = {}
        for r, i in product(range(n_rounds), c):
            y[r, i] = np.mean([placed[r, j, i] for j in range(q) if i not in rounds[r][j]])
        u = [np.mean([y[r, i] for i in c]) for r in range(n_rounds)]
        delta = {i: np.mean([y[r, i] for r in range(n_rounds)]) for i in c}
        x = {i: delta[i] - np.mean(list(delta.values())) for i in c}
        ms = sum((y[r, i] - u[r] - x[i]) ** 2 for r, i in product(range(n_rounds), c))
        ms /= (n_rounds - 1) * (n - 1)
        a0 = sum(one**2 for one in x.values()) / (n * (n - 1))
        omega = g * n / (n - g) ** 2
        parts.append(
            {
                "n": n,
                "a": max(a0 - ms / (n_rounds * n), a0 / 5),
                "omega": omega,
                "nu": omega * ms / (n * (n_rounds - 1)),
                "k": g / (n - m),
                "kappa": (g * (n - g) / (n - m)) ** 2 / (g * n),
            }
        )
        for r, j in sets:
            others = {i: (n_rounds * delta[i] - y[r, i]) / (n_rounds - 1) for i in c}
            tested = [i for i in c if i not in rounds[r][j]]
            known[r, j] += np.mean([others[i] for i in tested]) - np.mean(list(others.values()))

    fits = (phi - phi.mean(axis=1, keepdims=True)).ravel()
    expected = (known - known.mean(axis=1, keepdims=True)).ravel()
    slope = np.dot(expected, fits) / np.dot(expected, expected)
    s2 = sum((one - slope * by) ** 2 for one, by in zip(fits, expected, strict=True)) / f
    nu = sum(p["nu"] for p in parts)
    s2 = max(s2 - slope**2 * nu, s2 / 5)
    signal = sum(p["omega"] * p["a"] for p in parts)
    gamma = slope / max(signal / (signal + nu), 1 / 2)
    t0 = sum(p["a"] * (1 - (gamma - 1) * p["k"]) ** 2 for p in parts)
    s = max(p["kappa"] for p in parts) * s2
    u = phi.mean(axis=1)
    e = sum((one - u.mean()) ** 2 for one in u) / (n_rounds - 1)
    n = sum(p["n"] for p in parts)
    w = min(max(n / 300, 1 / 3), 1)
    v = max(t0 - s / f, t0 / 2) + (1 - w) * max(s - e, 0) + w * s**2 / (s + e)
    total = sum(p["a"] for p in parts)
    welch = total**2 / sum(p["a"] ** 2 / (p["n"] - 1) for p in parts)
    df = 1 / (1 / welch + (1 - (t0 / (t0 + s)) ** 2) / f)
    return u.mean(), v, e, df, t0 + s
