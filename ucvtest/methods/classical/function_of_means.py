"""Intervals of metrics that are functions of means, such as F1 and R2, of fixed rules.

There is one rule or two, on a test set or out of fold. Observations are rows or clusters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.inference.notes import bias_notes
from ucvtest.losses.linearised import CLASSES
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.fixed_rules import LinearisedRules, same_influence
from ucvtest.methods.classical.ranks_of_rules import RanksOfRules, is_of_ranks
from ucvtest.methods.classical.survival_of_rules import SurvivalOfRules
from ucvtest.metrics.ranges import Range, difference_range, range_of
from ucvtest.metrics.second_order import directions_of_cells, second_order_bias
from ucvtest.metrics.smooth import Cells, Moments, ObservedCells, SmoothMetric
from ucvtest.results.plot_data import Layer, Picture
from ucvtest.stats.interval_rules import StudentRule
from ucvtest.stats.intervals import HallT, MovedT, Shape
from ucvtest.stats.linearised import (
    MOST_CELLS,
    RowsAdded,
    effective_size,
    variance_of_mean,
)
from ucvtest.stats.scales import SCALES, OnScaleT, RootOf

ROUNDING = 1e-13
"""A spread of linearised values up to this share of the metric is rounding error."""

LEAST = 1e-15
"""Estimates up to this share of their largest possible value are 0."""

LEAST_DF = 2
"""Least degrees of freedom for which observations have a skewness."""

MOST_CLASSES = 8
"""Most classes whose bars can be distinguished."""

SHARE, LABEL_LENGTH = 0.8, 12
"""Share of the axis between two classes that bars fill, and characters of a label."""


@dataclass(frozen=True)
class MetricOfRules(LinearisedRules):
    """A metric of one learner, or its difference between two, from predictions of rows."""

    @property
    def estimate(self) -> float:
        """The metric, or its difference; NaN where it is 0/0.

        Rounding does not move it out of its range, nor away from 0.
        """
        clipped_mean = float(np.clip(self.observed.values.mean(), *self._range))
        return 0.0 if abs(clipped_mean) <= LEAST * self._largest else clipped_mean

    def rule(self, null_value: float) -> StudentRule | None:
        """The rule behind p-value and interval; None for the estimate and its standard error."""
        if math.isnan(self.estimate):
            return None
        if isinstance(self._function, Cells):
            return self._with_rows_added(null_value)
        if self.observed.paired or self.status != "ok":
            return None
        if self._metric.interval_scale == "sqrt":
            # Two observations have no skewness.
            return self._root_of_square(null_value) if self.df >= LEAST_DF else None
        with np.errstate(invalid="ignore"):
            scale_rule = self._on_scale(null_value)
        # Without one of the observations, the metric may have no value, or never change.
        return scale_rule if scale_rule.se > 0 and math.isfinite(scale_rule.se) else None

    def interval_at(self, n: float, alpha: float) -> tuple[float, float]:
        """The limits for n independent rows like these."""
        assert self.index is None
        if isinstance(self._function, Cells):
            rule: StudentRule = self._with_rows_added(math.nan, n)
        elif self.observed.paired or not isinstance(self._function, Moments):
            se = math.sqrt(self.variance * len(self.observed.values) / n)
            rule = MovedT(self.estimate, se, n - 1)
        elif self._metric.interval_scale == "sqrt":
            rule = self._root_of_square(math.nan, n)
        else:
            rule = self._on_scale(math.nan, n)
        return rule.interval("two-sided", alpha)

    @cached_property
    def bias(self) -> float:
        """The second-order bias of the metric, or of the difference.

        NaN if there are too many classes.
        """
        return sum(
            sign * self._bias_of(row) for sign, row in zip((1, -1), self._predictions, strict=False)
        )

    @property
    def diagnostics(self) -> dict[str, Any]:
        """The bias, and the effective number of rows of clusters."""
        bias_and_size: dict[str, Any] = {"second_order_bias": self.bias}
        if self.index is not None and isinstance(self._function, Cells):
            bias_and_size["effective_size"] = self._effective_size
        return bias_and_size

    @property
    def pictures(self) -> dict[str, Picture]:
        """The confusion matrix of each learner, "cells", and "cells_other" of the second one."""
        if not isinstance(self._function, Cells):
            return {}
        losses, classes = self.observed.losses, self.observed.losses.settings.get(CLASSES, ())
        confusion_pictures = {}
        for kind, learner, row in zip(
            ("cells", "cells_other"),
            (self.observed.learner, self.observed.other),
            self._predictions,
            strict=False,
        ):
            counts = self._function.means(self._target, row) * len(row)
            picture = working_point(counts, classes, losses.learners[int(learner or 0)])
            if picture is not None:
                confusion_pictures[kind] = picture
        return confusion_pictures

    @property
    def notes(self) -> tuple[str, ...]:
        """The rule in words, and the bias if it is notable."""
        if math.isnan(self.estimate):
            return ()
        listed = [self._rule_in_words]
        if self.index is not None:
            listed.append("All rows have the same weight, and clusters are independent.")
        se = math.sqrt(self.variance) if self._varies else 0.0
        return (*listed, *bias_notes(self.bias, se))

    @property
    def status(self) -> str:
        """The status if there is an estimate, but nothing varies."""
        if isinstance(self._function, Cells) or math.isnan(self.estimate) or self._varies:
            return "ok"
        return "ok" if self.observed.identical else same_influence(self.observed)

    @property
    def _varies(self) -> bool:
        """Whether linearised values differ by more than the rounding of their parts."""
        spread = math.sqrt(max(self.variance, 0.0) * len(self.observed.values))
        return spread > ROUNDING * max(abs(self.estimate), self._largest)

    @property
    def _largest(self) -> float:
        """The size of the largest limit; 0 if there is none."""
        return max((abs(limit) for limit in self._range if math.isfinite(limit)), default=0.0)

    # ------------------------------------------------------------------------------ the rules

    def _with_rows_added(self, null_value: float, n: float | None = None) -> MovedT:
        target, rows = self._target.astype(int), [row.astype(int) for row in self._predictions]
        pilot_share = 1.0 if n is None else len(target) / n
        rows_added = RowsAdded.of(
            self._cells.value_and_gradient,
            (target, *rows),
            [self._cells.possible(self._table(row)) for row in rows],
            self._effective_size if n is None else n,
            lambda values: pilot_share * variance_of_mean(values, self.index),
            only_class=self._cells.only_class,
            left_out=self._several,
        )
        smallest_value, largest_value = self._range
        df = self.df if n is None else n - 1
        if self._several and self.index is None:
            df = min(df, rows_added.df)
        return MovedT(
            rows_added.estimate, rows_added.se, df, smallest_value, largest_value, null_value
        )

    def _table(self, predictions: np.ndarray) -> np.ndarray:
        """The confusion matrix in shares, of at least two classes."""
        size = max(2, self._cells.n_classes)
        return ObservedCells.of(self._target, predictions.astype(int), size).table

    @property
    def _several(self) -> bool:
        """Whether a metric of one learner has three classes or more, with few added rows each.

        With observations in too many cells, it is False, as with two classes.
        """
        if self.observed.paired:
            return False
        table = self._table(self._predictions[0])
        n_classes = np.count_nonzero(self._cells.possible(table).any(axis=0))
        return bool(n_classes > 2 and np.count_nonzero(table) <= MOST_CELLS)

    @property
    def _effective_size(self) -> float:
        values = self.observed.values
        if np.isnan(values).any():
            return self.df + 1
        return effective_size(values, self.index)

    def _on_scale(self, null_value: float, n: float | None = None) -> OnScaleT:
        """Student's t of the jackknife of the metric on its scale, leaving out rows or clusters."""
        name = self._metric.interval_scale
        assert name != "sqrt"
        numbers = self._moments.numbers(self._target, self._predictions[0])
        sizes = np.ones(len(numbers))
        if self.index is not None:
            numbers = np.stack(
                [np.bincount(self.index, cell_numbers) for cell_numbers in numbers.T], axis=1
            )
            sizes = np.bincount(self.index).astype(float)
        left_out_means = (numbers.sum(axis=0) - numbers) / (sizes.sum() - sizes)[:, None]
        to_scale = SCALES[name].there
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.array(
                [to_scale(float(value)) for value in self._moments.values(left_out_means)]
            )
        count = len(values)
        se = math.sqrt((count - 1) / count * float(((values - values.mean()) ** 2).sum()))
        if n is not None:
            return OnScaleT(self.estimate, se * math.sqrt(count / n), n - 1.0, name, null_value)
        return OnScaleT(self.estimate, se, count - 1.0, name, null_value)

    def _root_of_square(self, null_value: float, n: float | None = None) -> RootOf:
        """The root of Hall's limits of the mean square."""
        squares = self._moments.numbers(self._target, self._predictions[0])[:, 0]
        if self.index is not None:
            sums, sizes = np.bincount(self.index, squares), np.bincount(self.index)
            mean = squares.mean()
            squares = mean + (sums - mean * sizes) / sizes.mean()
        shape, mean = Shape.of(squares), float(squares.mean())
        sample_ratio = 1.0 if n is None else n / len(squares)
        se = math.sqrt(float(squares.var(ddof=1)) / (sample_ratio * len(squares)))
        square = HallT(
            *(mean, se, sample_ratio * shape.df, round(sample_ratio * shape.n_obs), shape.skewness),
            least=0.0,
            null_value=null_value**2,
        )
        return RootOf(square)

    @property
    def _rule_in_words(self) -> str:
        metric_in_words, scale = self._metric.in_words, self._metric.interval_scale
        if isinstance(self._function, Cells):
            added_words = (
                "one right and one wrong" if self.observed.paired else "two right and two wrong"
            )
            several = (
                "; its standard error is half-way to the standard error of the jackknife, and its "
                "degrees of freedom are Satterthwaite's"
            )
            return (
                f"The interval is computed with {added_words} "
                f"observation{'s' * (not self.observed.paired)} added{several * self._several}; "
                "the estimate does not include them."
            )
        if self.rule(math.nan) is None:
            return f"The standard error is that of linearised values of {metric_in_words}."
        if scale == "sqrt":
            return (
                "The limits are the roots of the limits of the mean square, by Hall's (1992) rule."
            )
        scale_words = {
            "log": "log",
            "log1m": "log(1 - T)",
            "fisher": "Fisher's z",
            "identity": "identity",
        }
        return f"The interval is the jackknife's on the scale {scale_words[scale]}."

    # ------------------------------------------------------------------------------- the parts

    @property
    def _metric(self) -> SmoothMetric:
        metric = self.observed.losses.metric
        assert isinstance(metric, SmoothMetric)
        return metric

    @property
    def _range(self) -> Range:
        """The possible values of the metric, or of its difference."""
        metric_range = range_of(self._metric)
        return difference_range(metric_range) if self.observed.paired else metric_range

    @property
    def _function(self) -> Any:
        return self.observed.losses.function_of_means

    @property
    def _cells(self) -> Cells:
        assert isinstance(self._function, Cells)
        return self._function

    @property
    def _moments(self) -> Moments:
        assert isinstance(self._function, Moments)
        return self._function

    @property
    def _target(self) -> np.ndarray:
        return self.observed.tested_target

    @property
    def _predictions(self) -> list[np.ndarray]:
        """Parts of the learner, and of the other if there is one."""
        predictions = self.observed.losses.predictions
        assert predictions is not None
        places = (self.observed.learner, self.observed.other)
        return [predictions[learner_index] for learner_index in places if learner_index is not None]

    def _bias_of(self, predictions: np.ndarray) -> float:
        metric_of_means, target, index = self._function, self._target, self.index
        means = metric_of_means.means(target, predictions)
        directions: np.ndarray | None
        if isinstance(metric_of_means, Moments):
            directions = metric_of_means.numbers(target, predictions) - means
            if index is not None:
                directions = np.stack(
                    [np.bincount(index, component) for component in directions.T], axis=1
                )
        else:
            directions = directions_of_cells(target, predictions, means, index)
        units = self.df + 1
        scale = math.sqrt(units / (units - 1)) / len(target)
        return second_order_bias(metric_of_means, means, directions, scale)


def metric_of_rules(
    observed: LossDifference, clusters: Clusters | None
) -> MetricOfRules | RanksOfRules | SurvivalOfRules:
    """Estimate, variance, interval and words, for fixed rules."""
    if observed.losses.metric.of_survival:
        return SurvivalOfRules.of(observed, clusters)
    if is_of_ranks(observed.losses):
        return RanksOfRules.of(observed, clusters)
    return MetricOfRules.of(observed, clusters)


def working_point(table: np.ndarray, classes: Sequence[Any], learner: str) -> Picture | None:
    """Bars of the counts (C, C) of a confusion matrix; None for too many classes."""
    size = len(table)
    if size > MOST_CLASSES:
        return None
    true, predicted = np.indices(table.shape)
    places = np.asarray(true + (predicted - (size - 1) / 2) * SHARE / size)
    right = np.eye(size) > 0
    names = [f"{label!s:.{LABEL_LENGTH}}" for label in classes[:size]]
    names += ["another"] * (size - len(names))
    right_places, wrong_places, width = places[right], places[~right], SHARE / size
    layers = (
        Layer("bars", right_places, table[right], "predicted as they are", "estimate", width),
        Layer("bars", wrong_places, table[~right], "predicted as another class", "other", width),
    )
    return Picture(
        "true class; within each class the predicted classes, in the same order",
        "observations",
        layers,
        f"working point of {learner}",
        tuple(names),
    )
