"""The U-statistic test of the AUC from few fits: any budget answers."""

import math

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles.few_fits_auc import few_fits_of_auc
from ucvtest.designs.design import Design

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat([0, 1], [24, 16]))
X = np.round(RNG.normal(size=(40, 3)) + 0.7 * Y[:, None], 1)
PAIR = ("lda", "gaussian_nb")
MEMBERS = [np.flatnonzero(label == Y) for label in (1, 0)]


def pairs_of_sets(n_pairs):
    """Neighbours are disjoint, with as many of each class."""
    learning = np.zeros((2 * n_pairs, 40), dtype=bool)
    rng = np.random.default_rng(5)
    for first, second in learning.reshape(n_pairs, 2, 40):
        for members in MEMBERS:
            order, g = rng.permutation(members), len(members) // 2 - 1
            first[order[:g]] = second[order[g : 2 * g]] = True
    return learning


def test_scores_that_exist_give_the_test_of_the_derivation():
    learning = pairs_of_sets(4)
    losses = uv.evaluate(list(PAIR), X, Y, Design.checked(learning), "auc", rng=0)
    scores = {}
    for sign, values in zip((1, -1), losses.values, strict=True):
        table = np.zeros(learning.shape)
        table[~learning] = values
        scores[sign] = table.reshape(4, 2, 40)
    rounds = [[set(np.flatnonzero(one)) for one in learning[k : k + 2]] for k in (0, 2, 4, 6)]
    estimate, variance, noise, df, _ = few_fits_of_auc(scores, rounds, MEMBERS)
    for asked in ("few", "auto"):
        found = uv.UStatisticTest.from_losses(losses).fit(variance=asked)
        assert (found.status, found.diagnostics["variance"]) == ("ok", "few")
        assert found.estimate == pytest.approx(estimate, rel=1e-10)
        assert found.variance == pytest.approx(variance, rel=1e-10)
        assert found.se == pytest.approx(math.sqrt(variance + noise / 4), rel=1e-10)
        assert found.df == pytest.approx(df, rel=1e-10)
        own = found.tables["Learners"]["estimate"]
        assert own[0] - own[1] == pytest.approx(found.estimate, abs=1e-12)


@pytest.mark.parametrize("max_fits", [12, 40, 400])
@pytest.mark.parametrize("learners", [PAIR, PAIR[:1]], ids=["two", "one"])
def test_every_budget_answers(max_fits, learners):
    result = uv.UStatisticTest(X, Y, *learners, loss="auc").fit(max_fits=max_fits, rng=1)
    assert result.status == "ok"
    assert result.n_fits <= max_fits
    low, high = result.conf_int()
    assert low < result.estimate < high
    assert len(learners) == 2 or (low >= 0 and high <= 1)


def test_where_auto_ends_the_same_pairs_answer():
    test = uv.UStatisticTest(X, Y, *PAIR, loss="auc")
    short, asked = test.fit(max_fits=400, rng=5), test.fit(variance="few", max_fits=400, rng=5)
    assert short.n_fits == asked.n_fits == 400
    assert (short.estimate, short.se, short.pvalue) == (asked.estimate, asked.se, asked.pvalue)
    ten = test.fit(10, rng=5)
    assert (ten.status, ten.diagnostics["variance"]) == ("ok", "few")
    assert test.fit(500, rng=5).diagnostics["variance"] == "midpoint"


def test_learners_that_rank_alike_have_no_test():
    test = uv.UStatisticTest(X, Y, "lda", "lda", loss="auc")
    assert "ranked every tested pair alike" in test.fit(variance="few", n_pairs=5, rng=0).status
    separated = uv.UStatisticTest(Y[:, None] * 1.0, Y, lambda a, b, c: c[:, 0], loss="auc")
    result = separated.fit(variance="few", n_pairs=5, rng=0)
    assert (result.estimate, "separated completely" in result.status) == (1.0, True)
    equal = uv.UStatisticTest(X, Y, lambda a, b, c: np.zeros(len(c)), loss="auc")
    assert equal.fit(variance="few", n_pairs=5, rng=0).estimate == 0.5


GROUPS = np.arange(40) // 2
SAMPLES = {
    "clusters with both classes": (Y, {"groups": GROUPS}),
    "clusters by rows": (Y, {"groups": GROUPS, "group_weight": "row"}),
    "clusters of one class": (Y, {"groups": np.where(Y == 1, np.cumsum(Y) // 2, 50 + GROUPS)}),
    "three classes": (np.arange(40) % 3, {}),
    "one class against the rest": (np.arange(40) % 3, {"pos_label": 1}),
    "clusters with three classes": (np.arange(40) % 3, {"groups": GROUPS}),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_clusters_and_several_classes_answer_at_every_budget(name):
    y, options = SAMPLES[name]
    test = uv.UStatisticTest(X, y, *PAIR, loss="auc", **options)
    for max_fits in (12, 40, 400):
        result = test.fit(max_fits=max_fits, rng=1)
        assert (result.status, result.n_fits <= max_fits) == ("ok", True)
        low, high = result.conf_int()
        assert low < result.estimate < high


@pytest.mark.parametrize(
    ("name", "words"),
    [("three classes", "as by equal scores"), ("clusters by rows", "every cluster was ranked")],
)
def test_equal_scores_have_no_variance(name, words):
    y, options = SAMPLES[name]

    def equal(X_learn, y_learn, X_test):
        return np.zeros((len(X_test), len(np.unique(y)))[: 1 + (len(np.unique(y)) > 2)])

    test = uv.UStatisticTest(X, y, equal, loss="auc", **options)
    result = test.fit(variance="few", n_pairs=3, rng=0)
    assert result.estimate == pytest.approx(0.5)
    assert words in result.status
