"""The variance of an AUC from few fits, of observations, classes and clusters; brute force."""

import numpy as np
import pytest

from tests.oracles import few_fits_auc as oracle
from tests.oracles.few_fits import few_fits
from ucvtest.kernels.ustatistic import placements
from ucvtest.kernels.ustatistic.columns import Ranked, RankedMixed, Ranking
from ucvtest.kernels.ustatistic.few import Rounds
from ucvtest.kernels.ustatistic.rows import Strata

TWO = pytest.mark.parametrize("two", [False, True], ids=["one", "two"])
WEIGHT = pytest.mark.parametrize("weight", ["group", "row"])


def drawn(rng, members, n_rounds):
    """Rounds of two learning sets (R, 2, n), disjoint and with as many of each class."""
    learning = np.zeros((n_rounds, 2, sum(map(len, members))), dtype=bool)
    for of_round in learning:
        for each in members:
            order, g = rng.permutation(each), len(each) // 2 - 1
            of_round[0, order[:g]] = of_round[1, order[g : 2 * g]] = True
    return learning


def sets_of(learning):
    """The same as sets of places."""
    return [[set(np.flatnonzero(one)) for one in pair] for pair in learning]


def check(columns, scores, learning, expected):
    """That rounds of one learner, or of two, have what the oracle says."""
    rounds, n_rounds = Rounds(columns.strata), len(learning)
    rows, draw = learning.reshape(-1, learning.shape[-1]), np.arange(n_rounds).repeat(2)
    values = [each.reshape(len(rows), *each.shape[2:]) for each in scores]
    rounds.add(columns.placed(values, rows, draw, None), rows, draw)
    found = rounds.estimate(columns.of_rounds(tuple(range(len(scores))), rounds))
    known = found.mean, found.variance, found.noise, found.df, found.spread
    assert known == pytest.approx(expected, rel=1e-9)


def signed(scores):
    return dict(zip((1, -1), scores, strict=False))


@pytest.mark.parametrize(("sizes", "n_rounds"), [((9, 12), 5), ((8, 8), 4)])
@TWO
def test_equals_the_sums_written_out(sizes, n_rounds, two):
    rng = np.random.default_rng(sum(sizes) + two)
    n = sum(sizes)
    members = [np.arange(sizes[0]), np.arange(sizes[0], n)]
    learning = drawn(rng, members, n_rounds)
    # Rounded, so that there are ties.
    signal = np.arange(n) < sizes[0]
    scores = np.round(rng.normal(size=(1 + two, *learning.shape)) + signal, 1)
    expected = oracle.few_fits_of_auc(signed(scores), sets_of(learning), members)
    strata = Strata.of(members, [len(each) // 2 - 1 for each in members])
    v = placements.two_classes()[::-1, ::-1]
    check(Ranked(strata, 1 + two, v), scores, learning, expected)


@pytest.mark.parametrize("positive", [None, 2], ids=["all pairs", "against the rest"])
@TWO
def test_several_classes_equal_the_sums_written_out(positive, two):
    rng = np.random.default_rng(two)
    labels = np.repeat([0, 1, 2], [4, 6, 5])
    members = [np.flatnonzero(labels == label) for label in range(3)]
    learning = drawn(rng, members, 4)
    v = (
        placements.hand_till(3)
        if positive is None
        else placements.one_against_rest((4, 6, 5), positive)
    )
    scores = np.round(rng.normal(size=(1 + two, *learning.shape, 3)) + np.eye(3)[labels], 1)
    expected = oracle.few_fits_of_classes(signed(scores), sets_of(learning), members, v)
    scores[:, learning] = np.nan
    check(Ranked(Strata(labels, (1, 2, 1)), 1 + two, v), scores, learning, expected)


@TWO
@WEIGHT
def test_clusters_of_one_class_each_equal_the_sums_written_out(weight, two):
    rng = np.random.default_rng(two)
    index = np.repeat(np.arange(13), 1 + np.arange(13) % 3)
    members = [np.arange(6), np.arange(6, 13)]
    positive = index < 6
    learning = drawn(rng, members, 4)
    scores = np.round(rng.normal(size=(1 + two, 4, 2, len(index))) + positive, 1)
    rows = [np.flatnonzero(index == k) for k in range(13)]
    expected = oracle.few_fits_of_clusters(signed(scores), sets_of(learning), members, rows, weight)
    scores[:, learning[..., index]] = np.nan
    strata = Strata.of(members, (2, 2))
    weight_of = 1 / np.bincount(index)[index] if weight == "group" else np.ones(len(index))
    v = placements.two_classes()[::-1, ::-1]
    columns = Ranked(strata, 1 + two, v, (index, weight_of))
    check(columns, scores, learning, expected)


@TWO
@WEIGHT
def test_clusters_with_both_classes_equal_the_sums_written_out(weight, two):
    rng = np.random.default_rng(two)
    index = np.repeat(np.arange(9), 2 + np.arange(9) % 3)
    # Some clusters have rows of one class alone.
    positive = (np.arange(len(index)) * 5 % 7) < 3
    learning = drawn(rng, [np.arange(9)], 4)
    scores = np.round(rng.normal(size=(1 + two, 4, 2, len(index))) + positive, 1)
    rows, sets = [np.flatnonzero(index == k) for k in range(9)], sets_of(learning)
    losses = [
        np.array(oracle.losses_of_mixed_clusters(each, sets, rows, positive, weight))
        for each in scores
    ]
    of_sum = losses[0] if len(losses) == 1 else losses[0] - losses[1]
    scores[:, learning[..., index]] = np.nan
    ranking = Ranking(np.flatnonzero(positive), np.flatnonzero(~positive))
    columns = RankedMixed(Strata.single(9, 3), 1 + two, (ranking,), index, weight == "group")
    check(columns, scores, learning, few_fits(of_sum, sets, 3))
