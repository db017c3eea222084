"""Functions of means of several learners together: their linearised values, at the end."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ucvtest.evaluation.kept_predictions import GivenPredictions, KeptPredictions
from ucvtest.evaluation.loss_source import LossSource, SeveralLosses
from ucvtest.methods.ustatistic.function_of_means import (
    MetricEstimates,
    RowsAddedToTest,
)
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.simultaneous_few import JointFewEstimates
from ucvtest.metrics.smooth import Cells
from ucvtest.metrics.working_point import WorkingPoint


class JointEstimate(Protocol):
    """How estimates of all learners come about; `few` if it is known whether from few fits."""

    def __call__(
        self,
        sources: Sequence[LossSource],
        generator: np.random.Generator,
        as_few: bool | None = None,
    ) -> tuple[SeveralLosses, Any]:
        """The losses of all learners, and the estimates."""


@dataclass(frozen=True, eq=False)
class JointMetrics:
    """Estimates of all learners, and of their metrics with two right and two wrong rows added."""

    source: SeveralLosses
    mean_estimates: Any
    points: Sequence[WorkingPoint]
    n_obs: int
    moved: Any = None

    def of(self, places: tuple[int, ...], options: UStatisticOptions) -> MetricEstimates:
        """The estimates of one learner, or of the difference of two."""
        estimates = self.mean_estimates.of(places, options)
        defined = tuple(self.points[learner_index].defined for learner_index in places)
        added = None
        if len(places) == 1 and all(defined) and self.moved is not None:
            metric_of_means, table = self.points[places[0]].function, self.points[places[0]].means
            assert isinstance(metric_of_means, Cells)
            point = WorkingPoint.with_rows_added(metric_of_means, table, self.n_obs)
            moved = self.moved.of(places, options)
            added = RowsAddedToTest(point, table, float(self.n_obs), moved)
        return MetricEstimates(estimates, self.source.of(places), added, defined)


def jointly_settled(
    sources: Sequence[Any], generator: np.random.Generator, estimate: JointEstimate, n_obs: int
) -> JointMetrics:
    """Estimates at the means over everything that is drawn, or given."""
    generator_at_start = copy.deepcopy(generator)
    prediction_sources: list[KeptPredictions | GivenPredictions] = list(sources)
    if isinstance(prediction_sources[0], KeptPredictions):
        estimate(prediction_sources, generator)
    points = [
        WorkingPoint.at(
            prediction_source.function, prediction_source.means[0], prediction_source.errors[0]
        )
        for prediction_source in prediction_sources
    ]
    final = [
        prediction_source.at([point.level])
        for prediction_source, point in zip(prediction_sources, points, strict=True)
    ]
    source, joint_estimates = estimate(final, copy.deepcopy(generator_at_start))
    metric_of_means = points[0].function
    if not isinstance(metric_of_means, Cells):
        return JointMetrics(source, joint_estimates, points, n_obs)
    slopes = [
        WorkingPoint.with_rows_added(metric_of_means, point.means, n_obs).slopes for point in points
    ]
    again = [
        prediction_source.at([point])
        for prediction_source, point in zip(prediction_sources, slopes, strict=True)
    ]
    _, moved = estimate(
        again,
        copy.deepcopy(generator_at_start),
        as_few=isinstance(joint_estimates, JointFewEstimates),
    )
    return JointMetrics(source, joint_estimates, points, n_obs, moved)
