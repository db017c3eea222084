import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.support.samples import learning_sets, patients
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.adapters.survival import for_survival

TIMES = (3.0, 10.0)

of_lifelines = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning:lifelines")
"""What it warns of with newer versions of pandas is its own affair."""


def predicted(sample, learner, learning, times=()):
    learner = for_survival(as_learner(learner), times)
    output = "event_probability" if times else "risk"
    learner.check(sample, output, int(learning[0].sum()))
    evaluator = Evaluator(sample, learner, output)
    return evaluator.predict_all(learning, ~learning, np.arange(len(learning))).values


def same_as(found, expected, learning, **options):
    np.testing.assert_allclose(found[~learning], expected[~learning], **options)


def first_column(X_train, y_train, X_test):
    assert y_train.dtype.names == ("event", "time")
    assert y_train["event"].any()
    return X_test[:, 0]


class Curve:
    """A step function as scikit-survival has them."""

    a, b = 1.0, 0.0

    def __init__(self, x, y):
        self.x, self.y = np.array(x), np.array(y)


class Steps(BaseEstimator):
    """Survival 1/2 from 5 on."""

    _predict_risk_score = False

    def fit(self, X, y):
        self.mean_ = y["time"].mean()
        return self

    def predict(self, X):
        return X[:, 0] + self.mean_

    def predict_survival_function(self, X):
        return [Curve([5.0, 6.0], [0.5, 0.25]) for _ in X]


def test_a_function_returns_risks_or_probabilities():
    sample, sets = patients(30), learning_sets(patients(30), 15, 2)
    same_as(predicted(sample, first_column, sets), np.tile(sample.matrix[:, 0], (2, 1)), sets)

    def both(X_train, y_train, X_test):
        return np.column_stack([X_test[:, 0] > 0, X_test[:, 0] > 1])

    found = predicted(sample, both, sets, TIMES)
    assert found.shape == (2, 30, 2)
    with pytest.raises(ValueError, match="one column for each time of the metric"):
        predicted(sample, first_column, sets, TIMES)
    with pytest.raises(ValueError, match="needs probabilities of an event, between 0 and 1"):
        predicted(sample, first_column, sets, TIMES[:1])


def test_rows_of_a_function_keep_their_names():
    sample, sets = patients(30), learning_sets(patients(30), 15, 2)

    def turned(X_train, y_train, X_test):
        return pd.Series(np.zeros(len(X_test)), index=X_test.index[::-1])

    object.__setattr__(sample, "features", pd.DataFrame(sample.features))
    with pytest.raises(ValueError, match="X_test and the predictions have the same index in"):
        predicted(sample, turned, sets)


def test_signs_and_steps_of_an_estimator():
    sample, sets = patients(30), learning_sets(patients(30), 15, 2)
    times = np.where(sets, sample.survival_times.time, np.nan)
    expected = -(sample.matrix[:, 0] + np.nanmean(times, axis=1, keepdims=True))
    same_as(predicted(sample, Steps(), sets), expected, sets)
    found = predicted(sample, Steps(), sets, (4.0, 5.0, 9.0))[~sets]
    np.testing.assert_array_equal(found, np.tile([0.0, 0.5, 0.75], (len(found), 1)))


@pytest.mark.parametrize(
    ("learner", "times", "message"),
    [
        (LinearRegression(), (), "is a regressor and does not learn survival times"),
        (make_pipeline(StandardScaler(), LinearRegression()), TIMES, "is a regressor and does"),
    ],
)
def test_learners_of_numbers_are_refused(learner, times, message):
    with pytest.raises(ValueError, match=message):
        predicted(patients(30), learner, learning_sets(patients(30), 15, 2), times)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_cox_is_that_of_scikit_survival(ties):
    linear = pytest.importorskip("sksurv.linear_model")
    sample, sets = patients(60), learning_sets(patients(60), 30, 3)
    cox = f"cox:2.0,ties={ties}"
    ours = linear.CoxPHSurvivalAnalysis(alpha=2.0, ties=ties, tol=1e-12, n_iter=100)
    for learner in (ours, make_pipeline(StandardScaler(with_std=False), ours)):
        found = predicted(sample, learner, sets)
        ranks = [np.argsort(each[~row]) for each, row in zip(found, sets, strict=True)]
        expected = predicted(sample, cox, sets)
        for each, row, rank in zip(expected, sets, ranks, strict=True):
            np.testing.assert_array_equal(np.argsort(each[~row]), rank)
    same_as(predicted(sample, ours, sets), expected, sets, atol=1e-8)
    if ties == "breslow":
        found = predicted(sample, ours, sets, TIMES)
        same_as(found, predicted(sample, cox, sets, TIMES), sets, atol=1e-8)


@of_lifelines
def test_cox_is_that_of_lifelines():
    lifelines = pytest.importorskip("lifelines")
    sample, sets = patients(60), learning_sets(patients(60), 30, 2)
    fitter = lifelines.CoxPHFitter()
    found = np.log(predicted(sample, fitter, sets))
    difference = found - predicted(sample, "cox", sets)
    for each, row in zip(difference, sets, strict=True):
        # It ends where half the Newton decrement is 1e-7.
        np.testing.assert_allclose(each[~row], each[~row].mean(), atol=1e-3)
    assert fitter.__dict__.get("params_") is None


@of_lifelines
def test_parametric_models_of_lifelines():
    lifelines = pytest.importorskip("lifelines")
    sample, sets = patients(60), learning_sets(patients(60), 30, 2)
    object.__setattr__(sample.survival_times, "time", sample.survival_times.time + 0.5)
    fitter = lifelines.WeibullAFTFitter()
    risk = predicted(sample, fitter, sets)
    found = predicted(sample, fitter, sets, TIMES)
    assert found.shape == (2, 60, 2)
    for each, probability, row in zip(risk, found, sets, strict=True):
        np.testing.assert_array_equal(np.argsort(each[~row]), np.argsort(probability[~row][:, 1]))
    single = predicted(sample, fitter, sets, TIMES[:1])
    same_as(single, found[:, :, 0], sets)
