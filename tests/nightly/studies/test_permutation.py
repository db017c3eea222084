"""The short cuts of the reproduction against the models that they stand for."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from studies.reproductions import permutation as reproduction
from studies.reproductions import polynomials

X, Y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
X, Y, NEW = X[:200], Y[:200].astype(float), X[200:300]


@pytest.mark.parametrize("seed", [0, 1])
def test_small_trees_are_parts_of_the_largest(seed):
    labels = np.random.default_rng(seed).permutation(Y)
    found = reproduction.trees(X, labels, NEW, seed)
    for predictions, leaves in zip(found, reproduction.LEAVES, strict=True):
        model = DecisionTreeClassifier(
            criterion="entropy", max_leaf_nodes=leaves, random_state=seed
        )
        np.testing.assert_array_equal(predictions, model.fit(X, labels).predict(NEW))


def test_votes_are_those_of_the_nearest():
    numbers = reproduction.NEIGHBOURS
    found = reproduction.votes(reproduction.nearest(X, NEW, max(numbers)), Y, numbers)
    for predictions, k in zip(found, numbers, strict=True):
        model = KNeighborsClassifier(k).fit(X, Y)
        np.testing.assert_array_equal(predictions, model.predict(NEW))
    chosen = uv.select_model(X, Y, ["knn:5"], "loo", criteria=[], rng=0)
    left_out = reproduction.nearest(X, X, max(numbers), itself=False)
    errors = (reproduction.votes(left_out, Y, numbers) != Y).mean(axis=1)
    assert errors[numbers.index(5)] == pytest.approx(chosen.columns["loo"][0])


COLUMNS = (("LOO-CV", "loo"), ("Perm.", "permutation"), ("VC", "vc"), ("FPE", "fpe"))


def test_estimates_of_orders_are_those_of_select_model():
    problems = polynomials.Problems.draw(np.random.default_rng(3), 2, 100, 10)
    found, errors = polynomials.stacked(polynomials.fits_by_order(problems, 30))
    x, y = problems.x[1], problems.y[1]
    orders = (1, 4, 9)
    chosen = uv.select_model(
        x[:, None],
        y,
        [uv.learners.polynomial(order) for order in orders],
        criteria=["loo", "vc", "fpe"],
    )
    for name, column in COLUMNS:
        np.testing.assert_allclose(found[name][1, list(orders)], chosen.columns[column], rtol=1e-8)
    grid = np.linspace(-1, 1, 20_001)
    legendre = polynomials.legvander
    fitted = np.linalg.lstsq(legendre(x, 4), y, rcond=None)[0]
    target = legendre(grid, 10) @ problems.coefficients[1]
    expected = problems.variance[1] + np.mean((legendre(grid, 4) @ fitted - target) ** 2)
    assert errors[1, 4] == pytest.approx(expected, rel=1e-3)


def test_estimates_of_lambda_are_those_of_select_model():
    problems, penalty = polynomials.Problems.draw(np.random.default_rng(3), 2, 15, 10), 0.3
    found, _ = polynomials.stacked(polynomials.fits_by_lambda(problems, (0.0, penalty)))
    learner = uv.learners.polynomial(polynomials.RIDGE_ORDER, penalty, penalize_intercept=True)
    chosen = uv.select_model(
        problems.x[1][:, None], problems.y[1], [learner], criteria=["loo", "vc", "fpe"]
    )
    for name, column in COLUMNS:
        assert found[name][1, 1] == pytest.approx(chosen.columns[column][0], rel=1e-8)
