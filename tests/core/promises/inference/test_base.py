"""What every test takes: amounts, and numbers that are labels."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import ucvtest as uv


class TestResponse:
    X = np.random.default_rng(0).normal(size=(24, 2))

    def test_a_regressor_says_that_they_are_amounts(self):
        X, y = load_diabetes(return_X_y=True)
        for learner in ("ridge:1.0", LinearRegression()):
            test = uv.CorrectedTTest(X, y, learner, "knn:5")
            assert (test.metric.name, test.sample.classes) == ("squared", None)
        assert uv.evaluate("ridge:1.0", X, y // 100, rng=0).loss == "squared"
        assert uv.evaluate("ridge:1.0", X, y > 100, rng=0).loss == "zero_one"

    def test_two_whole_numbers_are_coded(self):
        y = np.where(self.X[:, 0] > 0, 10, 0)
        test = uv.UStatisticTest(self.X, y, "ridge:1", loss="squared")
        assert set(test.sample.target) == {0.0, 1.0}
