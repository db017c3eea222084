import sys
from dataclasses import replace

import numpy as np
import pytest

from tests.support.samples import breast_cancer, evaluate, learning_sets
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners import kernel_ridge, ridge
from ucvtest.learners.batching import rows_for_cache


@pytest.mark.parametrize(
    "learner",
    [
        kernel_ridge(0.3, kernel="rbf"),
        replace(kernel_ridge(0.3, kernel="rbf"), standardize=True),
        ridge(0.3),
    ],
    ids=["kernel ridge", "scaled kernel ridge", "ridge"],
)
def test_large_systems_are_solved_as_small_ones(monkeypatch, learner):
    sample = breast_cancer(140)
    sample = replace(sample, features=np.tile(sample.matrix, 6))
    learning = learning_sets(sample, 60, 5)
    labels = np.random.default_rng(0).integers(0, 2, (5, 140))

    def fitted():
        evaluator = Evaluator(sample, learner, "score")
        seeds = np.zeros(5, dtype=int)
        own = evaluator.predict(learning, ~learning, seeds).values
        other = evaluator.predict_labelings(labels, seeds, learning, ~learning).values
        return own, other

    mapped = fitted()
    monkeypatch.setattr(sys.modules["ucvtest.learners.jitted.ridge_dual"], "MOST_MAPPED", 1)
    for found, expected in zip(fitted(), mapped, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_matrices_of_large_samples_are_few():
    assert rows_for_cache(2**10, 2**18, 32) == 256
    assert rows_for_cache(2**16, 2**18, 32) == 32
    assert rows_for_cache(4608**2, 2**18, 32) == 1


def test_scale_multiplies_the_penalty_by_the_size():
    sample = breast_cancer(60)
    learning = learning_sets(sample, 24, 10)
    mean = evaluate(sample, kernel_ridge(0.1, scale="mean"), "score", learning).values
    total = evaluate(sample, kernel_ridge(2.4), "score", learning).values
    np.testing.assert_allclose(mean, total)


def test_a_kernel_that_is_not_finite_is_refused():
    sample = breast_cancer(60)
    learner = kernel_ridge(1.0, "polynomial", degree=0.5, coef0=0.0)
    with pytest.raises(ValueError) as error:
        learner.prepare(sample)
    assert str(error.value) == (
        "learner kernel_ridge:1.0,kernel=polynomial,degree=0.5,coef0=0.0 has a kernel that is not "
        "finite for all pairs of observations: bring the features to similar units, or use an "
        "integer degree"
    )
