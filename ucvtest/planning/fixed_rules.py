"""Fixed rules on a test set of another size; nothing is learnt."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

from ucvtest.data.weights import DF_SHARE, EFFECTIVE_SIZE, EQUAL, LEAST_SIZE, few_by_weight
from ucvtest.inference.status import no_value_in_words
from ucvtest.losses.from_predictions import WEIGHTED_ERRORS
from ucvtest.losses.table import Losses
from ucvtest.methods.classical.function_of_means import MetricOfRules
from ucvtest.methods.classical.several_aucs import TestedLabels
from ucvtest.methods.classical.survival_of_rules import SurvivalOfRules
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.planning.predictors import Predictor
from ucvtest.planning.variance_components import log_error
from ucvtest.stats.exact import BinomialCounts
from ucvtest.stats.pivots import Shape, on_logit, plus_four
from ucvtest.stats.shares import difference_of_shares
from ucvtest.stats.wald import reference_distribution

NEGLIGIBLE = 1e-12
"""Probability of the numbers of errors that sums leave out."""


class OfRules:
    """Of rules that learn nothing, the standard error is the standard deviation."""

    sd: Callable[[int], float]

    def se(self, n: int) -> float:
        """The standard error that would be reported."""
        return self.sd(n)


@dataclass(frozen=True)
class PairedT(OfRules):
    """Losses of a rule, or differences of two, with this standard deviation: the t test."""

    deviation: float
    log_error: float
    least: int = 4
    df_share: float = 1.0
    """The share of n - 1 degrees of freedom that weights leave."""

    def sd(self, n: int) -> float:
        """Standard deviation of the mean."""
        return self.deviation / math.sqrt(n)

    def df(self, n: int) -> float:
        """Degrees of freedom."""
        return self.df_share * (n - 1.0)

    def width(self, n: int, alpha: float, scale: float = 1.0) -> float:
        """Width of Student's interval."""
        distribution = reference_distribution("t", self.df(n))
        assert distribution is not None
        return 2 * distribution.isf(alpha / 2) * scale * self.sd(n)

    def power(self, n: int, effect: float, alpha: float, scale: float = 1.0) -> float:
        """Power as in statsmodels for paired differences."""
        from statsmodels.stats.power import TTestPower

        size = abs(effect) / (scale * self.deviation)
        return float(TTestPower().power(size, n, alpha, df=self.df(n)))


@dataclass(frozen=True)
class WeightedRate(PairedT):
    """The weighted error rate of one rule, or a difference, with the interval of `HoldOutTest`.

    The effective number of observations is `effective_share` of their number, as in the pilot.
    """

    rate: float = math.nan
    effective_share: float = 1.0
    paired: bool = False

    def df(self, n: int) -> float:
        """One less than the effective number."""
        return self.effective_share * n - 1

    def width(self, n: int, alpha: float, scale: float = 1.0) -> float:
        """Width with observations added."""
        variance, size = (scale * self.sd(n)) ** 2, self.effective_share * n
        if self.paired:
            rule = difference_of_shares(self.rate, variance, size, self.df(n), math.nan)
        else:
            rule = plus_four(self.rate, variance, size)
        low, high = rule.interval("two-sided", alpha)
        return high - low


@dataclass(frozen=True)
class MetricOfRulesT(PairedT):
    """A metric that is a function of means, with the interval of `HoldOutTest`.

    Power is the power of the t test of linearised values.
    """

    limits: Callable[[float, float], tuple[float, float]] = None  # type: ignore[assignment]

    def width(self, n: int, alpha: float, scale: float = 1.0) -> float:
        """Width with observations added, or on a scale."""
        # A larger standard error corresponds to fewer observations.
        low, high = self.limits(n / scale**2, alpha)
        return high - low


@dataclass(frozen=True)
class McNemar(OfRules):
    """Error rates of two rules; exactly one rule errs on a share `discordant` of observations.

    `low` and `high` are the limits of its uncertainty in the pilot.
    """

    discordant: float
    log_error: float
    low: float
    high: float
    least: int = 4

    def sd(self, n: int) -> float:
        """Standard deviation of the difference if the rules are equally good."""
        return math.sqrt(self.discordant / n)

    def width(self, n: int, alpha: float, scale: float = 1.0) -> float:
        """Width by the normal approximation; the exact interval is somewhat wider."""
        discordant_rate = _at_scale(scale, self.low, self.discordant, self.high)
        return -2 * float(ndtri(alpha / 2)) * math.sqrt(discordant_rate / n)

    def power(self, n: int, effect: float, alpha: float, scale: float = 1.0) -> float:
        """Power of the exact test, summed over all numbers of discordant observations."""
        from scipy.stats import binom

        discordant_rate = max(_at_scale(scale, self.low, self.discordant, self.high), abs(effect))
        chance = (1 + abs(effect) / discordant_rate) / 2
        low, high = (
            int(binom.ppf(tail, n, discordant_rate)) for tail in (NEGLIGIBLE, 1 - NEGLIGIBLE)
        )
        telling = np.arange(low, high + 1)
        critical = binom.ppf(alpha / 2, telling, 0.5)
        critical = np.where(2 * binom.cdf(critical, telling, 0.5) <= alpha, critical, critical - 1)
        rejected = binom.cdf(critical, telling, chance) + binom.cdf(critical, telling, 1 - chance)
        return float(binom.pmf(telling, n, discordant_rate) @ rejected)


@dataclass(frozen=True)
class OneRate(OfRules):
    """The error rate of one rule, with Clopper and Pearson's interval.

    `low` and `high` are the limits of its uncertainty in the pilot.
    """

    rate: float
    log_error: float
    low: float
    high: float
    least: int = 4

    def sd(self, n: int) -> float:
        """Standard deviation of the observed rate."""
        return math.sqrt(self.rate * (1 - self.rate) / n)

    def width(self, n: int, alpha: float, scale: float = 1.0) -> float:
        """The expected width; intervals are shorter for rates far from 1/2."""
        from scipy.stats import binom

        rate_bounds = sorted((self.low, self.high), key=lambda bound: -abs(bound - 0.5))
        widest = 0.5 if self.low < 0.5 < self.high else rate_bounds[1]
        rate = _at_scale(scale, rate_bounds[0], self.rate, widest)
        errors = np.arange(n + 1)
        probable = binom.pmf(errors, n, rate) > NEGLIGIBLE
        k = errors[probable]
        low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, alpha / 2), 0.0)
        high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - alpha / 2), 1.0)
        return float(binom.pmf(k, n, rate) @ (high - low))

    def power(self, n: int, effect: float, alpha: float, scale: float = 1.0) -> float:
        """Power is 0, because one rule is not compared with another."""
        raise NotImplementedError


@dataclass(frozen=True)
class Ranking(OfRules):
    """AUCs by DeLong's variance, with classes in the proportions of the sample.

    `estimate` is the AUC of one rule, whose interval is computed on the logit scale; None for two.
    """

    unit_variance: float
    log_error: float
    estimate: float | None
    least: int = 4

    def sd(self, n: int) -> float:
        """Standard deviation of the AUC, or of the difference of two."""
        return math.sqrt(self.unit_variance / n)

    def width(self, n: int, alpha: float, scale: float = 1.0) -> float:
        """Width of the interval of `DeLongTest`."""
        if self.estimate is not None:
            rule = on_logit(self.estimate, scale * self.sd(n), math.nan)
            low, high = rule.interval("two-sided", alpha)
            return high - low
        return -2 * float(ndtri(alpha / 2)) * scale * self.sd(n)

    def power(self, n: int, effect: float, alpha: float, scale: float = 1.0) -> float:
        """Power of the z test."""
        size, z = abs(effect) / (scale * self.sd(n)), -float(ndtri(alpha / 2))
        return float(ndtr(size - z) + ndtr(-size - z))


def predictor_of_rules(losses: Losses, learner: Any, other: Any) -> tuple[Predictor, float]:
    """The predictor from losses of fixed rules, and their estimate."""
    loss, paired = losses.metric.of_loss, other is not None
    if loss is not None:
        predictor, estimate = predictor_of_rules(losses.in_losses, learner, other)
        return predictor, loss.reported(estimate, paired=paired)
    observed = losses.difference(learner, other)
    if losses.metric.ranks_pairs:
        return _ranking_predictor(losses, observed.learner, observed.other)
    values = observed.values
    estimate = float(values.mean())
    error = log_error(Shape.of(values).df, 0.0)
    if losses.metric.counts_errors and bool(np.isin(values, (-1, 0, 1)).all()):
        rate = _positive(float(np.abs(values).mean()))
        rate_interval = BinomialCounts(round(rate * len(values)), len(values)).interval(
            "two-sided", 0.05
        )
        if other is None:
            _positive(1 - estimate)
            return OneRate(estimate, error, *rate_interval), estimate
        return McNemar(rate, error, *rate_interval), estimate
    if losses.metric.of_survival and not np.isfinite(values).all():
        raise ValueError(f"the pilot leaves {no_value_in_words(observed)}")
    metric = losses.metric
    if isinstance(metric, SmoothMetric) and not np.isfinite(values).all():
        raise ValueError(
            f"{metric.in_words} is 0/0 in the pilot, because {metric.without_value}: use a larger "
            "pilot, or another metric"
        )
    deviation = _positive(float(values.std(ddof=1)))
    if losses.metric.linearised:
        kind = SurvivalOfRules if losses.metric.of_survival else MetricOfRules
        return MetricOfRulesT(deviation, error, limits=kind(observed).interval_at), estimate
    return _mean_predictor(losses, deviation, error, estimate, paired=paired), estimate


def _mean_predictor(
    losses: Losses, deviation: float, error: float, estimate: float, *, paired: bool
) -> PairedT:
    """The predictor from a mean, which may be weighted."""
    settings = losses.settings
    if EFFECTIVE_SIZE not in settings:
        return PairedT(deviation, error)
    status = few_by_weight(settings)
    if status != "ok":
        raise ValueError(f"the pilot leaves {status}")
    is_equal = settings.get(EQUAL, True)
    effective_share = settings[EFFECTIVE_SIZE] / losses.known_values.shape[1]
    least = 4 if is_equal else math.ceil(LEAST_SIZE / effective_share)
    if losses.loss == WEIGHTED_ERRORS and not (paired and is_equal):
        return WeightedRate(
            *(deviation, error, least),
            rate=estimate,
            effective_share=effective_share,
            paired=paired,
        )
    return PairedT(deviation, error, least, settings.get(DF_SHARE, 1.0))


def _ranking_predictor(losses: Losses, learner: int, other: int | None) -> tuple[Predictor, float]:
    labels = losses.difference(learner, None).tested_target
    places = [place for place in (learner, other) if place is not None]
    tested = TestedLabels(labels, None)
    influence = tested.influence(losses.known_values[places], paired=other is not None)
    df = float(influence.counts.min()) - 1.0
    variance, estimate = _positive(float(influence.variances[0])), float(influence.estimates[0])
    single_auc = estimate if other is None else None
    return Ranking(len(labels) * variance, log_error(max(df, 1.0), 0.0), single_auc), estimate


def _at_scale(scale: float, low: float, middle: float, high: float) -> float:
    """The source of standard errors: the estimate, or an end of the pilot's uncertainty."""
    return low if scale < 1 else high if scale > 1 else middle


def _positive(value: float) -> float:
    if not value > 0:
        raise ValueError(
            "nothing can be predicted, because losses do not vary or a class has too few "
            "observations: use a larger pilot"
        )
    return value
