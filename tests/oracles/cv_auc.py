"""The AUC of K folds from out-of-fold scores: loops over pairs, and the influence values of them.

E. LeDell, M. Petersen, M. van der Laan (2015), with every pair of a fold counting once ("pairs"),
ties counted one half, n_c/(n_c - 1) for each class, and the mean of the variances of repeats. With
unequal weights w a pair counts w_i w_j.
"""

import numpy as np

__all__ = ["linearised", "of_clusters", "variance", "variance_by_clusters"]


def linearised(y, s, fold, w=None):
    """A = sum psi / sum pairs, and l_i = A + n (N_i - A C_i)/C of one repeat.

    psi_ij = 1{s_i > s_j} + 1/2 1{s_i = s_j} for a positive i and a negative j of one fold; N_i and
    C_i are the sums of psi and the numbers of pairs of observation i.
    """
    n = len(y)
    w = [1.0] * n if w is None else w
    N, C = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(n):
            if y[i] == 1 and y[j] != 1 and fold[i] == fold[j]:
                psi = w[i] * w[j] * ((s[i] > s[j]) + 0.5 * (s[i] == s[j]))
                N[i] += psi
                N[j] += psi
                C[i] += w[i] * w[j]
                C[j] += w[i] * w[j]
    A = N.sum() / C.sum()
    return A, A + n * (N - A * C) / (C.sum() / 2)


def of_clusters(y, s, fold, groups, w=None):
    """For each cluster the sum of psi - A over the pairs that it is in, divided by all pairs.

    A pair within a cluster is one pair, too.
    """
    n, A = len(y), linearised(y, s, fold, w)[0]
    w = [1.0] * n if w is None else w
    sums, C = dict.fromkeys(groups, 0.0), 0.0
    for i in range(n):
        for j in range(n):
            if y[i] == 1 and y[j] != 1 and fold[i] == fold[j]:
                psi = (s[i] > s[j]) + 0.5 * (s[i] == s[j])
                C += w[i] * w[j]
                for g in {groups[i], groups[j]}:
                    sums[g] += w[i] * w[j] * (psi - A)
    return np.array([*sums.values()]) / C


def variance_by_clusters(values):
    """The mean over repeats of the variance of the sum of `values` (R, G), and G - 1."""
    G = values.shape[1]
    return float(G * values.var(axis=1, ddof=1).mean()), G - 1


def variance(y, values):
    """Variance of the mean of l, and Welch's degrees of freedom.

    `values` (R, n) are l, or l of one learner minus those of another, of each repeat; both numbers
    are the means of those of the repeats.
    """
    found = []
    for row in values:
        d, n = row - row.mean(), len(row)
        parts = []
        for label in (1, 0):
            own = d[(np.asarray(y) == 1) == label]
            k = len(own)
            parts.append((k / (k - 1) * (own**2).sum() / n**2, k - 1))
        v = sum(part for part, _ in parts)
        df = v**2 / sum(part**2 / k for part, k in parts)
        found.append((v, min(max(df, 1), n - 2)))
    return tuple(np.mean(found, axis=0))
