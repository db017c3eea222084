"""Metrics that are functions of means, such as F1: their linear part at the final means."""

import math
from dataclasses import dataclass, replace

import numpy as np

from ucvtest.inference.answer import Answer
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import Studentised, studentise
from ucvtest.kernels.ustatistic.columns import Places
from ucvtest.kernels.ustatistic.contrasts import Contrast, estimate
from ucvtest.kernels.ustatistic.few import FewFits
from ucvtest.methods.ustatistic.estimates import (
    FewFitsEstimates,
    UStatisticEstimates,
)
from ucvtest.methods.ustatistic.metric_columns import OfCells, OfMetric
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.run import Sums
from ucvtest.metrics.smooth import Cells, SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.metrics.working_point import WorkingPoint
from ucvtest.stats.linearised import two_right_two_wrong
from ucvtest.stats.pivots import Pivot

MeanEstimates = UStatisticEstimates | FewFitsEstimates


@dataclass(frozen=True, eq=False)
class RowsAddedToTest:
    """A confusion metric of one learner with two right and two wrong rows added to n.

    `mean` is that of the linear part there, and `variances` those of this mean, by name, with their
    Monte-Carlo part.
    """

    point: WorkingPoint
    table: np.ndarray
    n: float
    mean: float
    variances: dict[str, float]

    def rule(
        self, studentised: Studentised, lower_bound: float, upper_bound: float, df: float, name: str
    ) -> Pivot:
        """The interval, by the variance of that name.

        The mean of the linearised values is that of the estimate, which has less Monte-Carlo error
        than the table of everything tested.
        """
        n, point = self.n, self.point
        assert isinstance(point.function, Cells)
        added = two_right_two_wrong(point.function.possible(self.table), point.function.only_class)
        n_with_added = n + added.sum()
        slopes = point.gradient - (point.gradient * point.means).sum()
        mean = self.mean - float((point.gradient * point.means).sum())
        centre = point.value + n / n_with_added * (mean - (self.table * slopes).sum())
        variance = max(self.variances[name], 0.0)
        spread = n**2 * variance + n * mean**2 + (added * slopes**2).sum()
        se = math.sqrt(spread) / n_with_added
        null = studentised.null_value
        return Pivot(float(centre), float(se), df, null, least=lower_bound, most=upper_bound)


@dataclass(frozen=True, eq=False)
class MetricEstimates:
    """Estimates of a metric, or a difference of two.

    `defined` tells of each learner whether it is not 0/0.
    """

    mean_estimates: MeanEstimates
    added: RowsAddedToTest | None = None
    defined: tuple[bool, ...] = ()
    bias: float = math.nan
    """The second-order bias of the estimate; NaN if it is not known."""

    @property
    def undefined(self) -> bool:
        """Whether the metric of a learner is 0/0."""
        return not all(self.defined)

    @property
    def bias_diagnostics(self) -> dict[str, float]:
        """The bias, if it is known."""
        return {} if math.isnan(self.bias) else {"second_order_bias": self.bias}


def of_metric(
    question: Question, sums: Sums, estimates: MeanEstimates, places: Places
) -> MetricEstimates:
    """What a metric has in addition to the estimates of its linear part."""
    columns = sums.columns
    assert isinstance(columns, OfMetric)
    if isinstance(estimates, FewFitsEstimates):
        assert sums.rounds is not None
        means, rounds = columns.point(sums.rounds), sums.rounds
    else:
        means, rounds = sums.effects().u, None
    defined = tuple(columns.defined(place, means, rounds) for place in places)
    if not all(defined):
        return MetricEstimates(estimates, defined=defined)
    bias = _bias(question, columns, estimates, places, means)
    if len(places) == 2 or not isinstance(columns, OfCells):
        return MetricEstimates(estimates, bias=bias)
    (place,) = places
    name = "few" if isinstance(estimates, FewFitsEstimates) else estimates.variance
    variance = _variances(estimates)[name]
    table = columns.table(columns.of_learner(place, means, rounds), rounds)
    n = _n_rows(question, variance, WorkingPoint.at(columns.function, table))
    point, contrast = columns.with_rows_added(place, means, n, rounds)
    if rounds is None:
        moved_estimate = estimate(sums.effects(), contrast)
        moved: MeanEstimates = UStatisticEstimates(moved_estimate, name, 0)
        mean = contrast.level
    else:
        linear = Contrast(contrast.weights, contrast.fixed)
        moved = FewFitsEstimates(rounds.estimate(linear))
        mean = moved.few_fits.mean
    added = RowsAddedToTest(point, table, n, mean, _variances(moved))
    return MetricEstimates(estimates, added, bias=bias)


def _bias(
    question: Question,
    columns: OfMetric,
    estimates: MeanEstimates,
    places: Places,
    means: np.ndarray,
) -> float:
    """The bias of the metric, or of the difference, by the variance that each learner has alone."""
    if len(places) == 2:
        variances = [
            own.variance if isinstance(own, FewFits) else own.variances["jackknife"]
            for own in estimates.per_learner
        ]
    else:
        name = "few" if isinstance(estimates, FewFitsEstimates) else estimates.variance
        variances = [_variances(estimates)[name]]
    of_each = [
        columns.bias(place, means, question.n_obs, variance)
        for place, variance in zip(places, variances, strict=True)
    ]
    return of_each[0] - of_each[1] if len(places) == 2 else of_each[0]


def _n_rows(question: Question, variance: float, point: WorkingPoint) -> float:
    """Rows to which others are added; of clusters as many as would be independent.

    Korn and Graubard (1998): no fewer than clusters, no more than rows.
    """
    if question.clusters is None:
        return float(question.n_obs)
    slopes = point.gradient - float((point.gradient * point.means).sum())
    spread = float((point.means * slopes**2).sum())
    effective = spread / variance if variance > 0 else 0.0
    return float(min(max(effective, question.n_units), question.n_obs))


def _variances(estimates: MeanEstimates) -> dict[str, float]:
    """Those of the estimate by name, with their Monte-Carlo part."""
    if isinstance(estimates, FewFitsEstimates):
        few_fits = estimates.few_fits
        return {"few": few_fits.variance + few_fits.mc_se**2}
    # Of all learning sets there is no such part.
    of_mean = estimates.estimates.mc_se**2
    return {name: value + of_mean for name, value in estimates.estimates.variances.items()}


def with_rule(options: UStatisticOptions, estimates: MetricEstimates) -> UStatisticOptions:
    """The options, whose interval knows the metric with rows added."""
    return replace(options, interval=replace(options.interval, added=estimates.added))


def undefined(question: Question, estimates: MetricEstimates, answer: Answer) -> Answer:
    """The answer if the metric is 0/0: no estimate, and the reason."""
    metric, metric_in_words = question.metric, question.metric.in_words
    assert isinstance(metric, SmoothMetric)
    status = f"no estimate: {metric_in_words} is 0/0 here, because {metric.without_value}"
    if metric.of_survival:
        status = f"no estimate: {metric_in_words} has no value here, because {_no_value(question)}"
    by_few_fits = isinstance(estimates.mean_estimates, FewFitsEstimates)
    df = estimates.mean_estimates.few_fits.df if by_few_fits else question.n_units - 1.0  # type: ignore[union-attr]
    studentised = studentise(
        question.hypothesis, math.nan, math.nan, reference="t", df=df, status=status
    )
    known = (False, *estimates.defined)
    estimates_kept, variances_kept = (
        [value if is_known else math.nan for value, is_known in zip(values, known, strict=False)]
        for values in (answer.estimates, answer.variances)
    )
    return replace(
        answer, tested=studentised, estimates=estimates_kept, variances=variances_kept, tables={}
    )


def _no_value(question: Question) -> str:
    """Why a survival metric has no value in test sets of this sample."""
    metric, sample = question.metric, question.sample
    assert isinstance(metric, SurvivalMetric)
    times = None if sample is None else sample.survival_times
    reason = "" if times is None else metric.no_value(times)
    return f"{reason or 'no two comparable observations were tested together'}; add observations"
