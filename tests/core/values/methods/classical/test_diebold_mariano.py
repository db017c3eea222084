import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit

import ucvtest as uv
from tests.support.paths import ROOT

REFERENCE = json.loads((ROOT / "tests" / "oracles" / "diebold_mariano.json").read_text())["rows"]


def series(n, seed):
    """As in tests/oracles/diebold_mariano.R."""
    state, noise = seed, []
    for _ in range(n + 3):
        state = 16807 * state % 2147483647
        noise.append(state / 2147483647 - 0.5)
    noise = np.array(noise)
    return noise[3:] + 0.6 * noise[2:-1] + 0.4 * noise[1:-2]


def of_errors(n, power=2):
    loss = {1: "absolute", 2: "squared"}[power]
    errors = {"a": series(n, 7), "b": 1.2 * series(n, 11) + 0.05}
    return uv.Losses.from_predictions(np.zeros(n), errors, loss=loss)


@pytest.mark.parametrize("n", [12, 40, 150])
@pytest.mark.parametrize("power", [1, 2])
def test_numbers_are_those_of_forecast_dm_test(n, power):
    losses = of_errors(n, power)
    rows = [row for row in REFERENCE if (row["n"], row["power"]) == (n, power)]
    assert len(rows) == 18
    for row in rows:
        test = uv.DieboldMarianoTest.from_losses(
            losses, "a", "b", alternative=row["side"].replace(".", "-")
        )
        found = test.fit(horizon=row["h"], variance=row["weights"])
        assert found.statistic == pytest.approx(row["statistic"], rel=1e-9)
        assert found.pvalue == pytest.approx(row["pvalue"], rel=1e-8)


def of_differences(values):
    return uv.Losses.from_predictions(
        np.zeros(len(values)), {"a": values, "b": np.zeros(len(values))}, loss="absolute"
    )


def test_a_negative_variance_is_no_answer():
    differences = 2 + np.array([1.0, -1.0] * 10) + np.linspace(0, 0.1, 20)
    # gamma_1 is nearly -gamma_0, so that gamma_0 + 2 gamma_1 is negative.
    moved = differences - differences.mean()
    expected = (moved @ moved + 2 * moved[1:] @ moved[:-1]) / 400
    test = uv.DieboldMarianoTest.from_losses(of_differences(differences), "a", "b")
    found = test.fit(2)
    assert f"the variance for horizon 2 is negative ({expected:.3g})" in found.status
    assert "as groups of uv.HoldOutTest" in found.status
    assert np.isnan([found.pvalue, found.statistic]).all()
    assert found.estimate == pytest.approx(differences.mean())
    assert test.fit(2, variance="bartlett").status == test.fit(1).status == "ok"


def test_a_horizon_above_a_third_of_the_rows_is_no_answer():
    test = uv.DieboldMarianoTest.from_losses(of_errors(30), "a", "b")
    assert test.fit(10, variance="bartlett").status == "ok"
    for horizon, variance in (11, "bartlett"), (29, "acf"):
        found = test.fit(horizon, variance=variance)
        assert f"test {3 * horizon} rows or more" in found.status
        assert np.isnan([found.pvalue, found.se]).all()


def test_a_constant_difference_is_not_a_negative_variance():
    found = uv.DieboldMarianoTest.from_losses(of_differences(np.full(20, 0.1)), "a", "b").fit(3)
    assert found.status.startswith("degenerate")


def test_learners_are_fitted_to_the_past():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 0.5, 0.0] + rng.normal(size=60)
    splits = TimeSeriesSplit(5)
    found = uv.DieboldMarianoTest(X, y, Ridge(0.1), Ridge(1e4), cv=splits).fit(2, rng=0)
    first, second = (
        np.concatenate(
            [(y[te] - Ridge(a).fit(X[tr], y[tr]).predict(X[te])) ** 2 for tr, te in splits.split(X)]
        )
        for a in (0.1, 1e4)
    )
    assert found.estimate == pytest.approx((first - second).mean())
    default = uv.DieboldMarianoTest(X, y, "ridge:0.1", "ridge:10000").fit()
    assert default.diagnostics["n_tested"] == 20


MONTHS = pd.date_range("2020-01-31", periods=40, freq="ME")
DATES = {
    "": [MONTHS, MONTHS.to_period("M"), pd.Index(list(MONTHS.date)), np.arange(40)[::-1]],
    "trading days": [pd.DatetimeIndex(list(pd.bdate_range("2020-01-01", periods=40)))],
    "are not in the order of their dates": [
        MONTHS[::-1],
        MONTHS.to_period("M")[::-1],
        pd.Index(list(MONTHS.date[::-1])),
        MONTHS[::-1].astype(str),
    ],
    "have a date more than once": [MONTHS[:20].append(MONTHS[:20])],
    "leave out dates": [
        MONTHS.append(MONTHS[-1:] + pd.DateOffset(years=2))[1:],
        MONTHS[:39].append(MONTHS[-1:] + pd.DateOffset(years=2)).to_period("M"),
    ],
}


@pytest.mark.parametrize(
    ("fault", "names"), [(fault, each) for fault, several in DATES.items() for each in several]
)
def test_dates_of_rows_have_to_be_the_steps_of_one_series(fault, names):
    y, error = pd.Series(series(40, 3), names), series(40, 7)
    losses = uv.Losses.from_predictions(y, {"a": y + error, "b": 0 * y}, loss="squared")
    X = pd.DataFrame({"x": error}, names)
    for call in (
        lambda: uv.DieboldMarianoTest.from_losses(losses).fit(),
        lambda: uv.DieboldMarianoTest(X, y, "ridge:1", "ridge:9"),
    ):
        if fault in ("", "trading days"):
            call()
        else:
            with pytest.raises(ValueError, match=f"rows {fault}"):
                call()
    # Other tests do not ask for an order.
    uv.HoldOutTest.from_losses(losses).fit()


def test_the_last_rows_are_held_out():
    drawn = uv.designs.HoldOut(0.25, shuffle=False).draw(8, np.random.default_rng(0))
    assert np.flatnonzero(drawn.testing[0]).tolist() == [6, 7]
