"""Pair effects by tiles, from sums of pairs or from rows, against n x n arrays."""

import numpy as np
import pytest

from ucvtest.designs.draws import draw_from_halves
from ucvtest.kernels.ustatistic.accumulator import Accumulator
from ucvtest.kernels.ustatistic.monte_carlo_groups import DealtSets, Draws
from ucvtest.kernels.ustatistic.pair_effects import PairEffects, ResidualRows


def draws_of(n: int, n_draws: int, *, errors: bool) -> Draws:
    rng = np.random.default_rng(n)
    sets = draw_from_halves(rng, n_draws, 1, n, n // 2 - 1)
    losses = [rng.normal(size=learning.shape) for learning in sets]
    if errors:
        losses = [np.sign(values).round() * (np.abs(values) > 1) for values in losses]
    first, second = (np.where(learning, 0.0, d) for learning, d in zip(sets, losses, strict=True))
    return first, second, *sets


# Fewer observations than a tile, several tiles, and groups with more sets than a product adds up.
@pytest.mark.parametrize(("n", "n_draws"), [(20, 40), (150, 100), (70, 2200)])
@pytest.mark.parametrize("errors", [False, True])
def test_rows_give_what_sums_of_pairs_give(n: int, n_draws: int, errors: bool) -> None:
    draws = draws_of(n, n_draws, errors=errors)
    found = []
    for at_once in (False, True):
        known: dict[tuple[int, int], DealtSets] = {}
        sums = Accumulator(
            n, n // 2 - 1, disjoint=True, n_draws=n_draws, at_once=at_once, known=known
        )
        sums.add(draws)
        found.append(sums)
    stored, by_rows = (sums.estimates() for sums in found)
    assert found[1].sums().rows is not None
    assert "joint" not in found[1].sums().totals
    assert set(stored.values) == set(by_rows.values)
    for name, value in stored.values.items():
        np.testing.assert_allclose(by_rows.values[name], value, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(by_rows.mc_se[name], stored.mc_se[name], rtol=1e-9, atol=1e-14)
    # Zeros of the diagonal apart, tau is what it is by definition.
    first, second = (sums.sums().pair_effects() for sums in found)
    np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-12)


def test_tiles_and_strips_are_parts_of_whole_arrays() -> None:
    rng = np.random.default_rng(0)
    n_groups, n_sets, n = 3, 130, 100
    rows = ResidualRows(*rng.normal(size=(2, n_groups, n_sets, n)))
    effects, constant = rng.normal(size=(n_groups, n)), rng.normal(size=n_groups)
    joint = np.einsum("ksi,ksj->kij", rows.learnt, rows.residuals)
    tau = joint + joint.transpose(0, 2, 1) - effects[:, :, None] - effects[:, None, :]
    tau -= constant[:, None, None]
    tau[:, np.arange(n), np.arange(n)] = 0.0
    pair_effects = PairEffects(rows.tile, effects, constant)
    np.testing.assert_allclose(np.concatenate([*pair_effects.strips()], axis=1), tau, atol=1e-12)
    np.testing.assert_allclose(pair_effects.products, np.einsum("kij,lij->kl", tau, tau))
