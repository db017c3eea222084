"""Right and wrong answers in clusters, in the notation of the papers, row by row."""

import numpy as np
from scipy import stats


def variance(z, groups=None):
    """Variance of the mean of z: of independent rows, or of clusters by the sums of z - mean."""
    z = np.asarray(z, float)
    n, d = len(z), z - z.mean()
    if groups is None:
        return (d @ d) / (n * (n - 1))
    names = np.unique(groups)
    sums = np.array([d[groups == name].sum() for name in names])
    G = len(names)
    return G / (G - 1) * (sums @ sums) / n**2


def korn_graubard(x, groups, alpha, *, score=False):
    """Korn and Graubard (1998): n_e = p(1 - p)/v (t_{n-1}/t_{G-1})^2, from 1 to n; v = 0: G."""
    x = np.asarray(x, float)
    n, p, G = len(x), x.mean(), len(np.unique(groups))
    v = variance(x, groups)
    t = [stats.t.ppf(1 - alpha / 2, df) for df in (n - 1, G - 1)]
    n_e = np.clip(p * (1 - p) / v * (t[0] / t[1]) ** 2, 1, n) if v > 1e-20 else float(G)
    return (wilson if score else clopper_pearson)(p, n_e, alpha)


def clopper_pearson(p, n, alpha):
    """Quantiles of beta distributions; k = n p need not be a whole number."""
    k = n * p
    low = stats.beta.ppf(alpha / 2, k, n - k + 1) if k > 0 else 0.0
    high = stats.beta.ppf(1 - alpha / 2, k + 1, n - k) if k < n else 1.0
    return low, high


def wilson(p, n, alpha):
    """Wilson (1927): all P with (p - P)^2 <= q^2 P(1 - P)/n."""
    q = stats.norm.ppf(1 - alpha / 2)
    roots = np.roots([1 + q**2 / n, -2 * p - q**2 / n, p**2])
    return tuple(np.sort(np.clip(roots.real, 0, 1)))


def one_right_one_wrong(a, b, groups, alpha):
    """Agresti and Min (2005) with clusters: half a row is added to each of four outcomes.

    a and b are 1 where the first, the second rule is wrong. P is the table of outcomes, f(P) the
    difference of the error rates, z' its linear part at P' around 0.
    """
    a, b = np.asarray(a, int), np.asarray(b, int)
    n, G = len(a), len(np.unique(groups))
    P = np.zeros((2, 2))
    np.add.at(P, (a, b), 1 / n)
    weight = np.array([[0.0, -1.0], [1.0, 0.0]])
    added = np.full((2, 2), 0.5)
    z = weight[a, b]
    v = variance(z, groups)
    n_e = np.clip(n * variance(z) / v, 1, n) if v > 1e-20 else float(G)
    Q = (n_e * P + added) / (n_e + added.sum())
    T = (weight * Q).sum()
    z_at_Q = weight - T
    m = n_e + added.sum()
    squares = n_e**2 * variance(z_at_Q[a, b], groups)
    squares += n_e * (P * z_at_Q).sum() ** 2 + (added * z_at_Q**2).sum()
    half = stats.t.ppf(1 - alpha / 2, G - 1) * np.sqrt(squares) / m
    return max(T - half, -1.0), min(T + half, 1.0)
