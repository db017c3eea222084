"""Estimates over clusters in the notation of the paper: slow, by enumeration of all sets.

Observations are clusters t = 0, ..., G - 1 of rows. L is a learning set of g clusters, S of
m = g + 1; D_L(t) is the loss of cluster t under the rule learnt on the rows of L.
"""

from itertools import combinations

import numpy as np


def cluster_losses(loss_of_rows, index, g):
    """Sums S_t(L) of the losses of rows, for every L and t outside it: {(L, t): sum}."""
    n_clusters = int(index.max()) + 1
    found = {}
    for learnt in combinations(range(n_clusters), g):
        losses = loss_of_rows(np.isin(index, learnt))
        for t in set(range(n_clusters)) - set(learnt):
            found[learnt, t] = float(losses[index == t].sum())
    return found


def kernel(sums, index, g, weight):
    """Phi_0(S) for every S, and the estimate."""
    sizes = np.bincount(index)
    mean_size = sizes.mean()
    if weight == "group":
        values = {(learnt, t): total / sizes[t] for (learnt, t), total in sums.items()}
    else:
        # theta and the mean size are those of the sample.
        theta = np.mean(list(sums.values())) / mean_size
        values = {
            (learnt, t): theta + (total - theta * sizes[t]) / mean_size
            for (learnt, t), total in sums.items()
        }
    phi = {
        chosen: np.mean([values[tuple(sorted(set(chosen) - {t})), t] for t in chosen])
        for chosen in combinations(range(len(sizes)), g + 1)
    }
    return phi, float(np.mean(list(phi.values())))


def jackknife(phi, n_clusters):
    """The delete-one jackknife variance: every cluster is left out in turn."""
    without = [np.mean([v for s, v in phi.items() if i not in s]) for i in range(n_clusters)]
    full = np.mean(list(phi.values()))
    return (n_clusters - 1) / n_clusters * float(((np.array(without) - full) ** 2).sum())


def unbiased(phi):
    """The squared estimate less the mean product of Phi_0 over disjoint sets S and S'."""
    products = [a * b for s, a in phi.items() for t, b in phi.items() if not set(s) & set(t)]
    return float(np.mean(list(phi.values())) ** 2 - np.mean(products))
