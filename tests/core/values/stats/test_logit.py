"""Intervals on the logit scale: by hand, and between 0 and 1."""

import pytest
from scipy.special import expit, logit
from scipy.stats import t as student

from ucvtest.stats.pivots import on_logit


def test_by_hand():
    found = on_logit(0.8, 0.05, 17.5, 0.6)
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


@pytest.mark.parametrize("estimate", [0.0, 0.0004, 0.9996, 1.0])
@pytest.mark.parametrize("se", [1e-6, 0.0004, 0.05])
def test_the_estimate_is_never_left_out_nor_rejected(estimate, se):
    found = on_logit(estimate, se, 30.0)
    low, high = found.interval("two-sided", 0.05)
    assert low <= estimate <= high
    assert found.pvalue(estimate, "two-sided") == 1
    for side in ("less", "greater"):
        low, high = found.interval(side, 0.05)
        assert low <= estimate <= high
        assert found.pvalue(estimate, side) == 0.5


def test_one_sided_intervals_end_where_shares_do():
    found = on_logit(0.7, 0.1, 20.0)
    assert found.interval("less", 0.05)[0] == 0
    assert found.interval("greater", 0.05)[1] == 1
