"""Survival metrics pair by pair and event by event, in the notation of the papers.

Observation i comes before j if t_i < t_j, or t_i = t_j where j is censored; G is Kaplan and Meier's
estimate of the distribution of censoring times. Weights of observations (n,) are for derivatives.
"""

import math


def comes_before(i, j, time, event):
    """Whether i is known to have the event before j."""
    return event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j]))


def not_censored(u, time, event, *, left):
    """G(u), or G(u-): the product over censoring times of what is left of those at risk."""
    found = 1.0
    for s in sorted({t for t, d in zip(time, event, strict=True) if not d}):
        if s < u or (s == u and not left):
            at_risk = [t > s or (t == s and not d) for t, d in zip(time, event, strict=True)]
            censored = sum(t == s and not d for t, d in zip(time, event, strict=True))
            found *= 1 - censored / sum(at_risk)
    return found


def psi(x, y):
    """1 for the right order, 1/2 for a tie."""
    return float(x > y) + 0.5 * float(x == y)


def concordance(time, event, risk, weights, *, uno=False, tau=math.inf, fold=None):
    """The weighted share of comparable pairs in the right order."""
    right = pairs = 0.0
    for i in range(len(time)):
        if not event[i] or time[i] > tau:
            continue
        of_i = not_censored(time[i], time, event, left=True) ** -2 if uno else 1.0
        for j in range(len(time)):
            if comes_before(i, j, time, event) and (fold is None or fold[i] == fold[j]):
                weight = of_i * weights[i] * weights[j]
                right, pairs = right + weight * psi(risk[i], risk[j]), pairs + weight
    return right / pairs if pairs else math.nan


def auc(time, event, risk, at, fold=None):
    """Cases, with the event by then, against controls, who are followed beyond."""
    right = pairs = 0.0
    for i in range(len(time)):
        for j in range(len(time)):
            case, control = event[i] and time[i] <= at, time[j] > at
            if case and control and (fold is None or fold[i] == fold[j]):
                weight = 1 / not_censored(time[i], time, event, left=True)
                right, pairs = right + weight * psi(risk[i], risk[j]), pairs + weight
    return right / pairs if pairs else math.nan


def errors(time, event, risk, at):
    """The weighted squared error of each observation, whose mean is the Brier score."""
    found = []
    for t, d, r in zip(time, event, risk, strict=True):
        if t > at:
            found.append(r**2 / not_censored(at, time, event, left=False))
        elif d:
            found.append((1 - r) ** 2 / not_censored(t, time, event, left=True))
        else:
            found.append(0.0)
    return found


def linearised_brier(time, event, risk, at):
    """With what each observation does to G, by the martingale of its censoring."""
    n, e = len(time), errors(time, event, risk, at)
    found = list(e)
    for s in sorted({t for t, d in zip(time, event, strict=True) if not d and t <= at}):
        followed = sum(t >= s for t in time)
        censored = sum(t == s and not d for t, d in zip(time, event, strict=True))
        later = sum(x for x, t in zip(e, time, strict=True) if t > s)
        for i in range(n):
            own = float(time[i] == s and not event[i])
            found[i] += later / followed * (own - (time[i] >= s) * censored / followed)
    return found


def derivatives(function, n, step=1e-5):
    """n times the derivative in the weight of each observation, by central differences."""
    found = []
    for i in range(n):
        ends = [
            function([1 + sign * step if i == k else 1.0 for k in range(n)]) for sign in (1, -1)
        ]
        found.append(n * (ends[0] - ends[1]) / (2 * step))
    return found
