"""Several learners from the same learning sets, against enumeration and learner by learner."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ucvtest.designs.draws import draw_orders, learning_sets
from ucvtest.kernels.ustatistic.accumulator import Accumulator
from ucvtest.kernels.ustatistic.several import N_GROUPS, SeveralSums

N, G, L = 7, 3, 3


def loss(table, learning, tested):
    """A loss with effects of every degree, from a table (n, n): no learner of any kind."""
    learnt = table[learning].sum(axis=0)
    return (learnt[tested] + table[learning, tested].prod()) ** 2


@pytest.fixture(scope="module")
def tables():
    return np.random.default_rng(0).standard_normal((L, N, N))


def complete_mean(table, members):
    values = [
        loss(table, np.array(sets), tested)
        for sets in combinations(members, G)
        for tested in members
        if tested not in sets
    ]
    return np.mean(values)


@pytest.fixture(scope="module")
def complete(tables):
    """All learning sets, in every one of the groups of draws."""
    sets = [np.array(each) for each in combinations(range(N), G)]
    learning = np.zeros((len(sets), N), dtype=bool)
    for row, members in enumerate(sets):
        learning[row, members] = True
    each = []
    for table in tables:
        values = np.zeros(learning.shape)
        for row, members in enumerate(sets):
            for tested in np.flatnonzero(~learning[row]):
                values[row, tested] = loss(table, members, tested)
        values = np.tile(values, (N_GROUPS, 1))[:, None]
        each.append((values, values))
    learning = np.tile(learning, (N_GROUPS, 1))[:, None]
    sums = SeveralSums(N, G, L)
    weight = np.full((len(learning), 1), 0.5)
    cluster = np.repeat(np.arange(N_GROUPS), len(sets))
    sums.add(each, (learning, learning), weight=weight, cluster=cluster)
    return sums.now()


def test_means_and_covariance_are_those_of_the_delete_one_jackknife(tables, complete):
    whole = np.array([complete_mean(table, range(N)) for table in tables])
    without = np.array(
        [
            [complete_mean(table, [k for k in range(N) if k != gone]) for table in tables]
            for gone in range(N)
        ]
    )
    moved = without - without.mean(axis=0)
    assert_allclose(complete.means, whole)
    assert_allclose(complete.covariance, (N - 1) / N * moved.T @ moved)


def test_raw_and_crossed_squares_agree_where_nothing_is_left_to_chance(complete):
    covariance, found = complete.covariance, complete.differences("jackknife")
    for i in range(L):
        assert_allclose(found.variance[i, i], covariance[i, i])
        for j in range(i):
            apart = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
            assert_allclose(found.variance[i, j], apart)
    assert_allclose(found.mc_se, 0.0, atol=1e-10)
    assert_allclose(found.mc_se_variance / found.variance, 0.0, atol=1e-10)


@pytest.fixture(scope="module")
def drawn():
    """Random errors of four learners, in pairs of disjoint learning sets."""
    rng, n, g, n_pairs = np.random.default_rng(1), 12, 5, 300
    orders = draw_orders(rng, n_pairs, n)
    sets = tuple(learning_sets(orders, start, g)[:, None] for start in (0, g))
    each = []
    for threshold in (-1.0, 0.0, 0.3, 0.5):
        sides = []
        for side in sets:
            wrong = side.sum(axis=2, keepdims=True) * 0 + rng.standard_normal((n_pairs, 1, n))
            wrong = wrong + np.linspace(-1, 1, n) > threshold
            sides.append(np.where(side, 0, wrong).astype(np.int8))
        each.append(tuple(sides))
    sums = SeveralSums(n, g, len(each))
    sums.add(each, sets)
    return each, sets, sums.now()


@pytest.mark.parametrize("name", ["midpoint", "jackknife"])
def test_matrices_hold_what_single_differences_give(drawn, name):
    _, _, several = drawn
    found = several.differences(name)
    for i in range(4):
        one = several.weighted({i: 1.0})
        assert_allclose(found.variance[i, i], one.values[name])
        assert_allclose(found.mc_se[i, i], one.mc_se["estimate"])
        for j in range(i):
            one = several.weighted({i: 1.0, j: -1.0})
            assert_allclose(found.variance[i, j], one.values[name])
            assert_allclose(found.variance[j, i], one.values[name])
            assert_allclose(found.mc_se_variance[i, j], one.mc_se[name])
            assert_allclose(found.mc_se[i, j], one.mc_se["estimate"])
            assert_allclose(one.values["estimate"], several.means[i] - several.means[j])


def test_a_difference_is_that_of_the_sums_of_differences(drawn):
    each, sets, several = drawn
    alone = Accumulator(12, 5, disjoint=False, n_draws=N_GROUPS)
    alone.add((*(one - other for one, other in zip(each[1], each[3], strict=True)), *sets))
    expected = alone.estimates()
    found = several.weighted({1: 1.0, 3: -1.0})
    # But for the rounding of the additive part, which is a control variate.
    for name in ("estimate", "jackknife", "midpoint"):
        error = 0.02 * abs(expected.values[name]) + 1e-4
        assert_allclose(found.values[name], expected.values[name], atol=error)


def test_covariances_are_positive_semidefinite(drawn):
    assert np.linalg.eigvalsh(drawn[2].covariance).min() > -1e-15


def test_slopes_of_all_differences_are_those_of_each(drawn):
    several = drawn[2]
    found, errors = several.slopes()
    for i in range(4):
        assert found[i, i] == errors[i, i] == 0
        for j in range(i):
            one = several.weighted({i: 1.0, j: -1.0})
            slope, error = one.values["slope"], one.slope_error
            assert error == np.hypot(one.values["slope_error"], one.mc_se["slope"])
            assert_allclose([found[i, j], found[j, i]], [slope, -slope], rtol=1e-8)
            assert_allclose([errors[i, j], errors[j, i]], error, rtol=1e-8)
