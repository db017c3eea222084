"""Which rules of inference a metric has whose linearised values take the place of losses."""

from ucvtest.data.groups import Clusters
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.function_of_means import MetricOfRules
from ucvtest.methods.classical.ranks_of_rules import RanksOfRules, is_of_ranks
from ucvtest.methods.classical.survival_of_rules import SurvivalOfRules

__all__ = ["metric_of_rules"]


def metric_of_rules(
    observed: LossDifference, clusters: Clusters | None
) -> MetricOfRules | RanksOfRules | SurvivalOfRules:
    """Estimate, variance, interval and words, of rules as they are."""
    if observed.losses.metric.of_survival:
        return SurvivalOfRules.of(observed, clusters)
    if is_of_ranks(observed.losses):
        return RanksOfRules.of(observed, clusters)
    return MetricOfRules.of(observed, clusters)
