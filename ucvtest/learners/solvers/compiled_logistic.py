r"""Elastic-net logistic regression, one learning set after another, compiled by Numba.

The problem is that of `ucvtest.learners.solvers.penalized_logistic`. There the fits of a batch go
in lock-step; here each takes the steps that it needs, on the features that it needs: a scan of all
features names those that violate their optimality condition most, Newton steps on these follow,
then the next scan. One Newton step minimises the quadratic model of the loss by coordinate descent,
which finds the support, and exact solutions on that support.

What this form gives is right, but it gives up easily: where the support is large, features are
tied or dependent (the minimum may then not be unique), or a Newton step does not lower the
objective. The other form, which always converges, then does the fit from the beginning.

This module needs Numba; import it where it is used.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numba import config

from ucvtest.learners.solvers.compiled_newton import ROUNDING, TIED, compiled, newton

WIDEST = 64
"""Most features in a working set."""

ADDED = 16
"""Most features that join a working set after a scan."""

CONSTANT = 1e-12
"""Share of the mean square below which a variance is rounding error."""

LANES = 16
"""Designs are filled up with zeros to a multiple of this, so that no loop has a rest."""

FITS_PER_TASK = 32
"""Fits that a thread takes at a time."""


class NewtonFits(NamedTuple):
    """Result of `fit`."""

    log_odds: np.ndarray
    """(P, R, n) for all observations; NaN where this form gave up."""
    columns: np.ndarray
    """(R, WIDEST) the features of the working sets at the last penalty, the rest -1."""
    original: np.ndarray
    """(R, 1 + WIDEST) intercepts and coefficients there, for the features as they came."""


def fit(
    features: np.ndarray,
    distinct: np.ndarray,
    responses: np.ndarray,
    learning: np.ndarray,
    spread: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    tolerance: np.ndarray,
    standardize: bool,
    max_steps: int,
) -> NewtonFits:
    """Fit every learning set, both classes in each, in as many threads as Numba is allowed.

    The penalties `l1` and `l2` are (P, R), and fall: each fit of a learning set begins at the one
    before. `responses` are (1, n), or (R, n) for one of each learning set; only `distinct` features
    may have a coefficient; `spread` is what the features were divided by. `tolerance` (P, R) is the
    largest violation of an optimality condition. `standardize` penalises coefficients of
    standardised features, otherwise those before the division. The result does not depend on the
    number of threads, at most that of the processors this process may use, or
    ``NUMBA_NUM_THREADS``.
    """
    count, n_obs = learning.shape
    solved_fits = NewtonFits(
        np.full((len(l1), count, n_obs), np.nan),
        np.full((count, WIDEST), -1),
        np.zeros((count, 1 + WIDEST)),
    )
    fit_arguments = (
        *(features, distinct, responses, learning, spread),
        *(l1, l2, tolerance, standardize, max_steps),
    )
    step = max(1, FITS_PER_TASK // len(l1))

    def do(first_row: int) -> None:
        _fit_rows(*fit_arguments, first_row, min(first_row + step, count), *solved_fits)

    starts = range(0, count, step)
    n_threads = min(config.NUMBA_NUM_THREADS, len(starts))
    if n_threads < 2:
        for first_row in starts:
            do(first_row)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(do, starts))
    return solved_fits


@compiled
def _fit_rows(
    features: np.ndarray,
    distinct: np.ndarray,
    responses: np.ndarray,
    learning: np.ndarray,
    spread: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    tolerance: np.ndarray,
    standardize: bool,
    max_steps: int,
    first_row: int,
    end_row: int,
    log_odds: np.ndarray,
    columns: np.ndarray,
    original: np.ndarray,
) -> None:
    """Do the fits from `first_row` up to `end_row`, as `fit` says, into the last three arrays."""
    n_obs, n_features = features.shape
    members = np.empty(n_obs, np.int64)
    n_lanes = (n_obs + LANES - 1) // LANES * LANES
    y, error, scratch = np.empty(n_lanes), np.empty(n_lanes), np.empty((4, n_lanes))
    design = np.empty((WIDEST + 1, n_lanes))
    hessian, factors = np.empty((WIDEST + 1, WIDEST + 1)), np.empty((WIDEST + 1, WIDEST + 1))
    mean, inverse_sd = np.empty(n_features), np.empty(n_features)
    factor, penalty, excess = np.empty(n_features), np.empty(n_features), np.empty(n_features)
    working = np.empty(WIDEST, np.int64)
    centre, scale = np.empty(WIDEST), np.empty(WIDEST)
    b, l1s, l2s = np.empty(WIDEST + 1), np.empty(WIDEST + 1), np.empty(WIDEST + 1)
    for row in range(first_row, end_row):
        response = responses[row if len(responses) > 1 else 0]
        size, positive = 0, 0.0
        for i in range(n_obs):
            if learning[row, i]:
                members[size], y[size] = i, response[i]
                positive += response[i]
                size += 1
        positive_rate = positive / size
        lanes = (size + LANES - 1) // LANES * LANES
        for i in range(lanes):
            design[0, i] = 1.0 if i < size else 0.0
            if i >= size:
                y[i] = 0.0
        moments(features, members[:size], mean, inverse_sd)
        for j in range(n_features):
            factor[j] = 1.0
            if not standardize and inverse_sd[j] > 0.0:
                factor[j] = inverse_sd[j] / spread[j]
        l1s[0], l2s[0] = 0.0, 0.0
        n_working, cold = 0, True
        for penalty_index in range(len(l1)):
            lam, ridge, path_tolerance = (
                l1[penalty_index, row],
                l2[penalty_index, row],
                tolerance[penalty_index, row],
            )
            if cold:
                # At the null model; also after a fit that was given up.
                n_working = 0
                b[0] = np.log(positive / (size - positive))
                for i in range(lanes):
                    error[i] = (y[i] - positive_rate) / size if i < size else 0.0
            for j in range(n_features):
                penalty[j] = lam * factor[j] if distinct[j] else np.inf
            for k in range(n_working):
                l1s[1 + k] = penalty[working[k]]
                l2s[1 + k] = ridge * factor[working[k]] ** 2
            null, cold, steps = n_working == 0, True, 0
            solve = n_working > 0
            while True:
                if solve:
                    n_steps = newton(
                        design,
                        y,
                        (1 + n_working, size, lanes),
                        b,
                        l1s,
                        l2s,
                        path_tolerance,
                        max_steps - steps,
                        scratch,
                        error,
                        hessian,
                        factors,
                    )
                    if n_steps < 0:
                        break
                    steps += max(n_steps, 1)
                solve = True
                scan(features, members[:size], error, inverse_sd, penalty, excess)
                outside = -np.inf
                for k in range(n_working):
                    excess[working[k]] = -np.inf
                for j in range(n_features):
                    outside = max(outside, excess[j])
                if outside <= (ROUNDING if null else path_tolerance):
                    cold = not (null or outside < -TIED * path_tolerance)
                    break
                null = False
                n_kept = without_zeros(
                    n_working, working, design, centre, scale, b, l1s, l2s, lanes
                )
                if n_kept == WIDEST:
                    break
                n_working = join(
                    excess, path_tolerance, working, n_kept, min(n_kept + ADDED, WIDEST)
                )
                for k in range(n_kept, n_working):
                    column = working[k]
                    centre[k], scale[k] = standardise(
                        features, members[:size], column, design[1 + k], lanes
                    )
                    b[1 + k], l1s[1 + k] = 0.0, lam * factor[column]
                    l2s[1 + k] = ridge * factor[column] ** 2
            if cold:
                continue
            original[row, 0] = b[0]
            for k in range(WIDEST):
                columns[row, k], original[row, 1 + k] = -1, 0.0
            for k in range(n_working):
                columns[row, k] = working[k]
                original[row, 1 + k] = b[1 + k] * scale[k]
                original[row, 0] -= b[1 + k] * scale[k] * centre[k]
            for i in range(n_obs):
                value = original[row, 0]
                for k in range(n_working):
                    if b[1 + k] != 0.0:
                        value += original[row, 1 + k] * features[i, working[k]]
                log_odds[penalty_index, row, i] = value


@compiled
def moments(
    features: np.ndarray, members: np.ndarray, mean: np.ndarray, inverse_sd: np.ndarray
) -> None:
    """Means, and 1/sd (0 for constants), of all features in one learning set."""
    mean[:] = 0.0
    inverse_sd[:] = 0.0
    for i in members:
        for j in range(features.shape[1]):
            mean[j] += features[i, j]
            inverse_sd[j] += features[i, j] ** 2
    for j in range(features.shape[1]):
        mean[j] /= len(members)
        mean_square = inverse_sd[j] / len(members)
        variance = mean_square - mean[j] ** 2
        inverse_sd[j] = 0.0 if variance <= CONSTANT * mean_square else 1.0 / np.sqrt(variance)


@compiled
def scan(
    features: np.ndarray,
    members: np.ndarray,
    error: np.ndarray,
    inverse_sd: np.ndarray,
    penalty: np.ndarray,
    excess: np.ndarray,
) -> None:
    """By how much the gradient of each feature exceeds its penalty."""
    total = 0.0
    for i in range(len(members)):
        total += error[i]
    total /= len(members)
    excess[:] = 0.0
    for i in range(len(members)):
        centred, member = error[i] - total, members[i]
        for j in range(features.shape[1]):
            excess[j] += centred * features[member, j]
    for j in range(features.shape[1]):
        excess[j] = abs(excess[j]) * inverse_sd[j] - penalty[j]


@compiled
def without_zeros(
    n_working: int,
    working: np.ndarray,
    design: np.ndarray,
    centre: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray,
    l1s: np.ndarray,
    l2s: np.ndarray,
    lanes: int,
) -> int:
    """Drop features without a coefficient from the working set; return how many are left."""
    n_nonzero = 0
    for k in range(n_working):
        if b[1 + k] == 0.0:
            continue
        if n_nonzero < k:
            working[n_nonzero], centre[n_nonzero], scale[n_nonzero] = (
                working[k],
                centre[k],
                scale[k],
            )
            b[1 + n_nonzero], l1s[1 + n_nonzero], l2s[1 + n_nonzero] = (
                b[1 + k],
                l1s[1 + k],
                l2s[1 + k],
            )
            for i in range(lanes):
                design[1 + n_nonzero, i] = design[1 + k, i]
        n_nonzero += 1
    return n_nonzero


@compiled
def join(
    excess: np.ndarray, least_excess: float, working: np.ndarray, n_kept: int, limit: int
) -> int:
    """Put the features with the largest excess behind the first `n_kept`; return their number."""
    count = n_kept
    for j in range(len(excess)):
        if excess[j] <= least_excess or (
            count == limit and excess[j] <= excess[working[count - 1]]
        ):
            continue
        insert_at = min(count, limit - 1)
        while insert_at > n_kept and excess[working[insert_at - 1]] < excess[j]:
            working[insert_at] = working[insert_at - 1]
            insert_at -= 1
        working[insert_at] = j
        count = min(count + 1, limit)
    return count


@compiled
def standardise(
    features: np.ndarray, members: np.ndarray, column: int, values: np.ndarray, lanes: int
) -> tuple[float, float]:
    """Write a standardised column of the design; return its mean and 1/sd (0 for a constant)."""
    size = len(members)
    mean, mean_square, variance = 0.0, 0.0, 0.0
    for i in range(size):
        values[i] = features[members[i], column]
        mean += values[i]
        mean_square += values[i] ** 2
    mean, mean_square = mean / size, mean_square / size
    for i in range(size):
        values[i] -= mean
        variance += values[i] ** 2
    variance /= size
    scale = 0.0 if variance <= CONSTANT * mean_square else 1.0 / np.sqrt(variance)
    for i in range(size):
        values[i] *= scale
    for i in range(size, lanes):
        values[i] = 0.0
    return mean, scale
