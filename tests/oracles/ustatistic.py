"""The estimators of Fuchs, Hornung, De Bin and Boulesteix (2013), literally as defined.

Nothing here is fast: kernels are evaluated subset by subset, and every U-statistic is
an average over all pairs of subsets. Only NumPy and itertools.
"""

from itertools import combinations
from math import comb

import numpy as np


def symmetrised_kernel(phi, n, g):
    """Phi_0(S) of (5) for all S of size g + 1; ``phi(learning, test)`` gives Phi."""
    m = g + 1
    return {
        S: sum(phi(tuple(i for i in S if i != t), t) for t in S) / m
        for S in combinations(range(n), m)
    }


def complete_statistic(phi_0):
    """Delta-hat of (10)."""
    return float(np.mean(list(phi_0.values())))


def kappa_hat(phi_0, c):
    """The U-statistic with the kernel of (13): all pairs of subsets with c elements in common."""
    products = [
        first * second
        for S, first in phi_0.items()
        for T, second in phi_0.items()
        if len(set(S) & set(T)) == c
    ]
    return float(np.mean(products))


def alpha(n, m, c):
    """Mass at c of the hypergeometric distribution H(n, m, m)."""
    return comb(m, c) * comb(n - m, m - c) / comb(n, m)


def variance_hat(phi_0, n, g):
    """v-hat of (15), kappa by kappa; Theta^2 is kappa at c = 0 by (14)."""
    m = g + 1
    theta_squared = kappa_hat(phi_0, 0)
    total = sum(alpha(n, m, c) * kappa_hat(phi_0, c) for c in range(1, m + 1) if alpha(n, m, c) > 0)
    return total - (1 - alpha(n, m, 0)) * theta_squared


def asymptotic_variance(phi_0, n, g):
    """u(n) of Theorem 4.1, second case."""
    return (g + 1) ** 2 * (kappa_hat(phi_0, 1) - kappa_hat(phi_0, 0)) / n


def jackknife_variance(phi_0, n):
    """Delete-one jackknife of the complete statistic, recomputed from scratch n times."""
    without = [np.mean([value for S, value in phi_0.items() if i not in S]) for i in range(n)]
    return float((n - 1) / n * ((without - np.mean(without)) ** 2).sum())


def pair_effects(phi_0, n, g):
    """M2, from the residual pair effects."""
    m = g + 1
    centred = {S: value - complete_statistic(phi_0) for S, value in phi_0.items()}
    total = comb(n, m)
    b = np.array([sum(v for S, v in centred.items() if i in S) / total for i in range(n)])
    tau_squared = 0.0
    for i, j in combinations(range(n), 2):
        joint = sum(v for S, v in centred.items() if i in S and j in S) / total
        tau_squared += (joint - (m - 1) / (n - 2) * (b[i] + b[j])) ** 2
    return (n - 1) * (n - 2) ** 2 * (n - 3) / ((n - m) * (n - m - 1)) ** 2 * tau_squared


def geometric_variance(phi_0, n, g):
    """J^2/(J + M2)."""
    jackknife = jackknife_variance(phi_0, n)
    return jackknife**2 / (jackknife + pair_effects(phi_0, n, g))


def midpoint_variance(phi_0, n, g):
    """The larger of (J + J^2/(J + M2))/2 and M2/2."""
    first = (jackknife_variance(phi_0, n) + geometric_variance(phi_0, n, g)) / 2
    return max(first, pair_effects(phi_0, n, g) / 2)


def slope_of_standard_error(phi_0, n):
    """beta: delete-one jackknife variances J_(-i) regressed on the estimates U_(-i)."""
    u, variances = estimates_and_variances(phi_0, n)
    return float(u @ variances / (2 * np.mean(variances) * (u @ u)))


def error_of_slope(phi_0, n):
    """White's (1980) standard error of that regression, of residuals times sqrt(n/(n - 2))."""
    u, variances = estimates_and_variances(phi_0, n)
    fit = np.linalg.lstsq(np.column_stack([np.ones(n), u]), variances, rcond=None)[0]
    residuals = variances - fit[0] - fit[1] * u
    of_fit = np.sqrt(n / (n - 2) * (u**2 * residuals**2).sum()) / (u @ u)
    return float(of_fit / (2 * np.mean(variances)))


def estimates_and_variances(phi_0, n):
    """U_(-i) less their mean, and J_(-i), for each observation left out."""
    estimates, variances = [], []
    for i in range(n):
        rest = {S: value for S, value in phi_0.items() if i not in S}
        without = [
            np.mean([value for S, value in rest.items() if k not in S]) for k in range(n) if k != i
        ]
        estimates.append(complete_statistic(rest))
        variances.append((n - 2) / (n - 1) * ((without - np.mean(without)) ** 2).sum())
    return np.array(estimates) - np.mean(estimates), np.array(variances)
