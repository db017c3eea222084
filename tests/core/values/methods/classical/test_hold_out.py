"""The hold-out test: Student's t test of the test observations, the exact binomial beside it."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import ucvtest as uv
from tests.support.resampling import made_up, random_losses

ONE = uv.designs.HoldOut(0.5)


def split(n_obs=40):
    return ONE.draw(n_obs, np.random.default_rng(0))


def errors(n_errors, n_tested=20):
    """Zero-one losses of one learner."""
    design = split(2 * n_tested)
    values = np.zeros((1, 1, 2 * n_tested))
    values[0, 0, np.flatnonzero(design.testing[0])[:n_errors]] = 1
    return made_up(design, values)


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_it_is_the_paired_t_test_of_scipy(alternative):
    losses = random_losses(split())
    result = uv.HoldOutTest.from_losses(losses, alternative=alternative).fit()
    expected = stats.ttest_rel(*losses.values, alternative=alternative)
    assert tuple(result) == pytest.approx((expected.statistic, expected.pvalue))


@pytest.mark.parametrize("n_errors", [1, 7, 19])
def test_exact_interval_is_that_of_statsmodels(n_errors):
    result = uv.HoldOutTest.from_losses(errors(n_errors), null_value=0.4).fit()
    table = result.tables["Intervals"]
    t, exact = zip(table["conf_low"], table["conf_high"], strict=True)
    assert exact == pytest.approx(proportion_confint(n_errors, 20, method="beta"))
    assert exact == result.conf_int()
    rate, se = n_errors / 20, np.sqrt(n_errors * (20 - n_errors) / (20**2 * 19))
    half = stats.t.isf(0.025, 19) * se
    # An error rate lies between 0 and 1.
    assert t == pytest.approx((max(rate - half, 0), min(rate + half, 1)))
    assert table["pvalue"][1] == result.pvalue
    tails = stats.binom.cdf(n_errors, 20, 0.4), stats.binom.sf(n_errors - 1, 20, 0.4)
    assert result.pvalue == pytest.approx(2 * min(tails))
    assert (result.statistic, result.reference) == (n_errors, "exact binomial")


@pytest.mark.parametrize("alternative", ["less", "greater"])
def test_both_intervals_have_the_same_side(alternative):
    result = uv.HoldOutTest.from_losses(errors(6), null_value=0.4, alternative=alternative).fit()
    table = result.tables["Intervals"]
    assert np.isinf([table["conf_low"][0], table["conf_high"][0]]).sum() == 1
    assert (table["conf_low"][1], table["conf_high"][1]) == result.conf_int()
    low, high = proportion_confint(6, 20, alpha=0.1, method="beta")
    expected = (0, high) if alternative == "less" else (low, 1)
    assert (table["conf_low"][1], table["conf_high"][1]) == pytest.approx(expected)


def test_no_error_has_an_exact_interval():
    result = uv.HoldOutTest.from_losses(errors(0)).fit()
    assert result.status == "ok"
    assert result.conf_int() == (0.0, pytest.approx(0.16843, abs=1e-5))
    table = result.tables["Intervals"]
    assert "pvalue" not in table
    assert np.isnan([table["conf_low"][0], table["conf_high"][0]]).all()
    assert (table["conf_low"][1], table["conf_high"][1]) == (0.0, pytest.approx(0.16843, abs=1e-5))
