"""Intervals of metrics of ranks, such as average precision, of fixed rules."""

import math
from functools import cached_property
from typing import Any

import numpy as np

from ucvtest.losses.table import Losses
from ucvtest.methods.classical.fixed_rules import LinearisedRules
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.stats.fold_pairs import ADDED_CLASSES, QUARTER, with_quarters
from ucvtest.stats.influence import Influence
from ucvtest.stats.pivots import Pivot, on_logit


class RanksOfRules(LinearisedRules):
    """A metric of the ranks of scores of one rule, or its difference between two."""

    @property
    def variance(self) -> float:
        """The variance of the mean of linearised values; NaN with one observation of a class."""
        return float(self._influence.variances[0])

    @property
    def df(self) -> float:
        """Welch's degrees of freedom, or the degrees of freedom of clusters."""
        rule = self.rule(math.nan)
        return float(self._influence.welch[0]) if rule is None else rule.df

    def rule(self, null_value: float) -> Pivot | None:
        """With observations added, for one rule; None for the estimate and its standard error."""
        if self.observed.paired:
            return None
        estimate, variance, df = self._with_added
        return on_logit(estimate, math.sqrt(variance), df, null_value, moved=estimate)

    @property
    def diagnostics(self) -> dict[str, Any]:
        """The number of observations of each class."""
        n_negative, n_positive = self._sizes.tolist()
        return {"n_positive": n_positive, "n_negative": n_negative}

    @property
    def _rule_in_words(self) -> str:
        if self.observed.paired:
            return super()._rule_in_words
        return (
            "The interval is computed on the logit scale, with a quarter of a positive and of "
            "a negative observation added above and below all others; the estimate is "
            f"{self._metric.in_words} without them."
        )

    @property
    def status(self) -> str:
        """The status if a difference has no standard error."""
        if not self.observed.paired or not math.isnan(self.variance):
            return "ok"
        n_negative, n_positive = self._sizes
        return (
            f"too few observations: {n_positive} positive and {n_negative} negative ones, but two "
            "of each are needed; test more"
        )

    # -------------------------------------------------------------------------------- the parts

    @property
    def _target(self) -> np.ndarray:
        return self.observed.tested_target.astype(int)

    @property
    def _sizes(self) -> np.ndarray:
        """How many observations are negative, and positive."""
        return np.bincount(self._target, minlength=2)

    @property
    def _influence(self) -> Influence:
        return influence_on_ranks(self.observed.values[None], self._target, self.index)

    @cached_property
    def _with_added(self) -> tuple[float, float, float]:
        """The estimate, its variance and degrees of freedom, with observations added."""
        (scores,), rank_metric = self._predictions, self.observed.losses.function_of_means
        places = np.unique(scores, return_inverse=True)[1].astype(float)
        added_scores = np.where([True, False, True, False], places.max() + 1, -1.0)
        weights = np.concatenate([np.ones(len(places)), np.full(4, QUARTER)])
        target = np.concatenate([self._target, ADDED_CLASSES])
        estimate, moved = rank_metric.influence(
            target.astype(float), np.concatenate([places, added_scores]), weights
        )
        squares = weights * (moved / weights.sum()) ** 2
        if self.index is None:
            return estimate, *with_quarters(squares, target > 0, self._sizes)
        # The variance of a sum over clusters, and of the observations that are added.
        sums = np.bincount(self.index, moved[:-4]) / weights.sum()
        count = len(sums)
        spread = count / (count - 1) * float(sums @ sums) if count > 1 else math.nan
        return estimate, spread + float(squares[-4:].sum()), count - 1.0


def influence_on_ranks(
    values: np.ndarray, target: np.ndarray, clusters: np.ndarray | None = None
) -> Influence:
    """On the metrics of rules, by linearised values (L, n): of classes, or of clusters."""
    of_means = Influence.of_means(values, clusters)
    strata = target if clusters is None else None
    return Influence(of_means.estimates, of_means.values, strata, clusters)


def is_of_ranks(losses: Losses) -> bool:
    """Whether the metric is one of ranks of scores."""
    return isinstance(losses.metric, SmoothMetric) and losses.metric.of_ranks
