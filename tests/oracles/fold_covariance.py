"""Bengio and Grandvalet (2005), literally as defined: double loops over observations."""

import numpy as np


def moments(e, fold):
    """s1, s2, s3 of (5.12); s2 is NaN where there are no pairs within folds."""
    sums, counts = np.zeros(3), np.zeros(3)
    for i in range(len(e)):
        for j in range(len(e)):
            which = 0 if i == j else 1 if fold[i] == fold[j] else 2
            sums[which] += e[i] * e[j]
            counts[which] += 1
    with np.errstate(invalid="ignore"):
        return sums / counts


def covariance_matrix(fold, sigma_squared, omega, gamma):
    """Sigma of Corollary 5.1, element by element."""
    n = len(fold)
    matrix = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            matrix[i, j] = sigma_squared if i == j else omega if fold[i] == fold[j] else gamma
    return matrix


def theta_1(losses):
    """The estimate of section 2.2 that ignores correlations; losses (K, n)."""
    k, n = losses.shape
    mean = losses.mean()
    return sum((value - mean) ** 2 for row in losses for value in row) / (k * n * (k * n - 1))


def theta_2(losses):
    """The estimate of section 2.2 that takes them into account; losses (K, n)."""
    k, n = losses.shape
    mean = losses.mean()
    total = sum((a - mean) * (b - mean) for row in losses for a in row for b in row)
    return total / (k * (k - 1) * n**2)


def jackknife(loss_full, loss_without, fold):
    """JK of (5.6): loss_full (n,) after all observations, loss_without (K, n) after all folds but
    one."""
    n, n_folds = len(fold), len(loss_without)
    cv = sum(loss_without[fold[i], i] for i in range(n)) / n
    correction = 0.0
    for k in range(n_folds):
        for i in range(n):
            correction += loss_full[i] - loss_without[k, i]
    return cv + correction / n
