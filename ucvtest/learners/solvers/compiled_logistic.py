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

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numba import config, njit

__all__ = ["fit"]

WIDEST = 64
"""Most features in a working set."""

ADDED = 16
"""Most features that join a working set after a scan."""

ROUNDING = 1e-12
"""Gradients this much above the penalty are at it: the null model is optimal."""

TIED = 10.0
"""Tolerances between a gradient and its penalty within which a zero coefficient is no certainty."""

CYCLES = 4
"""Cycles of coordinate descent between two exact solutions."""

ROUNDS = 12
"""Exact solutions in one Newton step, at most."""

SLACK = 1e-13
"""Differences of the objective (at most log 2) below this are rounding errors."""

HALVINGS = 5
"""How often a Newton step is halved where it is too long."""

LEAST_CURVATURE = 1e-10
"""Floor of p(1 - p)."""

RIDGE = 1e-9
"""Share by which the diagonal of the Hessian is raised: it keeps dependent columns solvable."""

LEAST_PIVOT = 1e-8
"""Share of its diagonal below which a pivot is rounding error or ridge: columns are dependent."""

CONSTANT = 1e-12
"""Share of the mean square below which a variance is rounding error."""

LANES = 16
"""Designs are filled up with zeros to a multiple of this, so that no loop has a rest."""

FITS_PER_TASK = 32
"""Fits that a thread takes at a time."""


class Fitted(NamedTuple):
    """Result of `fit`."""

    log_odds: np.ndarray
    """(R, n) for all observations; NaN where this form gave up."""
    columns: np.ndarray
    """(R, WIDEST) the features of the working sets, the rest -1."""
    original: np.ndarray
    """(R, 1 + WIDEST) intercepts and coefficients, for the features as they came."""


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
) -> Fitted:
    """Fit every learning set, both classes in each, in as many threads as Numba is allowed.

    `responses` are (1, n), or (R, n) for one of each fit; only `distinct` features may have a
    coefficient; `spread` is what the features were divided by. `tolerance`: the largest violation
    of an optimality condition. `standardize` penalises coefficients of standardised features,
    otherwise those before the division. The result does not depend on the number of threads, at
    most that of the processors this process may use, or ``NUMBA_NUM_THREADS``.
    """
    count, n_obs = learning.shape
    fitted = Fitted(
        np.full((count, n_obs), np.nan),
        np.full((count, WIDEST), -1),
        np.zeros((count, 1 + WIDEST)),
    )
    given = (
        features,
        distinct,
        responses,
        learning,
        spread,
        l1,
        l2,
        tolerance,
        standardize,
        max_steps,
    )

    def do(start: int) -> None:
        _fit_rows(*given, start, min(start + FITS_PER_TASK, count), *fitted)

    starts = range(0, count, FITS_PER_TASK)
    n_threads = min(config.NUMBA_NUM_THREADS, len(starts))
    if n_threads < 2:
        for start in starts:
            do(start)
    else:
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(do, starts))
    return fitted


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and keep the machine code for later processes.

    Sums may be reordered, which depends on their length alone; NaN and infinity keep their rules.
    """
    fastmath = {"reassoc", "contract", "nsz"}
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # no folder to keep it in
        return njit(**options)(function)


@_compiled
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
    start: int,
    stop: int,
    log_odds: np.ndarray,
    columns: np.ndarray,
    original: np.ndarray,
) -> None:
    """Do the fits from `start` up to `stop`, as `fit` says; write into the last three arrays."""
    n_obs, n_features = features.shape
    members = np.empty(n_obs, np.int64)
    n_lanes = (n_obs + LANES - 1) // LANES * LANES
    y, error, scratch = np.empty(n_lanes), np.empty(n_lanes), np.empty((4, n_lanes))
    design = np.empty((WIDEST + 1, n_lanes))
    hessian, factors = np.empty((WIDEST + 1, WIDEST + 1)), np.empty((WIDEST + 1, WIDEST + 1))
    mean, inverse_sd = np.empty(n_features), np.empty(n_features)
    penalty, excess = np.empty(n_features), np.empty(n_features)
    working = np.empty(WIDEST, np.int64)
    centre, scale = np.empty(WIDEST), np.empty(WIDEST)
    b, l1s, l2s = np.empty(WIDEST + 1), np.empty(WIDEST + 1), np.empty(WIDEST + 1)
    for row in range(start, stop):
        response = responses[row if len(responses) > 1 else 0]
        size, positive = 0, 0.0
        for i in range(n_obs):
            if learning[row, i]:
                members[size], y[size] = i, response[i]
                positive += response[i]
                size += 1
        share = positive / size
        lanes = (size + LANES - 1) // LANES * LANES
        for i in range(lanes):
            design[0, i] = 1.0 if i < size else 0.0
            if i >= size:
                y[i] = 0.0
            error[i] = (y[i] - share) / size if i < size else 0.0
        _moments(features, members[:size], mean, inverse_sd)
        for j in range(n_features):
            factor = 1.0
            if not standardize and inverse_sd[j] > 0.0:
                factor = inverse_sd[j] / spread[j]
            penalty[j] = l1[row] * factor if distinct[j] else np.inf
        b[0], l1s[0], l2s[0] = np.log(positive / (size - positive)), 0.0, 0.0
        n_working, steps = 0, 0
        finished = False
        while True:
            _scan(features, members[:size], error, inverse_sd, penalty, excess)
            outside = -np.inf
            for k in range(n_working):
                excess[working[k]] = -np.inf
            for j in range(n_features):
                outside = max(outside, excess[j])
            if outside <= (ROUNDING if steps == 0 else tolerance[row]):
                finished = steps == 0 or outside < -TIED * tolerance[row]
                break
            n_kept = _without_zeros(n_working, working, design, centre, scale, b, l1s, l2s, lanes)
            limit = min(n_kept + ADDED, WIDEST)
            if n_kept == WIDEST:
                break
            n_working = _join(excess, tolerance[row], working, n_kept, limit)
            for k in range(n_kept, n_working):
                column = working[k]
                centre[k], scale[k] = _standardise(
                    features, members[:size], column, design[1 + k], lanes
                )
                factor = 1.0
                if not standardize and scale[k] > 0.0:
                    factor = scale[k] / spread[column]
                b[1 + k], l1s[1 + k], l2s[1 + k] = 0.0, l1[row] * factor, l2[row] * factor**2
            taken = _newton(
                design,
                y,
                (1 + n_working, size, lanes),
                b,
                l1s,
                l2s,
                tolerance[row],
                max_steps - steps,
                scratch,
                error,
                hessian,
                factors,
            )
            if taken < 0:
                break
            steps += max(taken, 1)
        if not finished:
            continue
        original[row, 0] = b[0]
        for k in range(n_working):
            columns[row, k] = working[k]
            original[row, 1 + k] = b[1 + k] * scale[k]
            original[row, 0] -= b[1 + k] * scale[k] * centre[k]
        for i in range(n_obs):
            value = original[row, 0]
            for k in range(n_working):
                if b[1 + k] != 0.0:
                    value += original[row, 1 + k] * features[i, working[k]]
            log_odds[row, i] = value


@_compiled
def _moments(
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


@_compiled
def _scan(
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


@_compiled
def _without_zeros(
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
    kept = 0
    for k in range(n_working):
        if b[1 + k] == 0.0:
            continue
        if kept < k:
            working[kept], centre[kept], scale[kept] = working[k], centre[k], scale[k]
            b[1 + kept], l1s[1 + kept], l2s[1 + kept] = b[1 + k], l1s[1 + k], l2s[1 + k]
            for i in range(lanes):
                design[1 + kept, i] = design[1 + k, i]
        kept += 1
    return kept


@_compiled
def _join(excess: np.ndarray, least: float, working: np.ndarray, n_kept: int, limit: int) -> int:
    """Put the features with the largest excess behind the first `n_kept`; return their number."""
    count = n_kept
    for j in range(len(excess)):
        if excess[j] <= least or (count == limit and excess[j] <= excess[working[count - 1]]):
            continue
        place = min(count, limit - 1)
        while place > n_kept and excess[working[place - 1]] < excess[j]:
            working[place] = working[place - 1]
            place -= 1
        working[place] = j
        count = min(count + 1, limit)
    return count


@_compiled
def _standardise(
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


@_compiled
def _newton(
    design: np.ndarray,
    y: np.ndarray,
    shape: tuple[int, int, int],
    b: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    tolerance: float,
    max_steps: int,
    scratch: np.ndarray,
    error: np.ndarray,
    hessian: np.ndarray,
    factors: np.ndarray,
) -> int:
    """Minimise over a working set; return the steps that it took, -1 where it is given up.

    Arrays are longer than their use, which is `shape`: coefficients, observations, lanes.
    """
    q, size, lanes = shape
    gradient, new = np.empty(q), np.empty(q)
    active, step = np.empty(q, np.int64), np.empty(q)
    pivot = np.inf
    eta, other_eta, weight, weighted = scratch[0], scratch[1], scratch[2], scratch[3]
    _linear(design, b, q, lanes, eta)
    value = _objective(y, size, eta, b, l1, l2, q)
    for taken in range(max_steps + 1):
        for i in range(lanes):
            share = 1.0 / (1.0 + np.exp(-eta[i]))
            inside = design[0, i] / size
            error[i] = (y[i] - share) * inside
            weight[i] = max(share * (1.0 - share), LEAST_CURVATURE) * inside
        residual, tied = 0.0, False
        for k in range(q):
            slope = l2[k] * b[k]
            for i in range(lanes):
                slope -= design[k, i] * error[i]
            gradient[k] = slope
            if b[k] != 0.0 or l1[k] == 0.0:
                residual = max(residual, abs(slope + l1[k] * np.sign(b[k])))
            else:
                violation = abs(slope) - l1[k]
                residual = max(residual, violation)
                tied = tied or violation > -TIED * tolerance
        if residual <= tolerance:
            return -1 if tied or pivot <= LEAST_PIVOT else taken
        if not residual < np.inf or taken == max_steps:
            return -1
        for k in range(q):
            for i in range(lanes):
                weighted[i] = design[k, i] * weight[i]
            for m in range(k + 1):
                total = 0.0
                for i in range(lanes):
                    total += weighted[i] * design[m, i]
                hessian[k, m] = hessian[m, k] = total
            hessian[k, k] = (hessian[k, k] + l2[k]) * (1.0 + RIDGE)
        for k in range(q):
            new[k] = b[k]
        pivot = _minimise(hessian, gradient, new, l1, active, step, factors)
        for halvings in range(HALVINGS + 1):
            _linear(design, new, q, lanes, other_eta)
            new_value = _objective(y, size, other_eta, new, l1, l2, q)
            if new_value <= value + SLACK:
                break
            if halvings == HALVINGS:
                return -1
            for k in range(q):
                new[k] = 0.5 * (b[k] + new[k])
        for k in range(q):
            b[k] = new[k]
        for i in range(lanes):
            eta[i] = other_eta[i]
        value = new_value
    return -1


@_compiled
def _linear(design: np.ndarray, b: np.ndarray, q: int, lanes: int, eta: np.ndarray) -> None:
    """Linear predictor; zero where the design is filled up."""
    for i in range(lanes):
        eta[i] = 0.0
    for k in range(q):
        if b[k] != 0.0:
            for i in range(lanes):
                eta[i] += b[k] * design[k, i]


@_compiled
def _objective(
    y: np.ndarray,
    size: int,
    eta: np.ndarray,
    b: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    q: int,
) -> float:
    loss, penalty = 0.0, 0.0
    for i in range(size):
        loss += max(eta[i], 0.0) + np.log1p(np.exp(-abs(eta[i]))) - y[i] * eta[i]
    for k in range(q):
        penalty += l1[k] * abs(b[k]) + 0.5 * l2[k] * b[k] ** 2
    return loss / size + penalty


@_compiled
def _minimise(
    hessian: np.ndarray,
    slope: np.ndarray,
    b: np.ndarray,
    l1: np.ndarray,
    active: np.ndarray,
    step: np.ndarray,
    factors: np.ndarray,
) -> float:
    """Minimise the model from where it is exact, `slope` its gradient there.

    Returns the smallest pivot of the last exact solution, in units of its diagonal.
    """
    q, pivot = len(b), np.inf
    for _ in range(ROUNDS):
        for _ in range(CYCLES):
            if not _descend(hessian, slope, b, l1):
                break
        count = 0
        for k in range(q):
            if b[k] != 0.0 or l1[k] == 0.0:
                active[count] = k
                step[count] = -(slope[k] + l1[k] * np.sign(b[k]))
                count += 1
        pivot = _solve(hessian, active, count, factors, step)
        if not pivot > 0.0:
            break
        # Up to the first coefficient that becomes zero.
        share, crossing = 1.0, -1
        for a in range(count):
            k = active[a]
            if l1[k] > 0.0 and b[k] * (b[k] + step[a]) < 0.0 and -b[k] / step[a] < share:
                share, crossing = -b[k] / step[a], k
        for a in range(count):
            change = share * step[a]
            b[active[a]] += change
            _add_row(hessian, active[a], change, slope)
        if crossing >= 0:
            b[crossing] = 0.0
            continue
        optimal = True
        for k in range(q):
            if b[k] == 0.0 and l1[k] > 0.0 and abs(slope[k]) > l1[k] + ROUNDING:
                optimal = False
        if optimal:
            break
    # If not yet at its minimum, then below where it began: good enough for one step.
    return pivot


@_compiled
def _descend(hessian: np.ndarray, slope: np.ndarray, b: np.ndarray, l1: np.ndarray) -> bool:
    """One cycle of coordinate descent; whether a coefficient appeared or vanished."""
    changed = False
    for k in range(len(b)):
        diagonal = hessian[k, k]
        # A column of zeros, which is constant, has no coefficient.
        if diagonal <= 0.0 or (b[k] == 0.0 and l1[k] > 0.0 and abs(slope[k]) <= l1[k]):
            continue
        target = b[k] * diagonal - slope[k]
        value = np.sign(target) * max(abs(target) - l1[k], 0.0) / diagonal
        changed = changed or (value == 0.0) != (b[k] == 0.0)
        _add_row(hessian, k, value - b[k], slope)
        b[k] = value
    return changed


@_compiled
def _add_row(matrix: np.ndarray, row: int, factor: float, total: np.ndarray) -> None:
    """Add a multiple of a row to as many numbers as `total` has."""
    for m in range(len(total)):
        total[m] += matrix[row, m] * factor


@_compiled
def _solve(
    hessian: np.ndarray, active: np.ndarray, count: int, factors: np.ndarray, right: np.ndarray
) -> float:
    """Solve the system of the active coefficients by Cholesky's method, in place of `right`.

    Returns the smallest pivot in units of its diagonal; there is no solution if it is not positive.
    """
    least = np.inf
    for i in range(count):
        for j in range(i + 1):
            total = hessian[active[i], active[j]]
            for m in range(j):
                total -= factors[i, m] * factors[j, m]
            if i > j:
                factors[i, j] = total / factors[j, j]
            else:
                least = min(least, total / hessian[active[i], active[i]])
                if not least > 0.0:
                    return least
                factors[i, i] = np.sqrt(total)
        for m in range(i):
            right[i] -= factors[i, m] * right[m]
        right[i] /= factors[i, i]
    for i in range(count - 1, -1, -1):
        for m in range(i + 1, count):
            right[i] -= factors[m, i] * right[m]
        right[i] /= factors[i, i]
    return least
