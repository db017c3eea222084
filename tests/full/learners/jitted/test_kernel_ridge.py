import itertools
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from tests.support.samples import breast_cancer, diabetes, evaluate, learning_sets
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners import kernel_ridge, ridge
from ucvtest.learners.batching import rows_for_cache

KERNELS = [
    ({"kernel": "linear"}, KernelRidge(alpha=0.5)),
    ({"kernel": "rbf"}, KernelRidge(alpha=0.5, kernel="rbf")),
    ({"kernel": "rbf", "gamma": 0.3}, KernelRidge(alpha=0.5, kernel="rbf", gamma=0.3)),
    ({"kernel": "polynomial"}, KernelRidge(alpha=0.5, kernel="poly")),
    ({"kernel": "polynomial", "degree": 2}, KernelRidge(alpha=0.5, kernel="poly", degree=2)),
    ({"kernel": "polynomial", "coef0": 0.1}, KernelRidge(alpha=0.5, kernel="poly", coef0=0.1)),
]


def test_kernels_agree_with_scikit_learn_and_change_the_output():
    for sample, output in ((diabetes(60), "number"), (breast_cancer(60), "score")):
        learning = learning_sets(sample, 24, 10)
        outputs = []
        for options, estimator in KERNELS:
            found = evaluate(sample, kernel_ridge(0.5, **options), output, learning).values
            expected = evaluate(sample, estimator, output, learning).values
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
            outputs.append(found)
        for first, second in itertools.combinations(outputs, 2):
            assert np.nanmax(np.abs(first - second)) > 1e-4


def test_large_systems_agree_with_scikit_learn():
    sample = breast_cancer(150)
    learning = learning_sets(sample, 100, 5)
    for options, estimator in KERNELS:
        found = evaluate(sample, kernel_ridge(0.5, **options), "score", learning).values
        expected = evaluate(sample, estimator, "score", learning).values
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


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

    one_by_one = fitted()
    monkeypatch.setattr(sys.modules["ucvtest.learners.jitted.ridge_dual"], "MOST_BATCHED", 1000)
    for found, batched in zip(one_by_one, fitted(), strict=True):
        np.testing.assert_allclose(found, batched, rtol=1e-9, atol=1e-11)


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lam": 0.0}, "lam must be a positive number, got 0.0"),
        (
            {"lam": 1.0, "kernel": "cosine"},
            "kernel='cosine' is unknown: use one of linear, rbf, polynomial",
        ),
        ({"lam": 1.0, "gamma": 0}, "gamma must be a positive number or None, got 0"),
        ({"lam": 1.0, "degree": -1}, "degree must be a positive number, got -1"),
        ({"lam": 1.0, "coef0": np.inf}, "coef0 must be a finite number, got inf"),
        ({"lam": 1.0, "scale": "all"}, "scale='all' is unknown: use one of sum, mean"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError) as error:
        kernel_ridge(**arguments)
    assert str(error.value) == message


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
