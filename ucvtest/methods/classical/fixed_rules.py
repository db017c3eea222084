"""What tests of rules as they are have in common: words, means, and several rules at once."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.losses.table import LossDifference, Losses
from ucvtest.metrics.base import plural
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.intervals import MovedT
from ucvtest.stats.shares import difference_of_shares, effective_number

__all__ = [
    "THESE_RULES",
    "mean_with_variance",
    "of_these_rules",
    "results_together",
    "share_difference",
    "shares_in_pairs",
    "with_statistics_of_rules",
]

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


def share_difference(
    values: np.ndarray, clusters: Clusters, null_value: float = math.nan
) -> tuple[float, MovedT]:
    """The difference of two shares of rows in clusters: the effective number, and the rule.

    `values` are 1 where the first rule alone is wrong, -1 where the second is, 0 elsewhere.
    """
    of_each, n = clusters.values(values), len(values)
    variance = float(of_each.var(ddof=1)) / clusters.n_groups
    plain = float(values.var(ddof=1)) / n
    number = effective_number(plain, variance, n, clusters.n_groups)
    estimate, df = float(of_each.mean()), clusters.n_groups - 1.0
    return number, difference_of_shares(estimate, variance, number, df, null_value)


def shares_in_pairs(values: np.ndarray, clusters: Clusters) -> tuple[np.ndarray, np.ndarray]:
    """Statistics and standard errors (L, L) of all differences of shares, as their rules have them.

    `values` are errors (L, n).
    """
    statistics, errors = np.zeros((2, len(values), len(values)))
    for first, second in combinations(range(len(values)), 2):
        _, rule = share_difference(values[first] - values[second], clusters, 0.0)
        statistics[first, second], statistics[second, first] = rule.statistic, -rule.statistic
        errors[first, second] = errors[second, first] = rule.se
    return statistics, errors


def results_together(
    tests: Mapping[Any, Any],
    losses: Losses,
    options: Mapping[str, Any],
    covariance: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[dict[Any, TestResult], JointEstimates]:
    """The results of tests of each rule, by name, and of pairs, with what joins them.

    `covariance` is that of the estimates of all rules. `pairs` are the statistics and standard
    errors of differences, where these do not follow from it.
    """
    results = {
        key: test.run(test.fit_options(**options), test.question.execution())
        for key, test in tests.items()
    }
    metric = next(iter(tests.values())).question.metric
    covariance = metric.unit**2 * covariance
    variances = np.diag(covariance)
    squares = variances[:, None] + variances - 2 * covariance
    # What is no more than rounding error tells nothing apart.
    known = squares > ROUNDING * (variances[:, None] + variances)
    # Rules that never differ, and exact tests, have none.
    dfs = [each.df for key, each in results.items() if not isinstance(key, str)]
    se, statistics = np.sqrt(np.where(known, squares, np.nan)), None
    if pairs is not None:
        statistics, se = (
            metric.reported(pairs[0], paired=True) / metric.unit,
            metric.unit * pairs[1],
        )
    together = JointEstimates(
        own={name: results[name] for name in losses.learners},
        se=se,
        covariance=covariance,
        df=min((df for df in dfs if not math.isnan(df)), default=math.inf),
        statistics=statistics,
    )
    return results, together


def with_statistics_of_rules(
    results: Mapping[Any, TestResult], together: JointEstimates
) -> JointEstimates:
    """With the statistics of pairs that have observations added, as their intervals have them."""
    places = {name: place for place, name in enumerate(together.learners)}
    statistics = np.array(together.statistics)
    for key, each in results.items():
        if isinstance(key, str) or each.rule is None or math.isnan(each.estimate):
            continue
        first, second = (places[name] for name in key)
        statistics[first, second] = each.statistic
        statistics[second, first] = -each.statistic
    return replace(together, statistics=statistics)
