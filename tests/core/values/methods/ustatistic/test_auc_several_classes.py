"""UStatisticTest of the AUC of several classes: enumeration, its kernel, and learners."""

import math

import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

import ucvtest as uv
from tests.core.values.kernels.test_auc_several_classes import Problem
from tests.oracles import auc_several_classes as oracle
from ucvtest.common.execution import Execution
from ucvtest.kernels import auc_ustatistic
from ucvtest.methods.ustatistic.run import Sampler, rows_of_part

CASES = [  # n_c, g_c
    ((4, 3, 4), (1, 1, 2)),
    ((4, 4, 4), (2, 1, 2)),
    ((5, 3, 4), (3, 1, 1)),
]
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def iris():
    """Sixty flowers in mixed order, by two measurements."""
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(150)[:60]
    return X[rows, :2], NAMES[y[rows]]


def learner_of(score):
    """A callable about observations by their numbers, which are all that X contains."""

    def learner(X_train, y_train, X_test):
        learning = tuple(sorted(int(i) for i in X_train[:, 0]))
        return np.array([score(learning, int(t)) for t in X_test[:, 0]])

    return learner


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


@pytest.mark.parametrize("learn_size", [None, (12, 8, 9)])
def test_pairs_equal_the_kernel_on_the_same_fits(iris, learn_size):
    X, y = iris
    test = uv.UStatisticTest(X, y, "lda", "knn:5", loss="auc", learn_size=learn_size)
    result = test.fit(250, rng=3)
    execution = Execution.of(3, None, None)
    source = test.question.losses(execution)
    sampler = Sampler(test.learning_sets.sizes, source, execution.generator)
    parts, rows = [], []
    for size in np.diff(np.linspace(0, 250, -(-250 // (rows_of_part(sampler.sizes) // 2)) + 1)):
        drawn, scores = sampler.fitted(sampler.drawn(int(size)))
        parts.append((drawn.learning, *scores))
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


# ---------------------------------------------------------------------- what the AUC is about


@pytest.mark.parametrize(
    ("learner", "estimator"),
    [
        ("lda", LinearDiscriminantAnalysis()),
        ("knn:5", KNeighborsClassifier(5)),
    ],
)
def test_learners_give_the_scores_of_scikit_learn(iris, learner, estimator):
    X, y = iris
    fast = uv.UStatisticTest(X, y, learner, loss="auc").fit(40, rng=1)
    plain = uv.UStatisticTest(X, y, estimator, loss="auc", backend="sklearn").fit(40, rng=1)
    # Not equal where neighbours are equally far away, or probabilities end at 1.
    assert fast.estimate == pytest.approx(plain.estimate, abs=0.003)


@pytest.mark.parametrize("learner", ["lda", "knn:7"])
def test_jitted_scores_are_those_of_one_fit(iris, learner):
    X, y = iris
    test = uv.UStatisticTest(X, y, learner, loss="auc")
    execution = Execution.of(0, None, None)
    source = test.question.losses(execution)
    sampler = Sampler(test.learning_sets.sizes, source, execution.generator)
    drawn, (scores,) = sampler.fitted(sampler.drawn(2))
    learning = drawn.learning
    assert scores.shape == (4, 60, 3)
    models = {
        "lda": LinearDiscriminantAnalysis("lsqr"),
        "knn:7": KNeighborsClassifier(7),
    }
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
