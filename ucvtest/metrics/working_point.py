"""The point of linearisation of a function of means: value, gradient, and linearised rows."""

import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ucvtest.metrics.second_order import (
    directions_of_covariance,
    directions_of_table,
    second_order_bias,
)
from ucvtest.metrics.smooth import (
    Cells,
    FunctionOfMeans,
    Moments,
    ObservedCells,
    OfTimes,
    Ranks,
    linearised,
)
from ucvtest.metrics.survival_sets import MetricOfSets, SumsOfSets
from ucvtest.stats.linearised import two_right_two_wrong

SOME = 2**18
"""Numbers of observations that are computed at a time."""


@dataclass(frozen=True, eq=False)
class WorkingPoint:
    """A function of means at some means of its parts.

    The linear part of a row is ``value + gradient . (parts of the row - means)``.
    """

    function: FunctionOfMeans | MetricOfSets
    means: np.ndarray
    value: float
    gradient: np.ndarray

    @classmethod
    def at(
        cls,
        metric_of_means: FunctionOfMeans | MetricOfSets,
        means: np.ndarray,
        errors: np.ndarray | None = None,
    ) -> Self:
        """The point with its value and gradient, which are NaN if the function is 0/0.

        For `errors` of the means see `FunctionOfMeans`.
        """
        if isinstance(metric_of_means, MetricOfSets):
            value, gradient = metric_of_means.value_and_gradient(means)
        else:
            value, gradient = metric_of_means.value_and_gradient(means, errors)
        return cls(metric_of_means, means, value, gradient)

    @classmethod
    def with_rows_added(cls, metric_of_cells: Cells, table: np.ndarray, n: float) -> Self:
        """The point with two right and two wrong rows added to n, so that no cell is empty."""
        added = two_right_two_wrong(metric_of_cells.possible(table), metric_of_cells.only_class)
        return cls.at(metric_of_cells, (n * table + added) / (n + added.sum()))

    @property
    def defined(self) -> bool:
        """Whether the value and the gradient exist."""
        return bool(np.isfinite(self.value) and np.isfinite(self.gradient).all())

    def bias(self, directions: np.ndarray | None, n: float, variance: float) -> float:
        """The bias of the value, to second order; NaN if it is not known.

        The parts of an observation have the covariance of these `directions` (m, p). Means have
        this covariance divided by `n`, times a factor. The factor is the `variance` of the
        linearised mean divided by the variance for `n` independent rows.
        """
        if directions is None or not self.defined:
            return float("nan")
        along = directions @ self.gradient.ravel()
        plain = float(along @ along) / n
        if not (plain > 0 and variance >= 0):
            return float("nan")
        assert not isinstance(self.function, MetricOfSets)
        bias = second_order_bias(self.function, self.means, directions, 1 / math.sqrt(n))
        return variance / plain * bias


def pool_of(
    metric_of_means: FunctionOfMeans | MetricOfSets, target: np.ndarray
) -> "PooledParts | SumsOfSets":
    """Collects the parts of all tested observations."""
    if isinstance(metric_of_means, MetricOfSets):
        return SumsOfSets(metric_of_means)
    return PooledParts(metric_of_means, target)


class PooledParts:
    """The means of the parts over all observations tested so far, for one learner."""

    def __init__(self, metric_of_means: FunctionOfMeans, target: np.ndarray) -> None:
        self.function, self._target = metric_of_means, target
        self._sums: list[np.ndarray] = []
        self._n_tested = 0

    def about(self, metric_of_means: FunctionOfMeans) -> "PooledParts":
        """The same parts, of another metric."""
        pooled = copy(self)
        pooled.function = metric_of_means
        return pooled

    @property
    def means(self) -> np.ndarray:
        """The means: shares (C, C) of a confusion matrix, or means of numbers (k,)."""
        if isinstance(self.function, Moments):
            return np.asarray(self._total[-1])
        return self._total

    @property
    def directions(self) -> np.ndarray | None:
        """Directions of the covariance of the parts of an observation; see `second_order`."""
        if isinstance(self.function, Moments):
            means = self.means
            return directions_of_covariance(self._total[:-1] - np.outer(means, means))
        return directions_of_table(self.means)

    @property
    def errors(self) -> np.ndarray | None:
        """See `FunctionOfMeans`."""
        if self.function.own is None or not isinstance(self.function, Moments):
            return None
        assert self.directions is not None
        return self.directions / math.sqrt(self._n_tested)

    @property
    def _total(self) -> np.ndarray:
        # Numbers are added row by row, so that sums do not depend on how rows are grouped.
        return np.asarray(np.concatenate(self._sums).sum(axis=0) / self._n_tested)

    def add(
        self,
        predictions: np.ndarray,
        testing: np.ndarray,
        *,
        sign: int = 1,
        row_by_row: bool = False,
    ) -> None:
        """Add the tested observations of some rows (R, n), or remove them if the sign is -1."""
        n_tested = int(np.count_nonzero(testing))
        self._n_tested += sign * n_tested
        if isinstance(self.function, Moments):
            # Sums (R, k + 1, k) of products of the numbers, and of the numbers, by row.
            for rows in _row_slices(predictions, row_by_row=row_by_row):
                batch = predictions[rows]
                every = np.tile(self._target, len(batch))
                numbers = self.function.numbers(every, batch.ravel()).reshape(*batch.shape, -1)
                numbers = np.where(testing[rows][..., None], numbers, 0.0)
                products = numbers.transpose(0, 2, 1) @ numbers
                sums = np.concatenate([products, numbers.sum(axis=1, keepdims=True)], axis=1)
                self._sums.append(sign * sums)
            return
        every = np.broadcast_to(self._target, testing.shape)[testing]
        # Numbers of rows, which add up without error.
        counts = np.rint(2 * n_tested * self.function.means(every, predictions[testing])) / 2
        total = sign * counts + (self._sums[0][0] if self._sums else 0.0)
        self._sums = [total[None]]


def _row_slices(predictions: np.ndarray, *, row_by_row: bool) -> Iterator[slice]:
    """Slices of rows, some at a time or one by one, with all observations of each row."""
    size = 1 if row_by_row else max(1, SOME // predictions.shape[1])
    for first_row in range(0, len(predictions), size):
        yield slice(first_row, first_row + size)


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
        assert isinstance(metric_of_means, Moments)
        return [
            metric_of_means.directions(self.target, self._predictions[learner])
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
        values = []
        for learner, row in enumerate(self._predictions):
            observed = None
            if isinstance(metric_of_means, Cells):
                observed = self._in_cells(metric_of_means, learner)
            values.append(linearised(metric_of_means, self.target, row, folds, observed))
        return np.stack(values)

    def _in_cells(self, metric_of_cells: Cells, learner: int) -> ObservedCells:
        key = metric_of_cells.n_classes, learner
        if key not in self._cells:
            n_classes, predictions = metric_of_cells.n_classes, self._predictions[learner]
            self._cells[key] = ObservedCells.of(self.target, predictions, n_classes)
        return self._cells[key]
