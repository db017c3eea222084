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
from ucvtest.methods.ustatistic.run import Sampler

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
def test_exact_is_the_kernel_on_all_learning_sets(case, ties, two, against_rest):
    sizes, learn_sizes = case
    problem = Problem(sizes, ties=ties)
    scores = [problem.score, problem.other][: 1 + two]
    learners = [learner_of(score) for score in scores]
    # Classes need not come in order.
    order = np.random.default_rng(0).permutation(len(problem.y))
    X, y = np.arange(len(order))[order, None] * 1.0, problem.y[order]
    options, asked = {}, learn_sizes
    if against_rest:
        options = {"pos_label": 1}
        asked = (learn_sizes[0], learn_sizes[2], learn_sizes[1])
    test = uv.UStatisticTest(X, y, *learners, loss="auc", learn_size=asked, **options)
    result = test.fit("exact", rng=0)

    # Which equals enumeration and deletion: see kernels/test_auc_several_classes.py.
    tables = [problem.complete(learn_sizes, each) for each in scores]
    found = auc_ustatistic.from_scores(
        *(tables[0][0], tables[0][1], problem.y),
        tables[1][0] if two else None,
        exact=True,
        **options,
    )
    assert result.estimate == pytest.approx(found["auc"], abs=1e-10)
    assert result.diagnostics["variance"] == "jackknife"
    assert result.variance == pytest.approx(found["jackknife"], abs=1e-10)
    assert result.diagnostics["pair_effects"] == pytest.approx(found["pair_effects"], abs=1e-10)
    assert result.df == pytest.approx(found["df"], rel=1e-9)
    assert result.n_fits == (1 + two) * math.prod(map(math.comb, sizes, learn_sizes))
    if all(2 * g <= n for n, g in zip(sizes, learn_sizes, strict=True)):
        midpoint = test.fit("exact", "midpoint").variance
        assert midpoint == pytest.approx(found["midpoint"], abs=1e-10)


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


# ---------------------------------------------------------------------- what the AUC is about


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
