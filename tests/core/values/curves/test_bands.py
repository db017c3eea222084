"""Standard errors and intervals are those of the rules, row by row, and answer at the edges."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ucvtest as uv
from tests.oracles import curves as oracle

N = 24
ROWS = np.arange(N)
CLUSTERS = ROWS // 3 % 7
GRID = (0.2, 0.45, 0.7)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    y = (ROWS % 3 == 0).astype(int)
    first, second = 1 / (1 + np.exp(-1.5 * y + rng.normal(size=(2, N)) + 0.7))
    return y, first, second


CURVES = {
    "sensitivity": (uv.curves.roc, lambda q: oracle.SENSITIVITY, lambda q: 0.0),
    "specificity": (uv.curves.roc, lambda q: oracle.SPECIFICITY, lambda q: 0.0),
    "precision": (uv.curves.precision_recall, lambda q: oracle.PRECISION, lambda q: 0.0),
    "net benefit": (uv.curves.decision, oracle.net_benefit, lambda q: -q / (1 - q)),
}


@pytest.mark.parametrize("groups", [ROWS, CLUSTERS], ids=["rows", "clusters"])
@pytest.mark.parametrize("name", CURVES)
def test_intervals_are_those_of_the_rules(data, name, groups):
    y, first, second = data
    make, metric_at, least_at = CURVES[name]
    curve = make(y, {"a": first, "b": second}, groups=groups, thresholds=GRID)
    for k, q in enumerate(GRID):
        flagged = np.array([first >= q, second >= q], dtype=int)
        metric, least = metric_at(q), least_at(q)
        for learner, rows in (("a", flagged[:1]), ("b", flagged[1:])):
            band = curve.band(learner, name)
            ends = oracle.interval(metric, y, rows, groups, least=least)
            np.testing.assert_allclose((band.low[k], band.high[k]), ends, atol=2e-8)
            values = oracle.influence(metric, y, rows, np.ones(N))
            se = np.sqrt(oracle.variance(values, groups))
            assert band.se[k] == pytest.approx(se, abs=1e-8)
        band, both = curve.band("difference", name), oracle.difference(metric)
        ends = oracle.interval(both, y, flagged, groups, least=least - 1, most=1 - least)
        np.testing.assert_allclose((band.low[k], band.high[k]), ends, atol=2e-8)


def test_a_bin_is_the_precision_of_predicting_it(data):
    y, first, _ = data
    band = uv.curves.calibration(y, {"a": first}, bins=[0, 0.4, 1], groups=CLUSTERS).band()
    for k, inside in enumerate((first <= 0.4, first > 0.4)):
        rows = inside.astype(int)[None]
        ends = oracle.interval(oracle.PRECISION, y, rows, CLUSTERS, least=0.0)
        np.testing.assert_allclose((band.low[k], band.high[k]), ends, atol=2e-8)


def test_clusters_of_one_row_are_none(data):
    y, first, second = data
    for make in (uv.curves.roc, uv.curves.precision_recall, uv.curves.decision):
        plain = make(y, {"a": first, "b": second})
        single = make(y, {"a": first, "b": second}, groups=ROWS)
        pd.testing.assert_frame_equal(plain.to_frame(), single.to_frame(), check_exact=True)


def test_the_critical_value_is_that_of_the_largest_error(data):
    """Of three thresholds: drawn here from influence values of rows, by other draws."""
    y, first, _ = data
    band = uv.curves.decision(y, {"a": first}, thresholds=GRID).band("a")
    rows = []
    for q in GRID:
        metric, flagged = oracle.net_benefit(q), (first >= q).astype(int)[None]
        values = oracle.influence(metric, y, flagged, np.ones(N))
        rows.append(values - values.mean())
    rng = np.random.default_rng(1)
    normal = rng.standard_normal((20_000, N)) @ np.array(rows).T / np.linalg.norm(rows, axis=1)
    spread = np.sqrt(rng.chisquare(N - 1, 20_000) / (N - 1))
    largest = np.quantile(np.abs(normal).max(axis=1) / spread, 0.95)
    z = stats.norm.isf(stats.t.sf(largest, N - 1))
    # What z^2/4 observations in each cell make of the interval.
    tp, fp = (np.array([np.sum((first >= q) & (y == k)) for q in GRID]) for k in (1, 0))
    odds, each = np.array(GRID) / (1 - np.array(GRID)), max(1, z**2 / 4)
    counts = np.stack([tp, fp, N - tp - fp])
    worth = np.stack([odds * 0 + 1, -odds, odds * 0])
    centre = ((counts * worth).sum(axis=0) + each * (1 - odds)) / (N + 4 * each)
    mean = (counts * worth).sum(axis=0) / N
    spread = N * (counts * (worth - mean) ** 2).sum(axis=0) / (N - 1) + N * (mean - centre) ** 2
    added = np.stack([worth[0], worth[1], worth[2], worth[2]])
    spread = spread + each * ((added - centre) ** 2).sum(axis=0)
    half = largest * np.sqrt(spread) / (N + 4 * each)
    np.testing.assert_allclose(band.high_all - band.low_all, 2 * half, rtol=0.02)
    np.testing.assert_allclose(band.high_all + band.low_all, 2 * centre, atol=0.01)


def test_intervals_answer_where_all_rows_agree():
    y = np.array([0] * 10 + [1] * 10)
    p = np.where(y == 1, 0.9, 0.1)
    curve = uv.curves.roc(y, {"a": p})
    for band in curve.bands:
        assert (band.se == 0).all()
        assert np.isfinite([band.low, band.high, band.low_all, band.high_all]).all()
        assert ((band.low_all >= 0) & (band.low_all <= band.low) & (band.low < band.high)).all()
        assert ((band.high_all <= 1) & (band.high <= band.high_all)).all()
    # Agresti and Coull's rule of ten in ten, with the two of the other class that nothing says.
    assert curve.band("a", "sensitivity").high[-1] == 1
    assert 0.6 < curve.band("a", "sensitivity").low[-1] < 0.8
    perfect = uv.curves.decision(y, {"a": p, "b": p})
    assert (perfect.band("difference").estimate == 0).all()
    assert (perfect.band("difference").low < 0).all()


def test_where_no_row_decides_the_estimate_is_missing_and_the_interval_wide():
    y, p = np.arange(12) % 2, np.linspace(0.1, 0.8, 12)
    curve = uv.curves.precision_recall(y, {"a": p}, thresholds=[0.05, 0.5, 0.95])
    band = curve.band("a", "precision")
    assert np.isnan(band.estimate).tolist() == [False, False, True]
    assert band.n.tolist() == [12, 5, 0]
    assert np.isfinite(band.low).all()
    assert band.high[-1] - band.low[-1] > 0.9
    # All rows are predicted to be positive at the lowest one.
    assert curve.band("a", "recall").estimate[0] == 1
    assert band.estimate[0] == 0.5
    empty = uv.curves.calibration(y, {"a": p}, bins=[0, 0.05, 0.5, 1]).band()
    assert np.isnan(empty.x).tolist() == np.isnan(empty.estimate).tolist() == [True, False, False]


def test_constant_predictions_and_two_clusters_answer():
    y = np.arange(12) % 2
    curve = uv.curves.roc(y, {"a": np.full(12, 0.3)}, groups=np.arange(12) // 6)
    assert curve.band().estimate.tolist() == [1.0]
    assert np.isfinite(curve.band().low).all()
    band = uv.curves.calibration(y, {"a": np.full(12, 0.3)}).band()
    assert band.estimate.tolist() == [0.5]


METRICS = {
    "sensitivity": (uv.curves.roc, "recall"),
    "specificity": (uv.curves.roc, "specificity"),
    "precision": (uv.curves.precision_recall, "precision"),
    "net benefit": (uv.curves.decision, "net_benefit(0.45)"),
}


@pytest.mark.parametrize("groups", [None, CLUSTERS], ids=["rows", "clusters"])
@pytest.mark.parametrize("name", METRICS)
def test_a_point_has_the_interval_of_its_metric(data, name, groups):
    """The same question asked of predicted labels, by the test of fixed rules."""
    y, first, second = data
    make, metric = METRICS[name]
    curve = make(y, {"a": first, "b": second}, groups=groups, thresholds=[0.45])
    labels = {"a": (first >= 0.45).astype(int), "b": (second >= 0.45).astype(int)}
    losses = uv.Losses.from_predictions(y, labels, metric=metric, groups=groups)
    weight = {} if groups is None else {"group_weight": "row"}
    for learner, names in (("a", ("a",)), ("difference", ("a", "b"))):
        band = curve.band(learner, name)
        found = uv.HoldOutTest.from_losses(losses, *names, **weight).fit()
        ends = found.estimate, *found.conf_int()
        np.testing.assert_allclose((band.estimate[0], band.low[0], band.high[0]), ends, atol=1e-12)
