"""Student's t on the scale on which the standard error is constant."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from ucvtest.stats.interval_rules import rule_from_dict, rule_to_dict
from ucvtest.stats.variance_stabilised import MOST_BENT, StabilisedT, stabilised

SIDES = ("two-sided", "less", "greater")


def rule(slope, se=0.1, **rest):
    return StabilisedT(0.2, se, 20.0, slope, **{"least": -1.0, "most": 1.0, **rest})


def test_as_defined():
    low, high = rule(2.0).interval("two-sided", 0.05)
    t = student.ppf(0.975, 20)
    assert low == pytest.approx(0.2 - math.log(1 + 2 * 0.1 * t) / 2)
    assert high == pytest.approx(0.2 - math.log(1 - 2 * 0.1 * t) / 2)
    z = (math.exp(-2 * (0.05 - 0.2)) - 1) / (2 * 0.1)
    assert rule(2.0, null_value=0.05).statistic == pytest.approx(z)
    assert rule(2.0).pvalue(0.05, "two-sided") == pytest.approx(2 * student.sf(z, 20))
    assert rule(2.0).pvalue(0.05, "greater") == pytest.approx(student.sf(z, 20))
    assert rule(2.0).pvalue(0.05, "less") == pytest.approx(student.cdf(z, 20))


def test_statistics_of_many_are_those_of_each():
    estimates, errors = np.array([0.2, -0.3, 0.1, 0.4]), np.array([0.1, 0.2, 0.05, math.nan])
    slopes = np.array([2.0, -9.0, 0.0, 1.0])
    found = stabilised(estimates / errors, slopes * errors)
    each = [
        StabilisedT(u, se, 20.0, slope, null_value=0.0).statistic
        for u, se, slope in zip(estimates, errors, slopes, strict=True)
    ]
    assert found == pytest.approx(each, nan_ok=True)
    reverse = stabilised(-estimates / errors, -slopes * errors)
    assert reverse == pytest.approx(-found, nan_ok=True)


def test_without_a_slope_it_is_students():
    t = student.ppf(0.975, 20)
    for slope in (0.0, 1e-200, 1e-9):
        assert rule(slope).interval("two-sided", 0.05) == pytest.approx(
            (0.2 - 0.1 * t, 0.2 + 0.1 * t)
        )
        assert rule(slope, null_value=0.1).statistic == pytest.approx(1.0)


def test_the_end_with_the_larger_standard_error_is_further_away():
    low, high = rule(3.0).interval("two-sided", 0.05)
    assert high - 0.2 > 0.2 - low
    other_low, other_high = rule(-3.0).interval("two-sided", 0.05)
    assert (other_high - 0.2, 0.2 - other_low) == pytest.approx((0.2 - low, high - 0.2))


@pytest.mark.parametrize("slope", [-1e6, -4.1, -2.0, 0.0, 1e-12, 0.7, 3.9, 1e6])
@pytest.mark.parametrize("side", SIDES)
def test_pvalue_inverts_the_interval(slope, side):
    one = rule(slope)
    for null_value in np.linspace(-1, 1, 41):
        pvalue = one.pvalue(null_value, side)
        assert 0 <= pvalue <= 1
        for alpha in (pvalue * (1 - 1e-9), pvalue * (1 + 1e-9), 0.001, 0.05, 0.3):
            if 0 < alpha < 1:
                low, high = one.interval(side, alpha)
                assert (pvalue <= alpha) == (not low <= null_value <= high)


def test_slopes_are_cut_and_so_are_limits():
    assert rule(1e6).interval("two-sided", 0.05) == rule(MOST_BENT / 0.1).interval(
        "two-sided", 0.05
    )
    assert rule(1e6).interval("two-sided", 0.001)[1] == 1
    assert rule(-1e6).interval("two-sided", 0.001)[0] == -1
    assert rule(1e6, most=math.inf).interval("two-sided", 0.001)[1] == math.inf
    assert rule(0.0).interval("less", 0.05)[0] == -1
    assert math.isnan(rule(1.0).pvalue(1.5, "two-sided"))
    assert math.isnan(rule(1.0).statistic)


def test_written_and_read():
    assert rule_from_dict(rule_to_dict(rule(1.5, null_value=0.0))) == rule(1.5, null_value=0.0)
