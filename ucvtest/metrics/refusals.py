"""Refusals of metrics that a test cannot be about."""

from typing import Any

from ucvtest.metrics.base import Metric
from ucvtest.metrics.names import is_auc
from ucvtest.metrics.ranks import AUC
from ucvtest.metrics.set_scores import SetScore

__all__ = ["refuse_name_of_auc", "refuse_scores", "refuse_set_score"]

ONE_NUMBER_EACH = (
    "use CorrectedTTest, BayesianTTest, FiveByTwoTTest, FiveByTwoFTest or NaiveTTest, or a loss "
    "that is a mean over observations, such as scoring='accuracy'"
)
"""Where to go with a `SetScore`."""


def refuse_set_score(loss: Any, name: str) -> None:
    """Refuse scores of whole test sets, for the test or function that is called so."""
    if isinstance(loss, SetScore):
        raise ValueError(
            f"scoring={loss.name!r} is one number for each test set, and {name} needs one for each "
            f"observation: {ONE_NUMBER_EACH}"
        )


def refuse_name_of_auc(metric: Metric) -> None:
    """Refuse a metric of the user's own that tables of losses would take for the AUC."""
    if metric is not AUC and metric.name == AUC.name:
        raise ValueError("loss is called 'auc', which means the AUC here: give it another name")


def refuse_scores(loss: Any, name: str, scoring: Any = None) -> None:
    """Refuse the AUC, which is no mean of losses, for the test or function that is called so."""
    if is_auc(loss):
        asked = "loss='auc'" if scoring is None else f"scoring={scoring!r:.60}"
        remedy = "loss='zero_one' or 'log'"
        if scoring is not None:
            remedy = "scoring='accuracy' or 'neg_log_loss'"
        raise ValueError(
            f"{asked} keeps decision scores, and {name} needs the loss of every observation: use "
            f"{remedy}"
        )
