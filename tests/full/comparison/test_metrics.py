"""Comparisons by metrics that are functions of means: one, or several from the same fits."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

import ucvtest as uv
from ucvtest.comparison.comparison import Comparison
from ucvtest.comparison.several_metrics import families_of

X, Y = load_iris(return_X_y=True)
X, Y = X[50:110, :2], Y[50:110] - 1
Y = np.where(np.arange(60) % 7 == 0, 1 - Y, Y)
WALD = "cross_validation_wald"
THREE = ["f1", "mcc", "balanced_accuracy"]


class Counting:
    """A cut of one feature, which counts its fits."""

    def __init__(self, column):
        self.column, self.n_fits = column, 0

    def __call__(self, X_train, y_train, X_test):
        self.n_fits += 1
        return (X_test[:, self.column] > X_train[:, self.column].mean()).astype(int)


def learners():
    return {"first": Counting(0), "second": Counting(1)}


@pytest.fixture(scope="module")
def several():
    counted = learners()
    found = uv.compare(X, Y, counted, WALD, metric=THREE, rng=0)
    return counted, found


def test_several_metrics_cost_the_fits_of_one(several):
    counted, found = several
    assert [each.n_fits for each in counted.values()] == [10, 10]
    assert found.n_fits == 20
    assert found.tests == found.metrics == tuple(THREE)
    assert found.fits[0].tests == tuple(THREE)


def test_each_result_is_that_of_the_metric_alone(several):
    _, found = several
    for metric in THREE:
        alone = uv.compare(X, Y, learners(), WALD, metric=metric, rng=0).result()
        result = found.result(metric)
        assert (result.estimate, result.se, result.pvalue) == (
            alone.estimate,
            alone.se,
            alone.pvalue,
        )
        assert result.conf_int() == alone.conf_int()
        assert result.estimand == alone.estimand
        assert result.diagnostics.get("pos_label") == alone.diagnostics.get("pos_label")
        test = uv.CrossValidationWaldTest(X, Y, *learners().values(), metric=metric)
        assert test.fit(rng=0).estimate == alone.estimate


def test_it_is_saved_and_drawn(several):
    _, found = several
    again = Comparison.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.metrics == tuple(THREE)
    assert str(again) == str(found)
    assert len(found.plot().get_yticklabels()) >= 3


def test_other_predictions_are_fitted_by_themselves():
    found = uv.compare(X, Y, ["lda", "majority"], WALD, metric=["zero_one", "f1"], rng=0)
    assert [each.tests for each in found.fits] == [("zero_one",), ("f1",)]
    assert found.result("zero_one").better == "lower"
    assert found.result("f1").better == "higher"
    assert "Less is better of zero_one, more of the others." in str(found.summary(notes=True))
    assert not [each.get_text() for each in found.plot().texts]
    assert [*map(len, families_of(None, None, ["f1", "log", "mcc"]))] == [2, 1]


def test_several_tests_of_several_metrics():
    found = uv.compare(
        X, Y, ["lda", "knn:3", "majority"], [WALD, "corrected_t"], metric=["f1", "precision"], rng=0
    )
    assert found.tests == (
        f"{WALD}: f1",
        f"{WALD}: precision",
        "corrected_t: f1",
        "corrected_t: precision",
    )
    assert found.n_fits == 30
    assert len(found.results) == 12
    # The majority predicts no positive.
    assert "precision is 0/0" in found.result("corrected_t: precision", "lda", "majority").status


def test_learners_together_where_one_has_no_value():
    rules = ["lda", "knn:3", "majority"]
    found = uv.compare(
        X, Y, rules, "hold_out", metric=["f1", "mcc"], correction="simultaneous", rng=0
    )
    assert list(found.together) == ["f1", "mcc"]
    # Nothing tells the majority, whose correlation is 0/0, from the others.
    assert "majority" in found.best_set(test="mcc")
    for metric in ("f1", "mcc"):
        own = found.result(metric, "lda", "knn:3").conf_int()
        low, high = found.intervals()[metric, "lda", "knn:3"]
        assert low < own[0]
        assert own[1] < high
    for (metric, *pair), value in found.adjusted_pvalues.items():
        assert np.isnan(value) == (metric == "mcc" and "majority" in pair)
        assert np.isnan(value) or 0 <= value <= 1
    assert "0/0" in str(found)


def test_all_metrics_hold_together_on_request():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    rules = {
        name: np.where(rng.random(120) < share, 1 - y, y)
        for name, share in {"a": 0.1, "b": 0.25, "c": 0.3}.items()
    }
    losses = uv.Losses.from_predictions(y, rules, metric="f1")
    found = uv.compare_losses(losses, "hold_out", metric=["f1", "mcc"], correction="simultaneous")
    joined = found.across["hold_out"]
    assert joined.keys == tuple(found.results)
    scored = [losses.about(metric).values for metric in ("f1", "mcc")]
    differences = [values[i] - values[j] for values in scored for i, j in [(0, 1), (0, 2), (1, 2)]]
    np.testing.assert_allclose(joined.correlation, np.corrcoef(differences), atol=1e-12)
    adjusted, intervals = found.adjusted_pvalues, found.intervals()
    for key, result in found.results.items():
        (low, high), own = intervals[key], result.conf_int()
        least = result.conf_int(0.05 / 6)
        assert least[0] < low < own[0]
        assert own[1] < high < least[1]
        assert result.pvalue <= adjusted[key] + 1e-2 <= 6 * result.pvalue + 2e-2
    again = Comparison.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.adjusted_pvalues == adjusted
    assert "all metrics are simultaneous" in str(again.summary(notes=True))


def test_metrics_of_other_fits_count_as_independent():
    found = uv.compare(
        *(X, Y, ["lda", "knn:3"], "hold_out"),
        metric=["f1", "zero_one", "mcc"],
        correction="simultaneous",
        rng=0,
    )
    correlation = found.across["hold_out"].correlation
    assert correlation[0, 1] == correlation[1, 2] == 0
    assert correlation[0, 2] > 0.5
    assert "p-values adjusted for all metrics" in found.verdict


def test_losses_are_scored_again():
    losses = uv.evaluate(["lda", "knn:3"], X, Y, design=10, metric="mcc", rng=0)
    found = uv.compare_losses(losses, WALD, metric=["f1", "mcc"])
    assert found.n_fits == 20
    expected = uv.compare(X, Y, ["lda", "knn:3"], WALD, metric="f1", rng=0).result()
    assert found.result("f1").conf_int() == expected.conf_int()
    assert found.result("f1").estimand == expected.estimand
    one = uv.compare_losses(losses, WALD, metric="f1")
    assert one.result().pvalue == expected.pvalue
    assert one.settings["loss"] == "f1"
    every = uv.compare_losses(losses)
    assert {WALD, "corrected_t"} <= set(every.tests)


def test_ranks_of_fixed_rules_are_scored_again():
    scores = {"a": X[:, 0], "b": X[:, 1]}
    losses = uv.Losses.from_predictions(Y, scores, metric="average_precision")
    found = uv.compare_losses(losses, "hold_out", metric=["average_precision", "partial_auc(0.2)"])
    alone = uv.HoldOutTest.from_losses(losses, "a", "b").fit()
    assert found.result("average_precision").conf_int() == alone.conf_int()


def test_every_metric_is_checked_before_the_first_fit():
    rules = learners()
    with pytest.raises(ValueError, match=r"two classes, but y has 3"):
        uv.compare(X, np.arange(60) % 3, rules, WALD, metric=["mcc", "f1"])
    assert [each.n_fits for each in rules.values()] == [0, 0]
