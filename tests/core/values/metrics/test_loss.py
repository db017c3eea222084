"""Losses by name, and losses of users' own."""

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.data.sample import make_sample
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.set_scores import SetScore


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("zero_one", [[0, 1, 1, 0.5]]),
        ("squared", [[0, 1, 1, 0.25]]),
        ("absolute", [[0, 1, 1, 0.5]]),
        # A certain but wrong prediction stays finite.
        ("log", [[2.2e-16, 36.0437, 36.0437, np.log(2)]]),
    ],
)
def test_values(name, expected):
    found = LOSSES[name].function(np.array([0, 0, 1, 1]), np.array([[0, 1, 0, 0.5]]))
    np.testing.assert_allclose(found, expected, rtol=0.02)


def squared_in_place(y, prediction):
    y -= 1
    prediction -= 1
    prediction -= y
    return prediction**2


@pytest.mark.parametrize("original_labels", [False, True])
def test_a_function_may_work_in_place(original_labels):
    y = np.random.default_rng(0).normal(size=12)
    before, a = y.copy(), y[::-1].copy()
    both = [
        Loss("squares", function, "number", original_labels)
        for function in (squared_in_place, lambda y, prediction: (y - prediction) ** 2)
    ]
    found, expected = (
        uv.Losses.from_predictions(y, {"a": a, "b": a + 1}, loss=loss).values for loss in both
    )
    np.testing.assert_allclose(found, expected)
    X = np.arange(12.0)[:, None] % 5
    found, expected = (
        uv.PermutationComplexityTest(X, y, "ridge:1", loss=loss).fit(20, rng=0).estimate
        for loss in both
    )
    assert found == pytest.approx(expected)
    np.testing.assert_array_equal(y, before)


def errors_in_place(y, prediction):
    y ^= 1
    return (y == prediction) * 1.0


def test_a_function_of_labels_may_work_in_place():
    y, a = np.array([0, 1] * 6), np.array([0, 1, 1] * 4)
    loss = Loss("errors", errors_in_place, "label", original_labels=True)
    values = uv.Losses.from_predictions(y, {"a": a, "b": 1 - a}, loss=loss).values
    np.testing.assert_array_equal(values, [a != y, a == y])
    assert y.tolist() == [0, 1] * 6
    sample = make_sample(np.zeros((12, 1)), y, as_classes=True)
    score = SetScore("errors", lambda *both: errors_in_place(*both).mean(), "label")
    undecided, tested = np.full((1, 12), 0.5), np.ones((1, 12), dtype=bool)
    tested[0, ::4] = False
    assert score.kept(sample, undecided, tested).tolist() == [0.5]
