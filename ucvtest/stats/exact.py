"""p-values and intervals from counts, exact under the binomial distribution."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincinv, betaln

from ucvtest.stats.wald import Alternative

NEGLIGIBLE = 1e-14
"""Probability at either end that integrals over a beta distribution leave out."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


@dataclass(frozen=True)
class BinomialCounts:
    """Errors among observations: the error rate of one rule.

    An effective number of observations, and of errors among them, need not be whole.
    """

    kind: ClassVar[str] = "binomial"

    n_errors: float
    n_obs: float

    @property
    def statistic(self) -> float:
        """The number of errors."""
        return self.n_errors

    @property
    def opposite_statistic(self) -> float:
        """The number of right answers."""
        return self.n_obs - self.n_errors

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of an error rate; twice the smaller tail, as Clopper and Pearson's interval has it."""
        if not 0 <= null_value <= 1:
            return math.nan
        return _combined_tails(self.n_errors, self.n_obs, null_value, alternative)

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """Clopper and Pearson's interval of the error rate."""
        k, n = self.n_errors, self.n_obs
        low_tail, high_tail = tails(alternative, alpha)
        low = float(betaincinv(k, n - k + 1, low_tail)) if k > 0 else 0.0
        high = float(betaincinv(k + 1, n - k, 1 - high_tail)) if k < n else 1.0
        return low, high


@dataclass(frozen=True)
class PairedCounts:
    r"""Observations where only one of two rules errs: the difference of their error rates.

    The p-value is McNemar's exact one, and the interval agrees with it (Fay and Lumbard 2021).
    With :math:`\psi` the share of observations where only one rule errs and :math:`\theta` the
    share of the first rule in these, the difference is :math:`\psi(2\theta - 1)`. Clopper and
    Pearson's confidence distributions of both are melded; of :math:`\psi`, which can stretch the
    difference either way, the one that moves the end outwards.
    """

    kind: ClassVar[str] = "paired binomial"

    only_first: int
    only_second: int
    n_obs: int

    @property
    def statistic(self) -> int:
        """The number of observations where only the first rule errs."""
        return self.only_first

    @property
    def opposite_statistic(self) -> int:
        """The number of observations where only the first rule is right."""
        return self.only_second

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of a difference from -1 to 1, else NaN; it inverts the interval.

        Of equal error rates it is McNemar's: either rule is as likely to be the one that errs.
        """
        if null_value == 0:
            return _combined_tails(
                self.only_first, self.only_first + self.only_second, 0.5, alternative
            )
        if not -1 <= null_value <= 1:
            return math.nan
        above, below = self.melded_below(null_value), self._mirrored.melded_below(-null_value)
        if alternative == "two-sided":
            return min(1.0, 2 * min(above, below))
        return below if alternative == "less" else above

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval of the difference of error rates."""
        low_tail, high_tail = tails(alternative, alpha)
        return self.lower_end(low_tail), 0.0 - self._mirrored.lower_end(high_tail)

    @property
    def _mirrored(self) -> "PairedCounts":
        """The same of the second rule less the first."""
        return PairedCounts(self.only_second, self.only_first, self.n_obs)

    def melded_below(self, delta: float) -> float:
        """The melded confidence distribution of lower ends, up to delta."""
        b, c, n = self.only_first, self.only_second, self.n_obs
        telling = b + c
        if b == 0:
            stretched = betainc(telling + 1, n - telling, -delta) if telling < n else 0.0
            return 1 - float(stretched) if delta < 0 else 1.0
        if delta == 0:
            return _at_least(b, telling, 0.5)
        psi_counts = (telling + 1, n - telling) if delta < 0 else (telling, n - telling + 1)
        return _melded(delta, (b, c + 1), psi_counts)

    def lower_end(self, tail: float) -> float:
        """The quantile of the melded confidence distribution of lower ends."""
        b, c, n = self.only_first, self.only_second, self.n_obs
        telling = b + c
        if b == 0:
            # The share of the first is taken for 0, and the difference for -psi.
            return -float(betaincinv(telling + 1, n - telling, 1 - tail)) if telling < n else -1.0
        if tail == 0:
            return -1.0
        at_zero = self.melded_below(0)
        if at_zero == tail:
            # The test rejects here, so 0 lies outside by the smallest step there is.
            return math.nextafter(0.0, 1.0)
        bracket = (-1.0, 0.0) if at_zero > tail else (0.0, 1.0)
        precision = {"xtol": 1e-14, "rtol": 1e-13}
        # Takes long to import, and most calls do without it.
        from scipy.optimize import brentq

        return float(brentq(lambda delta: self.melded_below(delta) - tail, *bracket, **precision))


def _melded(delta: float, theta: tuple[int, int], psi_parameters: tuple[int, int]) -> float:
    """Probability of psi (2 theta - 1) <= delta, for beta distributed theta and psi."""
    p, q = psi_parameters
    if q == 0:  # psi is 1
        return float(betainc(*theta, (1 + delta) / 2))
    low = max(abs(delta), float(betaincinv(p, q, NEGLIGIBLE)))
    high = float(betaincinv(p, q, 1 - NEGLIGIBLE))
    # A share below delta cannot stretch the difference beyond it.
    total = float(betainc(p, q, delta)) if delta > 0 else 0.0
    if low >= high:
        return total
    psi = low + (high - low) * (NODES + 1) / 2
    density = np.exp((p - 1) * np.log(psi) + (q - 1) * np.log1p(-psi) - betaln(p, q))
    inside = betainc(*theta, (1 + delta / psi) / 2)
    return total + float((WEIGHTS * density * inside).sum()) * (high - low) / 2


def tails(alternative: Alternative, alpha: float) -> tuple[float, float]:
    """The probabilities that are left out below and above."""
    if alternative == "two-sided":
        return alpha / 2, alpha / 2
    return (0.0, alpha) if alternative == "less" else (alpha, 0.0)


def _combined_tails(count: float, trials: float, chance: float, alternative: Alternative) -> float:
    below = _at_least(trials - count, trials, 1 - chance)
    above = _at_least(count, trials, chance)
    if alternative == "two-sided":
        return min(1.0, 2 * min(below, above))
    return below if alternative == "less" else above


def _at_least(count: float, trials: float, chance: float) -> float:
    """The probability of this number of successes or more."""
    # SciPy's binomial distribution has the same numbers, and takes long to import.
    return float(betainc(count, trials - count + 1, chance)) if count > 0 else 1.0
