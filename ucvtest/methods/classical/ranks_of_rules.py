"""Intervals of metrics of ranks, such as average precision, of fixed rules.

Squared influence values are summed within each class, times n/(n - 1) for its observations. With
clusters, the squares are of sums by cluster.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ucvtest.losses.table import Losses
from ucvtest.methods.classical.fixed_rules import LinearisedRules
from ucvtest.metrics.smooth import Ranks, SmoothMetric
from ucvtest.stats.interval_rules import StudentRule
from ucvtest.stats.logit import MovedLogitT

ADDED = 0.25
"""The share of an observation of each class that is added above and below all others."""

FEWEST = 2
"""Least number of observations of a class for a variance."""


@dataclass(frozen=True)
class RanksOfRules(LinearisedRules):
    """A metric of the ranks of scores of one rule, or its difference between two."""

    @property
    def estimate(self) -> float:
        """The metric, or its difference; rounding does not move it out of its range."""
        smallest_auc = -1.0 if self.observed.paired else 0.0
        return float(np.clip(self.observed.values.mean(), smallest_auc, 1.0))

    @property
    def variance(self) -> float:
        """The variance of the mean of linearised values; NaN with one observation of a class."""
        class_variances, _ = self._class_parts
        return float(class_variances.sum())

    @property
    def df(self) -> float:
        """Welch's degrees of freedom, or the degrees of freedom of clusters."""
        rule = self._one_rule
        return rule.df if rule is not None else _welch(*self._class_parts)

    def rule(self, null_value: float) -> StudentRule | None:
        """The rule behind p-value and interval; None for the estimate and its standard error."""
        rule_without_null = self._one_rule
        if rule_without_null is None:
            return None
        return replace(rule_without_null, null_value=null_value)

    @property
    def diagnostics(self) -> dict[str, Any]:
        """The number of observations of each class."""
        positive = self._target == 1
        return {"n_positive": int(positive.sum()), "n_negative": int((~positive).sum())}

    @property
    def notes(self) -> tuple[str, ...]:
        """The rule in words."""
        metric_in_words = self.observed.losses.in_words
        listed = [f"The standard error is that of linearised values of {metric_in_words}."]
        if not self.observed.paired:
            listed = [
                "The interval is computed on the logit scale, with a quarter of a positive and of "
                "a negative observation added above and below all others; the estimate is "
                f"{metric_in_words} without them."
            ]
        if self.index is not None:
            listed.append("All rows have the same weight, and clusters are independent.")
        return tuple(listed)

    @property
    def status(self) -> str:
        """The status if a difference has no standard error."""
        if not self.observed.paired or not math.isnan(self.variance):
            return "ok"
        diagnostics = self.diagnostics
        return (
            f"too few observations: {diagnostics['n_positive']} positive and "
            f"{diagnostics['n_negative']} negative ones, but two of each are needed; test more"
        )

    # -------------------------------------------------------------------------------- the parts

    @property
    def _target(self) -> np.ndarray:
        return self.observed.tested_target

    @property
    def _class_parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Variances to add up, and the degrees of freedom of each."""
        moved = self.observed.values - self.estimate
        if self.index is None:
            scaled, counts = _by_class(moved, self._target)
            negative = self._target == 0
            return np.array(
                [(scaled[is_of_class] ** 2).sum() for is_of_class in (negative, ~negative)]
            ), counts
        sums = np.bincount(self.index, moved)
        count = len(sums)
        factor = count / (count - 1) if count > 1 else math.nan
        scaled = sums * math.sqrt(factor) / len(moved)
        return np.array([float(scaled @ scaled)]), np.array([len(scaled) - 1.0])

    @cached_property
    def _one_rule(self) -> MovedLogitT | None:
        """The interval of one rule, with observations added; without a null value."""
        if self.observed.paired:
            return None
        predictions = self.observed.losses.predictions
        rank_metric = self.observed.losses.function_of_means
        assert predictions is not None
        assert isinstance(rank_metric, Ranks)
        scores, target = predictions[self.observed.learner], self._target
        places = np.unique(scores, return_inverse=True)[1].astype(float)
        added_scores = [places.max() + 1, -1.0]
        weights = np.concatenate([np.ones(len(target)), np.full(4, ADDED)])
        target = np.concatenate([target, [1.0, 1.0, 0.0, 0.0]])
        estimate, moved = rank_metric.influence(
            target, np.concatenate([places, added_scores, added_scores]), weights
        )
        squares = weights * moved**2
        total = weights.sum()
        if self.index is not None:
            sums = np.bincount(self.index, moved[:-4])
            count = len(sums)
            spread = count / (count - 1) * float(sums @ sums) if count > 1 else math.nan
            class_variances = np.array([spread + squares[-4:].sum()]) / total**2
            return _moved(estimate, class_variances, count - 1.0)
        counts = np.array(
            [(target[:-4] == class_number).sum() for class_number in (0, 1)], dtype=float
        )
        counts_with_added = counts + 2 * ADDED
        class_variances = np.array(
            [squares[target == class_number].sum() for class_number in (0, 1)]
        )
        class_variances = class_variances * counts_with_added / (counts_with_added - 1) / total**2
        df = _welch(class_variances, np.maximum(counts - 1, 1))
        return _moved(estimate, class_variances, df)


def _moved(estimate: float, variances: np.ndarray, df: float) -> MovedLogitT:
    """The rule around the estimate with observations added."""
    return MovedLogitT(estimate, math.sqrt(variances.sum()), df, moved=estimate)


def is_of_ranks(losses: Losses) -> bool:
    """Whether the metric is one of ranks of scores."""
    return isinstance(losses.metric, SmoothMetric) and losses.metric.of_ranks


def covariance_of_ranks(losses: Losses) -> np.ndarray:
    """The covariance matrix of the metrics of all rules, from rows that are by themselves."""
    values = losses.known_values
    moved = values - values.mean(axis=1, keepdims=True)
    scaled = np.stack([_by_class(row, losses.tested_target)[0] for row in moved])
    return np.asarray(scaled @ scaled.T)


def _by_class(moved: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Influence values whose squares add up to the variance, and the degrees of freedom."""
    counts = np.array([(target == class_number).sum() for class_number in (0, 1)], dtype=float)
    with np.errstate(divide="ignore"):
        factors = np.where(counts < FEWEST, math.nan, counts / (counts - 1))
    return moved * np.sqrt(factors)[target.astype(int)] / len(moved), counts - 1


def _welch(variances: np.ndarray, counts: np.ndarray) -> float:
    """Degrees of freedom of a sum of variances, from their own degrees of freedom."""
    total = float(variances.sum())
    if not total > 0:
        return math.nan
    return total**2 / float((variances**2 / counts).sum())
