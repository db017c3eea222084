"""Refusals of metrics that do not apply to a test."""

from typing import Any

from ucvtest.common.words import arg, call
from ucvtest.metrics.base import Metric
from ucvtest.metrics.ranks import AUC
from ucvtest.metrics.smooth import SmoothMetric


def refuse_name_of_auc(metric: Metric) -> None:
    """Refuse a user's metric that tables of losses would mistake for the AUC."""
    if metric is not AUC and metric.name == AUC.name:
        raise ValueError(f"{arg('loss')} has the name 'auc', which means the AUC here: rename it")


def refuse_of_folds(metric: Any) -> None:
    """Refuse metrics of ranks for learners that are fitted, and for folds.

    Scores of different rules are not on a common scale, and the average precision is higher in
    small test sets than in large ones.
    """
    if isinstance(metric, SmoothMetric) and metric.of_ranks:
        raise ValueError(
            f"{arg('metric', metric.name)} is not for learners that are fitted on folds or "
            "resamples: its values there are biased, by more than half of their standard error. "
            "Fit on other observations and use "
            f"{call('Losses.from_predictions', 'y, scores', arg('metric', metric.name))} with "
            f"{call('HoldOutTest')}, or use {arg('metric', 'auc')}"
        )


def refuse_pooled(metric: Any) -> None:
    """Refuse correlations for predictions of several rules, such as those of folds.

    The mean prediction of a rule is near the mean response of its learning set, which is low if the
    responses of its own fold are high. If all rules predict the mean of their learning sets, the
    correlation of leave-one-out is -1.
    """
    if isinstance(metric, SmoothMetric) and metric.of_one_rule:
        raise ValueError(
            f"{arg('metric', metric.name)} is not for predictions out of several folds: where the "
            "responses of a fold are large, the mean prediction of its rule is small, so that the "
            "pooled correlation is too low. Use predictions of other observations by one rule and "
            f"{call('HoldOutTest')}, or take {arg('metric', 'rmse')}"
        )
