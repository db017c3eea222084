"""Delsarte's linear programme on the Johnson scheme, with a certified bound."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np

from ucvtest.common.checks import as_integer

RELATIVE_ZERO = 1e-9
"""Share of the largest number of a linear programme below which another counts as zero."""

LONGEST_PROGRAMME = 46
"""Longest codes that linear programmes are solved for. At n = 50 their numbers, over 14 orders of
magnitude, are too coarse for the solver: what its solution proves is worse than the spectral bound,
where at n = 46 it is up to 4% better (for odd weights; for even ones near n/2 both are equal)."""

LONGEST_CODE = 2000
"""Longest codes that are looked at: bounds take minutes at half of it, and constructions memory."""

BINARY_DIGITS = 80
"""Digits to which a solution in floating point is kept before it is made feasible."""


def delsarte_bound(n_errors: int, n: int, weight: int) -> int:
    """Upper bound from Delsarte's linear programme on the Johnson scheme.

    Parameters
    ----------
    n_errors, n, weight : int

    Returns
    -------
    int
        Never below the value of the programme, whatever its solver does.

    Notes
    -----
    With a_i the average number of code words at distance 2i from a code word, a_1 <= 2W, and
    ``1 + sum_i a_i E_i(k)/v_i >= 0`` for the eigenvalues E_i(k) (Eberlein polynomials) and
    valencies v_i of the scheme; ``|C| = 1 + sum_i a_i`` is maximised (Delsarte 1973, An
    algebraic approach to the association schemes of coding theory, with one more
    constraint). A solution of the dual bounds it from above: HiGHS finds which constraints
    bind, the equations are solved in fractions, and feasibility is checked in whole numbers;
    where that fails, the solver's own solution is made feasible.

    Examples
    --------
    >>> from ucvtest.codes.linear_programme import delsarte_bound
    >>> delsarte_bound(7, 30, 15)
    18249120
    """
    n_errors, n, weight = code_size(n_errors, n, weight)
    check_length(n)
    w = min(weight, n - weight)
    if 2 * n_errors >= w * (n - w):
        return comb(n, w)  # no word has more neighbours
    return _delsarte_bound(n_errors, n, w)


@cache
def _delsarte_bound(n_errors: int, n: int, w: int) -> int:
    scheme = _johnson_scheme(n, w)
    solution = _solve_programme(n_errors, scheme)
    dual = _exact_dual(scheme, solution)
    if dual is None:
        dual = [Fraction(round(y * 2**BINARY_DIGITS), 2**BINARY_DIGITS) for y in solution.dual]
    return min(comb(n, w), _certified(n_errors, scheme, dual))


def code_size(n_errors: int, n: int, weight: int) -> tuple[int, int, int]:
    """W, n and w as Python's own integers, which do not overflow as NumPy's do."""
    arguments = {"n_errors": n_errors, "n": n, "weight": weight}
    n_errors, n, weight = (as_integer(name, value) for name, value in arguments.items())
    if n_errors < 0 or not 0 < weight < n:
        raise ValueError(
            f"n_errors must not be negative and weight lie between 1 and n - 1, got n_errors = "
            f"{n_errors}, n = {n}, weight = {weight}"
        )
    return n_errors, n, weight


def check_length(n: int) -> None:
    """Refuse codes that are too long to compute with."""
    if n > LONGEST_CODE:
        raise ValueError(f"n must be at most {LONGEST_CODE}, got {n}: bounds take too long beyond")


@dataclass(frozen=True)
class _Scheme:
    """The Johnson scheme J(n, w): relation i = 0..w joins words at distance 2i."""

    valencies: list[int]
    multiplicities: list[int]
    eigenvalues: list[list[int]]
    """``eigenvalues[i][k]``: of relation i on eigenspace k."""


@cache
def _johnson_scheme(n: int, w: int) -> _Scheme:
    relations = range(w + 1)
    return _Scheme(
        [comb(w, i) * comb(n - w, i) for i in relations],
        [comb(n, k) - (comb(n, k - 1) if k else 0) for k in relations],
        [
            [
                sum(
                    (-1) ** j * comb(k, j) * comb(w - k, i - j) * comb(n - w - k, i - j)
                    for j in range(min(i, k) + 1)
                )
                for k in relations
            ]
            for i in relations
        ],
    )


@dataclass(frozen=True, eq=False)
class _Solution:
    """What the solver says, in floating point."""

    dual: np.ndarray
    """y_k, k = 1..w"""
    binding: np.ndarray
    """Which y_k are above zero: their constraints bind."""
    positive: np.ndarray
    """Which a_i, i = 1..w, are above zero and below their bound: the dual's bind."""


def _solve_programme(n_errors: int, scheme: _Scheme) -> _Solution:
    from scipy.optimize import linprog

    # Scaled so that the matrix is part of an orthogonal one: the numbers of the scheme itself
    # span ten orders of magnitude and more.
    v, m = np.array(scheme.valencies[1:], float), np.array(scheme.multiplicities[1:], float)
    n_words = float(sum(scheme.valencies))
    rows, columns = np.sqrt(m / n_words), np.sqrt(v)
    # Divided as integers, each ratio E_i(k)/v_i is correctly rounded.
    pairs = zip(scheme.eigenvalues, scheme.valencies, strict=True)
    ratios = np.array([[value / valency for value in row] for row, valency in pairs]).T
    matrix = rows[:, None] * ratios[1:, 1:] * columns
    upper = np.full(len(v), np.inf)
    upper[0] = 2 * n_errors / columns[0]
    optimum = linprog(
        -columns,
        A_ub=-matrix,
        b_ub=rows,
        bounds=np.column_stack([np.zeros_like(upper), upper]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if optimum.status != 0:
        # Every dual that is made feasible bounds the programme; this one is the trivial bound.
        none = np.zeros(len(v), dtype=bool)
        return _Solution(np.zeros(len(v)), none, none)
    dual, primal = np.maximum(-optimum.ineqlin.marginals, 0.0), optimum.x
    positive = primal > RELATIVE_ZERO * primal.max()
    positive &= primal < upper * (1 - RELATIVE_ZERO)
    return _Solution(dual * rows, dual > RELATIVE_ZERO * dual.max(), positive)


def _exact_dual(scheme: _Scheme, numerical: _Solution) -> list[Fraction] | None:
    """The dual solution in fractions, from the constraints that bind; None if they do not fit."""
    columns, rows = np.flatnonzero(numerical.binding), np.flatnonzero(numerical.positive)
    if len(rows) != len(columns) or not len(rows):
        return None
    system = [
        [Fraction(scheme.eigenvalues[i + 1][k + 1]) for k in columns]
        + [Fraction(-scheme.valencies[i + 1])]
        for i in rows
    ]
    solution = _solved(system)
    if solution is None or min(solution) < 0:
        return None
    exact = [Fraction(0)] * len(numerical.dual)
    for k, value in zip(columns, solution, strict=True):
        exact[k] = value
    return exact


def _solved(system: list[list[Fraction]]) -> list[Fraction] | None:
    """Solution of equations whose last column is the right-hand side; None if singular."""
    size = len(system)
    for column in range(size):
        pivot = next((row for row in range(column, size) if system[row][column]), None)
        if pivot is None:
            return None
        system[column], system[pivot] = system[pivot], system[column]
        lead = system[column]
        for row in range(size):
            if row != column and system[row][column]:
                factor = system[row][column] / lead[column]
                system[row] = [
                    a if not b else a - factor * b for a, b in zip(system[row], lead, strict=True)
                ]
    return [system[row][size] / system[row][row] for row in range(size)]


def _certified(n_errors: int, scheme: _Scheme, dual: list[Fraction]) -> int:
    """The bound that non-negative numbers prove, after they are made feasible: exact.

    Feasible are y >= 0, z >= 0 with ``sum_k y_k E_i(k) <= -v_i`` for i >= 2 and ``sum_k y_k E_1(k)
    <= (z - 1) v_1``. The multiplicities m_k satisfy all with equality and z = 0, so adding them
    often enough repairs every violation.
    """
    y = [max(value, Fraction(0)) for value in dual]
    sums = [
        sum(
            (value * coefficient for value, coefficient in zip(y, row[1:], strict=True)),
            Fraction(0),
        )
        for row in scheme.eigenvalues
    ]
    repair = max(
        (1 + sums[i] / scheme.valencies[i] for i in range(2, len(sums))), default=Fraction(0)
    )
    repair = max(repair, Fraction(0))
    z = max(1 + sums[1] / scheme.valencies[1] - repair, Fraction(0))
    total = sum(y, Fraction(0)) + repair * sum(scheme.multiplicities[1:])
    return int((1 + total + 2 * n_errors * z) // 1)
