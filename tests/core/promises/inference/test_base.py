"""What every test takes: formulas, responses of every kind, and arguments that are refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

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

    def test_a_formula_sees_no_variables_of_the_program(self, patients):
        with pytest.raises(ValueError, match=r"cannot be used: .*right"):
            read_formula("died ~ age + right", patients)

    @pytest.mark.parametrize("name", ["died", "has died"])
    def test_the_response_is_a_column_as_it_is(self, patients, name):
        patients[name] = patients["died"]
        response, _ = read_formula(f"`{name}` ~ age" if " " in name else f"{name} ~ age", patients)
        assert response.tolist() == patients["died"].tolist()

    def test_the_response_is_a_numeric_expression(self, patients):
        response, features = read_formula("np.exp(age) ~ size", patients)
        np.testing.assert_allclose(response, np.exp(patients["age"]))
        assert list(features) == ["size"]

    @pytest.mark.parametrize("response", ["C(died)", "C(site)", "age + size"])
    def test_a_response_of_several_columns_is_refused(self, patients, response):
        with pytest.raises(ValueError) as error:
            read_formula(f"{response} ~ age", patients)
        assert str(error.value) == (
            f"formula='{response} ~ age' has the response {response!r}, which is neither a column "
            "of the data nor one number for each row: add it to the data as a column"
        )

    def test_what_the_data_lack_is_a_value_error(self, patients):
        with pytest.raises(ValueError, match=r"^formula='died ~ weight' cannot be used: .*weight"):
            read_formula("died ~ weight", patients)

    def test_missing_values_are_refused(self, patients):
        patients.loc[3, "age"] = np.nan
        with pytest.raises(ValueError, match=r"^formula='died ~ age' cannot be used: .*`age`"):
            read_formula("died ~ age", patients)

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
        assert test.loss.name == "squared"
        assert test.sample.classes is None

    def test_whole_numbers_that_hardly_repeat_need_a_loss(self):
        X, y = load_diabetes(return_X_y=True)
        with pytest.raises(ValueError) as error:
            uv.UStatisticTest(X[:50], y[:50], "knn:1")
        assert str(error.value) == (
            "y contains 46 different whole numbers in 50 observations: pass loss='squared' or "
            "'absolute' if they are amounts, loss='zero_one' if they are labels (for a loss "
            "function of your own, uv.losses.Loss states the kind)"
        )
        assert uv.UStatisticTest(X[:50], y[:50], "knn:1", loss="squared").sample.classes is None
        assert uv.UStatisticTest(X[:50], y[:50], "knn:1", loss="zero_one").sample.n_classes == 46

    def test_many_whole_numbers_are_no_classes_unless_the_loss_says_so(self):
        X, y = load_diabetes(return_X_y=True)
        message = "^(test '.*': )?y contains 214 different whole numbers in 442 observations: pass "
        for door in (
            lambda: uv.UStatisticTest(X, y, "knn:1", "lda"),
            lambda: uv.CorrectedTTest(X, y, "lda", KNeighborsClassifier()),
            lambda: uv.compare(X, y, ["lda", "knn:1"]),
            lambda: uv.evaluate("lda", X, y),
            lambda: uv.select_model(X, y, ["knn:1"]),
            lambda: uv.UStatisticTest(X, y, "knn:1", loss=lambda y, predicted: y != predicted),
        ):
            with pytest.raises(ValueError, match=message):
                door()

    def test_a_regressor_says_that_they_are_amounts(self):
        X, y = load_diabetes(return_X_y=True)
        for learner in ("ridge:1.0", LinearRegression()):
            test = uv.CorrectedTTest(X, y, learner, "knn:5")
            assert (test.loss.name, test.sample.classes) == ("squared", None)
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


@pytest.mark.parametrize("null_value", ["0", np.nan, np.inf, 1j])
def test_a_null_value_that_is_no_number_is_refused(null_value):
    with pytest.raises(ValueError) as error:
        uv.UStatisticTest(np.eye(6), [0, 1] * 3, "knn:1", null_value=null_value)
    assert str(error.value) == f"null_value must be a finite number, got {null_value!r}"


@pytest.mark.parametrize("loss", [None, "squared", "zero_one"])
def test_an_infinite_response_is_refused_in_our_words(rng, loss):
    y = np.append(rng.normal(size=11), np.inf)
    with pytest.raises(ValueError, match=r"y must contain finite numbers|needs class labels"):
        uv.UStatisticTest(rng.normal(size=(12, 2)), y, "ridge:1", loss=loss)


@pytest.mark.parametrize(
    ("test", "loss"),
    [
        (uv.FoldCovarianceTest, "auc"),
        (uv.CrossValidationWaldTest, "auc"),
        (uv.NestedCrossValidationTest, "auc"),
        (uv.LeavePairOutTest, "squared"),
        (uv.InfluenceFunctionTest, "squared"),
    ],
)
def test_fixed_rules_are_told_of_before_their_loss(test, loss):
    y = np.arange(20) % 2
    rules = uv.Losses.from_predictions(y, {"a": y[::-1] * 0.5}, loss=loss)
    with pytest.raises(ValueError, match="losses are of fixed rules, which have learnt nothing"):
        test.from_losses(rules)


def test_fold_covariance_tells_of_a_wrong_design_before_the_loss():
    X, y = np.random.default_rng(0).normal(size=(24, 2)), np.arange(24) % 2
    losses = uv.evaluate(["lda"], X, y, uv.designs.RandomSplits(3, 0.3), "auc", rng=0)
    with pytest.raises(ValueError, match="the design is not a K-fold cross-validation"):
        uv.FoldCovarianceTest.from_losses(losses)
