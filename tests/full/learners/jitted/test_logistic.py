import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from tests.support.samples import breast_cancer, evaluate, learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.learners import logistic


def wide(n_columns=55):
    """More features than observations."""
    rng = np.random.default_rng(3)
    return make_sample(rng.normal(size=(50, n_columns)), np.arange(50) % 2, as_classes=True)


def scikit_learn(sample, learning, lam, standardize, scale):
    """One fit after the other, standardised by hand."""
    scores = np.full(learning.shape, np.nan)
    for row, members in enumerate(learning):
        X, y = sample.matrix, sample.target
        if standardize:
            X = (X - X[members].mean(axis=0)) / X[members].std(axis=0)
        penalty = lam * (members.sum() if scale == "mean" else 1.0)
        fitted = LogisticRegression(
            C=1 / penalty, solver="newton-cholesky", tol=1e-13, max_iter=1000
        ).fit(X[members], y[members])
        scores[row] = np.where(members, np.nan, fitted.decision_function(X))
    return scores


@pytest.mark.parametrize("make", [breast_cancer, wide], ids=["tall", "wide"])
def test_options_agree_with_scikit_learn_and_change_the_output(make):
    sample = make()
    learning = learning_sets(sample, 30, 10)
    outputs = []
    for options in itertools.product([True, False], ["mean", "sum"]):
        found = evaluate(sample, logistic(0.2, *options), "score", learning).values
        expected = scikit_learn(sample, learning, 0.2, *options)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
        outputs.append(found)
    for first, second in itertools.combinations(outputs, 2):
        assert np.nanmax(np.abs(first - second)) > 1e-3


def test_small_penalties_of_separable_classes_converge():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    sample = make_sample(rng.normal(size=(80, 6)) + 3.0 * y[:, None], y, as_classes=True)
    learning = learning_sets(sample, 30, 40)
    found = evaluate(sample, logistic(1e-6), "score", learning).values
    assert np.isfinite(found[~learning]).all()
    np.testing.assert_array_equal(np.sign(found[~learning]).min(), -1)


def test_separable_classes_without_a_penalty_have_no_solution():
    y = np.arange(20) % 2
    sample = make_sample(y[:, None] + np.linspace(0, 0.5, 20)[:, None], y, as_classes=True)
    learning = learning_sets(sample, 10, 4)
    with pytest.raises(ValueError, match=r"predicts nan on split 0 .* not converged: raise lam"):
        evaluate(sample, logistic(0.0), "label", learning)
    with pytest.raises(ValueError, match="Newton's method has not converged"):
        evaluate(
            breast_cancer(),
            logistic(1e-3, max_iter=1),
            "label",
            learning_sets(breast_cancer(), 40, 4),
        )
