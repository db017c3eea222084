"""Intervals on the logit scale: by hand, between 0 and 1, and as their p-values have them."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student

from ucvtest.stats.interval_rules import rule_from_dict, rule_to_dict
from ucvtest.stats.logit import LogitT

SIDES = ("two-sided", "less", "greater")


def test_by_hand():
    found = LogitT(0.8, 0.05, 17.5, 0.6)
    se = 0.05 / (0.8 * 0.2)
    half = student.ppf(0.975, 17.5) * se
    assert found.interval("two-sided", 0.05) == pytest.approx(
        (expit(logit(0.8) - half), expit(logit(0.8) + half))
    )
    assert found.statistic == pytest.approx((logit(0.8) - logit(0.6)) / se)
    two_sided = 2 * student.sf(found.statistic, 17.5)
    assert found.pvalue(0.6, "two-sided") == pytest.approx(two_sided)
    assert found.pvalue(0.6, "greater") == pytest.approx(two_sided / 2)
    assert found.pvalue(0.6, "less") == pytest.approx(1 - two_sided / 2)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("estimate", [-0.01, 0.0004, 0.3, 0.97, 1.01])
def test_pvalue_and_interval_agree(side, estimate):
    found = LogitT(estimate, 0.03, 9.0)
    for null in (0.0, 0.01, 0.29, 0.5, 0.99, 1.0):
        pvalue = found.pvalue(null, side)
        for alpha in (pvalue * (1 - 1e-6), pvalue * (1 + 1e-6), 0.05):
            if 0 < alpha < 1:
                low, high = found.interval(side, alpha)
                assert 0 <= low <= high <= 1
                if 0 < null < 1:
                    assert (pvalue <= alpha) == (not low <= null <= high)


@pytest.mark.parametrize("estimate", [0.0, 0.0004, 0.9996, 1.0])
@pytest.mark.parametrize("se", [1e-6, 0.0004, 0.05])
def test_the_estimate_is_never_left_out_nor_rejected(estimate, se):
    found = LogitT(estimate, se, 30.0)
    low, high = found.interval("two-sided", 0.05)
    assert low <= estimate <= high
    assert found.pvalue(estimate, "two-sided") == 1
    for side in ("less", "greater"):
        low, high = found.interval(side, 0.05)
        assert low <= estimate <= high
        assert found.pvalue(estimate, side) == 0.5


def test_one_sided_intervals_end_where_shares_do():
    found = LogitT(0.7, 0.1, 20.0)
    assert found.interval("less", 0.05)[0] == 0
    assert found.interval("greater", 0.05)[1] == 1


def test_without_a_value_that_can_be_tested():
    for null in (math.nan, -0.1, 1.1):
        assert math.isnan(LogitT(0.7, 0.1, 20.0).pvalue(null, "less"))
    assert math.isnan(LogitT(0.7, 0.1, 20.0).statistic)


def test_written_and_read():
    counts = LogitT(0.7, 0.1, 20.0, 0.5)
    assert rule_from_dict(rule_to_dict(counts)) == counts
    assert np.isfinite(rule_from_dict(rule_to_dict(counts)).interval("less", 0.1)).all()
