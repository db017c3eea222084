import itertools
from dataclasses import replace

import numpy as np
import pytest

from tests.support.samples import breast_cancer, evaluate, learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.learners import ridge


def wide(n_columns=120):
    """More features than observations."""
    rng = np.random.default_rng(3)
    X = 5.0 + rng.normal(size=(50, n_columns))
    return make_sample(X, np.arange(50) % 2, as_classes=True)


def slow_ridge(sample, learning, lam, penalize_intercept, scale):
    """The normal equations, one learning set at a time."""
    X = np.column_stack([np.ones(sample.n_obs), sample.matrix])
    fitted = np.full(learning.shape, np.nan)
    for row, members in enumerate(learning):
        penalty = np.full(X.shape[1], lam * (members.sum() if scale == "mean" else 1.0))
        if not penalize_intercept:
            penalty[0] = 0.0
        Z, y = X[members], sample.target[members]
        slope = np.linalg.solve(Z.T @ Z + np.diag(penalty), Z.T @ y)
        fitted[row] = np.where(members, np.nan, X @ slope)
    return fitted


def slow_standardised_ridge(sample, learning, lam):
    """With features scaled by means and standard deviations of each learning set."""
    fitted = []
    for members in learning:
        X = sample.matrix
        scaled = (X - X[members].mean(axis=0)) / X[members].std(axis=0)
        alone = make_sample(scaled, sample.target, as_classes=True)
        fitted.append(slow_ridge(alone, members[None], lam, False, "sum")[0])
    return np.array(fitted)


def test_features_standardised_in_each_set():
    sample = wide(40)
    learner = replace(ridge(0.7), standardize=True)
    state = learner.prepare(sample)
    for learn_size in (24, 45):
        learning = learning_sets(sample, learn_size)
        scores = learner.scores(state, learning)
        slow = slow_standardised_ridge(sample, learning, 0.7)
        np.testing.assert_allclose(scores[~learning], slow[~learning], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("make", [breast_cancer, wide], ids=["primal", "dual"])
def test_options_agree_with_the_normal_equations_and_change_the_output(make):
    sample = make()
    learning = learning_sets(sample, 24, 10)
    outputs = []
    for options in itertools.product([False, True], ["sum", "mean"]):
        found = evaluate(sample, ridge(0.3, *options), "score", learning).values
        expected = slow_ridge(sample, learning, 0.3, *options)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
        outputs.append(found)
    for first, second in itertools.combinations(outputs, 2):
        assert (first != second)[~learning].mean() > 0.99


@pytest.mark.parametrize("make", [breast_cancer, wide], ids=["primal", "dual"])
@pytest.mark.parametrize("penalize_intercept", [False, True])
def test_learning_sets_of_different_sizes(make, penalize_intercept):
    sample = make()
    learning = learning_sets(sample, 24, 6)
    learning[3:, :20] = False
    for scale in ("sum", "mean"):
        learner = ridge(0.5, penalize_intercept, scale)
        found = evaluate(sample, learner, "score", learning).values
        expected = slow_ridge(sample, learning, 0.5, penalize_intercept, scale)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)
        alone = [evaluate(sample, learner, "score", learning[[i]]).values[0] for i in range(6)]
        np.testing.assert_array_equal(np.array(alone), found)


def test_a_penalty_too_small_to_help_names_split_and_remedy():
    with pytest.raises(
        ValueError, match=r"predicts nan on split 0 .* raise lam, or bring the feat"
    ):
        evaluate(wide(), ridge(1e-16), "score", learning_sets(wide(), 24, 2))
