"""The U-statistic test from few fits: any budget answers, on the pairs that are drawn anyway."""

import math

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles.few_fits import few_fits
from tests.support.samples import breast_cancer
from ucvtest.kernels.ustatistic.contrasts import Estimate
from ucvtest.metrics.means import MOST_LOG_LOSS

SAMPLE = breast_cancer(40, 4)
X, Y = SAMPLE.matrix, SAMPLE.response
PAIR = ("nearest_centroid", "knn:3")
CLUSTERS = np.arange(40) // 2


def drawn(n_draws, loss="zero_one", y=Y, learners=PAIR):
    design = uv.designs.DisjointSets(learn_size=19, n_draws=n_draws)
    return uv.evaluate(list(learners), X, y, design, loss, rng=3)


def rounds_of(losses):
    """Losses and learning sets of the rounds, as the derivation has them."""
    learning = losses.design.learning
    first, other = losses.array
    difference = first - other
    sets = [[set(np.flatnonzero(one)) for one in learning[i : i + 2]] for i in (0, 2, 4, 6)]
    return [difference[i : i + 2] for i in (0, 2, 4, 6)], sets


def test_the_test_is_that_of_the_derivation():
    losses = drawn(4)
    estimate, variance, noise, df, _ = few_fits(*rounds_of(losses), 19)
    found = uv.UStatisticTest.from_losses(losses).fit(variance="few")
    assert found.estimate == pytest.approx(estimate, rel=1e-12)
    assert found.variance == pytest.approx(variance, rel=1e-10)
    assert found.se == pytest.approx(math.sqrt(variance + noise / 4), rel=1e-10)
    assert found.df == pytest.approx(df, rel=1e-10)
    assert found.reference == "t"
    assert found.statistic == pytest.approx(found.estimate / found.se, rel=1e-12)


@pytest.mark.parametrize("max_fits", [12, 40, 400])
@pytest.mark.parametrize("options", [{}, {"groups": CLUSTERS}], ids=["rows", "clusters"])
@pytest.mark.parametrize("loss", ["zero_one", "squared"])
def test_every_budget_answers(max_fits, options, loss):
    y, learners = (Y, PAIR) if loss == "zero_one" else (X[:, 1] + 0.0, ("ridge:1.0", "knn:3"))
    for pair in (learners, learners[:1]):
        found = uv.UStatisticTest(X[:, :1], y, *pair, loss=loss, **options)
        result = found.fit(max_fits=max_fits, rng=1)
        assert result.status == "ok"
        assert result.n_fits <= max_fits
        low, high = result.conf_int()
        assert low < result.estimate < high


def test_where_auto_ends_the_same_pairs_answer():
    test = uv.UStatisticTest(X, Y, *PAIR)
    short, asked = test.fit(max_fits=160, rng=5), test.fit(variance="few", max_fits=160, rng=5)
    assert short.n_fits == asked.n_fits == 160
    assert (short.estimate, short.se, short.pvalue) == (asked.estimate, asked.se, asked.pvalue)
    assert test.fit(tol=0.1, rng=5).diagnostics["variance"] == "midpoint"
    ten = test.fit(10, rng=5)
    assert (ten.status, ten.diagnostics["variance"]) == ("ok", "few")


def test_losses_that_never_differ_have_no_test():
    result = uv.UStatisticTest(X, Y, "knn:3", "knn:3").fit(variance="few", n_pairs=5, rng=0)
    assert result.status.startswith("degenerate")
    never = uv.UStatisticTest(X, np.r_[Y[:1].repeat(39), 1 - Y[:1]], "majority")
    assert never.fit(variance="few", n_pairs=5, rng=0).status == "ok"


def test_a_variance_estimated_below_zero_is_left_to_few_fits():
    """Squares stand in for negative products, and are off by more than what they say."""
    test = uv.UStatisticTest(X, Y, "lda", "ridge:0.1")
    full = test.fit(n_pairs=40, variance="midpoint", rng=0)
    assert full.status.startswith("too few resamples: the Monte-Carlo standard error")
    assert np.isnan(full.pvalue)
    usual = test.fit(n_pairs=40, rng=0)
    assert usual.status == "ok"
    assert usual.diagnostics["variance"] == "few"
    assert usual.se > 0


def test_a_variance_of_zero_is_not_reliable_however_small_its_error():
    of_parts_below_zero = Estimate(0.1, 0.0, {"midpoint": 0.0}, {"midpoint": 0.0}, 2.0, np.zeros(3))
    assert not of_parts_below_zero.reliable("midpoint")


def test_log_losses_that_would_be_infinite_are_counted():
    fitted = uv.UStatisticTest(X, Y, "knn:1", loss="log").fit(n_pairs=10, rng=0)
    losses = drawn(20, "log", learners=("knn:1",))
    number = uv.UStatisticTest.from_losses(losses).fit().diagnostics["certain_and_wrong"]
    assert number == np.count_nonzero(losses.values > 36)
    assert fitted.diagnostics["certain_and_wrong"] > 0
    usual = uv.UStatisticTest(X, Y, "lda", loss="brier").fit(n_pairs=10, rng=0)
    assert "certain_and_wrong" not in usual.diagnostics


def test_infinite_log_losses_of_fixed_rules_are_counted_in_scores_too():
    for options in ({"loss": "log"}, {"scoring": "neg_log_loss"}):
        result = uv.HoldOutTest(X, Y, "knn:1", **options).fit(rng=0)
        number = result.diagnostics["certain_and_wrong"]
        # All losses are 36 or next to nothing, and 8 rows are tested.
        assert number == round(8 * abs(result.estimate) / MOST_LOG_LOSS) > 0
