"""Predictors of standard errors, widths and power."""

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from scipy.special import ndtr

from ucvtest.methods.ustatistic.interval import knows_slope
from ucvtest.planning.variance_components import VarianceComponents
from ucvtest.stats.pivots import Stabilised, on_logit, plus_four

Kind = Literal["t", "stabilised", "log", "plus four", "logit"]
"""Kinds of intervals: Student's, on the scale of a constant standard error, or of a logarithm."""

LEAST_OBS = 12
"""Intervals have not been tried with fewer observations."""


class Predictor(Protocol):
    """A sample, or several, that predict the results of another sample size.

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
        """Width of the interval; for a ratio, its upper limit divided by its lower limit."""

    def power(self, n: int, effect: float, alpha: float, scale: float = 1.0) -> float:
        """Probability that the two-sided test rejects if the effect has this size."""


@dataclass(frozen=True)
class UStatisticPredictor:
    """Learners at a learning-set size: components of the variance, from a pilot or a simulator.

    `kind` is the kind of interval. "plus four" and "logit", for one learner, need its `estimate`.
    "stabilised" needs the `slope` of the logarithm of the standard error. It is "t" if the test
    uses Student's t. Degrees of freedom are `df_share` of n - 1, at least 4.
    """

    components: VarianceComponents
    variance: str
    kind: Kind
    estimate: float
    log_error: float
    df_share: float = 1.0
    slope: float = 0.0

    @property
    def least(self) -> int:
        """Twice the learning set and its tested observations, so that all variances exist."""
        return max(2 * self.components.degree, LEAST_OBS)

    def sd(self, n: int) -> float:
        """Standard deviation of the estimate."""
        return math.sqrt(self.components.variance(n))

    def se(self, n: int) -> float:
        """The standard error that would be reported."""
        return math.sqrt(self.components.reported(n, self.variance))

    def width(self, n: int, alpha: float, scale: float = 1.0) -> float:
        """Width of the interval."""
        se = scale * self.se(n)
        if self.kind in ("plus four", "logit"):
            rule = on_logit(self.estimate, se, n - 2.0)
            if self.kind == "plus four":
                rule = plus_four(self.estimate, se**2, n)
            low, high = rule.interval("two-sided", alpha)
            return high - low
        width = sum(self._critical_values(n, se, alpha))
        return math.exp(width) if self.kind == "log" else width

    def power(self, n: int, effect: float, alpha: float, scale: float = 1.0) -> float:
        """Power of the test with the reported standard error, for a normal estimate.

        It is the mean over effects of both signs, because the stabilised test detects one of them
        more easily.
        """
        sd, se = scale * self.sd(n), scale * self.se(n)
        far = self._critical_values(n, se, alpha)
        tail_probabilities = [
            ndtr((sign * abs(effect) - critical_value) / sd)
            for critical_value in far
            for sign in (1, -1)
        ]
        return float(sum(tail_probabilities) / 2)

    def _critical_values(self, n: int, se: float, alpha: float) -> tuple[float, float]:
        """Distances from the estimate to the limits of the interval, above and below."""
        sloped = self.kind == "stabilised" and knows_slope(n, self.components.degree - 1)
        df = max(self.df_share * (n - 1), 4.0)
        rule = Stabilised(0.0, se, df, slope=self.slope if sloped else 0.0)
        low, high = rule.interval("two-sided", alpha)
        return high, -low
