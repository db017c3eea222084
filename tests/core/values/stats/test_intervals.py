"""Intervals that are not symmetric: by root finding, by counting, as their p-values have them."""

import math
from dataclasses import asdict

import numpy as np
import pytest

from tests.oracles import intervals as oracle
from ucvtest.stats.interval_rules import rule_from_dict, rule_to_dict
from ucvtest.stats.intervals import HallT, LogT, PlusFour, Shape

SIDES = ("two-sided", "less", "greater")
HALL = [
    HallT(2.0, 0.3, 20.5, 40, 1.6),
    HallT(2.0, 0.3, 20.5, 40, 1.6, least_above=6.0, least=0.0),
    HallT(0.1, 0.3, 4.0, 40, 6.2, least_above=6.0, least=0.0),
    HallT(-0.1, 0.3, 9.0, 12, -3.1),
    HallT(0.4, 0.1, 30.0, 60, 0.0, least=0.0, most=1.0),
    HallT(0.4, 0.1, 3.0, 4, 1e-9, least_above=6.0),
    HallT(0.4, 0.1, 4.0, 500, 22.0),
]
RULES = [*HALL, PlusFour(0.2, 0.003, 40), PlusFour(0.0, 0.0, 12), PlusFour(1.0, 0.0, 60)]
RULES += [PlusFour(0.93, 0.02, 5), LogT(0.8, 0.2, 17.5), LogT(1e-3, 3.0, 4.0)]


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


def test_hall_without_skewness_is_student():
    found = HallT(2.0, 0.3, 20.0, 40, 0.0).interval("two-sided", 0.05)
    low, high = oracle.quantiles("two-sided", 0.05, 20.0)
    assert found == pytest.approx((2.0 - 0.3 * low, 2.0 - 0.3 * high), rel=1e-14)


def test_the_floor_moves_the_upper_limit_only():
    plain, floored = HallT(2.0, 0.3, 20.0, 40, 1.6), HallT(2.0, 0.3, 20.0, 40, 1.6, 6.0)
    for side in SIDES:
        (low, high), (same, higher) = plain.interval(side, 0.05), floored.interval(side, 0.05)
        assert low == same
        assert higher == high == math.inf if side == "greater" else higher > high + 0.3
    steep = HallT(2.0, 0.3, 20.0, 40, 6.2)
    floored = HallT(2.0, 0.3, 20.0, 40, 6.2, 6.0)
    assert floored.interval("two-sided", 0.05) == steep.interval("two-sided", 0.05)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("errors", [0, 1, 9, 38, 40])
@pytest.mark.parametrize("extra", [0.0, 0.002])
def test_plus_four_by_counting(errors, extra, side):
    n = 40
    losses = (np.arange(n) < errors) * 1.0
    rule = PlusFour(losses.mean(), losses.var() / n + extra, n)
    expected = oracle.plus_four(losses, n, extra, side, 0.05)
    assert rule.interval(side, 0.05) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("errors", [0, 7, 50])
def test_plus_four_of_independent_errors_is_agresti_and_coull(errors):
    """p (1 - p)/(n + 4) of p = (errors + 2)/(n + 4)."""
    n, p = 50, errors / 50
    found = PlusFour(p, p * (1 - p) / n, n).interval("two-sided", 0.05)
    moved = (errors + 2) / (n + 4)
    se = math.sqrt(moved * (1 - moved) / (n + 4))
    quantile, _ = oracle.quantiles("two-sided", 0.05, n - 1)
    expected = max(0.0, moved - quantile * se), min(1.0, moved + quantile * se)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("rule", RULES)
def test_pvalue_and_interval_agree(rule, side):
    rng = np.random.default_rng(0)
    low, high = rule.interval("two-sided", 0.01)
    n_checked = 0
    for null in rng.uniform(low - 0.1, high + 0.1, 60):
        pvalue = rule.pvalue(null, side)
        if math.isnan(pvalue):
            continue
        for alpha in (pvalue * (1 - 1e-7), pvalue * (1 + 1e-7), 0.05, rng.uniform()):
            if 0 < alpha < 1:
                below, above = rule.interval(side, alpha)
                assert (pvalue <= alpha) == (not below <= null <= above), (null, alpha)
                n_checked += 1
    assert n_checked > 50


@pytest.mark.parametrize("rule", RULES)
def test_sides_are_halves_of_the_two_sided_one(rule):
    low, high = rule.interval("two-sided", 0.1)
    assert rule.interval("less", 0.05)[1] == high
    assert rule.interval("greater", 0.05)[0] == low
    assert low <= high


@pytest.mark.parametrize("n", [4, 5, 12, 40, 500])
def test_ends_are_in_order_whatever_the_skewness(n):
    for skewness in np.linspace(-math.sqrt(n), math.sqrt(n), 9):
        for floor in (-math.inf, 6.0):
            for alpha in (1e-4, 0.05, 0.5, 0.99, 0.9999):
                low, high = HallT(0.0, 1.0, 4.0, n, skewness, floor).interval("two-sided", alpha)
                assert low < high


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (PlusFour(0.2, 0.01, 40), (math.nan, -0.1, 1.1)),
        (HallT(2.0, 0.3, 20.0, 40, 1.6, 6.0, 0.0), (math.nan, -0.1)),
        (LogT(0.8, 0.2, 17.5), (math.nan, 0.0, -1.0)),
    ],
)
def test_values_that_the_estimand_cannot_have_are_not_tested(rule, values):
    assert math.isnan(rule.statistic)
    for side in SIDES:
        assert all(math.isnan(rule.pvalue(value, side)) for value in values)


def test_far_null_values():
    rule = HallT(2.0, 1e-30, 20.0, 40, 1.6)
    assert rule.pvalue(1e100, "two-sided") == rule.pvalue(-1e100, "two-sided") == 0
    assert LogT(0.8, 400.0, 4.0).interval("two-sided", 0.01)[0] == 0
    assert np.isfinite(LogT(0.8, 400.0, 4.0).interval("two-sided", 0.01)[1])


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


@pytest.mark.parametrize("rule", RULES)
def test_written_and_read(rule):
    again = rule_from_dict(rule_to_dict(rule))
    # NaN for what a rule does not have is NaN again.
    np.testing.assert_equal(asdict(again), asdict(rule))
    assert type(again) is type(rule)
    assert again.interval("less", 0.1) == rule.interval("less", 0.1)
    with pytest.raises(ValueError, match="rule of kind 'x', which is unknown here: upgrade"):
        rule_from_dict({**rule_to_dict(rule), "kind": "x"})
