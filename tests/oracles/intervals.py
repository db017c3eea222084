"""Interval rules in the notation of their papers: by definition, by root finding, by counting."""

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import skew, t

SIDES = {"two-sided": (0.5, 0.5), "less": (0.0, 1.0), "greater": (1.0, 0.0)}
"""Shares of alpha that are left out below and above."""


def quantiles(side, alpha, df):
    """Student's quantiles for the lower and the upper limit; None for a limit that is not there."""
    below, above = SIDES[side]
    return (
        t.ppf(1 - below * alpha, df) if below else None,
        t.ppf(above * alpha, df) if above else None,
    )


def pseudo_values(b, g):
    """h_i = n (n - 1)/(n - m) b_i with m = g + 1."""
    n = len(b)
    return n * (n - 1) / (n - g - 1) * b


def moments(h):
    """Skewness with the factor sqrt(n (n - 1))/(n - 2), and clip(2n/(kurtosis - 1), 4, n - 1)."""
    n = len(h)
    centred = h - h.mean()
    kurtosis = np.mean(centred**4) / np.mean(centred**2) ** 2
    df = min(max(2 * n / (kurtosis - 1), 4), n - 1)
    return float(skew(h, bias=False)), df


def hall(estimate, se, df, n, gamma, side, alpha, *, gamma_above=None):
    """Hall's (1992) limits, theta that solve g((U - theta)/se) = quantile, by root finding."""
    gamma_above = gamma if gamma_above is None else gamma_above

    def g(T, gamma):
        root = np.sqrt(n)
        return T + gamma * T**2 / (3 * root) + gamma**2 * T**3 / (27 * n) + gamma / (6 * root)

    def limit(quantile, gamma):
        if quantile is None:
            return None
        return brentq(
            lambda theta: g((estimate - theta) / se, gamma) - quantile,
            estimate - 1e4 * se,
            estimate + 1e4 * se,
            xtol=1e-13,
            rtol=1e-14,
        )

    low, high = quantiles(side, alpha, df)
    above = None if high is None else max(limit(high, gamma), limit(high, gamma_above))
    return limit(low, gamma), above


def stabilised_z(estimate, se, slope, slope_error, theta):
    """The integral of 1/se(t) from theta to the estimate, by quadrature, up to 2.

    se(t) = se exp(beta (t - U)); beta is slope/(1 + slope_error^2/slope^2), and at most 0.26/se.
    Straight from there to 4 at four standard errors from U, and further (U - theta)/se.
    """
    beta = slope**3 / (slope**2 + slope_error**2) if slope else 0.0
    beta = min(max(beta, -0.26 / se), 0.26 / se)

    def integral(theta):
        return quad(lambda t: np.exp(-beta * (t - estimate)) / se, theta, estimate, epsabs=1e-13)[0]

    side = 1.0 if theta < estimate else -1.0
    met = estimate - side * 4 * se
    if (met - theta) * side >= 0:
        return (estimate - theta) / se
    if abs(integral(theta)) < 2:
        return integral(theta)
    end = brentq(lambda t: integral(t) - side * 2, *sorted((met, estimate)), xtol=1e-14)
    return side * np.interp(abs(theta - end), [0.0, abs(met - end)], [2.0, 4.0])


def stabilised(estimate, se, df, slope, side, alpha, least, most, slope_error=0.0):
    """Limits whose z, as above, are quantiles, by root finding."""

    def z(theta):
        return stabilised_z(estimate, se, slope, slope_error, theta)

    def limit(quantile, end):
        if quantile is None or (z(end) - quantile) * (z(estimate) - quantile) > 0:
            return end
        return brentq(lambda theta: z(theta) - quantile, *sorted((estimate, end)), xtol=1e-14)

    low, high = quantiles(side, alpha, df)
    return limit(low, least), limit(high, most)


def plus_four(errors, n, extra, side, alpha):
    """Agresti and Coull's interval by adding observations: two errors, two that are right.

    `errors` are the mean losses of observations, and `extra` what the variance of their mean has
    beyond that of independent observations.
    """
    more = np.concatenate([errors, [1.0, 1.0, 0.0, 0.0]])
    mean = more.mean()
    # The variance of a sum of n independent losses around their mean, and of the four that are
    # added, which lie 1/2 from 1/2; between the groups: n and 4 around the common mean.
    within = n**2 * (errors.var() / n + extra) + 4 * 0.25
    between = n * (errors.mean() - mean) ** 2 + 4 * (0.5 - mean) ** 2
    se = np.sqrt((within + between) / (n + 4) ** 2)
    low, high = quantiles(side, alpha, n - 1)
    return (
        0.0 if low is None else max(0.0, mean - low * se),
        1.0 if high is None else min(1.0, mean - high * se),
    )


def ratio_by_deletion(first, second, g):
    """log(U1/U2) and its delete-one jackknife variance, from all learning sets of all subsamples.

    `first` and `second` map (learning set, observation) to a loss; both are complete for n
    observations.
    """
    from itertools import combinations

    n = 1 + max(i for _, i in first)

    def mean(losses, members):
        values = [
            losses[learning, i]
            for learning in combinations(members, g)
            for i in members
            if i not in learning
        ]
        return np.mean(values)

    def log_ratio(members):
        return np.log(mean(first, members) / mean(second, members))

    everyone = tuple(range(n))
    left_out = np.array([log_ratio(everyone[:i] + everyone[i + 1 :]) for i in everyone])
    variance = (n - 1) / n * np.sum((left_out - left_out.mean()) ** 2)
    return log_ratio(everyone), variance
