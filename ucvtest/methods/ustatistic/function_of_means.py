"""Metrics that are functions of means, such as F1: linearised values replace losses.

The gradient is taken at the means over all learning sets, so it is known only at the end. The draws
are then processed again, with the kept predictions.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ucvtest.evaluation.kept_predictions import GivenPredictions, KeptPredictions
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference.answer import Answer
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import Studentised, studentise
from ucvtest.kernels.ustatistic.first_order import FirstOrderEstimate
from ucvtest.methods.ustatistic.estimation import UStatisticEstimates
from ucvtest.methods.ustatistic.few import FewFitsEstimates
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.metrics.smooth import Cells, SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.metrics.survival_sets import MetricOfSets
from ucvtest.metrics.working_point import WorkingPoint
from ucvtest.stats.few_fits import FewFits
from ucvtest.stats.linearised import two_right_two_wrong
from ucvtest.stats.pivots import Pivot

MeanEstimates = UStatisticEstimates | FewFitsEstimates


class Estimate(Protocol):
    """A function from losses, and a generator of draws, to estimates.

    `few` tells whether they are estimates of few fits, if that is known before.
    """

    def __call__(
        self, source: LossSource, generator: np.random.Generator, as_few: bool | None = None
    ) -> MeanEstimates:
        """The estimates."""


@dataclass(frozen=True, eq=False)
class RowsAddedToTest:
    """A confusion metric of one learner with two right and two wrong rows added to n.

    `moved` are the estimates of its linearised values there.
    """

    point: WorkingPoint
    table: np.ndarray
    n: float
    moved: MeanEstimates

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
        mean = _estimate_of(self.moved)
        centre = point.value + n / n_with_added * (mean - (self.table * slopes).sum())
        spread = n**2 * self._variance(name) + n * mean**2 + (added * slopes**2).sum()
        se = math.sqrt(spread) / n_with_added
        limits = {"least": lower_bound, "most": upper_bound}
        return Pivot(float(centre), float(se), df, studentised.null_value, **limits)

    def _variance(self, name: str) -> float:
        """Of the mean of the linearised values, with its Monte-Carlo part."""
        return max(_variance_of(self.moved, name), 0.0)


@dataclass(frozen=True, eq=False)
class MetricEstimates:
    """Estimates of a metric, or a difference of two, and where the values behind them came from.

    `defined` tells of each learner whether it is not 0/0.
    """

    mean_estimates: MeanEstimates
    source: LossSource
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


def settled(
    question: Question,
    source: KeptPredictions | GivenPredictions,
    generator: np.random.Generator,
    estimate: Estimate,
    draw_all: Callable[[LossSource, np.random.Generator], None] | None,
) -> MetricEstimates:
    """Estimates at the means over everything that is drawn, or given.

    `draw_all` asks for everything, where that is known before; otherwise an `estimate` does.
    """
    generator_at_start = copy.deepcopy(generator)
    converged = False
    if isinstance(source, KeptPredictions):
        if draw_all is None or source.one_by_one:
            first = estimate(source, generator)
            converged = isinstance(first, UStatisticEstimates) and first.converged
        else:
            draw_all(source, generator)
    metric_of_means, means = source.function, source.means
    points = [
        WorkingPoint.at(metric_of_means, learner_means, errors)
        for learner_means, errors in zip(means, source.errors, strict=True)
    ]
    defined = tuple(point.defined for point in points)
    undefined = not all(defined)
    final: LossSource = source
    if undefined:
        final = source.at([point.level for point in points])
    elif isinstance(source, KeptPredictions) or isinstance(metric_of_means, MetricOfSets):
        # Tables of pairs have values about these rules, whose learning sets are not drawn.
        final = source.at(points)
    estimates = estimate(final, copy.deepcopy(generator_at_start))
    if converged and isinstance(estimates, UStatisticEstimates):
        estimates = replace(estimates, converged=True)
    bias = math.nan if undefined else _bias(question, source, estimates, points)
    if undefined or question.paired or not isinstance(metric_of_means, Cells):
        return MetricEstimates(estimates, final, None, defined, bias)
    table, n = means[0], _n_rows(question, estimates, points[0])
    point = WorkingPoint.with_rows_added(metric_of_means, table, n)
    again = source.at([point.slopes])
    moved = estimate(
        again, copy.deepcopy(generator_at_start), as_few=isinstance(estimates, FewFitsEstimates)
    )
    return MetricEstimates(estimates, final, RowsAddedToTest(point, table, n, moved), bias=bias)


def _bias(
    question: Question,
    source: KeptPredictions | GivenPredictions,
    estimates: MeanEstimates,
    points: Sequence[WorkingPoint],
) -> float:
    """The bias of the metric, or of the difference, by the variance that each learner has alone."""
    if question.paired:
        variances = [_own_variance(learner_estimate) for learner_estimate in estimates.per_learner]
    else:
        name = estimates.variance if isinstance(estimates, UStatisticEstimates) else "few"
        variances = [_variance_of(estimates, name)]
    point_bias = [
        point.bias(directions, question.n_obs, variance)
        for point, directions, variance in zip(points, source.directions, variances, strict=True)
    ]
    return point_bias[0] - point_bias[1] if question.paired else point_bias[0]


def _own_variance(learner_estimate: FirstOrderEstimate | FewFits) -> float:
    return (
        learner_estimate.jackknife
        if isinstance(learner_estimate, FirstOrderEstimate)
        else learner_estimate.variance
    )


def _n_rows(question: Question, estimates: MeanEstimates, point: WorkingPoint) -> float:
    """Rows to which others are added; of clusters as many as would be independent.

    Korn and Graubard (1998): no fewer than clusters, no more than rows.
    """
    if question.clusters is None:
        return float(question.n_obs)
    name = estimates.variance if isinstance(estimates, UStatisticEstimates) else "few"
    variance = _variance_of(estimates, name)
    slopes = point.gradient - float((point.gradient * point.means).sum())
    spread = float((point.means * slopes**2).sum())
    effective = spread / variance if variance > 0 else 0.0
    return float(min(max(effective, question.n_units), question.n_obs))


def _variance_of(metric_estimates: MeanEstimates, name: str) -> float:
    """Of the estimate, with its Monte-Carlo part."""
    if isinstance(metric_estimates, FewFitsEstimates):
        return metric_estimates.few_fits.variance + metric_estimates.few_fits.mc_se**2
    estimates = metric_estimates.estimates
    # Of all learning sets there is no such part.
    return float(estimates.values[name]) + float(estimates.mc_se["estimate"]) ** 2


def _estimate_of(estimates: MeanEstimates) -> float:
    if isinstance(estimates, FewFitsEstimates):
        return estimates.few_fits.mean
    return float(estimates.estimates.values["estimate"])


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
