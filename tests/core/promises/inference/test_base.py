"""What every test takes: formulas, responses of every kind, and arguments that are refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import ucvtest as uv
from ucvtest.data.formula import read_formula


@pytest.fixture
def patients(rng):
    n = 24
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["age", "size"])
    data["sex"] = np.array(["F", "M"])[np.arange(n) % 2]
    data["site"] = np.array(["north", "south", "west"])[np.arange(n) % 3]
    data["died"] = np.array(["no", "yes"])[(data["age"] > 0).astype(int)]
    return data


class TestFormula:
    def test_factors_have_a_reference_level(self, patients):
        _, features = read_formula("died ~ age + sex + site", patients)
        assert list(features) == ["age", "sex[T.M]", "site[T.south]", "site[T.west]"]
        # Indicators of all levels sum to a constant, which lda has to refuse.
        assert uv.UStatisticTest.from_formula("died ~ age + sex", patients, "lda").learn_size == 11

    @pytest.mark.parametrize("terms", ["age - 1", "0 + age", "age"])
    def test_no_intercept_among_the_features(self, patients, terms):
        _, features = read_formula(f"died ~ {terms}", patients)
        assert list(features) == ["age"]

    def test_a_dot_stands_for_all_other_columns(self, patients):
        _, features = read_formula("died ~ . - site - sex", patients)
        assert list(features) == ["age", "size"]
        _, features = read_formula("died ~ .", patients[["age", "died", "size"]])
        assert list(features) == ["age", "size"]

    @pytest.mark.parametrize("name", ["died", "has died"])
    def test_the_response_is_a_column_as_it_is(self, patients, name):
        patients[name] = patients["died"]
        response, _ = read_formula(f"`{name}` ~ age" if " " in name else f"{name} ~ age", patients)
        assert response.tolist() == patients["died"].tolist()

    def test_the_response_is_a_numeric_expression(self, patients):
        response, features = read_formula("np.exp(age) ~ size", patients)
        np.testing.assert_allclose(response, np.exp(patients["age"]))
        assert list(features) == ["size"]

    def test_rows_need_no_default_index(self, patients, rng):
        shuffled = patients.set_index(rng.permutation(1000)[: len(patients)])
        expected, found = (
            uv.UStatisticTest.from_formula("died ~ age + size", data, "lda").fit(30, rng=0)
            for data in (patients, shuffled)
        )
        assert found.estimate == expected.estimate


class TestResponse:
    X = np.random.default_rng(0).normal(size=(24, 2))

    def test_numbers_stored_as_objects_are_numbers(self):
        y = self.X[:, 0].astype(object)
        test = uv.UStatisticTest(self.X, y, "ridge:1")
        assert test.metric.name == "squared"
        assert test.sample.classes is None

    def test_a_regressor_says_that_they_are_amounts(self):
        X, y = load_diabetes(return_X_y=True)
        for learner in ("ridge:1.0", LinearRegression()):
            test = uv.CorrectedTTest(X, y, learner, "knn:5")
            assert (test.metric.name, test.sample.classes) == ("squared", None)
        assert uv.evaluate("ridge:1.0", X, y // 100, rng=0).loss == "squared"
        assert uv.evaluate("ridge:1.0", X, y > 100, rng=0).loss == "zero_one"

    def test_two_real_numbers_are_no_labels(self):
        y = np.where(self.X[:, 0] > 0, 0.5, 0.0)
        test = uv.UStatisticTest(self.X, y, "ridge:1", learn_size=8)
        doubled = uv.UStatisticTest(self.X, 2.2 * y, "ridge:1", learn_size=8)
        ratio = doubled.fit(50, rng=0).estimate / test.fit(50, rng=0).estimate
        assert ratio == pytest.approx(2.2**2)

    def test_two_whole_numbers_are_coded(self):
        y = np.where(self.X[:, 0] > 0, 10, 0)
        test = uv.UStatisticTest(self.X, y, "ridge:1", loss="squared")
        assert set(test.sample.target) == {0.0, 1.0}
