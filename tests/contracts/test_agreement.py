"""The p-value is at most alpha exactly when the interval leaves out the null value."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ucvtest as uv
from tests.contracts.test_tests import CASES, GIVEN, losses_for
from ucvtest.inference.from_losses import FromLosses
from ucvtest.losses.means import resample_means

WITHOUT_INTERVAL = {"five_by_two_f", "leave_pair_out"}
ON_LOSSES = [name for name, cls in CASES.items() if issubclass(cls, FromLosses)]
N_TABLES = 160
"""Of each class: more than 2000 in all."""


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
    for _ in range(N_TABLES):
        side = (
            "two-sided"
            if name in WITHOUT_INTERVAL
            else rng.choice(["two-sided", "less", "greater"])
        )
        options = {} if name == "leave_pair_out" else {"alternative": str(side)}
        result = cls.from_losses(shuffled(losses, rng), **options).fit(**GIVEN.get(name, {}))
        low, high = _interval(result, 0.05)
        if name in WITHOUT_INTERVAL or math.isnan(result.pvalue) or math.isnan(low):
            assert math.isnan(low) or result.status != "ok" or result.posterior is not None
            continue
        for alpha in (result.pvalue * (1 - 1e-6), result.pvalue * (1 + 1e-6), 0.05, rng.uniform()):
            if 0 < alpha < 1:
                low, high = _interval(result, alpha)
                outside = not low <= result.null_value <= high
                assert (result.pvalue <= alpha) == outside, (result, alpha)
                n_checked += 1
    assert n_checked > 0 or name in WITHOUT_INTERVAL or name == "bayesian_t"


def _interval(result: uv.TestResult, alpha: float) -> tuple[float, float]:
    frame = result.summary_frame(alpha)
    return float(frame["conf_low"].iloc[0]), float(frame["conf_high"].iloc[0])
