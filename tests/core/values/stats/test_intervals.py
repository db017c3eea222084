"""Intervals that are not symmetric: by root finding, by counting, in order."""

import math
from dataclasses import asdict

import numpy as np
import pytest

from tests.oracles import intervals as oracle
from ucvtest.stats.pivots import Hall, Shape, on_log, plus_four

SIDES = ("two-sided", "less", "greater")
HALL = [
    Hall(2.0, 0.3, 20.5, n_obs=40, skewness=1.6),
    Hall(2.0, 0.3, 20.5, n_obs=40, skewness=1.6, least_above=6.0, least=0.0),
    Hall(0.1, 0.3, 4.0, n_obs=40, skewness=6.2, least_above=6.0, least=0.0),
    Hall(-0.1, 0.3, 9.0, n_obs=12, skewness=-3.1),
    Hall(0.4, 0.1, 30.0, n_obs=60, skewness=0.0, least=0.0, most=1.0),
    Hall(0.4, 0.1, 3.0, n_obs=4, skewness=1e-9, least_above=6.0),
    Hall(0.4, 0.1, 4.0, n_obs=500, skewness=22.0),
]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("rule", HALL)
@pytest.mark.parametrize("alpha", [0.05, 0.4])
def test_hall_by_root_finding(rule, side, alpha):
    above = max(rule.skewness, rule.least_above)
    expected = oracle.hall(
        rule.estimate, rule.se, rule.df, rule.n_obs, rule.skewness, side, alpha, gamma_above=above
    )
    low, high = rule.interval(side, alpha)
    if expected[0] is None:
        assert low == rule.least
    else:
        assert low == pytest.approx(max(expected[0], rule.least), rel=1e-9)
    if expected[1] is None:
        assert high == rule.most
    else:
        assert high == pytest.approx(min(expected[1], rule.most), rel=1e-9)


def test_the_floor_moves_the_upper_limit_only():
    plain, floored = (
        Hall(2.0, 0.3, 20.0, n_obs=40, skewness=1.6),
        Hall(2.0, 0.3, 20.0, n_obs=40, skewness=1.6, least_above=6.0),
    )
    for side in SIDES:
        (low, high), (same, higher) = plain.interval(side, 0.05), floored.interval(side, 0.05)
        assert low == same
        assert higher == high == math.inf if side == "greater" else higher > high + 0.3
    steep = Hall(2.0, 0.3, 20.0, n_obs=40, skewness=6.2)
    floored = Hall(2.0, 0.3, 20.0, n_obs=40, skewness=6.2, least_above=6.0)
    assert floored.interval("two-sided", 0.05) == steep.interval("two-sided", 0.05)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("errors", [0, 1, 9, 38, 40])
@pytest.mark.parametrize("extra", [0.0, 0.002])
def test_plus_four_by_counting(errors, extra, side):
    n = 40
    losses = (np.arange(n) < errors) * 1.0
    rule = plus_four(losses.mean(), losses.var() / n + extra, n)
    expected = oracle.plus_four(losses, n, extra, side, 0.05)
    assert rule.interval(side, 0.05) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("errors", [0, 7, 50])
def test_plus_four_of_independent_errors_is_agresti_and_coull(errors):
    """p (1 - p)/(n + 4) of p = (errors + 2)/(n + 4)."""
    n, p = 50, errors / 50
    found = plus_four(p, p * (1 - p) / n, n).interval("two-sided", 0.05)
    moved = (errors + 2) / (n + 4)
    se = math.sqrt(moved * (1 - moved) / (n + 4))
    quantile, _ = oracle.quantiles("two-sided", 0.05, n - 1)
    expected = max(0.0, moved - quantile * se), min(1.0, moved + quantile * se)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [4, 5, 12, 40, 500])
def test_ends_are_in_order_whatever_the_skewness(n):
    for skewness in np.linspace(-math.sqrt(n), math.sqrt(n), 9):
        for floor in (-math.inf, 6.0):
            for alpha in (1e-4, 0.05, 0.5, 0.99, 0.9999):
                low, high = Hall(
                    0.0, 1.0, 4.0, n_obs=n, skewness=skewness, least_above=floor
                ).interval("two-sided", alpha)
                assert low < high


def test_far_null_values():
    rule = Hall(2.0, 1e-30, 20.0, n_obs=40, skewness=1.6)
    assert rule.pvalue(1e100, "two-sided") == rule.pvalue(-1e100, "two-sided") == 0
    assert on_log(0.8, 400.0, 4.0).interval("two-sided", 0.01)[0] == 0
    assert np.isfinite(on_log(0.8, 400.0, 4.0).interval("two-sided", 0.01)[1])


class TestShape:
    def test_is_that_of_the_pseudo_values(self):
        b = np.random.default_rng(1).lognormal(size=40)
        skewness, df = oracle.moments(oracle.pseudo_values(b, 19))
        shape = Shape.of(b)
        assert (shape.skewness, shape.df) == pytest.approx((skewness, df), rel=1e-12)
        assert shape.n_obs == 40

    def test_two_values_alone(self):
        """As many above as below: the kurtosis is 1, and the variance known."""
        shape = Shape.of(np.tile([-1e-200, 1e-200], 10))
        assert (shape.skewness, shape.df) == (0.0, 19.0)
        assert not shape.flagged

    def test_of_values_that_are_all_alike(self):
        np.testing.assert_equal(asdict(Shape.of(np.full(7, 0.1))), asdict(Shape(7, 0.0, 6.0)))

    def test_one_observation_carries_everything(self):
        """Sample skewness is as large as it can be: the root of n."""
        shape = Shape.of((np.arange(36) == 5) * 3.0)
        assert shape.skewness == pytest.approx(6.0, rel=0.01)
        assert shape.df == 4.0
        assert shape.flagged

    def test_few_observations(self):
        assert Shape.of(np.array([0.0, 0.0, 0.0, 1.0])).df == 3.0
