"""The ratio of mean losses from few fits: the full ratio's answers, with the few-fits variance."""

import math

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles.few_fits import few_fits_ratio
from tests.support.samples import breast_cancer

SAMPLE = breast_cancer(40, 4)
X, Y = SAMPLE.matrix[:, :2], SAMPLE.matrix[:, 2] + 0.0
PAIR = ("ridge:1.0", "knn:3")
CLUSTERS = np.arange(40) // 2


def ratio_of(*learners, y=Y, **options):
    return uv.UStatisticTest(X, y, *learners, loss="squared", contrast="ratio", **options)


def test_the_test_is_that_of_the_derivation():
    design = uv.designs.DisjointSets(learn_size=19, n_draws=4)
    losses = uv.evaluate(list(PAIR), X, Y, design, "squared", rng=3)
    learning, starts = losses.design.learning, range(0, 8, 2)
    sets = [[set(np.flatnonzero(one)) for one in learning[i : i + 2]] for i in starts]
    first, other = ([one[i : i + 2] for i in starts] for one in losses.array)
    value, variance, noise, df = few_fits_ratio(first, other, sets, 19)
    test = uv.UStatisticTest.from_losses(losses, contrast="ratio")
    for found in (test.fit(), test.fit(variance="few")):
        assert (found.status, found.diagnostics["variance"]) == ("ok", "few")
        assert found.estimate == pytest.approx(value, rel=1e-12)
        assert found.variance == pytest.approx(variance, rel=1e-10)
        assert found.se == pytest.approx(math.sqrt(variance + noise / 4), rel=1e-10)
        assert found.df == pytest.approx(df, rel=1e-10)
        assert found.statistic == pytest.approx(math.log(value) / found.se, rel=1e-10)
        low, high = found.conf_int()
        assert low * high == pytest.approx(value**2, rel=1e-10)
    own = found.tables["Learners"]["estimate"]
    assert own[0] / own[1] == pytest.approx(found.estimate, rel=1e-12)


@pytest.mark.parametrize("max_fits", [12, 40, 400])
@pytest.mark.parametrize(
    "options",
    [{}, {"groups": CLUSTERS}, {"groups": CLUSTERS, "group_weight": "row"}],
    ids=["rows", "clusters", "clusters by row"],
)
def test_every_budget_answers(max_fits, options):
    result = ratio_of(*PAIR, **options).fit(max_fits=max_fits, rng=1)
    assert result.status == "ok"
    assert result.n_fits <= max_fits
    low, high = result.conf_int()
    assert 0 < low < result.estimate < high


def test_where_auto_ends_the_same_pairs_answer():
    test = ratio_of(*PAIR)
    short, asked = test.fit(max_fits=160, rng=5), test.fit(variance="few", max_fits=160, rng=5)
    assert short.n_fits == asked.n_fits == 160
    assert (short.estimate, short.se, short.pvalue) == (asked.estimate, asked.se, asked.pvalue)
    assert test.fit(rng=5).diagnostics["variance"] == "jackknife"


def test_clusters_of_one_row_and_the_weights_of_clusters_of_a_size_change_nothing():
    alone = ratio_of(*PAIR).fit(8, "few", rng=2)
    ones = ratio_of(*PAIR, groups=np.arange(40)).fit(8, "few", rng=2)
    assert ones.conf_int() == pytest.approx(alone.conf_int(), rel=1e-9)
    by_group = ratio_of(*PAIR, groups=CLUSTERS).fit(8, "few", rng=2)
    by_row = ratio_of(*PAIR, groups=CLUSTERS, group_weight="row").fit(8, "few", rng=2)
    assert by_row.conf_int() == pytest.approx(by_group.conf_int(), rel=1e-9)


def off_by(value):
    """A learner whose error is this at a response that is the first feature."""
    return lambda X_train, y_train, X_test: X_test[:, 0] + value


@pytest.mark.parametrize(
    ("learners", "status"),
    [
        ((off_by(0.0), "knn:3"), "no ratio: the mean loss of a learner is 0"),
        ((off_by(1.0), off_by(2.0)), "degenerate: the variance estimate is zero"),
        (("knn:3", "knn:3"), "degenerate: the two learners had the same loss"),
    ],
)
def test_edges_are_answered_as_by_the_full_test(learners, status):
    test = ratio_of(*learners, y=X[:, 0])
    few, full = test.fit(5, "few", rng=0), test.fit(30, "jackknife", rng=0)
    assert few.status == full.status
    assert few.status.startswith(status)
    assert math.isnan(few.pvalue)
    assert test.fit(max_fits=40, rng=0).status == full.status


def test_margins_of_a_ratio_are_those_of_its_interval():
    result = ratio_of(*PAIR).fit(10, "few", rng=0)
    low, high = result.conf_int(alpha=0.1)
    assert result.equivalence(0.99 * low, 1.01 * high).decision == "pass"
    assert result.equivalence(1.001 * low, 1.01 * high).decision == "undecided"
    assert result.noninferiority(max(1.01 * high, 1.01)).decision == "pass"
