"""Equivalence and noninferiority: against statsmodels, by direction, and as values."""

import copy
import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.weightstats import ttost_paired

import ucvtest as uv
from tests.support.results import ONE, RATIO, sample_result
from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.pivots import Hall, Stabilised, on_log, on_logit, plus_four

AUCS = sample_result(better="higher", estimate=0.02, se=0.03, estimand="difference of AUCs")
RULES = (
    BinomialCounts(8, 40),
    PairedCounts(3, 7, 40),
    plus_four(0.2, 0.003, 60),
    Hall(0.2, 0.05, 30.0, n_obs=60, skewness=1.2, least=0.0),
    on_logit(0.2, 0.05, 40.0),
    on_log(0.9, 0.05, 30.0),
    Stabilised(-0.1, 0.04, 59.0, slope=-2.0, least=-1.0, most=1.0),
)

ESTIMATES = {"paired binomial": -0.1, "log t": 0.9, "stabilised t": -0.1}


def squared_losses() -> tuple[uv.TestResult, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    rules = {"a": y + rng.normal(size=50), "b": y + rng.normal(size=50)}
    losses = uv.Losses.from_predictions(y, rules, loss="squared")
    first, second = ((rule - y) ** 2 for rule in rules.values())
    return uv.HoldOutTest.from_losses(losses).fit(), first, second


def test_two_one_sided_tests_of_fixed_rules_are_those_of_statsmodels():
    result, first, second = squared_losses()
    found = result.equivalence(-0.5, 0.8)
    pvalue, lower, upper = ttost_paired(first, second, -0.5, 0.8)
    assert found.pvalue == pytest.approx(pvalue, rel=1e-12)
    assert (found.pvalue_low, found.pvalue_high) == pytest.approx((lower[1], upper[1]), rel=1e-12)
    assert result.noninferiority(0.8).pvalue == pytest.approx(upper[1], rel=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
def test_every_rule_decides_as_its_interval_does(rule):
    result = sample_result(rule=rule, estimate=ESTIMATES.get(rule.kind, 0.2), se=0.05)
    low, high = rule.interval("two-sided", 0.2)
    found = result.equivalence(low, high, alpha=0.1)
    assert found.conf_int == (low, high)
    assert (found.pvalue_low, found.pvalue_high) == pytest.approx((0.1, 0.1), rel=1e-8)
    step = 1e-3 * (high - low)
    assert result.equivalence(low - step, high + step, alpha=0.1).decision == "pass"
    assert result.equivalence(low + step, high - step, alpha=0.1).decision == "undecided"
    beyond = result.equivalence(high + step, high + 2 * step, alpha=0.1)
    assert beyond.decision == "fail"


@pytest.mark.parametrize(
    ("result", "margin", "bound", "decision"),
    [
        (sample_result(), 0.05, 0.05, "pass"),
        (sample_result(estimate=0.4), 0.05, 0.05, "fail"),
        (sample_result(estimate=0.1), 0.05, 0.05, "undecided"),
        (AUCS, 0.05, -0.05, "pass"),
        (replace(AUCS, estimate=-0.2), 0.05, -0.05, "fail"),
        (replace(AUCS, estimate=-0.02), 0.05, -0.05, "undecided"),
        (RATIO, 1.1, 1.1, "pass"),
        (replace(RATIO, estimate=1.4, rule=on_log(1.4, 0.05, 30.0)), 1.1, 1.1, "fail"),
        (sample_result(**ONE, null_value=0.2), 0.1, 0.3, "pass"),
        (sample_result(**ONE, null_value=0.9, better="higher"), 0.1, 0.8, "fail"),
    ],
)
def test_the_margin_goes_by_what_is_better(result, margin, bound, decision):
    found = result.noninferiority(margin)
    assert found.bound == pytest.approx(bound)
    assert found.decision == decision
    assert (found.pvalue <= 0.05) == (decision == "pass")
    words = {"pass": "Noninferior", "fail": "Inferior", "undecided": "It is undecided"}
    assert found.verdict.startswith(words[decision])


def test_a_one_sided_alternative_changes_nothing():
    kept = sample_result().noninferiority(0.1)
    assert sample_result(alternative="greater").noninferiority(0.1) == kept


def test_the_level_is_that_of_each_test():
    strict = sample_result().noninferiority(0.05, alpha=0.01)
    assert strict.decision == "undecided"
    assert strict.conf_int == sample_result().conf_int(0.02)


def rules_that_agree(loss: str) -> uv.TestResult:
    y = np.arange(30) % 2
    score = np.linspace(0.2, 0.8, 30) if loss != "zero_one" else y
    losses = uv.Losses.from_predictions(y, {"new": score, "old": score}, loss=loss)
    test = {"auc": uv.DeLongTest, "zero_one": uv.McNemarTest}.get(loss, uv.HoldOutTest)
    return test.from_losses(losses).fit()


@pytest.mark.parametrize("loss", ["brier", "auc", "zero_one"])
def test_rules_that_never_differed_may_do_so_yet(loss):
    """Thirty observations cannot tell that two rules agree at all others to within .01."""
    assert rules_that_agree(loss).noninferiority(0.01).decision == "undecided"


def test_without_an_answer_it_stays_undecided():
    result = sample_result(reference="none", status="degenerate: same losses", pvalue=math.nan)
    for found in (result.noninferiority(0.1), result.equivalence(-0.1, 0.1)):
        assert (found.decision, found.verdict) == (
            "undecided",
            "Undecided: degenerate: same losses.",
        )


@pytest.mark.parametrize(
    "found", [sample_result().equivalence(-0.4, 0.3), AUCS.noninferiority(0.05)]
)
def test_answers_survive_and_are_shown(found):
    kind = type(found)
    for again in (
        kind.from_dict(json.loads(found.to_json())),
        pickle.loads(pickle.dumps(found)),
        copy.deepcopy(found),
    ):
        assert again == found
    assert found.to_dict()["decision"] == found.decision
    text = " ".join(found.summary().as_text().split())
    assert found.verdict in text
    assert found.estimand in found._repr_html_()
