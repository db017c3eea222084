"""The U-statistic test of metrics that are functions of means: F1, MCC, R2 and their like."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import ucvtest as uv
from tests.oracles import few_fits as few_oracle
from tests.oracles import function_of_means as oracle
from ucvtest import metrics
from ucvtest.designs.design import Design
from ucvtest.methods.ustatistic import run
from ucvtest.metrics.named import as_smooth_metric

N, G = 8, 3
TINY = np.random.default_rng(2)
X_TINY = TINY.normal(size=(N, 1))
LABELS = np.array([0, 1, 0, 1, 1, 0, 1, 0])
NUMBERS = X_TINY[:, 0] + TINY.normal(size=N)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(40, 3))
Y = (X[:, 0] + RNG.normal(size=40) > 0.3).astype(int)
REAL = X[:, 0] + RNG.normal(size=40)
CLUSTERS = np.repeat(np.arange(20), [1, 3] * 10)

ACCURACY = metrics.Cells(lambda table: table.trace(), "trace", limits=(0, 1))


def above_mean(X_train, y_train, X_test):
    """Above the mean of what was learnt from, in the first column."""
    return (X_test[:, 0] > X_train[:, 0].mean()).astype(int)


def above_median(X_train, y_train, X_test):
    return (X_test[:, 0] + X_test[:, -1] > np.median(X_train[:, 0])).astype(int)


def slope(X_train, y_train, X_test):
    """A line through 0."""
    x = X_train[:, 0]
    return X_test[:, 0] * (x @ y_train) / (x @ x + 1)


def parts_of(learner, y, numbers):
    """Parts (L, t) of the rule that is learnt from L, for the oracle."""

    def parts(L, t):
        L = list(L)
        # Of a single class that class is predicted, and nothing fitted.
        if len(set(y[L].tolist())) == 1:
            return numbers(y[t], y[L[0]])
        return numbers(y[t], learner(X_TINY[L], y[L], X_TINY[[t]])[0])

    return parts


class TestAgainstTheOracle:
    @pytest.mark.parametrize(
        ("metric", "y", "learner", "numbers", "f"),
        [
            ("f1", LABELS, above_mean, oracle.cells, oracle.f1),
            ("r2", NUMBERS, slope, oracle.moments, oracle.r2),
        ],
    )
    def test_all_learning_sets(self, metric, y, learner, numbers, f):
        test = uv.UStatisticTest(X_TINY, y, learner, metric=metric, learn_size=G)
        found = test.fit("exact", "midpoint", interval="wald")
        estimate, jackknife, effects, middle = oracle.complete(
            parts_of(learner, y, numbers), f, N, G
        )
        assert_allclose(found.estimate, estimate, rtol=1e-12)
        assert_allclose(found.diagnostics["variance_jackknife"], jackknife, rtol=1e-10)
        assert_allclose(found.diagnostics["pair_effects"], effects, rtol=1e-9)
        assert_allclose(found.variance, middle, rtol=1e-10)
        bias = oracle.second_order_bias(parts_of(learner, y, numbers), f, N, G)
        assert_allclose(found.diagnostics["second_order_bias"], bias, rtol=1e-5)
        # f of the expected parts, as its estimand says.
        sets = list(combinations(range(N), G))
        assert_allclose(
            estimate, f(oracle.pooled_means(parts_of(learner, y, numbers), sets, N))[0], rtol=1e-12
        )

    def test_two_right_and_two_wrong(self):
        test = uv.UStatisticTest(X_TINY, LABELS, above_mean, metric="f1", learn_size=G)
        found = test.fit("exact", "midpoint")
        centre, se = oracle.two_right_two_wrong(parts_of(above_mean, LABELS, oracle.cells), N, G)
        q = stats.t.ppf(0.975, N - 1)
        expected = max(centre - q * se, 0), min(centre + q * se, 1)
        assert_allclose(found.conf_int(), expected, rtol=1e-10)
        assert found.diagnostics["interval"] == "plus_four"

    def test_two_learners(self):
        test = uv.UStatisticTest(
            X_TINY, LABELS, above_mean, above_median, metric="f1", learn_size=G
        )
        found = test.fit("exact", "midpoint")
        sets = list(combinations(range(N), G))
        of_each = [
            oracle.linearised(parts, oracle.f1, oracle.pooled_means(parts, sets, N))
            for parts in (
                parts_of(learner, LABELS, oracle.cells) for learner in (above_mean, above_median)
            )
        ]
        first, second = of_each
        estimate, jackknife, _, middle = oracle.variances(
            lambda L, t: first(L, t) - second(L, t), N, G
        )
        assert_allclose(found.estimate, estimate, rtol=1e-12)
        assert_allclose(
            [found.diagnostics["variance_jackknife"], found.variance],
            [jackknife, middle],
            rtol=1e-10,
        )

    def test_few_fits_from_losses(self):
        losses = uv.evaluate(
            {"a": "lda", "b": "knn:3"},
            *(X, Y, uv.designs.DisjointSets(19, 6, n_sets=1)),
            metric="f1",
            rng=0,
        )
        found = uv.UStatisticTest.from_losses(losses, "a", "b").fit(variance="few")
        tables, sets = losses.array, losses.design.learning
        difference = np.where(sets, 0.0, np.nan_to_num(tables[0] - tables[1]))
        rounds = [[set(np.flatnonzero(sets[r + j])) for j in (0, 1)] for r in range(0, 12, 2)]
        by_rounds = difference.reshape(6, 2, -1).tolist()
        estimate, variance, *_ = few_oracle.few_fits(by_rounds, rounds, 19)
        assert_allclose([found.estimate, found.variance], [estimate, variance], rtol=1e-11)


def recorded(learner, kept):
    """The learner, with its learning sets and predictions kept in the order of the fits."""

    def watched(X_train, y_train, X_test):
        found = learner(X_train, y_train, X_test)
        kept.append((X_train[:, 0], X_test[:, 0], found))
        return found

    return watched


def losses_of(kept, y, metric):
    """What was kept as losses of a design."""
    places = {value: place for place, value in enumerate(X[:, 0])}
    learning = np.zeros((len(kept), len(y)), dtype=bool)
    values = np.zeros((len(kept), len(y)))
    for row, (learnt, tested, found) in enumerate(kept):
        learning[row, [places[value] for value in learnt]] = True
        values[row, [places[value] for value in tested]] = found
    settings = {"classes": [0, 1]} if as_smooth_metric(metric).output == "label" else {}
    return uv.Losses.of_predictions(
        as_smooth_metric(metric),
        predictions=values[~learning][None],
        design=Design(learning, ~learning),
        learners=("a",),
        target=y.astype(float),
        settings=settings,
    )


class TestFits:
    @pytest.mark.parametrize(
        ("metric", "y", "learner"), [("f1", Y, above_mean), ("rmse", REAL, slope)]
    )
    @pytest.mark.parametrize(("variance", "n_pairs"), [("few", 8), ("midpoint", 150)])
    def test_equal_those_of_given_predictions(self, metric, y, learner, variance, n_pairs):
        kept = []
        test = uv.UStatisticTest(X, y, recorded(learner, kept), metric=metric, pos_label=None)
        fitted = test.fit(n_pairs, variance, rng=1)
        given = uv.UStatisticTest.from_losses(losses_of(kept, y, metric)).fit(variance=variance)
        assert_allclose(
            [fitted.estimate, fitted.variance, *fitted.conf_int()],
            [given.estimate, given.variance, *given.conf_int()],
            rtol=1e-9,
        )

    @pytest.mark.parametrize("other", [None, "nearest_centroid"])
    def test_accuracy_is_one_less_the_error_rate(self, other):
        errors = uv.UStatisticTest(X, Y, "lda", other, groups=CLUSTERS, group_weight="row")
        shares = uv.UStatisticTest(X, Y, "lda", other, groups=CLUSTERS, metric=ACCURACY)
        for test in (errors, shares):
            assert test.question.clusters.weight == "row"
        one, two = (test.fit(12, "few", rng=0) for test in (errors, shares))
        assert_allclose(two.estimate, (other is None) - one.estimate, rtol=1e-10)
        assert_allclose([two.se, two.df], [one.se, one.df], rtol=1e-10)
        low, high = one.conf_int()
        ends = (1 - high, 1 - low) if other is None else (-high, -low)
        # As many rows as are independent are counted at slightly different shares.
        assert_allclose(two.conf_int(), ends, rtol=1e-3)
        assert two.better == "higher"
        assert one.diagnostics["interval"] == two.diagnostics["interval"]

    def test_accuracy_from_all_learning_sets(self):
        test = uv.UStatisticTest(X_TINY, LABELS, above_mean, metric=ACCURACY, learn_size=G)
        errors = uv.UStatisticTest(X_TINY, LABELS, above_mean, learn_size=G)
        two, one = (each.fit("exact", "midpoint", interval="plus_four") for each in (test, errors))
        low, high = one.conf_int()
        assert_allclose(
            [two.estimate, two.se, *two.conf_int()],
            [1 - one.estimate, one.se, 1 - high, 1 - low],
            rtol=1e-12,
        )

    def test_intervals(self):
        rules = {
            ("f1", None): "plus_four",
            ("f1_macro", "knn:3"): "stabilised",
            ("net_benefit(0.2)", None): "plus_four",
        }
        for (metric, other), rule in rules.items():
            found = uv.UStatisticTest(X, Y, "lda", other, metric=metric).fit(300, rng=0)
            assert found.diagnostics["interval"] == rule
            low, high = found.conf_int()
            assert low < found.estimate < high
        for metric, rule in {"r2": "log1m", "rmse": "root", "ccc": "fisher", "wape": "log"}.items():
            found = uv.UStatisticTest(X, REAL, "ridge:1", metric=metric).fit(40, "few", rng=0)
            assert found.diagnostics["interval"] == rule
            low, high = found.conf_int()
            assert low < found.estimate < high
            assert found.better == ("lower" if metric in ("rmse", "wape") else "higher")
        paired = uv.UStatisticTest(X, REAL, "ridge:1", "knn:3", metric="r2").fit(40, rng=0)
        assert paired.diagnostics["interval"] == "wald"

    def test_scales_are_those_of_the_linear_jackknife(self):
        test = uv.UStatisticTest(X, REAL, "ridge:1", metric="r2")
        found = test.fit(300, "jackknife", rng=0)
        q = stats.t.ppf(0.975, 39) * found.se / (1 - found.estimate)
        expected = 1 - (1 - found.estimate) * np.exp([q, -q])
        assert_allclose(found.conf_int(), expected, rtol=1e-12)

    def test_where_it_is_0_over_0(self):
        def never(X_train, y_train, X_test):
            return np.zeros(len(X_test), dtype=int)

        one = uv.UStatisticTest(X, Y, never, metric="mcc").fit(4, "few", rng=0)
        assert np.isnan([one.estimate, one.se]).all()
        assert one.status.startswith("no estimate")
        assert one.rule is None
        assert np.isnan(one.pvalue)
        two = uv.UStatisticTest(X, Y, never, above_mean, metric="mcc").fit(4, "few", rng=0)
        assert np.isnan(two.estimate)
        assert (two.status, two.rule) == (one.status, None)
        other = uv.UStatisticTest(X, Y, above_mean, metric="mcc").fit(4, "few", rng=0)
        own = two.tables["Learners"]
        assert_allclose(own["estimate"], [np.nan, other.estimate])
        assert_allclose(own["se"], [np.nan, other.se])
        # A number of which the gradient is known has an answer at the edge.
        edge = uv.UStatisticTest(X, Y, never, metric="f1").fit(4, "few", rng=0)
        assert (edge.estimate, edge.status, edge.conf_int()[0]) == (0, "ok", 0)


def test_metrics_of_the_same_predictions_share_sums():
    design = uv.designs.DisjointSets(learn_size=15, n_draws=40)
    rules = ["lda", "nearest_centroid"]
    shared = uv.evaluate(rules, X, Y, design, metric="f1", rng=0)
    for metric in ("f1", "mcc", "balanced_accuracy"):
        alone = uv.evaluate(rules, X, Y, design, metric=metric, rng=0)
        found, expected = (
            uv.UStatisticTest.from_losses(x).fit() for x in (shared.about(metric), alone)
        )
        assert (found.estimate, found.se) == (expected.estimate, expected.se)
        assert found.diagnostics["second_order_bias"] == expected.diagnostics["second_order_bias"]


def test_sums_that_an_interrupt_ends_are_not_shared(monkeypatch):
    design = uv.designs.DisjointSets(learn_size=13, n_draws=30)
    losses = uv.evaluate("lda", X, Y, design, rng=0, metric="f1", pos_label=1)
    add = run.Sums.add

    def interrupted(*arguments):
        add(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "STAGE_CELLS", 400)
    monkeypatch.setattr(run.Sums, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        uv.UStatisticTest.from_losses(losses).fit()
    monkeypatch.setattr(run.Sums, "add", add)
    alone = uv.Losses.from_dict(losses.to_dict())
    found, expected = (uv.UStatisticTest.from_losses(each).fit() for each in (losses, alone))
    assert_allclose([found.estimate, found.se], [expected.estimate, expected.se])


def test_of_many_classes_effects_of_pairs_may_be_left_out():
    features = np.random.default_rng(0).normal(size=(1000, 2))
    few, many = (
        uv.UStatisticTest(features, np.arange(1000) % k, "lda", "majority", metric="f1_macro")
        for k in (3, 6)
    )
    assert few.fit_options().variance == "midpoint"
    assert many.fit_options().variance == "jackknife"
    assert many.fit_options().interval.name != "stabilised"
    with pytest.raises(ValueError, match=r"take 4.8 GB of memory .*use variance='jackknife'"):
        many.fit_options(variance="midpoint")
