"""The study of concordances goes on where it was stopped, and counts what its table says."""

import pandas as pd
import pytest

from studies.intervals import concordance_of_learners as study


def made_up(name, censoring, n, number):
    """Right in every second number, in which differences of folds have no answer."""
    for test in ("folds", "ustatistic_few"):
        for target in ("one", "difference"):
            low = 0.4 if number % 2 else 0.6
            none = number % 2 and (test, target) == ("folds", "difference")
            ends = ("nan", "nan") if none else (low, 0.7)
            yield (name, censoring, n, number, test, target, 0.5, 0.55, *ends)


def test_it_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "rows_of", made_up)
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    study.simulate(whole, 4, 60)
    study.simulate(parts, 1, 60)
    study.simulate(parts, 4, 60)
    assert parts.read_text() == whole.read_text()
    table = study.table_of(pd.read_csv(whole))
    assert len(table) == 4 * len(study.CELLS)
    assert (table["samples"] == 4).all()
    table = study.in_short(table).set_index(["test", "target"])
    assert (table["samples"] == 4 * len(study.PROBLEMS)).all()
    assert (table.loc["folds", "difference"]["answered"] == 2 * len(study.PROBLEMS)).all()
    assert (table.loc["folds", "difference"]["coverage"] == 0).all()
    assert (table.loc["ustatistic_few", "one"][["coverage", "held", "worst"]] == 50).all(axis=None)


def test_the_short_table_is_that_of_the_cells():
    expected = study.in_short(pd.read_csv(study.TABLE))
    pd.testing.assert_frame_equal(pd.read_csv(study.IN_SHORT), expected, atol=0.002)


@pytest.mark.parametrize("name", study.PROBLEMS)
def test_heavy_censoring_leaves_fewer_events(name):
    shares = [study.new_sample(name, censoring)[1].event.mean() for censoring in study.CENSORING]
    assert shares[0] > 0.65
    assert 0.25 < shares[1] < 0.5
