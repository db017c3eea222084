"""Fits to many labelings of one sample: those of one fit at a time, of each learner."""

from collections import Counter

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.support.cells import all_of_them
from tests.support.samples import breast_cancer, diabetes, iris, learning_sets
from ucvtest.common.execution import Execution
from ucvtest.data.sample import make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.backends import choose_backend
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.adapters.translated import TranslatedLearner

TWO_CLASSES = {
    "lda": "lda",
    "lda equal": "lda:equal",
    "qda": "qda",
    "gaussian_nb": "gaussian_nb",
    "nearest_centroid": "nearest_centroid",
    "knn odd": "knn:3",
    "knn even": "knn:4",
    "ridge": "ridge:0.7",
    "ridge, all penalised": "ridge:0.7,penalize_intercept=true,scale=mean",
    "kernel_ridge": "kernel_ridge:0.5,kernel=rbf,gamma=0.3",
    "logistic": "logistic:0.1",
    "logistic of sums": "logistic:2.0,standardize=false,scale=sum",
    "lasso": "lasso:0.08",
    "elastic_net": "elastic_net:0.1,0.5",
    "majority": "majority",
    "majority half": "majority:half",
}
THREE_CLASSES = ["lda", "qda", "gaussian_nb", "nearest_centroid", "knn:3", "knn:4", "majority"]
REAL = ["ridge:0.7", "kernel_ridge:0.5", "knn:3", "knn:4"]


def grid():
    """Many equal rows and distances, and scores at the cut."""
    points = np.array([(i, j) for i in range(4) for j in range(4)] * 3, dtype=float)
    response = (points[:, 0] + np.arange(48) // 16 > 2).astype(int)
    return make_sample(points, response, as_classes=True)


def wide():
    """More features than observations: the dual form of ridge."""
    X = np.random.default_rng(3).normal(size=(30, 50))
    return make_sample(X, np.arange(30) % 2, as_classes=True)


def permuted(sample, n_labelings=7):
    """Permutations of the response, the first of them the response itself."""
    rng = np.random.default_rng(11)
    rows = [rng.permutation(sample.target) for _ in range(n_labelings - 1)]
    return np.array([sample.target, *rows])


def one_by_one(sample, learner, output, labels, learning, testing):
    """Predictions by a sample of its own for each labeling, and the sum of their ties."""
    values, ties, single = [], Counter(), 0
    for row in range(len(labels)):
        evaluator = Evaluator(sample.relabeled(labels[row]), learner, output)
        found = evaluator.predict(learning[[row]], testing[[row]], np.array([row]))
        values.append(found.values[0])
        single += evaluator.one_class_fits
        ties += found.ties
    return np.array(values), ties, single


def compare(sample, learner, output, labels, learning, testing=None):
    """Assert that fits together are fits one by one, and return the former."""
    testing = np.ones((1, sample.n_obs), dtype=bool) if testing is None else testing
    evaluator = Evaluator(sample, learner, output)
    seeds = np.arange(len(labels))
    found = evaluator.predict_labelings(labels, seeds, learning, testing)
    each = (np.broadcast_to(array, labels.shape) for array in (learning, testing))
    values, ties, single = one_by_one(sample, learner, output, labels, *each)
    np.testing.assert_allclose(found.values, values, rtol=1e-7, atol=1e-8)
    assert evaluator.one_class_fits == single
    if output == "label":
        assert +found.ties == ties
    return found.values


@pytest.mark.parametrize("common", [True, False], ids=["one set", "many sets"])
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_two_classes(name, common):
    sample, learner = breast_cancer(60, 3), as_learner(TWO_CLASSES[name])
    labels = permuted(sample)
    # One labeling learns from one class only.
    labels[5] = 1.0
    learning = learning_sets(sample, 40, 1 if common else len(labels))
    labels[6, learning[-1 if common else 6]] = 0.0
    for output in ("label", "score") if common or all_of_them() else ("score",):
        values = compare(sample, learner, output, labels, learning, ~learning)
        assert np.isnan(values[np.broadcast_to(learning, labels.shape)]).all()
    assert len(np.unique(values[:, ~learning[0]], axis=0)) > 3


@pytest.mark.parametrize("common", [True, False], ids=["one set", "many sets"])
@pytest.mark.parametrize("name", ["nearest_centroid", "knn:3", "knn:4", "majority", "ridge:1.0"])
def test_ties(name, common):
    sample = grid()
    learning = learning_sets(sample, 30, 1 if common else 7)
    compare(sample, as_learner(name), "label", permuted(sample), learning)


@pytest.mark.parametrize("common", [True, False], ids=["one set", "many sets"])
@pytest.mark.parametrize("name", THREE_CLASSES)
def test_three_classes(name, common):
    sample = iris()
    labels = permuted(sample)
    # A class may be absent.
    labels[3] = np.minimum(labels[3], 1.0)
    learning = learning_sets(sample, 90, 1 if common else len(labels))
    compare(sample, as_learner(name), "label", labels, learning)


@pytest.mark.parametrize("common", [True, False], ids=["one set", "many sets"])
@pytest.mark.parametrize("name", REAL)
def test_a_real_response(name, common):
    sample = diabetes(60)
    labels = permuted(sample)
    labels[4] = np.sign(labels[4] - 1.5)
    learning = learning_sets(sample, 40, 1 if common else len(labels))
    compare(sample, as_learner(name), "number", labels, learning)


@pytest.mark.parametrize("common", [True, False], ids=["one set", "many sets"])
@pytest.mark.parametrize(
    "name", ["ridge:0.7", "ridge:0.7,penalize_intercept=true,scale=mean", "kernel_ridge:0.3"]
)
def test_more_features_than_observations(name, common):
    sample = wide()
    learning = learning_sets(sample, 20, 1 if common else 7)
    compare(sample, as_learner(name), "score", permuted(sample), learning)


@pytest.mark.parametrize("name", ["lda", "lda:equal"])
def test_labels_that_leave_no_scatter_follow_the_rule_for_singular_sets(name):
    X = np.random.default_rng(5).normal(size=(40, 3))
    X[:, 0] = np.arange(40) % 2
    sample = make_sample(X, np.arange(40) % 2, as_classes=True)
    labels = permuted(sample, 6)
    scores = Evaluator(sample, as_learner(name), "score").predict_labelings(labels, np.arange(6))
    model = LinearDiscriminantAnalysis(solver="svd").fit(X, labels[0])
    assert scores.ties["singular_fits"] == 1
    np.testing.assert_array_equal(scores.values[0] > 0, model.predict(X) == 1)
    assert np.isfinite(scores.values).all()


@pytest.mark.parametrize(
    "name", ["lda", "ridge:0.7", "wide ridge:0.7", "kernel_ridge:0.5", "knn:3"]
)
def test_scores_do_not_depend_on_how_many_labelings_there_are(name):
    sample = wide() if name.startswith("wide") else breast_cancer(60, 3)
    learner = as_learner(name.removeprefix("wide "))
    labels, seeds = permuted(sample, 700), np.arange(700)
    whole = Evaluator(sample, learner, "score").predict_labelings(labels, seeds).values
    for count in (1, 5, 64, 513):
        part = Evaluator(sample, learner, "score").predict_labelings(labels[:count], seeds[:count])
        np.testing.assert_array_equal(part.values, whole[:count])


@pytest.mark.parametrize("name", ["lda", "ridge:0.7", "kernel_ridge:0.5"])
def test_one_learning_set_after_another(name):
    sample, learner = breast_cancer(60, 3), as_learner(name)
    learning = learning_sets(sample, 40, 2)
    labels, seeds = permuted(sample), np.arange(7)
    evaluator = Evaluator(sample, learner, "score")
    for row in (0, 1, 0):
        found = evaluator.predict_labelings(labels, seeds, learning[[row]])
        new = Evaluator(sample, learner, "score").predict_labelings(labels, seeds, learning[[row]])
        np.testing.assert_array_equal(found.values, new.values)


def test_sets_of_different_sizes():
    sample = wide()
    learning = learning_sets(sample, 20, 7)
    learning[3:] &= np.arange(30) > 4
    for name in ("ridge:0.7", "kernel_ridge:0.3", "lda", "logistic:0.2"):
        small = make_sample(sample.matrix[:, :2], sample.response, as_classes=True)
        chosen = small if name in ("lda", "logistic:0.2") else sample
        compare(chosen, as_learner(name), "score", permuted(sample), learning)


ESTIMATORS = {
    "lda": LinearDiscriminantAnalysis(),
    "knn": KNeighborsClassifier(4),
    "ridge": Ridge(0.7),
    "scaled knn": make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
    "scaled kernel ridge": make_pipeline(StandardScaler(), KernelRidge(kernel="rbf")),
    "tree": DecisionTreeClassifier(max_depth=2),
}


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("make", [breast_cancer, grid])
def test_translated_and_other_estimators_are_fitted_as_by_scikit_learn(name, make):
    sample, original = make(), as_learner(ESTIMATORS[name])
    labels, everything = permuted(sample), np.ones((7, sample.n_obs), dtype=bool)
    labels[5] = 0.0
    learner = choose_backend(original, "auto", sample, "label", sample.n_obs)
    assert isinstance(learner, TranslatedLearner) == (name != "tree")
    seeds = np.arange(7)
    found = Evaluator(sample, learner, "label").predict_labelings(labels, seeds)
    expected, _, _ = one_by_one(sample, original, "label", labels, everything, everything)
    if name == "tree":
        # Seeds are those of the rows, also where the rows are fits of their own.
        expected = np.array(
            [
                Evaluator(sample.relabeled(row), original, "label")
                .predict(everything[:1], everything[:1], seeds[[r]])
                .values[0]
                for r, row in enumerate(labels)
            ]
        )
    np.testing.assert_array_equal(found.values, expected)
    if name == "knn" and make is grid:
        assert found.ties["sklearn_fits"] > 0


def test_an_arbitrary_learner_is_shared_out_and_named_when_it_fails():
    sample = breast_cancer(30, 2)
    labels = permuted(sample, 20)

    def count_positive(X_train, y_train, X_test):
        return np.full(len(X_test), y_train[:10].sum())

    evaluator = Evaluator(sample, as_learner(count_positive), "score", Execution.of(0, 2, 7))
    found = evaluator.predict_labelings(labels, np.arange(20)).values
    np.testing.assert_array_equal(found[:, 0], labels[:, :10].sum(axis=1))

    def fails(X_train, y_train, X_test):
        if y_train[0] != y_train[1]:
            raise RuntimeError("no")
        return np.zeros(len(X_test))

    first = int(np.flatnonzero(labels[:, 0] != labels[:, 1])[0])
    with pytest.raises(ValueError, match=rf"^learner fails failed on split {first}: RuntimeError"):
        Evaluator(sample, as_learner(fails), "score").predict_labelings(labels, np.arange(20))


def test_what_cannot_be_fitted_is_refused():
    sample = breast_cancer(30, 2)
    evaluator = Evaluator(sample, as_learner("lda"), "label")
    numbers = Evaluator(diabetes(30), as_learner("knn:2"), "number")
    nothing = np.zeros((1, 30), bool)
    for call, message in (
        (lambda: evaluator.predict_labelings(np.zeros((2, 29)), np.arange(2)), "shape"),
        (lambda: evaluator.predict_labelings(np.full((1, 30), 0.5), np.arange(1)), "codes of cl"),
        (lambda: evaluator.predict_labelings(permuted(sample, 2), np.arange(2), nothing), "empty"),
        (lambda: numbers.predict_labelings(np.full((1, 30), np.nan), np.arange(1)), "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match=r"^learner ridge:1e-18 predicts nan on split 0"):
        Evaluator(wide(), as_learner("ridge:1e-18"), "score").predict_labelings(
            permuted(wide(), 2), np.arange(2)
        )
