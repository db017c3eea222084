"""The correlated Bayesian t test: against a loop and baycomp."""

import math

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import resampling as oracle
from tests.support.resampling import X, Y, draw, made_up, random_losses

KEYS = ("p_left", "p_rope", "p_right")


def probabilities(result):
    return tuple(result.diagnostics[name] for name in KEYS)


def posterior_of(losses, *args, rope=None, **options):
    return uv.BayesianTTest.from_losses(losses, *args, **options).fit(rope)


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.3])
@pytest.mark.parametrize(
    ("plan", "rho"), [(uv.designs.KFold(8, 2), 1 / 8), (uv.designs.RandomSplits(15, 0.25), 1 / 4)]
)
def test_probabilities_are_those_of_the_paper(plan, rho, rope):
    losses = random_losses(plan.draw(40, np.random.default_rng(3)))
    means = losses.means[0] - losses.means[1]
    result = posterior_of(losses, rope=rope)
    assert probabilities(result) == pytest.approx(
        oracle.correlated_bayesian_t(means.tolist(), rho, rope)
    )
    found = result.posterior
    assert (found.p_left, found.p_rope, found.p_right) == probabilities(result)
    assert (found.rope, found.rope_center) == (rope, 0)


FIRST = [13, 11, 12, 16, 15, 12, 19, 12, 12, 14, 15, 15, 15, 14, 14, 14, 8, 12, 13, 9, 16, 16, 13]
FIRST += [17, 17, 14, 14, 11, 13, 14]
SECOND = [13, 14, 18, 15, 12, 15, 14, 18, 11, 15, 14, 10, 13, 11, 12, 12, 16, 13, 13, 11, 14, 13]
SECOND += [16, 14, 14, 15, 11, 14, 9, 13]


@pytest.mark.parametrize(
    ("rope", "plan", "expected"),
    [
        (
            0.01,
            uv.designs.KFold(30),
            (0.5152997913592738, 0.1753210124973228, 0.30937919614340337),
        ),
        (
            0.01,
            uv.designs.KFold(10, 3),
            (0.5104848187512743, 0.12309638274395707, 0.36641879850476866),
        ),
        (
            0.05,
            uv.designs.KFold(10, 3),
            (0.27337748210190776, 0.5592579830775639, 0.16736453482052838),
        ),
        (0.0, uv.designs.KFold(30), (0.6057875142725563, 0.0, 0.3942124857274437)),
    ],
)
def test_values_of_baycomp(rope, plan, expected):
    """baycomp 1.0.3 (SciPy 1.17.1): accuracies in twentieths, 30 folds or 3 times 10."""
    design = plan.draw(60, np.random.default_rng(0))
    values = 1 - np.array([FIRST, SECOND])[:, :, None] / 20
    result = posterior_of(made_up(design, values, "log"), rope=rope)
    assert probabilities(result) == pytest.approx(expected)


def test_the_credible_interval_is_the_confidence_interval_of_the_corrected_t():
    losses = random_losses(draw(uv.BayesianTTest))
    corrected = uv.CorrectedTTest.from_losses(losses, alternative="less").fit()
    result = posterior_of(losses, rope=0)
    assert result.conf_int(0.1) == pytest.approx(
        uv.CorrectedTTest.from_losses(losses).fit().conf_int(0.1)
    )
    # H1 "less" is accepted where the posterior has little mass above zero.
    assert result.diagnostics["p_right"] == pytest.approx(corrected.pvalue)


def test_one_learner_has_an_interval_and_no_probabilities():
    test = uv.BayesianTTest(X, Y, "lda")
    result = test.fit(rng=0)
    assert all(map(math.isnan, probabilities(result)))
    assert result.posterior is None
    assert not result.tables
    compared = uv.BayesianTTest(X, Y, "lda", null_value=0.5).fit(rng=0)
    assert compared.diagnostics["p_left"] > 0.99
    assert compared.diagnostics["rope"] == 0.01
