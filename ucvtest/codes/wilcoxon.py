r"""The Wilcoxon-Mann-Whitney distribution of large samples, exact but for rounding errors.

Its generating function is the Gaussian binomial :math:`G(q) = \prod_i (1 - q^{m + i})/(1 - q^i)`
over i = 1, ..., w. With :math:`q = e^{-t + i\theta}` it is the characteristic function of the
distribution tilted by :math:`e^{-tu}`, which is normal but for a little: beyond some sixty
frequencies there is nothing left, and a Fourier sum gives the probabilities within a few standard
deviations of the tilted mean to eleven digits. Some dozens of tilts suffice for all floating-point
numbers, up to the median; the rest is its mirror image. A class of few observations has fewer
correct digits, because its distribution is less smooth: eight for 10 of 40200, four for 4 of
250100.
"""

import math

import numpy as np
from scipy.special import gammaln

REACH = 3.0
"""Standard deviations from the tilted mean within which probabilities are taken."""

PERIOD = 32.0
"""Standard deviations after which a Fourier sum repeats itself."""

BANDWIDTH = 25.0
"""Frequency, over the standard deviation, beyond which characteristic functions are nothing."""

SMOOTH_TILT = 0.03
"""Below it frequencies near pi, where signs alternate, are nothing too."""

CELLS = 500_000
"""Terms of Fourier sums that are kept at a time."""

SMALLEST = -745.0
"""Logarithm of the smallest number there is."""


def wilcoxon_shares(n: int, w: int) -> np.ndarray:
    """Probabilities of 0, ..., w (n - w) pairs of n observations, w of them of one class."""
    # Takes long to import, and most calls do without it.
    from scipy.optimize import brentq

    w = min(w, n - w)
    n_pairs = w * (n - w)
    log_total = float(gammaln(n + 1) - gammaln(w + 1) - gammaln(n - w + 1))
    lower = np.zeros(n_pairs // 2 + 1)
    start = len(lower)
    few = min(n - w, start - 1)
    tilt, largest = 0.0, 50.0
    while start > few + 1:
        mean, sd = _moments(n, w, tilt)
        pairs = np.arange(max(few + 1, math.ceil(mean - REACH * sd)), start)
        logs = _logs(n, w, tilt, pairs, mean, sd) - log_total
        lower[pairs] = np.exp(logs)
        start = int(pairs[0])
        if logs[0] < SMALLEST:
            break
        # The next mean is as far below this part.
        tilt = brentq(lambda t, first=start: _upper_end(n, w, t) - first, tilt, largest)
    else:
        lower[: few + 1] = np.exp(np.log(_few_pairs(w, few)) - log_total)
    shares = np.concatenate([lower, lower[: n_pairs + 1 - len(lower)][::-1]])
    return shares / shares.sum()


def _few_pairs(w: int, largest: int) -> np.ndarray:
    """Labelings with 0, ..., `largest` pairs, of at most n - w: partitions into parts up to w."""
    counts = np.zeros(largest + 1)
    counts[0] = 1.0
    for part in range(1, w + 1):
        filled = np.zeros(-(-len(counts) // part) * part)
        filled[: len(counts)] = counts
        counts = filled.reshape(-1, part).cumsum(axis=0).ravel()[: len(counts)]
    return counts


def _moments(n: int, w: int, tilt: float) -> tuple[float, float]:
    """Mean and standard deviation of the distribution tilted by exp(-tilt u)."""
    parts = np.arange(1, w + 1, dtype=float)
    if tilt == 0:
        return w * (n - w) / 2, math.sqrt(w * (n - w) * (n + 1) / 12)
    mean = variance = 0.0
    for powers, sign in ((parts, 1.0), (n - w + parts, -1.0)):
        decay = np.exp(-tilt * powers)
        left = -np.expm1(-tilt * powers)
        mean += sign * float((powers * decay / left).sum())
        variance += sign * float((powers**2 * decay / left**2).sum())
    return mean, math.sqrt(max(variance, 0.0))


def _upper_end(n: int, w: int, tilt: float) -> float:
    mean, sd = _moments(n, w, tilt)
    return mean + REACH * sd


def _log_generating(n: int, w: int, exponents: np.ndarray) -> np.ndarray:
    """log G(exp(-z)) for complex z."""
    parts = np.arange(1, w + 1)
    at_zero = exponents == 0
    z = np.where(at_zero, 1.0, exponents)[:, None]
    logs = (np.log(-np.expm1(-z * (n - w + parts))) - np.log(-np.expm1(-z * parts))).sum(axis=1)
    limit = float(np.log((n - w + parts) / parts).sum())
    return np.where(at_zero, limit, logs)


def _logs(n: int, w: int, tilt: float, pairs: np.ndarray, mean: float, sd: float) -> np.ndarray:
    """Logarithms of the numbers of labelings with these numbers of pairs, around the mean."""
    # Odd, so that the frequencies above zero are half of all.
    period = 2 * math.ceil(max(PERIOD * sd, 2.0 * len(pairs), 64.0) / 2) + 1
    n_frequencies = period // 2 + 1
    if tilt < SMOOTH_TILT:
        n_frequencies = min(n_frequencies, math.ceil(BANDWIDTH * period / (2 * math.pi * sd)))
    frequencies = 2 * math.pi / period * np.arange(n_frequencies)
    log_generating = _log_generating(n, w, tilt - 1j * frequencies)
    log_at_zero = float(log_generating[0].real)
    shares = np.exp(log_generating - log_at_zero - 1j * frequencies * round(mean))
    shares[0] /= 2
    probability = np.empty(len(pairs))
    step = max(1, CELLS // n_frequencies)
    for first in range(0, len(pairs), step):
        places = slice(first, first + step)
        turned = np.exp(-1j * np.outer(frequencies, pairs[places] - round(mean)))
        probability[places] = 2 / period * (shares[:, None] * turned).sum(axis=0).real
    return np.log(np.maximum(probability, np.finfo(float).tiny)) + log_at_zero + tilt * pairs
