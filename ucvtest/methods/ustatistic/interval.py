"""The interval of a result: the requested one, or the one for the loss."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from ucvtest.common.notes import Note
from ucvtest.common.words import arg
from ucvtest.inference import quantity
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import Studentised, by_rule, on_logit_scale
from ucvtest.kernels.ustatistic.rows import MOST_UNITS
from ucvtest.methods.ustatistic.sizes import Sizes
from ucvtest.metrics.base import Metric
from ucvtest.metrics.ranges import range_in_words, range_of
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.stats.jackknife import has_pair_effects
from ucvtest.stats.pivots import Hall, Pivot, Shape, Stabilised, plus_four

if TYPE_CHECKING:
    from ucvtest.methods.ustatistic.estimates import RowsAdded
    from ucvtest.methods.ustatistic.learning_sets import LearningSets

IntervalName = Literal["auto", "wald", "stabilised", "plus_four", "hall", "hall_floor", "logit"]

LEAST_SKEWNESS = 6.0
"""Least skewness in the upper limit of "hall_floor". It was found by simulation of squared losses
with heavy tails, which a sample of 40 often does not contain."""

NOTABLE_BEND = 0.15
"""Monte-Carlo error of the slope times the standard error above which there is a note: with
Student's t at 2 and 0.15, a limit of the interval moves by 0.3 standard errors."""

POSITIVE = ("squared", "absolute", "log")
"""Losses by name that are never below 0, and have no largest value."""

NEED_MANY_FITS = ("stabilised", "hall")
"""Rules that need more information than few fits give."""

OF_RATIOS = ("auto", "jackknife", "few")
"""Variances that exist for ratios."""

FEW_FOR_SLOPE = 40
"""With fewer observations the slope of the standard error is so noisy that it costs width (1.67
times the ideal for 1.48) and gains nothing: "auto" does not use it."""

BY_PAPER = ("unbiased", "asymptotic")
"""Variances that go with the normal distribution in the paper."""

WORDS = {
    "wald": "the estimate plus and minus its standard error times a quantile",
    "stabilised": (
        "Student's t on a scale on which the standard error does not change with the estimate "
        "(Tibshirani 1988); the slope between the two is estimated by leaving out observations, "
        "shrunk by its own error, and followed for two standard errors"
    ),
    "plus_four": "two errors and two correct predictions added (Agresti and Coull 1998)",
    "hall": "the skewness of the losses removed by Hall's (1992) transformation",
    "hall_floor": (
        "Hall's (1992) transformation, whose upper limit assumes a skewness of at least "
        f"{LEAST_SKEWNESS:g}"
    ),
    "logit": "Student's t on the logit scale",
    "log": "Student's t on the log scale",
    "log1m": "Student's t on the scale log(1 - T)",
    "fisher": "Student's t on Fisher's z scale",
    "root": (
        "the roots of the limits of the mean square, by Hall's (1992) transformation, whose upper "
        f"limit assumes a skewness of at least {LEAST_SKEWNESS:g}"
    ),
}

OFF_CENTER = {
    "stabilised": "variance-stabilized scale",
    "plus_four": "four observations added",
    "hall": "skewed losses",
    "hall_floor": "skewed losses",
    "root": "skewed losses",
    "logit": "logit scale",
    "log1m": "scale log(1 - T)",
    "fisher": "Fisher's z scale",
}
"""Why intervals are longer on one side; ratios have no interval but that on the log scale."""

VISIBLE = 0.02
"""Distance of an interval's middle from the estimate, as a share of its length."""

TWO_RIGHT_TWO_WRONG = (
    "two right and two wrong observations added to the confusion matrix (Agresti and Coull 1998)"
)
"""The words for "plus_four" for metrics other than the error rate."""

R2_IS_SHORT = Note(
    "This interval can be too short: in simulations, mostly with skewed or heavy-tailed noise and "
    "40 to 200 observations, 95% intervals for the R2 of one learner contained the true value in "
    "92% of the samples.",
    "Intervals for the R2 of one learner can be too short (92% instead of 95%).",
)
"""See studies/intervals/metrics_of_learners.py."""

NEARLY_THE_MEAN = Note(
    "For a learner that predicts nearly the mean response, this estimate is too low and its "
    "interval too short: the mean response of a learning set is low if that of the tested "
    "observations is high.",
    "For a learner that predicts nearly the mean, estimate and interval are too low.",
    1,
)
"""The note on correlations."""


@dataclass(frozen=True)
class Interval:
    """The rule by name, `asked` by the user, the reason for it, and the range of the estimand.

    `n_rows` are rows of clusters, if clusters are the observations.
    """

    requested_name: str
    name: str
    reason: str
    metric: Metric
    paired: bool
    n_rows: int | None = None
    added: "RowsAdded | None" = None
    """"plus_four" for a metric that is a function of the confusion matrix."""
    is_ratio: bool = False
    """Whether two learners are compared by the ratio of their mean losses."""

    @classmethod
    def of(
        cls,
        interval_name: IntervalName,
        question: Question,
        learning_sets: "LearningSets",
        variance: str,
    ) -> Self:
        """The requested rule, if it suits estimand and sizes, or the choice of "auto"."""
        metric, paired, sizes = question.metric, question.paired, learning_sets.sizes
        n, g, is_ratio = question.n_units, learning_sets.learn_size, False
        n_rows = None if question.clusters is None else question.n_obs
        name, reason = str(interval_name), "it was requested"
        if learning_sets.contrast == "ratio":
            name, reason, is_ratio, n_rows = "log", "it is the one for ratios", True, None
            if interval_name != "auto":
                raise ValueError(
                    f"{arg('interval', interval_name)} is not for ratios, whose interval is on the "
                    "log scale: leave it out"
                )
            if variance not in OF_RATIOS:
                raise ValueError(
                    f"{arg('variance', variance)} is not for ratios, which have 'jackknife' and "
                    "'few': leave it out"
                )
        elif interval_name == "auto":
            sloped = isinstance(sizes, Sizes) and sizes.keeps_pairs and knows_slope(n, g)
            name, reason = suited(metric, variance, paired=paired, sloped=metric.is_mean and sloped)
        else:
            _check(interval_name, metric, paired=paired)
            if variance == "few" and interval_name in NEED_MANY_FITS:
                raise ValueError(
                    f"{arg('interval', interval_name)} needs more information than few fits give: "
                    f"use {arg('interval', 'auto')}, or another variance"
                )
        rule = cls(interval_name, name, reason, metric, paired, n_rows, is_ratio=is_ratio)
        if not is_ratio:
            rule._check_null(question.hypothesis.null_value)
        if metric.is_mean and name == "stabilised" and not _has_slope(n, g):
            raise ValueError(
                f"{arg('interval', 'stabilised')} needs n <= {MOST_UNITS} and "
                f"{arg('learn_size')} <= {min(n // 2, n - 3)}, got n = {n} and learn_size = {g}: "
                f"use another {arg('learn_size')}, or {arg('interval', 'wald')}"
            )
        return rule

    def for_few_fits(self) -> Self:
        """The rule for the variance of few fits, which show neither skewness nor slope."""
        if self.requested_name != "auto" or self.is_ratio:
            return self
        name, reason = suited(self.metric, "few", paired=self.paired, sloped=False)
        return replace(self, name=name, reason=reason)

    def _check_null(self, null_value: float) -> None:
        """Refuse a null value outside the range of the estimand, unless "wald" was requested."""
        low, high = self.range
        if self.requested_name != "wald" and (null_value < low or null_value > high):
            low, high, null_value = (
                float(self.metric.reported(x, paired=self.paired)) for x in (low, high, null_value)
            )
            in_words = range_in_words((min(low, high), max(low, high)))
            raise ValueError(
                f"{arg('null_value', null_value)} is not a value that the estimand can have, which "
                f"{in_words}: change it, or use {arg('interval', 'wald')}"
            )

    @property
    def range(self) -> tuple[float, float]:
        """The possible values of the estimand."""
        low, high = self.metric.bounds or (-math.inf, math.inf)
        if isinstance(self.metric, SmoothMetric):
            low, high = range_of(self.metric)
        if self.metric.bounds is None and self.metric.name in POSITIVE:
            low = 0.0
        return (low - high, high - low) if self.paired else (low, high)

    def applied(self, studentised: Studentised, shape: Shape | None, name: str) -> Studentised:
        """The test with a variance, by this rule; unchanged if there is no answer.

        The paper's variances of a mean loss keep the paper's normal interval, unless the rule was
        requested.
        """
        as_published = self.requested_name == "auto" and self.metric.is_mean and name in BY_PAPER
        if studentised.status != "ok" or as_published:
            return studentised
        if self.name == "logit":
            return on_logit_scale(studentised)
        if self.name == "wald" or shape is None:
            return studentised
        if self.metric.linearised and self.name == "plus_four":
            if self.added is None:
                return studentised
            df = _df(studentised, shape)
            return by_rule(studentised, self.added.rule(studentised, *self.range, df, name))
        return by_rule(studentised, _pivot(self, studentised, shape))

    def diagnostics(self, shape: Shape | None) -> dict[str, Any]:
        """The rule, and the moments that go into it or warn of it."""
        interval_diagnostics: dict[str, Any] = {"interval": self.name}
        if shape is not None:
            skewness = quantity.odd(shape.skewness)
            interval_diagnostics |= {"skewness": skewness, "df_kurtosis": shape.df}
            if self.name == "stabilised":
                interval_diagnostics |= {
                    "slope": quantity.per_unit(shape.slope),
                    "se_slope": quantity.spread_per_unit(shape.slope_se),
                    "mc_se_slope": quantity.spread_per_unit(shape.slope_error),
                }
        return interval_diagnostics

    def notes(
        self, shape: Shape | None, studentised: Studentised, n_one_class: int = 0
    ) -> list[str]:
        """The notes on the rule and its reason, and on the limits of this sample."""
        if studentised.status != "ok":
            return []
        listed: list[str] = []
        if self.requested_name != "auto" or not self.paired or self.name != "wald":
            interval_in_words = WORDS[self.name]
            if self.metric.linearised and self.name == "plus_four":
                interval_in_words = TWO_RIGHT_TWO_WRONG
            text = f"Interval {self.name!r}: {interval_in_words}; {self.reason}."
            if self.name in OFF_CENTER and _is_off_center(studentised):
                scale = OFF_CENTER[self.name]
                text = Note(
                    f"{text} It is not symmetric about the estimate; {arg('interval', 'wald')} is.",
                    f"The interval is asymmetric ({scale}); see {arg('interval', 'wald')}.",
                    importance=1,
                )
            listed.append(text)
        bend = shape.slope_error * studentised.se if shape is not None else 0.0
        if self.name == "stabilised" and shape is not None and bend > NOTABLE_BEND:
            units = self.metric.units
            slope = shape.slope if units is None else shape.slope / units.slope
            listed.append(
                f"The slope of the logarithm of the standard error, {slope:.2g}, has a Monte-Carlo "
                f"standard error of {shape.slope_error:.2g}, which can move an end of the interval "
                f"by a tenth of its length: raise {arg('n_pairs')} (or lower {arg('tol')})."
            )
        if self.name == "hall_floor" and shape is not None:
            listed.append(
                "The upper limit allows for a heavy tail that this sample may not contain; "
                f"{arg('interval', 'hall')} trusts the skewness of this sample, and has a lower "
                "coverage with such a tail."
            )
        if self.name == "log1m" and self.metric.name == "r2":
            listed.append(R2_IS_SHORT)
        if isinstance(self.metric, SmoothMetric) and self.metric.of_one_rule:
            listed.append(NEARLY_THE_MEAN)
        if self.name == "plus_four" and studentised.variance == 0:
            listed.append(
                "No loss varied, and the variance estimate is zero: the interval comes from the "
                "four added observations."
            )
        if self.name == "hall" and n_one_class:
            listed.append(
                "Coverage is not ensured if some learning sets have a single class: their losses "
                "are rare and large."
            )
        # "plus_four" allows for few errors, and nothing else is rare where losses are 0 and 1.
        if shape is not None and shape.flagged and not self.metric.counts_errors:
            text = (
                f"A few observations carry most of the variance (skewness {shape.skewness:.2g}; by "
                f"the kurtosis {shape.df:.2g} degrees of freedom), so that it is poorly known. A "
                "sample without this note is not necessarily safe: if the tail was not drawn, "
                "nothing shows it."
            )
            line = "A few observations carry most of the variance, which is poorly known."
            listed.append(Note(text, line))
            if self.paired and self.name != "log" and never_negative(self.metric):
                listed.append(
                    "With heavy-tailed losses, intervals for a difference miss the true value too "
                    "often: in simulations, 95% intervals contained it in 88% of the samples. "
                    "Intervals for the ratio of the same expected losses "
                    f"({arg('contrast', 'ratio')}) contained it in 95%."
                )
        return listed


def _is_off_center(studentised: Studentised) -> bool:
    """Whether the 95% interval is visibly longer on one side of the estimate."""
    if studentised.rule is None:
        return False
    low, high = studentised.rule.interval("two-sided", 0.05)
    return abs((low + high) / 2 - studentised.estimate) > VISIBLE * (high - low)


def never_negative(metric: Metric) -> bool:
    """Whether it is known to be zero or more."""
    bounds = metric.bounds
    return metric.name in POSITIVE or (bounds is not None and bounds[0] >= 0)


def knows_slope(n_obs: int, learn_size: int) -> bool:
    """Whether it is known well enough how the standard error moves with the estimate."""
    return n_obs >= FEW_FOR_SLOPE and _has_slope(n_obs, learn_size)


def _has_slope(n_obs: int, learn_size: int) -> bool:
    return has_pair_effects(n_obs, learn_size) and n_obs <= MOST_UNITS


def suited(metric: Metric, variance: str, *, paired: bool, sloped: bool) -> tuple[str, str]:
    """The rule for a metric, and why."""
    of_errors = metric.counts_errors or metric.of_cells
    if paired and sloped and of_errors and variance not in BY_PAPER:
        metric_words = "error rates" if metric.counts_errors else "confusion metrics"
        return "stabilised", f"it is the default for differences of {metric_words}"
    if paired:
        return "wald", "it is the one for differences"
    if metric.ranks_pairs:
        return "logit", "an AUC lies between 0 and 1"
    if variance in BY_PAPER:
        return "wald", f"the {variance} variance goes with the paper's normal interval"
    if metric.counts_errors:
        return "plus_four", "an error rate of one learner is a share"
    if metric.compares_pairs:
        return "logit", f"{metric.in_words} lies between 0 and 1"
    if metric.of_cells:
        return "plus_four", f"{metric.in_words} of one learner is a function of shares"
    if isinstance(metric, SmoothMetric):
        scale = metric.interval_scale
        name = {"identity": "wald", "sqrt": "root"}.get(scale, scale)
        return name, f"it is the one for {metric.in_words}"
    if variance == "few":
        return "hall_floor", f"{metric.name} losses of one learner are skewed"
    if metric.bounds is not None or metric.output in ("label", "probability"):
        return "hall", f"{metric.name} losses of one learner are skewed"
    return "hall_floor", f"{metric.name} losses of one learner are skewed, without a largest value"


def _check(name: str, metric: Metric, *, paired: bool) -> None:
    """Refuse a rule that does not apply to this metric or number of learners."""
    whom = "two learners" if paired else "one learner"
    if metric.linearised:
        known_intervals = ["wald"] if not metric.of_cells else ["wald", "stabilised"]
        if metric.of_cells and not paired:
            known_intervals.append("plus_four")
        if metric.compares_pairs and not paired:
            known_intervals.append("logit")
        if name not in known_intervals:
            raise ValueError(
                f"{arg('interval', name)} is not for {arg('metric', metric.name)} of {whom}: use "
                f"{arg('interval', 'auto')}, or {' or '.join(map(repr, known_intervals))}"
            )
        return
    requirements = {
        "stabilised": (
            "error rates (loss 'zero_one'), and differences of other mean losses",
            metric.counts_errors or (paired and metric.is_mean),
        ),
        "plus_four": ("the error rate of one learner (loss 'zero_one')", metric.counts_errors),
        "logit": ("the AUC of one learner", metric.ranks_pairs),
        "hall_floor": ("a mean loss of one learner", metric.is_mean),
        "hall": ("a mean loss", metric.is_mean),
    }
    requirement, fits = requirements.get(name, ("", True))
    if not fits or (paired and name not in ("wald", "stabilised", "hall")):
        raise ValueError(
            f"{arg('interval', name)} is for {requirement}, but this is about loss {metric.name!r} "
            f"of {whom}: use {arg('interval', 'auto')}"
        )


def _df(studentised: Studentised, shape: Shape) -> float:
    """Degrees of freedom of the variance, also where its own reference is the normal."""
    return shape.n_obs - 1.0 if math.isnan(studentised.df) else studentised.df


def _pivot(rule: Interval, studentised: Studentised, shape: Shape) -> Pivot:
    """Where interval and p-value of a rule come from: one more is also in `WORDS`."""
    value, se, null = studentised.estimate, studentised.se, studentised.null_value
    low, high = rule.range
    if rule.name == "stabilised":
        error = math.hypot(shape.slope_se, shape.slope_error)
        numbers = value, se, shape.n_obs - 1.0, null
        return Stabilised(*numbers, least=low, most=high, slope=shape.slope, slope_error=error)
    if rule.name == "plus_four":
        n_rows: float = shape.n_obs
        if rule.n_rows is not None:
            # Four rows are added to as many independent ones as would have this variance (Korn and
            # Graubard 1998): four clusters would move the estimate by more than its error.
            effective = value * (1 - value) / se**2 if se > 0 else 0.0
            n_rows = min(max(effective, shape.n_obs), rule.n_rows)
        return plus_four(value, se**2, n_rows, null, _df(studentised, shape))
    if rule.name in ("log", "log1m", "fisher"):
        df = _df(studentised, shape)
        return Pivot.of(value, se, df, rule.name, null_value=null, kind="t on a scale")
    # Of a root by the limits of its square, whose skewness the shape has.
    root = rule.name == "root"
    low, high = (0.0, math.inf) if root else (low, high)
    return Hall.of(
        value,
        se,
        shape.df,
        "square" if root else "identity",
        null_value=null,
        least=low,
        most=high,
        kind="root" if root else "hall",
        n_obs=shape.n_obs,
        skewness=shape.skewness,
        least_above=-math.inf if rule.name == "hall" else LEAST_SKEWNESS,
    )
