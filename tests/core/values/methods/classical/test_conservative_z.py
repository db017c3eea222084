"""The conservative z test: against a loop, and against the variance it stands for."""

import numpy as np
import pytest
from scipy import stats

import ucvtest as uv
from tests.oracles import resampling as oracle
from tests.support.cells import repeated
from tests.support.resampling import X, Y, made_up, random_losses


@pytest.mark.parametrize(("n_splits", "n_bisections"), [(15, 10), (2, 1), (3, 4)])
@pytest.mark.parametrize("n_obs", [40, 41])
def test_estimate_and_variance_are_those_of_a_loop(n_splits, n_bisections, n_obs):
    plan = uv.designs.SplitHalves(n_splits, n_bisections)
    losses = random_losses(plan.draw(n_obs, np.random.default_rng(2)))
    result = uv.ConservativeZTest.from_losses(losses, null_value=-0.1).fit()
    means = losses.means[0] - losses.means[1]
    estimate, variance = oracle.conservative_z(means, n_splits, n_bisections)
    assert (result.estimate, result.variance) == pytest.approx((estimate, variance))
    z = (estimate + 0.1) / np.sqrt(variance)
    assert tuple(result) == pytest.approx((z, 2 * stats.norm.sf(abs(z))))
    assert np.isnan(result.df)


@pytest.mark.seconds(9, reason="a bias shows in many samples alone")
def test_the_variance_is_unbiased_for_half_of_the_sample():
    """Losses that depend on the observation alone: the variance of the mean is then known."""
    rng = np.random.default_rng(8)
    plan, n_obs, n_draws = uv.designs.SplitHalves(4, n_bisections=2), 20, repeated(1500)
    variances, halves = [], []
    for _ in range(n_draws):
        design = plan.draw(n_obs, rng)
        result = uv.ConservativeZTest.from_losses(
            made_up(design, rng.normal(size=(1, 1, n_obs)), "normal", greater_is_better=False),
            null_value=0.0,
        ).fit()
        variances.append(result.variance)
        halves.append(result.diagnostics["half_means"][0, 0])
    truth = np.var(halves, ddof=1)
    error = np.hypot(np.std(variances) / np.sqrt(n_draws), truth * np.sqrt(2 / n_draws))
    assert abs(np.mean(variances) - truth) < 4 * error


def test_the_number_of_bisections_changes_the_variance_alone():
    few, many = (
        uv.ConservativeZTest(X, Y, "lda", "knn:1", design=uv.designs.SplitHalves(5, number))
        for number in (2, 3)
    )
    first, second = few.fit(rng=0), many.fit(rng=0)
    assert first.estimate == second.estimate
    assert first.variance != second.variance


def test_a_half_without_auc_leaves_no_variance():
    design = uv.designs.SplitHalves(3, 2, 0.25).draw(40, np.random.default_rng(0))
    y = np.arange(40) % 2
    y[design.testing[-1]] = 0
    scores = np.random.default_rng(1).random((2, *design.testing.shape))
    losses = made_up(design, scores, "auc", y=y)
    assert np.isnan(losses.means[:, 3:]).any()
    result = uv.ConservativeZTest.from_losses(losses).fit()
    assert np.isfinite(result.estimate)
    assert result.status.startswith(("no estimate", "no variance estimate"))
    assert np.isnan(result.pvalue)
