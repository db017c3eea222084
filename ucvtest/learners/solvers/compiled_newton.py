"""Newton steps of elastic-net logistic regression on a few features, compiled by Numba.

One step minimises the quadratic model of the loss: coordinate descent finds the support, exact
solutions on that support follow. `ucvtest.learners.solvers.compiled_logistic` says which features.
This module needs Numba; import it where it is used.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

TIED = 10.0
"""Tolerances between a gradient and its penalty; a zero coefficient is uncertain within them."""

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

ROUNDING = 1e-12
"""Gradients this much above the penalty are at it: the null model is optimal."""


def compiled(python_function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and keep the machine code for later processes.

    Sums may be reordered, which depends on their length alone; NaN and infinity keep their rules.
    """
    fastmath = {"reassoc", "contract", "nsz"}
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    try:
        return njit(cache=True, **options)(python_function)
    except RuntimeError:  # no folder to keep it in
        return njit(**options)(python_function)


@compiled
def newton(
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
    gradient, new_b = np.empty(q), np.empty(q)
    active, step = np.empty(q, np.int64), np.empty(q)
    pivot = np.inf
    eta, other_eta, weight, weighted = scratch[0], scratch[1], scratch[2], scratch[3]
    _linear(design, b, q, lanes, eta)
    value = _objective(y, size, eta, b, l1, l2, q)
    for n_steps in range(max_steps + 1):
        for i in range(lanes):
            probability = 1.0 / (1.0 + np.exp(-eta[i]))
            inside = design[0, i] / size
            error[i] = (y[i] - probability) * inside
            weight[i] = max(probability * (1.0 - probability), LEAST_CURVATURE) * inside
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
            return -1 if tied or pivot <= LEAST_PIVOT else n_steps
        if not residual < np.inf or n_steps == max_steps:
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
            new_b[k] = b[k]
        pivot = _minimise(hessian, gradient, new_b, l1, active, step, factors)
        for halvings in range(HALVINGS + 1):
            _linear(design, new_b, q, lanes, other_eta)
            new_value = _objective(y, size, other_eta, new_b, l1, l2, q)
            if new_value <= value + SLACK:
                break
            if halvings == HALVINGS:
                return -1
            for k in range(q):
                new_b[k] = 0.5 * (b[k] + new_b[k])
        for k in range(q):
            b[k] = new_b[k]
        for i in range(lanes):
            eta[i] = other_eta[i]
        value = new_value
    return -1


@compiled
def _linear(design: np.ndarray, b: np.ndarray, q: int, lanes: int, eta: np.ndarray) -> None:
    """Linear predictor; zero where the design is filled up."""
    for i in range(lanes):
        eta[i] = 0.0
    for k in range(q):
        if b[k] != 0.0:
            for i in range(lanes):
                eta[i] += b[k] * design[k, i]


@compiled
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


@compiled
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
        step_share, crossing = 1.0, -1
        for a in range(count):
            k = active[a]
            if l1[k] > 0.0 and b[k] * (b[k] + step[a]) < 0.0 and -b[k] / step[a] < step_share:
                step_share, crossing = -b[k] / step[a], k
        for a in range(count):
            change = step_share * step[a]
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


@compiled
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


@compiled
def _add_row(matrix: np.ndarray, row: int, factor: float, total: np.ndarray) -> None:
    """Add a multiple of a row to as many numbers as `total` has."""
    for m in range(len(total)):
        total[m] += matrix[row, m] * factor


@compiled
def _solve(
    hessian: np.ndarray, active: np.ndarray, count: int, factors: np.ndarray, right: np.ndarray
) -> float:
    """Solve the system of the active coefficients by Cholesky's method, in place of `right`.

    Returns the smallest pivot in units of its diagonal; there is no solution if it is not positive.
    """
    least_pivot_ratio = np.inf
    for i in range(count):
        for j in range(i + 1):
            total = hessian[active[i], active[j]]
            for m in range(j):
                total -= factors[i, m] * factors[j, m]
            if i > j:
                factors[i, j] = total / factors[j, j]
            else:
                least_pivot_ratio = min(least_pivot_ratio, total / hessian[active[i], active[i]])
                if not least_pivot_ratio > 0.0:
                    return least_pivot_ratio
                factors[i, i] = np.sqrt(total)
        for m in range(i):
            right[i] -= factors[i, m] * right[m]
        right[i] /= factors[i, i]
    for i in range(count - 1, -1, -1):
        for m in range(i + 1, count):
            right[i] -= factors[m, i] * right[m]
        right[i] /= factors[i, i]
    return least_pivot_ratio
