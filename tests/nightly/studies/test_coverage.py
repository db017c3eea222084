"""The loop of studies goes on where it was stopped, and counts; short tables are of long ones."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from studies.coverage import Study
from studies.intervals import concordance_of_learners, metrics_of_learners


def made_up(problem, n, number):
    """Right in every second number, in which differences have no answer."""
    low = 0.4 if number % 2 else 0.6
    yield "one", 0.5, 0.55, low, 0.7
    yield "difference", 0.5, 0.55, *((np.nan, np.nan) if number % 2 else (low, 0.7))


STUDY = Study(
    made_up, ("target",), [(problem, n) for problem in ("a", "held") for n in (20, 40)], 4
)


def test_it_goes_on(tmp_path):
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    STUDY.collect(whole, range(4), 60)
    STUDY.collect(parts, range(1), 60)
    STUDY.collect(parts, range(4), 60)
    assert parts.read_text() == whole.read_text()
    table = STUDY.table_of(pd.read_csv(whole)).set_index("target")
    assert len(table) == 2 * len(STUDY.cells)
    assert (table["samples"] == 4).all()
    assert (table.loc["one", ["coverage", "begins_above"]] == 50).all(axis=None)
    assert (table.loc["one", "mc_se"] == 25).all()
    assert (table.loc["difference", "answered"] == 2).all()
    assert (table.loc["difference", ["coverage", "ends_below"]] == 0).all(axis=None)


def test_no_sample_is_begun_after_the_time(tmp_path):
    STUDY.collect(tmp_path / "rows.csv", range(4), -1)
    assert len(pd.read_csv(tmp_path / "rows.csv")) == 0


@pytest.mark.parametrize("module", [concordance_of_learners, metrics_of_learners])
def test_short_tables_are_those_of_the_cells(module):
    path = module.STUDY.path
    expected = module.STUDY.short(pd.read_csv(path))
    pd.testing.assert_frame_equal(pd.read_csv(path.with_stem(f"{path.stem}_in_short")), expected)


def test_a_study_is_not_changed_by_its_quick_run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["study", "--quick"])
    dataclasses.replace(STUDY, script=str(tmp_path / "study.py")).main()
    assert "coverage" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
