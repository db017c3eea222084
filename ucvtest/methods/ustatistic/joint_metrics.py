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
    UndefinedDifference,
    level,
)
from ucvtest.methods.ustatistic.options import Options
from ucvtest.methods.ustatistic.simultaneous_few import JointFewEstimates
from ucvtest.metrics.smooth import Cells
from ucvtest.metrics.working_point import WorkingPoint

__all__ = ["JointMetrics", "jointly_settled"]


class JointEstimate(Protocol):
    """How estimates of all learners come about; `few` if it is known whether from few fits."""

    def __call__(
        self,
        sources: Sequence[LossSource],
        generator: np.random.Generator,
        few: bool | None = None,
    ) -> tuple[SeveralLosses, Any]:
        """The losses of all learners, and the estimates."""


@dataclass(frozen=True, eq=False)
class JointMetrics:
    """Estimates of all learners, and of their metrics with two right and two wrong rows added."""

    source: SeveralLosses
    found: Any
    points: Sequence[WorkingPoint]
    n_obs: int
    moved: Any = None

    def of(self, places: tuple[int, ...], options: Options) -> MetricEstimates:
        """The estimates of one learner, or of the difference of two."""
        found = self.found.of(places, options)
        undefined = not all(self.points[place].defined for place in places)
        added = apart = None
        if undefined and len(places) == 2 and isinstance(self.points[0].function, Cells):
            points = [self.points[place] for place in places]
            apart = UndefinedDifference.of(found, points, self.n_obs)
        if len(places) == 1 and self.moved is not None:
            function, table = self.points[places[0]].function, self.points[places[0]].means
            assert isinstance(function, Cells)
            point = WorkingPoint.with_rows_added(function, table, self.n_obs)
            moved = self.moved.of(places, options)
            added = RowsAddedToTest(point, table, float(self.n_obs), moved)
        return MetricEstimates(found, self.source.of(places), added, undefined, apart=apart)


def jointly_settled(
    sources: Sequence[Any], generator: np.random.Generator, estimate: JointEstimate, n_obs: int
) -> JointMetrics:
    """Estimates at the means over everything that is drawn, or given."""
    start = copy.deepcopy(generator)
    known: list[KeptPredictions | GivenPredictions] = list(sources)
    if isinstance(known[0], KeptPredictions):
        estimate(known, generator)
    points = [WorkingPoint.at(each.function, each.means[0]) for each in known]
    levels = [level(point, n_obs) for point in points]
    final = [each.at([point]) for each, point in zip(known, levels, strict=True)]
    source, found = estimate(final, copy.deepcopy(start))
    function = points[0].function
    if not isinstance(function, Cells):
        return JointMetrics(source, found, points, n_obs)
    slopes = [WorkingPoint.with_rows_added(function, point.means, n_obs).slopes for point in points]
    again = [each.at([point]) for each, point in zip(known, slopes, strict=True)]
    _, moved = estimate(again, copy.deepcopy(start), few=isinstance(found, JointFewEstimates))
    return JointMetrics(source, found, points, n_obs, moved)
