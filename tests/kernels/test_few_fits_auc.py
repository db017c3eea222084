"""The variance of an AUC from few fits: placements by class in the place of losses."""

import numpy as np
import pytest

from tests.oracles.few_fits_auc import few_fits_of_auc
from ucvtest.kernels.auc_ustatistic.few_fits import PlacedRounds


@pytest.mark.parametrize(("sizes", "n_rounds"), [((9, 12), 5), ((8, 8), 4)])
@pytest.mark.parametrize("two", [False, True])
def test_equals_the_sums_written_out(sizes, n_rounds, two):
    rng = np.random.default_rng(sum(sizes) + two)
    n = sum(sizes)
    members = [np.arange(sizes[0]), np.arange(sizes[0], n)]
    learning = np.zeros((n_rounds, 2, n), dtype=bool)
    for of_round in learning:
        for each in members:
            order, g = rng.permutation(each), len(each) // 2 - 1
            of_round[0, order[:g]] = of_round[1, order[g : 2 * g]] = True
    # Rounded, so that there are ties.
    first, other = np.round(rng.normal(size=(2, n_rounds, 2, n)) + (np.arange(n) < sizes[0]), 1)
    scores = {1: first, -1: other} if two else {1: first}
    rounds = [[set(np.flatnonzero(one)) for one in pair] for pair in learning]
    estimate, variance, noise, df, spread = few_fits_of_auc(scores, rounds, members)
    found = PlacedRounds.of(first, learning, members)
    if two:
        found = found.plus(PlacedRounds.of(other, learning, members).weighted(-1.0))
    found = found.estimate()
    assert found.mean == pytest.approx(estimate, rel=1e-12)
    assert found.variance == pytest.approx(variance, rel=1e-10)
    assert found.noise == pytest.approx(noise, rel=1e-10)
    assert found.df == pytest.approx(df, rel=1e-10)
    assert found.spread == pytest.approx(spread, rel=1e-10)
