"""What tests of rules as they are have in common: words, means, and several rules at once."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ucvtest.data.groups import Clusters, refuse_groups
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.metrics.base import plural
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates

__all__ = ["THESE_RULES", "mean_with_variance", "of_these_rules", "results_together"]

THESE_RULES = (
    "Assumes independent observations. The rules are taken as they are: the answer is about these "
    "on new observations, not about the learners with another sample."
)
"""Note of tests that are conditional on the sample."""

ROUNDING = 1e-12
"""Variances of differences, as a share of those of what differs, that are rounding error."""


def of_these_rules(observed: LossDifference) -> str:
    """The estimand where rules are fixed and nothing is learnt."""
    words = observed.losses.in_words
    if observed.paired:
        return f"difference of the {plural(words)} of these rules"
    return f"{words} of this rule"


def mean_with_variance(
    observed: LossDifference, clusters: Clusters | None = None
) -> tuple[float, float]:
    """The mean of all losses, and its variance as if they were independent; 0 for a single one.

    With clusters these are independent, not their rows: K.-Y. Liang and S. Zeger (1986),
    Longitudinal data analysis using generalized linear models, Biometrika 73, times G/(G - 1).
    """
    values = observed.values if clusters is None else clusters.values(observed.values)
    variance = float(values.var(ddof=1)) / len(values) if len(values) > 1 else 0.0
    return float(values.mean()), variance


def results_together(
    tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any], covariance: np.ndarray
) -> tuple[dict[Any, TestResult], JointEstimates]:
    """The results of tests of each rule, by name, and of pairs, with what joins them.

    `covariance` is that of the estimates of all rules.
    """
    if losses.groups is not None:
        refuse_groups(losses.groups)
    results = {
        key: test.run(test.fit_options(**options), test.question.execution())
        for key, test in tests.items()
    }
    covariance = next(iter(tests.values())).question.metric.unit ** 2 * covariance
    variances = np.diag(covariance)
    squares = variances[:, None] + variances - 2 * covariance
    # What is no more than rounding error tells nothing apart.
    known = squares > ROUNDING * (variances[:, None] + variances)
    df = min(each.df for key, each in results.items() if not isinstance(key, str))
    together = JointEstimates(
        own={name: results[name] for name in losses.learners},
        se=np.sqrt(np.where(known, squares, np.nan)),
        covariance=covariance,
        df=math.inf if math.isnan(df) else df,
    )
    return results, together
