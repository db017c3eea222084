"""The variance of a U-statistic from few fits: rounds of disjoint learning sets."""

from itertools import combinations

import numpy as np
import pytest

from tests.oracles.few_fits import few_fits, one_decides
from ucvtest.kernels.ustatistic.contrasts import linear
from ucvtest.kernels.ustatistic.few import Rounds, SetsOfRounds
from ucvtest.kernels.ustatistic.rows import Strata


def drawn(rng, n, g, n_rounds, q):
    """Rounds of q disjoint learning sets (R, q, n)."""
    learning = np.zeros((n_rounds, q, n), dtype=bool)
    for sets in learning:
        order = rng.permutation(n)
        for place, one in enumerate(sets):
            one[order[place * g : (place + 1) * g]] = True
    return learning


def few_fits_of(losses, learning):
    return SetsOfRounds.single(learning).few_fits(np.where(learning, 0.0, losses))


def first_order_losses(rng, learning):
    """c + sum_{i in L} a_i + d_t, and the delete-one jackknife variance of their mean."""
    n, g = learning.shape[-1], int(learning.reshape(-1, learning.shape[-1])[0].sum())
    a, d = rng.normal(size=(2, n))
    losses = 0.3 + (learning @ a)[..., None] + d
    means = []
    for left_out in range(n):
        kept = np.delete(np.arange(n), left_out)
        means.append(0.3 + g * a[kept].mean() + d[kept].mean())
    return losses, (n - 1) * np.var(means)


@pytest.mark.parametrize(
    ("n", "g", "n_rounds", "q"),
    # Between 100 and 300 observations the learning part is shrunken in part.
    [(12, 5, 4, 2), (13, 5, 6, 2), (12, 4, 5, 3), (30, 14, 20, 2), (150, 70, 4, 2)],
)
def test_equals_the_sums_written_out(n, g, n_rounds, q):
    rng = np.random.default_rng(n * g + q)
    learning = drawn(rng, n, g, n_rounds, q)
    losses = rng.normal(size=learning.shape) + first_order_losses(rng, learning)[0]
    found = few_fits_of(losses, learning)
    sets = [[set(np.flatnonzero(one)) for one in of_round] for of_round in learning]
    estimate, variance, noise, df, spread = few_fits(losses, sets, g)
    assert found.mean == pytest.approx(estimate, rel=1e-12)
    assert found.variance == pytest.approx(variance, rel=1e-10)
    assert found.noise == pytest.approx(noise, rel=1e-10)
    assert found.df == pytest.approx(df, rel=1e-10)
    assert found.spread == pytest.approx(spread, rel=1e-10)
    assert found.se**2 == pytest.approx(variance + noise / n_rounds, rel=1e-10)


@pytest.mark.parametrize(("n", "g"), [(6, 3), (7, 3), (6, 2)])
def test_of_first_order_losses_on_all_rounds_the_spread_is_the_jackknife(n, g):
    pairs = [
        (one, other)
        for one in combinations(range(n), g)
        for other in combinations(sorted(set(range(n)) - set(one)), g)
    ]
    # So often that what is taken off for the noise of few rounds vanishes.
    repeats = 4000 // len(pairs)
    learning = np.array([[np.isin(np.arange(n), one) for one in pair] for pair in pairs])
    losses, jackknife = first_order_losses(np.random.default_rng(3), learning)
    found = few_fits_of(np.tile(losses, (repeats, 1, 1)), np.tile(learning, (repeats, 1, 1)))
    assert found.spread == pytest.approx(jackknife, rel=2e-3)


def test_losses_that_never_differ_have_no_spread():
    learning = drawn(np.random.default_rng(0), 12, 5, 4, 2)
    found = few_fits_of(np.full(learning.shape, 0.25), learning)
    assert (found.mean, found.spread, found.variance, found.se) == (0.25, 0, 0, 0)


def test_rounds_of_differences_are_differences_of_rounds():
    rng = np.random.default_rng(5)
    learning = drawn(rng, 14, 6, 7, 2)
    first, other = rng.normal(size=(2, *learning.shape))
    rounds = Rounds(Strata.single(14, 6))
    rows = learning.reshape(-1, 14)
    draw = np.arange(7).repeat(2)
    for part in (slice(0, 6), slice(6, 14)):
        each = [np.where(rows, 0, one.reshape(-1, 14))[part] for one in (first, other)]
        rounds.add(np.stack(each), rows[part], draw[part])
    for weights, losses in (((1, -1), first - other), ((1, 0), first)):
        found = rounds.estimate(linear(weights, rounds.means))
        np.testing.assert_allclose(found, few_fits_of(losses, learning), rtol=1e-10)


def test_an_offset_adds_the_mean_times_it():
    rng = np.random.default_rng(6)
    learning = drawn(rng, 14, 6, 7, 2)
    losses, offset = rng.normal(size=learning.shape) + 1, rng.normal(size=14)
    rounds = Rounds(Strata.single(14, 6))
    rows = learning.reshape(-1, 14)
    draw = np.arange(7).repeat(2)
    rounds.add(np.where(rows, 0, losses.reshape(-1, 14))[None], rows, draw)
    found = rounds.estimate(linear([1], rounds.means, offset))
    mean = few_fits_of(losses, learning).mean
    expected = few_fits_of(losses + mean * offset, learning)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_rounds_that_cancel_one_another_have_a_mean_of_zero():
    learning = drawn(np.random.default_rng(0), 8, 3, 3, 2)
    levels = np.array([0.1, 0.2, -0.3])
    losses = np.broadcast_to(levels[:, None, None], learning.shape)
    assert levels.mean() != 0
    assert few_fits_of(losses, learning).mean == 0


@pytest.mark.parametrize(("decisive", "least", "most"), [(True, 0.7, 1), (False, 0, 0.1)])
def test_what_a_few_observations_decide_is_no_noise(decisive, least, most):
    rng = np.random.default_rng(8)
    learning = drawn(rng, 40, 19, 30, 2)
    worse = learning[..., :4].sum(axis=2) == 0 if decisive else rng.random((30, 2)) < 0.1
    # Of rules that are learnt without any of four observations; of fits by chance.
    losses = rng.normal(size=40) / 10 + worse[..., None] - (not decisive) * worse[:, ::-1, None]
    found = few_fits_of(losses, learning)
    assert least <= found.decided <= most
    noisy = found._replace(decided=0.0)
    share = (found.variance - noisy.variance) / (found.spread - noisy.variance)
    assert share == pytest.approx(found.decided)


def test_where_rounds_do_not_differ_there_is_nothing_to_explain():
    learning = drawn(np.random.default_rng(0), 12, 5, 4, 2)
    losses = np.broadcast_to(np.random.default_rng(1).normal(size=12), learning.shape)
    assert few_fits_of(losses, learning).decided == 0


def test_the_largest_share_of_many_is_nothing_where_it_may_be_chance():
    rng = np.random.default_rng(10)
    learning = drawn(rng, 40, 19, 10, 2)
    fits = np.broadcast_to(rng.normal(size=(10, 2, 1)), learning.shape)
    assert few_fits_of(fits, learning).one_decides == 0
    # An observation whose own loss is large decides nothing, wherever it is tested.
    tested = np.broadcast_to(np.eye(40)[3], learning.shape)
    assert few_fits_of(tested, learning).one_decides < 0.25
    flat = np.zeros(learning.shape)
    assert few_fits_of(flat, learning).one_decides == 0


@pytest.mark.parametrize(
    ("strength", "low", "high"), [(1, 1, 20), (1.8, 0.01, 0.05), (2.4, 0.001, 0.01)]
)
def test_one_observation_decides_unless_that_may_be_chance(strength, low, high):
    rng = np.random.default_rng(9)
    learning = drawn(rng, 20, 9, 12, 2)
    of_fits = strength * learning[..., 0] + rng.normal(size=(12, 2))
    losses = rng.normal(size=learning.shape) / 2 + of_fits[..., None]
    found = few_fits_of(losses, learning).one_decides
    sets = [[set(np.flatnonzero(one)) for one in of_round] for of_round in learning]
    share, chance = one_decides(losses, sets, 9)
    assert low < chance <= high
    assert found == pytest.approx(share if chance <= 0.01 else 0, rel=1e-10)
