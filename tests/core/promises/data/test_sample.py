"""The sample: what is read from X and y, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from ucvtest.data.sample import as_response, make_sample, response_has_classes, taken_for_classes

X = np.arange(12.0).reshape(6, 2)
LABELS = np.array(["a", "b"])[np.arange(6) % 2]


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (LABELS, True),
        (pd.Categorical(LABELS), True),
        (pd.Series(LABELS, dtype="string"), True),
        (np.arange(6) % 2 == 0, True),
        (pd.Series([1, 0] * 3, dtype="Int64"), True),
        (np.array([1, 0] * 3, dtype=object), True),
        ([1.0, 2.0] * 3, True),
        ([0.5, 2.0] * 3, False),
        (np.array([0.5, 2] * 3, dtype=object), False),
        (pd.Series([0.5, 2.0] * 3, dtype="Float64"), False),
    ],
)
def test_labels_and_numbers_are_told_apart(y, expected):
    assert response_has_classes(y) == expected


MANY = np.arange(60) % 30
FEW = np.arange(60) % 20
LETTERS = MANY.astype(str)


@pytest.mark.parametrize(
    ("y", "output", "regresses", "expected"),
    [
        (MANY, "label", True, True),
        (MANY, "score", False, True),
        (MANY, "number", False, False),
        (MANY, None, True, False),
        (FEW, None, True, False),
        (FEW, None, False, True),
        (FEW.astype(float), None, False, True),
        (FEW / 3, None, False, False),
        (FEW / 3, "label", False, False),
        (FEW % 2, "number", True, True),
        (FEW % 2, None, True, True),
        (LETTERS, None, False, True),
        (LETTERS, "number", True, True),
    ],
)
def test_who_decides_between_labels_and_amounts(y, output, regresses, expected):
    assert taken_for_classes(y, output, regresses=regresses) == expected


@pytest.mark.parametrize("y", [MANY, MANY.astype(float), np.array([1, 2, 3, 4, 5]), FEW[:21]])
def test_where_nothing_decides_many_whole_numbers_are_refused(y):
    n_values = len(np.unique(y))
    with pytest.raises(ValueError, match=f"^y contains {n_values} different whole .*squared"):
        taken_for_classes(y)
    assert taken_for_classes(y, pos_label=1)


def test_a_single_column_is_a_vector():
    assert as_response(pd.DataFrame({"y": LABELS})).tolist() == LABELS.tolist()


@pytest.mark.parametrize("y", [LABELS, pd.Categorical(LABELS), pd.Series(LABELS, dtype="string")])
def test_classes_ascend_and_the_positive_one_is_last(y):
    sample = make_sample(X, y, as_classes=True)
    assert sample.classes.tolist() == ["a", "b"]
    assert sample.target.tolist() == [0, 1] * 3
    flipped = make_sample(X, y, as_classes=True, pos_label="a")
    assert flipped.classes.tolist() == ["b", "a"]
    assert flipped.target.tolist() == [1, 0] * 3


def test_the_positive_one_of_three_is_last():
    sample = make_sample(X, [3, 1, 2] * 2, as_classes=True, pos_label=1)
    assert sample.classes.tolist() == [2, 3, 1]
    assert sample.class_index.tolist() == [1, 2, 0] * 2


def test_results_do_not_depend_on_the_layout_in_memory() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 7)), rng.normal(size=40)
    estimates = {
        uv.UStatisticTest(each, y, "ridge:1.0").fit(n_pairs=50, rng=0).estimate
        for each in (X, np.asfortranarray(X), pd.DataFrame(X), X.repeat(2, axis=1)[:, ::2])
    }
    assert len(estimates) == 1


@pytest.mark.parametrize(
    ("wrap", "shift"), [(pd.Categorical, 0), (lambda y: pd.Series(pd.Categorical(y)), 0.5)]
)
def test_a_categorical_holds_labels_whatever_its_categories_are(wrap, shift):
    y = np.arange(50) % 25 + shift
    assert taken_for_classes(wrap(y))
    assert taken_for_classes(wrap(y), regresses=True)
    assert not taken_for_classes(wrap(y), "number")
    losses = uv.evaluate("majority", np.eye(50), wrap(y), 2, rng=0)
    assert losses.in_words == "error rate"
