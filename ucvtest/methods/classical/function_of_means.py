"""Intervals of metrics that are functions of means, such as F1 and R2, of fixed rules.

There is one rule or two, on a test set or out of fold. Observations are rows or clusters.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.inference.notes import bias_notes
from ucvtest.losses.linearised import CLASSES
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.fixed_rules import LinearisedRules
from ucvtest.methods.classical.ranks_of_rules import RanksOfRules, is_of_ranks
from ucvtest.methods.classical.survival_of_rules import SurvivalOfRules
from ucvtest.metrics.second_order import directions_of_cells, second_order_bias
from ucvtest.metrics.smooth import Cells, Moments, ObservedCells
from ucvtest.results.plot_data import Layer, Picture
from ucvtest.stats.influence import effective_size, variance_of_mean
from ucvtest.stats.linearised import MOST_CELLS, RowsAdded
from ucvtest.stats.pivots import SCALES, Hall, Pivot, Shape

LEAST_DF = 2
"""Least degrees of freedom for which observations have a skewness."""

MOST_CLASSES = 8
"""Most classes whose bars can be distinguished."""

SHARE, LABEL_LENGTH = 0.8, 12
"""Share of the axis between two classes that bars fill, and characters of a label."""


class MetricOfRules(LinearisedRules):
    """A metric of one learner, or its difference between two, from predictions of rows."""

    def rule(self, null_value: float) -> Pivot | None:
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
            rule: Pivot = self._with_rows_added(math.nan, n)
        elif self.observed.paired or not isinstance(self._function, Moments):
            se = math.sqrt(self.variance * len(self.observed.values) / n)
            rule = Pivot(self.estimate, se, n - 1)
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
        rules = zip(("cells", "cells_other"), self.observed.places, self._predictions, strict=False)
        for kind, learner, row in rules:
            counts = self._function.means(self._target, row) * len(row)
            picture = working_point(counts, classes, losses.learners[learner])
            if picture is not None:
                confusion_pictures[kind] = picture
        return confusion_pictures

    @property
    def notes(self) -> tuple[str, ...]:
        """The rule in words, and the bias if it is notable."""
        if math.isnan(self.estimate):
            return ()
        se = math.sqrt(self.variance) if self._varies else 0.0
        return (*super().notes, *bias_notes(self.bias, se))

    @property
    def status(self) -> str:
        """The status if there is an estimate, but nothing varies."""
        if isinstance(self._function, Cells) or math.isnan(self.estimate):
            return "ok"
        return super().status

    # ------------------------------------------------------------------------------ the rules

    def _with_rows_added(self, null_value: float, n: float | None = None) -> Pivot:
        target, rows = self._target.astype(int), [row.astype(int) for row in self._predictions]
        pilot_share = 1.0 if n is None else len(target) / n
        rows_added = RowsAdded.of(
            self._function.value_and_gradient,
            (target, *rows),
            [self._function.possible(self._table(row)) for row in rows],
            self._effective_size if n is None else n,
            lambda values: pilot_share * variance_of_mean(values, self.index),
            only_class=self._function.only_class,
            left_out=self._several,
        )
        smallest_value, largest_value = self._range
        df = self.df if n is None else n - 1
        if self._several and self.index is None:
            df = min(df, rows_added.df)
        return Pivot(
            *(rows_added.estimate, rows_added.se, df, null_value),
            least=smallest_value,
            most=largest_value,
        )

    def _table(self, predictions: np.ndarray) -> np.ndarray:
        """The confusion matrix in shares, of at least two classes."""
        size = max(2, self._function.n_classes)
        return ObservedCells.of(self._target, predictions.astype(int), size).table

    @property
    def _several(self) -> bool:
        """Whether a metric of one learner has three classes or more, with few added rows each.

        With observations in too many cells, it is False, as with two classes.
        """
        if self.observed.paired:
            return False
        table = self._table(self._predictions[0])
        n_classes = np.count_nonzero(self._function.possible(table).any(axis=0))
        return bool(n_classes > 2 and np.count_nonzero(table) <= MOST_CELLS)

    @property
    def _effective_size(self) -> float:
        values = self.observed.values
        if np.isnan(values).any():
            return self.df + 1
        return effective_size(values, self.index)

    def _on_scale(self, null_value: float, n: float | None = None) -> Pivot:
        """Student's t of the jackknife of the metric on its scale, leaving out rows or clusters."""
        name = self._metric.interval_scale
        assert name != "sqrt"
        numbers = self._function.numbers(self._target, self._predictions[0])
        sizes = np.ones(len(numbers))
        if self.index is not None:
            numbers = _by_cluster(self.index, numbers)
            sizes = np.bincount(self.index).astype(float)
        left_out_means = (numbers.sum(axis=0) - numbers) / (sizes.sum() - sizes)[:, None]
        to_scale = SCALES[name].there
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.array(
                [to_scale(float(value)) for value in self._function.values(left_out_means)]
            )
        count = len(values)
        # Of a sample of another size the standard error is that times a factor.
        size = count if n is None else n
        se = math.sqrt((count - 1) / count * float(((values - values.mean()) ** 2).sum()))
        se *= math.sqrt(count / size)
        return Pivot(self.estimate, se, size - 1.0, null_value, name, kind="t on a scale")

    def _root_of_square(self, null_value: float, n: float | None = None) -> Hall:
        """The root of Hall's limits of the mean square."""
        squares = self._function.numbers(self._target, self._predictions[0])[:, 0]
        if self.index is not None:
            sums, sizes = np.bincount(self.index, squares), np.bincount(self.index)
            mean = squares.mean()
            squares = mean + (sums - mean * sizes) / sizes.mean()
        shape = Shape.of(squares)
        sample_ratio = 1.0 if n is None else n / len(squares)
        return Hall(
            math.sqrt(float(squares.mean())),
            math.sqrt(float(squares.var(ddof=1)) / (sample_ratio * len(squares))),
            sample_ratio * shape.df,
            null_value,
            "square",
            least=0.0,
            kind="root",
            n_obs=round(sample_ratio * shape.n_obs),
            skewness=shape.skewness,
        )

    @property
    def _rule_in_words(self) -> str:
        scale = self._metric.interval_scale
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
            return super()._rule_in_words
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
    def _function(self) -> Any:
        return self.observed.losses.function_of_means

    @property
    def _target(self) -> np.ndarray:
        return self.observed.tested_target

    def _bias_of(self, predictions: np.ndarray) -> float:
        metric_of_means, target, index = self._function, self._target, self.index
        means = metric_of_means.means(target, predictions)
        directions: np.ndarray | None
        if isinstance(metric_of_means, Moments):
            directions = metric_of_means.numbers(target, predictions) - means
            if index is not None:
                directions = _by_cluster(index, directions)
        else:
            directions = directions_of_cells(target, predictions, means, index)
        units = self.df + 1
        scale = math.sqrt(units / (units - 1)) / len(target)
        return second_order_bias(metric_of_means, means, directions, scale)


def _by_cluster(index: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Sums (G, k) over the rows of clusters of numbers (n, k)."""
    return np.stack([np.bincount(index, column) for column in numbers.T], axis=1)


def metric_of_rules(observed: LossDifference, clusters: Clusters | None) -> LinearisedRules:
    """Estimate, variance, interval and words, for fixed rules."""
    rules: type[LinearisedRules] = MetricOfRules
    if observed.losses.metric.of_survival:
        rules = SurvivalOfRules
    elif is_of_ranks(observed.losses):
        rules = RanksOfRules
    return rules(observed, None if clusters is None else clusters.groups.index)


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
