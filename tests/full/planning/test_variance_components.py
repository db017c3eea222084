"""Components of a variance: what J and M2 say of them, and what they give at other sizes."""

import math
from math import comb

import numpy as np
import pytest

from ucvtest.planning.typical_variances import (
    SMOOTH,
    STEPS,
    PairedLosses,
    PilotEvidence,
    shrunk,
    unshrunk,
)
from ucvtest.planning.variance_components import VarianceComponents


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
    components = VarianceComponents.of(n, degree, jackknife, pairs, first)
    assert (components.second, components.ratio) == pytest.approx((0.01, ratio), rel=1e-6, abs=1e-9)
    for size in (n, 100, 400):
        expected = by_hand(n, size, degree, first, ratio)
        found = components.variance(size), components.jackknife(size), components.pair_effects(size)
        assert found == pytest.approx(expected, rel=1e-6)
    assert components.first_at(400) == pytest.approx(first * n / 400)


def test_a_variance_falls_at_least_as_fast_as_that_of_a_mean():
    components = VarianceComponents.of(60, 30, 0.01, 0.008, 0.003)
    sizes = np.array([60, 100, 200, 1000])
    variances = np.array([components.variance(int(size)) for size in sizes])
    assert (variances[1:] <= variances[0] * 60 / sizes[1:]).all()
    reported = [components.reported(400, name) for name in ("midpoint", "jackknife")]
    assert components.variance(400) < reported[0] < reported[1]


def test_what_no_components_have_is_taken_for_the_nearest():
    assert VarianceComponents.of(40, 20, 1e-6, 1.0, 0.0).variance(400) > 0
    alone = VarianceComponents.of(40, 20, 1.0, 0.0, 2.0)
    assert (alone.first, alone.ratio) == (0.9, 0.0)


def test_what_errors_agree_on_by_hand():
    nan = math.nan
    losses = np.array([[nan, 1, 0, 1], [0, nan, 1, 1.0], [nan, -1, 1, 0], [1, nan, -1, 0]])
    found = PairedLosses.of(losses)
    # 8 of 12 are not 0; the products of tested pairs are 0, 1, -1, 0.
    assert (found.mean_square, found.agreement) == (8 / 12, 0.0)
    assert PairedLosses.of(np.where(np.isnan(losses), nan, 1.0)).agreement == 1
    none = PairedLosses.of(0 * losses)
    assert math.isnan(none.agreement)
    assert PairedLosses.mean([none, none]) == none
    mean = PairedLosses.mean([none, PairedLosses(0.2, 0.5), PairedLosses(0.1, 0.2)])
    assert (mean.mean_square, mean.agreement) == pytest.approx((0.1, 0.4))


@pytest.mark.parametrize("n_pilots", [1, 1000])
def test_many_pilots_leave_little_to_what_is_usual(n_pilots):
    errors = PairedLosses(0.2, 0.1)
    typical = errors.typical(20)
    evidence = PilotEvidence(
        40, 20, 2 * typical.jackknife(40), 2 * typical.pair_effects(40), 20, 0.1, n_pilots
    )
    components, error = shrunk(evidence, errors)
    ratio = components.jackknife(40) / typical.jackknife(40)
    share = 40 * n_pilots / (40 * n_pilots + 50)
    assert ratio == pytest.approx(2**share)
    assert 0.1 <= error < 0.4


def test_a_pilot_that_leaves_much_to_single_observations_is_believed():
    errors = PairedLosses(0.2, 0.1)
    evidence = PilotEvidence(40, 20, 0.02, 0.001, 20, 0.1)
    assert shrunk(evidence, errors)[0].first == pytest.approx(0.018)
    assert shrunk(PilotEvidence(40, 20, -0.01, 0.001, 20, 0.1), errors)[0].variance(400) > 0


def test_differences_of_other_losses_have_a_usual_share_of_their_mean_square():
    paired_losses = PairedLosses(2.0, 0.25)
    typical = paired_losses.typical(20, jumps=False)
    assert typical.jackknife(40) == pytest.approx(0.8 * 2 / 40)
    assert typical.pair_effects(40) == pytest.approx(0.45 * 0.75 * 2 / 40)
    assert typical.first_at(40) == pytest.approx(SMOOTH * typical.jackknife(40))
    twice = PilotEvidence(40, 20, 2 * typical.jackknife(40), typical.pair_effects(40), 20, 0.1)
    components, _ = shrunk(twice, paired_losses, jumps=False)
    assert components.jackknife(40) == pytest.approx(2 ** (40 / 90) * typical.jackknife(40))
    assert components.pair_effects(40) == pytest.approx(typical.pair_effects(40))
    # Single observations have what pairs leave of both averages, and no less than is usual.
    assert components.first == pytest.approx(
        max(
            components.jackknife(40) - 2 * components.pair_effects(40),
            SMOOTH * components.jackknife(40),
        )
    )
    alone = PilotEvidence(40, 20, typical.jackknife(40), 0.0, 20, 0.1)
    assert shrunk(alone, paired_losses, jumps=False)[0].first > SMOOTH * typical.jackknife(40)
    assert (
        shrunk(PilotEvidence(40, 20, -1.0, -1.0, 4, 1.0), paired_losses, jumps=False)[0].variance(
            400
        )
        > 0
    )


@pytest.mark.parametrize("least", [SMOOTH, STEPS])
def test_what_is_not_helped_goes_by_the_pilot_alone(least):
    evidence = PilotEvidence(40, 20, 0.02, 0.016, 20, 0.1)
    components, error = unshrunk(evidence, least)
    assert error > evidence.log_error
    assert components.first == pytest.approx(least * components.jackknife(40))
    assert components.jackknife(40) == pytest.approx(0.02 * math.exp(0.1))
    assert components.pair_effects(40) == pytest.approx(0.016 * math.exp(0.1))
