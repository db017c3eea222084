r"""Pivots: an estimate less its value on a monotone scale, over its standard error there.

A scale is a row of `SCALES`. p-values and intervals come from the same pivot, so that they agree at
every level. Pseudo-values are what the delete-one jackknife says of every observation,
:math:`h_i = n(n-1)/(n-m)\,b_i`; their skewness and kurtosis say how far an estimate is from normal,
and how well its variance is known.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit

from ucvtest.stats.wald import Alternative, ReferenceDistribution, reference_of

LARGEST = 709.0
"""Beyond this exponentials overflow."""


@dataclass(frozen=True)
class Scale:
    """A scale that rises, with the way back; NaN for values that it does not have.

    `unit` is the change of a value that is one unit of the scale: a standard error divided by it is
    that on the scale.
    """

    there: Callable[[float], float]
    back: Callable[[float], float]
    unit: Callable[[float], float]


SCALES: dict[str, Scale] = {
    "identity": Scale(float, float, lambda value: 1.0),
    "log": Scale(
        lambda value: math.log(value) if value > 0 else math.nan,
        lambda at: math.exp(min(at, LARGEST)),
        float,
    ),
    "log1m": Scale(
        lambda value: -math.log(1 - value) if value < 1 else math.nan,
        lambda at: 1 - math.exp(min(-at, LARGEST)),
        lambda value: 1 - value,
    ),
    "fisher": Scale(
        lambda value: math.atanh(value) if -1 < value < 1 else math.nan,
        math.tanh,
        lambda value: 1 - value**2,
    ),
    "logit": Scale(
        lambda value: float(logit(value)),
        lambda at: float(expit(at)),
        lambda value: value * (1 - value),
    ),
    "square": Scale(
        lambda value: value**2 if value >= 0 else math.nan,
        lambda at: math.sqrt(max(at, 0.0)),
        lambda value: 1 / (2 * value) if value else math.inf,
    ),
}
"""A scale more is a row more; `Pivot.of` takes its name. R2 and skills have "log1m", correlations
"fisher", and a root mean square "square", the scale of the mean that it is the root of."""


@dataclass(frozen=True)
class Pivot:
    """Student's t on a scale, where `se` is the standard error; without `df` (NaN) the normal.

    `least` and `most` are what the estimand can be, to which intervals are cut, and other values
    cannot be tested. Intervals reach to `reach`, where the estimate is moved. `kind` is what words
    about the interval are found by.
    """

    estimate: float
    se: float
    df: float
    null_value: float = math.nan
    scale: str = "identity"
    least: float = -math.inf
    most: float = math.inf
    reach: float | None = None
    kind: str = "added observations"

    @classmethod
    def of(cls, estimate: float, se: float, df: float, scale: str, **other_fields: Any) -> Self:
        """By the standard error of the estimate itself."""
        unit = SCALES[scale].unit(estimate)
        # A scale has infinite slope at the ends of what it can show.
        return cls(estimate, se / unit if unit > 0 else math.nan, df, scale=scale, **other_fields)

    @property
    def reference(self) -> str:
        """The distribution by name, as in results."""
        return reference_of(self.df)

    @property
    def statistic(self) -> float:
        """How far the null value is from the estimate on that scale, in standard errors."""
        below, above = self._statistics(self.null_value)
        return above if self.null_value > self.estimate else below

    def pvalue(self, null_value: float, alternative: Alternative) -> float:
        """Of a value that the estimand can have, else NaN; it inverts the interval."""
        below, above = self._statistics(null_value)
        distribution = self._distribution
        if distribution is None or math.isnan(below):
            return math.nan
        # The reference distributions are symmetric.
        if alternative == "two-sided":
            return min(1.0, 2 * min(distribution.cdf(-below), distribution.cdf(above)))
        return distribution.cdf(above if alternative == "less" else -below)

    def interval(self, alternative: Alternative, alpha: float) -> tuple[float, float]:
        """The interval on the scale, transformed back, within what the estimand can be."""
        distribution = self._distribution
        if distribution is None or not math.isfinite(self.se):
            return math.nan, math.nan
        quantile = distribution.isf(alpha / 2 if alternative == "two-sided" else alpha)
        centres = self._centres
        if alternative != "two-sided" and alpha > 0.5:
            # Such an interval begins beyond the estimate.
            centres.reverse()
        low, high = (
            SCALES[self.scale].back(centre - self.se * distance)
            for centre, distance in zip(centres, self._distances(quantile), strict=True)
        )
        return (
            self.least if alternative == "less" else max(low, self.least),
            self.most if alternative == "greater" else min(high, self.most),
        )

    @property
    def _distribution(self) -> ReferenceDistribution | None:
        if math.isnan(self.df):
            return ReferenceDistribution()
        return ReferenceDistribution(self.df) if self.df > 0 else None

    @property
    def _centres(self) -> list[float]:
        """The estimate on the scale, and the value that intervals reach to, the smaller first."""
        values = (self.estimate, self.estimate if self.reach is None else self.reach)
        return [SCALES[self.scale].there(value) for value in sorted(values)]

    def _statistics(self, null_value: float) -> tuple[float, float]:
        """What the lower and the upper end compare with the reference; NaN where nothing is."""
        if not self.least <= null_value <= self.most:
            return math.nan, math.nan
        lowest, highest = self._centres
        null = SCALES[self.scale].there(null_value)
        distance = 0.0 if lowest <= null <= highest else min(max(null, lowest), highest) - null
        return self._z(distance / self.se)

    def _z(self, distance: float) -> tuple[float, float]:
        """By the distance of a value from the estimate, in standard errors."""
        return distance, distance

    def _distances(self, z: float) -> tuple[float, float]:
        """The inverse: how far the lower limit, and the upper one, are below the estimate."""
        return z, -z


CLIPPED = 0.001
"""Estimates closer to 0 or 1 than this are taken for this: their logits run away. Intervals reach
to the estimate nevertheless."""


def on_logit(
    estimate: float, se: float, df: float, null_value: float = math.nan, moved: float | None = None
) -> Pivot:
    """A share on the logit scale, so that its interval stays between 0 and 1: an AUC.

    `moved` is an estimate of 0 or 1 with observations added, which tell its error, and `se` then
    belongs to it.
    """
    taken_for = min(max(estimate, CLIPPED), 1 - CLIPPED) if moved is None else moved
    return Pivot.of(
        *(taken_for, se, df, "logit"),
        null_value=null_value,
        least=0.0,
        most=1.0,
        reach=min(max(estimate, 0.0), 1.0),
        kind="logit t" if moved is None else "logit t with added observations",
    )


def on_log(estimate: float, se: float, df: float, null_value: float = math.nan) -> Pivot:
    """A ratio on the scale of its logarithm; `se` is the standard error of that."""
    return Pivot(estimate, se, df, null_value, "log", least=0.0, kind="log t")


def plus_four(
    estimate: float,
    variance: float,
    n_obs: float,
    null_value: float = math.nan,
    df: float | None = None,
) -> Pivot:
    """An error rate with two errors and two correct predictions added (Agresti and Coull 1998).

    They are added to the estimate and to its variance, which may be 0. Student's t with n - 1
    degrees of freedom, unless others are given.
    """
    n, n_with_added = n_obs, n_obs + 4
    spread = n**2 * variance + 1 + 4 * n * (estimate - 0.5) ** 2 / n_with_added
    moved, se = (n * estimate + 2) / n_with_added, math.sqrt(spread) / n_with_added
    df = n - 1.0 if df is None else df
    return Pivot(moved, se, df, null_value, least=0.0, most=1.0, kind="plus four")


# ------------------------------------------------------------------------------ skewed estimates

LEAST_DF = 4.0
"""Degrees of freedom that a kurtosis, itself estimated, does not go below."""

FEW_DF, LARGE_SKEWNESS = 10, 0.35
"""Degrees of freedom below, and skewness over the root of n above which few observations carry
most of the variance."""

ROUNDING = 1e-12
"""Differences, as a share of what differs, that are no more than rounding error."""

FAR = 1e30
"""Standard errors beyond which nothing changes, and cubes would overflow."""


@dataclass(frozen=True)
class Shape:
    """Skewness of n pseudo-values, and the degrees of freedom that their kurtosis leaves.

    `slope`, where it is known, is that of the logarithm of the standard error on the estimate,
    `slope_se` its standard error as a regression on n observations, and `slope_error` its
    Monte-Carlo standard error.
    """

    n_obs: int
    skewness: float
    df: float
    slope: float = math.nan
    slope_se: float = 0.0
    slope_error: float = 0.0

    @classmethod
    def of(
        cls,
        effects: np.ndarray,
        slope: float = math.nan,
        slope_se: float = 0.0,
        slope_error: float = 0.0,
    ) -> Self:
        """From numbers in proportion to the pseudo-values; values that are all alike are normal."""
        n, slope_arguments = len(effects), (slope, slope_se, slope_error)
        moved = effects - effects.mean()
        largest = float(np.abs(moved).max())
        if not largest > ROUNDING * float(np.abs(effects).max()):
            return cls(n, 0.0, n - 1.0, *slope_arguments)
        second, third, fourth = (float(((moved / largest) ** k).mean()) for k in (2, 3, 4))
        skewness = third / second**1.5 * math.sqrt(n * (n - 1)) / (n - 2)
        # Satterthwaite's: twice the squared variance over the variance of its estimate.
        df = 2 * n / max(fourth / second**2 - 1, 1e-9)
        return cls(n, skewness, min(max(df, LEAST_DF), n - 1.0), *slope_arguments)

    @property
    def flagged(self) -> bool:
        """Whether a few observations carry most of the variance."""
        return self.df < FEW_DF or abs(self.skewness) / math.sqrt(self.n_obs) > LARGE_SKEWNESS


@dataclass(frozen=True)
class Hall(Pivot):
    r"""Hall's (1992) transformation, which takes the skewness out of a studentised estimate.

    With T the estimate less its expectation over the standard error and k = gamma/sqrt(n),
    :math:`g(T) = T + kT^2/3 + k^2T^3/27 + k/6` is compared with Student's t. It is a cubic that
    rises, and cube roots invert it exactly. The upper limit is the larger of those by the sample's
    skewness and by `least_above`, where this is more: sample skewness cannot exceed about sqrt(n),
    so that of a tail from which nothing was drawn cannot be estimated, and the limit does not rise
    throughout with the skewness.
    """

    kind: str = "hall"
    n_obs: int = 0
    skewness: float = 0.0
    least_above: float = -math.inf

    @property
    def _bends(self) -> tuple[float, float]:
        """k of both ends, and the least one of the upper end."""
        root = math.sqrt(self.n_obs)
        return self.skewness / root, max(self.skewness, self.least_above) / root

    def _z(self, distance: float) -> tuple[float, float]:
        t = min(max(distance, -FAR), FAR)
        below, smallest_above = (
            t + k * t * t / 3 + k * k * t * t * t / 27 + k / 6 for k in self._bends
        )
        return below, max(below, smallest_above)

    def _distances(self, z: float) -> tuple[float, float]:
        k, other = self._bends
        return _inverse(z, k), min(_inverse(-z, k), _inverse(-z, other))


def _inverse(x: float, k: float) -> float:
    """T with T + k T^2/3 + k^2 T^3/27 + k/6 = x; of k = 0 too."""
    moved = x - k / 6
    root = math.cbrt(1 + k * moved)
    return 3 * moved / (root * root + root + 1)


# ------------------------------------------------------- standard errors that move with estimates

MOST_BENT = 0.26
"""Largest change of the logarithm of the standard error over one standard error. With it p-values
are within a factor of 10 of Wald's, and each side is 0.80 to 1.42 times as wide. As it does not
depend on the level, p-values and intervals of all levels agree."""

FOLLOWED, MET = 2.0, 4.0
"""z up to which the slope is followed, and where the scale, straight from there, meets Wald's."""


@dataclass(frozen=True)
class BoundedScale:
    """Distances in standard errors, and the same where the standard error is constant (z).

    If the logarithm of the standard error changes by `bend` over one of them, z of a distance d is
    (e^(bend d) - 1)/bend. That was seen by leaving out single observations, which hardly move the
    estimate: from z = `FOLLOWED` on z is straight in d, and they are the same from `MET` on. Both
    ways rise, numbers or arrays.
    """

    bend: Any

    @classmethod
    def of(cls, slope: Any, slope_error: Any, se: Any) -> Self:
        """By the slope of the logarithm of the standard error, its error, and the latter."""
        return cls(np.clip(shrunk_slope(slope, slope_error) * se, -MOST_BENT, MOST_BENT))

    def z(self, distance: Any) -> Any:
        """Of distances between the estimate and another value."""
        bend, size = self.bend * np.sign(distance), np.abs(distance)
        unbent_limit = _unbent(bend, FOLLOWED)
        return np.sign(distance) * _followed(_bent, bend, size, unbent_limit, FOLLOWED)

    def distance(self, z: Any) -> Any:
        """The inverse: the distance with this z."""
        bend, size = self.bend * np.sign(z), np.abs(z)
        unbent_limit = _unbent(bend, FOLLOWED)
        return np.sign(z) * _followed(_unbent, bend, size, FOLLOWED, unbent_limit)


def shrunk_slope(slope: Any, slope_error: Any) -> Any:
    """As much of a slope as is to be believed; 0 where it, or its error, is not known.

    Of slopes around 0 with the variance s^2, s^2/(s^2 + error^2) of the observed slope is the best
    prediction; for s^2 the square of the slope is taken.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shrunk = np.divide(slope, 1 + np.divide(slope_error, slope) ** 2)
    return np.where(np.isnan(shrunk), 0.0, shrunk)


def _followed(
    curve: Callable[[Any, Any], Any], bend: Any, size: Any, curve_start: Any, curve_value: Any
) -> Any:
    """A curve from `curve_start` to `curve_value`, straight from there to `MET`, then the same."""
    straight = np.clip((size - curve_start) / (MET - curve_start), 0.0, 1.0) * (MET - curve_value)
    return curve(bend, np.minimum(size, curve_start)) + straight + np.maximum(size - MET, 0.0)


def _bent(bend: Any, distance: Any) -> Any:
    straight = bend == 0
    return np.where(straight, distance, np.expm1(bend * distance) / np.where(straight, 1.0, bend))


def _unbent(bend: Any, z: Any) -> Any:
    straight = bend == 0
    return np.where(straight, z, np.log1p(bend * z) / np.where(straight, 1.0, bend))


@dataclass(frozen=True)
class Stabilised(Pivot):
    r"""Student's t on the scale on which the standard error is constant (Tibshirani 1988).

    If the standard error at theta is :math:`se\,e^{\beta(\theta - U)}`, `slope` being beta, then
    :math:`z(\theta) = (e^{-\beta(\theta - U)} - 1)/(\beta\,se)` is compared with Student's t;
    beta is shrunk by its standard error `slope_error`, and bounded: see `BoundedScale`.
    """

    kind: str = "stabilised t"
    slope: float = 0.0
    slope_error: float = 0.0

    @property
    def _bounded(self) -> BoundedScale:
        return BoundedScale.of(self.slope, self.slope_error, self.se)

    def _z(self, distance: float) -> tuple[float, float]:
        z = float(self._bounded.z(distance))
        return z, z

    def _distances(self, z: float) -> tuple[float, float]:
        return float(self._bounded.distance(z)), float(self._bounded.distance(-z))
