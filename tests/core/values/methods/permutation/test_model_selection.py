"""Every criterion against a computation of its own, and what is shared between learners."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from ucvtest.learners import kernel_ridge, polynomial, ridge, smoother

X, Y = load_iris(return_X_y=True)
X, Y = X[50:, :2] + np.random.default_rng(0).normal(scale=1e-3, size=(100, 2)), Y[50:]
CLASSIFIERS = ["lda", "knn:1", "knn:9"]


def regression(n=30, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 1))
    return x, np.sin(3 * x[:, 0]) + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def of_classes():
    return uv.select_model(X, Y, CLASSIFIERS, n_permutations=40, rng=0)


def test_every_criterion_that_applies(of_classes):
    assert of_classes.criteria == ("permutation", "loo", "kfold", "rademacher")
    assert np.isfinite(of_classes.table[list(of_classes.criteria)].to_numpy()).all()
    of_numbers = uv.select_model(*regression(), [polynomial(d) for d in (1, 3)], rng=0)
    assert of_numbers.criteria == ("permutation", "loo", "kfold", "fpe", "vc")
    # One fit each for e_in, and ten folds.
    assert of_numbers.n_fits == 2 * 11
    assert of_classes.n_fits == 3 * (1 + 40 + 40 + 100 + 10)


def test_leave_one_out_is_scikit_learns(of_classes):
    predicted = cross_val_predict(LinearDiscriminantAnalysis(), X, Y, cv=LeaveOneOut())
    assert of_classes.columns["loo"][0] == pytest.approx(np.mean(predicted != Y))


def test_the_permutation_estimate_is_that_of_the_test(of_classes):
    for place, learner in enumerate(CLASSIFIERS):
        test = uv.PermutationComplexityTest(X, Y, learner)
        for criterion in ("permutation", "rademacher"):
            found = test.fit(400, criterion, rng=1)
            error = found.diagnostics["mc_se_estimate"] * np.sqrt(1 + 400 / 40)
            difference = found.estimate - of_classes.columns[criterion][place]
            assert abs(difference) <= 5 * error + 1e-12
        assert of_classes.columns["e_in"][place] == found.statistic


def test_folds_have_their_share_of_every_class():
    x, labels = X[:30], np.repeat(["a", "b", "c"], [15, 9, 6])
    seen = []

    def spy(X_train, y_train, X_test):
        seen.append((len(X_train), *(np.sum(y_train == label) for label in "abc")))
        return np.repeat("a", len(X_test))

    found = uv.select_model(x, labels, [spy], "kfold", criteria=[], n_folds=3, rng=0)
    assert sorted(seen[1:]) == [(20, 10, 6, 4)] * 3
    assert found.columns["kfold"][0] == pytest.approx(0.5)


def test_ten_left_out_are_some_of_all():
    tree = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0)
    found = uv.select_model(X, Y, [tree], "loo", criteria=[], n_left_out=10, rng=0)
    assert found.n_fits == 11
    assert found.columns["loo"][0] * 10 == pytest.approx(round(found.columns["loo"][0] * 10))
    every = uv.select_model(X, Y, [tree], "loo", criteria=[], n_left_out=100, rng=0)
    predicted = cross_val_predict(tree, X, Y, cv=LeaveOneOut())
    assert every.columns["loo"][0] == pytest.approx(np.mean(predicted != Y))


@pytest.mark.parametrize(
    "learner",
    [ridge(0.02, scale="mean"), kernel_ridge(0.1, "rbf")],
    ids=lambda learner: learner.name,
)
def test_closed_forms_are_the_refits(learner):
    x, y = regression()
    closed = uv.select_model(x, y, [learner], rng=0)

    def refitted(X_train, y_train, X_test):
        n = len(y_train)
        both = np.vstack([X_train, X_test])
        test = uv.learners.hat_matrix(learner, X_train)
        if len(X_test) == n and np.array_equal(X_train, X_test):
            return test @ y_train
        from ucvtest.data.sample import make_sample
        from ucvtest.evaluation.evaluator import Evaluator

        sample = make_sample(both, np.concatenate([y_train, 0 * X_test[:, 0]]), as_classes=False)
        learning = (np.arange(len(both)) < n)[None]
        evaluator = Evaluator(sample, learner, "number")
        return evaluator.predict(learning, ~learning, np.zeros(1, int)).values[0, n:]

    slow = uv.select_model(x, y, [refitted], n_permutations=2, rng=0)
    for name in ("e_in", "loo", "kfold"):
        assert closed.columns[name][0] == pytest.approx(slow.columns[name][0], rel=1e-8)
    test = uv.PermutationComplexityTest(x, y, learner).fit("analytic")
    assert closed.columns["permutation"][0] == pytest.approx(test.estimate, rel=1e-12)


def test_penalties_and_a_smoother_of_the_users():
    x, y = regression()
    S = uv.learners.hat_matrix(polynomial(4), x)
    found = uv.select_model(x, y, [polynomial(4), smoother(S)], "vc", rng=0)
    e_in = np.mean((y - S @ y) ** 2)
    kernel = uv.kernels.permutation
    for name, value in (
        ("degrees", 5.0),
        ("e_in", e_in),
        ("fpe", kernel.final_prediction_error(e_in, 5.0, 30)),
        ("vc", kernel.vc_penalty(e_in, 5.0, 30)),
        ("loo", kernel.leave_one_out(y - S @ y, S.diagonal())),
    ):
        np.testing.assert_allclose(found.columns[name], value, rtol=1e-9)
    assert np.isnan(found.columns["kfold"]).tolist() == [False, True]
    assert found.choices["kfold"] == 0


def test_choice_regret_and_table(of_classes):
    name = of_classes.best.name
    assert name == CLASSIFIERS[int(of_classes.columns["permutation"].argmin())]
    regret = of_classes.regret([0.2, 0.4, 0.3])
    for criterion, place in of_classes.choices.items():
        assert regret[criterion] == pytest.approx([0.0, 1.0, 0.5][place])
    assert of_classes.table["learner"].tolist() == CLASSIFIERS
    assert "Chosen by permutation: " in str(of_classes)


def test_groups_are_left_out_as_a_whole():
    index = np.arange(len(Y)) // 2
    criteria = ("loo", "kfold")
    found = uv.select_model(
        X, Y, CLASSIFIERS, "loo", criteria=criteria, groups=index, n_folds=4, rng=0
    )
    design = [(np.flatnonzero(index != k), np.flatnonzero(index == k)) for k in set(index.tolist())]
    losses = uv.evaluate(list(CLASSIFIERS), X, Y, design, groups=index, rng=0)
    np.testing.assert_allclose(found.columns["loo"], losses.means.mean(axis=1))
    alone = uv.select_model(
        X, Y, CLASSIFIERS, "loo", criteria=criteria, groups=np.arange(len(Y)), rng=0
    )
    rows = uv.select_model(X, Y, CLASSIFIERS, "loo", criteria=criteria, rng=0)
    for name in criteria:
        np.testing.assert_array_equal(alone.columns[name], rows.columns[name])


@pytest.mark.parametrize("loss", ["log", "brier"])
@pytest.mark.parametrize("groups", [None, np.arange(60) // 3], ids=["rows", "clusters"])
def test_probabilities_of_three_classes(loss, groups):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, size=60)
    X = rng.normal(size=(60, 2)) + y[:, None]
    index = np.arange(60) if groups is None else groups
    chosen = uv.select_model(
        X, y, ["lda"], criteria=["loo", "permutation"], loss=loss, groups=groups, n_permutations=9
    )
    expected, fitted = np.empty(60), LinearDiscriminantAnalysis().fit(X, y).predict_proba(X)
    for each in range(index.max() + 1):
        tested = index == each
        model = LinearDiscriminantAnalysis().fit(X[~tested], y[~tested])
        expected[tested] = losses_of_probabilities(loss, model.predict_proba(X[tested]), y[tested])
    assert chosen.columns["loo"][0] == pytest.approx(expected.mean())
    inside = losses_of_probabilities(loss, fitted, y).mean()
    assert chosen.columns["e_in"][0] == pytest.approx(inside)
    test = uv.PermutationComplexityTest(X, y, "lda", loss=loss, groups=groups)
    result = test.fit(9, rng=0)
    assert result.diagnostics["e_in"] == pytest.approx(inside)
    assert result.diagnostics["e_gen"] > 0


def losses_of_probabilities(loss, probabilities, y):
    if loss == "log":
        return -np.log(probabilities[np.arange(len(y)), y])
    return ((probabilities - np.eye(3)[y]) ** 2).sum(axis=1)
