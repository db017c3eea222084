"""Scores of resamples alone: the same tests as on the folds themselves, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ucvtest as uv
from ucvtest.designs.structure import folds_of
from ucvtest.methods.registry import TESTS

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:62, :4], Y[:62]
FIRST = make_pipeline(StandardScaler(), LogisticRegression())
SECOND = make_pipeline(StandardScaler(), KNeighborsClassifier(3))

CASES = {
    "kfold": (KFold(10, shuffle=True, random_state=0), {}),
    "repeated_kfold": (
        RepeatedKFold(n_splits=5, n_repeats=2, random_state=0),
        {"design": "repeated_kfold", "n_folds": 5},
    ),
    "five_by_two": (
        RepeatedKFold(n_splits=2, n_repeats=5, random_state=0),
        {"design": "repeated_kfold", "n_folds": 2},
    ),
    "splits": (ShuffleSplit(6, test_size=12, random_state=0), {"design": "splits"}),
}

OF_MEANS = {"bayesian_t", "corrected_t", "naive_t"}
OF_FIVE_BY_TWO = {"five_by_two_f", "five_by_two_t"}


def needs_means_alone(cls):
    """Tests on one design of which the means of resamples suffice."""
    return hasattr(cls, "default_design") and not cls.needs.values


def admits(cls, losses):
    """Whether a test takes losses of this design, of which every one is known."""
    try:
        cls.from_losses(losses, "a", "b")
    except ValueError:
        return False
    return True


def scored(name, scoring="accuracy", **options):
    splitter, known = CASES[name]
    learnt, tested = next(splitter.split(X))
    scores = {
        label: cross_val_score(each, X, Y, cv=splitter, scoring=scoring)
        for label, each in (("a", FIRST), ("b", SECOND))
    }
    sizes = {"n_learn": len(learnt), "n_test": len(tested)}
    return uv.Losses.from_scores(scores, **sizes, **known, **options)


def made(scores=None, **options):
    scores = {"a": [0.9, 0.9, 0.8, 0.9], "b": [0.5, 0.6, 0.5, 0.6]} if scores is None else scores
    return uv.Losses.from_scores(scores, **{"n_learn": 15, "n_test": 5, **options})


@pytest.mark.parametrize("name", CASES)
def test_the_corrected_t_test_is_that_of_the_folds_themselves(name):
    expected = uv.CorrectedTTest(
        X, Y, FIRST, SECOND, design=CASES[name][0], backend="sklearn"
    ).fit()
    result = uv.CorrectedTTest.from_losses(scored(name)).fit()
    # Accuracies are one minus error rates, which changes the sign of differences and no more.
    assert result.estimate == pytest.approx(-expected.estimate, rel=1e-12, abs=1e-15)
    assert result.se == pytest.approx(expected.se, rel=1e-12)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert (result.df, result.n_obs, result.n_fits) == (expected.df, 62, expected.n_fits)
    assert result.better == "higher"
    assert result.settings["learn_size"] == expected.settings["learn_size"]


def test_nested_sizes_of_folds_are_those_of_k_folds():
    losses = scored("repeated_kfold")
    folds = folds_of(losses.design)
    assert folds.shape == (2, 62)
    assert sorted(np.bincount(folds[0])) == [12, 12, 12, 13, 13]


@pytest.mark.parametrize("name", CASES)
def test_tests_that_need_no_more_take_them(name):
    losses = scored(name)
    whole = uv.evaluate({"a": "lda", "b": "knn:3"}, X, Y, CASES[name][0], rng=0)
    takes = {key for key, cls in TESTS.items() if needs_means_alone(cls) and admits(cls, whole)}
    assert takes >= OF_MEANS | (OF_FIVE_BY_TWO if name == "five_by_two" else set())
    for key in takes:
        assert np.isfinite(TESTS[key].from_losses(losses, "a", "b").fit().estimate)


def test_the_direction_is_a_matter_of_words_alone():
    higher, lower = made(), made(greater_is_better=False)
    one, other = (uv.CorrectedTTest.from_losses(each).fit() for each in (higher, lower))
    assert one.estimate == other.estimate == pytest.approx(0.325)
    assert one.pvalue == other.pvalue < 0.05
    assert one.conf_int() == other.conf_int()
    assert "first learner (a) is better" in one.verdict
    assert "second learner (b) is better" in other.verdict
    assert "mean score" in one.estimand
    assert "mean loss" in other.estimand


def test_frames_are_taken_and_one_learner_has_an_interval():
    frame = pd.DataFrame({"a": [0.9, 0.8, 0.7, 0.9]})
    result = uv.CorrectedTTest.from_losses(made(frame)).fit()
    assert result.estimate == pytest.approx(0.825)
    assert np.isnan(result.pvalue)
    assert result.settings["design"] == "4-fold cross-validation"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": {"a": [[1.0]]}}, r"got shape \(1, 1\): use .ravel\(\) of an array"),
        ({"scores": {"a": []}}, "must contain one score for each split"),
        ({"n_learn": 18, "n_test": 4}, "n_test=4 of 22 .* which have 5 or 6: correct n_learn"),
        ({"n_folds": 2}, "n_folds=2 does not match 4 scores .*design='repeated_kfold' for sev"),
        ({"greater_is_better": "yes"}, "greater_is_better must be True or False, got 'yes'"),
        ({"n_learn": 10**10}, "needs too much memory: divide both by the same number"),
    ],
)
def test_what_cannot_be_used_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        made(**options)
