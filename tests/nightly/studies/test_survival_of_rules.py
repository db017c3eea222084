"""The study of survival metrics goes on where it was stopped, and counts what its table says."""

from collections.abc import Iterator

import pandas as pd
import pytest

from studies.intervals import survival_of_rules as study


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in {"SIZES": (40,), "MANY": 2000}.items():
        monkeypatch.setattr(study, name, value)
    problems = {name: study.PROBLEMS[name] for name in ("ties", "clusters")}
    monkeypatch.setattr(study, "PROBLEMS", problems)
    study.truth.cache_clear()
    yield
    study.truth.cache_clear()


def test_it_goes_on(tmp_path):
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    study.collect(whole, 60, samples=3)
    parts.write_text("".join(whole.read_text().splitlines(keepends=True)[:9]))
    study.collect(parts, 60, samples=3)
    assert parts.read_text() == whole.read_text()
    table = study.in_short(pd.read_csv(whole))
    assert len(table) == 2 * 4 * 2
    assert (table["samples"] == 3).all()
    counts = table[["coverage", "ends_below", "begins_above"]].sum(axis=1)
    assert counts.tolist() == pytest.approx([100] * len(table), abs=0.2)
