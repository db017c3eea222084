"""Metrics that are functions of means in tests on folds, against the rules as written down."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import f1_score, matthews_corrcoef, r2_score

import ucvtest as uv
from tests.oracles import metrics_of_folds as oracle

TEN = 1e-10


@pytest.fixture(scope="module")
def losses():
    """Out-of-fold predictions of two learners, of which the rows come in threes, too."""
    X, y = load_iris(return_X_y=True)
    X, y = X[50:110, :2], y[50:110] - 1
    y = np.where(np.arange(60) % 7 == 0, 1 - y, y)
    groups = np.repeat(np.arange(20), 3)
    return {
        clustered: uv.evaluate(
            ["lda", "knn:3"],
            *(X, y),
            design=5,
            metric="f1",
            rng=0,
            groups=groups if clustered else None,
        )
        for clustered in (False, True)
    }


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("names", [("lda",), ("lda", "knn:3")])
@pytest.mark.parametrize(("metric", "low"), [("f1", 0.0), ("mcc", -1.0)])
def test_intervals_are_those_of_the_rules(losses, metric, low, names, clustered):
    known = losses[clustered].about(metric)
    places = [known.learners.index(name) for name in names]
    target = known.tested_target.astype(int)
    rows = [*zip(target, *known.predictions[places].astype(int), strict=True)]
    tested = np.broadcast_to(
        np.arange(60) if known.groups is None else known.groups, known.design.testing.shape
    )
    groups = tested[known.design.testing].tolist() if clustered else None
    least, most = (low, 1.0) if len(names) == 1 else (low - 1, 1 - low)
    expected = oracle.interval(
        getattr(oracle, metric), rows, 2, low=least, high=most, groups=groups
    )
    result = uv.CrossValidationWaldTest.from_losses(known, *names).fit()
    found = (result.estimate, result.se, *result.conf_int())
    np.testing.assert_allclose(found, expected, rtol=0, atol=TEN)
    assert result.df == (19 if clustered else 59)
    score = f1_score if metric == "f1" else matthews_corrcoef
    values = [score(target, known.predictions[place]) for place in places]
    assert result.estimate == pytest.approx(values[0] - sum(values[1:]), abs=1e-15)


def test_r2_is_the_jackknife_of_pooled_predictions():
    X, _ = load_iris(return_X_y=True)
    known = uv.evaluate("ridge:1", X[::3, :2], X[::3, 3], design=5, metric="r2", rng=0)
    result = uv.CrossValidationWaldTest.from_losses(known).fit()
    target, predictions = known.tested_target, known.predictions[0]
    expected = oracle.interval_of_r2(target, predictions)
    np.testing.assert_allclose(result.conf_int(), expected, rtol=0, atol=TEN)
    assert result.estimate == pytest.approx(r2_score(target, predictions), abs=1e-14)


def test_pooled_means_of_learning_sets_have_a_correlation_of_minus_one():
    y = np.random.default_rng(0).normal(size=30)
    leave_one_out = (y.sum() - y) / 29
    assert np.corrcoef(y, leave_one_out)[0, 1] == pytest.approx(-1)


def test_a_cell_that_is_empty_has_an_interval():
    X = np.r_[np.zeros(20), np.ones(20)][:, None]
    y = np.repeat([0, 1], 20)
    result = uv.CrossValidationWaldTest(X, y, "knn:1", metric="f1", design=4).fit(rng=0)
    low, high = result.conf_int()
    assert result.estimate == high == 1
    assert 0.8 < low < 1
