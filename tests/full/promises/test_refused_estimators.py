"""What scikit-learn refuses is refused, and where it stops early this is said."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ucvtest as uv

X = np.random.default_rng(0).normal(size=(30, 2))
Y = np.arange(30) % 2
FEATURES, LABELS = (each[:60] for each in load_breast_cancer(return_X_y=True))

REFUSED = [
    (LogisticRegression(solver="nope"), "'solver' parameter of LogisticRegression"),
    (LogisticRegression(max_iter=-5), "'max_iter' parameter of LogisticRegression"),
    (KNeighborsClassifier(algorithm="nope"), "'algorithm' parameter of KNeighborsClassifier"),
    (LogisticRegression(C=0), "'C' parameter of LogisticRegression"),
    (Ridge(alpha=-1.0), "'alpha' parameter of Ridge"),
    (LinearDiscriminantAnalysis(solver="nope"), "'solver' parameter of LinearDiscriminant"),
    (DummyClassifier(strategy="nope"), "'strategy' parameter of DummyClassifier"),
    (
        make_pipeline(StandardScaler(with_mean="x"), LogisticRegression()),
        "'with_mean' parameter of StandardScaler",
    ),
]


@pytest.mark.parametrize(("estimator", "message"), REFUSED)
def test_is_refused_in_the_words_of_scikit_learn(estimator, message):
    def never(X_train, y_train, X_test):
        raise AssertionError("refused after the first fit")

    for backend in ("auto", "sklearn"):
        with pytest.raises(ValueError, match=f"is refused by scikit-learn: .*{message}"):
            uv.evaluate([never, estimator], X, Y, 3, backend=backend, rng=0)


def test_solvers_and_penalties_that_do_not_go_together():
    with pytest.raises(ValueError, match=r"is refused by scikit-learn: .*lbfgs"):
        uv.CorrectedTTest(X, Y, LogisticRegression(l1_ratio=1.0), "majority")


def test_what_a_search_sets_is_its_own():
    # scikit-learn replaces the value before it fits.
    search = GridSearchCV(Ridge(alpha=-1.0), {"alpha": [1.0, 2.0]}, cv=2)
    assert uv.evaluate(search, X, X[:, 0], 2, rng=0).learners


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(max_iter=3),
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=2, random_state=1)),
    ],
)
class TestStopsEarly:
    def test_is_noted_and_scikit_learn_does_all_fits(self, estimator):
        data = (FEATURES, LABELS, clone(estimator), "majority")
        found = uv.CorrectedTTest(*data).fit(rng=0)
        notes = " ".join(found.notes)
        for words in ("before it has converged", "max_iter", "does all fits"):
            assert words in notes
        assert found.settings["backend"] == "sklearn"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs = uv.CorrectedTTest(*data, backend="sklearn").fit(rng=0)
        assert (found.estimate, found.se) == (theirs.estimate, theirs.se)
        assert not any("converged" in note for note in theirs.notes)

    def test_warns_where_there_are_no_notes_but_not_of_scikit_learn_itself(self, estimator):
        with pytest.warns(uv.UcvtestWarning, match="before it has converged"):
            uv.evaluate(estimator, FEATURES, LABELS, 3, rng=0)


def test_a_comparison_notes_it_of_the_learners_that_stop():
    learners = {"raw": LogisticRegression(), "knn": "knn:3", "lda": "lda"}
    found = uv.compare(FEATURES, LABELS, learners, ["corrected_t"], rng=0)
    assert len(found.results) > 1
    for pair, result in found.results.items():
        assert any("converged" in note for note in result.notes) == ("raw" in pair)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        LogisticRegression(solver="newton-cholesky"),
    ],
)
def test_nothing_is_said_where_both_converge(estimator):
    result = uv.CorrectedTTest(X, Y, estimator, "majority").fit(rng=0)
    assert result.settings["backend"] == "jax"
    assert not any("converged" in note for note in result.notes)


@pytest.mark.parametrize("tol", [0.1, 5.0])
def test_a_tolerance_that_stops_earlier_is_scikit_learns(tol):
    estimator = LogisticRegression(tol=tol)
    losses = uv.evaluate([estimator], X, Y, cv=KFold(3), scoring="neg_log_loss")
    known = cross_val_score(estimator, X, Y, cv=KFold(3), scoring="neg_log_loss")
    np.testing.assert_allclose(losses.means[0], known, rtol=1e-12)


def test_discriminants_whose_variance_scikit_learn_takes_for_none():
    # Its tolerance is absolute: singular values below 1e-4.
    data = (X * 1e-6, Y, QuadraticDiscriminantAnalysis(), "majority")
    with pytest.raises(ValueError, match="covariance matrix of class 0 is not full rank"):
        uv.CorrectedTTest(*data).fit(rng=0)
