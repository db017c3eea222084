"""The AUC as a two-sample U-statistic, literally: every learning set, every pair, every deletion.

Nothing here is fast. A learner is a function ``score(L, t)`` of a learning set, a tuple of
observations, and the observation t that is scored; observations are any hashable things.
Positives and negatives are tuples of them. Only NumPy and itertools.
"""

from itertools import combinations

import numpy as np


def psi(score, learning, i, j):
    """Whether the rule learnt on a set ranks the positive i above the negative j; ties half."""
    a, b = score(learning, i), score(learning, j)
    return 1.0 if a > b else 0.5 if a == b else 0.0


def difference(score, other):
    """psi of one learner minus psi of another, or psi alone."""

    def kernel(learning, i, j):
        found = psi(score, learning, i, j)
        return found if other is None else found - psi(other, learning, i, j)

    return kernel


def learning_sets(positives, negatives, g1, g0):
    """All learning sets of g1 positives and g0 negatives, as pairs of tuples."""
    return [(a, b) for a in combinations(positives, g1) for b in combinations(negatives, g0)]


def complete(kernel, positives, negatives, g1, g0):
    """U: the mean over all learning sets and all pairs of a positive and a negative outside."""
    values = [
        kernel(a + b, i, j)
        for a, b in learning_sets(positives, negatives, g1, g0)
        for i in positives
        if i not in a
        for j in negatives
        if j not in b
    ]
    return float(np.mean(values))


def without(items, *left_out):
    """The items but some."""
    return tuple(item for item in items if item not in left_out)


def jackknife(kernel, positives, negatives, g1, g0):
    """J of each class: U computed anew without each observation in turn."""
    found = []
    for c, items in enumerate((positives, negatives)):
        n = len(items)
        left = []
        for i in items:
            rest = [positives, negatives]
            rest[c] = without(items, i)
            left.append(complete(kernel, *rest, g1, g0))
        found.append((n - 1) / n * ((np.array(left) - np.mean(left)) ** 2).sum())
    return tuple(found)


def pair_effects(kernel, positives, negatives, g1, g0):
    """M2 of positives, of negatives and across, by leaving out every two observations.

    Of one class: what is left of U without i and k after an additive fit f_i + f_k; it has two
    observations too few in it, hence the factor. Across: the second difference.
    """
    found = []
    for c, (items, g) in enumerate(((positives, g1), (negatives, g0))):
        n = len(items)
        if n - g < 3:
            found.append(0.0)
            continue
        left, design = [], []
        for a, b in combinations(range(n), 2):
            rest = [positives, negatives]
            rest[c] = without(items, items[a], items[b])
            left.append(complete(kernel, *rest, g1, g0))
            design.append(np.isin(np.arange(n), (a, b)).astype(float))
        fitted = np.array(design) @ np.linalg.lstsq(np.array(design), np.array(left))[0]
        factor = (n - 2) ** 2 * (n - 3) / (n**2 * (n - 1))
        found.append(factor * float(((left - fitted) ** 2).sum()))
    u, n1, n0 = complete(kernel, positives, negatives, g1, g0), len(positives), len(negatives)
    of_first = [complete(kernel, without(positives, i), negatives, g1, g0) for i in positives]
    of_second = [complete(kernel, positives, without(negatives, j), g1, g0) for j in negatives]
    total = sum(
        (complete(kernel, without(positives, i), without(negatives, j), g1, g0) - a - b + u) ** 2
        for i, a in zip(positives, of_first, strict=True)
        for j, b in zip(negatives, of_second, strict=True)
    )
    return (*found, (n1 - 1) / n1 * (n0 - 1) / n0 * total)
