"""Survival metrics pair by pair, their linearised values, names, and what leaves them no value."""

import math

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from tests.oracles import survival as oracle
from ucvtest.metrics import pairs_in_sets
from ucvtest.metrics.named import named_smooth_metric

N = 40


def draw(seed: int, decimals: int, n: int = N) -> tuple[uv.survival, np.ndarray]:
    """Survival times and risks with ties, fewer with more decimals."""
    rng = np.random.default_rng(seed)
    risk = np.round(rng.normal(size=n), decimals)
    time = np.round(rng.exponential(5 * np.exp(-risk)), decimals)
    return uv.survival(time, rng.random(n) < 0.6), risk


def lists(times):
    return times.time.tolist(), times.event.tolist()


def linearised(metric, times, risk, fold=None):
    return metric.made_for(()).values(times, risk, fold)


@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("uno", [False, True])
@pytest.mark.parametrize("tau", [None, 4.0])
def test_concordance_is_that_of_all_pairs_and_its_derivative(decimals, uno, tau):
    times, risk = draw(decimals, decimals)
    found = linearised((uv.metrics.uno if uno else uv.metrics.harrell)(tau), times, risk)
    end = math.inf if tau is None else tau

    def value(weights):
        return oracle.concordance(*lists(times), risk, weights, uno=uno, tau=end)

    assert found.mean() == pytest.approx(value([1.0] * N), rel=1e-12)
    assert found - found.mean() == pytest.approx(oracle.derivatives(value, N), abs=1e-8)


@pytest.mark.parametrize("uno", [False, True])
def test_pairs_are_within_folds(uno):
    times, risk = draw(3, 1)
    fold = np.arange(N) % 4
    metric = uv.metrics.uno() if uno else uv.metrics.harrell()

    def value(weights):
        return oracle.concordance(*lists(times), risk, weights, uno=uno, fold=fold)

    found = linearised(metric, times, risk, fold)
    assert found.mean() == pytest.approx(value([1.0] * N), rel=1e-12)
    assert found - found.mean() == pytest.approx(oracle.derivatives(value, N), abs=1e-8)
    area = linearised(uv.metrics.auc(3), times, risk, fold)
    assert area.mean() == pytest.approx(oracle.auc(*lists(times), risk, 3, fold), rel=1e-12)
    brier = uv.metrics.brier(3)
    assert (linearised(brier, times, abs(risk), fold) == linearised(brier, times, abs(risk))).all()


@pytest.mark.parametrize("decimals", [0, 1, 9])
@pytest.mark.parametrize("at", [0.5, 3.0])
def test_values_at_a_time_are_the_papers(decimals, at):
    times, risk = draw(10 + decimals, decimals)
    area = linearised(uv.metrics.auc(at), times, risk)
    assert area.mean() == pytest.approx(oracle.auc(*lists(times), risk, at), rel=1e-12)
    probability = 1 / (1 + np.exp(-risk))
    found = linearised(uv.metrics.brier(at), times, probability)
    expected = oracle.linearised_brier(*lists(times), probability, at)
    assert found == pytest.approx(expected, abs=1e-12)
    assert found.mean() == pytest.approx(
        np.mean(oracle.errors(*lists(times), probability, at)), rel=1e-12
    )


def test_integrated_brier_is_the_trapezoid_of_brier_scores():
    times, risk = draw(20, 1)
    grid, columns = [1.0, 2.0, 4.5], np.stack([1 / (1 + np.exp(-risk - k)) for k in range(3)], 1)
    scores = [
        np.mean(oracle.errors(*lists(times), column, at))
        for column, at in zip(columns.T, grid, strict=True)
    ]
    found = linearised(uv.metrics.integrated_brier(np.array(grid)), times, columns)
    assert found.mean() == pytest.approx(np.trapezoid(scores, grid) / 3.5, rel=1e-12)


def test_columns_and_rows_named_by_times_are_taken_by_name():
    times, risk = draw(3, 1, 3)
    metric, grid = uv.metrics.integrated_brier([1, 2, 4.5]), [1.0, 2.0, 4.5]
    columns = np.stack([1 / (1 + np.exp(-risk - k)) for k in range(3)], 1)

    def value(table):
        return uv.Losses.from_predictions(times, {"a": table}, metric=metric).means[0, 0]

    expected = value(columns)
    named = pd.DataFrame(columns, columns=grid)
    for table in (pd.DataFrame(columns), named, named[[4.5, 1.0, 2.0]]):
        assert value(table) == expected
    assert value(named.set_axis(["1", "2", "4.5"], axis=1)[["4.5", "2", "1"]]) == expected
    # As many times as patients.


def test_without_censoring_they_are_means_and_areas():
    times, risk = draw(21, 9)
    times = uv.survival(times.time, np.ones(N))
    probability = 1 / (1 + np.exp(-risk))
    by_then = times.time <= 3
    found = linearised(uv.metrics.brier(3), times, probability)
    assert found == pytest.approx((by_then - probability) ** 2, rel=1e-12)
    area = uv.Losses.from_predictions(by_then * 1, {"a": risk}, loss="auc").means[0, 0]
    assert linearised(uv.metrics.auc(3), times, risk).mean() == pytest.approx(area, rel=1e-12)
    unweighted = linearised(uv.metrics.harrell(), times, risk)
    assert (linearised(uv.metrics.uno(), times, risk) == unweighted).all()


def test_many_rows_are_compared_as_few_are(monkeypatch):
    times, risk = draw(22, 0, 200)
    expected = linearised(uv.metrics.uno(), times, risk)
    monkeypatch.setattr(pairs_in_sets, "LARGE", 1)
    for chunk in (1, 7, 64):
        monkeypatch.setattr(pairs_in_sets, "CHUNK", chunk)
        assert linearised(uv.metrics.uno(), times, risk) == pytest.approx(expected, rel=1e-12)


NAMES = {
    "harrell": uv.metrics.harrell(),
    "harrell(365)": uv.metrics.harrell(365),
    "uno": uv.metrics.uno(),
    "uno(2.5)": uv.metrics.uno(2.5),
    "auc(5)": uv.metrics.auc(at=5),
    "brier(5)": uv.metrics.brier(at=5),
    "integrated_brier(1,2.5,4)": uv.metrics.integrated_brier([1, 2.5, 4]),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read_again(name):
    metric, found = NAMES[name], named_smooth_metric(name)
    assert metric.name == found.name == name
    for declared in ("times", "compares_pairs", "output", "of_survival"):
        assert getattr(found, declared) == getattr(metric, declared)
