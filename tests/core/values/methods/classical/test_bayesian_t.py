"""The correlated Bayesian t test: against a loop and baycomp, and its verdict in words."""

import math
from dataclasses import replace

import numpy as np
import pytest

import ucvtest as uv
from tests.core.promises.resampling_contract import (
    ResamplingContract,
    X,
    Y,
    draw,
    made_up,
    random_losses,
)
from tests.oracles import resampling as oracle
from ucvtest.results.fields import Posterior
from ucvtest.results.wording import verdict

KEYS = ("p_left", "p_rope", "p_right")


class TestContract(ResamplingContract):
    cls = uv.BayesianTTest
    tests_a_null = False
    other_design = uv.designs.SplitHalves(3, 2)
    refusal = "does not split the sample in the same proportion"


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


def test_no_null_hypothesis_is_tested():
    result = posterior_of(random_losses(draw(uv.BayesianTTest)))
    assert all(map(math.isnan, (result.statistic, result.pvalue, result.null_value)))
    assert result.notes[0].startswith("No null hypothesis is tested and there is no p-value")
    words = " ".join(result.summary(notes=True).as_text().split())
    assert "Posterior: t (9 df)" in words
    assert "p-value " not in words.split("Verdict")[0]
    assert "Posterior probabilities" in words
    assert result.plot_kinds == ("interval", "posterior")


def known(p_left, p_rope, p_right, rope=0.01, center=0.0, **changes):
    """A result with these probabilities."""
    result = posterior_of(random_losses(draw(uv.BayesianTTest)))
    settings = {**result.settings, "learner": "lda", "other": "knn:1"}
    return replace(
        result,
        estimate=-0.05,
        se=0.03,
        estimand="difference of error rates",
        posterior=Posterior(p_left, p_rope, p_right, rope, center),
        settings={**settings, **changes},
    )


CLAUSE = "the difference of error rates is -0.050 (95% credible interval -0.118 to 0.018, "


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (
            known(0.932, 0.048, 0.02),
            "Probability 0.93 that the first learner (lda) is better by more than 0.01, 0.05 that "
            "the two learners differ by at most 0.01 and 0.02 that the second learner (knn:1) is "
            "better by more than 0.01: ",
        ),
        (
            known(0.0001, 0.9999, 0.0),
            "Probability above 0.99 that the two learners differ by at most 0.01, below 0.01 that "
            "the first learner (lda) is better by more than 0.01 and below 0.01 that the second "
            "learner (knn:1) is better by more than 0.01: ",
        ),
        (
            known(0.2, 0.0, 0.8, rope=0.0),
            "Probability 0.80 that the second learner (knn:1) is better and 0.20 that the first "
            "learner (lda) is better: ",
        ),
        (
            known(0.2, 0.3, 0.5, center=0.4, other=None),
            "Probability 0.50 that the difference of error rates is above 0.41, 0.30 that it lies "
            "between 0.39 and 0.41 and 0.20 that it is below 0.39: ",
        ),
        (
            known(0.2, 0.0, 0.8, rope=0.0, learner="f{x}"),
            "Probability 0.80 that the second learner (knn:1) is better and 0.20 that the first "
            "learner (f{x}) is better: ",
        ),
    ],
)
def test_the_verdict_is_the_posterior(result, expected):
    assert verdict(result) == f"{expected}{CLAUSE}assuming rho = 0.1)."


def test_higher_is_better_for_an_auc():
    result = known(0.9, 0.06, 0.04)
    turned = replace(result, better="higher")
    assert verdict(turned).startswith("Probability 0.90 that the second learner (knn:1) is better")


def test_one_sided_credible_interval():
    result = posterior_of(random_losses(draw(uv.BayesianTTest)), alternative="less")
    assert result.conf_int()[0] == -math.inf
    assert "one-sided 95% credible interval up to" in result.verdict


def test_one_learner_has_an_interval_and_no_probabilities():
    test = uv.BayesianTTest(X, Y, "lda")
    with pytest.raises(ValueError, match=r"^rope does not apply: one learner without null_value"):
        test.fit(0.01)
    result = test.fit(rng=0)
    assert all(map(math.isnan, probabilities(result)))
    assert result.posterior is None
    assert not result.tables
    assert result.verdict.startswith("The error rate when learning from 72 observations is ")
    assert "95% credible interval" in result.verdict
    compared = uv.BayesianTTest(X, Y, "lda", null_value=0.5).fit(rng=0)
    assert compared.diagnostics["p_left"] > 0.99
    assert compared.diagnostics["rope"] == 0.01


def test_the_default_region_is_said_to_be_none_for_losses_in_other_units():
    note = "pass rope in the units of the mean squared error"
    squared = random_losses(draw(uv.BayesianTTest))
    errors = made_up(draw(uv.BayesianTTest), np.eye(2)[:, None].repeat(20, 2), "zero_one")
    assert note in " ".join(posterior_of(squared).notes)
    for without in (posterior_of(squared, rope=0.01), posterior_of(errors)):
        assert "pass rope" not in " ".join(without.notes)
    assert "pass rope" not in " ".join(posterior_of(squared, 0).notes)


@pytest.mark.parametrize("rope", [-0.1, math.nan, math.inf, "0.1", True])
def test_rope_is_checked_before_anything_is_fitted(rope):
    with pytest.raises(ValueError, match=r"^rope must be a finite number of at least 0, got "):
        uv.BayesianTTest(X, Y, lambda *_: 1 / 0, "lda").fit(rope)


def test_the_picture_shows_the_region():
    picture = posterior_of(random_losses(draw(uv.BayesianTTest)), rope=0.2).pictures["posterior"]
    assert picture.layers[-1].x.tolist() == [-0.2, 0.2]
    none = posterior_of(random_losses(draw(uv.BayesianTTest)), rope=0.0).pictures["posterior"]
    assert (none.layers[-1].x.tolist(), none.layers[-1].label) == ([0.0], "reference value")
