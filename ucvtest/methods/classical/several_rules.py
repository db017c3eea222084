"""Several fixed rules at once: the results of each and of pairs, and their joint distribution."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ucvtest.data.groups import Clusters
from ucvtest.inference.needs import Needs, Traits, refuse
from ucvtest.losses.table import Losses
from ucvtest.methods.classical.error_rates import marks_rows
from ucvtest.methods.classical.many_pairs import shares_of_pairs
from ucvtest.methods.classical.ranks_of_rules import influence_on_ranks, is_of_ranks
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates

ROUNDING = 1e-12
"""Variances of differences up to this share of the variances of both parts are rounding error."""


def several_rules(
    tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any]
) -> tuple[dict[Any, TestResult], JointEstimates]:
    """Results of hold-out tests of each rule, by name, and of pairs, with their joint law."""
    if is_of_ranks(losses):
        refuse(Needs(designs=""), Traits(clusters=losses.groups is not None), "HoldOutTest")
        influence = influence_on_ranks(losses.known_values, losses.tested_target.astype(int))
        return results_together(tests, losses, options, influence.covariance)
    # A metric that is 0/0 has no estimate, which does not exclude the others.
    values, pairs = np.nan_to_num(losses.known_values), None
    clusters = next(iter(tests.values())).tested_clusters(losses.difference(0))
    units = values if clusters is None else clusters.values(values)
    if clusters is not None and marks_rows(losses, clusters):
        pairs = _shares_in_pairs(losses, clusters)
    # In these very digits: which draws belong to equal variances depends on the last one.
    covariance = np.cov(units) / units.shape[1]
    return results_together(tests, losses, options, covariance, pairs)


def _shares_in_pairs(losses: Losses, clusters: Clusters) -> tuple[np.ndarray, np.ndarray]:
    """Statistics and standard errors (L, L) of all differences of shares, by their rules."""
    n_learners = len(losses.learners)
    statistics, errors = np.zeros((2, n_learners, n_learners))
    places = np.stack(np.triu_indices(n_learners, 1), axis=1)
    *_, moved, se = shares_of_pairs(losses, places, clusters)
    first, second = places.T
    statistics[first, second], statistics[second, first] = moved / se, -moved / se
    errors[first, second] = errors[second, first] = se
    return statistics, errors


def results_together(
    tests: Mapping[Any, Any],
    losses: Losses,
    options: Mapping[str, Any],
    covariance: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[dict[Any, TestResult], JointEstimates]:
    """The results of tests of each rule, by name, and of pairs, with their joint distribution.

    `covariance` is the covariance of the estimates of all rules. `pairs` are the statistics and
    standard errors of differences, if they do not follow from it.
    """
    results = {
        key: test.run(test.fit_options(**options), test.question.execution())
        for key, test in tests.items()
    }
    metric = next(iter(tests.values())).question.metric
    covariance = metric.unit**2 * covariance
    variances = np.diag(covariance)
    squares = variances[:, None] + variances - 2 * covariance
    # Rounding error does not distinguish rules.
    varies = squares > ROUNDING * (variances[:, None] + variances)
    # Rules that never differ, and exact tests, have no standard error.
    of_pairs = {key: result for key, result in results.items() if not isinstance(key, str)}
    dfs = [result.df for result in of_pairs.values()]
    se, statistics = np.sqrt(np.where(varies, squares, np.nan)), None
    places = {name: position for position, name in enumerate(losses.learners)}
    with_added, moves = {}, losses.metric.linearised or losses.weighted
    for (first_name, second_name), result in of_pairs.items():
        first, second = places[first_name], places[second_name]
        if result.reference == "none":
            # Without a test of two rules, neither excludes the other.
            se[[first, second], [second, first]] = np.nan
        if moves and result.rule is not None:
            # With added observations, as in their intervals.
            with_added[first, second] = result.statistic
            with_added[second, first] = -result.statistic
    if pairs is not None:
        statistics = metric.reported(pairs[0], paired=True) / metric.unit
        se = metric.unit * pairs[1]
    joint_estimates = JointEstimates(
        own={name: results[name] for name in losses.learners},
        se=se,
        covariance=covariance,
        df=min((df for df in dfs if not math.isnan(df)), default=math.inf),
        statistics=statistics,
    )
    if with_added:
        statistics = np.array(joint_estimates.statistics)
        statistics[tuple(np.array([*with_added]).T)] = [*with_added.values()]
        joint_estimates = replace(joint_estimates, statistics=statistics)
    return results, joint_estimates
