"""Metrics that are smooth functions of means: F1, R2 and their like, and their linearised values.

A metric is T = f(mean of parts). The parts of an observation are its cell of the confusion matrix,
or numbers such as its squared error. The linearised value at an observation is T + grad f . (its
parts - their mean). Linearised values are used like any loss or score: their mean is T, and their
spread gives the standard error of T (the infinitesimal jackknife). `Ranks` also have linearised
values, from the derivative of T in the weights of observations.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ucvtest.common.words import arg
from ucvtest.data.class_order import check_has_order
from ucvtest.data.output import Output
from ucvtest.data.sample import refuse_exact_numbers
from ucvtest.metrics.base import Metric
from ucvtest.metrics.differences import CENTRAL, OwnFunction

if TYPE_CHECKING:
    from ucvtest.data.sample import Sample
    from ucvtest.metrics.survival_sets import MetricOfSets

IntervalScale = Literal["identity", "log", "log1m", "fisher", "sqrt"]
"""The scale on which the limits of one learner are symmetric: T, log T, log(1 - T), atanh T; "sqrt"
means the square roots of the limits of the squared metric."""

ValueAndGradient = Callable[[np.ndarray], tuple[Any, np.ndarray]]
"""A function of the means of the parts that returns the metric and its gradient, an array of their
shape."""

SHARE = (0.0, 1.0)

LARGEST_WHOLE = 1e15
"""Whole numbers up to this are written without a point."""

GRADIENT_STEP = 1 / 50
"""Step of the differences of gradients along a direction."""


class FunctionOfMeans(ABC):
    """The common part of `Cells` and `Moments`."""

    function: ValueAndGradient | OwnFunction

    @property
    def own(self) -> OwnFunction | None:
        """The function of a user, whose derivatives are differences; None for those of ucvtest."""
        return self.function if isinstance(self.function, OwnFunction) else None

    @abstractmethod
    def value_and_gradient(
        self, means: np.ndarray, errors: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """The metric from means of parts, and its gradient; see `errors`."""

    def curvature(self, means: np.ndarray, direction: np.ndarray) -> float:
        """The second derivative along a direction."""
        if self.own is not None:
            return self.own.curvature(means, direction)
        # From gradients a little ahead and behind.
        return sum(
            weight / GRADIENT_STEP * float((gradient * direction).sum())
            for times, weight in CENTRAL
            for _, gradient in [self.value_and_gradient(means + times * GRADIENT_STEP * direction)]
        )

    def errors(self, target: np.ndarray, predictions: np.ndarray) -> np.ndarray | None:
        """Directions whose outer squares sum to the covariance of the means; None if not needed."""
        return None

    @abstractmethod
    def means(self, target: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """The means of the parts, from the response and the predictions (T,) of one learner."""

    @abstractmethod
    def parts(self, target: np.ndarray, predictions: np.ndarray, along: np.ndarray) -> np.ndarray:
        """The parts of each observation, weighted by `along` and added up, (T,)."""


@dataclass(frozen=True)
class Cells(FunctionOfMeans):
    """A function of the confusion matrix, whose cells (true, predicted) are shares that sum to 1.

    Parameters
    ----------
    function : callable or OwnFunction
    n_classes : int
        Number of known classes; predictions may name more.
    only_class : int, optional
        The class that the metric distinguishes from all others, if it is about one.
    by_place : bool
        Whether the function names classes by their positions.
    outside : tuple of int
        Positions of labels that `y` does not have. A rule that does not predict one of them is
        scored without it, whatever other rules predict.
    """

    function: ValueAndGradient | OwnFunction
    n_classes: int
    only_class: int | None = None
    by_place: bool = False
    outside: tuple[int, ...] = ()

    def value_and_gradient(
        self, table: np.ndarray, errors: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """The metric and its gradient, which is 0 for classes that the rule does not have."""
        cells = self._cells_of_rule(table)
        gradient = np.zeros(table.shape)
        own = self.own
        value_and_gradient: Any = self.function if own is None else own.of_shares
        value, gradient[cells] = value_and_gradient(table[cells])
        return float(value), gradient

    def values(self, tables: np.ndarray) -> np.ndarray:
        """The metric of tables (..., C, C), without gradients."""
        function: Any = self.function
        if self.own is None and (self.by_place or not self.outside):
            return np.asarray(function(tables)[0])
        value = (lambda table: function(table)[0]) if self.own is None else self.own.value
        numbers = [
            value(table[self._cells_of_rule(table)])
            for table in tables.reshape(-1, *tables.shape[-2:])
        ]
        return np.reshape(numbers, tables.shape[:-2])

    def curvature(self, table: np.ndarray, direction: np.ndarray) -> float:
        """See `FunctionOfMeans`."""
        if self.own is None:
            return super().curvature(table, direction)
        cells = self._cells_of_rule(table)
        return self.own.curvature(table[cells], direction[cells])

    def possible(self, table: np.ndarray) -> np.ndarray:
        """The cells (C, C) that a rule with this table can have.

        True classes are those of `y`. Predicted ones are these, and others that the rule predicts.
        """
        of_response = np.arange(len(table)) < self.n_classes
        of_response[list(self.outside)] = False
        return of_response[:, None] & (of_response | table.any(axis=0))

    def _cells_of_rule(self, table: np.ndarray) -> Any:
        """An index of the classes of a rule in rows and columns."""
        if self.by_place or not self.outside:
            return np.s_[:, :]
        of_rule = np.flatnonzero(self.possible(table).any(axis=0))
        return np.ix_(of_rule, of_rule)

    def means(self, target: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """The confusion matrix (C, C), in shares."""
        return ObservedCells.of(target, predictions, self.n_classes).table

    def parts(self, target: np.ndarray, predictions: np.ndarray, along: np.ndarray) -> np.ndarray:
        """The number that `along` (C, C) has in the cell of each observation."""
        return ObservedCells.of(target, predictions, len(along)).parts(along)


@dataclass(frozen=True, eq=False)
class ObservedCells:
    """The cells (T,) of observations in a confusion matrix; two of each if there are ties.

    A prediction half-way between two classes is a tie, half of each.
    """

    size: int
    cells: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, target: np.ndarray, predictions: np.ndarray, n_classes: int) -> "ObservedCells":
        """From numbers of classes; there are `n_classes` classes or more."""
        true, known = target.astype(int), predictions.dtype.kind in "iu"
        below = predictions.astype(int) if known else np.floor(predictions).astype(int)
        predicted: tuple[np.ndarray, ...] = (below,)
        if (below != predictions).any():
            predicted = (below, np.ceil(predictions).astype(int))
        size = max(n_classes, 1 + int(max(true.max(), predicted[-1].max())))
        # In as few bytes as they need.
        smallest = np.min_scalar_type(size**2)
        return cls(size, tuple((size * true + k).astype(smallest) for k in predicted))

    @cached_property
    def table(self) -> np.ndarray:
        """The confusion matrix, in shares."""
        size, n_cells = self.size, self.size**2
        counts = sum(np.bincount(cells, minlength=n_cells) for cells in self.cells)
        return np.reshape(counts, (size, size)) / (len(self.cells) * len(self.cells[0]))

    def parts(self, along: np.ndarray) -> np.ndarray:
        """The number that `along` (C, C) has in the cell of each observation."""
        numbers = [np.take(along, cells) for cells in self.cells]
        return numbers[0] if len(numbers) == 1 else (numbers[0] + numbers[1]) / 2


@dataclass(frozen=True)
class Moments(FunctionOfMeans):
    """A function of means of numbers, which `numbers(y, prediction)` gives as (T, k).

    `values` is the function of such means, arrays (..., k), without a gradient.
    """

    numbers: Callable[[np.ndarray, np.ndarray], np.ndarray]
    function: ValueAndGradient | OwnFunction
    values: Callable[[np.ndarray], np.ndarray]

    def value_and_gradient(
        self, means: np.ndarray, errors: np.ndarray | None = None
    ) -> tuple[float, np.ndarray]:
        """See `FunctionOfMeans`."""
        if isinstance(self.function, OwnFunction):
            assert errors is not None
            return self.function.of_means(means, errors)
        return self.function(means)

    def errors(self, target: np.ndarray, predictions: np.ndarray) -> np.ndarray | None:
        """See `FunctionOfMeans`."""
        if self.own is None:
            return None
        return self.directions(target, predictions) / math.sqrt(len(target))

    def directions(self, target: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """Directions whose outer squares sum to the covariance of the numbers."""
        numbers = self.numbers(target, predictions)
        return np.asarray(np.linalg.qr(numbers - numbers.mean(axis=0), mode="r")) / math.sqrt(
            len(numbers)
        )

    def means(self, target: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        """The means (k,)."""
        return np.asarray(self.numbers(target, predictions).mean(axis=0))

    def parts(self, target: np.ndarray, predictions: np.ndarray, along: np.ndarray) -> np.ndarray:
        """The numbers of each observation times `along` (k,)."""
        return np.asarray(self.numbers(target, predictions) @ along)


@dataclass(frozen=True)
class Ranks:
    """A functional of the ranks of scores, smooth in the weights of observations.

    `influence` takes a response of zeros and ones, scores and weights (T,). It returns the metric
    and the influence of each observation, with weighted mean 0.
    """

    influence: Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class OfTimes:
    """A functional of survival times and risks.

    `in_sets` takes the survival times of a sample and returns the metric of its test sets.
    """

    in_sets: Callable[[Any], "MetricOfSets"]

    def values(self, times: Any, risks: np.ndarray, folds: np.ndarray | None = None) -> np.ndarray:
        """The linearised value of each observation; NaN if there is none."""
        return self.in_sets(times).linearised(risks, folds)


def linearised(
    metric_of_means: "FunctionOfMeans | Ranks | OfTimes",
    target: Any,
    predictions: np.ndarray,
    folds: np.ndarray | None = None,
    observed: ObservedCells | None = None,
) -> np.ndarray:
    """The linearised value of each observation, (T,), whose mean is the metric.

    Without a gradient, as at a geometric mean of 0, all values are the metric. `folds` (T,) are
    numbers of test sets, which metrics of pairs of survival times need. `observed` are the cells of
    the observations, if they are known.
    """
    if isinstance(metric_of_means, OfTimes):
        return metric_of_means.values(target, predictions, folds)
    if isinstance(metric_of_means, Ranks):
        value, influence = metric_of_means.influence(target, predictions, np.ones(len(target)))
        return value + influence
    if isinstance(metric_of_means, Cells):
        cells = observed or ObservedCells.of(target, predictions, metric_of_means.n_classes)
        means, parts = cells.table, cells.parts
    else:
        means = metric_of_means.means(target, predictions)
        parts = partial(metric_of_means.parts, target, predictions)
    errors = metric_of_means.errors(target, predictions)
    value, gradient = metric_of_means.value_and_gradient(means, errors)
    if not (math.isfinite(value) and np.isfinite(gradient).all()):
        return np.full(len(target), value if math.isfinite(value) else math.nan)
    constant = value - float((gradient * means).sum())
    # The cells of an observation sum to one, so that weights can include the constant.
    in_cells = isinstance(metric_of_means, Cells)
    return parts(constant + gradient) if in_cells else constant + parts(gradient)


def no_loss(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    """A single observation has no value."""
    raise NotImplementedError("single observations have no value of this metric")


def written(number: float) -> str:
    """A number in the form for names, from which it can be read exactly."""
    return str(int(number)) if number.is_integer() and number < LARGEST_WHOLE else repr(number)


@dataclass(frozen=True)
class SmoothMetric(Metric):
    """A metric that is a smooth function of means; its linearised values replace losses.

    Attributes
    ----------
    made_for : callable
        A function of the classes (empty for a real response) that returns the `Cells`, `Moments` or
        `Ranks`.
    limits : tuple of float
        The smallest and the largest value; infinite if there is none.
    interval_scale : str
        See `IntervalScale`. Confusion metrics have the identity scale and added observations.
    cut : float, optional
        For a metric of labels decided by a probability, the smallest probability of a positive
        label.
    of_two : bool
        Whether it is about one of two classes.
    within : {"positive", "negative"}, optional
        The class of two that alone decides the metric, as for a recall.
    of_one_rule : bool
        Whether predictions of different rules cannot be pooled, as for a correlation.
    symmetric : bool
        Whether its value is the same for both of two classes, as for the Brier skill.
    by_order : bool
        Whether it depends on the order of three classes or more.
    named_class : label, optional
        The class that its name is about, as in 'recall["ill"]'.
    """

    function: Callable[..., Any] = no_loss
    output: Output = "label"
    made_for: Callable[[Sequence[Any]], Any] = None  # type: ignore[assignment]
    greater_is_better: bool = field(default=True, kw_only=True)
    limits: tuple[float, float] = (-math.inf, math.inf)
    interval_scale: IntervalScale = "identity"
    cut: float | None = None
    of_two: bool = False
    within: Literal["positive", "negative"] | None = None
    of_one_rule: bool = False
    symmetric: bool = False
    by_order: bool = False
    named_class: Any = None

    linearised: ClassVar[bool] = True

    @property
    def of_cells(self) -> bool:
        """Whether it is a function of the confusion matrix."""
        return self.output == "label" or self.cut is not None

    @property
    def without_value(self) -> str:
        """Why the metric is 0/0, where it is."""
        if self.of_cells:
            return "a class is missing or was never predicted"
        return "the response or the predictions do not vary"

    @property
    def wants(self) -> tuple[Any, ...]:
        """The kind of predictions, with the threshold of decisions if these are kept."""
        return (self.output,) if self.cut is None else (self.output, self.cut)

    @property
    def kept_in_words(self) -> str:
        """The predictions that are kept, in messages."""
        if self.cut is None:
            return f"the {self.wants_in_words}"
        return f"only whether the {self.output} is at least {self.cut:g}"

    @property
    def of_ranks(self) -> bool:
        """Whether it is about ranks of scores, which are not pooled over folds."""
        return self.output == "score"

    @property
    def of_one_class(self) -> bool:
        """Whether the value depends on which of two classes is the positive one."""
        return super().of_one_class or self.of_two

    @property
    def asks_for_class(self) -> bool:
        """Whether the positive one of two classes must be known, because values differ."""
        return self.of_one_class and not self.symmetric

    def kept(
        self, sample: "Sample", predictions: np.ndarray, testing: np.ndarray, first: int = 0
    ) -> np.ndarray:
        """The predictions; 0 for untested observations."""
        tested = testing if predictions.ndim == testing.ndim else testing[:, :, None]
        return self.decided(np.where(tested, predictions, 0.0))

    def decided(self, predictions: np.ndarray) -> np.ndarray:
        """Decisions at the threshold; predictions as they are if there is none."""
        return predictions if self.cut is None else (predictions >= self.cut) * 1.0

    def refuse_positive(self, n_classes: int) -> None:
        """Refuse a positive class if the metric is about numbers, or about several classes."""
        if self.output == "number":
            raise ValueError(
                f"{arg('pos_label')} does not apply with {arg('metric', self.name)}, which is "
                "about numbers: leave it out"
            )
        if self.output == "label" and not self.of_two and n_classes > 2:
            raise ValueError(
                f"{arg('pos_label')} does not apply with {arg('metric', self.name)} of {n_classes} "
                "classes: leave it out, or name one class, as in 'recall[\"ill\"]'"
            )

    def check_order(self, classes: Sequence[Any], order: Sequence[Any]) -> None:
        """Refuse text without an order if the metric depends on it; see `check_has_order`."""
        if self.by_order:
            check_has_order(arg("metric", self.name), classes, order)

    def refuse_labels(self, y: np.ndarray) -> None:
        """Refuse labels in a response if the metric needs numbers."""
        if self.output == "number" and y.dtype.kind not in "iufb":
            refuse_exact_numbers(y)
            raise ValueError(
                f"{arg('metric', self.name)} needs numbers, but y contains labels: use 'f1', 'mcc' "
                "or 'balanced_accuracy'"
            )

    @property
    def _own_words(self) -> str:
        return self.estimand or self.name
