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
from ucvtest.evaluation.loss_source import (
    FittedLosses,
    LossesAndFailures,
    LossSource,
    PrecomputedLosses,
)
from ucvtest.evaluation.problem import Problem
from ucvtest.evaluation.workers import FailedFit
from ucvtest.losses.clusters import of_clusters
from ucvtest.losses.linearised import parts_where_tested, resample_means
from ucvtest.losses.table import LossDifference
from ucvtest.metrics.smooth import Cells, FunctionOfMeans, SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.metrics.survival_sets import MetricOfSets, SumsOfSets
from ucvtest.metrics.working_point import (
    PooledParts,
    WorkingPoint,
    pool_of,
    values_in_sets,
)

Points = Sequence[WorkingPoint]
"""Where the metric of each learner is linearised."""


def source_of(problem: Problem, execution: Execution) -> FittedLosses:
    """The losses of fits, or their predictions where the metric is a function of means."""
    keeps_predictions = isinstance(problem.metric, SmoothMetric)
    return (KeptPredictions if keeps_predictions else FittedLosses)(problem, execution)


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Predictions (R, n) of each learner that were asked for together, and why some are missing."""

    predictions: list[np.ndarray]
    failed: dict[int, list[FailedFit]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.predictions[0])

    def rows(self, rows: slice) -> "KeptRows":
        """Some of them."""
        failed = {
            row - rows.start: failed_fits
            for row, failed_fits in self.failed.items()
            if rows.start <= row < rows.stop
        }
        return KeptRows(
            [learner_predictions[rows] for learner_predictions in self.predictions], failed
        )


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
        self._kept_rows: list[KeptRows] = []
        self._last_testing = np.zeros((0, sample.n_obs), dtype=bool)
        self._pooled = [pool_of(self.function, sample.target) for _ in problem.learners]
        self._points: list[WorkingPoint] = []

    @property
    def means(self) -> list[np.ndarray]:
        """The means of the parts of each learner, pooled over everything tested."""
        return [pooled.means for pooled in self._pooled]

    @property
    def directions(self) -> list[np.ndarray | None]:
        """Those of the covariance of the parts of an observation, for the bias of each learner."""
        return [pooled.directions for pooled in self._pooled]

    @property
    def errors(self) -> list[np.ndarray | None]:
        """Those of the means of each learner, if its gradient needs them."""
        return [pooled.errors for pooled in self._pooled]

    def at(self, points: Points) -> "ReplayedLosses":
        """The values at some point, of the same rows in the same order, from the first on."""
        replayed = ReplayedLosses(self._kept_rows, points, self._target, self._clusters)
        replayed.paired, replayed.identical = self.paired, self.identical
        replayed.ties, replayed.one_class_fits = self.ties, self.one_class_fits
        replayed.offset, replayed.one_by_one = self.offset, self.one_by_one
        return replayed

    def leave_out(self, rows: np.ndarray) -> None:
        """See `LossSource`."""
        testing = self._last_testing[rows]
        for pooled, learner_predictions in zip(
            self._pooled, self._kept_rows[-1].predictions, strict=True
        ):
            pooled.add(learner_predictions[rows], testing, sign=-1, row_by_row=self.one_by_one)

    def _scored(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        if predictions.dtype == np.int8 and isinstance(self.function, Cells):
            return np.where(testing, predictions, np.int8(0))
        scored_predictions = self._problem.metric.kept(self._problem.sample, predictions, testing)
        # Fits that have failed.
        return np.where(np.isnan(scored_predictions), 0.0, scored_predictions)

    def _as_losses(
        self, predictions: list[np.ndarray], testing: np.ndarray, failed: dict[int, list[FailedFit]]
    ) -> list[np.ndarray]:
        brief_predictions = []
        for learner_predictions in predictions:
            brief = learner_predictions
            if isinstance(self.function, Cells) and learner_predictions.dtype != np.int8:
                # Numbers of classes take a byte each, unless ties are left open.
                numbers = learner_predictions.astype(np.int8)
                brief = numbers if (numbers == learner_predictions).all() else learner_predictions
            brief_predictions.append(brief)
        for pooled, learner_predictions in zip(self._pooled, brief_predictions, strict=True):
            pooled.add(learner_predictions, testing, row_by_row=self.one_by_one)
        self._kept_rows.append(KeptRows(brief_predictions, failed))
        self._last_testing = testing
        if not self._points:
            self._points = [
                self._first_point(pooled, learner_predictions, testing)
                for pooled, learner_predictions in zip(self._pooled, brief_predictions, strict=True)
            ]
        return _linearised(
            self._points, self._target, brief_predictions, testing, row_by_row=self.one_by_one
        )

    def _first_point(
        self, first: PooledParts | SumsOfSets, predictions: np.ndarray, testing: np.ndarray
    ) -> WorkingPoint:
        """At what the first rows have made of a pool."""
        if self.one_by_one:
            # How many fits come at a time depends on how long they take: the first pair does not.
            first = pool_of(self.function, self._target)
            first.add(predictions[:2], testing[:2], row_by_row=True)
        if isinstance(self.function, Cells):
            n_obs = len(self._target)
            return WorkingPoint.with_rows_added(self.function, first.means, n_obs)
        return WorkingPoint.at(self.function, first.means, first.errors).level


class ReplayedLosses(LossSource):
    """Linearised values of predictions that were kept, row by row as they were asked for."""

    def __init__(
        self,
        kept_rows: Sequence[KeptRows],
        points: Points,
        target: np.ndarray,
        clusters: Clusters | None,
    ) -> None:
        self._kept_rows, self._points = kept_rows, points
        self._target, self._clusters = target, clusters
        self._part = self._row = 0
        self.n_left = sum(map(len, kept_rows))
        self.n_fits = 0

    def losses_and_failures(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray, *, may_fail: bool = True
    ) -> LossesAndFailures:
        """See `LossSource`. Rows that an interrupt has prevented end in one again."""
        assert self.n_left is not None
        if len(testing) > self.n_left:
            # Of learners that are fitted one by one alone an interrupt leaves an answer.
            assert self.one_by_one, "rows that were never asked for"
            raise KeyboardInterrupt
        self.n_left -= len(testing)
        if self._clusters is not None:
            testing = testing[:, self._clusters.groups.index]
        replayed_values: list[list[np.ndarray]] = []
        failed: dict[int, list[FailedFit]] = {}
        n_done = 0
        for kept_rows in self._next(len(testing)):
            rows = testing[n_done : n_done + len(kept_rows)]
            values = _linearised(
                self._points, self._target, kept_rows.predictions, rows, row_by_row=self.one_by_one
            )
            replayed_values.append(values)
            failed |= {n_done + row: errors for row, errors in kept_rows.failed.items()}
            n_done += len(kept_rows)
        self.n_fits += len(self._points) * len(testing)
        losses = replayed_values[0]
        if len(replayed_values) > 1:
            losses = [
                np.concatenate(learner_values)
                for learner_values in zip(*replayed_values, strict=True)
            ]
        if self._clusters is not None:
            losses = [self._clusters.sums(learner_losses) for learner_losses in losses]
        return losses, failed

    def _next(self, number: int) -> Iterator[KeptRows]:
        """The next rows, part by part."""
        while number > 0:
            kept_rows = self._kept_rows[self._part]
            last_row = min(len(kept_rows), self._row + number)
            yield kept_rows.rows(slice(self._row, last_row))
            number -= last_row - self._row
            self._row = last_row
            if last_row == len(kept_rows):
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
            for user_predictions in self._predictions:
                pool = SumsOfSets(self.function)
                pool.add(self._by_set(user_predictions), self._rows.design.testing)
                pools.append(pool.means)
            return pools
        return parts_where_tested(self._rows.losses).means(self.function, self._learners)

    @property
    def directions(self) -> list[np.ndarray | None]:
        """Those of the covariance of the parts of an observation, for the bias of each learner."""
        if isinstance(self.function, MetricOfSets):
            return [None for _ in self._predictions]
        return parts_where_tested(self._rows.losses).directions(self.function, self._learners)

    @property
    def errors(self) -> list[np.ndarray | None]:
        """Those of the means of each learner, if its gradient needs them."""
        if isinstance(self.function, MetricOfSets):
            return [None for _ in self._predictions]
        return parts_where_tested(self._rows.losses).errors(self.function, self._learners)

    def at(self, points: Points) -> PrecomputedLosses:
        """The values at some point."""
        losses, design = self._rows.losses, self._rows.design
        learner_values = []
        for point, learner_predictions in zip(points, self._predictions, strict=True):
            if isinstance(point.function, MetricOfSets):
                by_set = self._by_set(learner_predictions)
                set_values = point.function.values(point.means, by_set, design.testing)
                learner_values.append(np.asarray(set_values[design.testing]))
            else:
                target = self._rows.tested_target
                learner_values.append(point.values(target, learner_predictions[None])[0])
        values = np.stack(learner_values)
        moved = replace(
            losses,
            learners=tuple(losses.learners[learner_index] for learner_index in self._learners),
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

    def _by_set(self, predictions: np.ndarray) -> np.ndarray:
        """Predictions of everything tested as (R, n), or (R, n, K)."""
        testing = self._rows.design.testing
        predictions_by_set = np.zeros((*testing.shape, *predictions.shape[1:]))
        predictions_by_set[testing] = predictions
        return predictions_by_set

    @property
    def _predictions(self) -> list[np.ndarray]:
        all_predictions = self._rows.losses.predictions
        assert all_predictions is not None
        return [all_predictions[learner_index] for learner_index in self._learners]

    @property
    def _learners(self) -> list[int]:
        """The position of the learner, and of the other if there is one."""
        places = (self._rows.learner, self._rows.other)
        return [learner_index for learner_index in places if learner_index is not None]


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
        values_in_sets(point, target, learner_predictions, testing, row_by_row=row_by_row)
        for point, learner_predictions in zip(points, predictions, strict=True)
    ]
