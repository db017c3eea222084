"""The study of concordances goes on where it was stopped, and counts what its table says."""

import pandas as pd
import pytest

from studies.intervals import concordance_of_learners as study


def made_up(name, censoring, n, number):
    """A sample that is right in every second number, and has no answer for differences of folds."""
    for test in ("folds", "ustatistic_few"):
        for target in ("one", "difference"):
            low = 0.4 if number % 2 else 0.6
            ends = ("nan", "nan") if (test, target) == ("folds", "difference") else (low, 0.7)
            yield (name, censoring, n, number, test, target, 0.5, 0.55, *ends)


def test_it_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "rows_of", made_up)
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    study.simulate(whole, 4, 60)
    study.simulate(parts, 1, 60)
    study.simulate(parts, 4, 60)
    assert parts.read_text() == whole.read_text()
    table = study.table_of(pd.read_csv(whole)).set_index(["test", "target", "n"])
    assert (table["samples"] == 4 * len(study.CELLS) / 2).all()
    assert (table.loc["folds", "difference"]["answered"] == 0).all()
    assert (table.loc["ustatistic_few", "one"]["covered"] == 0.5).all()
    assert (table.loc["ustatistic_few", "one"]["held"] == 0.5).all()
    assert table.loc["ustatistic_few", "one"]["bias"].tolist() == pytest.approx([0.05] * 2)


@pytest.mark.parametrize("name", study.PROBLEMS)
def test_heavy_censoring_leaves_fewer_events(name):
    shares = [study.new_sample(name, censoring)[1].event.mean() for censoring in study.CENSORING]
    assert shares[0] > 0.65
    assert 0.25 < shares[1] < 0.5
