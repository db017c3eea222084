"""The test that is run where none is named, for metrics that are functions of means."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import ucvtest as uv
from tests.full.comparison.test_metrics import Counting

X, Y = load_iris(return_X_y=True)
X, Y = X[50:110, :2], Y[50:110] - 1
Y = np.where(np.arange(60) % 7 == 0, 1 - Y, Y)


@pytest.mark.parametrize(
    ("metric", "evidence"),
    [
        ("f1", "two learners, the F1 and up to 40 fits. With 20 fits of each learner,"),
        (["f1", "mcc", "kappa"], "several metrics (taken for the error rate) and up to 40 fits."),
    ],
)
def test_metrics_of_slow_learners_cost_twenty_fits_of_each(metric, evidence):
    learners = {"first": Counting(0), "second": Counting(1)}
    found = uv.compare(X, Y, learners, metric=metric, rng=0)
    assert [each.n_fits for each in learners.values()] == [20, 20]
    assert found.n_fits == 40
    assert {each.settings["test"] for each in found.results.values()} == {"ustatistic"}
    assert all(evidence in each.notes[-2] for each in found.results.values())
    estimand = next(iter(found.results.values())).estimand
    assert "when learning from 29 observations" in estimand


def test_several_are_scored_on_shared_learning_sets():
    test = uv.TestSpec("ustatistic", {"learn_size": 20}, {"n_pairs": 30})
    found = uv.compare(X, Y, ["lda", "knn:3"], test, metric=["f1", "mcc"], rng=0)
    assert found.n_fits == 120
    losses = uv.evaluate(
        ["lda", "knn:3"], X, Y, design=uv.designs.DisjointSets(20, 30), metric="mcc", rng=0
    )
    expected = uv.UStatisticTest.from_losses(losses).fit()
    assert found.result("mcc").conf_int() == expected.conf_int()
    assert "30 draws" in found.settings["tests"]["ustatistic"]


@pytest.mark.parametrize("n_pairs", [3, 600])
def test_metrics_together_equal_each_alone_from_the_same_fits(n_pairs):
    """Few fits, and many; of more than 512 pairs each group has more than one call of 16 sets."""
    metrics, test = ["f1", "recall", "mcc"], uv.TestSpec("ustatistic", {}, {"n_pairs": n_pairs})
    found = uv.compare(X, Y, ["lda", "knn:3"], test, metric=metrics, rng=0)
    for metric in metrics:
        losses = uv.evaluate(
            ["lda", "knn:3"], X, Y, uv.designs.DisjointSets(29, n_pairs), metric=metric, rng=0
        )
        alone, together = uv.UStatisticTest.from_losses(losses).fit(), found.result(metric)
        expected = [alone.estimate, alone.se, alone.pvalue, *alone.conf_int()]
        values = [together.estimate, together.se, together.pvalue, *together.conf_int()]
        np.testing.assert_allclose(values, expected, rtol=1e-12)
        assert together.diagnostics["variance"] == alone.diagnostics["variance"]


def test_budgets_bound_the_fits_that_are_shared():
    found = uv.compare(X, Y, ["lda", "knn:3"], metric=["f1", "mcc"], max_fits=120, rng=0)
    assert found.n_fits == 120
    three = uv.compare(
        *(X, Y, ["lda", "knn:3", "majority"]),
        metric=["f1", "balanced_accuracy"],
        correction="simultaneous",
        max_fits=400,
        rng=0,
    )
    assert 300 < three.n_fits <= 400
    assert list(three.across) == ["ustatistic"]
    test = uv.TestSpec("ustatistic", fit={"n_pairs": "exact"})
    with pytest.raises(ValueError, match="n_pairs='exact' is not for several metrics"):
        uv.compare(X, Y, ["lda", "knn:3"], test, metric=["f1", "mcc"])


def test_a_pilot_of_a_metric():
    found = uv.plan(X, Y, "lda", "knn:3", metric="f1", difference=0.2, curve=False, rng=0)
    assert found.settings["loss"] == "f1"
    assert found.n_needed >= 60
