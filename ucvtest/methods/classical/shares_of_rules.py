"""Shares of right answers of fixed rules, for rows in clusters with equal weights of rows."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.inference.studentise import TABLE_ALPHA, Hypothesis
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.methods.classical.error_rates import table_of_intervals
from ucvtest.methods.classical.fixed_rules import mean_with_variance, share_difference
from ucvtest.methods.classical.hold_out_words import counts_of_errors
from ucvtest.stats.intervals import MovedT
from ucvtest.stats.shares import ROUNDING, EffectiveCounts


def marks_rows(losses: Losses, clusters: Clusters, values: np.ndarray | None = None) -> bool:
    """Whether every row, with equal weights, is right or wrong without undecided ties."""
    if clusters.weight != "row" or not losses.metric.counts_errors:
        return False
    values = losses.known_values if values is None else values
    return bool(np.isin(values, (-1, 0, 1)).all())


@dataclass(frozen=True)
class SharesOfRules:
    """The error rate of one rule, by an effective number of rows, or the difference of two rates.

    With `score` the interval of one rate is Wilson's.
    """

    observed: LossDifference
    clusters: Clusters
    hypothesis: Hypothesis
    score: bool = False

    def estimate_of(self, observed: LossDifference) -> tuple[float, float]:
        """Estimate and variance, also of one of the learners alone."""
        return mean_with_variance(observed, self.clusters)

    @property
    def rule(self) -> EffectiveCounts | MovedT:
        """The rule behind p-value and interval."""
        return self._number_and_rule[1]

    @property
    def kind(self) -> str:
        """The name of the test."""
        if self.observed.paired:
            return "t"
        return "score" if self.score else "binomial"

    @property
    def reference(self) -> str:
        """The reference distribution."""
        return "normal" if self.kind == "score" else self.kind

    @property
    def df(self) -> float:
        """Degrees of freedom of a difference."""
        return self.clusters.n_groups - 1.0 if self.observed.paired else math.nan

    @property
    def diagnostics(self) -> dict[str, Any]:
        """Rows and clusters, and the effective number of rows."""
        return {
            "n_tested": len(self.observed.values),
            "tested_groups": self.clusters.n_groups,
            **counts_of_errors(self.observed),
            "n_effective": self._number_and_rule[0],
        }

    @property
    def tables(self) -> dict[str, dict[str, Any]]:
        """Student's interval of one rule, and the intervals by the effective number."""
        rule = self.rule
        if isinstance(rule, MovedT):
            return {}
        rules = {
            "korn graubard": replace(rule, score=False),
            "wilson": replace(rule, score=True),
        }
        return table_of_intervals(
            rules, rule.share, math.sqrt(rule.variance), rule.n_groups - 1.0, self.hypothesis
        )

    @property
    def note(self) -> str:
        """The notes on the effective number of rows."""
        n_tested, n_groups = len(self.observed.values), self.clusters.n_groups
        n_effective = self._number_and_rule[0]
        alike = self.estimate_of(self.observed)[1] <= ROUNDING
        worth = f"The {n_tested} rows count as {n_effective:.3g} independent ones"
        if alike:
            worth = (
                f"Clusters do not differ, so the {n_tested} rows count as {n_groups}, the number "
                "of clusters"
            )
        if self.observed.paired:
            return (
                f"{worth}. One right and one wrong observation are added (Agresti and Min 2005): "
                "the interval moves towards 0 and stays within -1 and 1."
            )
        kind = "that of Wilson's score test" if self.score else "the exact binomial one"
        return f"{worth} (Korn and Graubard 1998), and the interval is {kind} for this number."

    @cached_property
    def _number_and_rule(self) -> tuple[float, EffectiveCounts | MovedT]:
        observed, clusters = self.observed, self.clusters
        if observed.paired:
            return share_difference(observed.values, clusters, self.hypothesis.null_value)
        estimate, variance = self.estimate_of(observed)
        n_tested = len(observed.values)
        rule = EffectiveCounts(estimate, variance, n_tested, clusters.n_groups, self.score)
        return rule.n_effective(TABLE_ALPHA / 2), rule
