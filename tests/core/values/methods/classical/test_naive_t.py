"""The naive t test: what everybody computes."""

import numpy as np
import pytest
from scipy import stats

import ucvtest as uv
from tests.support.resampling import random_losses


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(
    "plan", [uv.designs.KFold(10), uv.designs.KFold(5, 3), uv.designs.RandomSplits(30, 0.3)]
)
def test_it_is_the_paired_t_test_of_scipy(plan, alternative):
    losses = random_losses(plan.draw(40, np.random.default_rng(0)))
    result = uv.NaiveTTest.from_losses(losses, alternative=alternative).fit()
    expected = stats.ttest_rel(*losses.means, alternative=alternative)
    assert tuple(result) == pytest.approx((expected.statistic, expected.pvalue))
    interval = expected.confidence_interval(0.9)
    assert result.conf_int(0.1) == pytest.approx((interval.low, interval.high))


def test_the_claims_of_the_docstring():
    """Size with J normal means of which any two have correlation 0.1: exact."""

    def size(n_means, rho=0.1):
        factor = np.sqrt(1 + n_means * rho / (1 - rho))
        reference = stats.t(n_means - 1)
        return 2 * reference.sf(reference.isf(0.025) / factor)

    assert size(10) == pytest.approx(0.154, abs=5e-4)
    assert size(1000) > 0.8
