"""Columns of metrics that are functions of means, such as F1, R2 and concordances.

The gradient is taken at the final means, where it makes a contrast of the columns. Another point,
such as that with rows added, is another contrast of the same sums.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.kernels.ustatistic.columns import Columns, Pair, Values
from ucvtest.kernels.ustatistic.contrasts import Contrast
from ucvtest.kernels.ustatistic.few import Rounds
from ucvtest.kernels.ustatistic.rows import Strata
from ucvtest.metrics.smooth import Cells, FunctionOfMeans, Moments
from ucvtest.metrics.survival_sets import MetricOfSets
from ucvtest.metrics.working_point import WorkingPoint, pool_of


class Linear(NamedTuple):
    """A function at some means: its value, and the slopes of columns and of fixed parts (n,).

    `level` is the mean of the linear part of a row there.
    """

    value: float
    gradient: np.ndarray
    fixed: np.ndarray | float
    level: float


@dataclass(frozen=True, eq=False)
class OfMetric(Columns):
    """A function of the means of parts of rows, whose response is `target` (N,).

    Parts of the rows of clusters are added up; every row has the same weight. `pools` have what
    else is pooled over everything tested of each learner.
    """

    target: np.ndarray
    clusters: Clusters | None
    pools: tuple[Any, ...]
    function: Any
    width: int
    """Columns of a learner."""

    @property
    def n_columns(self) -> int:
        """See `Columns`."""
        return self.n_learners * self.width

    @abstractmethod
    def parts(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """The parts (width, M, N) of rows by predictions (M, N); 0 where untested."""

    @abstractmethod
    def linear(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Linear | None:
        """The function at the means (width,) of a learner; None where it has no value."""

    def placed(self, values: Values, sets: np.ndarray, draw: np.ndarray, pair: Pair) -> np.ndarray:
        """See `Columns`."""
        testing = self._tested(sets)
        placed = np.concatenate([self.parts(predictions, testing) for predictions in values])
        return placed if self.clusters is None else self.clusters.sums(placed)

    def pool(self, values: Values, sets: np.ndarray, *, row_by_row: bool = False) -> None:
        """Pool what the function needs apart from means of parts; see `PooledParts`."""
        testing = self._tested(sets)
        for pool, predictions in zip(self.pools, values, strict=True):
            pool.add(predictions, testing, row_by_row=row_by_row)

    def _tested(self, sets: np.ndarray) -> np.ndarray:
        """Which rows are tested (M, N)."""
        return ~sets if self.clusters is None else ~sets[:, self.clusters.groups.index]

    def of_one(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Contrast:
        """See `Columns`; nothing varies where the metric has no value."""
        linear = self.linear(place, self.of_learner(place, means, rounds), rounds)
        if linear is None:
            return Contrast(np.zeros(self.n_columns), value=0.0)
        return self._at(place, linear, rounds)

    def defined(self, place: int, means: np.ndarray, rounds: Rounds | None) -> bool:
        """Whether the metric of a learner has a value."""
        return self.linear(place, self.of_learner(place, means, rounds), rounds) is not None

    def of_learner(self, place: int, means: np.ndarray, rounds: Rounds | None) -> np.ndarray:
        """The means (width,) of a learner by tested row; of few fits some have more rows."""
        of_learner: np.ndarray = means[self._columns_of(place)] / self._rows_of_unit(rounds)
        return of_learner

    def _columns_of(self, place: int) -> slice:
        return slice(place * self.width, (place + 1) * self.width)

    def bias(self, place: int, means: np.ndarray, n: float, variance: float) -> float:
        """The second-order bias of a learner's metric: see `WorkingPoint`."""
        pool = self.pools[place]
        if isinstance(self.function, MetricOfSets):
            return math.nan
        point = WorkingPoint.at(self.function, pool.means, pool.errors)
        return point.bias(pool.directions, n, variance)

    def _at(self, place: int, linear: Linear, rounds: Rounds | None) -> Contrast:
        weights, fixed = np.zeros(self.n_columns), linear.fixed
        weights[self._columns_of(place)] = linear.gradient
        offset = None if self.clusters is None else self.clusters.offset
        if offset is not None:
            level = linear.level
            if rounds is not None:
                level = float(weights @ rounds.means + np.mean(fixed))
            fixed = fixed + level * offset
        return Contrast(weights, fixed, linear.value, linear.level)

    def _mean(self, kernel: np.ndarray, rounds: Rounds | None) -> float:
        """The mean of a kernel of the tested unit: over units, or over the tests of few fits."""
        if rounds is None:
            return float(kernel.mean())
        return float(rounds.tables[2].mean_of_tested(kernel).mean())

    def _rows_of_unit(self, rounds: Rounds | None) -> float:
        """Rows of a tested unit, on average, as a share of those of all."""
        if rounds is None or self.clusters is None or self.clusters.offset is None:
            return 1.0
        return 1.0 - self._mean(self.clusters.offset, rounds)

    def of_units(self, of_rows: np.ndarray) -> np.ndarray:
        """Numbers of rows (..., N) as those of units."""
        return of_rows if self.clusters is None else self.clusters.sums(of_rows)


@dataclass(frozen=True, eq=False)
class OfCells(OfMetric):
    """A function of the confusion matrix: columns of each true class and each predicted one but 0.

    The rest of a class is predicted as 0; no fit changes the size of a class.
    """

    function: Cells

    @property
    def size(self) -> int:
        """Classes."""
        return len(self._of_class)

    @cached_property
    def _is_true(self) -> np.ndarray:
        # Of C (C - 1) columns there are C classes.
        size = (1 + math.isqrt(1 + 4 * self.width)) // 2
        return self.target.astype(int) == np.arange(size)[:, None]

    @cached_property
    def _of_class(self) -> np.ndarray:
        """Rows of each class (C, n), as units."""
        return self.of_units(self._is_true.astype(float))

    def parts(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """See `OfMetric`; a prediction half-way between two classes is half of each."""
        known = predictions.dtype.kind in "iu"
        if known or (predictions == np.floor(predictions)).all():
            hits = [(predictions == k) & testing for k in range(1, self.size)]
            kind: type = np.int8
        else:
            below, above = np.floor(predictions), np.ceil(predictions)
            hits = [((below == k) / 2 + (above == k) / 2) * testing for k in range(1, self.size)]
            kind = float
        parts = np.empty((self.width, *predictions.shape), kind)
        for y, is_true in enumerate(self._is_true):
            for k, hit in enumerate(hits):
                np.multiply(hit, is_true, out=parts[y * (self.size - 1) + k], casting="unsafe")
        return parts

    def table(self, means: np.ndarray, rounds: Rounds | None) -> np.ndarray:
        """The confusion matrix (C, C), in shares."""
        table = np.zeros((self.size, self.size))
        table[:, 1:] = means.reshape(self.size, -1)
        shares = np.array([self._mean(of_class, rounds) for of_class in self._of_class])
        table[:, 0] = shares / self._rows_of_unit(rounds) - table.sum(axis=1)
        # Rounding errors are not negative shares.
        table[np.abs(table) < 1e-15] = 0.0
        return table

    def linear(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Linear | None:
        """See `OfMetric`."""
        point = WorkingPoint.at(self.function, self.table(means, rounds))
        return self._linear(point, point.means) if point.defined else None

    def with_rows_added(
        self, place: int, means: np.ndarray, n: float, rounds: Rounds | None
    ) -> tuple[WorkingPoint, Contrast]:
        """The point with two right and two wrong rows added to n, and the linear part there."""
        table = self.table(self.of_learner(place, means, rounds), rounds)
        point = WorkingPoint.with_rows_added(self.function, table, n)
        return point, self._at(place, self._linear(point, table), rounds)

    def _linear(self, point: WorkingPoint, table: np.ndarray) -> Linear:
        """At a point, where `table` are the means of the rows."""
        slopes = point.gradient
        return Linear(
            value=point.value,
            gradient=(slopes[:, 1:] - slopes[:, :1]).ravel(),
            fixed=slopes[:, 0] @ self._of_class,
            level=float((slopes * table).sum()),
        )


@dataclass(frozen=True, eq=False)
class OfMoments(OfMetric):
    """A function of means of numbers of rows."""

    function: Moments

    def parts(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """See `OfMetric`."""
        repeated = np.tile(self.target, len(predictions))
        numbers = self.function.numbers(repeated, predictions.ravel())
        numbers = numbers.reshape(*predictions.shape, self.width)
        return np.where(testing[..., None], numbers, 0.0).transpose(2, 0, 1)

    def linear(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Linear | None:
        """See `OfMetric`."""
        point = WorkingPoint.at(self.function, means, self.pools[place].errors)
        if not point.defined:
            return None
        return Linear(point.value, point.gradient, 0.0, float(point.gradient @ means))


@dataclass(frozen=True, eq=False)
class OfSets(OfMetric):
    """A survival metric of test sets."""

    function: MetricOfSets

    def parts(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """See `OfMetric`."""
        return self.function.parts(predictions, testing)

    def linear(self, place: int, means: np.ndarray, rounds: Rounds | None) -> Linear | None:
        """See `OfMetric`."""
        sums = self.pools[place].means
        value, gradient, fixed = self.function.linear_part(means, sums)
        if not np.isfinite(value):
            return None
        if isinstance(fixed, np.ndarray):
            fixed = self.of_units(fixed)
        return Linear(value, gradient, fixed, value)


def columns_of_metric(
    strata: Strata,
    n_learners: int,
    function: FunctionOfMeans | MetricOfSets,
    target: np.ndarray,
    clusters: Clusters | None,
    largest: int = 0,
) -> OfMetric:
    """The columns of a metric; `largest` is the largest class that is known to be predicted."""
    pools = tuple(pool_of(function, target) for _ in range(n_learners))
    common = strata, n_learners, target, clusters, pools
    if isinstance(function, Cells):
        size = 1 + max(function.n_classes - 1, int(target.max()), largest)
        return OfCells(*common, function, size * (size - 1))
    if isinstance(function, Moments):
        numbers = np.asarray(function.numbers(target[:1], target[:1]))
        return OfMoments(*common, function, numbers.shape[1])
    assert isinstance(function, MetricOfSets)
    return OfSets(*common, function, function.n_parts)
