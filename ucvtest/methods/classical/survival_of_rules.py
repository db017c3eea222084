"""Intervals of survival metrics, such as concordance, of fixed rules.

There is one rule or two, on a test set or out of fold. Observations are rows or clusters.
"""

import math
from typing import Any

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.data.groups import Clusters
from ucvtest.inference.status import no_value_in_words
from ucvtest.losses.linearised import folds_where_tested
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.fixed_rules import LinearisedRules
from ucvtest.metrics.smooth import linearised
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.metrics.survival_sets import PairsOfSets
from ucvtest.stats.influence import variance_of_mean
from ucvtest.stats.pivots import Pivot, on_logit
from ucvtest.stats.wald import wald_interval


class SurvivalOfRules(LinearisedRules):
    """A survival metric of one learner, or its difference between two, from risks of rows."""

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
        pairs_of_sets = self._metric.in_sets(losses.tested_times)
        assert isinstance(pairs_of_sets, PairsOfSets)
        folds = folds_where_tested(observed.design, losses.function_of_means)
        for sign, risks in zip((1, -1), self._predictions, strict=False):
            values = values - sign * pairs_of_sets.half_within(risks, folds, index)
        return variance_of_mean(values, index)

    def rule(self, null_value: float) -> Pivot | None:
        """The rule behind p-value and interval; None for the estimate and its standard error."""
        if self.observed.paired or not self._metric.compares_pairs or self.status != "ok":
            return None
        return on_logit(self.estimate, math.sqrt(self.variance), self.df, null_value)

    def interval_at(self, n: float, alpha: float) -> tuple[float, float]:
        """The limits for n independent rows like these."""
        assert self.index is None
        se = math.sqrt(self.variance * len(self.observed.values) / n)
        ranks = self._metric.compares_pairs and not self.observed.paired
        rule = on_logit if ranks else Pivot
        return rule(self.estimate, se, n - 1).interval("two-sided", alpha)

    @property
    def diagnostics(self) -> dict[str, Any]:
        """How many observations had the event."""
        return {"n_events": self.observed.losses.tested_times.n_events}

    @property
    def notes(self) -> tuple[str, ...]:
        """The rule in words."""
        rule_in_words, *note_on_clusters = super().notes
        return (rule_in_words, self._metric.remark, *note_on_clusters)

    @property
    def _rule_in_words(self) -> str:
        scale = ", and the interval is on the logit scale." * (self.rule(math.nan) is not None)
        return super()._rule_in_words if not scale else super()._rule_in_words[:-1] + scale

    @property
    def status(self) -> str:
        """The status if there is no estimate, or if nothing varies."""
        if math.isnan(self.estimate):
            return no_value_in_words(self.observed)
        if self._metric.compares_pairs and super().status != "ok" and not self.observed.paired:
            return (
                f"degenerate: every pair that counts for {self._metric.in_words} is in the same "
                "order, or a tie, which leaves no variance to estimate; test more observations"
            )
        return super().status


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
    for place in observed.places:
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
