"""Tests on resampled losses, literally as their papers define them, by explicit loops."""

import math

from scipy import stats


def mean(values):
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def sample_variance(values):
    """With one degree of freedom less than values."""
    centre = mean(values)
    return sum((value - centre) ** 2 for value in values) / (len(values) - 1)


def two_sided(distribution, statistic):
    return 2 * min(distribution.cdf(statistic), distribution.sf(statistic))


def corrected_t(means, n_learn, n_test, null=0.0):
    """Nadeau and Bengio (2003), section 3: statistic and p-value."""
    j = len(means)
    variance = (1 / j + n_test / n_learn) * sample_variance(means)
    t = (mean(means) - null) / math.sqrt(variance)
    return t, two_sided(stats.t(j - 1), t)


def conservative_z(means, n_splits, n_bisections):
    """Nadeau and Bengio (2003), section 3: estimate and variance.

    The means are those of the splits of the sample, then for each bisection of its first half,
    then of the other.
    """
    estimate = mean(means[:n_splits])
    place, total = n_splits, 0.0
    for _ in range(n_bisections):
        first = mean(means[place : place + n_splits])
        second = mean(means[place + n_splits : place + 2 * n_splits])
        total += (first - second) ** 2
        place += 2 * n_splits
    return estimate, total / (2 * n_bisections)


def five_by_two(p):
    """Dietterich (1998) and Alpaydin (1999): t and F of differences p (5, 2)."""
    spread, squares = 0.0, 0.0
    for first, second in p:
        centre = (first + second) / 2
        spread += (first - centre) ** 2 + (second - centre) ** 2
        squares += first**2 + second**2
    return p[0][0] / math.sqrt(spread / 5), squares / (2 * spread)


def correlated_bayesian_t(differences, rho, rope):
    """Benavoli, Corani, Demsar and Zaffalon (2017), section 3.1: three probabilities."""
    n = len(differences)
    scale = math.sqrt((1 / n + rho / (1 - rho)) * sample_variance(differences))
    posterior = stats.t(n - 1, loc=mean(differences), scale=scale)
    left = posterior.cdf(-rope)
    return left, posterior.cdf(rope) - left, posterior.sf(rope)
