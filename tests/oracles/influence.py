"""Perturbed cross-validation estimates of Yousef, literally: loops, exact probabilities.

Nothing here is fast. An observation's influence is the numeric derivative of the estimate
after mass epsilon is moved to it; the probabilities of the training sets are those of Lemma 2
(cross-validation) or of the multinomial distribution (bootstrap). Only NumPy and math.
"""

from math import comb, prod

import numpy as np

STEP = 1e-5


def psi(a, b):
    """(1e)."""
    return 1.0 if a > b else 0.5 if a == b else 0.0


def masses(n, i, epsilon):
    """(14), i = None for the class that is not perturbed."""
    f = [(1 - epsilon * (i is not None)) / n] * n
    if i is not None:
        f[i] += epsilon
    return f


def lemma_2(n, n_tested, is_tested, epsilon):
    """(36) where i is tested, (40d) where it is in the training set."""
    n_learnt = n - n_tested
    if is_tested:
        return (1 - epsilon) ** n_learnt / comb(n, n_learnt)
    total = sum(
        (1 - epsilon) ** (r - 1) * (epsilon * n - r * epsilon + 1) for r in range(1, n_learnt + 1)
    )
    return total / (n_learnt * comb(n, n_learnt))


def derivative(function):
    """At zero, by central differences of fourth order."""
    h = STEP
    return (8 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12 * h)


def perturbed_auc(scores, tested, probability, i, perturbed, epsilon):
    """The ratio below (11); scores, tested (two lists: positives, negatives), M rows each.

    ``probability(m, i, epsilon)`` is that of the training set m of the perturbed class.
    """
    n1, n0 = tested[0].shape[1], tested[1].shape[1]
    f1 = masses(n1, i if perturbed == 0 else None, epsilon)
    f0 = masses(n0, i if perturbed == 1 else None, epsilon)
    g = [probability(m, i, epsilon) for m in range(len(tested[0]))]
    total = 0.0
    for j1 in range(n1):
        for j2 in range(n0):
            rows = [m for m in range(len(g)) if tested[0][m, j1] and tested[1][m, j2]]
            b = sum(psi(scores[0][m, j1], scores[1][m, j2]) * g[m] for m in rows)
            total += f1[j1] * f0[j2] * b / sum(g[m] for m in rows)
    return total


def auc_influence(scores, tested, y, counts=None):
    """Numeric influence values of the positives and of the negatives.

    Without counts the training sets are those of cross-validation, with counts (M, n) those of
    a bootstrap of each class.
    """
    parts = [np.flatnonzero(y == 1), np.flatnonzero(y == 0)]
    s, t = ([array[:, part] for part in parts] for array in (scores, tested))
    values = []
    for k, part in enumerate(parts):
        n = len(part)

        def probability(m, i, epsilon, k=k, n=n, part=part):
            if counts is None:
                return lemma_2(n, int(t[k][m].sum()), bool(t[k][m, i]), epsilon)
            return multinomial(counts[m, part], i, epsilon)

        values.append(
            np.array(
                [
                    derivative(lambda e, i=i, k=k: perturbed_auc(s, t, probability, i, k, e))
                    for i in range(n)
                ]
            )
        )
    return values


def multinomial(counts, i, epsilon):
    """Probability of a bootstrap sample, up to a factor that does not depend on epsilon."""
    return (
        prod(f**c for f, c in zip(masses(len(counts), i, epsilon), counts, strict=True))
        * float(len(counts)) ** counts.sum()
    )


def error_influence(losses, tested, counts=None):
    """Numeric influence values of the mean loss, for one sample."""
    n = tested.shape[1]

    def probability(m, i, epsilon):
        if counts is None:
            return lemma_2(n, int(tested[m].sum()), bool(tested[m, i]), epsilon)
        return multinomial(counts[m], i, epsilon)

    def perturbed(i, epsilon):
        f = masses(n, i, epsilon)
        g = [probability(m, i, epsilon) for m in range(len(tested))]
        total = 0.0
        for j in range(n):
            rows = [m for m in range(len(g)) if tested[m, j]]
            total += f[j] * sum(losses[m, j] * g[m] for m in rows) / sum(g[m] for m in rows)
        return total

    return np.array([derivative(lambda e, i=i: perturbed(i, e)) for i in range(n)])


def adhoc_1(auc):
    """(8a), auc (K1, K2)."""
    k1, k2 = auc.shape
    return ((auc - auc.mean()) ** 2).sum() / (k1 * k2 - 1) / np.sqrt(k1 * k2)


def adhoc_2(auc):
    """(8b): folds of equal number only."""
    k = len(auc)
    own = [auc[i, i] for i in range(k)]
    return sum((each - sum(own) / k) ** 2 for each in own) / (k - 1) / k


def adhoc_3(auc, overall, mle=False):
    """(8c) with either constant."""
    total = 0.0
    for values in (auc.mean(axis=1), auc.mean(axis=0)):
        k = len(values)
        c = 1 / k**2 if mle else 1 / (k * (k - 1))
        total += c * sum((value - overall) ** 2 for value in values)
    return total


def delong(scores, y):
    """Variance of the empirical AUC by placement values (DeLong et al. 1988), pair by pair."""
    positives, negatives = scores[y == 1], scores[y == 0]
    v10 = np.array([np.mean([psi(a, b) for b in negatives]) for a in positives])
    v01 = np.array([np.mean([psi(a, b) for a in positives]) for b in negatives])
    return v10.var(ddof=1) / len(positives), v01.var(ddof=1) / len(negatives)
