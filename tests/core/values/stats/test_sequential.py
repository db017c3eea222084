"""Sequential permutation p-values: the paper's rule, its validity by enumeration and by chance."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ucvtest as uv
from ucvtest.stats.monte_carlo import BatchSizes, SequentialPvalue

H = 3


def by_hand(extreme, h):
    """Besag and Clifford (1991), one draw at a time."""
    count = 0
    for place, each in enumerate(extreme, start=1):
        count += each
        if count == h:
            return h / place
    return (count + 1) / (len(extreme) + 1)


def test_the_rule_is_the_papers():
    for draws in product([False, True], repeat=8):
        for h in (1, 2, 3):
            found = SequentialPvalue.of(np.array(draws), h)
            assert found.pvalue == by_hand(draws, h)
            assert found.stopped == (sum(draws) >= h)


def pvalues(rng, n_tests, n_draws, h, n_values=None):
    """Of exchangeable values, continuous or with ties."""
    draw = (
        rng.standard_normal if n_values is None else lambda size: rng.integers(n_values, size=size)
    )
    values = draw(size=(n_tests, n_draws + 1))
    extreme = values[:, 1:] <= values[:, :1]
    return np.array([SequentialPvalue.of(row, h).pvalue for row in extreme])


def test_it_is_valid_exactly():
    """P(p <= a) by the ranks: l draws among which the observed one is less than h-th."""
    n_draws = 60
    for h in (1, 2, 5):
        found = {}
        for stop in range(h, n_draws + 1):
            # The h-th of l + 1 exchangeable values, and the h-th only with the last draw.
            found[h / stop] = found.get(h / stop, 0.0) + (h / stop - h / (stop + 1))
        for count in range(h):
            value = (count + 1) / (n_draws + 1)
            found[value] = found.get(value, 0.0) + 1 / (n_draws + 1)
        assert math.isclose(sum(found.values()), 1.0)
        for level in found:
            assert sum(p for value, p in found.items() if value <= level) <= level + 1e-12


@pytest.mark.parametrize("n_values", [None, 3])
def test_it_is_valid_in_simulated_nulls(n_values):
    found = pvalues(np.random.default_rng(0), 4000, 99, 10, n_values)
    for level in (0.01, 0.05, 0.1, 0.5):
        # Fixed draws; five binomial standard errors.
        limit = level + 5 * math.sqrt(level * (1 - level) / len(found))
        assert (found <= level).mean() <= limit


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("at_once", [1, 5])
def test_batches_draw_what_is_needed_and_change_nothing(size, at_once):
    extreme = np.random.default_rng(2).random(40) < 0.2
    stopping, seen = BatchSizes(len(extreme), H, size, at_once), []
    start = 0
    while length := stopping.next_size():
        seen.append(extreme[start : start + length])
        start += length
        stopping.record(seen[-1])
    assert SequentialPvalue.of(np.concatenate(seen), H) == SequentialPvalue.of(extreme, H)
    if at_once == 1:
        # Nothing in vain.
        assert start == SequentialPvalue.of(extreme, H).n_drawn


def nearest_mean(X, y, X_test):
    means = [X[y == label].mean(axis=0) if (y == label).any() else 0 for label in (0, 1)]
    return (((X_test - means[1]) ** 2).sum(1) < ((X_test - means[0]) ** 2).sum(1)).astype(int)


@pytest.fixture(scope="module")
def noise():
    rng = np.random.default_rng(5)
    return rng.standard_normal((20, 3)), np.repeat([0, 1], 10)


def scores(X, y, X_test):
    return X_test @ (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))


@pytest.mark.parametrize("learner", [nearest_mean, "lda"])
@pytest.mark.parametrize("batch_size", [None, 1, 4])
def test_the_permutation_test_is_the_rule_applied_to_its_draws(noise, learner, batch_size):
    test = uv.PermutationComplexityTest(*noise, learner)
    found = test.fit(60, stop_after=5, rng=1, batch_size=batch_size)
    whole = test.fit(60, rng=1)
    drawn, extreme = found.diagnostics["n_drawn"], found.diagnostics["n_extreme"]
    assert extreme == 5
    assert found.pvalue == 5 / drawn
    assert drawn < 60
    assert found.n_fits == 1 + drawn
    assert found.statistic == whole.statistic
    assert found.settings["stop_after"] == 5
    assert "stop_after" not in whole.settings
    assert found.reference == "sequential permutation"
    assert found == uv.TestResult.from_dict(found.to_dict())


def test_where_it_does_not_stop_it_is_the_usual_one(noise):
    X, y = noise
    test = uv.PermutationComplexityTest(X + 3 * y[:, None], y, "lda")
    found, whole = (test.fit(40, stop_after=stop, rng=1) for stop in (5, None))
    assert found.pvalue == whole.pvalue == 1 / 41
    assert found.estimate == whole.estimate
    assert found.diagnostics["n_extreme"] == 0


def test_leave_pair_out_stops_too(noise):
    X, y = noise
    for learner in ("ridge:1", scores):
        test = uv.LeavePairOutTest(X[::2], y[::2], learner)
        whole = test.fit(n_permutations=50, rng=3)
        found = [
            test.fit(n_permutations=50, stop_after=4, rng=3, batch_size=size)
            for size in (None, 1, 7)
        ]
        assert len({each.pvalue for each in found}) == 1
        assert found[0].diagnostics["n_extreme"] == 4
        assert found[0].pvalue == 4 / found[0].diagnostics["n_drawn"]
        assert found[0].statistic == whole.statistic
        assert found[0].status == "ok"


def test_a_p_value_of_h_draws_is_one():
    assert_array_equal(SequentialPvalue.of(np.ones(9, dtype=bool), 3).pvalue, 1.0)
