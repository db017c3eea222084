"""Intervals of survival metrics, such as concordance, of fixed rules.

There is one rule or two, on a test set or out of fold. Observations are rows or clusters.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.data.groups import Clusters
from ucvtest.inference.status import no_value_in_words
from ucvtest.losses.linearised import folds_where_tested
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.fixed_rules import LinearisedRules, same_influence
from ucvtest.metrics.ranges import difference_range, range_of
from ucvtest.metrics.smooth import linearised
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.metrics.survival_sets import PairsOfSets
from ucvtest.stats.interval_rules import StudentRule
from ucvtest.stats.intervals import MovedT
from ucvtest.stats.linearised import variance_of_mean
from ucvtest.stats.logit import LogitT
from ucvtest.stats.wald import wald_interval

ROUNDING = 1e-13
"""A spread of linearised values up to this value is rounding error."""

LEAST = 1e-15
"""Estimates up to this value are 0."""


@dataclass(frozen=True)
class SurvivalOfRules(LinearisedRules):
    """A survival metric of one learner, or its difference between two, from risks of rows."""

    @property
    def estimate(self) -> float:
        """The metric, or its difference; NaN if it has no value.

        Rounding does not move it out of its range, nor away from 0.
        """
        metric_range = range_of(self._metric)
        lower_bound, upper_bound = (
            difference_range(metric_range) if self.observed.paired else metric_range
        )
        clipped_mean = float(np.clip(self.observed.values.mean(), lower_bound, upper_bound))
        return 0.0 if abs(clipped_mean) <= LEAST else clipped_mean

    @property
    def variance(self) -> float:
        """See `LinearisedRules`; in folds a pair within a cluster counts once in its sum.

        A fold may be a single cluster. In a single test set few pairs are within clusters, and the
        variance is that of ``survival::concordance(cluster=)`` of R.
        """
        observed, index, values = self.observed, self.index, self.observed.values
        single = observed.design.n_resamples == 1
        if index is None or single or not self._metric.compares_pairs or np.isnan(values).any():
            return super().variance
        losses = observed.losses
        assert losses.predictions is not None
        pairs_of_sets = self._metric.in_sets(losses.tested_times)
        assert isinstance(pairs_of_sets, PairsOfSets)
        folds = folds_where_tested(observed.design, losses.function_of_means)
        for sign, place in zip((1, -1), (observed.learner, observed.other), strict=True):
            if place is not None:
                risks = losses.predictions[place]
                values = values - sign * pairs_of_sets.half_within(risks, folds, index)
        return variance_of_mean(values, index)

    def rule(self, null_value: float) -> StudentRule | None:
        """The rule behind p-value and interval; None for the estimate and its standard error."""
        if self.observed.paired or not self._metric.compares_pairs or self.status != "ok":
            return None
        return LogitT(self.estimate, math.sqrt(self.variance), self.df, null_value)

    def interval_at(self, n: float, alpha: float) -> tuple[float, float]:
        """The limits for n independent rows like these."""
        assert self.index is None
        se = math.sqrt(self.variance * len(self.observed.values) / n)
        ranks = self._metric.compares_pairs and not self.observed.paired
        rule = LogitT if ranks else MovedT
        return rule(self.estimate, se, n - 1).interval("two-sided", alpha)

    @property
    def diagnostics(self) -> dict[str, Any]:
        """How many observations had the event."""
        return {"n_events": self.observed.losses.tested_times.n_events}

    @property
    def notes(self) -> tuple[str, ...]:
        """The rule in words."""
        metric_in_words = self.observed.losses.in_words
        scale = ", and the interval is on the logit scale" * (self.rule(math.nan) is not None)
        listed = [
            f"The standard error is that of linearised values of {metric_in_words}{scale}.",
            self._metric.remark,
        ]
        if self.index is not None:
            listed.append("All rows have the same weight, and clusters are independent.")
        return tuple(listed)

    @property
    def status(self) -> str:
        """The status if there is no estimate, or if nothing varies."""
        metric_in_words = self._metric.in_words
        if math.isnan(self.estimate):
            return no_value_in_words(self.observed)
        spread = math.sqrt(max(self.variance, 0.0) * len(self.observed.values))
        if spread > ROUNDING or self.observed.identical:
            return "ok"
        if self._metric.compares_pairs and not self.observed.paired:
            return (
                f"degenerate: every pair that counts for {metric_in_words} is in the same order, "
                "or a tie, which leaves no variance to estimate; test more observations"
            )
        return same_influence(self.observed)

    # -------------------------------------------------------------------------------- the parts

    @property
    def _metric(self) -> SurvivalMetric:
        metric = self.observed.losses.metric
        assert isinstance(metric, SurvivalMetric)
        return metric


def turned_risks(observed: LossDifference, clusters: Clusters | None) -> list[str]:
    """A note on each rule whose predictions would be better the other way round.

    Its high risks go with late events, or its probabilities seem to be those of survival. The
    predictions of a row in several test sets, or of a cluster, count as one.
    """
    losses, metric = observed.losses, observed.losses.metric
    assert isinstance(metric, SurvivalMetric)
    if clusters is None:
        units = np.unique(np.nonzero(observed.design.testing)[1], return_inverse=True)[1]
    else:
        units = clusters.groups.index
    remedy = (
        ": high risks go with late events. If higher values mean longer survival, pass their "
        "negative."
        if metric.compares_pairs
        else ". If these are probabilities of survival, pass 1 minus them."
    )
    sign = 1 if metric.greater_is_better else -1
    notes: list[str] = []
    for place in (observed.learner, observed.other):
        if place is None:
            continue
        gained = sign * (_turned_values(losses, place) - losses.known_values[place])
        se = math.sqrt(variance_of_mean(gained, units))
        df = float(units.max())
        if wald_interval(float(gained.mean()), se, "t", df, "two-sided", 0.05)[0] > 0:
            name = losses.learners[place]
            text = (
                "Predictions seem to be the wrong way round: the other way round, "
                f"{name} would have a better {metric.in_words}, by more than its error{remedy}"
            )
            notes.append(Note(text, f"Predictions of {name} seem to be the wrong way round."))
    return notes


def _turned_values(losses: Losses, place: int) -> np.ndarray:
    """The linearised values (T,) of a rule whose predictions are turned round."""
    assert losses.predictions is not None
    metric = losses.metric
    assert isinstance(metric, SurvivalMetric)
    if metric.compares_pairs:
        # Ties count half.
        return 1 - losses.known_values[place]
    function = losses.function_of_means
    folds = folds_where_tested(losses.design, function)
    return linearised(function, losses.tested_times, 1 - losses.predictions[place], folds)
