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
from functools import cache
from importlib import resources
from math import comb

import numpy as np

from ucvtest.codes.linear_programme import (
    LONGEST_CODE,
    LONGEST_PROGRAMME,
    check_length,
    code_size,
    delsarte_bound,
)
from ucvtest.common.checks import at_least

KNOWN_CODES = "constant_weight_codes.csv"


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
        Unpacks to ``(lower, upper)``; both are valid, and equal for weights 1, 2, n - 2, n - 1.

    Raises
    ------
    ValueError
        If an argument is not an integer, `n_errors` is negative, or `weight` is not between 1 and
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
    n_errors, n, weight = code_size(n_errors, n, weight)
    check_length(n)
    w = min(weight, n - weight)
    # From short to long, so that the recursion is never deep.
    for length in range(2, n):
        for part_weight in range(max(1, w - (n - length)), min(w, length // 2) + 1):
            _upper(n_errors, length, part_weight)
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
    >>> from ucvtest.codes.bounds import spectral_bound
    >>> spectral_bound(7, 30, 15)
    18743367
    """
    n_errors, n, weight = code_size(n_errors, n, weight)
    w = min(weight, n - weight)
    n_words = comb(n, w)
    return min(n_words, n_words * (2 * n_errors + w) // (w * (n - w + 1)))


def known_code_sizes() -> list[dict[str, str]]:
    """Known bounds for A(n, 4, w) = L(0, n, w), n <= 28, with the source of each.

    Returns
    -------
    list of dict
        Keys n, w, lower, upper, lower_source, upper_source; the values are text.
    """
    path = resources.files("ucvtest.codes").joinpath(KNOWN_CODES)
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

    Raises
    ------
    ValueError
        If an argument is not an integer, negative, or too large; the modulus must be positive.

    Notes
    -----
    Modulo n - 2W, for n >= 4W, each class is a W-light code: Proposition 4 (Graham and Sloane
    1980 for W = 0).

    Examples
    --------
    >>> from ucvtest.codes.bounds import residue_class_sizes
    >>> residue_class_sizes(6, 3, 6)
    [4, 3, 3, 4, 3, 3]
    """
    weight, n = at_least("weight", weight, 0), at_least("n", n, 0)
    modulus = at_least("modulus", modulus, 1)
    for name, value in (("n", n), ("weight", weight), ("modulus", modulus)):
        if value > LONGEST_CODE:
            raise ValueError(f"{name} must be at most {LONGEST_CODE}, got {value}")
    # counts[j][r]: subsets of the positions so far with j elements and sum r; exact integers.
    counts = np.zeros((weight + 1, modulus), dtype=object)
    counts[0, 0] = 1
    for position in range(1, n + 1):
        counts[1:] = counts[1:] + np.roll(counts[:-1], position % modulus, axis=1)
    return [int(count) for count in counts[weight]]


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


def _known(bound_kind: str, n: int, w: int) -> list[tuple[int, str]]:
    row = _known_by_size().get((n, w))
    return [] if row is None else [(int(row[bound_kind]), row[f"{bound_kind}_source"])]


def _triples(n: int) -> int:
    """A(n, 4, 3), the most triples without two that share a pair."""
    return n * ((n - 1) // 2) // 3 - (n % 6 == 5)


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
