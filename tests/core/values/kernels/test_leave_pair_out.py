"""Closed forms for all pairs and labelings at once, against fits without every pair."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

import ucvtest as uv
from tests.oracles import leave_pair_out as oracle
from ucvtest.kernels import leave_pair_out as kernel


def score_with(estimator):
    """Scores of the held-out pair by a scikit-learn regressor of the 0/1 code."""
    return lambda X, y, X_test: estimator.fit(X, y).predict(X_test)


def labelings(rng, n, weight, n_labelings):
    return rng.permuted(np.tile(np.arange(n) < weight, (n_labelings, 1)), axis=1)


def nearest(X, k):
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    np.fill_diagonal(distance, -1)
    return np.argsort(distance, axis=1, kind="stable")[:, 1 : k + 2]


@pytest.mark.parametrize(
    ("n", "p", "weight", "learner", "estimator"),
    [
        (8, 3, 4, uv.learners.ridge(1.0), Ridge(1.0)),
        (9, 2, 3, uv.learners.ridge(0.0), Ridge(1e-12)),
        (7, 12, 5, uv.learners.ridge(0.1), Ridge(0.1)),
        (8, 2, 2, uv.learners.ridge(0.5, scale="mean"), Ridge(3.0)),
        (9, 3, 4, uv.learners.ridge(1e3), Ridge(1e3)),
        (
            8,
            3,
            3,
            uv.learners.kernel_ridge(0.3, "rbf", gamma=0.7),
            KernelRidge(alpha=0.3, kernel="rbf", gamma=0.7),
        ),
    ],
)
def test_smoothers_equal_fits_without_every_pair(rng, n, p, weight, learner, estimator):
    X, labels = rng.normal(size=(n, p)), labelings(rng, n, weight, 6)
    hat = uv.learners.hat_matrix(learner, X, n - 2)
    wrong, tied = kernel.smoother_errors(hat, labels)
    expected = [oracle.n_errors(X, B, score_with(estimator)) for B in labels]
    np.testing.assert_array_equal(wrong, expected)
    assert not tied.any()


@pytest.mark.parametrize(("n", "weight", "k"), [(8, 4, 1), (9, 3, 2), (10, 6, 3), (6, 3, 4)])
def test_neighbours_equal_fits_without_every_pair(rng, n, weight, k):
    X, labels = rng.normal(size=(n, 2)), labelings(rng, n, weight, 6)
    wrong, tied = kernel.nearest_neighbour_errors(nearest(X, k), labels)
    expected = [oracle.n_errors(X, B, score_with(KNeighborsRegressor(k))) for B in labels]
    np.testing.assert_array_equal(wrong + tied / 2, expected)
    assert tied.any()


def test_equal_observations_are_tied(rng):
    X = np.repeat(rng.normal(size=(5, 3)), 2, axis=0)
    labels = np.tile([False, True], (1, 5))
    hat = uv.learners.hat_matrix(uv.learners.ridge(0.7), X, 8)
    assert kernel.smoother_errors(hat, labels)[1] == 5


@pytest.mark.parametrize("n_labelings", [0, 1, 1023, 1024, 1025, 2050])
def test_number_of_labelings_does_not_matter(rng, n_labelings):
    X = rng.normal(size=(11, 2))
    labels = labelings(rng, 11, 5, 2050)
    hat = uv.learners.hat_matrix(uv.learners.ridge(1.0), X, 9)
    for errors in (
        lambda Y: kernel.smoother_errors(hat, Y),
        lambda Y: kernel.nearest_neighbour_errors(nearest(X, 3), Y),
    ):
        for some, every in zip(errors(labels[:n_labelings]), errors(labels), strict=True):
            assert type(some) is np.ndarray
            np.testing.assert_array_equal(some, every[:n_labelings])


class TestOwnScores:
    def test_equals_the_definition(self, rng):
        X, B = rng.normal(size=(9, 2)), np.arange(9) % 3 == 0
        scores = np.zeros((9, 9))
        score = score_with(KNeighborsRegressor(2))
        for i, j in oracle.pair_errors(X, B, score):
            rest = np.delete(np.arange(9), [i, j])
            scores[i, j], scores[j, i] = score(X[rest], B[rest].astype(int), X[[i, j]])
        found = uv.kernels.leave_pair_out.errors(scores, B.astype(int))
        assert found["n_errors"] == oracle.n_errors(X, B, score)
        assert found["n_ties"] == sum(k == 0.5 for k in oracle.pair_errors(X, B, score).values())
        assert found["n_pairs"] == 18
        assert found["auc"] == 1 - found["u"] == 1 - found["n_errors"] / 18
