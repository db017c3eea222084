"""Learners as people type and write them."""

import traceback
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import ucvtest as uv
from ucvtest.learners import logistic
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.base import notes_on_learners

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, :4], Y[:60]
NUMBERS = load_diabetes(return_X_y=True)[1][:60] + 0.25
THREE = np.arange(60) % 3
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


def result(*learners, X=X, y=Y, **options):
    return uv.CorrectedTTest(X, y, *learners, cv=FOLDS, **options).fit(rng=0)


@pytest.mark.parametrize(
    ("name", "y", "estimator"),
    [
        ("logistic", Y, LogisticRegression()),
        ("ridge", Y, Ridge()),
        ("ridge", NUMBERS, Ridge()),
        ("ridge", THREE.astype(str), RidgeClassifier()),
        ("lasso", NUMBERS, Lasso()),
        ("elastic_net", NUMBERS, ElasticNet()),
        ("svm", Y, SVC()),
    ],
)
def test_a_name_alone_is_an_estimator_with_its_defaults(name, y, estimator):
    cv = 5 if y is NUMBERS else FOLDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = uv.CorrectedTTest(X, y, name, cv=cv).fit(rng=0)
        same = uv.CorrectedTTest(X, y, estimator, cv=cv).fit(rng=0)
    assert found.estimate == same.estimate
    assert found.settings["learner"] == name
    assert (
        f'"{name}" without a number behind it is the default of its package, {estimator}.'
        in found.notes
    )


def test_a_number_behind_a_name_is_a_penalty_of_the_jitted_learner():
    jitted = as_learner("logistic:0.1")
    assert jitted == logistic(0.1)
    assert result("logistic:0.1").settings["backend"] == "jax"
    assert result("logistic", backend="sklearn").settings["backend"] == "sklearn"


def test_lasso_of_classes_is_a_logistic_regression():
    learner = uv.CorrectedTTest(X, Y, "lasso").question.problem.learners["lasso"]
    assert learner.backend == "jax"
    (note,) = notes_on_learners([learner], learner.original)
    assert "LogisticRegression(l1_ratio=1.0" in note


def test_names_are_noted_in_a_table_and_chosen_from():
    table = uv.compare(X, Y, ["logistic", "ridge", "lda"], tests="corrected_t", rng=0)
    assert '"logistic" without a number' in str(table.summary(notes=True))
    chosen = uv.select_model(X, Y, ["svm", "majority"], "loo", rng=0)
    assert chosen.names == ("svm", "majority")


def test_logistic_needs_classes():
    with pytest.raises(ValueError, match="learner logistic needs class labels"):
        uv.CorrectedTTest(X, NUMBERS, "logistic")


@pytest.mark.parametrize(
    "call",
    [
        lambda: as_learner("knn:x"),
        lambda: uv.learners.ridge("big"),
        lambda: uv.CorrectedTTest(X, Y, LogisticRegression(C=-1)),
        lambda: uv.CorrectedTTest(X, [[1], [1, 2]], "lda"),
        lambda: uv.CorrectedTTest(X, Y, "lda", design=1),
        lambda: uv.HoldOutTest(X, Y, "lda", metric="fbeta(-1)"),
        lambda: uv.CorrectedTTest.from_formula("y ~ a", pd.DataFrame({"y": [0], "b": [1]}), "lda"),
    ],
)
def test_errors_have_one_traceback(call):
    with pytest.raises(ValueError) as error:
        call()
    assert "".join(traceback.format_exception(error.value)).count("Traceback (most recent") == 1


def test_dependent_columns_answer_as_the_svd_solver_does():
    rng = np.random.default_rng(0)
    ward = rng.integers(3, size=60)
    dummies = (ward[:, None] == np.arange(3)).astype(float)
    copied = np.column_stack([X[:, :2], dummies, X[:, 0], np.ones(60)])
    expected = 1 - cross_val_score(LinearDiscriminantAnalysis(), copied, Y, cv=FOLDS)
    for learner in ("lda", LinearDiscriminantAnalysis()):
        found = result(learner, X=copied)
        assert found.estimate == pytest.approx(expected.mean())
        assert found.settings["backend"] == "jax"
        assert any("3 of the 7 columns of X are constant" in note for note in found.notes)
    assert result("lda", X=copied, loss="log").estimate == pytest.approx(
        result("lda", X=copied[:, [0, 1, 2, 3]], loss="log").estimate
    )
    assert result("qda", X=X[:, [0, 1, 1]]).estimate == result("qda", X=X[:, :2]).estimate


class Alone(BaseEstimator):
    """An estimator that says nothing of itself."""

    def fit(self, X, y):
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)


class Older(Alone):
    _estimator_type = "classifier"


class NoBase:
    """What `clone` and cross_val_score take, without a class of scikit-learn."""

    def get_params(self, deep=True):
        return {}

    def set_params(self, **parameters):
        return self

    fit, predict = Alone.fit, Alone.predict


@pytest.mark.parametrize("kind", [Alone, Older, NoBase])
def test_estimators_that_say_little_of_themselves(kind):
    assert result(kind()).estimate == result(GaussianNB()).estimate


def test_a_scorer_that_looks_at_the_features_is_refused():
    def share(estimator, X, y):
        return (estimator.predict(X)[X[:, 0] > 0] == 1).mean()

    with pytest.raises(ValueError, match="share uses X"):
        result(GaussianNB(), scoring=share)


def test_texts_images_and_sequences_go_to_the_estimator_as_they_are():
    texts = [f"{'good' if each else 'bad'} word{place % 7}" for place, each in enumerate(Y)]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    expected = 1 - cross_val_score(model, texts, Y, cv=FOLDS).mean()
    assert result(model, X=texts).estimate == pytest.approx(expected)
    images = np.random.default_rng(1).normal(size=(60, 4, 5))

    class Flat(Alone):
        def fit(self, X, y):
            assert X.shape[1:] == (4, 5)
            return super().fit(X.reshape(len(X), -1), y)

        def predict(self, X):
            return super().predict(X.reshape(len(X), -1))

    assert (
        result(Flat(), X=images).estimate == result(GaussianNB(), X=images.reshape(60, 20)).estimate
    )
    for learner in ("lda", LogisticRegression()):
        with pytest.raises(ValueError, match=r"X has shape \(60, 4, 5\)"):
            result(learner, X=images)
    sequences = [list(range(place % 5 + each)) for place, each in enumerate(Y)]

    def longer(X_train, y_train, X_test):
        return np.array([int(len(each) > 2) for each in X_test])

    expected = np.mean(
        [int(len(each) > 2) != label for each, label in zip(sequences, Y, strict=True)]
    )
    assert result(longer, X=sequences).estimate == pytest.approx(expected)


@pytest.mark.parametrize(
    ("learners", "regression", "scales"),
    [
        (("lasso:0.1", "ridge:0.1"), "ridge:0.1", True),
        (("logistic:0.1", "logistic:0.1,scale=sum"), None, True),
        (("lasso:0.1", "logistic:0.1"), None, False),
        (("ridge", "knn:3"), "ridge", False),
    ],
)
def test_regressions_of_classes_and_penalties_of_two_scales_are_noted(learners, regression, scales):
    notes = " ".join(uv.CorrectedTTest(X, Y, *learners).fit(rng=0).notes)
    assert ("Penalties have different scales" in notes) == scales
    assert ("Regressions, which fit the labels as" in notes) == (regression is not None)
    assert regression is None or f"the numbers 0 and 1: {regression}." in notes


def test_a_feature_that_determines_the_response_is_noted():
    leaking = pd.DataFrame({"age": X[:, 0], "code": Y * 2.0 + 1})
    notes = result("knn:3", X=leaking).notes
    assert any("Column 'code' of X" in note and "determines" in note for note in notes)
    amounts = np.column_stack([X[:, 0], NUMBERS * 2])
    notes = uv.CorrectedTTest(amounts, NUMBERS, "knn:3").fit(rng=0).notes
    assert any("Column 1 of X" in note and "determines" in note for note in notes)
    named = pd.DataFrame({"age": X[:, 0], "said": np.where(Y > 0, "yes", "no")})
    rules = result(lambda X, y, test: np.ones(len(test), dtype=int), X=named)
    assert any("Column 'said' of X" in note for note in rules.notes)
    assert not any("determines" in note for note in result("knn:3").notes)
