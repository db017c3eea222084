"""Variance "share": the jackknife's, times what the midpoint variance leaves of it at half."""

import math

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.common.execution import Execution
from ucvtest.evaluation.loss_source import FittedLosses
from ucvtest.kernels import auc_ustatistic
from ucvtest.kernels.ustatistic.aucs import AucEstimate
from ucvtest.methods.influence.half_sample_variance import HalfSampleShare, draw_shares


def sample(n_negative=22, n_positive=18, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_negative, n_positive])
    return rng.normal(size=(len(y), 3)) + 0.8 * y[:, None], y


X, Y = sample()


@pytest.mark.parametrize("learners", [("lda",), ("lda", "gaussian_nb")])
def test_equals_the_kernel_on_the_same_learning_sets(learners, monkeypatch):
    kept = []

    class Watched(FittedLosses):
        def losses_for(self, learning, testing, seeds):
            values = super().losses_for(learning, testing, seeds)
            kept.append((learning, values))
            return values

    # Several parts.
    monkeypatch.setattr(
        "ucvtest.methods.influence.half_sample_variance.STAGE_CELLS", 200 * 2 * len(Y)
    )
    test = uv.InfluenceFunctionTest(X, Y, *learners)
    source = Watched(test.question.data(""), Execution.of(0, None, None))
    found = draw_shares(test._layout, source, np.random.default_rng(0))
    assert [len(learning) for learning, _ in kept] == [400, 400, 400]
    learnt = np.concatenate([learning for learning, _ in kept])
    assert (learnt[:, Y == 0].sum(axis=1) == 10).all()
    assert (learnt[:, Y == 1].sum(axis=1) == 8).all()
    cluster = np.concatenate([200 * k + np.arange(400) % 200 for k in range(3)])
    # The two sets of a pair have nothing in common.
    assert not any((learnt[cluster == k].sum(axis=0) > 1).any() for k in range(600))
    scores = [np.concatenate([values[k] for _, values in kept]) for k in range(len(learners))]
    contrasts = [scores[:2], scores[:1], scores[1:]] if len(learners) == 2 else [scores]
    for share, chosen in zip(found, contrasts, strict=True):
        expected = auc_ustatistic.from_scores(chosen[0], learnt, Y, *chosen[1:], cluster=cluster)
        value = expected["variance"] / expected["jackknife"]
        assert share.value == pytest.approx(min(value, 1), rel=1e-9)
        assert (share.mc_se > 0) == (value < 1)


@pytest.mark.parametrize("scheme", ["monte_carlo", "repeated"])
@pytest.mark.parametrize("learners", [("lda",), ("lda", "gaussian_nb")])
def test_in_the_class(learners, scheme):
    data = sample(20, 20)
    test = uv.InfluenceFunctionTest(*data, *learners)
    whole, result = (test.fit(scheme=scheme, variance=name, rng=1) for name in ("auto", "share"))
    assert result.status == "ok"
    assert (result.estimate, result.df, result.reference) == (whole.estimate, whole.df, "t")
    assert result.n_fits - whole.n_fits == 1200 * len(learners)
    assert result.diagnostics["variance_jackknife"] == whole.variance
    share = result.variance / whole.variance
    assert 0.4 < share < 1
    assert "variance_share" not in whole.diagnostics
    # The same share as that of another test, up to the Monte-Carlo errors of both.
    half = uv.UStatisticTest(*data, *learners, loss="auc").fit(n_pairs=3000, rng=2)
    of_half = half.diagnostics["variance_midpoint"] / half.diagnostics["variance_jackknife"]
    errors = np.hypot(
        *(each.diagnostics["mc_se_variance"] / each.variance for each in (result, half))
    )
    assert abs(share - of_half) < 4 * errors * share
    low, high = result.conf_int()
    assert high - low < np.subtract(*whole.conf_int()[::-1])
    assert (result.rule is None) == (len(learners) == 2)


def test_each_learner_has_its_own_share():
    data = sample(20, 20)
    both = uv.InfluenceFunctionTest(*data, "lda", "gaussian_nb").fit(variance="share", rng=1)
    alone = uv.InfluenceFunctionTest(*data, "lda").fit(variance="share", rng=1)
    assert both.tables["Learners"]["se"][0] == pytest.approx(alone.se, rel=1e-9)


@pytest.mark.parametrize(
    ("variance", "jackknife", "value"),
    [(0.6, 1.0, 0.6), (1.2, 1.0, 1.0), (math.nan, 0.0, 1.0), (1.0, 1.0, 1.0)],
)
def test_nothing_is_added_to_the_jackknife(variance, jackknife, value):
    values = {"midpoint": variance, "jackknife": jackknife}
    errors = {"midpoint": 0.03, "jackknife": 0.04}
    share = HalfSampleShare.of(AucEstimate(0.1, 0.0, values, errors, 9.0, np.zeros(0)))
    assert share.value == value
    expected = 0.6 * math.hypot(0.03 / 0.6, 0.04) if value < 1 else 0
    assert share.mc_se == pytest.approx(expected)
    less, mc_se = share.of_variance(2.0, 0.3)
    assert (less, mc_se) == pytest.approx((2 * value, math.hypot(value * 0.3, 2 * expected)))
