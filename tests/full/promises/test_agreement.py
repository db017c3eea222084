"""The p-value is at most alpha exactly when the interval leaves out the null value."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ucvtest as uv
from tests.core.promises.test_tests import CASES, GIVEN, X, Y, losses_for
from tests.support.cells import repeated
from ucvtest.losses.linearised import resample_means
from ucvtest.results.fields import method_interval

pytestmark = pytest.mark.seconds(20, reason="p-values and intervals of many tables")

WITHOUT_INTERVAL = {name for name, cls in CASES.items() if "interval" in cls.needs.without}
ON_LOSSES = [name for name, cls in CASES.items() if "losses" not in cls.needs.without]
N_TABLES, MOST_TABLES = repeated(160), 160
"""Of each class: with an answer, and drawn for them."""


def shuffled(losses: uv.Losses, rng: np.random.Generator) -> uv.Losses:
    """The same losses at other places: how often learners differ is random too."""
    moved = rng.uniform(size=losses.values.shape) < rng.uniform()
    values = np.where(moved, rng.permuted(losses.values, axis=1), losses.values)
    if losses.loss == "auc":
        return replace(losses, values=values)
    return replace(losses, values=values, means=resample_means(values, losses.design))


@pytest.mark.parametrize("name", ON_LOSSES)
@pytest.mark.filterwarnings("ignore::ucvtest.UcvtestWarning")
def test_pvalue_and_interval_agree(name):
    cls: Any = CASES[name]
    rng = np.random.default_rng(len(name))
    losses = losses_for(name)
    n_checked = 0
    for _ in range(MOST_TABLES):
        if n_checked >= 4 * N_TABLES:
            break
        one_sided = "alternative" not in cls.needs.without
        side = rng.choice(["two-sided", "less", "greater"]) if one_sided else "two-sided"
        options = {} if name == "leave_pair_out" else {"alternative": str(side)}
        result = cls.from_losses(shuffled(losses, rng), **options).fit(**GIVEN.get(name, {}))
        low, high = _shown(result, 0.05)
        if name in WITHOUT_INTERVAL or math.isnan(result.pvalue) or math.isnan(low):
            assert math.isnan(low) or result.status != "ok" or result.posterior is not None
            continue
        assert result.conf_int(0.05) == (low, high)
        for alpha in (result.pvalue * (1 - 1e-6), result.pvalue * (1 + 1e-6), 0.05, rng.uniform()):
            if 0 < alpha < 1:
                low, high = result.conf_int(alpha)
                outside = not low <= result.null_value <= high
                assert (result.pvalue <= alpha) == outside, (result, alpha)
                n_checked += 1
    assert n_checked > 0 or name in WITHOUT_INTERVAL


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(
    ("loss", "rule"),
    [
        ("zero_one", "plus_four"),
        ("zero_one", "stabilised"),
        ("zero_one", "wald"),
        ("log", "hall"),
        ("squared", "hall"),
        ("squared", "hall_floor"),
        ("absolute", "hall_floor"),
    ],
)
def test_intervals_of_one_learner_agree(loss, rule, side):
    rng = np.random.default_rng(3)
    target = Y.astype(float) if loss in ("squared", "absolute") else Y
    learner = "ridge:1.0" if loss in ("squared", "absolute") else "lda"
    losses = uv.evaluate(learner, X, target, uv.designs.DisjointSets(20, 300), loss, rng=0)
    observation = np.nonzero(losses.design.testing)[1]
    n_checked = 0
    for _ in range(repeated(40)):
        # Other losses of some observations, in all resamples: skewed, and with few errors too.
        weight = np.where(rng.uniform(size=len(Y)) < rng.uniform(), 0.0, rng.lognormal(size=len(Y)))
        weight = (weight > 0) * 1.0 if loss == "zero_one" else weight
        values = losses.values * weight[observation]
        moved = replace(losses, values=values, means=resample_means(values, losses.design))
        null = float(moved.values.mean() * rng.uniform(0.5, 1.8))
        test = uv.UStatisticTest.from_losses(moved, null_value=null, alternative=side)
        result = test.fit(variance="jackknife", interval=rule)
        if math.isnan(result.pvalue):
            assert result.status != "ok"
            continue
        assert result.diagnostics["interval"] == rule
        for alpha in (result.pvalue * (1 - 1e-6), result.pvalue * (1 + 1e-6), 0.05, rng.uniform()):
            if 0 < alpha < 1:
                low, high = result.conf_int(alpha)
                assert low <= result.estimate <= high or (side != "two-sided" and alpha > 0.5)
                left_out = not low <= null <= high
                ends = method_interval(result, alpha)
                assert (result.pvalue <= alpha) == (not ends[0] <= null <= ends[1]), (result, alpha)
                # Only an interval that would leave out its own estimate reaches further.
                assert left_out == (result.pvalue <= alpha) or (
                    not ends[0] <= result.estimate <= ends[1]
                )
                n_checked += 1
    assert n_checked > repeated(40) / 2


def _shown(result: uv.TestResult, alpha: float) -> tuple[float, float]:
    frame = result.summary_frame(alpha)
    return float(frame["conf_low"].iloc[0]), float(frame["conf_high"].iloc[0])
