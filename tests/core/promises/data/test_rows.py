"""Rows that repeat and columns that number them are said, and samples as they are by nature not."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

import ucvtest as uv
from ucvtest.common.exceptions import UcvtestWarning
from ucvtest.data.formula import read_formula
from ucvtest.data.rows import remarks_on

RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=(40, 3))
TWICE, Y = np.repeat(NOISE, 2, axis=0), np.repeat(RNG.integers(0, 2, 40), 2)
REPEATED = "X has 40 pairs of identical rows; 0.049 would be expected by chance"


def expected_pairs(X):
    """How many pairs are equal on average where columns are independent."""
    n = len(X)
    shares = [np.mean(column[:, None] == column) for column in X.T]
    return n * (n - 1) / 2 * np.prod(shares)


def pairs(X):
    equal = (X[:, None] == X).all(axis=2)
    return int((equal.sum() - len(X)) / 2)


@pytest.mark.parametrize("n_values", [2, 4, 9, 25])
@pytest.mark.parametrize("n_copies", [1, 2, 3, 8])
def test_the_rule_is_that_of_a_slow_count(n_values, n_copies):
    rng = np.random.default_rng(n_values)
    X = np.repeat(rng.integers(0, n_values, size=(60, 3)).astype(float), n_copies, axis=0)
    too_many = pairs(X) >= 3 and pairs(X) > 10 * (expected_pairs(X) + 1)
    found = remarks_on(X)
    assert [remark.text.startswith(f"X has {pairs(X)} pairs") for remark in found] == (
        [True] if too_many else []
    )
    if found:
        assert found[0].warns == (len(np.unique(X[:, 0])) > 20)


@pytest.mark.parametrize("load", ["iris", "wine", "breast_cancer", "diabetes"])
def test_known_samples_are_no_surprise(load):
    X, _ = getattr(datasets, f"load_{load}")(return_X_y=True)
    assert remarks_on(X) == remarks_on(X[:, :2]) == ()


@pytest.mark.parametrize(
    "features",
    [
        TWICE.astype(np.float32),
        np.column_stack([TWICE, np.where(np.arange(80) % 2, 0.0, -0.0)]),
        pd.DataFrame(TWICE),
        pd.DataFrame(TWICE).assign(word=np.repeat([f"w{i}" for i in range(40)], 2)),
        pd.DataFrame(TWICE).assign(word=pd.Categorical(np.repeat(list("ab") * 20, 2))),
        TWICE.astype(object),
        np.where(TWICE > 1, np.nan, TWICE),
    ],
    ids=["single", "zeros", "frame", "words", "categories", "objects", "missing"],
)
def test_repeated_rows_of_every_kind(features):
    (remark,) = remarks_on(features)
    assert remark.text.startswith("X has 40 pairs of identical rows")
    assert remark.warns


def test_a_column_that_numbers_the_rows_does_not_hide_copies():
    X = RNG.normal(size=(40, 5)) * 1000
    X = np.c_[np.arange(80), np.vstack([X, X])]
    copies, number = remarks_on(X)
    assert copies.warns
    assert copies.text.startswith("X has 40 pairs of identical rows, leaving out column 0;")
    assert number.text.startswith("Column 0 of X numbers the rows")
    assert [remark.warns for remark in remarks_on(X[:, :1])] == [False]


AGE = RNG.integers(20, 80, 200).astype(float)
IRIS = datasets.load_iris(return_X_y=True)[0]


@pytest.mark.parametrize(
    "features",
    [
        np.c_[AGE, AGE**2],
        np.c_[AGE, (AGE - 50) ** 2, (AGE - 50) ** 3, -AGE],
        np.c_[AGE > 50, AGE, AGE > 40],
        IRIS[:, [0, 1, 0]],
        np.c_[IRIS[:, :2], IRIS[:, :2] ** 2, IRIS[:, :2] ** 3],
        pd.DataFrame({"age": AGE}).astype(str).iloc[:, [0, 0]],
    ],
    ids=["square", "polynomial", "thresholds", "copy", "powers", "words"],
)
def test_columns_derived_from_others_are_no_surprise(features):
    assert remarks_on(features) == ()


@pytest.mark.parametrize("n_copies", [2, 4])
def test_copies_with_derived_columns_are_found(n_copies):
    X = np.repeat(RNG.normal(size=(40, 3)), n_copies, axis=0)
    (remark,) = remarks_on(np.c_[X, X**2, X[:, :1]])
    (plain,) = remarks_on(X)
    assert remark.warns
    assert remark.text.split(" rows")[0] == plain.text.split(" rows")[0]


TERMS = ["age * weight", "poly(age, 2) + weight", "bs(age, df=6)", "(age + sex)**2"]


@pytest.mark.parametrize("terms", TERMS)
def test_columns_of_formulas_repeat_with_their_variables(terms):
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {"y": np.arange(200) % 2, "age": AGE, "weight": rng.integers(50, 99, 200) * 1.0}
    ).assign(sex=rng.choice(["f", "m"], 200))
    assert remarks_on(read_formula(f"y ~ {terms}", data)[1]) == ()
    data["weight"] = rng.normal(size=200)
    (remark,) = remarks_on(read_formula(f"y ~ {terms} + weight", pd.concat([data] * 2))[1])
    assert remark.warns
    assert remark.text.startswith("X has 200 pairs of identical rows")


def test_values_without_a_hash_are_taken_to_be_distinct():
    assert remarks_on(pd.DataFrame({"a": [[1]] * 40})) == ()


@pytest.mark.parametrize("first", [0, 1, 100])
def test_a_column_that_numbers_the_rows(first):
    number = RNG.permutation(40) + first
    (remark,) = remarks_on(pd.DataFrame(NOISE).assign(id=number))
    assert not remark.warns
    assert remark.text.startswith(
        f"Column 'id' of X numbers the rows: its values are {first} to {first + 39}, each once."
    )
    assert remarks_on(np.column_stack([NOISE, number]))[0].text.startswith("Column 3 of X")
    for other in (number + 0.5, np.where(number == first, first + 1, number), 2 * number):
        assert remarks_on(np.column_stack([NOISE, other])) == ()


def test_a_test_warns_once_and_notes_it():
    with pytest.warns(UcvtestWarning, match=REPEATED) as caught:
        test = uv.UStatisticTest(TWICE, Y, "knn:1", "lda")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = test.fit(50, rng=0)
    assert [REPEATED in note for note in result.notes].count(True) == 1


def test_a_comparison_warns_once_and_notes_it_in_every_result():
    tests = ["corrected_t", "mcnemar", uv.TestSpec("ustatistic", fit={"n_pairs": 50})]
    with pytest.warns(UcvtestWarning, match=REPEATED) as caught:
        found = uv.compare(TWICE, Y, ["knn:1", "lda", "majority"], tests, rng=0)
    assert len(caught) == 1
    for result in found.results.values():
        assert [REPEATED in note for note in result.notes].count(True) == 1


def test_losses_and_models_warn_once():
    with pytest.warns(UcvtestWarning, match=REPEATED) as caught:
        losses = uv.evaluate(["knn:1", "lda"], TWICE, Y, rng=0)
    assert len(caught) == 1
    with pytest.warns(UcvtestWarning, match=REPEATED) as caught:
        uv.select_model(TWICE, Y, ["knn:1", "lda"], n_permutations=10, rng=0)
    assert len(caught) == 1
    assert uv.CorrectedTTest.from_losses(losses).fit().status == "ok"


def test_what_repeats_by_nature_is_noted_without_a_warning():
    X = np.repeat(RNG.integers(1, 11, size=(30, 6)), 3, axis=0).astype(float)
    result = uv.CorrectedTTest(X, np.arange(90) % 2, "knn:1", "lda").fit(rng=0)
    assert any(note.startswith("X has 90 pairs of identical rows") for note in result.notes)


def test_numbered_rows_are_noted():
    X = pd.DataFrame(NOISE).assign(row=np.arange(40))
    X.columns = X.columns.astype(str)
    result = uv.CorrectedTTest(X, np.arange(40) % 2, "knn:1", "lda").fit(rng=0)
    assert result.notes[-1].startswith("Column 'row' of X numbers the rows")


PATIENTS = np.repeat([f"P{number:02}" for number in range(12)], 4)
ILL = np.repeat([0, 1] * 6, 4)
WARDS = np.tile(list("abc"), 16)


def names_of_units(y=ILL, **columns):
    table = pd.DataFrame({"age": RNG.normal(size=48), "ward": WARDS, **columns})
    losses = uv.CorrectedTTest(table, y, lambda X, y, new: np.full(len(new), y[0]), "majority")
    return [note for note in losses.fit(rng=0).notes if "text that repeats" in note]


@pytest.mark.parametrize("kind", [object, "category", "string"])
@pytest.mark.parametrize("y", [ILL, np.repeat(np.arange(12) % 3, 4), np.where(ILL, "yes", "no")])
def test_text_that_repeats_and_decides_the_class_is_named_with_groups(y, kind):
    (note,) = names_of_units(y, patient=pd.Series(PATIENTS, dtype=kind))
    assert note.startswith(
        "Column 'patient' of X is text that repeats, and rows with one of its 12"
    )
    assert "(groups)" in note


def test_text_that_repeats_and_decides_a_number_is_named_too():
    amounts = np.repeat(np.random.default_rng(1).normal(size=12), 4)
    frame = pd.DataFrame({"patient": PATIENTS, "age": RNG.normal(size=48)})
    test = uv.CorrectedTTest(frame, amounts, lambda X, y, new: np.full(len(new), y[0]))
    assert "Column 'patient' of X is text that repeats" in " ".join(test.fit(rng=0).notes)


def test_a_formula_is_read_for_names_of_units():
    data = pd.DataFrame({"ill": ILL, "patient": PATIENTS, "age": RNG.normal(size=48)})
    test = uv.CorrectedTTest.from_formula("ill ~ .", data, "ridge:1", "majority")
    assert "Column 'patient' of X is text that repeats" in " ".join(test.fit(rng=0).notes)
    grouped = uv.CorrectedTTest.from_formula(
        "ill ~ .", data, "ridge:1", "majority", groups="patient", design=4
    )
    assert "text that repeats" not in " ".join(grouped.fit(rng=0).notes)


@pytest.mark.parametrize(
    "patient",
    [
        [f"row {row}" for row in range(48)],
        np.roll(PATIENTS, 1),
        np.where(ILL, "yes", "no"),
        [*np.repeat(["a", "b"], 3), *(f"row {row}" for row in range(42))],
    ],
)
def test_other_text_names_no_units(patient):
    assert names_of_units(patient=patient) == []
