"""How many files and functions a reader passes who follows one call: the limits of the house.

They only go down: a change that needs more passes less elsewhere.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

import ucvtest as uv
from tests.support.calls import Calls, calls_of

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, [1, 4, 8]], Y[:60]


def check(calls: Calls, *, files: int, functions: int) -> None:
    """Compare with the limits; those that are passed are named."""
    assert len(calls.files) <= files, sorted(calls.files)
    assert len(calls.functions) <= functions, sorted(code.co_qualname for code in calls.functions)


def test_fold_scores_to_the_corrected_t_test():
    rng = np.random.default_rng(0)
    scores = {"a": rng.normal(0.8, 0.05, 10), "b": rng.normal(0.75, 0.05, 10)}
    of_scores, of_losses = uv.Losses.from_scores, uv.CorrectedTTest.from_losses
    calls = calls_of(lambda: of_losses(of_scores(scores, n_learn=90, n_test=10)).fit())
    check(calls, files=19, functions=68)


def test_predictions_to_mcnemars_test():
    predictions = {"a": np.where(np.arange(60) < 5, 1 - Y, Y), "b": np.where(Y, 1, X[:, 0] > 20)}
    of_predictions, of_losses = uv.Losses.from_predictions, uv.McNemarTest.from_losses
    calls = calls_of(lambda: of_losses(of_predictions(Y, predictions)).fit())
    check(calls, files=39, functions=169)


def test_one_ustatistic_test():
    test = uv.UStatisticTest
    calls = calls_of(lambda: test(X, Y, "lda", "knn:3").fit(n_pairs=100, rng=0))
    assert len(calls.between_files) <= 6, calls.between_files
    check(calls, files=72, functions=433)


def test_a_default_comparison():
    compare = uv.compare
    calls = calls_of(lambda: compare(X, Y, ["lda", "knn:3", "nearest_centroid"], rng=0))
    assert len(calls.between_files) <= 8, calls.between_files
    check(calls, files=91, functions=547)
