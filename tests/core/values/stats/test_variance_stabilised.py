"""Student's t on the scale on which the standard error is constant."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t as student

from tests.oracles import intervals as oracle
from ucvtest.stats.pivots import FOLLOWED, MET, MOST_BENT, BoundedScale, Stabilised

SIDES = ("two-sided", "less", "greater")
SLOPES = (-1e300, -1e6, -2.1, -1.0, 0.0, 1e-12, 0.7, 1.9, 1e6)
LEVELS = (1e-9, 1e-4, 0.01, 0.05, 0.3, 0.9)


def rule(slope, se=0.1, **rest):
    return Stabilised(0.2, se, 20.0, slope=slope, **{"least": -1.0, "most": 1.0, **rest})


def test_as_defined():
    low, high = rule(2.0).interval("two-sided", 0.2)
    t = student.ppf(0.9, 20)
    assert low == pytest.approx(0.2 - math.log(1 + 2 * 0.1 * t) / 2)
    assert high == pytest.approx(0.2 - math.log(1 - 2 * 0.1 * t) / 2)
    z = (math.exp(-2 * (0.05 - 0.2)) - 1) / (2 * 0.1)
    assert rule(2.0, null_value=0.05).statistic == pytest.approx(z)
    assert rule(2.0).pvalue(0.05, "two-sided") == pytest.approx(2 * student.sf(z, 20))
    assert rule(2.0).pvalue(0.05, "greater") == pytest.approx(student.sf(z, 20))
    assert rule(2.0).pvalue(0.05, "less") == pytest.approx(student.cdf(z, 20))


@pytest.mark.parametrize("slope", [-3.0, -1.5, 0.4, 1.9, 9.0])
@pytest.mark.parametrize("error", [0.0, 0.8])
def test_as_the_oracle_integrates_it(slope, error):
    one = rule(slope, slope_error=error, least=-math.inf, most=math.inf)
    for null_value in (-0.31, -0.05, 0.19, 0.2, 0.33, 0.47, 0.9):
        expected = oracle.stabilised_z(0.2, 0.1, slope, error, null_value)
        found = replace(one, null_value=null_value).statistic
        assert found == pytest.approx(expected, abs=1e-12)
    for side in SIDES:
        for alpha in (1e-6, 0.02, 0.4):
            expected = oracle.stabilised(0.2, 0.1, 20.0, slope, side, alpha, -3, 3, error)
            found = one.interval(side, alpha)
            assert np.clip(found, -3, 3) == pytest.approx(expected)


def test_a_slope_is_shrunk_by_its_error():
    for slope, error, kept in ((1.5, 0.0, 1.5), (1.5, 1.5, 0.75), (-1.0, 2.0, -0.2), (0.0, 1.0, 0)):
        scale = BoundedScale.of(slope, error, 0.1)
        assert scale.bend == pytest.approx(0.1 * kept)
    # What is not known at all is not followed.
    for slope, error in ((1.0, math.inf), (1.0, math.nan), (math.nan, 1.0), (0.0, 0.0)):
        assert BoundedScale.of(slope, error, 0.1).bend == 0


def test_statistics_of_many_are_those_of_each():
    estimates, errors = np.array([0.2, -0.3, 0.1, 0.4]), np.array([0.1, 0.2, 0.03, math.nan])
    slopes, unknown = np.array([2.0, -9.0, 0.0, 1.0]), np.array([1.0, 0.0, 2.0, 0.3])
    found = BoundedScale.of(slopes, unknown, errors).z(estimates / errors)
    each = [
        Stabilised(u, se, 20.0, slope=slope, null_value=0.0, slope_error=error).statistic
        for u, se, slope, error in zip(estimates, errors, slopes, unknown, strict=True)
    ]
    assert found == pytest.approx(each, nan_ok=True)
    reverse = BoundedScale.of(-slopes, unknown, errors).z(-estimates / errors)
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


@pytest.mark.parametrize("slope", SLOPES)
def test_each_side_is_within_bounds_of_walds_and_grows_with_the_level(slope):
    one, before = rule(slope, least=-math.inf, most=math.inf), (0.2, 0.2)
    for alpha in reversed(LEVELS):
        low, high = one.interval("two-sided", alpha)
        half = 0.1 * student.isf(alpha / 2, 20)
        for side in (0.2 - low, high - 0.2):
            assert 0.8 * half < side < 1.42 * half
        assert low < before[0] <= before[1] < high
        before = low, high


@pytest.mark.parametrize("df", [5.0, 39.0, 1e9])
@pytest.mark.parametrize("bend", [-MOST_BENT, MOST_BENT])
@pytest.mark.parametrize("side", SIDES)
def test_pvalues_are_within_a_factor_of_ten_of_walds(bend, df, side):
    for distance in np.linspace(-8, 8, 161):
        both = [Stabilised(distance, 1.0, df, slope=each).pvalue(0.0, side) for each in (bend, 0.0)]
        assert 0.1 < both[0] / both[1] < 10


def test_the_scale_rises_is_followed_and_straight_and_meets_walds():
    for bend in (-MOST_BENT, -0.05, 0.0, 0.1, MOST_BENT):
        scale, distances = BoundedScale(bend), np.linspace(-9, 9, 361)
        z = scale.z(distances)
        steps = np.diff(z)
        assert (steps > 0).all()
        assert scale.distance(z) == pytest.approx(distances, abs=1e-12)
        far = np.abs(distances) >= MET
        assert z[far] == pytest.approx(distances[far])
        for sign in (-1, 1):
            between = sign * np.linspace(FOLLOWED, MET, 9)
            assert np.diff(scale.distance(between), 2) == pytest.approx(0, abs=1e-12)
            expected = np.log1p(sign * FOLLOWED * bend) / bend if bend else sign * FOLLOWED
            assert scale.distance(sign * FOLLOWED) == pytest.approx(expected)
    assert BoundedScale(0.1).z(math.inf) == math.inf
    assert BoundedScale(0.1).distance(-math.inf) == -math.inf


def test_slopes_are_cut_and_so_are_limits():
    assert rule(1e6).interval("two-sided", 0.05) == rule(MOST_BENT / 0.1).interval(
        "two-sided", 0.05
    )
    assert rule(1e6).interval("two-sided", 1e-9)[1] == 1
    assert rule(-1e6, se=0.2).interval("two-sided", 1e-9)[0] == -1
    assert rule(0.0).interval("less", 0.05)[0] == -1
    assert math.isnan(rule(1.0).pvalue(1.5, "two-sided"))
    assert math.isnan(rule(1.0).statistic)
