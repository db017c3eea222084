"""Bounds for light constant-weight codes: how many labelings any algorithm can fit.

Pahikkala et al. (2025): a code of length n and weight w is W-light if the edges of the
Johnson graph (two words are joined if they differ by one transposition) can be given
directions such that at most W of them leave each word of the code. L(W, n, w), the largest
size, is the largest number of labelings with w positives for which any algorithm makes at
most W leave-pair-out errors. L(0, n, w) is A(n, 4, w), the largest code of distance 4.
Whole numbers only: no bound is ever rounded the wrong way.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import resources
from math import comb

import numpy as np

from ucvtest.base import as_integer

__all__ = [
    "CodeBounds",
    "delsarte_bound",
    "known_code_sizes",
    "light_code_bounds",
    "residue_class_sizes",
    "spectral_bound",
]

KNOWN_CODES = "constant_weight_codes.csv"

RELATIVE_ZERO = 1e-9
"""Share of the largest number of a linear programme below which another counts as zero."""

LONGEST_PROGRAMME = 46
"""Longest codes that linear programmes are solved for. At n = 50 their numbers, over 14 orders of
magnitude, are too coarse for the solver: what its solution proves is worse than the spectral bound,
where at n = 46 it is up to 4% better (for odd weights; for even ones near n/2 both are equal)."""

BINARY_DIGITS = 80
"""Digits to which a solution in floating point is kept before it is made feasible."""


@dataclass(frozen=True)
class CodeBounds:
    """Bounds for L(W, n, w), the largest size of a light code; unpacks to (lower, upper).

    Parameters
    ----------
    lower, upper : int
    lower_source, upper_source : str
        Where they come from.
    """

    lower: int
    upper: int
    lower_source: str
    upper_source: str

    def __iter__(self) -> Iterator[int]:
        return iter((self.lower, self.upper))

    @property
    def exact(self) -> bool:
        """Whether the two are equal."""
        return self.lower == self.upper


def light_code_bounds(n_errors: int, n: int, weight: int) -> CodeBounds:
    """The best known bounds for the largest light code.

    Parameters
    ----------
    n_errors : int
        W, the number of leave-pair-out errors that is not exceeded.
    n : int
        Length: the number of observations.
    weight : int
        Number of positive observations.

    Returns
    -------
    CodeBounds
        Unpacks to ``(lower, upper)``; both hold, and are equal for weights 1, 2, n - 2, n - 1.

    Raises
    ------
    ValueError
        If an argument is no integer, `n_errors` is negative, or `weight` is not between 1 and
        n - 1.

    Notes
    -----
    Upper bounds: weights 1 and n - 1, min(2W + 1, n), a tournament; 2 and n - 2, Proposition
    2; Johnson's recursions, Proposition 3, applied to the best bounds for n - 1; the spectral
    bound (`spectral_bound`); to n = 46 Delsarte's linear programme (`delsarte_bound`); all
    words where 2W >= w (n - w), by an Eulerian orientation; for W = 0 also known sizes
    (`known_code_sizes`). Lower bounds: the largest residue class of Proposition 4, counted;
    unions of residue classes modulo n; any 2W + 1 words; known sizes. Only the upper bound
    gives a valid p-value. Results are kept in memory.

    Examples
    --------
    >>> import ucvtest as uv
    >>> lower, upper = uv.codes.light_code_bounds(0, 12, 6)
    >>> lower, upper
    (132, 132)
    """
    n_errors, n, weight = _code_size(n_errors, n, weight)
    w = min(weight, n - weight)
    # From short lengths to long ones, so that the recursion is never deep.
    for length in range(2, n):
        for each in range(max(1, w - (n - length)), min(w, length // 2) + 1):
            _upper(n_errors, length, each)
    upper, upper_source = _upper(n_errors, n, w)
    lower, lower_source = _lower(n_errors, n, w)
    return CodeBounds(lower, upper, lower_source, upper_source)


def spectral_bound(n_errors: int, n: int, weight: int) -> int:
    """Upper bound from the least eigenvalue of the Johnson graph.

    Parameters
    ----------
    n_errors, n, weight : int

    Returns
    -------
    int

    Notes
    -----
    With w the smaller class, the graph is regular of degree k = w (n - w) with least
    eigenvalue -w, and a light code has average induced degree at most 2W. Hoffman's argument
    for the indicator of a set C among N vertices, ``e'Ae >= (k + w) |C|^2/N - w |C|``, gives
    ``|C| <= N (2W + w)/(w (n - w + 1))``.

    Examples
    --------
    >>> from ucvtest.codes import spectral_bound
    >>> spectral_bound(7, 30, 15)
    18743367
    """
    n_errors, n, weight = _code_size(n_errors, n, weight)
    w = min(weight, n - weight)
    n_words = comb(n, w)
    return min(n_words, n_words * (2 * n_errors + w) // (w * (n - w + 1)))


@cache
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
    >>> from ucvtest.codes import delsarte_bound
    >>> delsarte_bound(7, 30, 15)
    18249120
    """
    n_errors, n, weight = _code_size(n_errors, n, weight)
    w = min(weight, n - weight)
    scheme = _johnson_scheme(n, w)
    found = _solve_programme(n_errors, scheme)
    dual = _exact_dual(scheme, found)
    if dual is None:
        dual = [Fraction(round(y * 2**BINARY_DIGITS), 2**BINARY_DIGITS) for y in found.dual]
    return min(comb(n, w), _certified(n_errors, scheme, dual))


def known_code_sizes() -> list[dict[str, str]]:
    """Known bounds for A(n, 4, w) = L(0, n, w), n <= 28, with the source of each.

    Returns
    -------
    list of dict
        Keys n, w, lower, upper, lower_source, upper_source; the values are text.
    """
    path = resources.files("ucvtest").joinpath("data", KNOWN_CODES)
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def residue_class_sizes(n: int, weight: int, modulus: int) -> list[int]:
    """How many words of a weight have a sum of positions in each residue class.

    Parameters
    ----------
    n, weight, modulus : int

    Returns
    -------
    list of int, length modulus

    Notes
    -----
    Modulo n - 2W, for n >= 4W, each class is a W-light code: Proposition 4 (Graham and Sloane
    1980 for W = 0).

    Examples
    --------
    >>> from ucvtest.codes import residue_class_sizes
    >>> residue_class_sizes(6, 3, 6)
    [4, 3, 3, 4, 3, 3]
    """
    weight, n = as_integer("weight", weight), as_integer("n", n)
    modulus = as_integer("modulus", modulus)
    # counts[j][r]: subsets of the positions so far with j elements and sum r; exact integers.
    counts = np.zeros((weight + 1, modulus), dtype=object)
    counts[0, 0] = 1
    for position in range(1, n + 1):
        counts[1:] = counts[1:] + np.roll(counts[:-1], position % modulus, axis=1)
    return [int(count) for count in counts[weight]]


def _code_size(n_errors: int, n: int, weight: int) -> tuple[int, int, int]:
    """W, n and w as Python's own integers, which do not overflow as NumPy's do."""
    given = {"n_errors": n_errors, "n": n, "weight": weight}
    n_errors, n, weight = (as_integer(name, value) for name, value in given.items())
    if n_errors < 0 or not 0 < weight < n:
        raise ValueError(
            f"n_errors must not be negative and weight lie between 1 and n - 1, got n_errors = "
            f"{n_errors}, n = {n}, weight = {weight}"
        )
    return n_errors, n, weight


# ------------------------------------------------------------------------------ upper bounds


@cache
def _upper(n_errors: int, n: int, w: int) -> tuple[int, str]:
    """The best upper bound and its source; 1 <= w <= n/2, or w = 1."""
    if 2 * n_errors >= w * (n - w):
        return comb(n, w), "all words: an Eulerian orientation"
    if w == 1:
        return min(2 * n_errors + 1, n), "tournament"
    if w == 2:
        return min((n_errors + 1) * n // 2, comb(n, 2)), "Proposition 2"
    zeros = _canonical(n_errors, n - 1, w)[0]
    bounds = [
        (n * _canonical(n_errors, n - 1, w - 1)[0] // w, "recursion (16) of Proposition 3"),
        (n * zeros // (n - w), "recursion (17) of Proposition 3"),
        (spectral_bound(n_errors, n, w), "spectral bound"),
    ]
    if n <= LONGEST_PROGRAMME:
        bounds.append((delsarte_bound(n_errors, n, w), "Delsarte's linear programme"))
    if n_errors == 0:
        bounds += _known("upper", n, w)
        if w == 3:
            bounds.append((_triples(n), "packing of triples (Schönheim 1966, Spencer 1968)"))
    return min(bounds, key=lambda bound: bound[0])


def _canonical(n_errors: int, n: int, w: int) -> tuple[int, str]:
    return _upper(n_errors, n, min(w, n - w))


@cache
def _known_by_size() -> dict[tuple[int, int], dict[str, str]]:
    return {(int(row["n"]), int(row["w"])): row for row in known_code_sizes()}


def _known(side: str, n: int, w: int) -> list[tuple[int, str]]:
    row = _known_by_size().get((n, w))
    return [] if row is None else [(int(row[side]), row[f"{side}_source"])]


def _triples(n: int) -> int:
    """A(n, 4, 3), the most triples of which no two have a pair in common."""
    return n * ((n - 1) // 2) // 3 - (n % 6 == 5)


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
    """Solve the programme by HiGHS."""
    from scipy.optimize import linprog

    # Scaled so that the matrix is part of an orthogonal one: the numbers of the scheme itself
    # span ten orders of magnitude and more.
    v, m = np.array(scheme.valencies[1:], float), np.array(scheme.multiplicities[1:], float)
    n_words = float(sum(scheme.valencies))
    rows, columns = np.sqrt(m / n_words), np.sqrt(v)
    matrix = rows[:, None] * _ratios(scheme)[1:, 1:] * columns
    upper = np.full(len(v), np.inf)
    upper[0] = 2 * n_errors / columns[0]
    found = linprog(
        -columns,
        A_ub=-matrix,
        b_ub=rows,
        bounds=np.column_stack([np.zeros_like(upper), upper]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status != 0:
        # Every dual that is made feasible bounds the programme; this one is the trivial bound.
        none = np.zeros(len(v), dtype=bool)
        return _Solution(np.zeros(len(v)), none, none)
    dual, primal = np.maximum(-found.ineqlin.marginals, 0.0), found.x
    positive = primal > RELATIVE_ZERO * primal.max()
    positive &= primal < upper * (1 - RELATIVE_ZERO)
    return _Solution(dual * rows, dual > RELATIVE_ZERO * dual.max(), positive)


def _ratios(scheme: _Scheme) -> np.ndarray:
    """E_i(k)/v_i as floats, row k and column i: each correctly rounded."""
    pairs = zip(scheme.eigenvalues, scheme.valencies, strict=True)
    return np.array([[value / valency for value in row] for row, valency in pairs]).T


def _exact_dual(scheme: _Scheme, found: _Solution) -> list[Fraction] | None:
    """The dual solution in fractions, from the constraints that bind; None if they do not fit."""
    columns, rows = np.flatnonzero(found.binding), np.flatnonzero(found.positive)
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
    exact = [Fraction(0)] * len(found.dual)
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

    Feasible are y >= 0, z >= 0 with ``sum_k y_k E_i(k) <= -v_i`` for i >= 2 and
    ``sum_k y_k E_1(k) <= (z - 1) v_1``. The multiplicities m_k satisfy all with equality and
    z = 0, so adding them often enough repairs every violation.
    """
    y = [max(value, Fraction(0)) for value in dual]
    sums = [
        sum((value * each for value, each in zip(y, row[1:], strict=True)), Fraction(0))
        for row in scheme.eigenvalues
    ]
    repair = max(
        (1 + sums[i] / scheme.valencies[i] for i in range(2, len(sums))), default=Fraction(0)
    )
    repair = max(repair, Fraction(0))
    z = max(1 + sums[1] / scheme.valencies[1] - repair, Fraction(0))
    total = sum(y, Fraction(0)) + repair * sum(scheme.multiplicities[1:])
    return int((1 + total + 2 * n_errors * z) // 1)


# ------------------------------------------------------------------------------ lower bounds


@cache
def _lower(n_errors: int, n: int, w: int) -> tuple[int, str]:
    """The best lower bound and its source; 1 <= w <= n/2."""
    if 2 * n_errors >= w * (n - w) or w <= 2:
        return _upper(n_errors, n, w)
    modulus = n - 2 * min(n_errors, n // 4)
    n_classes = 1 + 2 * n_errors // w
    classes = sorted(residue_class_sizes(n, w, n), reverse=True)
    bounds = [
        (max(residue_class_sizes(n, w, modulus)), f"Proposition 4, sums modulo {modulus}"),
        # A word has at most w neighbours in each other class, so at most 2W in all.
        (sum(classes[:n_classes]), f"{n_classes} classes of sums modulo {n}"),
        (2 * n_errors + 1, "any 2W + 1 words"),
        *_known("lower", n, w),
    ]
    if w == 3:
        bounds.append((_triples(n), "packing of triples (Schönheim 1966, Spencer 1968)"))
    return max(bounds, key=lambda bound: bound[0])
