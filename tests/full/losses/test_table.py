import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from ucvtest.designs.design import Design
from ucvtest.evaluation import evaluate
from ucvtest.learners.adapters.coerce import as_learner

TREE = DecisionTreeClassifier(max_depth=3)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    chosen = np.random.default_rng(1).permutation(len(y))[:80]
    return X[chosen][:, [1, 4, 8, 9]], y[chosen]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[:80], y[:80]


def by_hand(learners, X, y, splits, loss):
    """Losses (L, R, n) by fitting every learner to every learning set, one after the other."""
    found = np.full((len(learners), len(splits), len(y)), np.nan)
    for place, learner in enumerate(learners):
        for row, (learnt, tested) in enumerate(splits):
            learner.fit(X[learnt], y[learnt])
            found[place, row, tested] = loss(learner, X[tested], y[tested])
    return found


def zero_one(learner, X, y):
    return learner.predict(X) != y


def logarithmic(learner, X, y):
    probability = learner.predict_proba(X)[np.arange(len(y)), y]
    return -np.log(np.maximum(probability, np.finfo(float).eps))


def squared(learner, X, y):
    return (learner.predict(X) - y) ** 2


def absolute(learner, X, y):
    return np.abs(learner.predict(X) - y)


def splits_of(design):
    return [
        (np.flatnonzero(learnt), np.flatnonzero(tested))
        for learnt, tested in zip(design.learning, design.testing, strict=True)
    ]


# ----------------------------------------------------------------------------------- evaluate


@pytest.mark.parametrize(("name", "loss"), [("zero_one", zero_one), ("log", logarithmic)])
def test_losses_of_classifiers_are_those_of_an_explicit_loop(cancer, name, loss):
    X, y = cancer
    learners = [LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=2, random_state=0)]
    found = uv.evaluate(learners, X, y, uv.designs.KFold(5, 2), name, rng=0, backend="sklearn")
    expected = by_hand(learners, X, y, splits_of(found.design), loss)
    np.testing.assert_allclose(found.array, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.means, np.nanmean(expected, axis=2), rtol=1e-12)
    assert found.n_fits == 20


@pytest.mark.parametrize(("name", "loss"), [("squared", squared), ("absolute", absolute)])
def test_losses_of_regressions_are_those_of_an_explicit_loop(diabetes, name, loss):
    X, y = diabetes
    learners = [Ridge(1.0), LinearRegression()]
    found = uv.evaluate(learners, X, y, uv.designs.RandomSplits(4), name, rng=0, backend="sklearn")
    expected = by_hand(learners, X, y, splits_of(found.design), loss)
    np.testing.assert_allclose(found.array, expected, rtol=1e-12)


def test_aucs_are_those_of_an_explicit_loop(cancer):
    X, y = cancer
    # Three neighbours have four scores, and so many ties.
    learners = {"lda": LinearDiscriminantAnalysis(), "knn": KNeighborsClassifier(3)}
    found = uv.evaluate(learners, X, y, uv.designs.KFold(4), "auc", rng=0, backend="sklearn")
    for row, learner in zip(found.means, learners.values(), strict=True):
        expected = [
            roc_auc_score(y[tested], learner.fit(X[a], y[a]).predict_proba(X[tested])[:, 1])
            for a, tested in splits_of(found.design)
        ]
        np.testing.assert_allclose(row, expected, rtol=1e-12)


@pytest.mark.parametrize("splitter", [KFold(5, shuffle=True), StratifiedKFold(5), ShuffleSplit(3)])
def test_scikit_learns_splitters_give_scikit_learns_scores(cancer, splitter):
    X, y = cancer
    found = uv.evaluate(LinearDiscriminantAnalysis(), X, y, splitter, rng=0, backend="sklearn")
    scores = cross_validate(
        LinearDiscriminantAnalysis(), X, y, cv=splits_of(found.design), scoring="accuracy"
    )
    np.testing.assert_allclose(found.means[0], 1 - scores["test_score"], atol=1e-15)


@pytest.mark.parametrize("options", [{"batch_size": 1}, {"batch_size": 3}, {"n_jobs": 2}])
def test_losses_do_not_depend_on_batches_or_workers(cancer, options):
    X, y = cancer
    # One feature at random in each node: another seed is another tree.
    learners = {"lda": "lda", "knn": "knn:3", "tree": DecisionTreeClassifier(max_features=1)}

    def evaluate(**options):
        return uv.evaluate(learners, X, y, uv.designs.RandomSplits(7), rng=1, **options)

    one, other = evaluate(), evaluate(**options)
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.means, other.means)
    assert one.design == other.design
    assert one.diagnostics == other.diagnostics


def test_batches_are_bounded_whatever_is_asked_for(cancer, monkeypatch):
    X, y = cancer
    whole = uv.evaluate("lda", X, y, uv.designs.RandomSplits(9), rng=1)
    monkeypatch.setattr(evaluate, "BATCH_NUMBERS", 4 * len(y))
    sizes = []
    predict = evaluate.Evaluator.predict

    def watched(self, learning, testing, seeds):
        sizes.append(len(learning))
        return predict(self, learning, testing, seeds)

    monkeypatch.setattr(evaluate.Evaluator, "predict", watched)
    for batch_size in (None, 10**9):
        found = uv.evaluate("lda", X, y, uv.designs.RandomSplits(9), rng=1, batch_size=batch_size)
        np.testing.assert_array_equal(found.values, whole.values)
    assert sizes == [4, 4, 1] * 2


def test_the_seed_decides_and_is_kept(cancer):
    X, y = cancer
    one, same, other = (uv.evaluate(TREE, X, y, 5, rng=rng) for rng in (3, 3, 4))
    np.testing.assert_array_equal(one.values, same.values)
    assert one.design != other.design
    assert one.settings["rng"] == 3
    assert one.settings["design"] == "5-fold cross-validation"


def test_every_learner_sees_the_same_splits_and_seeds(cancer):
    X, y = cancer
    forest = DecisionTreeClassifier(max_features=1)
    alone = uv.evaluate({"b": forest}, X, y, 5, rng=3)
    together = uv.evaluate({"a": "lda", "b": forest, "c": forest}, X, y, 5, rng=3)
    np.testing.assert_array_equal(together.values[1], alone.values[0])
    np.testing.assert_array_equal(together.values[2], alone.values[0])


def test_learners_are_named_by_themselves_or_by_a_mapping(cancer):
    X, y = cancer
    found = uv.evaluate(["lda", TREE, TREE, "lda", TREE], X, y, 2, rng=0)
    tree = as_learner(TREE).name
    assert found.learners == ("lda", tree, f"{tree} (2)", "lda (2)", f"{tree} (3)")
    assert uv.evaluate("lda", X, y, 2, rng=0).learners == ("lda",)
    assert uv.evaluate({"x": "lda", "y": "lda"}, X, y, 2, rng=0).learners == ("x", "y")


def test_a_name_that_looks_like_a_number_of_another_is_kept_apart(cancer):
    def named(name):
        def rule(X_train, y_train, X_test):
            return np.repeat(y_train[0], len(X_test))

        rule.__name__ = name
        return rule

    found = uv.evaluate([named("a"), named("a (2)"), named("a")], *cancer, 2, rng=0)
    assert found.learners == ("a", "a (2)", "a (3)")


def test_one_class_learning_sets_are_counted_for_each_learner():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 0, 0, 1])
    learning = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1]])
    found = uv.evaluate(["lda", "knn:1"], X, y, Design.checked(learning), rng=0)
    assert found.diagnostics["lda"]["one_class_fits"] == 1
    assert found.difference(0, 1).diagnostics["one_class_fits"] == 2
    assert found.difference(1).diagnostics["one_class_fits"] == 1
    np.testing.assert_array_equal(found.array[0, 0], [np.nan] * 3 + [0, 0, 1])


def test_a_test_set_of_one_class_has_no_auc():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    learning = np.array([[1, 1, 0, 1, 1, 0], [0, 1, 1, 1, 1, 1]])
    found = uv.evaluate("lda", X, y, Design.checked(learning), "auc", rng=0)
    assert found.means[0, 0] == 1
    assert np.isnan(found.means[0, 1])


def test_infinite_scores_have_an_auc_and_survive_a_file(tmp_path):
    def rule(X_train, y_train, X_test):
        return np.where(X_test[:, 0] > 2, np.inf, -np.inf)

    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
    found = uv.evaluate(rule, X, y, uv.designs.KFold(2), "auc", rng=1)
    for name in ("a.json", "a.npz"):
        found.save(tmp_path / name)
        np.testing.assert_array_equal(uv.Losses.load(tmp_path / name).values, found.values)
    assert set(found.values.ravel().tolist()) == {np.inf, -np.inf}
    assert np.isfinite(found.means).all()


def test_data_that_change_later_change_no_splits(cancer):
    X, y = cancer[0].copy(), cancer[1].copy()
    test = uv.CorrectedTTest(X, y, "lda", design=StratifiedKFold(5, shuffle=True))
    expected = test.fit(rng=0).estimate
    y[:] = y[::-1]
    assert test.fit(rng=0).estimate == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learners": []}, "learners is empty: pass at least one"),
        ({"learners": {}}, "learners is empty: pass at least one"),
        ({"learners": {1: "lda"}}, "learners has the key 1: names must be different strings"),
        ({"learners": {"": "lda"}}, "learners has the key '': names must be different strings"),
        ({"learners": "no such"}, "no such"),
        ({"design": 81}, "n_folds=81 needs at least 81 observations, got 80: use fewer folds"),
        ({"design": "ten"}, "design='ten' is unknown"),
        ({"loss": "no such"}, "loss='no such' is unknown"),
        ({"loss": uv.Loss("auc", np.subtract, "number")}, "'auc', which means the AUC here"),
        ({"rng": -1}, "rng must not be negative"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"batch_size": 2.5}, "batch_size must be an integer, got 2.5"),
        ({"n_jobs": "2"}, "n_jobs must be an integer, got '2'"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        (
            {"max_bytes": 1000},
            r"take 1.6e-06 GB of memory, and max_bytes allows 1e-06 GB: use fewer",
        ),
        ({"max_bytes": 2000}, "take 2.24e-06 GB"),
        ({"design": uv.designs.RandomSplits(10**12)}, "take 1.6e.05 GB of memory, and max_bytes"),
    ],
)
def test_arguments_are_refused_before_the_first_fit(cancer, arguments, message):
    def never(X_train, y_train, X_test):
        raise AssertionError("a fit was run")

    call = {"learners": never, "design": 10, "rng": 0, "X": cancer[0], "y": cancer[1]} | arguments
    with pytest.raises(ValueError, match=message):
        uv.evaluate(**call)


def test_the_second_learner_is_checked_before_the_first_is_fitted(cancer):
    X, y = pd.DataFrame(cancer[0]).assign(word="a"), cancer[1]

    def never(X_train, y_train, X_test):
        raise AssertionError("a fit was run")

    with pytest.raises(ValueError, match="X has columns that are not numeric"):
        uv.evaluate([never, "lda"], X, y, rng=0)


def test_auc_needs_two_classes(cancer):
    with pytest.raises(ValueError, match=r"^'auc' needs two classes, but y has 3: merge classes"):
        uv.evaluate("lda", cancer[0][:6], [0, 1, 2] * 2, 2, "auc")


def test_labels_of_any_kind_give_the_same_losses(cancer):
    X, y = cancer
    words = np.where(y == 1, "ill", "well")
    for loss in ("zero_one", "log", "auc"):
        expected = uv.evaluate("lda", X, y, 5, loss, rng=0)
        found = uv.evaluate("lda", X, words, 5, loss, pos_label="ill", rng=0)
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.target, expected.target)


# ------------------------------------------------------------------------------- differences


def test_differences_are_first_minus_second(cancer):
    found = uv.evaluate({"a": "lda", "b": "knn:1", "c": "majority"}, *cancer, 4, rng=0)
    pair = found.difference("c", "a")
    np.testing.assert_array_equal(pair.means, found.means[2] - found.means[0])
    np.testing.assert_array_equal(pair.values, found.values[2] - found.values[0])
    np.testing.assert_array_equal(pair.table, found.array[2] - found.array[0])
    assert (pair.n_fits, pair.paired, found.difference("b").n_fits) == (8, True, 4)
    np.testing.assert_array_equal(found.difference(1).values, found.values[1])
    assert not pair.identical
    assert uv.evaluate({"a": "lda", "b": "lda"}, *cancer, 4, rng=0).difference(0, 1).identical


@pytest.mark.parametrize("learner", ["d", 3, -1, True, 0.0, None, np.zeros(2), ["a"]])
def test_learners_that_do_not_exist_are_refused(learner):
    losses = uv.Losses.from_arrays(np.zeros((3, 2, 2)), np.eye(2), learners=["a", "b", "c"])
    with pytest.raises(ValueError, match="is neither one of a, b, c nor a position from 0 to 2"):
        losses.number_of(learner)


def test_learners_go_by_name_or_place():
    losses = uv.Losses.from_arrays(np.zeros((3, 2, 2)), np.eye(2), learners=["a", "b", "c"])
    assert [losses.number_of(one) for one in ("b", 1, np.int64(1))] == [1, 1, 1]
    with pytest.raises(ValueError, match="learner and other are both 'a': name two different"):
        losses.difference(0, "a")


def test_scores_have_no_differences_of_losses(cancer):
    found = uv.evaluate(["lda", "knn:1"], *cancer, 4, "auc", rng=0)
    with pytest.raises(ValueError, match=r"^'auc' keeps decision scores"):
        _ = found.difference(0, 1).values


# ---------------------------------------------------------------------------------- from_arrays


def test_arrays_give_what_evaluate_gives(cancer):
    X, y = cancer
    for loss in ("zero_one", "auc"):
        expected = uv.evaluate(["lda", "knn:3"], X, y, uv.designs.SplitHalves(2, 1), loss, rng=0)
        found = uv.Losses.from_arrays(
            expected.array,
            expected.design.learning.astype(int),
            expected.design.testing,
            learners=expected.learners,
            loss=loss,
            y=np.where(y == 1, "p", "n"),
            pos_label="p",
        )
        np.testing.assert_array_equal(found.values, expected.values)
        np.testing.assert_array_equal(found.means, expected.means)
        np.testing.assert_array_equal(found.target, expected.target)
        assert found.design == expected.design
        assert (found.in_words, found.bounds) == (expected.in_words, expected.bounds)


def test_the_positive_class_of_scores_can_be_named():
    scores, y = np.array([[0.0, 1, 2, 3]] * 2), ["yes", "yes", "no", "no"]
    learning = [[1, 0, 0, 1], [0, 1, 1, 0]]
    for pos_label, auc in (("yes", 0.0), ("no", 1.0)):
        found = uv.Losses.from_arrays(scores, learning, loss="auc", y=y, pos_label=pos_label)
        np.testing.assert_array_equal(found.means, [[auc, auc]])


def test_a_loss_of_ones_own_has_its_name_and_no_bounds():
    found = uv.Losses.from_arrays(
        [[5.0, -3], [2, 7]], np.eye(2), loss="pinball", greater_is_better=False
    )
    assert (found.loss, found.bounds, found.in_words) == ("pinball", None, "mean pinball loss")
    np.testing.assert_array_equal(found.means, [[-3, 2]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": np.zeros((2, 3))}, r"values must have shape \(L, R, n\) = \(L, 2, 2\)"),
        ({"values": np.zeros(2)}, "values must have shape"),
        ({"values": [[0, np.nan], [0, 0]]}, "values contains NaN or infinity for"),
        ({"values": [[0, np.inf], [0, 0]]}, "values contains NaN or infinity for"),
        ({"values": [[0, 2], [0, 0]]}, "values go from 0 to 2, but loss='zero_one' lies between"),
        ({"learning": [[1, 1], [0, 1]]}, "split 0 of the design tests nothing"),
        ({"learners": ["a", "b"]}, "learners must be 1 different names"),
        ({"learners": "a"}, "learners must be 1 different names"),
        ({"loss": "auc"}, "loss='auc' needs y with labels of two classes"),
        ({"loss": "auc", "y": [1.5, 2.5]}, "loss='auc' needs y with labels of two classes"),
        ({"loss": "auc", "y": ["a", "a"]}, "y has one class only"),
        ({"loss": "auc", "y": ["a", None]}, "y has 1 missing values"),
        ({"loss": "auc", "y": ["a", "b"], "pos_label": "c"}, "pos_label='c' is not one of the"),
        ({"y": ["a", "b", "c"]}, r"y must have shape \(2,\), got \(3,\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    call = {"values": np.zeros((2, 2)), "learning": np.eye(2)} | change
    with pytest.raises(ValueError, match=message):
        uv.Losses.from_arrays(**call)


def test_what_is_not_tested_may_be_anything():
    found = uv.Losses.from_arrays([[np.nan, 1], [0, np.inf]], np.eye(2))
    np.testing.assert_array_equal(found.values, [[1, 0]])


def test_losses_cannot_be_changed():
    values = np.zeros((2, 2))
    found = uv.Losses.from_arrays(values, np.eye(2))
    values[:] = 1
    assert not found.values.any()
    for array in (found.values, found.means, found.design.learning, found.design.testing):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError):
        found.settings["source"] = "elsewhere"


# --------------------------------------------------------------------------------- from_sklearn


CLASSIFIERS = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "knn": KNeighborsClassifier(5),
}
REGRESSIONS = {"ridge": Ridge(), "least squares": LinearRegression()}


@pytest.mark.parametrize(
    ("score", "loss"),
    [
        ("accuracy", "zero_one"),
        ("neg_log_loss", "log"),
        ("roc_auc", "auc"),
        ("neg_mean_absolute_error", "absolute"),
        ("neg_mean_squared_error", "squared"),
    ],
)
@pytest.mark.parametrize("several", [False, True])
def test_scores_of_scikit_learn_are_the_means_of_evaluate(cancer, diabetes, score, loss, several):
    regression = loss in ("absolute", "squared")
    X, y = diabetes if regression else cancer
    learners = REGRESSIONS if regression else CLASSIFIERS
    folds = StratifiedKFold(4) if loss == "auc" else KFold(4, shuffle=True, random_state=2)
    scoring = {score: score} if several else score
    results = {
        name: cross_validate(learner, X, y, cv=folds, scoring=scoring, return_indices=True)
        for name, learner in learners.items()
    }
    found = uv.Losses.from_sklearn(results, len(y), score=score)
    expected = uv.evaluate(learners, X, y, folds, loss, backend="sklearn")
    # scikit-learn clips probabilities for log loss as ucvtest does.
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-9)
    assert found.design == expected.design
    assert found.learners == expected.learners
    assert (found.loss, found.bounds) == (loss, expected.bounds)
    with pytest.raises(ValueError, match="contain only the mean of each resample"):
        _ = found.array
    result = uv.CorrectedTTest.from_losses(found).fit()
    np.testing.assert_allclose(
        result.pvalue, uv.CorrectedTTest.from_losses(expected).fit().pvalue, rtol=1e-6
    )


def scikit_learns(**changes):
    """What cross_validate returns for two folds of four observations."""
    indices = {"train": [[2, 3], [0, 1]], "test": [[0, 1], [2, 3]]}
    return {"indices": indices, "test_score": np.array([0.5, 1.0])} | changes


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ({}, {}, "results is empty: pass the results"),
        (
            {"a": {"test_score": [1]}},
            {},
            r"results\['a'\] has no indices: pass return_indices=True",
        ),
        ({"a": [1.0, 2.0]}, {}, r"results\['a'\] has no indices"),
        (
            {"a": scikit_learns()},
            {"score": "strange"},
            "score='strange' does not tell whether higher is better: pass greater_is_better=True",
        ),
        ({"a": scikit_learns()}, {"test_score": "x"}, r"has no x: pass test_score="),
        (
            {"a": scikit_learns(test_score=np.array([0.5, np.nan]))},
            {},
            "has NaN for split 1: a fit failed",
        ),
        ({"a": scikit_learns(test_score=np.ones(3))}, {}, "has 3 scores for 2 splits"),
        (
            {"a": scikit_learns()},
            {"score": "neg_mean_squared_error"},
            "scores from 0.5 to 1, which are impossible for neg_mean_squared_error",
        ),
        (
            {"a": scikit_learns(test_score=np.array([-1, 0.5]))},
            {},
            "which are impossible for accuracy",
        ),
        ({"a": scikit_learns()}, {"n_obs": 3}, "must contain row numbers from 0 to 2"),
        (
            {
                "a": scikit_learns(),
                "b": scikit_learns(indices={"train": [[2, 3], [0]], "test": [[0, 1], [2, 3]]}),
            },
            {},
            "results have different splits: pass the same cv=",
        ),
    ],
)
def test_what_scikit_learn_did_not_return_is_refused(results, options, message):
    call = {"n_obs": 4, "score": "accuracy"} | options
    with pytest.raises(ValueError, match=message):
        uv.Losses.from_sklearn(results, **call)


# ------------------------------------------------------------------------------------- files


def three_kinds(cancer):
    yield uv.evaluate({"a": "lda", "b": TREE}, *cancer, uv.designs.KFold(4, 2), rng=0)
    yield uv.evaluate("lda", *cancer, uv.designs.HoldOut(), "auc", rng=np.random.default_rng(0))
    yield uv.Losses.from_sklearn({"a": scikit_learns()}, 4, score="accuracy")


def same(one, other):
    assert one.design == other.design
    for name in ("means", "values", "target"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_array_equal(mine, theirs)
    for name in ("learners", "loss", "in_words", "bounds", "settings", "diagnostics"):
        assert getattr(one, name) == getattr(other, name)
    np.testing.assert_equal(one.elapsed, other.elapsed)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_files_hold_everything(cancer, tmp_path, suffix):
    for losses in three_kinds(cancer):
        path = tmp_path / f"losses{suffix}"
        losses.save(str(path))
        same(uv.Losses.load(path), losses)


def test_dictionaries_are_json_and_losses_can_be_pickled(cancer):
    for losses in three_kinds(cancer):
        text = json.dumps(losses.to_dict(), allow_nan=False)
        same(uv.Losses.from_dict(json.loads(text)), losses)
        same(pickle.loads(pickle.dumps(losses)), losses)


def test_other_names_of_files_are_refused(tmp_path, cancer):
    losses = uv.Losses.from_arrays(np.zeros((2, 2)), np.eye(2))
    for call in (losses.save, uv.Losses.load):
        with pytest.raises(ValueError, match=r"path must end in \.npz or \.json, got a\.csv"):
            call(tmp_path / "a.csv")


def stored():
    return uv.Losses.from_arrays(
        np.zeros((2, 2, 3)), [[1, 1, 0], [0, 1, 1]], loss="auc", y=[1, 0, 1]
    ).to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "else"}, "does not contain losses written by Losses.save"),
        ({"version": 2}, "has format version 2, this ucvtest reads version 1: upgrade ucvtest"),
        ({"version": "1"}, "has no format version, got '1'"),
        ({"version": None}, "has no format version"),
        ({"n_obs": 10**15}, "n_obs=1000000000000000 with 2 learning sets needs"),
        ({"n_obs": "3"}, "n_obs='3' with"),
        ({"n_obs": 2}, "must contain row numbers from 0 to 1"),
        ({"learning": [[0, 1], [-1]]}, "must contain row numbers"),
        ({"learning": [[0, 1]]}, "data contains no losses that can be used"),
        ({"learning": None}, "data contains no losses that can be used"),
        ({"testing": [[1], [0]]}, "tests observations that it learns from"),
        ({"means": [[0.5, 0.5]]}, "means must contain numbers of shape"),
        ({"means": "x"}, "data contains no losses that can be used"),
        ({"means": None}, "means are missing"),
        ({"means": [[0.5, 2]] * 2}, "means are AUCs for loss='auc', so they must lie"),
        ({"learners": ["a", " "]}, "learners must be 2 different names"),
        ({"values": [[0.0], [0.0]]}, "values must contain numbers of shape"),
        ({"values": [[0.0, None]] * 2}, "values must be finite numbers"),
        ({"target": [1, 0]}, r"target must contain numbers of shape \(3,\)"),
        ({"target": None}, "loss='auc' needs values and target, or neither"),
        ({"target": [0, 1, 2]}, "loss='auc' needs a target of zeros and ones"),
        ({"learners": ["a", "a"]}, "learners must be 2 different names"),
        ({"learners": "ab"}, "learners must be a list of names"),
        ({"learners": []}, "learners is empty"),
        ({"bounds": [1]}, "data contains no losses that can be used"),
        ({"settings": 3}, "data contains no losses that can be used"),
        ({"diagnostics": [1]}, "data contains no losses that can be used"),
    ],
)
def test_changed_dictionaries_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        uv.Losses.from_dict(stored() | change)


def test_means_of_other_losses_are_refused():
    losses = uv.Losses.from_arrays([[0, 0, 1], [1, 0, 0]], [[1, 1, 0], [0, 1, 1]])
    assert losses.means.tolist() == [[1, 1]]
    with pytest.raises(ValueError, match="means are not the means of values: leave"):
        replace(losses, means=np.array([[1, 0.5]]))


def test_dictionaries_that_lack_a_part_are_refused():
    for name in set(stored()) - {"format", "version"}:
        data = stored()
        del data[name]
        with pytest.raises(ValueError, match=f"data does not contain {name}"):
            uv.Losses.from_dict(data)
    with pytest.raises(ValueError, match="data does not contain losses"):
        uv.Losses.from_dict([1, 2])


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_files_that_were_cut_short_are_refused(tmp_path, suffix, cancer):
    path = tmp_path / f"losses{suffix}"
    next(three_kinds(cancer)).save(path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"losses\.(json|npz) is not"):
            uv.Losses.load(path)


def test_pickled_arrays_are_never_read(tmp_path):
    class Evil:
        def __reduce__(self):
            return (pytest.fail, ("code in a file was run",))

    losses = uv.Losses.from_arrays(np.zeros((2, 2)), np.eye(2))
    path = tmp_path / "losses.npz"
    losses.save(path)
    with np.load(path) as file:
        arrays = dict(file)
    np.savez(path, **(arrays | {"values": np.array([Evil()], dtype=object)}))
    with pytest.raises(ValueError, match=r"losses\.npz is not an \.npz file of plain arrays"):
        uv.Losses.load(path)


def test_archives_of_other_things_are_refused(tmp_path):
    path = tmp_path / "losses.npz"
    np.savez(path, x=np.zeros(3))
    with pytest.raises(
        ValueError, match=r"losses\.npz does not contain words, learning, testing, means"
    ):
        uv.Losses.load(path)
    np.save(tmp_path / "a.npy", np.zeros(3))
    (tmp_path / "a.npy").rename(path)
    with pytest.raises(ValueError, match=r"losses\.npz is not an \.npz file"):
        uv.Losses.load(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("words", "x")
    with pytest.raises(ValueError, match=r"losses\.npz"):
        uv.Losses.load(path)
