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
