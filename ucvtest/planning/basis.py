"""What standard errors, widths and power are predicted from."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from scipy.special import ndtr

from ucvtest.planning.ladder import Ladder
from ucvtest.stats.intervals import PlusFour
from ucvtest.stats.logit import LogitT
from ucvtest.stats.wald import reference_distribution

__all__ = ["LEAST_OBS", "Basis", "Learners"]

LEAST_OBS = 12
"""With fewer observations no interval has been tried."""


class Basis(Protocol):
    """A sample, or several, that predict what another size would give.

    `scale` multiplies standard errors: it carries their own uncertainty.
    """

    @property
    def least(self) -> int:
        """The smallest size that can be predicted."""

    @property
    def log_error(self) -> float:
        """Standard deviation of the logarithm of a predicted standard error."""

    def sd(self, n: int) -> float:
        """Standard deviation of the estimate."""

    def se(self, n: int) -> float:
        """The standard error that would be reported."""

    def width(self, n: int, alpha: float, scale: float = 1.0) -> float:
        """Width of the interval; of a ratio its upper over its lower end."""

    def power(self, n: int, effect: float, alpha: float, scale: float = 1.0) -> float:
        """Probability that the two-sided test rejects where the effect is as large as this."""


@dataclass(frozen=True)
class Learners:
    """Learners at a learning-set size: components of the variance, from a pilot or a simulator.

    `kind` is what the interval is: "t", "log" (of a ratio), "plus four" or "logit"; the last two,
    of one learner, need its `estimate`. Degrees of freedom are `df_share` of n - 1, at least 4.
    """

    ladder: Ladder
    variance: str
    kind: str
    estimate: float
    log_error: float
    df_share: float = 1.0

    @property
    def least(self) -> int:
        """Twice what is learnt from and tested, so that all variances exist."""
        return max(2 * self.ladder.degree, LEAST_OBS)

    def sd(self, n: int) -> float:
        """Standard deviation of the estimate."""
        return math.sqrt(self.ladder.variance(n))

    def se(self, n: int) -> float:
        """The standard error that would be reported."""
        return math.sqrt(self.ladder.reported(n, self.variance))

    def width(self, n: int, alpha: float, scale: float = 1.0) -> float:
        """Width of the interval."""
        return self._widths[self.kind](n, scale * self.se(n), alpha)

    def power(self, n: int, effect: float, alpha: float, scale: float = 1.0) -> float:
        """Of the t test whose standard error is the reported one, of a normal estimate."""
        t, sd, se = self._t(n, alpha), scale * self.sd(n), scale * self.se(n)
        return float(ndtr((abs(effect) - t * se) / sd) + ndtr((-abs(effect) - t * se) / sd))

    def _t(self, n: int, alpha: float) -> float:
        distribution = reference_distribution("t", max(self.df_share * (n - 1), 4.0))
        assert distribution is not None
        return distribution.isf(alpha / 2)

    @cached_property
    def _widths(self) -> Mapping[str, Callable[[int, float, float], float]]:
        return {
            "t": lambda n, se, alpha: 2 * self._t(n, alpha) * se,
            "log": lambda n, se, alpha: math.exp(2 * self._t(n, alpha) * se),
            "plus four": lambda n, se, alpha: _between(
                PlusFour(self.estimate, se**2, n).interval("two-sided", alpha)
            ),
            "logit": lambda n, se, alpha: _between(
                LogitT(self.estimate, se, n - 2.0).interval("two-sided", alpha)
            ),
        }


def _between(ends: tuple[float, float]) -> float:
    return ends[1] - ends[0]
