import json
import pickle
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_validate
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


def test_every_learner_sees_the_same_splits_and_seeds(cancer):
    X, y = cancer
    forest = DecisionTreeClassifier(max_features=1)
    alone = uv.evaluate({"b": forest}, X, y, 5, rng=3)
    together = uv.evaluate({"a": "lda", "b": forest, "c": forest}, X, y, 5, rng=3)
    np.testing.assert_array_equal(together.values[1], alone.values[0])
    np.testing.assert_array_equal(together.values[2], alone.values[0])


def test_learners_are_named_by_themselves_or_by_a_mapping(cancer):
    X, y = cancer

    def named(name):
        def rule(X_train, y_train, X_test):
            return np.repeat(y_train[0], len(X_test))

        rule.__name__ = name
        return rule

    found = uv.evaluate(["lda", TREE, TREE, "lda", TREE], X, y, 2, rng=0)
    tree = as_learner(TREE).name
    assert found.learners == ("lda", tree, f"{tree} (2)", "lda (2)", f"{tree} (3)")
    assert uv.evaluate("lda", X, y, 2, rng=0).learners == ("lda",)
    assert uv.evaluate({"x": "lda", "y": "lda"}, X, y, 2, rng=0).learners == ("x", "y")
    apart = uv.evaluate([named("a"), named("a (2)"), named("a")], X, y, 2, rng=0)
    assert apart.learners == ("a", "a (2)", "a (3)")


def test_one_class_learning_sets_are_counted_for_each_learner():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 0, 0, 1])
    learning = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1]])
    found = uv.evaluate(["lda", "knn:1"], X, y, Design.checked(learning), rng=0)
    assert found.diagnostics["lda"]["one_class_fits"] == 1
    assert found.difference(0, 1).diagnostics["one_class_fits"] == 2
    assert found.difference(1).diagnostics["one_class_fits"] == 1
    np.testing.assert_array_equal(found.array[0, 0], [np.nan] * 3 + [0, 0, 1])


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


def test_learners_go_by_name_or_place(cancer):
    losses = uv.Losses.from_arrays(np.zeros((3, 2, 2)), np.eye(2), learners=["a", "b", "c"])
    assert [losses.number_of(one) for one in ("b", 1, np.int64(1))] == [1, 1, 1]
    for other in (3, -1, True, 0.0, None, np.zeros(2), ["a"]):
        with pytest.raises(ValueError, match="is neither one of a, b, c nor a number"):
            losses.number_of(other)
    scores = uv.evaluate(["lda", "knn:1"], *cancer, 4, "auc", rng=0)
    with pytest.raises(ValueError, match="keeps decision scores"):
        _ = scores.difference(0, 1).values


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


def test_a_loss_of_ones_own_has_its_name_and_no_bounds():
    found = uv.Losses.from_arrays(
        [[5.0, -3], [2, 7]], np.eye(2), loss="pinball", greater_is_better=False
    )
    assert (found.loss, found.bounds, found.in_words) == ("pinball", None, "mean pinball loss")
    np.testing.assert_array_equal(found.means, [[-3, 2]])


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
def test_scores_of_scikit_learn_are_the_means_of_evaluate(cancer, diabetes, score, loss):
    X, y = diabetes if loss in ("absolute", "squared") else cancer
    learners = REGRESSIONS if loss in ("absolute", "squared") else CLASSIFIERS
    folds = StratifiedKFold(4) if loss == "auc" else KFold(4, shuffle=True, random_state=2)
    scoring = {score: score} if loss in ("log", "squared") else score
    results = {
        name: cross_validate(learner, X, y, cv=folds, scoring=scoring, return_indices=True)
        for name, learner in learners.items()
    }
    found = uv.Losses.from_sklearn(results, len(y), score=score)
    expected = uv.evaluate(learners, X, y, folds, loss, backend="sklearn")
    # scikit-learn clips probabilities for log loss as ucvtest does.
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-9)
    assert (found.design, found.learners) == (expected.design, expected.learners)
    assert (found.loss, found.bounds) == (loss, expected.bounds)
    with pytest.raises(ValueError, match=r"only the mean of each resample.*uv\.evaluate"):
        _ = found.array
    one, other = (uv.CorrectedTTest.from_losses(each).fit() for each in (found, expected))
    assert one.pvalue == pytest.approx(other.pvalue, rel=1e-6)


def scikit_learns(**changes):
    """What cross_validate returns for two folds of four observations."""
    indices = {"train": [[2, 3], [0, 1]], "test": [[0, 1], [2, 3]]}
    return {"indices": indices, "test_score": np.array([0.5, 1.0])} | changes


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"test_score": "x"}, r"has no x: pass test_score="),
        ({"test_score": np.array([0.5, np.nan])}, {}, "has NaN for split 1: a fit failed"),
        ({"test_score": np.ones(3)}, {}, "has 3 scores for 2 splits"),
        ({}, {"score": "neg_mean_squared_error"}, "from 0.5 to 1, which are impossible for neg_"),
        ({"test_score": np.array([-1, 0.5])}, {}, "which are impossible for accuracy"),
    ],
)
def test_what_scikit_learn_did_not_return_is_refused(changes, options, message):
    call = {"n_obs": 4, "score": "accuracy"} | options
    with pytest.raises(ValueError, match=message):
        uv.Losses.from_sklearn({"a": scikit_learns(**changes)}, **call)
    others = scikit_learns(indices={"train": [[2, 3], [0]], "test": [[0, 1], [2, 3]]})
    with pytest.raises(ValueError, match="results have different splits: pass the same cv="):
        uv.Losses.from_sklearn({"a": scikit_learns(), "b": others}, n_obs=4, score="accuracy")


def test_files_and_dictionaries_hold_everything(cancer, tmp_path):
    for losses in three_kinds(cancer):
        for suffix in (".json", ".npz"):
            path = tmp_path / f"losses{suffix}"
            losses.save(str(path))
            same(uv.Losses.load(path), losses)
        text = json.dumps(losses.to_dict(), allow_nan=False)
        same(uv.Losses.from_dict(json.loads(text)), losses)
        same(pickle.loads(pickle.dumps(losses)), losses)


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


def stored():
    return uv.Losses.from_arrays(
        np.zeros((2, 2, 3)), [[1, 1, 0], [0, 1, 1]], loss="auc", y=[1, 0, 1]
    ).to_dict()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "else"}, "is not a table of losses written by Losses.to_dict"),
        ({"n_obs": 2}, "must contain row numbers from 0 to 1"),
        ({"learning": [[0, 1]]}, "data contains no table of losses that can be used"),
        ({"testing": [[1], [0]]}, "tests observations that it learns from"),
        ({"means": None}, "means are missing"),
        ({"means": [[0.5, 2]] * 2}, "means are AUCs for loss='auc', so they must lie"),
        ({"learners": ["a", " "]}, "learners must be 2 different names"),
        ({"learners": "ab"}, "learners is of another type"),
        ({"values": [[0.0], [0.0]]}, "values must contain numbers of shape"),
        ({"values": [[0.0, None]] * 2}, "values must be finite numbers"),
        ({"target": [1, 0]}, r"target must contain numbers of shape \(3,\)"),
        ({"target": None}, "loss='auc' needs values and target, or neither"),
        ({"target": [0, 1, 2]}, "loss='auc' needs a target of zeros and ones"),
    ],
)
def test_changed_dictionaries_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        uv.Losses.from_dict(stored() | change)
    (name,) = change
    if name != "format":
        lacking = {key: value for key, value in stored().items() if key != name}
        with pytest.raises(ValueError, match=f"data does not contain {name}"):
            uv.Losses.from_dict(lacking)
    losses = uv.Losses.from_arrays([[0, 0, 1], [1, 0, 0]], [[1, 1, 0], [0, 1, 1]])
    with pytest.raises(ValueError, match="means are not the means of values: leave"):
        replace(losses, means=np.array([[1, 0.5]]))


def test_files_that_were_cut_short_or_hold_other_things_are_refused(tmp_path, cancer):
    for suffix in ("json", "npz"):
        path = tmp_path / f"losses.{suffix}"
        next(three_kinds(cancer)).save(path)
        whole = path.read_bytes()
        for size in (0, 10, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:size])
            with pytest.raises(ValueError, match=r"losses\.(json|npz) is not"):
                uv.Losses.load(path)
    np.savez(path, x=np.zeros(3))
    with pytest.raises(ValueError, match=r"\.npz does not contain words, learning, testing, means"):
        uv.Losses.load(path)
    np.save(tmp_path / "a.npy", np.zeros(3))
    (tmp_path / "a.npy").rename(path)
    with pytest.raises(ValueError, match=r"losses\.npz is not an \.npz file"):
        uv.Losses.load(path)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("words", "x")
    with pytest.raises(ValueError, match=r"losses\.npz"):
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
