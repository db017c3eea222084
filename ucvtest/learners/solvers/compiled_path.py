"""Elastic-net logistic regression at many penalties, each fit beginning at the one before.

The loops and their promises are those of `ucvtest.learners.solvers.compiled_logistic`: what this
form gives meets the same optimality conditions, and it gives up as easily. This module needs Numba.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import config

from ucvtest.learners.solvers.compiled_logistic import (
    ADDED,
    LANES,
    WIDEST,
    join,
    moments,
    scan,
    standardise,
    without_zeros,
)
from ucvtest.learners.solvers.compiled_newton import ROUNDING, TIED, compiled, newton

PATHS_PER_TASK = 4
"""Paths that a thread takes at a time."""


def fit_paths(
    features: np.ndarray,
    distinct: np.ndarray,
    response: np.ndarray,
    learning: np.ndarray,
    spread: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    tolerance: np.ndarray,
    standardize: bool,
    max_steps: int,
) -> np.ndarray:
    """Log-odds (P, R, n) of the learning sets (R, n), both classes in each, at P penalties (P, R).

    Penalties fall; NaN where a fit was given up. The rest as in `compiled_logistic.fit`.
    """
    count, n_obs = learning.shape
    log_odds = np.full((len(l1), count, n_obs), np.nan)
    fit_arguments = (
        *(features, distinct, response, learning, spread),
        *(l1, l2, tolerance, standardize, max_steps),
    )

    def do(first_row: int) -> None:
        _fit_path_rows(*fit_arguments, first_row, min(first_row + PATHS_PER_TASK, count), log_odds)

    with ThreadPoolExecutor(min(config.NUMBA_NUM_THREADS, max(1, count))) as pool:
        list(pool.map(do, range(0, count, PATHS_PER_TASK)))
    return log_odds


@compiled
def _fit_path_rows(
    features: np.ndarray,
    distinct: np.ndarray,
    response: np.ndarray,
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
) -> None:
    """Do the paths from `first_row` up to `end_row`."""
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
            constant = b[0]
            for k in range(n_working):
                constant -= b[1 + k] * scale[k] * centre[k]
            for i in range(n_obs):
                value = constant
                for k in range(n_working):
                    if b[1 + k] != 0.0:
                        value += b[1 + k] * scale[k] * features[i, working[k]]
                log_odds[penalty_index, row, i] = value
