"""Survival metrics pooled over all test sets of a sample, as they are defined: slow loops."""

from itertools import combinations

import numpy as np

from ucvtest.metrics.censoring import Censoring


def pair_weight(times, i, j, *, kind, at=np.inf):
    """Of the pair whose first is i: 0 where the two are not compared."""
    t, d = times.time, times.event
    known = Censoring.of(times)
    before = float(known.before(t[i : i + 1])[0])
    if kind == "auc":
        return float(d[i] and t[i] <= at and t[j] > at) / before
    first = d[i] and t[i] <= at and (t[i] < t[j] or (t[i] == t[j] and not d[j]))
    return float(first) / (before**2 if kind == "uno" else 1.0)


def concordance(times, rules, learn_size, **options):
    """The ratio of pairs in the right order to all pairs of tested observations.

    Over all learning sets; `rules` goes from the places of one to risks (n,).
    """
    n, right, total = times.n_obs, 0.0, 0.0
    for learning in combinations(range(n), learn_size):
        risks = rules(list(learning))
        tested = [i for i in range(n) if i not in learning]
        for i in tested:
            for j in tested:
                weight = pair_weight(times, i, j, **options) if i != j else 0.0
                order = (risks[i] > risks[j]) + 0.5 * (risks[i] == risks[j])
                right, total = right + weight * order, total + weight
    return right / total


def jackknife(times, rules, learn_size, **options):
    """The delete-one jackknife of the ratio's linear part, over kernels without the observation.

    The kernel is of g learning observations and two tested.
    """
    n, value = times.n_obs, concordance(times, rules, learn_size, **options)
    kernel = []
    for learning in combinations(range(n), learn_size):
        risks = rules(list(learning))
        for i, j in combinations([k for k in range(n) if k not in learning], 2):
            psi = pairs = 0.0
            for a, b in ((i, j), (j, i)):
                weight = pair_weight(times, a, b, **options)
                order = (risks[a] > risks[b]) + 0.5 * (risks[a] == risks[b])
                psi, pairs = psi + weight * order, pairs + weight
            kernel.append(({*learning, i, j}, psi, pairs))
    mean_pairs = np.mean([pairs for _, _, pairs in kernel])
    linear = [(members, (psi - value * pairs) / mean_pairs) for members, psi, pairs in kernel]
    left = [np.mean([each for members, each in linear if i not in members]) for i in range(n)]
    return (n - 1) / n * float(np.sum(np.square(left)))
