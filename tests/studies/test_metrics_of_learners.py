"""The study of metrics of learners: true values, rows that go on, and what its tables count."""

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import matthews_corrcoef
from sklearn.neighbors import NearestCentroid

from studies.intervals import metrics_of_learners as study


@pytest.fixture
def few_cells(monkeypatch):
    """Two problems, one of them held out."""
    cells = [("weak", 40), ("held_mixture", 40), ("weak", 60)]
    monkeypatch.setattr(study, "cells", lambda: cells)
    return cells


def made_up_truths(name, n):
    """The same of every cell."""
    for target in ("one", "difference"):
        yield name, n, "f1", target, 0.5, 0.001


def made_up_rows(name, n, number):
    """Right in every second number, in which one of two tests has no answer."""
    for fits in study.PAIRS:
        for target in ("one", "difference"):
            none = number % 2 and (fits, target) == (20, "difference")
            ends = ("nan", "nan") if none else (0.4 if number % 2 else 0.6, 0.7)
            yield name, n, number, "f1", target, fits, 0.55, *ends


def test_parts_share_the_samples_and_go_on(tmp_path, monkeypatch, few_cells):
    monkeypatch.setattr(study, "rows_of", made_up_rows)
    monkeypatch.setattr(study, "truths_of", made_up_truths)
    for n_samples in (2, 4):
        for part in (0, 1):
            study.simulate(tmp_path, part, 2, n_samples, 60)
    rows, truths = (study.kept(tmp_path, kind) for kind in ("rows", "truths"))
    assert not rows.duplicated(list(study.ROW[:6])).any()
    assert len(truths) == 2 * len(few_cells)
    table = study.table_of(rows, truths)
    assert (table["samples"] == 4).all()
    assert len(table) == 4 * len(few_cells)
    short = study.in_short(table).set_index(["fits", "target"])
    assert (short["samples"] == 4 * len(few_cells)).all()
    assert short.loc[20, "difference"]["answered"] == 2 * len(few_cells)
    assert short.loc[20, "difference"]["coverage"] == 0
    assert (short.loc[2000][["coverage", "held", "worst", "n_40", "n_60"]] == 50).all(axis=None)


def test_the_short_table_is_that_of_the_cells():
    expected = study.in_short(pd.read_csv(study.TABLE))
    pd.testing.assert_frame_equal(pd.read_csv(study.IN_SHORT), expected, atol=0.1)


def test_true_values_are_those_of_scikit_learns_rules(monkeypatch):
    monkeypatch.setattr(study, "N_BLOCKS", 3)
    rows = pd.DataFrame(study.truths_of("weak", 40), columns=study.TRUTH)
    rows = rows.set_index(["metric", "target"]).astype({"truth": float, "truth_se": float})
    problem, rng = study.studied()["weak"], np.random.default_rng(0)
    y, predicted = [], ([], [])
    for _ in range(100):
        drawn = problem.draw(rng, 19 + 1000)
        X, labels = problem.features[drawn], problem.response[drawn]
        y.append(labels[19:])
        for learner, of_learner in zip(
            (LinearDiscriminantAnalysis(), NearestCentroid()), predicted, strict=True
        ):
            of_learner.append(learner.fit(X[:19], labels[:19]).predict(X[19:]))
    first, other = (
        matthews_corrcoef(np.concatenate(y), np.concatenate(each)) for each in predicted
    )
    # Standard errors are about .01.
    assert abs(rows.loc["mcc", "one"]["truth"] - first) < 0.05
    assert abs(rows.loc["mcc", "difference"]["truth"] - (first - other)) < 0.05
    assert (rows["truth_se"] > 0).all()
