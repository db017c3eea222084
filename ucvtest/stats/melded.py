"""The confidence distribution of lower ends of a difference of paired shares, for many tables.

Fay and Lumbard (2021): see `PairedCounts`. Tables have `first` observations where only the first
rule errs and `second` where only the second does, of `n_obs`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import betainc, betaincinv, betaln, ndtri

NEGLIGIBLE = 1e-14
"""Probability at either end that integrals over a beta distribution leave out."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)

ABSOLUTE, RELATIVE = 1e-14, 1e-13
"""Precision of ends."""

LEAST_TAIL, MOST_TAIL = 1e-300, 1 - 1e-16
"""Probabilities between which normal quantiles are finite."""

MOST_STEPS = 200
"""Bisection alone takes fifty."""


class Melded:
    """Probabilities of psi (2 theta - 1) <= delta, for theta Beta(b, c + 1) and psi Beta(p, q).

    Of tables (M,) where the first rule errs alone at least once; each for negative deltas, where
    psi has its upper confidence distribution, or for positive ones.
    """

    def __init__(
        self, first: np.ndarray, second: np.ndarray, n_obs: int, negative: np.ndarray
    ) -> None:
        telling = first + second
        self.theta = first, second + 1
        self.p, self.q = np.where(negative, telling + 1, telling), n_obs - telling + ~negative
        # All observations are telling ones, so that psi is 1.
        self.whole = self.q == 0
        q = np.maximum(self.q, 1)
        self.low, self.high = (betaincinv(self.p, q, x) for x in (NEGLIGIBLE, 1 - NEGLIGIBLE))
        self.log_size = betaln(self.p, q)

    def below(self, delta: np.ndarray, tables: Any = slice(None)) -> np.ndarray:
        """The probabilities of some of the tables, for a delta each."""
        b, c, p, q = (array[tables, None] for array in (*self.theta, self.p, self.q))
        low = np.maximum(np.abs(delta), self.low[tables])[:, None]
        width = np.maximum(self.high[tables, None] - low, 0)
        psi = low + width * (NODES + 1) / 2
        # Where nothing is left to integrate, psi can be 1.
        with np.errstate(divide="ignore", invalid="ignore"):
            log_density = (p - 1) * np.log(psi) + (q - 1) * np.log1p(-psi)
            density = np.exp(log_density - self.log_size[tables, None])
            inside = density * betainc(b, c, (1 + delta[:, None] / psi) / 2)
        # A share below delta cannot stretch the difference beyond it.
        total = betainc(p[:, 0], np.maximum(q[:, 0], 1), np.maximum(delta, 0))
        total += np.where(width > 0, inside, 0) @ WEIGHTS * width[:, 0] / 2
        return np.where(q[:, 0] == 0, betainc(b[:, 0], c[:, 0], (1 + delta) / 2), total)


def lower_ends(first: np.ndarray, second: np.ndarray, n_obs: int, tail: np.ndarray) -> np.ndarray:
    """The quantiles of the melded confidence distributions of lower ends, (M,)."""
    ends, telling = np.full(len(first), -1.0), first + second
    # Where the first rule never errs alone, its share of the telling ones is taken for 0.
    never = (first == 0) & (telling < n_obs)
    ends[never] = -betaincinv(telling[never] + 1, n_obs - telling[never], 1 - tail[never])
    at_zero = betainc(np.maximum(first, 1), second + 1, 0.5)
    # The test rejects there, so 0 lies outside by the smallest step there is.
    ends[(first > 0) & (at_zero == tail) & (tail > 0)] = math.nextafter(0.0, 1.0)
    searched = (first > 0) & (at_zero != tail) & (tail > 0)
    b, c, tail, at_zero = (array[searched] for array in (first, second, tail, at_zero))
    if not len(b):
        return ends
    negative, target = at_zero > tail, _normal(tail)
    melded = Melded(b, c, n_obs, negative)

    def excess(delta: np.ndarray, tables: np.ndarray) -> np.ndarray:
        return _normal(melded.below(delta, tables)) - target[tables]

    # The distribution is 0 at -1 and 1 at 1.
    low, high = (_normal(np.where(negative, *p)) - target for p in ((0, at_zero), (at_zero, 1)))
    share = (b - c) / n_obs
    guess = share + target * np.sqrt(np.maximum((b + c) / n_obs - share**2, 0) / n_obs)
    start = np.where(negative, -1.0, 0.0)
    ends[searched] = _roots(excess, (start, low), (start + 1, high), guess)
    return ends


def _normal(probability: np.ndarray) -> np.ndarray:
    """Normal quantiles; those of confidence distributions are nearly linear in the end."""
    return np.asarray(ndtri(np.clip(probability, LEAST_TAIL, MOST_TAIL)))


def _roots(
    function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    low: tuple[np.ndarray, np.ndarray],
    high: tuple[np.ndarray, np.ndarray],
    guess: np.ndarray,
) -> np.ndarray:
    """Roots of continuous functions, one between each `low` and `high` (Chandrupatla 1997).

    `function` takes arguments and which of the functions they are for; both ends come with values.
    """
    (a, f_a), (b, f_b) = low, high
    active = np.arange(len(a))
    t = np.clip((guess - a) / (b - a), 0.02, 0.98)
    roots = np.empty(len(a))
    for _ in range(MOST_STEPS):
        if not len(active):
            break
        x = a + t * (b - a)
        f_x = function(x, active)
        same = np.sign(f_x) == np.sign(f_a)
        c, f_c = np.where(same, a, b), np.where(same, f_a, f_b)
        b, f_b = np.where(same, b, a), np.where(same, f_b, f_a)
        a, f_a = x, f_x
        roots[active] = best = np.where(np.abs(f_a) < np.abs(f_b), a, b)
        least = (2 * RELATIVE * np.abs(best) + ABSOLUTE) / np.abs(b - a)
        searched = (least < 0.5) & (f_x != 0)
        active = active[searched]
        a, b, c, f_a, f_b, f_c = (array[searched] for array in (a, b, c, f_a, f_b, f_c))
        least = least[searched]
        # The inverse quadratic through the three points where it is monotone, else the middle.
        with np.errstate(divide="ignore", invalid="ignore"):
            xi, phi = (a - b) / (c - b), (f_a - f_b) / (f_c - f_b)
            curved = f_a / (f_b - f_a) * f_c / (f_b - f_c) + (c - a) / (b - a) * f_a / (
                f_c - f_a
            ) * f_b / (f_c - f_b)
        monotone = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
        t = np.clip(np.where(monotone, curved, 0.5), least, 1 - least)
    return roots
