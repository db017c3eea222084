"""What 0.1.0 saved is read by this version, and means the same."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ucvtest_mlflow.records import Record

import ucvtest as uv

SAVED = Path(__file__).parent / "saved"
"""Written by `write_saved.py`."""

RESULTS = ("result", "result_bayesian", "result_mcnemar")
KINDS: dict[str, Any] = {
    **dict.fromkeys(RESULTS, uv.TestResult),
    "joint_result": uv.JointResult,
    "comparison": uv.Comparison,
    "comparison_joint": uv.Comparison,
    "equivalence": uv.EquivalenceResult,
    "noninferiority": uv.NoninferiorityResult,
    "plan": uv.SamplePlan,
    "selection": uv.ModelSelection,
    "losses": uv.Losses,
    "losses_of_rules": uv.Losses,
}
"""The class of what is in each file."""

LOSSES = [name for name, kind in KINDS.items() if kind is uv.Losses]


def read(name: str) -> Any:
    return json.loads((SAVED / f"{name}.json").read_text())


def lost(before: Any, now: Any, path: str = "") -> list[str]:
    """Where what was saved is no longer there, or is different.

    Mappings may have got further keys, and the format a higher version. Nothing else may differ.
    """
    if isinstance(before, dict) and isinstance(now, dict):
        found = [f"{path}.{key} is gone" for key in before if key not in now]
        for key in before.keys() & now.keys():
            if key == "version" and "format" in before:
                found += [] if now[key] >= before[key] else [f"{path}.version went back"]
            else:
                found += lost(before[key], now[key], f"{path}.{key}")
        return found
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [each for i, (old, new) in pairs for each in lost(old, new, f"{path}[{i}]")]
    if type(before) is type(now) and before == now:
        return []
    return [f"{path} was {before!r}, is {now!r}"]


def test_every_file_is_tested():
    assert {path.stem for path in SAVED.glob("*.json")} == {*KINDS, "record"}
    assert {path.stem for path in SAVED.glob("*.npz")} == set(LOSSES)


@pytest.mark.parametrize("name", KINDS)
def test_what_was_saved_is_read(name):
    before = read(name)
    assert before["version"] == 1
    now = KINDS[name].from_dict(before)
    assert lost(before, json.loads(json.dumps(now.to_dict()))) == []
    assert name in LOSSES or now.verdict
    for version in (2, 0, None, "1", True):
        with pytest.raises(ValueError, match="version"):
            KINDS[name].from_dict({**before, "version": version})


def test_files_hold_every_part_that_has_a_form_of_its_own():
    posterior, rules = (read(name) for name in ("result_bayesian", "result_mcnemar"))
    assert posterior["posterior"] is not None
    assert rules["rule"] is not None
    assert read("plan")["pictures"]
    assert read("comparison")["together"]
    assert read("comparison_joint")["joint"]
    assert "groups" in read("losses")


@pytest.mark.parametrize("name", RESULTS)
def test_results_show_what_they_did(name):
    result = uv.TestResult.from_dict(read(name))
    assert result.method in result.summary().as_text()
    assert result.plot_kinds
    assert len(result.summary_frame()) == 1


@pytest.mark.parametrize("name", LOSSES)
def test_losses_from_both_forms_have_the_same_bits(name):
    one, other = (uv.Losses.load(SAVED / f"{name}.{suffix}") for suffix in ("json", "npz"))
    assert lost(read(name), json.loads(json.dumps(other.to_dict()))) == []
    assert one.design == other.design
    for field in ("means", "values", "target", "groups"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), strict=True)


@pytest.mark.parametrize(
    ("name", "cls"), [("losses", uv.CorrectedTTest), ("losses_of_rules", uv.DeLongTest)]
)
def test_losses_can_be_tested(name, cls):
    losses = uv.Losses.load(SAVED / f"{name}.npz")
    assert np.isfinite(cls.from_losses(losses, *losses.learners[:2]).fit().estimate)


def test_records_on_their_way_to_mlflow_are_read():
    text = (SAVED / "record.json").read_text()
    assert json.loads(text)["version"] == 1
    assert lost(json.loads(text), json.loads(Record.from_json(text).to_json())) == []


def test_what_was_lost_is_found():
    before = {"format": "x", "version": 2, "a": [1, {"b": 1.0}]}
    assert lost(before, {**before, "version": 3, "new": 0}) == []
    assert lost(before, {**before, "version": 1}) == [".version went back"]
    assert lost(before, {"format": "x", "version": 2}) == [".a is gone"]
    assert lost(before, {**before, "a": [1, {"b": 2.0}]}) == [".a[1].b was 1.0, is 2.0"]
    assert lost([1], [1, 2]) == [" was [1], is [1, 2]"]
    assert lost([1], [1.0]) == ["[0] was 1, is 1.0"]
