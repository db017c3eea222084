"""Scores by scikit-learn's names are scikit-learn's own, whatever the labels are called."""

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import average_precision_score, fbeta_score, make_scorer, recall_score
from sklearn.model_selection import cross_val_score

import ucvtest as uv

SECOND = np.arange(24) % 8 < 3
X = np.column_stack([np.arange(24) * 7 % 13 + 4 * SECOND, np.arange(24) * 5 % 11])
SPLITS = [(np.arange(8, 24), np.arange(8)), (np.arange(12), np.arange(12, 24))]
ESTIMATOR = LinearDiscriminantAnalysis()

LABELS: dict[str, tuple[Any, Any]] = {
    "0 and 1": (0, 1),
    "1 and 2": (1, 2),
    "2 and 1": (2, 1),
    "-1 and 1": (-1, 1),
    "texts": ("a", "b"),
}
SCORERS: dict[str, Any] = {
    name: name
    for name in (
        *("f1", "precision", "recall", "jaccard", "average_precision", "f1_macro"),
        *("balanced_accuracy", "matthews_corrcoef", "top_k_accuracy", "d2_log_loss_score"),
    )
} | {
    "fbeta": make_scorer(fbeta_score, beta=2),
    "precision of probabilities": make_scorer(
        average_precision_score, response_method="predict_proba"
    ),
}
OF_A_CLASS = ("f1", "precision", "recall", "jaccard", "average_precision", "fbeta")


def ours(y: Any, scoring: Any, pos_label: Any = None) -> Any:
    losses = uv.evaluate(
        {"lda": ESTIMATOR}, X, y, SPLITS, scoring=scoring, pos_label=pos_label, backend="sklearn"
    )
    return losses.means[0]


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("scorer", SCORERS)
def test_values_and_refusals_are_those_of_scikit_learn(scorer: str, labels: str) -> None:
    first, second = LABELS[labels]
    y = np.where(SECOND, second, first)
    refusal = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            theirs = cross_val_score(
                ESTIMATOR, X, y, scoring=SCORERS[scorer], cv=SPLITS, error_score="raise"
            )
        except ValueError as error:
            refusal = str(error)
        if not refusal:
            np.testing.assert_allclose(ours(y, SCORERS[scorer]), theirs, rtol=1e-12)
            return
        assert "is not a valid label" in refusal
        with pytest.raises(ValueError, match="is not a valid label") as refused:
            ours(y, SCORERS[scorer])
    assert f"pass pos_label={first!r} or pos_label={second!r}" in str(refused.value)
    assert "split" not in str(refused.value), "it is said before the first fit"


@pytest.mark.parametrize("scorer", OF_A_CLASS)
@pytest.mark.parametrize("pos_label", ["a", "b"])
def test_a_named_class_is_the_one_that_is_scored(scorer: str, pos_label: str) -> None:
    y = np.where(SECOND, "b", "a")
    expected = ours((y == pos_label).astype(int), SCORERS[scorer])
    np.testing.assert_allclose(ours(y, SCORERS[scorer], pos_label), expected)


def test_a_scorer_keeps_the_class_that_it_was_made_for() -> None:
    y = np.where(SECOND, "b", "a")
    scorer = make_scorer(recall_score, pos_label="a")
    expected = cross_val_score(ESTIMATOR, X, y, scoring=scorer, cv=SPLITS)
    np.testing.assert_allclose(ours(y, scorer), expected)
    np.testing.assert_allclose(ours(y, scorer, "b"), expected)
    test = uv.CorrectedTTest(X, y, ESTIMATOR, "majority", scoring=scorer)
    assert test.question.positive_class == "a"


@pytest.mark.parametrize(
    ("scoring", "labels", "pos_label", "named"),
    [
        ("f1", (1, 2), None, 1),
        ("f1", (1, 2), 2, 2),
        ("average_precision", (2, 1), None, 1),
        ("f1_macro", (1, 2), None, None),
        ("balanced_accuracy", (1, 2), None, None),
        ("roc_auc", (1, 2), None, 2),
        ("recall", ("a", "b"), "a", "a"),
    ],
)
def test_results_name_the_class_that_is_scored(
    scoring: str, labels: tuple[Any, Any], pos_label: Any, named: Any
) -> None:
    y = np.where(SECOND, labels[1], labels[0])
    test = uv.CorrectedTTest(
        X, y, "lda", "majority", scoring=scoring, pos_label=pos_label, design=4
    )
    assert test.question.positive_class == named
