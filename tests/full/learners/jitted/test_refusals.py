"""Arguments of learners, and samples and outputs that a learner cannot have: row by row."""

import re

import numpy as np
import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer, iris, patients
from ucvtest.data.sample import make_sample
from ucvtest.learners import (
    cox,
    gaussian_nb,
    hat_matrix,
    held_out_predictions,
    kernel_ridge,
    knn,
    knn_leave_p_out,
    lasso,
    lda,
    logistic,
    majority,
    polynomial,
    qda,
    ridge,
    ridge_path,
    smoother,
)

WIDE = make_sample(
    np.random.default_rng(3).normal(size=(50, 400)), np.arange(50) % 2, as_classes=True
)
NUMBERS, LABELS = np.arange(6.0)[:, None], np.arange(6) % 2
X, Y = np.random.default_rng(0).normal(size=(12, 1)), np.random.default_rng(1).normal(size=12)


def large(n_obs):
    return make_sample(np.zeros((n_obs, 1)), np.arange(n_obs) % 2, as_classes=True)


def held_out(y, rows):
    return lambda: held_out_predictions(np.eye(4) / 2, np.ones(y), np.array(rows))


ARGUMENTS = [
    (lambda: ridge(np.nan), "lam must be a finite number of at least 0, got nan"),
    (lambda: cox(-1.0), "lam must be a finite number of at least 0, got -1.0"),
    (lambda: lasso("0.1"), "lam must be a positive number, got '0.1': use 'logistic:0'"),
    (lambda: kernel_ridge(0.0), "lam must be a finite number above 0, got 0.0"),
    *((lambda made=made: made("flat"), "priors='flat' is unknown: use one of empirical, equal")
      for made in (qda, gaussian_nb)),
    *((lambda k=k: knn(k), f"k must be an integer of at least 1, got {k!r}") for k in (True, "3")),
    (lambda: kernel_ridge(1.0, degree=-1), "degree must be a finite number above 0, got -1"),
    (lambda: kernel_ridge(1.0, coef0=np.inf), "coef0 must be a finite number, got"),
    (lambda: polynomial(0), "degree must be an integer of at least 1, got 0"),
    (lambda: smoother([[np.nan]]), "matrix contains values that are not finite"),
    (lambda: ridge_path([1, 1]), "lams must be different penalties in a row"),
    (lambda: hat_matrix(lda(), np.eye(3)), "learner must be ridge(...) or kernel_ridge"),
    (lambda: hat_matrix(ridge(1.0), np.eye(3), 4), "learn_size must be an integer from 1 to n = 3"),
    (held_out(3, [[0]]), "hat must have shape (n, n) and y (n,) or (n, P), got (4, 4) and (3,)"),
    (held_out(4, [[0, 4]]), "held_out must name observations from 0 to 3"),
    (held_out(4, [[0, 1], [2, 2]]), "held_out names an observation twice in row 1"),
    (lambda: held_out_predictions(np.eye(4), np.ones(4), np.array([[0]])), "determine the fit"),
    (lambda: knn_leave_p_out(NUMBERS, np.arange(6) % 3, 1, 3), "y must have two classes, got 3"),
    (lambda: knn_leave_p_out(NUMBERS, LABELS, 3, 2), "an integer from k = 3 to n - 1 = 5, got 2"),
    (lambda: uv.PermutationComplexityTest(X, Y, smoother(np.eye(5))), "5 observations, X has 12"),
    (lambda: uv.UStatisticTest(X, Y, smoother(np.eye(12))), "fewer than all observations"),
]  # fmt: skip

# A learner, a sample, an output and a size of learning sets.
ASKED = [
    ((lda(), breast_cancer(), "label", 6), "needs learn_size >= 7 (features plus classes), got"),
    ((qda(), breast_cancer(), "label", 11), "needs learn_size >= 12 (features plus one, for each"),
    ((ridge(0.0), breast_cancer(), "label", 5), "needs learn_size >= 6 (features plus one), got"),
    ((logistic(0.0), breast_cancer(), "label", 5), "needs learn_size >= 6 (features plus one)"),
    ((cox(), patients(), "risk", 3), "without a penalty needs learn_size >= 4"),
    ((polynomial(59), patients(60, 1), "number", 59), "without a penalty needs learn_size >= 60"),
    ((knn(9), breast_cancer(), "label", 8), "needs learn_size >= 9, got learn_size=8: raise it"),
    ((logistic(1.0), WIDE, "label", 20), "has 401 coefficients, more than 300"),
    ((lda(), iris(), "number", 60), "with this loss needs two classes, but y has 3"),
    ((majority("half"), iris(), "label", 30), "needs two classes, but y has 3: use tie='first'"),
    ((ridge(1.0), iris(), "label", 30), "with this loss needs two"),
    ((ridge(1.0), breast_cancer(), "probability", 30), "gives no probability for class"),
    ((cox(), breast_cancer(), "risk", 50), "needs survival times and a metric of them"),
    ((cox(), patients(), "number", 50), "needs survival times and a metric of them"),
    ((knn(3), large(70_000), "label", 10), "sorts all pairs of observations"),
]
TAKEN = [
    (lda(), breast_cancer(), "label", 7),
    (lda(), iris(), "probability", 60),
    (qda(), breast_cancer(), "label", 12),
    (ridge(0.0), breast_cancer(), "label", 6),
    (knn(9), breast_cancer(), "label", 9),
    (majority("half"), breast_cancer(), "label", 30),
    (logistic(1.0, standardize=False), WIDE, "label", 20),
]


@pytest.mark.parametrize(("call", "message"), ARGUMENTS, ids=[words for _, words in ARGUMENTS])
def test_arguments(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


@pytest.mark.parametrize(("asked", "message"), ASKED, ids=[words for _, words in ASKED])
def test_samples_and_outputs(asked, message):
    learner, sample, output, size = asked
    with pytest.raises(ValueError, match=f"^learner .*{re.escape(message)}"):
        learner.check(sample, output, size)


@pytest.mark.parametrize(("learner", "sample", "output", "size"), TAKEN)
def test_samples_and_outputs_that_are_taken(learner, sample, output, size):
    learner.check(sample, output, size)
