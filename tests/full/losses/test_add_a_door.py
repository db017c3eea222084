"""A new door to losses is a page: the reader of columns does all but say what the numbers mean."""

import inspect

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from ucvtest.common.arrays import as_numbers
from ucvtest.designs import Design
from ucvtest.losses.columns import Columns, as_rows, refuse_other_rows

MOST_LINES = 16
"""Lines of code of a door. They only go down."""


def from_stars(stars, groups=None):
    """Make losses from the stars, 0 to 5, that each model got for its answers."""
    columns = Columns.read("stars", stars, groups=groups)
    refuse_other_rows(columns.by_argument | columns.of_rows)
    rows = {name: as_numbers(f"stars[{name!r}]", x) for name, x in columns.learners.items()}
    values = as_rows(rows, argument="stars", remedy=": rate all answers")
    return columns.table(
        uv.Losses,
        Design.of_fixed_rules(values.shape[1]),
        values=values,
        loss="stars",
        in_words="mean number of stars",
        bounds=(0.0, 5.0),
        greater_is_better=True,
        settings={"source": "stars"},
    )


TABLE = pd.DataFrame(
    {"old": [3, 4, 5, 1, 2, 2], "new": [4, 4, 5, 2, 2, 4], "rater": list("aabbcc")},
    index=list("uvwxyz"),
)


def test_a_door_is_a_page():
    lines = inspect.getsource(from_stars).splitlines()
    assert len(lines) - 1 <= MOST_LINES


def test_it_has_names_files_clusters_and_tests(tmp_path):
    TABLE.to_csv(tmp_path / "stars.csv", index=False)
    for given in (TABLE, tmp_path / "stars.csv", dict(TABLE)):
        losses = from_stars(given, groups="rater")
        assert losses.learners == ("old", "new")
        result = uv.HoldOutTest.from_losses(losses).fit()
        assert result.estimand.startswith("difference in mean number of stars of these rules")
        assert (result.better, result.df) == ("higher", 2)
        assert result.estimate == pytest.approx(-2 / 3)
    known = uv.Losses.from_predictions(None, TABLE, loss="score", groups="rater")
    assert uv.HoldOutTest.from_losses(known).fit().se == result.se
    assert uv.Losses.from_dict(losses.to_dict()) == losses


@pytest.mark.parametrize(
    ("stars", "groups", "message"),
    [
        (TABLE, "judge", "groups='judge' is not a column of stars, which has 'old', 'new'"),
        (TABLE[["rater"]], "rater", "stars has no column except groups"),
        ({"a": TABLE["old"], "b": TABLE["new"][::-1]}, None, "the same index in another order"),
        ({"a": TABLE["old"]}, TABLE["rater"][1:], "have different indices"),
        ({"a": [1, 2], "b": [1]}, None, r"stars\['b'\] has 1 values, but 2 are needed: rate all"),
        ({"a": list("xy")}, None, "contains strings where numbers are needed"),
        ([[1, 2]], None, "stars must map names to columns"),
        ({"a": [1, 6]}, np.ones(2), "groups names one group only"),
    ],
)
def test_it_refuses_as_other_doors_do(stars, groups, message):
    with pytest.raises(ValueError, match=message):
        from_stars(stars, groups)
