"""Delete-one slopes of the standard error, without leaving anything out."""

from itertools import permutations

import numpy as np
import pytest

from tests.oracles import ustatistic as oracle
from ucvtest.kernels.ustatistic.slopes import slope, slope_by_rows, spread_of


def effects(phi_0, n, m):
    """b and tau of the complete statistic, as defined."""
    mean = oracle.complete_statistic(phi_0)
    b, joint = np.zeros(n), np.zeros((n, n))
    for subset, value in phi_0.items():
        inside = np.isin(np.arange(n), subset)
        b += (value - mean) * inside / len(phi_0)
        joint += (value - mean) * np.outer(inside, inside) / len(phi_0)
    tau = joint - (m - 1) / (n - 2) * (b[:, None] + b[None, :])
    np.fill_diagonal(tau, 0)
    return b, tau


@pytest.mark.parametrize(("n", "g"), [(6, 0), (6, 1), (7, 2), (8, 3), (7, 4)])
def test_by_deletion_of_observations(n, g):
    rng = np.random.default_rng(n + g)
    phi_0 = oracle.symmetrised_kernel(lambda learning, test: rng.exponential(), n, g)
    b, tau = effects(phi_0, n, g + 1)
    expected = oracle.slope_of_standard_error(phi_0, n)
    # Groups that are all alike: products of different ones are squares.
    groups = np.array([b, b, b]), [np.array([tau, tau, tau])]
    value, error = slope_by_rows(n, g + 1, *groups, np.ones((1, 3)), np.ones(3))
    assert value == pytest.approx(expected)
    assert error == pytest.approx(oracle.error_of_slope(phi_0, n))


def test_of_a_mean_it_is_the_skewness_over_twice_the_variance():
    z = np.random.default_rng(0).exponential(size=50)
    b, tau = (z - z.mean()) / 50, np.zeros((50, 50))
    groups = b[None].repeat(3, 0), [tau[None].repeat(3, 0)]
    value, _ = slope_by_rows(50, 1, *groups, np.ones((1, 3)), np.ones(3))
    second, third = (((z - z.mean()) ** power).mean() for power in (2, 3))
    assert value == pytest.approx(third / (2 * second**2) * 49 / 48)


def error_by_groups(n, m, b, tau, count, groups, spreads):
    """White's error from J_(-i) by products of two different groups, and b of all of them."""
    c = (n - 1 - m) / (n - 2)
    pairs = list(permutations(groups, 2))
    left_out = sum(
        (tau[x] * tau[y]).sum(axis=1) - 2 * c * tau[x] @ b[y] - c**2 * n / (n - 1) * b[x] * b[y]
        for x, y in pairs
    ) / sum(count[x] * count[y] for x, y in pairs)
    u = b[groups].sum(axis=0) / count[groups].sum()
    fit = np.linalg.lstsq(np.column_stack([np.ones(n), u]), left_out, rcond=None)[0]
    residuals = left_out - fit[0] - fit[1] * u
    of_fit = np.sqrt(n / (n - 2) * (u**2 * residuals**2).sum())
    first, second = spreads
    # The slope is linear in the third sum, which is that of u times J_(-i).
    return abs(slope(n, m, first, spread_of(n, m, first, second), of_fit))


def test_products_are_of_three_different_groups():
    n, m, k = 6, 3, 5
    rng = np.random.default_rng(1)
    count = rng.integers(1, 9, size=k).astype(float)
    b = rng.normal(size=(k, n)) + 1.0 * np.arange(n)
    b -= b.mean(axis=1, keepdims=True)
    tau = rng.normal(size=(k, n, n))
    tau += tau.transpose(0, 2, 1)
    keep = np.vstack([np.ones(k), 1 - np.eye(k)])
    value, error = slope_by_rows(n, m, b, [tau], keep, count)
    c = (n - 1 - m) / (n - 2)
    for row, kept in enumerate(keep):
        groups = np.flatnonzero(kept)
        two, three = (list(permutations(groups, size)) for size in (2, 3))
        first = sum(b[x] @ b[y] for x, y in two) / sum(count[x] * count[y] for x, y in two)
        second = sum((tau[x] * tau[y]).sum() for x, y in two)
        second /= sum(count[x] * count[y] for x, y in two)
        third = sum(
            b[x] @ (tau[y] * tau[z]).sum(axis=1)
            - 2 * c * (b[x] @ tau[y] @ b[z])
            - c**2 * n / (n - 1) * (b[x] * b[y] * b[z]).sum()
            for x, y, z in three
        ) / sum(count[x] * count[y] * count[z] for x, y, z in three)
        spread = spread_of(n, m, first, second)
        assert value[row] == pytest.approx(slope(n, m, first, spread, third))
        assert error[row] == pytest.approx(
            error_by_groups(n, m, b, tau, count, groups, (first, second))
        )


def test_too_few_groups_and_effects_that_vanish():
    b, tau = np.zeros((3, 6)), np.ones((3, 6, 6))
    keep = np.vstack([np.ones(3), 1 - np.eye(3)])
    value, error = slope_by_rows(6, 3, b, [tau], keep, np.ones(3))
    assert value[0] == error[0] == 0
    assert np.isnan(value[1:]).all()
    assert np.isnan(error[1:]).all()
