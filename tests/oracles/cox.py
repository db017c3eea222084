"""Cox's partial likelihood as papers write it: slow, to be compared with.

Breslow (1974) and Efron (1977) for tied events; D(t) are those with the event at t, R(t) those who
are still at risk just before.
"""

import numpy as np


def score(b, x, time, event, ties):
    """The derivative of the log partial likelihood at b."""
    total = np.zeros(len(b))
    for t in np.unique(time[event]):
        at_risk, dead = np.flatnonzero(time >= t), np.flatnonzero((time == t) & event)
        for place, one in enumerate(dead):
            theta = np.exp(x[at_risk] @ b)
            if ties == "efron":
                theta[np.isin(at_risk, dead)] *= 1 - place / len(dead)
            total += x[one] - theta @ x[at_risk] / theta.sum()
    return total


def baseline_hazard(b, x, time, event, ties, until):
    """The cumulative hazard of x = 0 up to a time."""
    total = 0.0
    for t in np.unique(time[event & (time <= until)]):
        at_risk, dead = np.flatnonzero(time >= t), np.flatnonzero((time == t) & event)
        for place in range(len(dead)):
            theta = np.exp(x[at_risk] @ b)
            if ties == "efron":
                theta[np.isin(at_risk, dead)] *= 1 - place / len(dead)
            total += 1 / theta.sum()
    return total
