"""What is taken for survival times, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from ucvtest.data.survival_response import as_survival

TIME, EVENT = [5.0, 8.0, 3.0, 0.0], [True, False, True, True]
STRUCTURED = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("dead", "?"), ("t", "f8")])

DOORS = {
    "a structured array": STRUCTURED,
    "a record array": np.rec.fromarrays([TIME, EVENT], names="days,status"),
    "a frame of booleans": pd.DataFrame({"follow-up": TIME, "x": EVENT}),
    "a frame of zeros and ones": pd.DataFrame({"days": TIME, "x": np.array(EVENT) * 1}),
    "nullable columns": pd.DataFrame({"days": TIME, "x": EVENT}).convert_dtypes(),
    "times themselves": uv.survival(TIME, EVENT),
}


@pytest.mark.parametrize("door", DOORS)
def test_what_holds_times_and_events_is_recognised(door):
    found = as_survival(DOORS[door])
    assert found == uv.survival(TIME, EVENT) == uv.survival(DOORS[door])
    assert found.time.dtype == float
    assert found.event.dtype == bool


def test_names_decide_where_both_columns_hold_zeros_and_ones():
    found = uv.survival(pd.DataFrame({"Status": [1, 0, 1], "time": [1, 1, 0]}))
    assert found == uv.survival([1, 1, 0], [1, 0, 1])
    assert as_survival(pd.DataFrame({"a": [1, 0, 1], "b": [1, 1, 0]})) is None


@pytest.mark.parametrize("other", [TIME, np.column_stack([TIME, EVENT]), pd.DataFrame({"a": TIME})])
def test_other_responses_are_not_recognised(other):
    assert as_survival(other) is None


def test_they_are_immutable_taken_apart_and_kept():
    found = uv.survival(TIME, EVENT)
    assert (len(found), found.n_obs, found.n_events) == (4, 4, 3)
    assert found.take([1]) == found.take(np.arange(4) == 1)
    assert found.take([1]).n_events == 0
    assert found != uv.survival(TIME, [True] * 4)
    assert pickle.loads(pickle.dumps(found)) == found
    named = uv.survival(pd.Series(TIME, index=list("abcd")), EVENT)
    assert named == found
    assert named.take([2, 0]).index.tolist() == ["c", "a"]
    with pytest.raises(ValueError, match="read-only"):
        found.time[0] = 1
