"""Plans for metrics that are functions of means."""

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

import ucvtest as uv

rng = np.random.default_rng(0)
Y = rng.integers(0, 2, 120)
RULES = {
    name: np.where(rng.random(120) < share, 1 - Y, Y)
    for name, share in zip("ab", (0.2, 0.3), strict=True)
}
NUMBERS = rng.normal(size=80)
FITTED = NUMBERS + 0.5 * rng.normal(size=80)


@pytest.mark.parametrize("metric", ["f1", "mcc", "r2", "rmse"])
def test_widths_of_one_rule_are_those_of_its_interval(metric):
    labels = metric in ("f1", "mcc")
    y, rule = (Y, RULES["a"]) if labels else (NUMBERS, FITTED)
    losses = uv.Losses.from_predictions(y, {"rule": rule}, metric=metric)
    low, high = uv.HoldOutTest.from_losses(losses).fit().conf_int()
    found = uv.plan(losses, width=0.1, n=[len(y), 400])
    width, of_more = found.columns["width"]
    assert width == pytest.approx(high - low, rel=1e-12)
    assert of_more < width * np.sqrt(len(y) / 400)
    assert found.estimate == pytest.approx(losses.values.mean())


def test_two_rules_by_the_t_test_of_linearised_values():
    losses = uv.Losses.from_predictions(Y, RULES, metric="f1")
    found = uv.plan(losses, difference=0.1, n=[120, 500])
    values = losses.values[0] - losses.values[1]
    effect = 0.1 / values.std(ddof=1)
    expected = [TTestPower().power(effect, n, 0.05) for n in (120, 500)]
    np.testing.assert_allclose(found.columns["power"], expected, rtol=1e-12)
    low, high = uv.HoldOutTest.from_losses(losses).fit().conf_int()
    assert found.columns["width"][0] == pytest.approx(high - low, rel=1e-12)
    again = uv.plan(losses.about("mcc"), metric="f1", difference=0.1, n=[120, 500])
    assert again.n_needed == found.n_needed


def test_what_cannot_be_planned_is_refused():
    none = uv.Losses.from_predictions(Y, {"rule": np.zeros(120, int)}, metric="precision")
    with pytest.raises(ValueError, match=r"precision is 0/0 in the pilot.*another metric"):
        uv.plan(none, width=0.1)
    flat = uv.Losses.from_predictions(np.full(80, 2.5), {"rule": FITTED}, metric="r2")
    with pytest.raises(ValueError, match="R2 is 0/0 in the pilot, because the response or the p"):
        uv.plan(flat, width=0.1)
    losses = uv.Losses.from_predictions(Y, RULES, metric="f1")
    with pytest.raises(ValueError, match="difference must be below 1"):
        uv.plan(losses, difference=1.2)
    with pytest.raises(ValueError, match="loss and metric exclude each other"):
        uv.plan(np.zeros((40, 1)), Y[:40], "lda", loss="zero_one", metric="f1", width=0.1)
