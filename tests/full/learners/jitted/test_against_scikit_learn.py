"""Each learner and its options against scikit-learn's estimator of the same rule."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.dummy import DummyClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from tests.support.samples import breast_cancer, diabetes, evaluate, iris, learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.learners import (
    gaussian_nb,
    kernel_ridge,
    knn,
    lda,
    majority,
    nearest_centroid,
    polynomial,
    qda,
    ridge,
)

# Maximum likelihood divides by n, which scikit-learn does for all solvers from 1.9 on.
LDA = LinearDiscriminantAnalysis(solver="lsqr")
QDA = QuadraticDiscriminantAnalysis()
HALF = [0.5, 0.5]


def two_classes(n_obs, n_columns, shift=0.3):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_obs, n_columns)) + shift * (np.arange(n_obs) % 2)[:, None]
    return make_sample(5 + X, np.arange(n_obs) % 2, as_classes=True)


def one_feature():
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(40, 1))
    return make_sample(x, np.sin(4 * x[:, 0]) + rng.normal(size=40), as_classes=False)


ALL = "label score probability"
TWO = [
    (lda(), LDA, ALL, 30),
    (lda("equal"), LinearDiscriminantAnalysis(priors=HALF), ALL, 30),
    (qda(), QDA, ALL, 50),
    (qda("equal"), QuadraticDiscriminantAnalysis(priors=HALF), ALL, 50),
    (gaussian_nb(), GaussianNB(), "label probability", 30),
    (gaussian_nb("equal"), GaussianNB(priors=HALF), "label probability", 30),
    (nearest_centroid(), NearestCentroid(), "label", 30),
    (majority(), DummyClassifier(), "label", 30),
    (ridge(0.7), Ridge(0.7), "label score", 30),
    (ridge(0), LinearRegression(), "score", 30),
    *((knn(k), KNeighborsClassifier(k), "label", 30) for k in (1, 3, 5)),
    *((knn(k), KNeighborsClassifier(k), "score probability", 30) for k in (1, 4)),
]
KERNELS = [
    ({"kernel": "linear"}, KernelRidge(alpha=0.5)),
    ({"kernel": "rbf"}, KernelRidge(alpha=0.5, kernel="rbf")),
    ({"kernel": "rbf", "gamma": 0.3}, KernelRidge(alpha=0.5, kernel="rbf", gamma=0.3)),
    ({"kernel": "polynomial"}, KernelRidge(alpha=0.5, kernel="poly")),
    ({"kernel": "polynomial", "degree": 2}, KernelRidge(alpha=0.5, kernel="poly", degree=2)),
    ({"kernel": "polynomial", "coef0": 0.1}, KernelRidge(alpha=0.5, kernel="poly", coef0=0.1)),
]
OF_KERNELS = [(kernel_ridge(0.5, **options), estimator) for options, estimator in KERNELS]
# A sample, an output, a size of learning sets.
OTHERS = [
    (breast_cancer(), "score", 30, OF_KERNELS),
    (diabetes(), "number", 30, OF_KERNELS),
    # Large systems are solved one by one.
    (breast_cancer(150), "score", 100, OF_KERNELS[1:4:2]),
    (diabetes(), "number", 30, [(ridge(2.0), Ridge(2.0)), (knn(5), KNeighborsRegressor(5))]),
    # More features than observations; and positions padded to 16, more than there are of both.
    (two_classes(50, 120), "score", 24, [(ridge(0.7), Ridge(0.7))]),
    *((two_classes(12, 13), "score", size, [(ridge(0.7), Ridge(0.7))]) for size in (5, 9, 10)),
    # More columns than loops are unrolled for.
    (two_classes(150, 20), "score", 100, [(lda(), LDA), (qda(), QDA)]),
    (
        *(one_feature(), "number", 25),
        [(polynomial(4), make_pipeline(PolynomialFeatures(4), LinearRegression()))],
    ),
]


def check(ours, theirs, sample, output, learning):
    found = evaluate(sample, ours, output, learning).values
    expected = evaluate(sample, theirs, output, learning).values
    if output == "label":
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    return found


@pytest.mark.parametrize(
    ("ours", "theirs", "outputs", "size"), TWO, ids=lambda each: str(each)[:20]
)
def test_two_classes(ours, theirs, outputs, size):
    sample = breast_cancer()
    learning = learning_sets(sample, size, 20)
    for output in outputs.split():
        check(ours, theirs, sample, output, learning)


@pytest.mark.parametrize(("sample", "output", "size", "pairs"), OTHERS)
def test_other_samples(sample, output, size, pairs):
    learning = learning_sets(sample, size, 10)
    found = [check(*pair, sample, output, learning) for pair in pairs]
    # Every option changes something.
    assert len({each.tobytes() for each in found}) == len(pairs)


@pytest.mark.parametrize("place", [0, 2, 4, 6, 7])
def test_three_classes_of_which_some_are_absent(place):
    ours, theirs, *_ = TWO[place]
    sample = iris()
    learning = learning_sets(sample, 60, 20)
    for row, absent in enumerate([0, 1, 2] * 3):
        learning[row] &= sample.class_index != absent
    check(ours, theirs, sample, "label", learning)
