"""The study of metrics of learners: true values, rows that go on, and what its tables count."""

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import matthews_corrcoef, r2_score
from sklearn.neighbors import NearestCentroid

from studies.intervals import metrics_of_learners as study

CLASSIFIERS = LinearDiscriminantAnalysis(), NearestCentroid()
REGRESSORS = Ridge(5), Ridge(1e-9)


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
    # One part alone does all over again, which counts once.
    study.simulate(tmp_path, 0, 1, 4, 60)
    rows = study.kept(tmp_path, "rows", study.ROW[:6])
    truths = study.kept(tmp_path, "truths", study.TRUTH[:4])
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
    written = pd.read_csv(study.IN_SHORT)
    pd.testing.assert_frame_equal(written.drop(columns="width"), expected.drop(columns="width"))
    # Widths of cells are written with three digits.
    np.testing.assert_allclose(written["width"], expected["width"], atol=0.005)


@pytest.mark.parametrize(
    ("name", "n", "learners", "metric", "value", "errors"),
    [
        # The errors are about four standard errors of both.
        ("weak", 40, CLASSIFIERS, "mcc", matthews_corrcoef, (0.06, 0.03)),
        ("ridge", 60, REGRESSORS, "r2", r2_score, (0.02, 0.03)),
    ],
)
def test_true_values_are_those_of_scikit_learns_rules(
    monkeypatch, name, n, learners, metric, value, errors
):
    monkeypatch.setattr(study, "N_BLOCKS", dict.fromkeys(study.METRICS, 5))
    rows = pd.DataFrame(study.truths_of(name, n), columns=study.TRUTH)
    rows = rows.set_index(["metric", "target"]).astype({"truth": float, "truth_se": float})
    problem, rng, g = study.studied()[name], np.random.default_rng(0), n // 2 - 1
    y, predicted = [], ([], [])
    for _ in range(150):
        drawn = problem.draw(rng, g + 1000)
        X, response = problem.features[drawn], problem.response[drawn]
        y.append(response[g:])
        for learner, of_learner in zip(learners, predicted, strict=True):
            of_learner.append(learner.fit(X[:g], response[:g]).predict(X[g:]))
    first, other = (value(np.concatenate(y), np.concatenate(each)) for each in predicted)
    assert abs(rows.loc[metric, "one"]["truth"] - first) < errors[0]
    assert abs(rows.loc[metric, "difference"]["truth"] - (first - other)) < errors[1]
    assert (rows["truth_se"] > 0).all()
