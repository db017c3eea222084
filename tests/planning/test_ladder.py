"""Components of a variance: what J and M2 say of them, and what they give at other sizes."""

from math import comb

import numpy as np
import pytest

from ucvtest.planning.ladder import Ladder


def by_hand(n: int, size: int, degree: int, first: float, ratio: float) -> tuple[float, ...]:
    """Variance, J and M2 at another size, component by component, as exact sums."""
    v = [first * k * ratio ** (k - 1) * comb(n, k) / comb(size, k) for k in range(1, degree + 1)]
    jackknife = sum(x * k * (size - 1) / (size - k) for k, x in enumerate(v, 1))
    pairs = sum(
        x * comb(k, 2) * (size - 2) * (size - 3) / ((size - k) * (size - k - 1))
        for k, x in enumerate(v, 1)
    )
    return sum(v), jackknife, pairs


@pytest.mark.parametrize(("n", "degree"), [(40, 20), (60, 30), (60, 5), (12, 6)])
@pytest.mark.parametrize("ratio", [0.0, 0.2, 0.7, 1.3])
def test_the_components_are_found_again_and_go_to_other_sizes(n, degree, ratio):
    _, jackknife, pairs = by_hand(n, n, degree, 0.01, ratio)
    ladder = Ladder.of(n, degree, jackknife, pairs)
    assert (ladder.first, ladder.ratio) == pytest.approx((0.01, ratio), rel=1e-6, abs=1e-12)
    for size in (n, 100, 400):
        expected = by_hand(n, size, degree, 0.01, ratio)
        found = ladder.variance(size), ladder.jackknife(size), ladder.pair_effects(size)
        assert found == pytest.approx(expected, rel=1e-6)


def test_a_variance_falls_at_least_as_fast_as_that_of_a_mean():
    ladder = Ladder.of(60, 30, 0.01, 0.02)
    sizes = np.array([60, 100, 200, 1000])
    variances = np.array([ladder.variance(int(size)) for size in sizes])
    assert (variances[1:] <= variances[0] * 60 / sizes[1:]).all()
    reported = [ladder.reported(400, name) for name in ("midpoint", "jackknife")]
    assert ladder.variance(400) < reported[0] < reported[1]


def test_more_pair_effects_than_any_components_have_are_capped():
    assert Ladder.of(40, 20, 1e-6, 1.0).variance(400) > 0
