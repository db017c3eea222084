"""Shares of rows in clusters, Wilson's interval, added observations: by their papers."""

import math

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.oracles import right_or_wrong as oracle
from ucvtest.stats.exact import BinomialCounts
from ucvtest.stats.shares import (
    EffectiveCounts,
    WilsonScore,
    difference_of_shares,
    effective_number,
)

SIDES = ("two-sided", "less", "greater")


def marked(seed, n_groups=9, share=0.6):
    """Rows in clusters that are right more often than others, and their clusters."""
    rng = np.random.default_rng(seed)
    groups = np.r_[np.arange(n_groups), rng.integers(0, n_groups, 5 * n_groups)]
    right = 0.7 * rng.random(n_groups)[groups] + 0.3 * rng.random(len(groups)) < share
    return right.astype(float), groups


def counts_of(x, groups, *, score=False):
    v = float(oracle.variance(x, groups))
    return EffectiveCounts(float(x.mean()), v, len(x), len(np.unique(groups)), score)


@pytest.mark.parametrize("score", [False, True])
@pytest.mark.parametrize("alpha", [0.05, 0.3, 1e-4])
def test_clusters_as_korn_and_graubard_have_them(score, alpha):
    for seed in range(12):
        x, groups = marked(seed, n_groups=2 + seed, share=(0.05, 0.5, 0.9)[seed % 3])
        for right in (x, x * 0, x * 0 + 1):
            found = counts_of(right, groups, score=score).interval("two-sided", alpha)
            expected = oracle.korn_graubard(right, groups, alpha, score=score)
            assert found == pytest.approx(expected, abs=1e-10)


def test_rows_that_are_all_right_count_as_clusters():
    rule = counts_of(np.ones(40), np.arange(40) // 4)
    assert rule.n_effective(0.025) == 10
    assert rule.interval("two-sided", 0.05) == pytest.approx((0.025 ** (1 / 10), 1))
    assert rule.interval("greater", 0.05) == pytest.approx((0.05 ** (1 / 10), 1))


def test_clusters_of_equal_shares_count_as_many():
    x = np.tile([1.0, 0.0, 0.0], 7)
    rule = counts_of(x, np.arange(21) // 3)
    assert rule.n_effective(0.025) == 7
    assert effective_number(0.01, 1e-33, 21, 7) == 7
    assert effective_number(0.01, 0.05, 21, 7) == pytest.approx(4.2)
    assert effective_number(0.01, 1e-3, 21, 7) == 21
    assert effective_number(0.01, 9.0, 21, 7) == 1


@pytest.mark.parametrize("right", [0, 1, 7, 19, 20])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_wilson_is_that_of_statsmodels(right, alpha):
    expected = proportion_confint(right, 20, alpha, method="wilson")
    assert WilsonScore(right / 20, 20).interval("two-sided", alpha) == pytest.approx(expected)


@pytest.mark.parametrize("side", SIDES)
def test_whole_counts_are_the_exact_binomial_ones(side):
    # Where clusters do not differ, as many rows as clusters are taken.
    for k in range(1, 8):
        exact, found = BinomialCounts(k, 8), EffectiveCounts(k / 8, 0.0, 24, 8)
        assert found.interval(side, 0.1) == pytest.approx(exact.interval(side, 0.1), rel=1e-12)
        for null in (0.05, 0.3, 0.9):
            expected = exact.pvalue(null, side)
            assert found.pvalue(null, side) == pytest.approx(expected, rel=1e-11)


def test_differences_as_agresti_and_min_have_them():
    for seed in range(12):
        (a, groups), (b, _) = marked(seed, 3 + seed), marked(seed + 50, 3 + seed)
        for second in (b, a, 1 - a):
            d, n, G = a - second, len(a), len(np.unique(groups))
            v = oracle.variance(d, groups)
            n_e = effective_number(oracle.variance(d), v, n, G)
            rule = difference_of_shares(float(d.mean()), v, n_e, G - 1.0, 0.0)
            expected = oracle.one_right_one_wrong(a, second, groups, 0.05)
            assert rule.interval("two-sided", 0.05) == pytest.approx(expected, abs=1e-10)


def test_agresti_and_min_without_clusters():
    # Their interval with t: counts 53, 8, 16, 9 have 1/2 added to each.
    n, b, c = 86, 16, 8
    m, difference = n + 2, (b - c) / (n + 2)
    variance = ((b + c + 1) / m - difference**2) / m
    d = np.repeat([1.0, -1.0, 0.0], [b, c, n - b - c])
    # Theirs has divisor n, ours n - 1 of the rows.
    rule = difference_of_shares((b - c) / n, d.var() / n, n, math.nan, 0.0)
    assert rule.estimate == pytest.approx(difference)
    assert rule.se**2 == pytest.approx(variance)
