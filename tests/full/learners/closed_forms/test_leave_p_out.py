"""Leave-p-out of nearest neighbours in closed form against all learning sets, and random ones."""

from itertools import combinations

import numpy as np
import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer
from ucvtest.learners import knn_leave_p_out


def slow_errors(X, y, k, g):
    """Share of wrong predictions, over all learning sets of g other observations."""
    n = len(y)
    errors = np.zeros(n)
    for i in range(n):
        others = [j for j in range(n) if j != i]
        nearest_first = sorted(others, key=lambda j: (((X[j] - X[i]) ** 2).sum(), j))
        wrong = []
        for learning in combinations(nearest_first, g):
            votes = [y[j] for j in learning[:k]]
            zeros, ones = votes.count(0), votes.count(1)
            wrong.append((votes[0] if zeros == ones else int(ones > zeros)) != y[i])
        errors[i] = np.mean(wrong)
    return errors


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("g", [5, 7, 10])
@pytest.mark.parametrize("digits", [0, 3], ids=["many equal distances", "few"])
def test_equals_all_learning_sets(k, g, digits):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(11, 2)).round(digits), np.arange(11) % 2
    np.testing.assert_allclose(knn_leave_p_out(X, y, k, g), slow_errors(X, y, k, g), atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_is_the_exact_estimate_of_the_test(k):
    rng = np.random.default_rng(k)
    X, y = rng.normal(size=(11, 2)), np.array(list("ab") * 5 + ["b"])
    exact = uv.UStatisticTest(X, y, uv.learners.knn(k), learn_size=4).fit("exact").estimate
    assert knn_leave_p_out(X, y, k, 4).mean() == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("k", [3, 4])
def test_sampled_estimates_scatter_around_it(k):
    sample = breast_cancer(60, 3)
    X, y = sample.matrix, sample.response
    truth = knn_leave_p_out(X, y, k, 20).mean()
    test = uv.UStatisticTest(X, y, uv.learners.knn(k), learn_size=20)
    runs = [test.fit(n_pairs=200, variance="jackknife", rng=seed) for seed in range(20)]
    errors = np.array([run.estimate - truth for run in runs])
    stated = np.sqrt(np.mean([run.diagnostics["mc_se_estimate"] ** 2 for run in runs]))
    assert abs(errors.mean()) < 4 * stated / np.sqrt(20)
    assert 0.6 < np.sqrt(np.mean(errors**2)) / stated < 1.6


def test_leave_one_out_needs_no_probabilities():
    sample = breast_cancer(60, 3)
    X, y = sample.matrix, np.asarray(sample.class_index)
    distance = ((X[:, None] - X) ** 2).sum(-1) + np.diag(np.full(60, np.inf))
    votes = y[np.argsort(distance, axis=1)[:, :5]].sum(axis=1)
    np.testing.assert_allclose(knn_leave_p_out(X, y, 5, 59), (votes > 2) != y, atol=1e-9)
