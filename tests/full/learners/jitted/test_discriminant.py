import numpy as np
import pytest
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
)
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB

import ucvtest as uv
from tests.support.samples import breast_cancer, evaluate, learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners import gaussian_nb, lda, qda


def test_nearest_centroid_is_the_difference_of_squared_distances():
    sample = breast_cancer()
    learning = learning_sets(sample, 20, 5)
    expected = np.full(learning.shape, np.nan)
    for row, members in enumerate(learning):
        first, second = (
            (
                (sample.matrix - sample.matrix[members & (sample.class_index == code)].mean(axis=0))
                ** 2
            ).sum(axis=1)
            for code in (0, 1)
        )
        expected[row] = np.where(members, np.nan, first - second)
    found = evaluate(sample, "nearest_centroid", "score", learning).values
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_units_of_the_features_do_not_matter():
    sample = breast_cancer()
    shifted = make_sample(1e4 + sample.matrix * 1e-3, sample.response, as_classes=True)
    learning = learning_sets(sample, 50, 20)
    for learner in (lda(), qda()):
        found = evaluate(shifted, learner, "score", learning).values
        expected = evaluate(sample, learner, "score", learning).values
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("learner", [lda(), qda()], ids=lambda x: x.name)
def test_collinear_columns_are_left_out(learner):
    sample = breast_cancer(n_columns=2)
    X = np.column_stack([sample.matrix, sample.matrix.sum(axis=1), np.ones(sample.n_obs)])
    more = make_sample(X, sample.response, as_classes=True)
    learner.check(more, "label", 30)
    learning = np.arange(sample.n_obs) % 3 > 0
    found = learner.scores(learner.prepare(more), learning[None])
    expected = learner.scores(learner.prepare(sample), learning[None])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert learner.note_on(more).startswith("2 of the 4 columns of X are constant or combinations")
    assert learner.note_on(sample) == ""
    constant = make_sample(np.ones((sample.n_obs, 2)), sample.response, as_classes=True)
    with pytest.raises(ValueError, match="all columns of X are constant: use majority"):
        learner.check(constant, "label", 30)
    few = "needs learn_size >= .*; the 4 columns have rank 2\\), got learn_size=3"
    with pytest.raises(ValueError, match=few):
        learner.check(more, "label", 3)


def rare_level(n_columns=3):
    """A factor level that three observations have, and learning sets with none to three of them."""
    sample = breast_cancer(n_columns=n_columns)
    X = np.column_stack([sample.matrix, np.arange(sample.n_obs) < 3])
    learning = learning_sets(sample, 40, 6)
    learning[:, :3] = [[1, 0, 1], [0, 1, 1], [0, 0, 0], [1, 1, 1], [0, 0, 0], [0, 0, 1]]
    return make_sample(X, sample.response, as_classes=True), learning


@pytest.mark.parametrize("output", ["score", "probability", "label"])
@pytest.mark.parametrize("priors", ["empirical", "equal"])
def test_without_a_rare_level_lda_is_that_of_scikit_learns_svd(priors, output):
    sample, learning = rare_level()
    theirs = LinearDiscriminantAnalysis(priors=[0.5, 0.5] if priors == "equal" else None)
    found = evaluate(sample, lda(priors), output, learning)
    expected = evaluate(sample, theirs, output, learning).values
    np.testing.assert_allclose(found.values, expected, rtol=1e-8, atol=1e-8)
    assert found.ties == {"singular_fits": 2, **({"score_ties": 0} if output == "label" else {})}


@pytest.mark.parametrize("learner", [lda(), qda()])
def test_regular_learning_sets_beside_singular_ones_keep_their_numbers(learner):
    sample, learning = rare_level()
    learning[:, np.flatnonzero(sample.class_index == 0)[:30]] |= learner == qda()
    together = evaluate(sample, learner, "score", learning)
    rows = np.array(
        [
            "singular_fits" not in evaluate(sample, learner, "score", learning[[row]]).ties
            for row in range(len(learning))
        ]
    )
    assert together.ties["singular_fits"] == np.sum(~rows)
    alone = evaluate(sample, learner, "score", learning[rows])
    np.testing.assert_array_equal(together.values[rows], alone.values)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_nearly_collinear_column_follows_the_same_rule(rng, classes):
    X = rng.normal(size=(90, 4)) + np.arange(90)[:, None] % classes
    X[:, 3] = X[:, 0] - X[:, 1] + 1e-7 * rng.normal(size=90)
    sample = make_sample(X, np.arange(90) % classes, as_classes=True)
    learning = learning_sets(sample, 50, 8)
    found = evaluate(sample, lda(), "label", learning)
    expected = evaluate(sample, LinearDiscriminantAnalysis(), "label", learning).values
    np.testing.assert_array_equal(found.values, expected)
    assert found.ties["singular_fits"] == 8


def test_classes_absent_from_a_singular_set_are_never_predicted(rng):
    X = np.column_stack([rng.normal(size=(60, 2)), np.arange(60) < 3])
    sample = make_sample(X, np.arange(60) % 3, as_classes=True)
    learning = learning_sets(sample, 40, 3)
    learning[:, :3] = False
    learning[0] &= sample.class_index != 1
    for learner in (lda(), qda()):
        found = evaluate(sample, learner, "label", learning)
        assert not (found.values[0] == 1).any()
        assert found.ties["singular_fits"] == 3
    theirs = evaluate(sample, LinearDiscriminantAnalysis(), "label", learning).values
    np.testing.assert_array_equal(evaluate(sample, lda(), "label", learning).values, theirs)


@pytest.mark.parametrize("priors", ["empirical", "equal"])
def test_qda_drops_for_all_classes_what_does_not_vary_in_one(priors):
    """What is dropped is a column here, so that the others alone give the same."""
    sample, learning = rare_level()
    learning[:, :3] = sample.class_index[:3] == sample.class_index[0]
    rest = make_sample(sample.matrix[:, :3], sample.response, as_classes=True)
    found = evaluate(sample, qda(priors), "score", learning)
    expected = evaluate(rest, qda(priors), "score", learning).values
    np.testing.assert_allclose(found.values, expected, rtol=1e-8, atol=1e-8)
    assert found.ties["singular_fits"] == len(learning)


def test_qda_goes_on_where_chance_leaves_a_class_too_few_observations():
    sample = breast_cancer()
    learning = learning_sets(sample, 50, 3)
    learning[1] &= (sample.class_index == 0) | (np.cumsum(sample.class_index) <= 6)
    found = evaluate(sample, "qda:equal", "score", learning)
    assert found.ties["singular_fits"] == 1
    assert np.isfinite(found.values[1][~learning[1]]).all()
    # A single observation of a class varies in no direction, so that the priors decide.
    learning[1] &= (sample.class_index == 0) | (np.cumsum(learning[1] * sample.class_index) <= 1)
    found = evaluate(sample, "qda", "score", learning).values[1]
    n_first = (learning[1] & (sample.class_index == 0)).sum()
    np.testing.assert_allclose(found[~learning[1]], -np.log(n_first))


@pytest.mark.parametrize("learner", ["lda", "qda"])
def test_a_constant_column_is_found_whatever_rounding_leaves_of_it(learner):
    sample = breast_cancer(n_columns=2)
    learning = learning_sets(sample, 30, 50)
    learning[:, :3] = False
    expected = evaluate(sample, learner, "score", learning).values
    for value in np.random.default_rng(0).normal(size=5):
        column = np.where(np.arange(sample.n_obs) < 3, value, 0.3)
        X = np.column_stack([sample.matrix, column])
        beside = make_sample(X, sample.response, as_classes=True)
        found = evaluate(beside, learner, "score", learning)
        np.testing.assert_allclose(found.values, expected, rtol=1e-7, atol=1e-8)
        assert found.ties["singular_fits"] == 50


@pytest.mark.parametrize("learner", [lda(), lda("equal"), qda()])
def test_labelings_of_a_singular_set_are_counted_too(learner):
    sample, learning = rare_level()
    rng = np.random.default_rng(1)
    labels = np.array([rng.permutation(sample.target) for _ in range(5)])
    found = Evaluator(sample, learner, "score").predict_labelings(
        labels, np.arange(5), learning[2:3], ~learning[2:3]
    )
    assert found.ties["singular_fits"] == 5
    for row, codes in zip(found.values, labels, strict=True):
        permuted = make_sample(sample.matrix, codes, as_classes=True)
        expected = evaluate(permuted, learner, "score", learning[2:3]).values[0]
        np.testing.assert_allclose(row, expected, rtol=1e-9)


def test_results_count_and_note_them():
    sample, _ = rare_level()
    X, y = sample.matrix, sample.response
    rare = [(np.arange(3, 100), np.arange(3)), (np.arange(97), np.arange(97, 100))]
    results = [
        uv.CorrectedTTest(X, y, "lda", "knn:3", design=rare).fit(rng=0),
        uv.UStatisticTest(X, y, "lda", "knn:3", learn_size=45).fit(n_pairs=200, rng=0),
        uv.InfluenceFunctionTest(X, y, "lda", n_folds=3).fit(n_repeats=300, rng=0),
    ]
    for result in results:
        number = result.diagnostics["singular_fits"]
        note = f"{number} fits had a learning set with a singular covariance matrix, as without"
        assert [each.startswith(note) for each in result.notes].count(True) == 1
    regular = uv.CorrectedTTest(X[:, :3], y, "lda", "knn:3").fit(rng=0)
    assert "singular_fits" not in regular.diagnostics


@pytest.mark.parametrize(
    ("column", "learners"),
    [
        (lambda codes: codes, ("lda", "qda")),
        (lambda codes: np.where(codes == 1, 3.0, np.arange(100.0)), ("qda",)),
    ],
)
def test_what_is_singular_within_classes_is_dropped_in_every_learning_set(column, learners):
    sample = breast_cancer(n_columns=2)
    X = np.column_stack([sample.matrix, column(sample.class_index)])
    for learner in learners:
        found = uv.CorrectedTTest(X, sample.response, learner).fit(rng=0)
        assert found.diagnostics["singular_fits"] == 10
    folds = KFold(5)
    expected = cross_val_score(LinearDiscriminantAnalysis(), X, sample.response, cv=folds)
    found = uv.CorrectedTTest(X, sample.response, "lda", cv=folds).fit(rng=0)
    if "lda" in learners:
        assert found.estimate == pytest.approx(1 - expected.mean())


def test_naive_bayes_adds_what_scikit_learn_adds_to_the_variances():
    sample = breast_cancer()
    units = make_sample(sample.matrix * 10.0 ** np.arange(-2, 3), sample.response, as_classes=True)
    learning = learning_sets(units, 30, 20)
    found = evaluate(units, gaussian_nb(), "score", learning).values
    joint = GaussianNB()
    for row, members in enumerate(learning):
        joint.fit(units.matrix[members], units.response[members])
        first, second = joint.predict_joint_log_proba(units.matrix[~members]).T
        np.testing.assert_allclose(found[row, ~members], second - first, rtol=1e-8)


def test_naive_bayes_without_variation_names_the_remedy():
    X = np.array([[0.0], [0.0], [0.0], [0.0], [1.0], [2.0]])
    sample = make_sample(X, np.array([0, 1, 0, 1, 0, 1]), as_classes=True)
    with pytest.raises(ValueError, match="no feature varies in that learning set: learn from more"):
        evaluate(sample, "gaussian_nb", "score", np.array([[1, 1, 1, 1, 0, 0]], dtype=bool))
