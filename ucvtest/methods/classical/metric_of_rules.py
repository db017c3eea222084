"""The rules of inference for metrics whose linearised values replace losses."""

from ucvtest.data.groups import Clusters
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.function_of_means import MetricOfRules
from ucvtest.methods.classical.ranks_of_rules import RanksOfRules, is_of_ranks
from ucvtest.methods.classical.survival_of_rules import SurvivalOfRules


def metric_of_rules(
    observed: LossDifference, clusters: Clusters | None
) -> MetricOfRules | RanksOfRules | SurvivalOfRules:
    """Estimate, variance, interval and words, for fixed rules."""
    if observed.losses.metric.of_survival:
        return SurvivalOfRules.of(observed, clusters)
    if is_of_ranks(observed.losses):
        return RanksOfRules.of(observed, clusters)
    return MetricOfRules.of(observed, clusters)
