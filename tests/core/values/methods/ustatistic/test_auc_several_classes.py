"""UStatisticTest of the AUC of several classes: enumeration, learners, and what is refused."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import ucvtest as uv
from tests.core.values.kernels.test_auc_several_classes import Problem
from tests.oracles import auc_several_classes as oracle
from ucvtest.common.execution import Execution
from ucvtest.kernels import auc_ustatistic
from ucvtest.methods.ustatistic.auc.class_sizes import ClassSizes
from ucvtest.methods.ustatistic.auc.estimation import Sampler

CASES = [  # n_c, g_c
    ((4, 3, 4), (1, 1, 2)),
    ((4, 4, 4), (2, 1, 2)),
    ((5, 3, 4), (3, 1, 1)),
]
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def iris():
    """Ninety flowers in mixed order, by two measurements."""
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)[:90]
    return X[rows, :2], NAMES[y[rows]]


def learner_of(score):
    """A callable about observations by their numbers, which are all that X contains."""

    def learner(X_train, y_train, X_test):
        learning = tuple(sorted(int(i) for i in X_train[:, 0]))
        return np.array([score(learning, int(t)) for t in X_test[:, 0]])

    return learner


def shares(X_train, y_train, X_test):
    """Shares of the labels among the five nearest, columns in the order of np.unique."""
    distance = ((X_test[:, None] - X_train[None]) ** 2).sum(axis=2)
    near = y_train[np.argsort(distance, axis=1, kind="stable")[:, :5]]
    return np.stack([(near == label).mean(axis=1) for label in np.unique(y_train)], axis=1)


# ------------------------------------------------------------------------------- enumeration


@pytest.mark.parametrize("against_rest", [False, True])
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_exact_equals_enumeration_and_deletion(case, ties, two, against_rest):
    sizes, learn_sizes = case
    problem = Problem(sizes, ties=ties)
    scores = [problem.score, problem.other][: 1 + two]
    learners = [learner_of(score) for score in scores]
    # Classes need not come in order.
    order = np.random.default_rng(0).permutation(len(problem.y))
    X, y = np.arange(len(order))[order, None] * 1.0, problem.y[order]
    options, kernel, asked = {}, oracle.of_rule, learn_sizes
    if against_rest:
        options, kernel = {"pos_label": 1}, oracle.against_rest(1, sizes)
        asked = (learn_sizes[0], learn_sizes[2], learn_sizes[1])
    test = uv.UStatisticTest(X, y, *learners, loss="auc", learn_size=asked, **options)
    result = test.fit("exact", rng=0)

    definition = (scores, problem.classes, learn_sizes, kernel)
    parts = oracle.jackknife(*definition)
    j, m2 = sum(parts), sum(map(sum, oracle.pair_effects(*definition)))
    df = j**2 / sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    assert result.estimate == pytest.approx(oracle.complete(*definition), abs=1e-10)
    assert result.diagnostics["variance"] == "jackknife"
    assert result.variance == pytest.approx(j, abs=1e-10)
    assert result.diagnostics["pair_effects"] == pytest.approx(m2, abs=1e-10)
    assert result.df == pytest.approx(np.clip(df, 1, len(y) - 3), rel=1e-9)
    assert result.diagnostics["mc_se_estimate"] == result.diagnostics["mc_se_variance"] == 0
    assert result.n_fits == (1 + two) * math.prod(map(math.comb, sizes, learn_sizes))
    if all(2 * g <= n for n, g in zip(sizes, learn_sizes, strict=True)):
        midpoint = test.fit("exact", "midpoint").variance
        assert midpoint == pytest.approx(max((j + j**2 / (j + m2)) / 2, m2 / 2), abs=1e-10)
    if two:
        alone = [oracle.complete([score], *definition[1:]) for score in scores]
        assert result.tables["Learners"]["estimate"] == pytest.approx(alone, abs=1e-10)


def test_influence_values_delete_observations():
    problem = Problem((4, 3, 5))
    X = np.arange(12)[:, None] * 1.0
    test = uv.UStatisticTest(
        X, problem.y, learner_of(problem.score), loss="auc", learn_size=(2, 1, 2)
    )
    values = test.fit("exact").diagnostics["influence"]
    definition = ([problem.score], problem.classes, (2, 1, 2))
    whole = oracle.complete(*definition)
    for items in problem.classes:
        for i in items:
            left = oracle.complete(
                [problem.score], oracle.deleted(problem.classes, i), definition[2]
            )
            assert values[i] == pytest.approx((len(items) - 1) * (whole - left), abs=1e-10)


# ------------------------------------------------------------------------------ random pairs


@pytest.mark.parametrize("learn_size", [None, 30, (20, 8, 9)])
def test_pairs_equal_the_kernel_on_the_same_fits(iris, learn_size):
    X, y = iris
    test = uv.UStatisticTest(X, y, "lda", "knn:5", loss="auc", learn_size=learn_size)
    result = test.fit(250, rng=3)
    execution = Execution.of(3, None, None)
    source = test.question.losses(execution)
    sampler = Sampler(test.learning_sets.sizes, source, execution.generator)
    parts, rows = [], []
    for size in np.diff(np.linspace(0, 250, -(-250 // (sampler.rows_of_part // 2)) + 1)):
        learning = sampler.drawn(int(size))
        parts.append((learning, *sampler.scores(learning)))
        rows.append(len(rows) * 1000 + np.arange(2 * int(size)) % int(size))
    learning, first, second = (np.concatenate(each) for each in zip(*parts, strict=True))
    codes = np.unique(y, return_inverse=True)[1]
    together = np.concatenate(rows) if sampler.sizes.paired else None
    found = auc_ustatistic.from_scores(first, learning, codes, second, cluster=together)
    assert result.estimate == pytest.approx(found["auc"], rel=1e-12)
    assert result.variance == pytest.approx(found["variance"], rel=1e-6)
    assert result.df == pytest.approx(found["df"], rel=1e-6)
    assert result.diagnostics["n_pairs"] == 250
    assert result.n_fits == 1000
    counts, by_class = np.bincount(codes), result.settings["learn_size_by_class"]
    if learn_size is None:
        assert by_class == tuple(n // 2 - 1 for n in counts)
    assert sum(by_class) == result.settings["learn_size"] == test.learn_size


def test_auto_stops_by_its_monte_carlo_error(iris):
    X, y = iris
    test = uv.UStatisticTest(X, y, "lda", loss="auc")
    fine, rough = test.fit(tol=0.02, rng=0), test.fit(tol=0.5, rng=0)
    assert fine.diagnostics["converged"]
    assert fine.diagnostics["mc_se_variance"] <= 0.02 * fine.variance
    assert fine.n_fits > rough.n_fits == 900
    stopped = test.fit(max_fits=1000, tol=0.001, rng=0)
    assert stopped.n_fits == 1000
    assert not stopped.diagnostics["converged"]
    few = test.fit(20, variance="jackknife", rng=0)
    assert few.status.startswith("too few resamples")
    assert few.estimate == pytest.approx(fine.estimate, abs=0.02)


def test_one_learner_has_an_interval_on_the_logit_scale(iris):
    X, y = iris
    result = uv.UStatisticTest(X, y, "lda", loss="auc", null_value=0.8).fit(500, rng=0)
    share = result.estimate
    half = student.isf(0.025, result.df) * result.se / (share * (1 - share))
    low, high = expit(logit(share) - half), expit(logit(share) + half)
    assert result.conf_int() == pytest.approx((low, high))
    assert 0 < result.pvalue < 1
    assert result.better == "higher"
    assert result.diagnostics["n_by_class"] == tuple(np.unique(y, return_counts=True)[1])
    again = uv.TestResult.from_dict(json.loads(result.to_json()))
    assert again == result
    assert "AUC of 3 classes (Hand and Till) when learning" in str(result.summary())


def test_batches_and_workers_change_nothing(iris):
    X, y = iris
    for learners in (("lda", "gaussian_nb"), ("qda", shares)):
        test = uv.UStatisticTest(X, y, *learners, loss="auc")
        found = test.fit(190, rng=5).to_dict()
        for options in ({"batch_size": 17}, {"n_jobs": 2}):
            again = test.fit(190, rng=5, **options).to_dict()
            assert json.dumps({**again, "elapsed": 0}) == json.dumps({**found, "elapsed": 0})


# ---------------------------------------------------------------------- what the AUC is about


def test_two_classes_are_left_to_the_binary_test(iris):
    X, y = iris
    kept = y != "setosa"
    for options in ({}, {"pos_label": "versicolor"}):
        test = uv.UStatisticTest(X[kept], y[kept], "lda", loss="auc", **options)
        assert isinstance(test.learning_sets.sizes, ClassSizes)


def test_a_positive_class_is_told_from_the_rest(iris):
    X, y = iris
    result = uv.UStatisticTest(X, y, shares, loss="auc", pos_label="setosa").fit(200, rng=0)
    assert "AUC of class 'setosa' against the rest" in result.estimand
    assert result.settings["pos_label"] == "setosa"
    other = uv.UStatisticTest(X, y, "knn:5", loss="auc", pos_label="setosa").fit(200, rng=0)
    # The same shares, but for the order of equally distant neighbours.
    assert other.estimate == pytest.approx(result.estimate, abs=0.005)
    assert uv.UStatisticTest(X, y, "lda", loss="auc").fit(200, rng=0).settings["pos_label"] is None
    swapped = uv.UStatisticTest(X, y, shares, loss="auc", pos_label="virginica").fit(200, rng=0)
    assert swapped.estimate < result.estimate - 0.05


def test_columns_of_callables_are_in_the_order_of_the_labels(iris):
    X, y = iris
    model = KNeighborsClassifier(5)

    def callable_of(X_train, y_train, X_test):
        return model.fit(X_train, y_train).predict_proba(X_test)

    for options in ({}, {"pos_label": "setosa"}, {"pos_label": "versicolor"}):
        both = [
            uv.UStatisticTest(X, y, each, loss="auc", backend="sklearn", **options).fit(20, rng=1)
            for each in (callable_of, KNeighborsClassifier(5))
        ]
        assert both[0].estimate == both[1].estimate


@pytest.mark.parametrize(
    ("learner", "estimator"),
    [
        ("lda", LinearDiscriminantAnalysis()),
        ("knn:5", KNeighborsClassifier(5)),
        (RidgeClassifier(), None),
        (make_pipeline(StandardScaler(), KNeighborsClassifier(5)), None),
        (LogisticRegression(), None),
        (SVC(), None),
    ],
)
def test_learners_give_the_scores_of_scikit_learn(iris, learner, estimator):
    X, y = iris
    test = uv.UStatisticTest(X, y, learner, loss="auc")
    # What is not translated is fitted by scikit-learn both times, and needs no long look.
    n_pairs = 20 if test.learner.backend == "sklearn" else 190
    fast = test.fit(n_pairs, rng=1)
    plain = uv.UStatisticTest(
        X, y, learner if estimator is None else estimator, loss="auc", backend="sklearn"
    ).fit(n_pairs, rng=1)
    # Not equal where neighbours are equally far away, or probabilities end at 1.
    assert fast.estimate == pytest.approx(plain.estimate, abs=0.003)


@pytest.mark.parametrize("learner", ["lda", "qda", "gaussian_nb", "nearest_centroid", "knn:7"])
def test_jitted_scores_are_those_of_one_fit(iris, learner):
    X, y = iris
    test = uv.UStatisticTest(X, y, learner, loss="auc")
    execution = Execution.of(0, None, None)
    source = test.question.losses(execution)
    sampler = Sampler(test.learning_sets.sizes, source, execution.generator)
    learning = sampler.drawn(2)
    (scores,) = sampler.scores(learning)
    assert scores.shape == (4, 90, 3)
    models = {
        "lda": LinearDiscriminantAnalysis("lsqr"),
        "knn:7": KNeighborsClassifier(7),
    }
    if learner not in models:
        return
    for row, learnt in enumerate(learning):
        shown = models[learner].fit(X[learnt], y[learnt]).predict_proba(X[~learnt])
        expected = roc_auc_score(y[~learnt], shown, multi_class="ovo")
        ours = expit(scores[row][~learnt]) if learner == "lda" else scores[row][~learnt]
        ours = ours / ours.sum(axis=1, keepdims=True)
        assert roc_auc_score(y[~learnt], ours, multi_class="ovo") == pytest.approx(
            expected, abs=0.01
        )
        if learner == "lda":
            assert ours == pytest.approx(shown, abs=1e-9)


def test_a_learner_that_ignores_the_features_ranks_nothing(iris):
    X, y = iris
    result = uv.UStatisticTest(X, y, "majority", loss="auc").fit(190, rng=1)
    assert result.estimate == pytest.approx(0.5, rel=1e-12)
    assert "as by equal scores" in result.status


# ---------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ("ridge:1", "has no score for each class, which the AUC of 3 classes needs: use lda, qda"),
        ("lasso:0.1", "has no score for each class"),
        (LinearRegression(), "has no score for each class"),
        (SVC(decision_function_shape="ovo"), "scores pairs of classes"),
    ],
)
def test_learners_without_scores_are_refused_before_the_first_fit(iris, learner, message):
    X, y = iris
    with pytest.raises(ValueError, match=message):
        uv.UStatisticTest(X, y, learner, loss="auc")


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"learn_size": (3, 4)}, {}, "one for each of the 3 classes in ascending order"),
        ({"learn_size": 2}, {}, "learn_size must lie between 3 and n - 6 = 84"),
        ({"learn_size": (1, 1, 0)}, {}, "learns from 0 of"),
        ({}, {"variance": "clipped"}, "use one of auto, midpoint, jackknife"),
        ({"learn_size": (25, 25, 25)}, {"variance": "midpoint"}, "at most half of each class"),
        ({}, {"n_pairs": "exact"}, "n_pairs='exact' needs"),
    ],
)
def test_errors_come_before_the_first_fit(iris, options, fit, message):
    X, y = iris
    with pytest.raises(ValueError, match=message):
        uv.UStatisticTest(X, y, "lda", loss="auc", **options).fit(rng=0, **fit)


def test_rare_classes_and_large_samples_are_refused(iris):
    X, _ = iris
    rare = np.where(np.arange(90) < 2, "rare", "often")
    rare[50:] = "other"
    with pytest.raises(ValueError, match="class 'rare' has 2 observations"):
        uv.UStatisticTest(X, rare, "lda", loss="auc")
    many = np.arange(1002) % 3
    with pytest.raises(ValueError, match="of 3 classes needs n <= 1000, got n = 1002"):
        uv.UStatisticTest(many[:, None] * 1.0, many, "majority", loss="auc")


def flat(X_train, y_train, X_test):
    return np.zeros(len(X_test))


def missing(X_train, y_train, X_test):
    return np.where(np.arange(3) == 1, np.nan, np.zeros((len(X_test), 3)))


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (flat, "must return shape .*, one column for each class in the order of the labels"),
        (missing, "predicts nan on split 0"),
    ],
)
def test_scores_that_cannot_be_used_name_the_split(iris, learner, message):
    X, y = iris
    with pytest.raises(ValueError, match=message):
        uv.UStatisticTest(X, y, learner, loss="auc").fit(190, rng=0)


# -------------------------------------------------------------------------------- comparisons


def test_comparisons_run_it_and_nothing_else(iris):
    X, y = iris
    spec = uv.TestSpec("ustatistic", fit={"n_pairs": 190})
    found = uv.compare(X, y, ["lda", "knn:5", "gaussian_nb"], spec, loss="auc", rng=1)
    alone = uv.UStatisticTest(X, y, "lda", "knn:5", loss="auc").fit(190, rng=1)
    assert found.result("ustatistic", "lda", "knn:5").estimate == alone.estimate
    assert found.settings["pos_label"] is None
    assert "AUC" in str(found)
    for test in ("delong", "corrected_t", "influence"):
        with pytest.raises(ValueError, match="UStatisticTest, which estimates Hand and Till's AUC"):
            uv.compare(X, y, ["lda", "knn:5"], test, loss="auc")
    design = uv.TestSpec("ustatistic", {"design": uv.designs.DisjointSets(20)})
    with pytest.raises(ValueError, match="leave design out"):
        uv.compare(X, y, ["lda", "knn:5"], design, loss="auc")


def test_the_recommended_test_is_this_one(iris):
    X, y = iris
    found = uv.compare(X, y, ["lda", "gaussian_nb"], loss="auc", rng=1)
    assert found.tests == ("ustatistic",)
    assert found.result().status == "ok"
    assert found.n_fits <= 10_000


def test_data_frames_with_text(iris):
    X, y = iris
    frame = pd.DataFrame(X, columns=["length", "width"]).assign(kind=pd.Categorical(y))
    test = uv.UStatisticTest.from_formula("kind ~ length + width", frame, "lda", loss="auc")
    assert (
        test.fit(190, rng=0).estimate
        == uv.UStatisticTest(X, y, "lda", loss="auc").fit(190, rng=0).estimate
    )
