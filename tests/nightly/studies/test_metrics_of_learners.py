"""The study of metrics of learners: its true values."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import matthews_corrcoef, r2_score
from sklearn.neighbors import NearestCentroid

from studies.intervals import metrics_of_learners as study

CLASSIFIERS = LinearDiscriminantAnalysis(), NearestCentroid()
REGRESSORS = Ridge(5), Ridge(1e-9)


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
    values, errors_of = study.truths.func(name, n)[metric]
    problem, rng, g = study.studied()[name], np.random.default_rng(0), n // 2 - 1
    y, predicted = [], ([], [])
    for _ in range(150):
        drawn = problem.draw(rng, g + 1000)
        X, response = problem.features[drawn], problem.response[drawn]
        y.append(response[g:])
        for learner, of_learner in zip(learners, predicted, strict=True):
            of_learner.append(learner.fit(X[:g], response[:g]).predict(X[g:]))
    first, other = (value(np.concatenate(y), np.concatenate(each)) for each in predicted)
    assert abs(values[0] - first) < errors[0]
    assert abs((values[0] - values[1]) - (first - other)) < errors[1]
    assert (errors_of > 0).all()
