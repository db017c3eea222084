"""The U-statistic test of survival metrics: values and jackknife by their definitions."""

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles.survival_of_sets import concordance, jackknife
from tests.support.samples import patients
from ucvtest.methods.ustatistic.estimates import Estimates

SMALL = patients(9)
X, Y = SMALL.matrix, SMALL.survival_times
MANY = patients(60)

METRICS = {
    "harrell": ("harrell", {"kind": "harrell"}),
    "tau": (uv.metrics.harrell(20), {"kind": "harrell", "at": 20}),
    "uno": ("uno", {"kind": "uno"}),
}


def nearest(X_train, y_train, X_test):
    """A rule that depends on what is learnt: the time of the nearest patient, with ties."""
    distance = np.abs(X_test[:, :1] - X_train[:, 0])
    return -y_train["time"][distance.argmin(axis=1)]


def first(X_train, y_train, X_test):
    return X_test[:, 0]


def chance(X_train, y_train, X_test):
    """A probability that does not depend on what is learnt."""
    return 1 / (1 + np.exp(-X_test[:, 0]))


def at_two_times(X_train, y_train, X_test):
    return np.column_stack([chance(X_train, y_train, X_test) / 2, chance(X_train, y_train, X_test)])


def rules_of(function):
    return lambda learning: function(X[learning], Y.records[learning], X)


@pytest.mark.parametrize("name", METRICS)
def test_all_learning_sets_give_the_ratio_of_pairs_and_its_jackknife(name):
    metric, options = METRICS[name]
    result = uv.UStatisticTest(X, Y, nearest, metric=metric, learn_size=3).fit(n_pairs="exact")
    rules = rules_of(nearest)
    assert result.estimate == pytest.approx(concordance(Y, rules, 3, **options), abs=1e-12)
    assert result.se**2 == pytest.approx(jackknife(Y, rules, 3, **options), rel=1e-10)


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        ("harrell", first),
        (uv.metrics.brier(10), chance),
        (uv.metrics.integrated_brier([5, 10]), at_two_times),
    ],
    ids=["harrell", "brier", "integrated"],
)
def test_rules_that_learn_nothing_have_the_value_of_fixed_rules(metric, rule):
    losses = uv.Losses.from_predictions(Y, {"a": rule(X, Y, X)}, metric=metric)
    fixed = uv.HoldOutTest.from_losses(losses).fit()
    result = uv.UStatisticTest(X, Y, rule, metric=metric, learn_size=3).fit(n_pairs="exact")
    assert result.estimate == pytest.approx(fixed.estimate, abs=1e-12)
    # A kernel of pairs has n - 2 where one of single observations has n - 1.
    n = len(Y)
    expected = fixed.se * (n - 1) / (n - 2) if rule is first else fixed.se
    assert result.se == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("metric", ["harrell", uv.metrics.brier(10)], ids=["harrell", "brier"])
def test_few_fits_many_and_given_losses_agree(metric):
    x, y = MANY.matrix, MANY.survival_times
    test = uv.UStatisticTest(x, y, "cox:1.0", "cox:20.0", metric=metric)
    many = test.fit(n_pairs=300, rng=0)
    assert many.status == "ok"
    few = test.fit(max_fits=80, variance="few", rng=0)
    assert few.status == "ok"
    assert abs(few.estimate - many.estimate) < many.se
    design = uv.designs.DisjointSets(29, 150, n_sets=1)
    losses = uv.evaluate(["cox:1.0", "cox:20.0"], x, y, design, metric=metric, rng=0)
    given = uv.UStatisticTest.from_losses(losses, 0, 1).fit()
    assert given.status == "ok"
    assert given.estimate == pytest.approx(many.estimate, abs=many.se / 2)
    assert given.se == pytest.approx(many.se, rel=0.3)


def test_folds_share_out_events_and_are_tested_out_of_fold():
    x, y = MANY.matrix, MANY.survival_times
    losses = uv.evaluate(["cox:1.0"], x, y, 11, metric="harrell", rng=0)
    events = losses.design.testing.astype(int) @ y.event
    assert set(events) == {3}
    result = uv.CrossValidationWaldTest(x, y, "cox:1.0", metric="harrell", design=11).fit(rng=0)
    again = uv.CrossValidationWaldTest.from_losses(losses).fit()
    assert result.estimate == again.estimate == pytest.approx(losses.values.mean())


def test_few_fits_stand_in_where_the_jackknife_of_one_learner_is_open(monkeypatch):
    test = uv.UStatisticTest(MANY.matrix, MANY.survival_times, "cox:1.0", first, metric="harrell")
    known = test.fit(n_pairs=600, rng=0)
    assert (known.status, known.diagnostics["variance"]) == ("ok", "jackknife")
    monkeypatch.setattr(Estimates, "own_variance", lambda estimates, own: np.nan)
    found = test.fit(n_pairs=600, rng=0)
    assert found.conf_int() == known.conf_int()
    own, expected = found.tables["Learners"], known.tables["Learners"]
    assert own["estimate"] == expected["estimate"]
    assert own["se"] == pytest.approx(expected["se"], rel=0.3)
    assert own["se"] != expected["se"]
