"""The study of weighted means goes on where it was stopped, and counts what its table says."""

import pandas as pd
import pytest

from studies.intervals import weighted_errors as study


def test_it_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "SAMPLES", 3)
    monkeypatch.setattr(study, "SIZES", (30,))
    monkeypatch.setattr(study, "SPREADS", (0.0, 1.0))
    monkeypatch.setattr(study, "PROBLEMS", {name: study.PROBLEMS[name] for name in KEPT})
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    study.collect(whole, 60)
    parts.write_text("".join(whole.read_text().splitlines(keepends=True)[:3]))
    study.collect(parts, 60)
    assert parts.read_text() == whole.read_text()
    rows = pd.read_csv(whole)
    assert (rows["answered"] <= rows["samples"]).all()
    # Equal weights change nothing.
    equal = rows[rows["spread"] == 0]
    assert equal["before"].tolist() == equal["after"].tolist()
    assert equal["width_before"].tolist() == pytest.approx(equal["width_after"].tolist())
    assert len(study.in_short(rows)) == 2 * 2 * 2


KEPT = ("errors", "clusters")
