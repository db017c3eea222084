"""How many files and functions a reader passes who follows one call: the limits of the house."""

import numpy as np
from sklearn.datasets import load_breast_cancer

import ucvtest as uv
from tests.support.calls import calls_of

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, [1, 4, 8]], Y[:60]


def test_fold_scores_to_the_corrected_t_test():
    rng = np.random.default_rng(0)
    scores = {"a": rng.normal(0.8, 0.05, 10), "b": rng.normal(0.75, 0.05, 10)}
    of_scores, of_losses = uv.Losses.from_scores, uv.CorrectedTTest.from_losses
    calls = calls_of(lambda: of_losses(of_scores(scores, n_learn=90, n_test=10)).fit())
    assert len(calls.files) <= 18, sorted(calls.files)
    assert len(calls.functions) <= 74, sorted(code.co_qualname for code in calls.functions)


def test_class_files_of_one_ustatistic_test():
    test = uv.UStatisticTest
    calls = calls_of(lambda: test(X, Y, "lda", "knn:3").fit(n_pairs=100, rng=0))
    assert len(calls.between_files) <= 15, calls.between_files


def test_class_files_in_a_default_comparison():
    compare = uv.compare
    calls = calls_of(lambda: compare(X, Y, ["lda", "knn:3", "nearest_centroid"], rng=0))
    assert len(calls.between_files) <= 40, calls.between_files
