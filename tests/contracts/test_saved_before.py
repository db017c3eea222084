"""What an earlier version saved is read by this one, and means the same."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ucvtest as uv

SAVED = Path(__file__).parent / "saved"
RESULTS = sorted(path.name for path in SAVED.glob("result_*.json"))
LOSSES = sorted(path.stem for path in SAVED.glob("losses_*.json"))
TESTS = {
    "bayesian_t",
    "conservative_z",
    "corrected_t",
    "cross_validation_wald",
    "delong",
    "five_by_two_f",
    "five_by_two_t",
    "fold_covariance",
    "hold_out",
    "influence",
    "leave_pair_out",
    "mcnemar",
    "naive_t",
    "nested_cross_validation",
    "permutation",
    "ustatistic",
}


def read(name: str) -> Any:
    return json.loads((SAVED / name).read_text())


def lost(before: Any, now: Any, path: str = "") -> list[str]:
    """Where what was saved is no longer there, or is different.

    Mappings may have got further keys, and the format a higher version; nothing else may differ.
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


MOVED = ("better", "interval_name", "null_hypothesis", "assumption")
"""Fields that version 1 kept in the diagnostics of a result, as it did those of `posterior`."""


def where_they_were(result: Any) -> Any:
    """The dictionary of a result with its fields at their places of version 1 as well."""
    moved = {name: result[name] for name in MOVED} | (result["posterior"] or {})
    return {**result, "diagnostics": {**result["diagnostics"], **moved}}


def test_every_test_and_every_kind_of_losses_is_among_the_files():
    assert {f"result_{name}.json" for name in TESTS} <= set(RESULTS)
    assert all((SAVED / f"{name}.npz").exists() for name in LOSSES)
    assert len(LOSSES) == 10


@pytest.mark.parametrize("name", RESULTS)
def test_results(name):
    before = read(name)
    result = uv.TestResult.from_dict(before)
    now = json.loads(result.to_json())
    assert (before["version"], now["version"]) == (1, 4)
    assert lost(before, where_they_were(now)) == []
    assert now["diagnostics"].keys().isdisjoint(("better", "interval_name"))
    text = result.summary().as_text()
    assert result.method in text
    assert result.verdict.split()[0] in text
    assert result.plot_kinds
    assert len(result.summary_frame()) == 1


@pytest.mark.parametrize("name", ["auc", "hold_out", "mcnemar"])
def test_what_version_3_called_counts_is_the_rule(name):
    before = read(f"version_3_{name}.json")
    assert before["version"] == 3
    result = uv.TestResult.from_dict(before)
    now = json.loads(result.to_json())
    assert lost(before, {**now, "counts": now["rule"]}) == []
    kind = {"auc": "logit t", "hold_out": "binomial", "mcnemar": "paired binomial"}[name]
    assert (now["version"], now["rule"]["kind"]) == (4, kind)
    assert result.conf_int() == result.rule.interval("two-sided", 0.05)


def test_comparison():
    before = read("comparison.json")
    comparison = uv.Comparison.from_dict(before)
    now = json.loads(comparison.to_json())
    rows = [{**row, "result": where_they_were(row["result"])} for row in now["results"]]
    assert lost(before, {**now, "results": rows}) == []
    assert all(name in comparison.summary().as_text() for name in before["learners"])
    assert comparison.verdict
    assert len(comparison.frame) == len(before["results"]) == len(comparison.adjusted_pvalues)
    assert len(comparison.fits_frame) == len(before["fits"])


@pytest.mark.parametrize("suffix", ["json", "npz"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name, suffix):
    before = read(f"{name}.json")
    losses = uv.Losses.load(SAVED / f"{name}.{suffix}")
    assert lost(before, json.loads(json.dumps(losses.to_dict()))) == []


@pytest.mark.parametrize("name", LOSSES)
def test_losses_from_both_formats_have_the_same_bits(name):
    one, other = (uv.Losses.load(SAVED / f"{name}.{suffix}") for suffix in ("json", "npz"))
    assert one.design == other.design
    for field in ("means", "values", "target"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), strict=True)


@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("zero_one", uv.CorrectedTTest),
        ("log_repeated", uv.FoldCovarianceTest),
        ("squared", uv.CrossValidationWaldTest),
        ("scores", uv.DeLongTest),
        ("disjoint", uv.UStatisticTest),
        ("matrix", uv.CorrectedTTest),
        ("means_only", uv.NaiveTTest),
        ("arrays", uv.CorrectedTTest),
    ],
)
def test_losses_can_be_tested(name, cls):
    result = cls.from_losses(uv.Losses.load(SAVED / f"losses_{name}.npz")).fit()
    assert np.isfinite(result.estimate)


def test_what_was_lost_is_found():
    before = {"format": "x", "version": 2, "a": [1, {"b": 1.0}]}
    assert lost(before, {**before, "version": 3, "new": 0}) == []
    assert lost(before, {**before, "version": 1}) == [".version went back"]
    assert lost(before, {"format": "x", "version": 2}) == [".a is gone"]
    assert lost(before, {**before, "a": [1, {"b": 2.0}]}) == [".a[1].b was 1.0, is 2.0"]
    assert lost([1], [1, 2]) == [" was [1], is [1, 2]"]
    assert lost([1], [1.0]) == ["[0] was 1, is 1.0"]
