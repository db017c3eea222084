"""p-values and intervals from counts, exact under the binomial distribution."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betainc, betaincinv

from ucvtest.stats.melded import Melded, lower_ends
from ucvtest.stats.wald import Alternative


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
        counts = np.array([self.only_first, self.only_second])
        low_and_high = np.array(tails(alternative, alpha))
        low, high = lower_ends(counts, counts[::-1], self.n_obs, low_and_high).tolist()
        return low, 0.0 - high

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
        table = Melded(np.array([b]), np.array([c]), n, np.array([delta < 0]))
        return float(table.below(np.array([delta]))[0])


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
