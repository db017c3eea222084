"""Rules behind p-values and intervals: what holds of every pivot and count, and a scale more."""

import inspect
import json
import math

import numpy as np
import pytest

from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.interval_rules import KINDS, ChangedUnits, rule_from_dict, rule_to_dict
from ucvtest.stats.pivots import SCALES, Hall, Pivot, Scale, Stabilised, on_log, on_logit, plus_four
from ucvtest.stats.shares import EffectiveCounts, WilsonScore, difference_of_shares

SIDES = ("two-sided", "less", "greater")
SHARES = (-0.1, 1.1)
DIFFERENCES = (-1.1, 1.1)

RULES = [
    (Hall(2.0, 0.3, 20.5, n_obs=40, skewness=1.6), ()),
    (Hall(2.0, 0.3, 20.5, n_obs=40, skewness=1.6, least_above=6.0, least=0.0), (-0.1,)),
    (Hall(0.1, 0.3, 4.0, n_obs=40, skewness=6.2, least_above=6.0, least=0.0), (-0.1,)),
    (Hall(-0.1, 0.3, 9.0, n_obs=12, skewness=-3.1), ()),
    (Hall(0.4, 0.1, 30.0, n_obs=60, skewness=0.0, least=0.0, most=1.0), SHARES),
    (Hall(0.4, 0.1, 3.0, n_obs=4, skewness=1e-9, least_above=6.0), ()),
    (Hall(0.4, 0.1, 4.0, n_obs=500, skewness=22.0), ()),
    (Hall(1.5, 0.3, 20.0, scale="square", least=0.0, n_obs=40, skewness=1.6, kind="root"), (-0.1,)),
    (plus_four(0.2, 0.003, 40), SHARES),
    (plus_four(0.0, 0.0, 12), SHARES),
    (plus_four(1.0, 0.0, 60), SHARES),
    (plus_four(0.93, 0.02, 5), SHARES),
    (on_log(0.8, 0.2, 17.5), (0.0, -1.0)),
    (on_log(1e-3, 3.0, 4.0), (0.0, -1.0)),
    (on_logit(0.3, 0.03, 9.0), SHARES),
    (on_logit(0.97, 0.03, math.nan), SHARES),
    (on_logit(1.0, 0.04, 12.0, moved=0.97), SHARES),
    (Pivot(0.3, 0.2, 12.0, scale="log1m", kind="t on a scale"), (1.0, 2.0)),
    (Pivot(0.3, 0.2, 12.0, scale="fisher", kind="t on a scale"), (-1.0, 1.0)),
    (Stabilised(0.2, 0.1, 20.0, slope=-2.1, slope_error=0.3, least=-1.0, most=1.0), DIFFERENCES),
    (Stabilised(0.2, 0.1, 20.0, slope=1e6, least=-1.0, most=1.0), DIFFERENCES),
    (Stabilised(0.2, 0.1, 20.0, slope=1e-12, least=-1.0, most=1.0), DIFFERENCES),
    (difference_of_shares(0.2, 0.004, 31.5, 8.0, math.nan), DIFFERENCES),
    (difference_of_shares(1.0, 0.0, 3.0, 2.0, math.nan), DIFFERENCES),
    (BinomialCounts(3, 20), SHARES),
    (PairedCounts(3, 7, 40), DIFFERENCES),
    (WilsonScore(0.95, 20), SHARES),
    (WilsonScore(0.0, 7.5), SHARES),
    (EffectiveCounts(0.4, 0.012, 54, 9), SHARES),
    (EffectiveCounts(0.9, 0.002, 54, 9, score=True), SHARES),
    (EffectiveCounts(1.0, 0.0, 30, 10), SHARES),
    (ChangedUnits(BinomialCounts(3, 20), 1.0), SHARES),
    (ChangedUnits(on_log(0.8, 0.2, 17.5), 0.0, 2.0), (0.0, -1.0)),
]
"""Rules, and values that their estimands cannot have."""


def one_by_one(rule, null, side, rng):
    """Whether the rule rejects at levels around its p-value, and whether its interval does."""
    pvalue = rule.pvalue(null, side)
    for alpha in (pvalue * (1 - 1e-6), pvalue * (1 + 1e-6), 0.05, rng.uniform()):
        if 1e-190 < alpha < 1:
            low, high = rule.interval(side, alpha)
            yield pvalue <= alpha, not low <= null <= high


@pytest.mark.parametrize("rule", [rule for rule, _ in RULES])
def test_pvalues_invert_intervals_whose_sides_are_halves(rule):
    rng = np.random.default_rng(0)
    low, high = rule.interval("two-sided", 0.01)
    checked = [
        pair
        for side in SIDES
        for null in rng.uniform(low - 0.1, high + 0.1, 20)
        if not math.isnan(rule.pvalue(null, side))
        for pair in one_by_one(rule, null, side, rng)
    ]
    assert len(checked) > 50
    assert all(rejects == leaves_out for rejects, leaves_out in checked)
    low, high = rule.interval("two-sided", 0.1)
    assert low <= high
    if not isinstance(rule, EffectiveCounts):
        sides = rule.interval("greater", 0.05)[0], rule.interval("less", 0.05)[1]
        assert sides == pytest.approx((low, high), rel=1e-12)
    ends = np.array([rule.interval("two-sided", alpha) for alpha in np.geomspace(0.9, 1e-9, 20)])
    assert (np.diff(ends[:, 0]) <= 1e-12).all()
    assert (np.diff(ends[:, 1]) >= -1e-12).all()


@pytest.mark.parametrize(("rule", "impossible"), RULES)
def test_saved_and_read_and_impossible_values_refused(rule, impossible):
    again = rule_from_dict(json.loads(json.dumps(rule_to_dict(rule))))
    assert repr(again) == repr(rule)
    assert type(again) is type(rule)
    for null in (*impossible, math.nan):
        assert all(math.isnan(rule.pvalue(null, side)) for side in SIDES)
    with pytest.raises(ValueError, match="kind 'x', which is unknown here: upgrade"):
        rule_from_dict({**rule_to_dict(rule), "kind": "x"})


def test_every_kind_is_in_the_table():
    assert {rule.kind for rule, _ in RULES} == set(KINDS)


ARCSINE = Scale(
    lambda value: math.asin(math.sqrt(value)) if 0 <= value <= 1 else math.nan,
    lambda at: math.sin(min(max(at, 0.0), math.pi / 2)) ** 2,
    lambda value: 2 * math.sqrt(value * (1 - value)),
)


def test_a_scale_more_is_a_row_of_three_lines(monkeypatch):
    monkeypatch.setitem(SCALES, "arcsine", ARCSINE)
    rule = Pivot.of(0.3, 0.05, 20.0, "arcsine", least=0.0, most=1.0)
    assert rule.se == pytest.approx(0.05 / (2 * math.sqrt(0.21)))
    low, high = rule.interval("two-sided", 0.05)
    assert 0 < low < 0.3 < high < 1
    rng = np.random.default_rng(1)
    for side in SIDES:
        for null in (0.15, 0.25, 0.31, 0.42):
            assert all(found == left for found, left in one_by_one(rule, null, side, rng))
    assert rule.interval("less", 0.05)[0] == 0
    source = inspect.getsource(inspect.getmodule(test_a_scale_more_is_a_row_of_three_lines))
    row = source.split("\nARCSINE = Scale(\n")[1].split("\n)\n")[0]
    assert len(row.splitlines()) == 3
