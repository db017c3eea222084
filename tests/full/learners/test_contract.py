"""What each jitted learner promises; a new one is a row, with an estimator that predicts alike."""

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from tests.full.learners.shrunken_means import ShrunkenMeans
from tests.support.cells import all_of_them
from tests.support.samples import breast_cancer, diabetes, evaluate, iris, learning_sets, patients
from ucvtest.data.sample import make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import SHORT_NAMES, as_learner
from ucvtest.learners.base import JittedLearner

pytestmark = pytest.mark.seconds(40, reason="compiles every learner")


class ShrunkenCentroid(ClassifierMixin, BaseEstimator):
    """`ShrunkenMeans` of one learning set, in NumPy."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        overall = X.mean(axis=0)
        self.means = [overall + 0.7 * (X[y == one].mean(axis=0) - overall) for one in self.classes_]
        return self

    def decision_function(self, X):
        first, second = (((X - mean) ** 2).sum(axis=1) for mean in self.means)
        return first - second

    def predict(self, X):
        distances = [((X - mean) ** 2).sum(axis=1) for mean in self.means]
        return self.classes_[np.argmin(distances, axis=0)]


def two_classes(n_obs: int, n_columns: int) -> Any:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_obs, n_columns)) + 0.3 * (np.arange(n_obs) % 2)[:, None]
    return make_sample(5 + X, np.arange(n_obs) % 2, as_classes=True)


def one_feature() -> Any:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, size=(40, 1))
    return make_sample(x, np.sin(4 * x[:, 0]) + rng.normal(size=40), as_classes=False)


@dataclass(frozen=True)
class Row:
    """A learner, the estimator with the same predictions, of which outputs, and on what."""

    ours: Any
    theirs: Any
    outputs: str = "label score"
    sample: Any = breast_cancer
    size: int = 30


def kernel(theirs: Any, text: str, **where: Any) -> Row:
    return Row(f"kernel_ridge:0.5,{text}", theirs, **({"outputs": "score"} | where))


# Estimators that are translated with all defaults are compared in adapters/test_translate.py.
ROWS = [
    Row(ShrunkenMeans(0.3), ShrunkenCentroid()),
    Row(ShrunkenMeans(0.3), ShrunkenCentroid(), "label", iris, 60),
    Row("lda:equal", LinearDiscriminantAnalysis(priors=[0.5, 0.5])),
    Row("qda:equal", QuadraticDiscriminantAnalysis(priors=[0.5, 0.5]), size=50),
    Row("gaussian_nb:equal", GaussianNB(priors=[0.5, 0.5]), "label probability"),
    # More columns than loops are unrolled for.
    Row("lda", LinearDiscriminantAnalysis(), "score", lambda: two_classes(150, 20), 100),
    Row("qda", QuadraticDiscriminantAnalysis(), "score", lambda: two_classes(150, 20), 100),
    *(Row(f"knn:{k}", KNeighborsClassifier(k)) for k in (1, 5)),
    Row("knn:4", KNeighborsClassifier(4), "score probability"),
    Row("knn:5", KNeighborsRegressor(5), "number", diabetes),
    Row("ridge:0", LinearRegression(), "score"),
    Row("ridge:2.0", Ridge(2.0), "number", diabetes),
    # More features than observations; and positions padded to 16, more than there are of both.
    Row("ridge:0.7", Ridge(0.7), "score", lambda: two_classes(50, 120), 24),
    *(
        Row("ridge:0.7", Ridge(0.7), "score", lambda: two_classes(12, 13), size)
        for size in (5, 9, 10)
    ),
    Row(
        "polynomial:4",
        make_pipeline(PolynomialFeatures(4), LinearRegression()),
        *("number", one_feature, 25),
    ),
    kernel(KernelRidge(alpha=0.5), "linear"),
    kernel(KernelRidge(alpha=0.5, kernel="rbf"), "rbf"),
    kernel(KernelRidge(alpha=0.5, kernel="rbf", gamma=0.3), "rbf,gamma=0.3"),
    kernel(KernelRidge(alpha=0.5, kernel="poly"), "polynomial"),
    kernel(KernelRidge(alpha=0.5, kernel="poly", degree=2), "polynomial,degree=2"),
    kernel(KernelRidge(alpha=0.5, kernel="poly", coef0=0.1), "polynomial,coef0=0.1"),
    kernel(KernelRidge(alpha=0.5, kernel="rbf"), "rbf", outputs="number", sample=diabetes),
    # Large systems are solved one by one.
    kernel(
        *(KernelRidge(alpha=0.5, kernel="rbf"), "rbf"), sample=lambda: breast_cancer(150), size=100
    ),
]

ARGUMENTS = {
    "elastic_net": ":0.05,0.5",
    "kernel_ridge": ":1.0,rbf",
    "knn": ":3",
    "lasso": ":0.05",
    "logistic": ":0.1",
    "polynomial": ":1",
    "ridge": ":1.0",
}
NAMED = [name + ARGUMENTS.get(name, "") for name in SHORT_NAMES]
LEARNERS = [*NAMED, ShrunkenMeans(0.3)]

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row.ours)[:30])
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: str(each)[:16])

OUTPUTS = ("label", "number", "probability", "score", "risk", "event_probability")


def response_of(sample, rows):
    """The response of some rows, as it is passed."""
    times = sample.survival_times
    return sample.response[rows] if times is None else times.take(rows)


def sample_for(learner, n_obs=60):
    """A sample that the learner can learn from, and an output that it has."""
    learner = as_learner(learner)
    n_columns = 1 if learner.name.startswith("polynomial") else 5
    for sample in (breast_cancer(n_obs, n_columns), diabetes(n_obs), patients(n_obs)):
        for output in OUTPUTS:
            try:
                learner.check(sample, output, n_obs // 2)
            except ValueError:
                continue
            return sample, output
    raise AssertionError(f"{learner.name} learns nothing")


@each_row
def test_predictions_are_those_of_the_estimator(row):
    sample = row.sample()
    learning = learning_sets(sample, row.size, 20)
    for output in row.outputs.split():
        found, expected = (
            evaluate(sample, each, output, learning).values for each in (row.ours, row.theirs)
        )
        if output == "label":
            np.testing.assert_array_equal(found, expected)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("learner", NAMED)
def test_its_name_makes_it_again(learner):
    found = as_learner(learner)
    assert isinstance(found, JittedLearner)
    assert as_learner(found.name).name == found.name
    assert found.backend == "jax"


@each_learner
def test_the_order_of_rows_does_not_matter(learner):
    sample, output = sample_for(learner)
    order = np.random.default_rng(2).permutation(sample.n_obs)
    turned = make_sample(
        sample.features[order], response_of(sample, order), as_classes=sample.classes is not None
    )
    learning = learning_sets(sample, 30, 7)
    found = evaluate(sample, learner, output, learning).values
    other = evaluate(turned, learner, output, learning[:, order]).values
    np.testing.assert_allclose(other, found[:, order], rtol=1e-6, atol=1e-8)


@each_learner
def test_batches_and_the_flag_for_float64_change_nothing(learner):
    sample, output = sample_for(learner)
    learning = learning_sets(sample, 30, 7)
    together = evaluate(sample, learner, output, learning).values
    assert together.dtype == np.float64
    assert (np.isnan(together) == learning).all()
    np.testing.assert_array_equal(evaluate(sample, learner, output, learning).values, together)
    one_by_one = [evaluate(sample, learner, output, row[None]).values[0] for row in learning]
    np.testing.assert_array_equal(one_by_one, together)
    if all_of_them() or learner in ("lda", "qda", "knn:3", "ridge:1.0"):
        with jax.enable_x64(True):
            on = evaluate(sample, learner, output, learning).values
        np.testing.assert_array_equal(on, together)


@each_learner
def test_company_and_padding_change_only_the_last_digits(learner):
    """A sample inside a larger one: the observations never learnt from change nothing."""
    whole, output = sample_for(learner, 70)
    part = make_sample(
        *(whole.matrix[:40], response_of(whole, np.arange(40))),
        as_classes=whole.classes is not None,
    )
    learning = learning_sets(part, 24, 10)
    alone = evaluate(part, learner, output, learning).values
    inside = evaluate(whole, learner, output, np.pad(learning, ((0, 0), (0, 30)))).values
    np.testing.assert_allclose(inside[:, :40], alone, rtol=1e-9, atol=1e-9)


@each_learner
def test_other_labels_are_those_of_another_sample(learner):
    sample, output = sample_for(learner)
    if sample.survival_times is not None:
        pytest.skip("times are not permuted")
    labels = np.random.default_rng(0).permuted(np.tile(sample.target, (3, 1)), axis=1)
    for learning in (learning_sets(sample, 40, 3), learning_sets(sample, 40, 1)):
        evaluator = Evaluator(sample, as_learner(learner), output)
        found = evaluator.predict_labelings(labels, np.arange(3), learning, ~learning).values
        for row in range(3):
            other, members = sample.relabeled(labels[row]), learning[[row % len(learning)]]
            expected = evaluate(other, learner, output, members).values
            np.testing.assert_allclose(found[[row]], expected, rtol=1e-7, atol=1e-8)


@each_learner
def test_weights_and_what_it_cannot_learn_are_refused_by_name(learner):
    learner, refusals = as_learner(learner), []
    for sample in (breast_cancer(60, 1), iris(), diabetes(60), patients(60)):
        for output in OUTPUTS:
            try:
                learner.check(sample, output, 30)
            except ValueError as error:
                refusals.append(str(error))
    with pytest.raises(ValueError, match="cannot weight rows") as error:
        learner.check_weights()
    refusals.append(str(error.value))
    assert all(learner.name.split(":")[0] in refusal for refusal in refusals)


@pytest.mark.parametrize("learner", [each for each in LEARNERS if each != "majority"])
def test_it_fits_nothing_to_missing_values(learner):
    sample, output = sample_for(learner)
    features = np.array(sample.features)
    features[3, 0] = np.nan
    every = np.arange(sample.n_obs)
    as_classes = sample.classes is not None
    holey = make_sample(features, response_of(sample, every), as_classes=as_classes)
    with pytest.raises(ValueError, match=r"X contains nan at row 3, column 0"):
        evaluate(holey, learner, output, learning_sets(holey, 30, 2))


@pytest.mark.parametrize("n_classes", [2, 3])
@each_learner
def test_ties_are_counted_and_go_to_the_first_class(learner, n_classes):
    """No column says anything of classes of one size."""
    X = np.tile(np.arange(12.0), n_classes)[:, None]
    sample = make_sample(X, np.repeat(np.arange(n_classes), 12), as_classes=True)
    learner, learning = as_learner(learner), np.ones((1, len(X)), bool)
    learning[:, ::12] = False
    try:
        learner.check(sample, "label", int(learning.sum()))
    except ValueError:
        pytest.skip("learns something else")
    found = evaluate(sample, learner, "label", learning)
    if learner.name.startswith(("elastic", "kernel", "lasso", "logistic")):
        # What is left of their scores is a rounding error.
        assert found.ties.total() <= n_classes
        return
    np.testing.assert_array_equal(found.values[~learning], 0.0)
    assert found.ties.total() >= n_classes


# Multiples of 32 from 32 to 224.
SIZES = 7
LONG_TO_COMPILE = ("elastic_net:0.05,0.5", "lasso:0.05", "logistic:0.1", "polynomial:1", "qda")
FORMS = ("learning sets", "labelings", "labelings of learning sets")
NAMES = (*(name for name in NAMED if name != "cox"), "ridge:1.0 of many columns")
CELLS = [
    pytest.param(name, form, marks=pytest.mark.slow if name in LONG_TO_COMPILE else ())
    for row, name in enumerate(NAMES)
    for column, form in enumerate(FORMS)
    # Each learner in one form, and each form several times.
    if all_of_them() or name in LONG_TO_COMPILE or row % 3 == column
]


def most_compilations(name: str, form: str) -> int:
    """How often a function is compiled for samples of 21 to 220 observations, at most."""
    if "kernel" in name or "many columns" in name:
        # Systems of 16 to 112, samples of 32 to 224: the first rise by 16, the second by 32.
        return SIZES + 1
    if name.startswith(("lasso", "elastic")) and form == "labelings":
        # Everything is learnt from, so that learning sets rise by 16 up to 224.
        return 2 * SIZES
    return SIZES


@pytest.mark.parametrize(("name", "form"), CELLS)
def test_many_sizes_need_a_handful_of_compilations(name, form, compiled):
    short, _, many = name.partition(" of ")
    # 20 sizes, which meet every multiple of 32 for samples, and of 16 for learning sets.
    for n_obs in range(21, 221, 10):
        sample = two_classes(n_obs, 300 if many else 2)
        evaluator = Evaluator(sample, as_learner(short), "label")
        learning, rows = learning_sets(sample, n_obs // 2, 3), np.arange(3)
        labels = np.random.default_rng(0).permuted(np.tile(sample.target, (3, 1)), axis=1)
        if form == "learning sets":
            evaluator.predict(learning, ~learning, rows)
        elif form == "labelings":
            evaluator.predict_labelings(labels, rows)
        else:
            evaluator.predict_labelings(labels, rows, learning, ~learning)
    for function in set(compiled):
        assert compiled.count(function) <= most_compilations(name, form), function
    assert len(set(compiled)) <= 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("knn:3", "knn:7"),
        ("logistic:1.0", "logistic:20.0,scale=sum"),
        ("ridge:1.0", "ridge:0.1,penalize_intercept=false,scale=mean"),
        (ShrunkenMeans(0.31), ShrunkenMeans(0.7)),
    ],
)
def test_other_numbers_of_a_learner_need_no_other_compilation(first, second, compiled):
    sample = two_classes(40, 3)
    learning = learning_sets(sample, 24, 10)
    found, programs = evaluate(sample, first, "score", learning).values, list(compiled)
    assert len(programs) > 0
    other = evaluate(sample, second, "score", learning).values
    assert np.nanmax(np.abs(other - found)) > 1e-3
    assert compiled == programs


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("learner", [each for each in LEARNERS if each != "cox"])
def test_twenty_batches_of_ten_thousand_end(learner):
    """XLA on the CPU can deadlock: the time limit of the test is the watchdog."""
    sample = two_classes(40, 2)
    evaluator = Evaluator(sample, as_learner(learner), "label")
    learning = learning_sets(sample, 20, 10_000)
    for _ in range(20):
        predicted = evaluator.predict(learning, ~learning, np.arange(10_000)).values
    assert np.isfinite(predicted[~learning]).all()
