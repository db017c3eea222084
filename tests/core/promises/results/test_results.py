"""The result as a value: immutable, written and read without loss, hashable."""

import copy
import json
import math
import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pytest

from tests.support.results import sample_result
from ucvtest.results.plot_data import Layer, Picture
from ucvtest.results.result import TestResult

RESULT = sample_result(
    se=0.1,
    method="Example",
    estimand="difference",
    settings={"rng": None, "learner": "lda"},
    diagnostics={"curve": np.array([1.0, np.nan, np.inf]), "least": -math.inf, "n": np.int64(3)},
    notes=("One.",),
    tables={"Table": {"name": ("a", "b"), "value": (1.0, math.nan)}},
    pictures={
        "null distribution": Picture(
            "errors",
            "probability",
            [Layer("bars", x=[0, 1], y=[0.5, math.nan], width=0.5), Layer("horizontal", y=0.1)],
        )
    },
)


def by_json(result):
    return TestResult.from_dict(json.loads(result.to_json()))


def by_pickle(result):
    return pickle.loads(pickle.dumps(result))


LABELS = [
    Decimal("0.10"),
    Fraction(2, 3),
    date(2024, 2, 29),
    datetime(2024, 2, 29, 12, 30, 0, 5),
    datetime(2024, 2, 29, tzinfo=UTC),
    b"\x00\xff",
]


@pytest.mark.parametrize("label", LABELS, ids=lambda label: type(label).__name__)
@pytest.mark.parametrize("way", [by_json, by_pickle, copy.deepcopy])
def test_labels_that_json_lacks_come_back(way, label):
    both = np.array([label, None], dtype=object)
    found = way(
        sample_result(
            settings={"pos_label": label},
            diagnostics={"classes": both},
            tables={"Classes": {"class": (label,)}},
        )
    )
    for same in (
        found.settings["pos_label"],
        found.diagnostics["classes"][0],
        found.tables["Classes"]["class"][0],
    ):
        assert (type(same), same) == (type(label), label)
        assert str(same) == str(label)


def test_labels_of_any_other_type_are_written_in_words():
    result = sample_result(settings={"pos_label": UUID(int=1), "range": {"type": "?", "value": 1}})
    assert by_json(result).settings["pos_label"] == "00000000-0000-0000-0000-000000000001"
    assert by_json(result).settings["range"] == {"type": "?", "value": 1}


def test_immutable():
    with pytest.raises(FrozenInstanceError):
        RESULT.estimate = 0.0
    with pytest.raises(TypeError):
        RESULT.settings["rng"] = 1
    with pytest.raises(ValueError, match="read-only"):
        RESULT.diagnostics["curve"][0] = 2.0


@pytest.mark.parametrize(
    ("alternative", "low", "high"),
    [
        ("two-sided", -0.335996, 0.055996),
        ("less", -math.inf, 0.024485),
        ("greater", -0.304485, math.inf),
    ],
)
def test_intervals(alternative, low, high):
    result = replace(RESULT, alternative=alternative)
    assert result.conf_int() == pytest.approx((low, high), abs=1e-6)
    interval = result.confidence_interval(0.95)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)
    frame = result.summary_frame()
    assert (frame.conf_low[0], frame.conf_high[0]) == pytest.approx((low, high), abs=1e-6)


def test_t_intervals_are_wider():
    low, high = replace(RESULT, reference="t", df=5.0).conf_int()
    assert (low, high) == pytest.approx((-0.397058, 0.117058), abs=1e-6)


def test_the_representation_has_the_interval_where_there_is_one():
    result = sample_result()
    low, high = result.conf_int()
    shown = f"estimate={result.estimate:.6g}, conf_int=({low:.6g}, {high:.6g}), se="
    assert shown in repr(result)
    assert "conf_int" not in repr(replace(result, se=math.nan))
