"""What is the same question has the same answer, however it is put."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import ucvtest as uv

RNG = np.random.default_rng(3)
X = RNG.normal(size=(44, 2))
Y = (X[:, 0] + RNG.normal(size=44) > 0).astype(int)
THREE = np.arange(44) % 3
AMOUNTS = X @ [1.0, -1.0] + RNG.normal(size=44)
FAST = ("nearest_centroid", "majority")

ERRORS = {
    "a matrix": [[0, 1], [1, 0]],
    "a matrix of numbers": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "a data frame": pd.DataFrame([[0, 1], [1, 0]]),
    "scikit-learn's function": metrics.zero_one_loss,
    "another one": metrics.hamming_loss,
    "another name": "error",
}
TESTS = {
    uv.UStatisticTest: {"n_pairs": 200},
    uv.HoldOutTest: {},
    uv.McNemarTest: {},
    uv.CorrectedTTest: {},
    uv.InfluenceFunctionTest: {"n_repeats": 60},
}


def fitted(cls, loss, y=Y, learners=FAST):
    return cls(X, y, *learners, loss=loss).fit(rng=0, **TESTS.get(cls, {}))


def same(one, other):
    assert one.summary_frame().equals(other.summary_frame())
    assert one.settings["loss"] == other.settings["loss"]
    assert one.diagnostics.keys() == other.diagnostics.keys()


@pytest.mark.parametrize("cls", TESTS)
@pytest.mark.parametrize("kind", ERRORS)
def test_the_error_rate(kind, cls):
    same(fitted(cls, "zero_one"), fitted(cls, ERRORS[kind]))


def test_the_error_rate_of_one_learner_and_of_three_classes():
    alone = ("nearest_centroid",)
    for cls in (uv.UStatisticTest, uv.HoldOutTest):
        same(fitted(cls, "zero_one", learners=alone), fitted(cls, [[0, 1], [1, 0]], learners=alone))
    matrix = 1 - np.eye(3, dtype=int)
    same(fitted(uv.CorrectedTTest, "zero_one", THREE), fitted(uv.CorrectedTTest, matrix, THREE))
    with pytest.raises(ValueError, match=r"loss has shape \(3, 3\), but y has 2 classes"):
        fitted(uv.CorrectedTTest, matrix)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (metrics.mean_squared_error, "squared"),
        (metrics.mean_absolute_error, "absolute"),
    ],
)
def test_losses_of_numbers(function, name):
    learners = ("ridge:1.0", "knn:3")
    one, other = (fitted(uv.CorrectedTTest, each, AMOUNTS, learners) for each in (function, name))
    same(one, other)
    predicted = {"a": AMOUNTS * 0.9, "b": AMOUNTS + 0.1}
    tables = [
        uv.Losses.from_predictions(AMOUNTS, predicted, loss=each) for each in (function, name)
    ]
    np.testing.assert_array_equal(tables[0].means, tables[1].means)
    assert tables[0].loss == tables[1].loss


def test_losses_of_probabilities():
    for function, name in ((metrics.log_loss, "log"), (metrics.brier_score_loss, "brier")):
        same(
            *(fitted(uv.CorrectedTTest, each, Y, ("lda", "majority")) for each in (function, name))
        )


def test_scores_of_scikit_learn_are_no_losses():
    for function in (metrics.accuracy_score, metrics.r2_score, metrics.f1_score):
        with pytest.raises(ValueError, match=r"scikit-learn's function .*make_scorer.*as scoring"):
            fitted(uv.CorrectedTTest, function)


def test_names_of_tables():
    learning = np.array([[0, 1], [1, 0]]).repeat(22, axis=1)
    values = np.arange(88.0).reshape(2, 44) % 7
    one, other = (uv.Losses.from_arrays(values, learning, loss=each) for each in ("mse", "squared"))
    assert (one.loss, one.in_words) == (other.loss, other.in_words)


def test_scoring_by_name_scorer_and_callable():
    scorers = ("f1", metrics.get_scorer("f1"), metrics.make_scorer(metrics.f1_score))
    results = [
        uv.CorrectedTTest(X, Y, "nearest_centroid", "knn:3", scoring=each).fit(rng=0)
        for each in scorers
    ]
    for other in results[1:]:
        same(results[0], other)


@pytest.mark.parametrize("factor", [3.0, 0.1, 1e6])
@pytest.mark.parametrize("matrix", [[[0, 1], [1, 0]], [[0, 1], [5, 0]], [[0, 2], [1, 0.5]]])
@pytest.mark.parametrize("cls", [uv.UStatisticTest, uv.HoldOutTest, uv.CorrectedTTest])
@pytest.mark.parametrize("n_learners", [1, 2])
def test_costs_in_another_currency(matrix, factor, cls, n_learners):
    learners = FAST[:n_learners]
    plain = fitted(cls, matrix, learners=learners)
    scaled = fitted(cls, factor * np.array(matrix), learners=learners)
    exactly = {"rel": 1e-12, "abs": 1e-12 * factor, "nan_ok": True}
    for name in ("estimate", "se"):
        assert getattr(scaled, name) == pytest.approx(factor * getattr(plain, name), **exactly)
    assert (scaled.pvalue, scaled.statistic) == pytest.approx(
        (plain.pvalue, plain.statistic), rel=1e-9, nan_ok=True
    )
    ends = [factor * end for end in plain.conf_int()]
    assert scaled.conf_int() == pytest.approx(ends, rel=1e-9, abs=1e-12 * factor, nan_ok=True)
