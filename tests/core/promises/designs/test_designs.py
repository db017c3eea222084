import math
import pickle
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, hypergeom
from sklearn import model_selection
from sklearn.linear_model import LogisticRegression

from ucvtest import designs
from ucvtest.common.memo import memoised
from ucvtest.designs import draws
from ucvtest.designs.design import Design
from ucvtest.designs.draws import _draw_subsets, draw_from_halves, exchange_one, learning_sets

NAMED = [
    designs.KFold(4, n_repeats=2),
    designs.KFold(20),
    designs.RandomSplits(5, test_fraction=0.2),
    designs.HoldOut(0.3),
    designs.SplitHalves(3, n_bisections=2),
    designs.NestedKFold(4, n_repeats=2),
    designs.DisjointSets(6, n_draws=3, n_sets=2),
]


def draw(design, n_obs=20, seed=0):
    return design.draw(n_obs, np.random.default_rng(seed))


def shuffled_rows(design, rng):
    return design.rows(rng.permutation(design.n_resamples))


# ----------------------------------------------------------------------------- what is drawn


@pytest.mark.parametrize("named", NAMED, ids=repr)
def test_draws_are_designs_decided_by_the_seed(named):
    found = draw(named)
    assert Design.checked(found.learning, found.testing) == found
    assert found.n_resamples == named.n_resamples
    assert found == draw(named)
    if named != designs.KFold(20):
        assert found != draw(named, seed=1)


def test_every_repetition_of_k_fold_tests_each_observation_once():
    found = draw(designs.KFold(6, n_repeats=5)).testing.reshape(5, 6, 20)
    assert (found.sum(axis=1) == 1).all()
    assert set(found.sum(axis=2).ravel().tolist()) == {3, 4}
    assert len(np.unique(found.reshape(5, -1), axis=0)) == 5


@pytest.mark.parametrize(
    ("n_obs", "fraction", "size"),
    [
        (30, 0.1, 3),
        (100, 0.07, 7),
        (30, 1 / 3, 10),
        (31, 0.1, 4),
        (10, 1e-9, 1),
        (7, np.float64(0.5), 4),
    ],
)
def test_the_fraction_that_is_meant_is_rounded_up(n_obs, fraction, size):
    assert draw(designs.HoldOut(fraction), n_obs).test_sizes == (size,)
    assert draw(designs.RandomSplits(2, fraction), n_obs).test_sizes == (size,)


def test_random_splits_do_not_depend_on_how_many_are_drawn_at_a_time(monkeypatch):
    whole = draw(designs.RandomSplits(7))
    monkeypatch.setattr("ucvtest.designs.schemes.DRAW_CELLS", 40)
    assert draw(designs.RandomSplits(7)) == whole


def test_every_observation_is_tested_equally_often():
    found = draw(designs.RandomSplits(20_000, test_fraction=0.25), n_obs=8)
    share = found.testing.mean(axis=0)
    assert np.abs(share - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 20_000)


@pytest.mark.parametrize("n_obs", [20, 21])
def test_split_halves_keep_to_their_halves(n_obs):
    n_splits, n_bisections = 3, 4
    found = draw(designs.SplitHalves(n_splits, n_bisections), n_obs)
    used = (found.learning | found.testing).reshape(-1, n_splits, n_obs)
    assert used[0].all()
    halves = used[1:].reshape(n_bisections, 2, n_splits, n_obs)
    assert (halves == halves[:, :, :1]).all()
    assert (halves.sum(axis=3) == n_obs // 2).all()
    assert not (halves[:, 0] & halves[:, 1]).any()
    assert len(found.test_sizes) == 1


def test_nested_folds_leave_out_single_folds_and_pairs():
    found = draw(designs.NestedKFold(4, n_repeats=1))
    folds = found.testing[:4]
    for row, (i, j) in zip(found.testing[4:], combinations(range(4), 2), strict=True):
        np.testing.assert_array_equal(row, folds[i] | folds[j])


def test_disjoint_sets_are_disjoint_across_sides_and_test_all_others():
    found = draw(designs.DisjointSets(6, n_draws=5, n_sets=3)).learning.reshape(5, 2, 3, 20)
    assert (found.sum(axis=3) == 6).all()
    for block in found:
        assert not any((a & b).any() for a, b in product(block[0], block[1]))


def test_leave_pair_out_tests_every_pair_once():
    y = np.array(["b", "a", "b", "a", "a"])
    found = draw(designs.as_design(designs.LeavePairOut(), None, y), n_obs=5)
    positive, negative = designs.pairs_of(found, (y == "b").astype(float))
    assert list(zip(positive.tolist(), negative.tolist(), strict=True)) == list(
        product([0, 2], [1, 3, 4])
    )
    assert found.learn_sizes == (3,)
    assert designs.LeavePairOut().get_n_splits(None, y) == 6


def test_leave_pair_out_serves_scikit_learn(rng):
    X, y = rng.normal(size=(9, 2)), np.arange(9) % 3 == 0
    scores = model_selection.cross_val_score(
        LogisticRegression(), X, y, cv=designs.LeavePairOut(), scoring="roc_auc"
    )
    assert len(scores) == 18
    with pytest.raises(ValueError, match="leaving every pair out needs two classes, but y has 3"):
        list(designs.LeavePairOut().split(X, [0, 1, 2]))


def codes_of(sets):
    """Sets (..., n) as numbers, the same for the same set."""
    return sets @ (1 << np.arange(sets.shape[-1]))


def test_disjoint_sets_are_all_equally_likely():
    n_draws = 9000
    first, second = draw_from_halves(np.random.default_rng(0), n_draws, 1, 6, 2)
    pairs = codes_of(np.concatenate([first, second], axis=2)[:, 0])
    counts = np.unique(pairs, return_counts=True)[1]
    assert len(counts) == 90  # 15 first sets, and 6 second ones for each
    assert chisquare(counts).pvalue > 0.001


@pytest.mark.parametrize("learn_size", [1, 4, 8, 10])
def test_disjoint_sets_are_drawn_in_parts(monkeypatch, learn_size):
    monkeypatch.setattr(draws, "CELLS_PER_STEP", 200)
    n_draws, n_sets, n_obs = 301, 2, 21
    sides = draw_from_halves(np.random.default_rng(0), n_draws, n_sets, n_obs, learn_size)
    for side in sides:
        assert side.shape == (n_draws, n_sets, n_obs)
        assert (side.sum(axis=2) == learn_size).all()
        # Every part is drawn anew: sets of one observation differ too.
        assert len(np.unique(codes_of(side[:, 0]))) > 18
    assert not (sides[0].any(axis=1) & sides[1].any(axis=1)).any()


# The order in which partition leaves them depends on the processor's vector units.
@pytest.mark.parametrize("learn_size", [5, 9])
def test_disjoint_sets_do_not_depend_on_the_order_of_random_numbers(monkeypatch, learn_size):
    def drawn():
        return draw_from_halves(np.random.default_rng(0), 50, 2, 20, learn_size)

    def reversed_members(*args):
        return random_members(*args)[..., ::-1]

    random_members, expected = draws._random_members, drawn()
    monkeypatch.setattr(draws, "_random_members", reversed_members)
    np.testing.assert_array_equal(drawn(), expected)


# Sets and what they leave out are drawn, by sorting and one by one.
@pytest.mark.parametrize(("n_members", "size"), [(7, 3), (7, 5), (24, 2), (24, 22)])
def test_sets_from_one_half_are_independent_and_equally_likely(n_members, size):
    n_obs, n_draws = 26, 20_000
    rng = np.random.default_rng(0)
    is_member = np.tile(rng.permutation(n_obs) < n_members, (n_draws, 1))
    sets = np.empty((n_draws, 2, n_obs), dtype=bool)
    _draw_subsets(rng, is_member, size, sets)
    n_different = math.comb(n_members, size)
    for k in range(2):
        counts = np.unique(codes_of(sets[:, k]), return_counts=True)[1]
        assert (len(counts), counts.sum()) == (n_different, n_draws)
        assert chisquare(counts).pvalue > 0.001
    n_common = (sets[:, 0] & sets[:, 1]).sum(axis=1)
    least = max(0, 2 * size - n_members)
    found = np.bincount(n_common - least, minlength=size + 1 - least)
    expected = n_draws * hypergeom(n_members, size, size).pmf(np.arange(least, size + 1))
    assert chisquare(found, expected).pvalue > 0.001


@pytest.mark.parametrize(("n_obs", "size"), [(6, 3), (30, 2)])
def test_who_is_exchanged_is_equally_likely(n_obs, size):
    orders = np.tile(np.random.default_rng(0).permutation(n_obs), (4500, 1))
    first, second = learning_sets(orders, 0, size), learning_sets(orders, size, size)
    exchanged = exchange_one(np.random.default_rng(1), first, second)
    assert ((exchanged & first).sum(axis=1) == 1).all()
    assert ((exchanged & second).sum(axis=1) == size - 1).all()
    counts = np.unique(codes_of(exchanged), return_counts=True)[1]
    assert len(counts) == size**2
    assert chisquare(counts).pvalue > 0.001


# ------------------------------------------------------------------- what is read off a design


@settings(deadline=None, max_examples=60)
@given(
    n_obs=st.integers(2, 12),
    n_folds=st.integers(2, 12),
    n_repeats=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_folds_are_read_off(n_obs, n_folds, n_repeats, seed):
    named = designs.KFold(min(n_folds, n_obs), n_repeats if n_folds < n_obs else 1)
    found = draw(named, n_obs, seed)
    folds = designs.folds_of(found)
    assert folds.shape == (named.n_repeats, n_obs)
    again = (folds[:, None] == np.arange(named.n_folds)[:, None]).reshape(-1, n_obs)
    np.testing.assert_array_equal(again, found.testing)


def test_k_fold_is_recognised_among_all_small_designs():
    # Two or three test sets of three observations: 2 folds, 3 folds, or nothing of the kind.
    for n_rows in (2, 3):
        for rows in product(range(1, 7), repeat=n_rows):
            testing = np.array([[row >> place & 1 for place in range(3)] for row in rows]) > 0
            design = Design(~testing, testing)
            if (testing.sum(axis=0) == 1).all():
                assert designs.folds_of(design).shape == (1, 3)
            else:
                with pytest.raises(ValueError, match="not a K-fold cross-validation"):
                    designs.folds_of(design)


@settings(deadline=None, max_examples=40)
@given(
    n_obs=st.integers(10, 16),
    n_folds=st.integers(3, 6),
    n_repeats=st.integers(1, 4),
    learn_size=st.integers(2, 5),
    seed=st.integers(0, 99),
)
def test_other_structures_are_read_off(n_obs, n_folds, n_repeats, learn_size, seed):
    found = draw(designs.NestedKFold(n_folds, n_repeats), n_obs, seed)
    folds = designs.nested_folds_of(found)
    assert folds.shape == (n_repeats, n_obs)
    np.testing.assert_array_equal(folds[0], found.testing[:n_folds].argmax(axis=0))
    found = draw(designs.SplitHalves(n_folds - 1, n_repeats), n_obs, seed)
    assert designs.halves_of(found) == (n_folds - 1, n_repeats)
    n_draws, n_sets = designs.disjoint_sets_of(
        draw(designs.DisjointSets(learn_size, n_folds, n_repeats), 12, seed)
    )
    assert n_draws * n_sets == n_folds * n_repeats
    # Small sets can be disjoint by chance; those of one half that always meet stay together.
    assert n_sets % n_repeats == 0 or 4 * learn_size <= 12


READERS = {
    designs.KFold(4, 3): designs.folds_of,
    designs.NestedKFold(4, 2): designs.nested_folds_of,
    designs.SplitHalves(3, 2): designs.halves_of,
    designs.DisjointSets(6, 4, 2): designs.disjoint_sets_of,
}


@pytest.mark.parametrize("own", READERS, ids=repr)
def test_readers_refuse_all_but_their_own_rows(own, rng):
    reader, found = READERS[own], draw(own)
    testing = found.testing.copy()
    testing[-1, np.flatnonzero(testing[-1])[0]] = False
    others = [draw(named) for named in NAMED if not isinstance(named, type(own))]
    others += [shuffled_rows(found, rng), found.rows(slice(0, -1))]
    others += [Design(found.learning, testing), Design(~testing, testing)]
    for other in others:
        with pytest.raises(ValueError, match="the design"):
            reader(other)


def test_halves_that_overlap_or_differ_in_size_are_refused():
    found = draw(designs.SplitHalves(2, 1))
    whole = found.learning[:2], found.testing[:2]
    for members in ([slice(0, 10), slice(5, 15)], [slice(0, 6), slice(6, 20)]):
        learning, testing = np.zeros((2, 4, 20), dtype=bool)
        for row, half in enumerate(np.repeat(np.array(members, dtype=object), 2)):
            learning[row, half] = True
            testing[row, half.start : half.start + 2] = True
        both = np.concatenate([whole[0], learning & ~testing]), np.concatenate([whole[1], testing])
        with pytest.raises(ValueError, match="does not split the sample and its halves"):
            designs.halves_of(Design(*both))


def test_sizes_of_random_splits_are_read_off():
    assert designs.random_splits_of(draw(designs.RandomSplits(3, 0.25))) == (15, 5)
    assert designs.random_splits_of(draw(designs.KFold(3))) == (13, 7)
    # One test set is empty: refused in words, not by a division by zero.
    testing = np.arange(6)[None] // 2 == np.arange(4)[:, None]
    with pytest.raises(ValueError, match="its test sets have between 0 and 2 observations"):
        designs.random_splits_of(designs.Design(~testing, testing), 0.05)
    with pytest.raises(ValueError, match="its test sets have between 5 and 10 observations"):
        designs.random_splits_of(draw(designs.NestedKFold(4, 1)))
    with pytest.raises(ValueError, match="either learnt from or tested"):
        designs.random_splits_of(draw(designs.SplitHalves(2, 1)))


def test_pairs_that_lack_or_repeat_are_refused():
    y = np.array([0.0, 1, 1, 0, 0])
    found = draw(designs.as_design(designs.LeavePairOut(), None, y), n_obs=5)
    for rows in ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 4]):
        with pytest.raises(ValueError, match="it tests 5 of 6 pairs"):
            designs.pairs_of(found.rows(np.array(rows)), y)
    with pytest.raises(ValueError, match="one observation of each class"):
        designs.pairs_of(found, 1 - np.array([0.0, 1, 0, 0, 0]))


# ------------------------------------------------------------------------ designs from elsewhere


@pytest.mark.parametrize(
    "splitter",
    [
        model_selection.KFold(5, shuffle=True),
        model_selection.StratifiedKFold(5, shuffle=True),
        model_selection.RepeatedStratifiedKFold(n_splits=5, n_repeats=2),
        model_selection.ShuffleSplit(5, test_size=0.2),
    ],
    ids=repr,
)
def test_splitters_get_their_randomness_from_rng(splitter, rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    plan = designs.as_design(splitter, X, y)
    plan.check(20)
    first, same, other = (draw(plan, seed=seed) for seed in (0, 0, 1))
    assert first == same != other
    assert first.n_resamples == plan.n_resamples
    assert splitter.random_state is None


def test_a_random_state_of_the_users_does_not_move(rng):
    state = np.random.RandomState(3)
    before = state.get_state()[1].copy()
    plan = designs.as_design(
        model_selection.KFold(4, shuffle=True, random_state=state), np.zeros((12, 1)), None
    )
    assert draw(plan, 12) == draw(plan, 12, seed=1)
    np.testing.assert_array_equal(state.get_state()[1], before)


def test_scikit_learns_folds_are_recognised(rng):
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    splitter = model_selection.RepeatedStratifiedKFold(n_splits=4, n_repeats=3)
    folds = designs.folds_of(draw(designs.as_design(splitter, X, y)))
    assert folds.shape == (3, 20)


def test_splitters_with_the_same_data_compare_without_looking_at_it():
    splitter, X = model_selection.KFold(3), np.zeros((6, 2))
    one, two = designs.as_design(splitter, X), designs.as_design(splitter, X.copy())
    assert one == one
    assert one != two


def test_numbers_of_folds_and_drawn_designs():
    assert designs.as_design(7) == designs.as_design(np.int64(7)) == designs.KFold(7)
    drawn = draw(designs.KFold(5))
    plan = designs.as_design(drawn)
    assert draw(plan) is drawn
    assert plan == designs.as_design(draw(designs.KFold(5)))
    with pytest.raises(ValueError, match="design is for 20 observations, but the sample has 21"):
        plan.check(21)


@pytest.mark.parametrize("kind", [list, tuple, iter])
def test_splits_as_scikit_learn_takes_them(kind):
    splitter = model_selection.KFold(3, shuffle=True, random_state=0)
    y = np.arange(6) % 2
    plan = designs.as_design(kind(list(splitter.split(y))), np.zeros((6, 1)), y)
    assert plan.n_resamples == 3
    assert draw(plan, n_obs=6) == draw(designs.as_design(splitter, np.zeros((6, 1)), y), n_obs=6)


# ---------------------------------------------------------------------------- drawn designs


def test_designs_from_indices_and_masks():
    indices = [([0, 1], [2]), (np.array([2, 3]), np.array([True, False, False, False]))]
    found = Design.from_indices(iter(indices), 4)
    np.testing.assert_array_equal(found.learning, [[1, 1, 0, 0], [0, 0, 1, 1]])
    np.testing.assert_array_equal(found.testing, [[0, 0, 1, 0], [1, 0, 0, 0]])
    assert found.learn_sizes == (2,)
    assert found.test_sizes == (1,)


def test_one_test_set_alone_is_of_fixed_rules():
    design = Design.of_fixed_rules(3)
    assert not design.learns
    assert (design.n_obs, design.n_resamples, design.learn_sizes, design.test_sizes) == (
        *(3, 1),
        *((0,), (3,)),
    )
    assert design == Design.checked(np.zeros((1, 3)))
    assert Design.checked(np.eye(3)).learns
    with pytest.raises(ValueError, match="split 0 of the design learns from nothing"):
        Design.checked(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="n_obs must be an integer from 1"):
        Design.of_fixed_rules(0)


def test_what_is_derived_from_a_design_is_computed_once_and_not_saved():
    design = draw(designs.KFold(4))
    calls = []

    def sizes(asked):
        calls.append(asked)
        return asked.test_sizes

    assert memoised(design, sizes) == memoised(design, sizes) == (5,)
    restored = pickle.loads(pickle.dumps(design))
    assert restored == design
    assert memoised(restored, sizes) == (5,)
    assert calls == [design, restored]
