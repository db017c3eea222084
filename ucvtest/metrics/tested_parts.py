"""The parts of tested observations, which all metrics of the same predictions share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ucvtest.metrics.second_order import directions_of_table
from ucvtest.metrics.smooth import (
    Cells,
    FunctionOfMeans,
    ObservedCells,
    OfTimes,
    Ranks,
    linearised,
    linearised_at,
)
from ucvtest.metrics.working_point import directions_of_parts


class PartsOfTested:
    """Parts of the response (T,) and of predictions (L, T) of all tested observations.

    Confusion matrices are counted once for all metrics.
    """

    def __init__(self, target: Any, predictions: np.ndarray) -> None:
        self.target, self._predictions = target, predictions
        self._cells: dict[tuple[int, int], ObservedCells] = {}

    def means(self, metric_of_means: FunctionOfMeans, learners: Sequence[int]) -> list[np.ndarray]:
        """The means of the parts of some learners, which are named by their positions."""
        if isinstance(metric_of_means, Cells):
            return [self._in_cells(metric_of_means, learner).table for learner in learners]
        return [
            metric_of_means.means(self.target, self._predictions[learner]) for learner in learners
        ]

    def directions(
        self, metric_of_means: FunctionOfMeans, learners: Sequence[int]
    ) -> list[np.ndarray | None]:
        """Those of the covariance of the parts of an observation, for each learner."""
        if isinstance(metric_of_means, Cells):
            return [directions_of_table(table) for table in self.means(metric_of_means, learners)]
        return [
            directions_of_parts(metric_of_means, self.target, self._predictions[learner])
            for learner in learners
        ]

    def errors(
        self, metric_of_means: FunctionOfMeans, learners: Sequence[int]
    ) -> list[np.ndarray | None]:
        """Those of the means of the parts, for each learner; see `FunctionOfMeans`."""
        return [
            metric_of_means.errors(self.target, self._predictions[learner]) for learner in learners
        ]

    def linearised(
        self, metric_of_means: FunctionOfMeans | Ranks | OfTimes, folds: np.ndarray | None = None
    ) -> np.ndarray:
        """Linearised values (L, T) of each learner.

        Parts are pooled over all tested observations (Forman and Scholz 2010); pairs of survival
        times are within `folds` (T,).
        """
        if isinstance(metric_of_means, Cells):
            in_cells = (
                self._in_cells(metric_of_means, learner)
                for learner in range(len(self._predictions))
            )
            values = [
                linearised_at(metric_of_means, observed.table, observed.parts, len(self.target))
                for observed in in_cells
            ]
        else:
            values = [
                linearised(metric_of_means, self.target, row, folds) for row in self._predictions
            ]
        return np.stack(values)

    def _in_cells(self, metric_of_cells: Cells, learner: int) -> ObservedCells:
        key = metric_of_cells.n_classes, learner
        if key not in self._cells:
            n_classes, predictions = metric_of_cells.n_classes, self._predictions[learner]
            self._cells[key] = ObservedCells.of(self.target, predictions, n_classes)
        return self._cells[key]
