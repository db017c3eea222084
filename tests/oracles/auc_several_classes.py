"""The AUC of several classes as a U-statistic, literally: every learning set, pair and deletion.

Nothing here is fast. A learner is a function ``score(L, t)`` of a learning set, a tuple of
observations, and the observation t that is scored: it returns one score for each class. Classes are
tuples of observations, which are any hashable things. Only NumPy and itertools.
"""

from itertools import combinations, product
from statistics import fmean

import numpy as np

from tests.oracles.auc_ustatistic import without


def h(a, b):
    """Whether a score is above another; ties half."""
    return 1.0 if a > b else 0.5 if a == b else 0.0


def of_rule(score, learning, classes, tested):
    """Hand and Till (2001), equations 3 and 7: A(c|d) for all pairs, both ways, and their mean."""
    scores = {i: score(learning, i) for items in tested for i in items}
    found = []
    for c, d in combinations(range(len(classes)), 2):
        pairs = [(i, j) for i in tested[c] for j in tested[d]]
        first = fmean(h(scores[i][c], scores[j][c]) for i, j in pairs)
        second = fmean(h(scores[j][d], scores[i][d]) for i, j in pairs)
        found.append((first + second) / 2)
    return fmean(found)


def against_rest(positive, shares):
    """The AUC of one class: all others in their shares of the sample."""

    def kernel(score, learning, classes, tested):
        others = [d for d in range(len(classes)) if d != positive]
        scores = {i: score(learning, i)[positive] for items in tested for i in items}
        found = []
        for d in others:
            pairs = [(i, j) for i in tested[positive] for j in tested[d]]
            found.append(fmean(h(scores[i], scores[j]) for i, j in pairs))
        return float(np.average(found, weights=[shares[d] for d in others]))

    return kernel


def learning_sets(classes, sizes):
    """All learning sets with this many of each class, as tuples of tuples."""
    parts = [combinations(items, g) for items, g in zip(classes, sizes, strict=True)]
    return list(product(*parts))


def complete(scores, classes, sizes, kernel=of_rule):
    """U of one learner, or the first minus the second: the mean over all learning sets."""
    values = []
    for chosen in learning_sets(classes, sizes):
        tested = [without(items, *some) for items, some in zip(classes, chosen, strict=True)]
        learning = sum(chosen, ())
        each = [kernel(score, learning, classes, tested) for score in scores]
        values.append(each[0] - sum(each[1:]))
    return fmean(values)


def deleted(classes, *left_out):
    """The classes without some observations."""
    return tuple(without(items, *left_out) for items in classes)


def jackknife(scores, classes, sizes, kernel=of_rule):
    """J of each class: U computed anew without each observation in turn."""
    found = []
    for items in classes:
        n = len(items)
        left = [complete(scores, deleted(classes, i), sizes, kernel) for i in items]
        found.append((n - 1) / n * ((np.array(left) - np.mean(left)) ** 2).sum())
    return tuple(found)


def pair_effects(scores, classes, sizes, kernel=of_rule):
    """M2 of each class, and of each pair of classes, by leaving out every two observations.

    Of one class: what is left of U without i and k after an additive fit f_i + f_k; it has two
    observations too few in it, hence the factor. Across: the second difference.
    """
    within, across = [], []
    whole = complete(scores, classes, sizes, kernel)
    single = {
        i: complete(scores, deleted(classes, i), sizes, kernel) for items in classes for i in items
    }
    for items, g in zip(classes, sizes, strict=True):
        n = len(items)
        if n - g < 3:
            within.append(0.0)
            continue
        pairs = list(combinations(items, 2))
        left = np.array([complete(scores, deleted(classes, *two), sizes, kernel) for two in pairs])
        design = np.array([[float(i in two) for i in items] for two in pairs])
        fitted = design @ np.linalg.lstsq(design, left)[0]
        factor = (n - 2) ** 2 * (n - 3) / (n**2 * (n - 1))
        within.append(factor * float(((left - fitted) ** 2).sum()))
    for first, second in combinations(classes, 2):
        total = sum(
            (
                complete(scores, deleted(classes, i, j), sizes, kernel)
                - single[i]
                - single[j]
                + whole
            )
            ** 2
            for i in first
            for j in second
        )
        n, m = len(first), len(second)
        across.append((n - 1) / n * (m - 1) / m * total)
    return tuple(within), tuple(across)
