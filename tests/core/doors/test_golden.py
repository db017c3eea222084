"""The same numbers in Python and in R, whose tests read the same file."""

import csv

import numpy as np
import pytest

from tests.support.golden import CASES, FILE, NUMBERS, numbers_of, result_of

with FILE.open() as file:
    ROWS = list(csv.DictReader(file))


def test_the_file_has_all_cases() -> None:
    assert [(row["test"], row["arguments"]) for row in ROWS] == CASES


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['test']} {row['seed']}")
def test_numbers_are_those_of_the_file(row: dict[str, str]) -> None:
    result = result_of(row["test"], row["arguments"], int(row["rng"]))
    expected = [float(row[name]) for name in NUMBERS]
    # BLAS has other kernels, and so other roundings, on other processors: 1e-10 was seen.
    np.testing.assert_allclose(numbers_of(row["test"], result), expected, rtol=1e-8)
