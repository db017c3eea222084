"""The U-statistic test of functions of means, literally: parts, gradients, and two right two wrong.

`parts(L, t)` are numbers of observation t under the rule learnt from L; f gives the metric and its
gradient from their means. Everything else is the oracle of mean losses.
"""

from itertools import combinations

import numpy as np

from tests.oracles import ustatistic


def f1(c):
    """F1 of the cells (00, 01, 10, 11), true class first."""
    _, fp, fn, tp = c
    bottom = 2 * tp + fp + fn
    value = 2 * tp / bottom
    return value, np.array([0.0, -value, -value, 2 - 2 * value]) / bottom


def r2(c):
    """1 - E(y - p)^2/(E y^2 - (E y)^2) of these three means."""
    error, square, mean = c
    variance = square - mean**2
    value = 1 - error / variance
    return value, np.array([-1.0, error / variance, -2 * mean * error / variance]) / variance


def cells(y, p):
    """The cell that an observation falls into, of two classes."""
    found = np.zeros(4)
    found[int(2 * y + p)] = 1
    return found


def moments(y, p):
    """The numbers of R2."""
    return np.array([(y - p) ** 2, y**2, y])


def pooled_means(parts, sets, n):
    """The mean of the parts over all (L, t), t not in L."""
    return np.mean([parts(L, t) for L in sets for t in range(n) if t not in L], axis=0)


def linearised(parts, f, means):
    """D(L, t) = f(cbar) + grad f(cbar) . (c(L, t) - cbar)."""
    value, gradient = f(means)
    return lambda L, t: value + float(gradient @ (parts(L, t) - means))


def complete(parts, f, n, g):
    """Estimate, J by deletion, M2 and the midpoint variance over all learning sets."""
    sets = list(combinations(range(n), g))
    return variances(linearised(parts, f, pooled_means(parts, sets, n)), n, g)


def variances(D, n, g):
    """The same of any losses."""
    phi_0 = ustatistic.symmetrised_kernel(D, n, g)
    jackknife = ustatistic.jackknife_variance(phi_0, n)
    effects = ustatistic.pair_effects(phi_0, n, g)
    middle = max((jackknife + jackknife**2 / (jackknife + effects)) / 2, effects / 2)
    return ustatistic.complete_statistic(phi_0), jackknife, effects, middle


def two_right_two_wrong(parts, n, g):
    """Of F1: T' and sqrt(v') with one observation more in each cell, by the midpoint variance."""
    sets = list(combinations(range(n), g))
    P = pooled_means(parts, sets, n)
    Q = (n * P + 1) / (n + 4)
    T, G = f1(Q)
    slopes = G - Q @ G
    v = variances(lambda L, t: float(slopes @ parts(L, t)), n, g)[3]
    spread = n**2 * v + n * (P @ slopes) ** 2 + (slopes**2).sum()
    return T, np.sqrt(spread) / (n + 4)


def second_order_bias(parts, f, n, g, step=1e-5):
    """Half the trace of the Hessian times V: the covariance of parts over n, scaled to the test's
    variance of the linearised mean."""
    sets = list(combinations(range(n), g))
    c = np.array([parts(L, t) for L in sets for t in range(n) if t not in L])
    means, covariance = c.mean(axis=0), np.cov(c.T, bias=True)
    _, gradient = f(means)
    variance = variances(linearised(parts, f, means), n, g)[3]
    V = covariance / n * variance / (gradient @ covariance @ gradient / n)
    hessian = [
        (f(means + step * e)[1] - f(means - step * e)[1]) / (2 * step) for e in np.eye(len(means))
    ]
    return float(np.trace(np.array(hessian) @ V)) / 2
