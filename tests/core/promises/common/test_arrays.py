"""What becomes an array without loss, and what is refused."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from ucvtest.common.arrays import as_array, as_numbers

DAYS = np.arange(3).astype("datetime64[D]")
LOST = {
    "masked": np.ma.masked_equal([1, 2, 3], 2),
    "masked values": np.array([1, np.ma.masked, 3], dtype=object),
    "complex": np.array([1, 2, 3j]),
    "dates or times": DAYS,
    "complex numbers": [1, 2, 3j],
    "complex numbers, whose": np.array([1, "b", 3j], dtype=object),
    "dates": pd.Series(DAYS),
    "dates or": pd.Series(pd.date_range("2020", periods=2, tz="UTC")),
    "times": pd.DataFrame({"t": DAYS - DAYS[0]}),
}


@pytest.mark.parametrize("word", LOST)
def test_what_would_be_lost_is_refused(word):
    for function in (as_array, as_numbers):
        with pytest.raises(ValueError, match=rf"^y (has|contains) .*{word}"):
            function("y", LOST[word])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["1", "2"], "strings"),
        (np.array([1, "2"], dtype=object), "strings"),
        (np.array([b"1"]), "strings"),
        (pd.Series(["1", "2"], dtype="category"), "strings"),
        ([date(2020, 1, 1)], "dates or times"),
    ],
)
def test_what_looks_like_numbers_is_no_number(value, words):
    as_array("y", value)
    with pytest.raises(ValueError, match=f"^y contains {words}"):
        as_numbers("y", value)


def test_rows_of_different_lengths_and_other_objects_are_refused():
    with pytest.raises(ValueError, match=r"^y cannot be made an array: "):
        as_numbers("y", [[1], [1, 2]])
    with pytest.raises(ValueError, match=r"^y must contain numbers: "):
        as_numbers("y", np.array([{}, 1], dtype=object))


@pytest.mark.parametrize(
    "value",
    [
        [1, 2],
        np.ma.array([1, 2]),
        [True, 2],
        pd.Series([1, 2], dtype="Int64"),
        pd.Series([1, 2], dtype="category"),
        np.array([Decimal(1), 2], dtype=object),
    ],
)
def test_numbers_are_numbers(value):
    found = as_numbers("y", value)
    assert found.dtype == float
    assert found.tolist() == [1.0, 2.0]


def test_an_array_of_floats_is_not_copied():
    value = np.ones(3)
    assert as_numbers("y", value) is value
