"""Common parts of tests of fixed rules: words, means and differences of shares."""

import math

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.losses.from_predictions import SCORE
from ucvtest.losses.table import LossDifference
from ucvtest.results.wording import no_spread
from ucvtest.stats.intervals import MovedT
from ucvtest.stats.shares import difference_of_shares, effective_number

THESE_RULES = (
    "Assumes independent observations. The rules are fixed: the answer is about these rules on new "
    "observations, not about the learners with another sample."
)
"""Note of tests that are conditional on the sample."""


def of_these_rules(observed: LossDifference) -> str:
    """The estimand if rules are fixed and nothing is learnt."""
    loss_in_words = observed.losses.in_words
    if observed.paired:
        return f"difference in {loss_in_words} of these rules"
    return f"{loss_in_words} of this rule"


MORE_OBSERVATIONS = "test more observations, or use another loss"


def without_spread(
    observed: LossDifference,
    where: str = "at every observation",
    remedy: str = MORE_OBSERVATIONS,
    *,
    scores: bool = False,
) -> str:
    """The status where the losses, or their difference, do not vary."""
    losses = observed.losses
    scores = scores or bool(losses.greater_is_better) or losses.loss == SCORE
    return no_spread(where, remedy, paired=observed.paired, scores=scores)


def same_influence(observed: LossDifference) -> str:
    """The status where a metric that is not a mean does not vary, or the difference of two."""
    metric_in_words = observed.losses.metric.in_words
    if observed.paired:
        metric_in_words = f"the difference in {metric_in_words}"
    return (
        f"degenerate: {metric_in_words} leaves no variance to estimate, because all "
        "observations have the same influence on it; test more"
    )


def mean_with_variance(
    observed: LossDifference, clusters: Clusters | None = None
) -> tuple[float, float]:
    """The mean of all losses, and its variance as if they were independent; 0 for a single one.

    With clusters, the clusters are independent instead of their rows: K.-Y. Liang and S. Zeger
    (1986), Longitudinal data analysis using generalized linear models, Biometrika 73, times G/(G -
    1).
    """
    values = observed.values if clusters is None else clusters.values(observed.values)
    variance = float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0
    return float(values.mean()), variance


def share_difference(
    values: np.ndarray, clusters: Clusters, null_value: float = math.nan
) -> tuple[float, MovedT]:
    """The difference of two shares of rows in clusters: the effective number, and the rule.

    `values` are 1 if only the first rule is wrong, -1 if only the second is wrong, and 0 otherwise.
    """
    of_each, n = clusters.values(values), len(values)
    variance = float(of_each.var(ddof=1)) / clusters.n_groups
    independent_variance = float(values.var(ddof=1)) / n
    number = effective_number(independent_variance, variance, n, clusters.n_groups)
    estimate, df = float(of_each.mean()), clusters.n_groups - 1.0
    return number, difference_of_shares(estimate, variance, number, df, null_value)
