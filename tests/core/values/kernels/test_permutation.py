"""Optimism on permuted labels against the sums of the paper, and the bounds against enumeration."""

import itertools

import numpy as np
import pytest

from ucvtest.kernels import permutation
from ucvtest.kernels.permutation import SAMPLINGS

N_RULES, N_OBS = 5, 9


def double_sum(loss, predictions, labels, y):
    """Section 2.3, literally: e_in and e_out, one pair (i, j) at a time."""
    rows = []
    for g, drawn in zip(predictions, labels, strict=True):
        e_in = sum(loss(drawn[i], g[i]) for i in range(len(g))) / len(g)
        e_out = sum(loss(y_j, g_i) for g_i in g for y_j in y) / (len(g) * len(y))
        rows.append((e_in, e_out))
    return np.array(rows).T


COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.5, 1.0], [3.0, 1.0, 0.0]])


@pytest.mark.parametrize(
    ("loss", "function"),
    [
        ("squared", lambda y, g: (y - g) ** 2),
        ("absolute", lambda y, g: abs(y - g)),
        ("zero_one", lambda y, g: float(y != g)),
        (COSTS, lambda y, g: COSTS[int(y), int(g)]),
    ],
    ids=["squared", "absolute", "zero_one", "matrix"],
)
@pytest.mark.parametrize("n_reference", [N_OBS, 4])
def test_it_is_the_double_sum(rng, loss, function, n_reference):
    coded = not isinstance(loss, str) or loss == "zero_one"

    def draw(*shape):
        return rng.integers(3, size=shape) * 1.0 if coded else rng.normal(size=shape)

    predictions, labels = draw(N_RULES, N_OBS), draw(N_RULES, N_OBS)
    y = draw(n_reference)
    found = permutation.generalization(predictions, labels, y, loss)
    e_in, e_out = double_sum(function, predictions, labels, y)
    np.testing.assert_allclose(found["e_in"], e_in, rtol=1e-12)
    np.testing.assert_allclose(found["e_out"], e_out, rtol=1e-12)
    np.testing.assert_allclose(found["e_gen"], e_out - e_in, rtol=1e-12, atol=1e-14)


def test_a_tie_left_open_costs_the_mean():
    y, open_ = np.array([0.0, 1.0]), np.array([[0.5, 0.5]])
    for loss, each in (("zero_one", 0.5), ([[0, 1], [5, 0]], 1.5)):
        found = permutation.generalization(open_, y[None], y, loss)
        assert (found["e_in"][0], found["e_out"][0]) == (each, each)


class TestSmoothers:
    """Closed forms against all 7! permutations and all 7^7 drawings with replacement."""

    n = 7

    @pytest.fixture
    def y(self, rng):
        return rng.normal(size=self.n) + 0.5

    @pytest.fixture
    def S(self, rng):
        # Not even symmetric: the formulas need no more than a matrix.
        return rng.normal(size=(self.n, self.n))

    def drawings(self, y, sampling):
        if sampling == "permutation":
            index = np.array(list(itertools.permutations(range(self.n))))
            return y[index]
        values = y if sampling == "bootstrap" else np.array([0.0, 1.0])
        index = np.indices((len(values),) * self.n, dtype=np.int8).reshape(self.n, -1)
        return values[index.T]

    @pytest.mark.parametrize("sampling", SAMPLINGS)
    def test_theorem_3_is_the_mean_over_all(self, y, S, sampling):
        drawn = self.drawings(y, sampling)
        reference = np.array([0.0, 1.0]) if sampling == "rademacher" else y
        fitted = drawn @ S.T
        e_gen = np.mean(2 * ((drawn - reference.mean()) * fitted).mean(axis=1))
        p_in = np.mean((drawn * fitted).mean(axis=1))
        parts = (np.trace(S), S.sum(), self.n, sampling)
        found = permutation.smoother_optimism(reference.var(), *parts)
        assert found == pytest.approx(e_gen, abs=1e-10)
        found = permutation.smoother_complexity(reference.mean(), reference.var(), *parts)
        assert found == pytest.approx(p_in, abs=1e-10)

    def test_the_form_of_the_paper(self, y, S):
        sigma_squared = y.var(ddof=1)
        theorem_3 = 2 * sigma_squared / self.n * (np.trace(S) - S.sum() / self.n)
        found = permutation.smoother_optimism(y.var(), np.trace(S), S.sum(), self.n)
        assert found == pytest.approx(theorem_3, rel=1e-12)


def test_leave_one_out_is_the_mean_of_the_refits(rng):
    X = np.column_stack([np.ones(12), rng.normal(size=(12, 2))])
    y, penalty = rng.normal(size=12), 0.3 * np.eye(3)
    S = X @ np.linalg.solve(X.T @ X + penalty, X.T)
    errors = []
    for i in range(12):
        rest = np.arange(12) != i
        w = np.linalg.solve(X[rest].T @ X[rest] + penalty, X[rest].T @ y[rest])
        errors.append((y[i] - X[i] @ w) ** 2)
    found = permutation.leave_one_out(y - S @ y, S.diagonal())
    assert found == pytest.approx(np.mean(errors), rel=1e-10)


def test_penalties_as_the_paper_prints_them():
    n, d, e_in = 100, np.array([2.0, 7.0, 20.0]), 0.7
    p = n / d
    root = np.sqrt(1 + np.log(p) + np.log(n) / (2 * d))
    np.testing.assert_allclose(
        permutation.vc_penalty(e_in, d, n), np.sqrt(p) / (np.sqrt(p) - root) * e_in
    )
    np.testing.assert_allclose(
        permutation.final_prediction_error(e_in, d, n), (p + 1) / (p - 1) * e_in
    )


def test_degrees_of_freedom(rng):
    X = np.column_stack([np.ones(9), rng.normal(size=(9, 2))])
    least_squares = X @ np.linalg.inv(X.T @ X) @ X.T
    for value in permutation.effective_degrees(least_squares).values():
        assert value == pytest.approx(3)
    S = rng.normal(size=(9, 9))
    found = permutation.effective_degrees(np.stack([least_squares, S]))
    centred = S - S.mean(axis=0)
    assert found["permutation"][1] == pytest.approx(np.trace(centred) + 1)
    assert found["variance"][1] == pytest.approx(np.trace(S @ S.T))
    assert found["residual"][1] == pytest.approx(np.trace(2 * S - S @ S.T))


def test_what_has_no_finite_value():
    assert permutation.final_prediction_error(1.0, 10.0, 10) == np.inf
    assert permutation.vc_penalty(1.0, 9.0, 10) == np.inf
    assert permutation.leave_one_out([0.0, 1.0], [1.0, 0.5]) == np.inf


class TestBounds:
    """Rules on three points, closed under negation; every sample and permutation enumerated."""

    n = 5
    rules = np.array([[1, 1, 1], [1, -1, -1], [1, 1, -1]])
    rules = np.vstack([rules, -rules])

    def complexity(self, x, y):
        """max over rules of mean(y^pi h(x)) for every different labeling."""
        places = itertools.combinations(range(len(y)), list(y).count(1))
        labels = np.array([[1 if i in chosen else -1 for i in range(len(y))] for chosen in places])
        return (labels @ self.rules[:, x].T / len(y)).max(axis=1)

    @pytest.mark.parametrize("delta", [0.05, 0.3])
    def test_one_permutation_bounds_the_complexity(self, delta):
        for positives in (1, 3, 5):
            x = np.arange(10) % 3
            y = np.where(np.arange(10) < positives, 1, -1)
            each = self.complexity(x, tuple(y))
            bounds = [permutation.complexity_bound(v, 10, positives, 1, delta) for v in each]
            assert np.mean(np.array(bounds) < each.mean()) <= delta

    def test_constants(self):
        """Corollary 4 and Theorem 6 as proved, in error rates."""
        n, delta = 400, 0.05
        deviation = np.sqrt(8 / n)
        expected = 2 * deviation + 5 * deviation * np.sqrt(np.log(1 / delta))
        assert permutation.error_bound(0.0, 0.0, n, delta) == pytest.approx(expected / 4)
        expected = 0.1 + 0.2 + 3 * deviation * np.sqrt(np.log(1 / delta)) / 4
        assert permutation.error_bound(0.1, 0.2, n, delta, "rademacher") == pytest.approx(expected)
        of_one = np.sqrt(2) * np.sqrt(2 / n * np.log(1 / delta))
        found = permutation.complexity_bound(0.0, n, n // 2, 1, delta)
        assert found == pytest.approx(of_one)
        assert permutation.complexity_bound(0.3, n, n // 2, np.inf, delta) == 0.3

    def test_drawings_with_replacement_are_close_to_permutations(self):
        """Lemma 6 with its own standard deviation, by enumeration."""
        x, y = np.arange(6) % 3, np.array([1, 1, -1, -1, -1, -1])
        drawn = np.array(list(itertools.product(y, repeat=6)))
        bootstrap = (drawn @ self.rules[:, x].T / 6).max(axis=1).mean()
        bound = permutation.complexity_bound(bootstrap, 6, 2, np.inf, 0.1, "bootstrap")
        assert self.complexity(x, tuple(y)).mean() <= bound
