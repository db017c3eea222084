import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import ucvtest as uv
from tests.support.samples import breast_cancer, evaluate, iris, learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.learners import majority


@pytest.mark.parametrize("make", [breast_cancer, iris], ids=["two classes", "three classes"])
def test_labels_agree_with_scikit_learn(make):
    sample = make()
    learning = learning_sets(sample, 24)
    found = evaluate(sample, "majority", "label", learning)
    expected = evaluate(sample, DummyClassifier(), "label", learning).values
    np.testing.assert_array_equal(found.values, expected)
    counts = [np.sort(np.bincount(sample.class_index[row], minlength=2)) for row in learning]
    tied = sum(count[-1] == count[-2] for count in counts)
    assert found.ties == {"class_ties": tied * (sample.n_obs - 24)}
    assert tied > 0


def test_the_share_of_the_positive_class_is_score_and_probability():
    sample = breast_cancer()
    learning = learning_sets(sample, 24)
    share = np.array([sample.class_index[row].mean() for row in learning])[:, None]
    for output in ("score", "probability", "number"):
        found = evaluate(sample, "majority", output, learning).values
        np.testing.assert_array_equal(found, np.where(learning, np.nan, share))


@pytest.mark.parametrize(("tie", "expected"), [("first", 0.0), ("second", 1.0), ("half", 0.5)])
def test_ties_of_two_classes(tie, expected):
    sample = make_sample(np.zeros((6, 1)), np.array(list("aabbab")), as_classes=True)
    learning = np.array([[1, 1, 1, 1, 0, 0], [1, 0, 1, 1, 0, 0]], dtype=bool)
    found = evaluate(sample, majority(tie), "label", learning)
    np.testing.assert_array_equal(found.values[0, 4:], [expected, expected])
    np.testing.assert_array_equal(found.values[1, 4:], [1.0, 1.0])
    assert found.ties == {"class_ties": 2}


@pytest.mark.parametrize(("tie", "expected"), [("first", 1.0), ("second", 2.0)])
def test_ties_among_three_classes_are_between_those_tied(tie, expected):
    sample = make_sample(np.zeros((6, 1)), np.array([0, 1, 1, 2, 2, 0]), as_classes=True)
    learning = np.array([[1, 1, 1, 1, 1, 0]], dtype=bool)
    assert evaluate(sample, majority(tie), "label", learning).values[0, 5] == expected


def test_stands_beside_a_pipeline_that_imputes_and_encodes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=60), "sex": rng.choice(["f", "m"], 60)})
    X.loc[3, "age"] = np.nan
    y = rng.integers(0, 2, 60)
    columns = make_column_transformer((SimpleImputer(), ["age"]), (OneHotEncoder(), ["sex"]))
    pipeline = make_pipeline(columns, LogisticRegression())
    found = uv.evaluate({"none": "majority", "some": pipeline}, X, y, design=5, rng=0)
    numbers = uv.evaluate("majority", np.zeros((60, 1)), y, design=5, rng=0)
    assert np.array_equal(found.means[0], numbers.means[0])
