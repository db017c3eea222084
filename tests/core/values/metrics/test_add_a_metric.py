"""A new metric is one row of the table, and one row of tests: here three that are not offered."""

import inspect

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.metrics.named import ERROR, POSITIVE, SMOOTH, of_moments, of_table
from ucvtest.metrics.ranges import range_of
from ucvtest.metrics.survival import KNOWN, concordance


def informedness(table):
    (tn, fp), (fn, tp) = table
    negative, positive = (tn + fp) ** 2, (tp + fn) ** 2
    gradient = np.array([[fp / negative, -tn / negative], [-tp / positive, fn / positive]])
    return tn / (tn + fp) + tp / (tp + fn) - 1, gradient


def sizes(y, p):
    return np.stack([np.abs(y - p), np.abs(y) + np.abs(p)], axis=-1)


def share(c):
    return c[..., 0] / c[..., 1]


ROWS = [
    of_table("of_both", "informedness of both classes", informedness, (-1.0, 1.0)),
    of_moments("smape", "symmetric percentage error", sizes, share, POSITIVE, "log", **ERROR),
    concordance("between", "concordance with weights 1/G", None, KNOWN, -1),
]

Y, A = np.array([0, 0, 0, 1, 1, 1, 1, 0]), np.array([0, 1, 0, 1, 1, 0, 1, 0])
AMOUNTS = np.array([1.0, 2.0, 4.0, 3.0])
TIMES = uv.survival([5, 8, 3, 9, 4, 7], [1, 0, 1, 1, 0, 1])
RISKS = np.array([4, 2, 3, 1, 5, 6])
# Censored at 4 is one of five, so that pairs of later events have the weight 1 / (4 / 5).
BETWEEN = (2 + 1.25 * 2 + 1.25 * 2) / (5 + 1.25 * 3 + 1.25 * 2)
EXPECTED = {
    "of_both": (Y, A, Y, 3 / 4 + 3 / 4 - 1, (-1, 1), "higher"),
    "smape": (AMOUNTS, AMOUNTS[::-1], AMOUNTS, 8 / 20, (0, np.inf), "lower"),
    "between": (TIMES, RISKS, -TIMES.time, BETWEEN, (0, 1), "higher"),
}


@pytest.mark.parametrize("metric", ROWS, ids=lambda metric: metric.name)
def test_a_metric_is_one_row(monkeypatch, metric):
    y, a, right, value, limits, better = EXPECTED[metric.name]
    with pytest.raises(ValueError, match=f"'{metric.name}' is unknown"):
        uv.Losses.from_predictions(y, {"a": a}, metric=metric.name)
    monkeypatch.setitem(SMOOTH, metric.name, metric)
    losses = uv.Losses.from_predictions(y, {"a": a, "right": right}, metric=metric.name)
    result = uv.HoldOutTest.from_losses(losses, "a").fit()
    assert result.estimate == pytest.approx(value, rel=1e-12)
    assert metric.estimand in result.summary().as_text()
    assert range_of(metric) == limits
    assert uv.HoldOutTest.from_losses(losses, "a", "right").fit().better == better


def test_a_row_costs_a_line_and_its_function():
    lines = inspect.getsource(inspect.getmodule(sizes)).splitlines()
    start = lines.index("ROWS = [")
    assert lines.index("]", start) - start - 1 == len(ROWS)
    functions = (informedness, sizes, share)
    assert sum(len(inspect.getsource(each).splitlines()) for each in functions) <= 6 * len(ROWS)
