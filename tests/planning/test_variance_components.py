"""Components of a variance: what J and M2 say of them, and what they give at other sizes."""

import math
from math import comb

import numpy as np
import pytest

from ucvtest.planning.typical_variances import SMOOTH, STEPS, Seen, Spread, components, helped
from ucvtest.planning.variance_components import Ladder


def by_hand(n: int, size: int, degree: int, first: float, ratio: float) -> tuple[float, ...]:
    """Variance, J and M2 at another size, component by component, as exact sums."""
    v = [first, *(0.01 * ratio ** (k - 2) for k in range(2, degree + 1))]
    v = [x * comb(n, k) / comb(size, k) for k, x in enumerate(v, 1)]
    jackknife = sum(x * k * (size - 1) / (size - k) for k, x in enumerate(v, 1))
    pairs = sum(
        x * comb(k, 2) * (size - 2) * (size - 3) / ((size - k) * (size - k - 1))
        for k, x in enumerate(v, 1)
    )
    return sum(v), jackknife, pairs


@pytest.mark.parametrize(("n", "degree"), [(40, 20), (60, 30), (60, 5), (12, 6)])
@pytest.mark.parametrize("ratio", [0.0, 0.2, 0.7, 1.3])
@pytest.mark.parametrize("first", [0.0, 0.005])
def test_the_components_are_found_again_and_go_to_other_sizes(n, degree, ratio, first):
    _, jackknife, pairs = by_hand(n, n, degree, first, ratio)
    ladder = Ladder.of(n, degree, jackknife, pairs, first)
    assert (ladder.second, ladder.ratio) == pytest.approx((0.01, ratio), rel=1e-6, abs=1e-9)
    for size in (n, 100, 400):
        expected = by_hand(n, size, degree, first, ratio)
        found = ladder.variance(size), ladder.jackknife(size), ladder.pair_effects(size)
        assert found == pytest.approx(expected, rel=1e-6)
    assert ladder.first_at(400) == pytest.approx(first * n / 400)


def test_a_variance_falls_at_least_as_fast_as_that_of_a_mean():
    ladder = Ladder.of(60, 30, 0.01, 0.008, 0.003)
    sizes = np.array([60, 100, 200, 1000])
    variances = np.array([ladder.variance(int(size)) for size in sizes])
    assert (variances[1:] <= variances[0] * 60 / sizes[1:]).all()
    reported = [ladder.reported(400, name) for name in ("midpoint", "jackknife")]
    assert ladder.variance(400) < reported[0] < reported[1]


def test_what_no_components_have_is_taken_for_the_nearest():
    assert Ladder.of(40, 20, 1e-6, 1.0, 0.0).variance(400) > 0
    alone = Ladder.of(40, 20, 1.0, 0.0, 2.0)
    assert (alone.first, alone.ratio) == (0.9, 0.0)


def test_what_errors_agree_on_by_hand():
    nan = math.nan
    losses = np.array([[nan, 1, 0, 1], [0, nan, 1, 1.0], [nan, -1, 1, 0], [1, nan, -1, 0]])
    found = Spread.of(losses)
    # 8 of 12 are not 0; the products of tested pairs are 0, 1, -1, 0.
    assert (found.mean_square, found.agreement) == (8 / 12, 0.0)
    assert Spread.of(np.where(np.isnan(losses), nan, 1.0)).agreement == 1
    none = Spread.of(0 * losses)
    assert math.isnan(none.agreement)
    assert Spread.mean([none, none]) == none
    mean = Spread.mean([none, Spread(0.2, 0.5), Spread(0.1, 0.2)])
    assert (mean.mean_square, mean.agreement) == pytest.approx((0.1, 0.4))


@pytest.mark.parametrize("n_pilots", [1, 1000])
def test_many_pilots_leave_little_to_what_is_usual(n_pilots):
    errors = Spread(0.2, 0.1)
    usual = errors.usual(20)
    seen = Seen(40, 20, 2 * usual.jackknife(40), 2 * usual.pair_effects(40), 20, 0.1, n_pilots)
    ladder, error = helped(seen, errors)
    ratio = ladder.jackknife(40) / usual.jackknife(40)
    share = 40 * n_pilots / (40 * n_pilots + 50)
    assert ratio == pytest.approx(2**share)
    assert 0.1 <= error < 0.4


def test_a_pilot_that_leaves_much_to_single_observations_is_believed():
    errors = Spread(0.2, 0.1)
    seen = Seen(40, 20, 0.02, 0.001, 20, 0.1)
    assert helped(seen, errors)[0].first == pytest.approx(0.018)
    assert helped(Seen(40, 20, -0.01, 0.001, 20, 0.1), errors)[0].variance(400) > 0


def test_differences_of_other_losses_have_a_usual_share_of_their_mean_square():
    spread = Spread(2.0, 0.25)
    usual = spread.usual(20, jumps=False)
    assert usual.jackknife(40) == pytest.approx(0.8 * 2 / 40)
    assert usual.pair_effects(40) == pytest.approx(0.45 * 0.75 * 2 / 40)
    assert usual.first_at(40) == pytest.approx(SMOOTH * usual.jackknife(40))
    twice = Seen(40, 20, 2 * usual.jackknife(40), usual.pair_effects(40), 20, 0.1)
    ladder, _ = helped(twice, spread, jumps=False)
    assert ladder.jackknife(40) == pytest.approx(2 ** (40 / 90) * usual.jackknife(40))
    assert ladder.pair_effects(40) == pytest.approx(usual.pair_effects(40))
    # Single observations have what pairs leave of both averages, and no less than is usual.
    assert ladder.first == pytest.approx(
        max(
            ladder.jackknife(40) - 2 * ladder.pair_effects(40),
            SMOOTH * ladder.jackknife(40),
        )
    )
    alone = Seen(40, 20, usual.jackknife(40), 0.0, 20, 0.1)
    assert helped(alone, spread, jumps=False)[0].first > SMOOTH * usual.jackknife(40)
    assert helped(Seen(40, 20, -1.0, -1.0, 4, 1.0), spread, jumps=False)[0].variance(400) > 0


@pytest.mark.parametrize("least", [SMOOTH, STEPS])
def test_what_is_not_helped_goes_by_the_pilot_alone(least):
    seen = Seen(40, 20, 0.02, 0.016, 20, 0.1)
    ladder, error = components(seen, least)
    assert error > seen.log_error
    assert ladder.first == pytest.approx(least * ladder.jackknife(40))
    assert ladder.jackknife(40) == pytest.approx(0.02 * math.exp(0.1))
    assert ladder.pair_effects(40) == pytest.approx(0.016 * math.exp(0.1))
