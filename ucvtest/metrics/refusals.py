"""Refusals of metrics that do not apply to a test."""

from typing import Any

from ucvtest.metrics.base import Metric
from ucvtest.metrics.names import is_auc
from ucvtest.metrics.ranks import AUC
from ucvtest.metrics.set_scores import SetScore
from ucvtest.metrics.smooth import SmoothMetric

ONE_NUMBER_EACH = (
    "use CorrectedTTest, BayesianTTest, FiveByTwoTTest, FiveByTwoFTest or NaiveTTest, or a loss "
    "that is a mean over observations, such as scoring='accuracy'"
)
"""Tests that accept a `SetScore`."""


ABOUT_RULES = {"HoldOutTest": "DeLongTest", "McNemarTest": "DeLongTest"}
"""Tests of fixed rules, and the test that takes decision scores instead."""


def refuse_set_score(loss: Any, name: str) -> None:
    """Refuse scores of whole test sets, for the test or function with this name."""
    if isinstance(loss, SetScore):
        raise ValueError(
            f"scoring={loss.name!r} is one number for each test set, but {name} needs one for each "
            f"observation: {ONE_NUMBER_EACH}"
        )


def refuse_name_of_auc(metric: Metric) -> None:
    """Refuse a user's metric that tables of losses would mistake for the AUC."""
    if metric is not AUC and metric.name == AUC.name:
        raise ValueError("loss has the name 'auc', which means the AUC here: rename it")


def refuse_scores(loss: Any, name: str, scoring: Any = None) -> None:
    """Refuse the AUC, which is not a mean of losses, for the test or function with this name."""
    if is_auc(loss):
        user_argument = "'auc'" if scoring is None else f"scoring={scoring!r:.60}"
        remedy = "'zero_one' or 'log'"
        if scoring is not None:
            remedy = "scoring='accuracy' or 'neg_log_loss'"
        if name in ABOUT_RULES:
            remedy += f", or {ABOUT_RULES[name]}, which is about the AUC"
        raise ValueError(
            f"{user_argument} keeps decision scores, but {name} needs the loss of every "
            f"observation: use {remedy}"
        )


def refuse_of_folds(metric: Any) -> None:
    """Refuse metrics of ranks for learners that are fitted, and for folds.

    Scores of different rules are not on a common scale, and the average precision is higher in
    small test sets than in large ones.
    """
    if isinstance(metric, SmoothMetric) and metric.of_ranks:
        raise ValueError(
            f"metric={metric.name!r:.60} is not for learners that are fitted on folds or "
            "resamples: its values there are biased, by more than half of their standard error. "
            "Fit on other observations and use uv.Losses.from_predictions(y, scores, "
            f"metric={metric.name!r:.60}) with uv.HoldOutTest, or use metric='auc'"
        )


def refuse_pooled(metric: Any) -> None:
    """Refuse correlations for predictions of several rules, such as those of folds.

    The mean prediction of a rule is near the mean response of its learning set, which is low if the
    responses of its own fold are high. If all rules predict the mean of their learning sets, the
    correlation of leave-one-out is -1.
    """
    if isinstance(metric, SmoothMetric) and metric.of_one_rule:
        raise ValueError(
            f"metric={metric.name!r:.60} is not for predictions out of several folds: where the "
            "responses of a fold are large, the mean prediction of its rule is small, so that the "
            "pooled correlation is too low. Use predictions of other observations by one rule and "
            "uv.HoldOutTest, or take metric='rmse'"
        )
