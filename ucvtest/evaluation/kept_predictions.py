"""Losses of metrics that are functions of means, such as F1: their gradient is known at the end.

The predictions of all fits are kept. Once all are there, a test asks for their linearised values as
often as it needs to, for one point or another, and nothing is fitted again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.data.groups import Clusters
from ucvtest.data.positive_class import json_label
from ucvtest.evaluation.loss_source import FittedLosses, LossSource, PrecomputedLosses
from ucvtest.evaluation.problem import Problem
from ucvtest.evaluation.workers import FailedFit
from ucvtest.losses.clusters import of_clusters
from ucvtest.losses.resample_means import resample_means
from ucvtest.losses.table import LossDifference
from ucvtest.metrics.smooth import Cells, FunctionOfMeans, SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.metrics.survival_sets import MetricOfSets, SumsOfSets
from ucvtest.metrics.working_point import (
    WorkingPoint,
    directions_of_parts,
    pool_of,
    values_in_sets,
)

__all__ = ["GivenPredictions", "KeptPredictions", "source_of"]

Points = Sequence[WorkingPoint]
"""Where the metric of each learner is linearised."""


def source_of(problem: Problem, execution: Execution) -> FittedLosses:
    """The losses of fits, or their predictions where the metric is a function of means."""
    kept = isinstance(problem.metric, SmoothMetric)
    return (KeptPredictions if kept else FittedLosses)(problem, execution)


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Predictions (R, n) of each learner that were asked for together, and why some are missing."""

    predictions: list[np.ndarray]
    failed: dict[int, list[FailedFit]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.predictions[0])

    def rows(self, rows: slice) -> "KeptRows":
        """Some of them."""
        failed = {row - rows.start: each for row, each in self.failed.items() if row in _in(rows)}
        return KeptRows([each[rows] for each in self.predictions], failed)


class KeptPredictions(FittedLosses):
    """Losses of fits whose predictions are kept.

    Until all are there, values are those at the point of the first rows, with observations added
    to the confusion matrix: near enough to tell how many fits it takes.
    """

    def __init__(self, problem: Problem, execution: Execution) -> None:
        super().__init__(problem, execution)
        metric, sample = problem.metric, problem.sample
        assert isinstance(metric, SmoothMetric)
        labels = [] if sample.classes is None else [*map(json_label, sample.classes)]
        self.function: FunctionOfMeans | MetricOfSets
        if isinstance(metric, SurvivalMetric):
            assert sample.survival_times is not None
            self.function = metric.in_sets(sample.survival_times)
        else:
            self.function = metric.made_for(labels)
        self._target = sample.target
        self._kept: list[KeptRows] = []
        self._last_testing = np.zeros((0, sample.n_obs), dtype=bool)
        self._pooled = [pool_of(self.function, sample.target) for _ in problem.learners]
        self._points: list[WorkingPoint] = []

    @property
    def means(self) -> list[np.ndarray]:
        """The means of the parts of each learner, pooled over everything tested."""
        return [each.means for each in self._pooled]

    @property
    def directions(self) -> list[np.ndarray | None]:
        """Those of the covariance of the parts of an observation, for the bias of each learner."""
        return [each.directions for each in self._pooled]

    def at(self, points: Points) -> "ReplayedLosses":
        """The values at some point, of the same rows in the same order, from the first on."""
        found = ReplayedLosses(self._kept, points, self._target, self._clusters)
        found.paired, found.identical = self.paired, self.identical
        found.ties, found.one_class_fits = self.ties, self.one_class_fits
        found.offset, found.one_by_one = self.offset, self.one_by_one
        return found

    def leave_out(self, rows: np.ndarray) -> None:
        """See `LossSource`."""
        testing = self._last_testing[rows]
        for pooled, kept in zip(self._pooled, self._kept[-1].predictions, strict=True):
            pooled.take_away(kept[rows], testing, row_by_row=self.one_by_one)

    def _scored(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        if predictions.dtype == np.int8 and isinstance(self.function, Cells):
            return np.where(testing, predictions, np.int8(0))
        found = self._problem.metric.kept(self._problem.sample, predictions, testing)
        # Fits that have failed.
        return np.where(np.isnan(found), 0.0, found)

    def _as_losses(
        self, found: list[np.ndarray], testing: np.ndarray, failed: dict[int, list[FailedFit]]
    ) -> list[np.ndarray]:
        kept = [self._in_brief(each) for each in found]
        for pooled, each in zip(self._pooled, kept, strict=True):
            pooled.add(each, testing, row_by_row=self.one_by_one)
        self._kept.append(KeptRows(kept, failed))
        self._last_testing = testing
        if not self._points:
            self._points = [self._first_point(each, testing) for each in kept]
        return _linearised(self._points, self._target, kept, testing, row_by_row=self.one_by_one)

    def _in_brief(self, predictions: np.ndarray) -> np.ndarray:
        """Numbers of classes in a byte each, unless ties are left open."""
        if not isinstance(self.function, Cells) or predictions.dtype == np.int8:
            return predictions
        brief = predictions.astype(np.int8)
        return brief if (brief == predictions).all() else predictions

    def _first_point(self, predictions: np.ndarray, testing: np.ndarray) -> WorkingPoint:
        # How many fits come at a time depends on how long they take: the first pair does not.
        rows = slice(0, 2 if self.one_by_one else None)
        first = pool_of(self.function, self._target)
        first.add(predictions[rows], testing[rows], row_by_row=self.one_by_one)
        if isinstance(self.function, Cells):
            n_obs = len(self._target)
            return WorkingPoint.with_rows_added(self.function, first.means, n_obs)
        return WorkingPoint.at(self.function, first.means).level


class ReplayedLosses(LossSource):
    """Linearised values of predictions that were kept, row by row as they were asked for."""

    def __init__(
        self,
        kept: Sequence[KeptRows],
        points: Points,
        target: np.ndarray,
        clusters: Clusters | None,
    ) -> None:
        self._kept, self._points = kept, points
        self._target, self._clusters = target, clusters
        self._part = self._row = 0
        self.n_left = sum(map(len, kept))
        self.n_fits = 0

    def losses_for(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> list[np.ndarray]:
        """See `LossSource`."""
        return self.losses_and_failures(learning, testing, seeds)[0]

    def losses_and_failures(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> tuple[list[np.ndarray], dict[int, list[FailedFit]]]:
        """See `LossSource`. Rows that an interrupt has prevented end in one again."""
        assert self.n_left is not None
        if len(testing) > self.n_left:
            # Of learners that are fitted one by one alone an interrupt leaves an answer.
            assert self.one_by_one, "rows that were never asked for"
            raise KeyboardInterrupt
        self.n_left -= len(testing)
        if self._clusters is not None:
            testing = testing[:, self._clusters.groups.index]
        found: list[list[np.ndarray]] = []
        failed: dict[int, list[FailedFit]] = {}
        done = 0
        for part in self._next(len(testing)):
            rows = testing[done : done + len(part)]
            values = _linearised(
                self._points, self._target, part.predictions, rows, row_by_row=self.one_by_one
            )
            found.append(values)
            failed |= {done + row: errors for row, errors in part.failed.items()}
            done += len(part)
        self.n_fits += len(self._points) * len(testing)
        each = found[0]
        if len(found) > 1:
            each = [np.concatenate(parts) for parts in zip(*found, strict=True)]
        clusters = self._clusters
        return (each if clusters is None else [clusters.sums(one) for one in each]), failed

    def _next(self, number: int) -> Iterator[KeptRows]:
        """The next rows, part by part."""
        while number > 0:
            part = self._kept[self._part]
            stop = min(len(part), self._row + number)
            yield part.rows(slice(self._row, stop))
            number -= stop - self._row
            self._row = stop
            if stop == len(part):
                self._part, self._row = self._part + 1, 0


class GivenPredictions(PrecomputedLosses):
    """Linearised values that are given, with the predictions of the rows that they are made of."""

    def __init__(
        self, observed: LossDifference, rows: LossDifference, clusters: Clusters | None
    ) -> None:
        super().__init__(observed)
        self._rows, self._clusters = rows, clusters
        self.function: FunctionOfMeans | MetricOfSets
        metric = rows.losses.metric
        if isinstance(metric, SurvivalMetric):
            self.function = metric.in_sets(rows.losses.survival_times)
        else:
            self.function = rows.losses.function_of_means

    @cached_property
    def means(self) -> list[np.ndarray]:
        """The means of the parts of each learner, pooled over everything tested."""
        if isinstance(self.function, MetricOfSets):
            pools = []
            for each in self._predictions:
                pool = SumsOfSets(self.function)
                pool.add(self._by_set(each), self._rows.design.testing)
                pools.append(pool.means)
            return pools
        target = self._rows.tested_target
        return [self.function.means(target, each) for each in self._predictions]

    @property
    def directions(self) -> list[np.ndarray | None]:
        """Those of the covariance of the parts of an observation, for the bias of each learner."""
        if isinstance(self.function, MetricOfSets):
            return [None for _ in self._predictions]
        target, function = self._rows.tested_target, self.function
        return [directions_of_parts(function, target, each) for each in self._predictions]

    def at(self, points: Points) -> PrecomputedLosses:
        """The values at some point."""
        losses, design = self._rows.losses, self._rows.design
        values = np.concatenate(
            [
                self._values(point, each)[None]
                for point, each in zip(points, self._predictions, strict=True)
            ]
        )
        places = [self._rows.learner, self._rows.other]
        moved = replace(
            losses,
            learners=tuple(losses.learners[place] for place in places if place is not None),
            loss="linearised",
            values=values,
            means=resample_means(values, design),
            bounds=None,
            predictions=None,
            smooth=None,
            event=None,
        )
        if self._clusters is not None:
            moved = of_clusters(moved, self._clusters)
        return PrecomputedLosses(moved.difference(0, 1 if self.paired else None))

    def _values(self, point: WorkingPoint, predictions: np.ndarray) -> np.ndarray:
        """The values of everything tested, (T,)."""
        if isinstance(point.function, MetricOfSets):
            testing = self._rows.design.testing
            found = point.function.values(point.means, self._by_set(predictions), testing)
            return np.asarray(found[testing])
        return point.values(self._rows.tested_target, predictions[None])[0]

    def _by_set(self, predictions: np.ndarray) -> np.ndarray:
        """Predictions of everything tested as (R, n), or (R, n, K)."""
        testing = self._rows.design.testing
        found = np.zeros((*testing.shape, *predictions.shape[1:]))
        found[testing] = predictions
        return found

    @property
    def _predictions(self) -> list[np.ndarray]:
        kept = self._rows.losses.predictions
        assert kept is not None
        places = (self._rows.learner, self._rows.other)
        return [kept[place] for place in places if place is not None]


def _linearised(
    points: Points,
    target: np.ndarray,
    predictions: Sequence[np.ndarray],
    testing: np.ndarray,
    *,
    row_by_row: bool,
) -> list[np.ndarray]:
    """Linearised values (R, n) of each learner; 0 where nothing is tested."""
    return [
        values_in_sets(point, target, each, testing, row_by_row=row_by_row)
        for point, each in zip(points, predictions, strict=True)
    ]


def _in(rows: slice) -> range:
    return range(rows.start, rows.stop)
