"""Quantities of a loss are reported as what the same computation gives from the score itself."""

import numpy as np
import pytest
from scipy.stats import skew

from ucvtest.inference import quantity
from ucvtest.inference.finish import Reported
from ucvtest.metrics.base import Units
from ucvtest.results.fields import Posterior
from ucvtest.results.plot_data import Layer, Picture

FIRST, OTHER = np.random.default_rng(0).chisquare(2, size=(2, 30))
SCORES = (
    Units("score", 1.0, "mean score"),
    Units("neg", 0.0, "mean"),
    Units("cost", 0.0, "c", 3.0),
)
COMPUTED = {
    "value": lambda x, one: x.mean(),
    "of_one": lambda x, one: one.mean(),
    "change": lambda x, one: x[0] - x[1],
    "spread": lambda x, one: x.std(),
    "square": lambda x, one: x.var(),
    "second_moment": lambda x, one: (x.sum() ** 2 - (x**2).sum()) / (len(x) * (len(x) - 1)),
    "odd": lambda x, one: skew(x),
    "per_unit": lambda x, one: 1 / (x[0] - x[1]),
    "spread_per_unit": lambda x, one: abs(1 / (x[0] - x[1])),
}


@pytest.mark.parametrize("kind", COMPUTED)
@pytest.mark.parametrize("units", SCORES, ids=lambda each: each.name)
@pytest.mark.parametrize("paired", [False, True])
def test_numbers_are_those_of_the_score(kind, units, paired):
    losses = FIRST - OTHER if paired else FIRST
    first, other = units.of(FIRST), units.of(OTHER)
    scores = first - other if paired else first
    compute = COMPUTED[kind]
    marked = getattr(quantity, kind)(compute(losses, FIRST))
    reported = Reported(units, paired, losses.mean())
    assert reported.reported(marked) == pytest.approx(compute(scores, first))
    assert Reported(None, paired, losses.mean()).reported(marked) == marked.amount


def test_cells_and_pictures_turn_round():
    reported = Reported(SCORES[0], False, 0.3)
    table = {
        "name": ("a", "b"),
        "estimate": (quantity.value(0.25), quantity.square(2.0)),
        "mc_se": quantity.square((None, 4.0)),
        "conf_low": quantity.value((0.1, 0.2)),
        "conf_high": quantity.value((0.3, 0.4)),
    }
    shown = {name: reported.reported(cells) for name, cells in table.items()}
    reported.turn(shown)
    assert shown == {
        "name": ("a", "b"),
        "estimate": (0.75, 2.0),
        "mc_se": (None, 4.0),
        "conf_low": pytest.approx((0.7, 0.6)),
        "conf_high": pytest.approx((0.9, 0.8)),
    }
    layer = Layer("bars", (0.0, 0.25), (1.0, 2.0), width=0.5)
    (turned,) = reported.reported(quantity.value(Picture("x", "y", (layer,)))).layers
    assert (turned.x.tolist(), turned.y.tolist(), turned.width) == ([0.75, 1.0], [2.0, 1.0], 0.5)
    posterior = reported.posterior(Posterior(0.1, 0.2, 0.7, 0.05, 0.4))
    assert posterior == Posterior(0.7, 0.2, 0.1, 0.05, 0.6)
