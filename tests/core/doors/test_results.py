"""Results that people have already: scikit-learn's, tables of folds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:80, :5], Y[:80]
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
MODELS = {"nb": GaussianNB(), "knn": KNeighborsClassifier(3)}


def t_test(losses):
    return uv.CorrectedTTest.from_losses(losses).fit()


def of_all(function, **options):
    return {name: function(model, X, Y, cv=FOLDS, **options) for name, model in MODELS.items()}


def test_cross_validate_needs_no_number_of_observations():
    kept = uv.Losses.from_sklearn(of_all(cross_validate, return_indices=True), score="accuracy")
    again = uv.Losses.from_sklearn(of_all(cross_validate), score="accuracy", cv=FOLDS, y=Y)
    scores = uv.Losses.from_sklearn(of_all(cross_val_score), score="accuracy", cv=FOLDS, y=Y)
    expected = uv.evaluate(MODELS, X, Y, FOLDS)
    for losses in (kept, again, scores):
        assert losses.design == expected.design
        assert losses.means == pytest.approx(expected.means)


@pytest.mark.parametrize("score", ["f1", "balanced_accuracy", "matthews_corrcoef"])
def test_any_score_of_splits(score):
    results = of_all(cross_validate, scoring=score, return_indices=True)
    found = t_test(uv.Losses.from_sklearn(results, score=score))
    expected = uv.CorrectedTTest(X, Y, *MODELS.values(), cv=FOLDS, scoring=score).fit(rng=0)
    assert (found.estimate, found.pvalue) == pytest.approx((expected.estimate, expected.pvalue))
    losses = uv.Losses.from_sklearn(of_all(cross_validate, return_indices=True), score="accuracy")
    assert not losses.greater_is_better


def test_predictions_of_cross_val_predict():
    predicted = of_all(cross_val_predict)
    found = uv.Losses.from_sklearn(predicted, score="accuracy", cv=FOLDS, y=Y)
    expected = uv.evaluate(MODELS, X, Y, FOLDS)
    assert found.means == pytest.approx(expected.means)
    assert uv.CrossValidationWaldTest.from_losses(found).fit().n_obs == len(Y)
    f1 = uv.Losses.from_sklearn(predicted, score="f1", cv=FOLDS, y=Y)
    assert f1.loss == "f1"
    proba = {n: p[:, 1] for n, p in of_all(cross_val_predict, method="predict_proba").items()}
    auc = uv.Losses.from_sklearn(proba, score="roc_auc", cv=FOLDS, y=Y)
    scored = of_all(cross_val_score, scoring="roc_auc")
    assert auc.means == pytest.approx(np.stack(list(scored.values())))


def test_a_grid_search_and_its_results():
    grid = {"C": [0.01, 1.0]}
    search = GridSearchCV(LogisticRegression(max_iter=5000), grid, cv=FOLDS, scoring="f1").fit(X, Y)
    found = uv.Losses.from_sklearn(search, score="f1", y=Y)
    assert found.learners == ("C=0.01", "C=1.0")
    scores = np.stack([search.cv_results_[f"split{k}_test_score"] for k in range(5)], axis=1)
    assert found.means == pytest.approx(scores)
    same = uv.Losses.from_sklearn(search.cv_results_, score="f1", cv=FOLDS, y=Y)
    assert same.design == found.design
    assert uv.compare_losses(found, "corrected_t").learners == found.learners
    default = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}).fit(X, Y)
    assert uv.Losses.from_sklearn(default, score="accuracy", y=Y).design.n_resamples == 5


TREES = [
    DecisionTreeClassifier(class_weight={0: 1, 1: weight}, random_state=0) for weight in (1, 9)
]


@pytest.mark.parametrize(
    ("grid", "learners"),
    [
        # Names that agree in 40 letters.
        ({"tree": TREES}, None),
        # The same candidate twice.
        (
            [{"tree__max_depth": [1, 2]}, {"tree__max_depth": [2]}],
            ("tree__max_depth=1", "tree__max_depth=2 (1)", "tree__max_depth=2 (2)"),
        ),
    ],
)
def test_every_candidate_of_a_search_is_a_learner(grid, learners):
    model = Pipeline([("tree", DecisionTreeClassifier(random_state=0))])
    search = GridSearchCV(model, grid, cv=FOLDS, scoring="accuracy").fit(X, Y)
    found = uv.Losses.from_sklearn(search, y=Y, score="accuracy")
    assert 1 - found.means.mean(axis=1) == pytest.approx(search.cv_results_["mean_test_score"])
    assert len(set(found.learners)) == len(search.cv_results_["params"])
    assert learners in (None, found.learners)


REPEATED = RepeatedKFold(n_splits=4, n_repeats=2, random_state=0)


def long_table():
    """Out-of-fold predictions of repeats, below each other."""
    rounds = [pd.DataFrame({"y": Y}) for _ in range(2)]
    for number, (learn, test) in enumerate(REPEATED.split(X)):
        table = rounds[number // 4]
        table.loc[test, ["fold", "again"]] = number % 4, ["first", "second"][number // 4]
        for name, model in MODELS.items():
            table.loc[test, name] = model.fit(X[learn], Y[learn]).predict(X[test])
    return pd.concat(rounds, ignore_index=True)


def search(**options):
    return GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=FOLDS, **options)


def test_a_search_knows_its_score():
    found = search(scoring="f1").fit(X, Y)
    losses = uv.Losses.from_sklearn(found, y=Y)
    assert losses.loss == "f1"
    known = [found.cv_results_[f"split{fold}_test_score"] for fold in range(5)]
    np.testing.assert_array_equal(losses.means, np.transpose(known))


def test_repeats_below_each_other_have_a_column_of_their_own():
    table = long_table()
    expected = uv.evaluate(MODELS, X, Y, REPEATED)
    named = uv.Losses.from_predictions("y", table, fold="fold", repeat="again")
    separate = uv.Losses.from_predictions(
        table["y"], table[[*MODELS]], fold=table["fold"], repeat=table["again"].tolist()
    )
    for losses in (named, separate):
        assert losses.means == pytest.approx(expected.means)
        assert losses.settings["design"] == "4-fold cross-validation, 2 times"
        assert t_test(losses).pvalue == pytest.approx(t_test(expected).pvalue)
