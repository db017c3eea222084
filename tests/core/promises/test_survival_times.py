"""Tests that are not about survival refuse survival times, and take them for no labels."""

import datetime

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv

N = 44
TIME = np.arange(N) % 23 + 1.0
EVENT = np.arange(N) % 3 > 0
X = np.column_stack([TIME, np.arange(N) % 5])
STRUCTURED = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("event", "?"), ("time", "f8")])
LEARNING = np.array([[0, 1], [1, 0]]).repeat(N // 2, axis=1)

CENSORED = {
    "uv.survival": uv.survival(TIME, EVENT),
    "scikit-survival": STRUCTURED,
    "a list of its rows": list(STRUCTURED),
    "a record array": np.rec.fromarrays([EVENT, TIME], names="status,days"),
    "time and status": np.column_stack([TIME, EVENT]),
    "status and time": np.column_stack([EVENT, TIME]),
    "a data frame": pd.DataFrame({"time": TIME, "status": EVENT}),
    "pairs": list(zip(TIME.tolist(), EVENT.tolist(), strict=True)),
}
DURATIONS = {
    "of pandas": pd.Series(pd.to_timedelta(TIME, unit="D")),
    "of numpy": TIME.astype("timedelta64[D]"),
    "of Python": [datetime.timedelta(days=each) for each in TIME],
    "objects of pandas": list(pd.to_timedelta(TIME, unit="D")),
    "dates": pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(TIME, unit="D")),
    "texts": [f"{each:g} days" for each in TIME],
    "texts of pandas": pd.Series(pd.to_timedelta(TIME, unit="D")).astype(str) + " 04:00:00",
}
CALLS = {
    "a test": lambda y: uv.CorrectedTTest(X, y, "lda", "majority"),
    "a comparison": lambda y: uv.compare(X, y, ["lda", "majority"], "corrected_t"),
    "losses": lambda y: uv.evaluate("lda", X, y, 3),
    "a selection": lambda y: uv.select_model(X, y, ["lda", "majority"]),
    "predictions": lambda y: uv.Losses.from_predictions(y, {"a": TIME}, loss="squared"),
    "an area": lambda y: uv.Losses.from_predictions(y, {"a": TIME}, loss="auc"),
    "arrays": lambda y: uv.Losses.from_arrays(np.zeros((1, 2, N)), LEARNING, y=y),
    "a plan": lambda y: uv.plan(X, y, "lda", "majority", width=0.1),
}


@pytest.mark.parametrize("call", CALLS)
def test_censored_times_and_durations_are_no_labels(call):
    for censored in CENSORED.values():
        with pytest.raises(ValueError, match="y is a survival time"):
            CALLS[call](censored)
    for durations in DURATIONS.values():
        with pytest.raises(ValueError, match=r"dates or times|durations as texts"):
            CALLS[call](durations)


def test_other_responses_stay_what_they_are():
    for y in (EVENT, TIME, pd.cut(TIME, 3), ["1 days", "2 days"] * (N // 2), EVENT[:, None]):
        uv.evaluate("majority" if y is not TIME else "ridge:1.0", X, y, 3, rng=0)
    given = np.column_stack([EVENT, ~EVENT]).astype(float)
    losses = uv.Losses.from_predictions(EVENT, {"a": given[:, 0]}, loss="brier")
    assert losses.means[0, 0] == 0
