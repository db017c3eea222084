import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, cg

from ucvtest.stats.conjugate_gradients import conjugate_gradients


@pytest.mark.parametrize("n", [1, 7, 60])
def test_the_steps_are_scipys(n: int) -> None:
    rng = np.random.default_rng(n)
    factor, right = rng.normal(size=(n, n + 3)), rng.normal(size=n)
    matrix = factor @ factor.T / n + 0.1 * np.eye(n)
    product = LinearOperator((n, n), lambda vector: np.einsum("ij,j->i", matrix, vector))
    expected, _ = cg(product, right, rtol=1e-10)
    found = conjugate_gradients(matrix, right, 1e-10)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(matrix @ found, right, atol=1e-8 * np.abs(right).max())


def test_the_shortest_solution_of_a_singular_system() -> None:
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(20, 30))
    matrix = factor @ factor.T
    matrix -= matrix.mean(axis=0)
    matrix -= matrix.mean(axis=1, keepdims=True)
    right = rng.normal(size=20)
    right -= right.mean()
    found = conjugate_gradients(matrix, right, 1e-12)
    np.testing.assert_allclose(found, np.linalg.pinv(matrix) @ right, rtol=1e-7)


def test_nothing_is_solved_by_nothing() -> None:
    assert (conjugate_gradients(np.eye(3), np.zeros(3), 1e-8) == 0).all()
