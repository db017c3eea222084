"""Estimates over clusters in the notation of the paper: slow, by enumeration of all sets.

Observations are clusters t = 0, ..., G - 1 of rows. L is a learning set of g clusters, S of
m = g + 1; D_L(t) is the loss of cluster t under the rule learnt on the rows of L.
"""

from itertools import combinations, permutations

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


def auc_kernel(score, index, y, sets, weight):
    """h(L; k, t) for every learning set and ordered pair of other clusters, and theta.

    `score` maps the rows learnt from to scores of all rows; k gives positives, t negatives.
    """
    n_clusters = int(index.max()) + 1
    count = {
        (k, c): max(int(((index == k) & (y == c)).sum()), 1)
        for k in range(n_clusters)
        for c in (0, 1)
    }
    psi, pairs = {}, {}
    for learnt in sets:
        s = score(np.isin(index, learnt))
        others = sorted(set(range(n_clusters)) - set(learnt))
        for k in others:
            for t in others:
                positive = np.flatnonzero((index == k) & (y == 1))
                negative = np.flatnonzero((index == t) & (y == 0))
                if k == t or not len(positive) or not len(negative):
                    continue
                w = 1 / (count[k, 1] * count[t, 0]) if weight == "group" else 1.0
                right = [(s[i] > s[j]) + 0.5 * (s[i] == s[j]) for i in positive for j in negative]
                psi[learnt, k, t], pairs[learnt, k, t] = w * sum(right), w * len(right)
    theta = sum(psi.values()) / sum(pairs.values())
    return psi, pairs, theta


def auc_linear_part(psi, pairs, theta, samples):
    """h = theta + (psi - theta C)/mean C of every learning set and unordered pair of others.

    `samples` are the clusters of the one sample, or the positive and the negative ones.
    """
    n_clusters = sum(map(len, samples))
    learnt_sets = sorted({learnt for learnt, _, _ in psi})
    ordered = {}
    for learnt in learnt_sets:
        others = sorted(set(range(n_clusters)) - set(learnt))
        for k, t in combinations(others, 2):
            if len(samples) == 2 and (k in samples[0]) == (t in samples[0]):
                continue
            both = [(learnt, k, t), (learnt, t, k)]
            ordered[learnt, k, t] = [
                sum(part.get(key, 0.0) for key in both) for part in (psi, pairs)
            ]
    mean_count = np.mean([c for _, c in ordered.values()])
    return {key: theta + (p - theta * c) / mean_count for key, (p, c) in ordered.items()}


def auc_jackknife(h, samples):
    """The delete-one jackknife of the linear part of theta, clusters left out in turn."""
    total = 0.0
    for members in samples:
        without = np.array(
            [
                np.mean([v for key, v in h.items() if i not in key[0] and i not in key[1:]])
                for i in members
            ]
        )
        n = len(members)
        total += (n - 1) / n * float(((without - without.mean()) ** 2).sum())
    return total


def auc_of_classes(score, index, y, sets, weight, positive=None):
    """theta and h, averaged over the pairs of three classes, or of one against the other two.

    `score` maps the rows learnt from, and a class, to scores of all rows.
    """
    asked = [(c, [d]) for c, d in permutations(range(3), 2)]
    if positive is not None:
        asked = [(positive, sorted({0, 1, 2} - {positive}))]
    thetas, linear = [], []
    for above, below in asked:
        # 2 is neither ranked above others nor below them.
        labels = np.where(y == above, 1, np.where(np.isin(y, below), 0, 2))
        kernel = auc_kernel(
            lambda rows, above=above: score(rows, above), index, labels, sets, weight
        )
        thetas.append(kernel[2])
        linear.append(auc_linear_part(*kernel, [range(int(index.max()) + 1)]))
    return np.mean(thetas), {key: np.mean([h[key] for h in linear]) for key in linear[0]}
