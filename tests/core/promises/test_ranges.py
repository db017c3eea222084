"""Limits lie within what can be, contain their estimate, and say where they were cut."""

import itertools
import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.methods.registry import TESTS
from ucvtest.metrics.named import SMOOTH, as_smooth_metric
from ucvtest.metrics.names import as_metric
from ucvtest.metrics.ranges import difference_range, range_of
from ucvtest.metrics.scorers import chosen_loss

N_OBS = 24
Y = np.array([0, 1] * (N_OBS // 2))
X = np.column_stack([np.arange(N_OBS), Y])

Learner = dict[str, Any]


def almost(X_train, y_train, X_test):
    """One error in all."""
    return np.where(X_test[:, 0] == 3, 1 - X_test[:, 1], X_test[:, 1])


RULES: dict[str, Learner] = {
    "almost": {"almost": almost},
    "perfect": {"perfect": lambda X_train, y_train, X_test: X_test[:, 1]},
    "wrong": {"wrong": lambda X_train, y_train, X_test: 1 - X_test[:, 1]},
    "zero": {"zero": lambda X_train, y_train, X_test: np.zeros(len(X_test))},
}
PAIRS = (("almost", None), ("wrong", None), ("almost", "perfect"), ("wrong", "zero"))
OPTIONS: dict[str, dict[str, Any]] = {
    "ustatistic": {"max_fits": 600},
    "leave_pair_out": {"n_permutations": 99},
}
LEVELS = (0.5, 0.1, 0.05, 0.001)
ALTERNATIVES = ("two-sided", "less", "greater")


@cache
def result_of(name: str, first: str, second: str | None) -> uv.TestResult | None:
    """None where the test has no such question."""
    cls = TESTS[name]
    if (second is None and cls.needs.learners == "two") or (
        second is not None and not cls.needs.compares
    ):
        return None
    given = [RULES[each] for each in (first, second) if each is not None]
    # This test has no other.
    null = {"null_value": 0.4} if name == "five_by_two_f" and second is None else {}
    # Pairs are left out one after the other, so few observations do.
    n_obs = 8 if name == "leave_pair_out" else N_OBS
    return cls(X[:n_obs], Y[:n_obs], *given, **null).fit(
        rng=0, progress=False, **OPTIONS.get(name, {})
    )


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("name", TESTS)
@pytest.mark.filterwarnings("ignore:no confidence interval")
def test_every_interval_lies_within_its_range_and_holds_its_estimate(name, pair):
    result = result_of(name, *pair)
    if result is None:
        return
    low = 0.0 if pair[1] is None else -1.0
    read = uv.TestResult.from_dict(json.loads(result.to_json()))
    for alternative, alpha in itertools.product(ALTERNATIVES, LEVELS):
        ends = replace(result, alternative=alternative).conf_int(alpha)
        if math.isnan(ends[0]):
            break
        assert ends[0] <= result.estimate <= ends[1], (alternative, alpha)
        assert all(low <= end <= 1 for end in ends if math.isfinite(end)), (alternative, alpha)
        assert replace(read, alternative=alternative).conf_int(alpha) == ends
    for title, table in result.tables.items():
        cells = [*table.get("conf_low", ()), *table.get("conf_high", ())]
        least = 0.0 if title == "Learners" else low
        assert all(least <= cell <= 1 for cell in cells if math.isfinite(cell)), title


PREDICTED = {
    "label": (Y, np.where(np.arange(N_OBS) == 3, 1 - Y, Y), 1 - Y, np.arange(N_OBS) // 2 % 2),
    "number": (Y + 0.0, Y + 0.1 * np.cos(np.arange(N_OBS)), -5.0 * Y, np.arange(N_OBS) % 5.0),
}
PREDICTED["probability"] = tuple((each + 0.5) / 2 for each in PREDICTED["label"])
PREDICTED["score"] = PREDICTED["risk"] = PREDICTED["label"] + PREDICTED["number"]
PREDICTED["event_probability"] = PREDICTED["probability"]

WITH_NUMBERS = ("fbeta(2)", "net_benefit(0.7)", "partial_auc(0.2)", "brier(9)", "auc(9)")


@pytest.mark.parametrize("metric", [*SMOOTH, *WITH_NUMBERS])
@pytest.mark.filterwarnings("ignore:no confidence interval")
def test_limits_of_metrics_lie_within_their_range_and_hold_the_estimate(metric):
    asked = as_smooth_metric(metric)
    rules = {str(place): each for place, each in enumerate(PREDICTED[asked.output])}
    y = uv.survival(np.arange(N_OBS), Y) if asked.of_survival else Y
    for groups in (None, np.arange(N_OBS) // 4):
        losses = uv.Losses.from_predictions(y, rules, metric=metric, groups=groups)
        for first, second in itertools.product(rules, (None, "1")):
            if first == second:
                continue
            result = uv.HoldOutTest.from_losses(losses, first, second).fit()
            least, most = asked.limits if second is None else difference_range(asked.limits)
            assert result.bounds == (least, most) or math.isnan(result.conf_int()[0])
            for alternative, alpha in itertools.product(ALTERNATIVES, LEVELS):
                low, high = replace(result, alternative=alternative).conf_int(alpha)
                if math.isnan(low):
                    assert result.status != "ok"
                    break
                assert math.isnan(result.estimate) or low <= result.estimate <= high
                assert all(least <= end <= most for end in (low, high) if math.isfinite(end))


CUT = "The {} limit of the 95% interval was cut at {}, the {} possible value of the estimand."


def cut_notes(result: uv.TestResult) -> list[str]:
    return [note for note in result.notes if "possible value" in note]


@pytest.mark.parametrize(
    "name", ["cross_validation_wald", "corrected_t", "naive_t", "nested_cross_validation"]
)
def test_error_rates_end_at_0_and_the_note_says_so(name):
    result = result_of(name, "almost", None)
    assert result.conf_int()[0] == 0
    assert cut_notes(result) == [CUT.format("lower", 0, "smallest")]
    shown = " ".join(result.summary(notes=True).as_text().split())
    assert CUT.format("lower", 0, "smallest") in shown
    # A p-value is that of the method.
    assert result.equivalence(0, 0.9).conf_int[0] == 0


def test_scores_of_0_and_1_end_at_1():
    scores, pairs = {"a": [1] * 19 + [0]}, np.arange(20) // 2
    losses = uv.Losses.from_predictions(None, scores, loss="score", groups=pairs)
    result = uv.HoldOutTest.from_losses(losses, group_weight="group").fit()
    assert result.conf_int()[1] == 1
    assert cut_notes(result) == [CUT.format("upper", 1, "largest")]
    # The exact interval of independent ones ends before.
    exact = uv.HoldOutTest.from_losses(uv.Losses.from_predictions(None, scores, loss="score")).fit()
    assert exact.conf_int()[1] < exact.bounds[1] == 1
    # Of other numbers nothing is known.
    losses = uv.Losses.from_predictions(None, {"a": [1] * 19 + [2]}, loss="score")
    assert uv.HoldOutTest.from_losses(losses).fit().bounds == (-math.inf, math.inf)


def test_two_and_two_observations_are_too_few_for_delong():
    scores = {"a": [0.1, 0.6, 0.5, 0.9], "b": [0.9, 0.8, 0.5, 0.1]}
    losses = uv.Losses.from_predictions([0, 0, 1, 1], scores, loss="auc")
    result = uv.DeLongTest.from_losses(losses).fit()
    assert result.status.startswith("too few observations: 2 positive and 2 negative ones")
    assert math.isnan(result.pvalue)
    assert all(map(math.isnan, result.tables["Learners"]["se"]))
    joint = uv.DeLongTest.joint(losses)
    assert joint.status == result.status
    assert math.isnan(joint.pvalue)


def test_an_interval_reaches_to_its_estimate():
    result = result_of("ustatistic", "almost", None)
    low, _ = result.conf_int(0.5)
    assert low == pytest.approx(result.estimate)
    assert result.rule.interval("two-sided", 0.5)[0] > result.estimate
    assert (
        "50% interval of the method leaves out its own" in result.summary(0.5, notes=True).as_text()
    )
    assert "leaves out" not in result.summary(notes=True).as_text()


# Three more of the kind.


def test_differences_of_error_rates_end_at_1():
    result = result_of("five_by_two_t", "wrong", "zero")
    assert result.conf_int()[1] == 1
    assert cut_notes(result) == [CUT.format("upper", 1, "largest")]
    assert result.pvalue < 0.05


def test_squared_errors_and_their_score_end_at_0():
    response = np.zeros(12)
    rule = np.zeros(12)
    rule[5] = 3.0
    losses = uv.Losses.from_predictions(response, {"a": rule}, loss="squared")
    result = uv.HoldOutTest.from_losses(losses).fit()
    assert result.conf_int()[0] == 0
    assert result.bounds == (0, math.inf)
    metric = as_metric(chosen_loss(None, "neg_mean_squared_error"), has_classes=False)
    assert range_of(metric) == (-math.inf, 0)


@pytest.mark.parametrize(
    ("score", "scores", "most"),
    [
        ("f1", [0.98, 0.99, 1.0, 0.7, 1.0], 1),
        ("accuracy", [1.0, 0.9, 1.0, 1.0, 1.0], 1),
        ("r2", [0.95, 0.2, 0.99, 0.99, 0.98], 1),
        ("neg_root_mean_squared_error", [-0.1, 0.0, 0.0, -0.7, 0.0], 0),
        ("cohen_kappa", [0.98, -0.1, 1.0, 1.0, 1.0], 1),
        ("sensitivity", [1.0, 0.9, 1.0, 1.0, 1.0], 1),
        ("squared_correlation", [0.95, 0.2, 0.99, 0.99, 0.98], 1),
    ],
)
def test_fold_scores_end_where_the_score_does(score, scores, most):
    # caret's name, which tells scikit-learn's users no direction.
    better = {"greater_is_better": True} if score == "squared_correlation" else {}
    losses = uv.Losses.from_scores({"a": scores}, n_learn=80, n_test=20, score=score, **better)
    for cls in (uv.CorrectedTTest, uv.BayesianTTest):
        result = cls.from_losses(losses).fit()
        assert result.conf_int()[1] == most
        name = result.interval_name
        note = CUT.format("upper", most, "largest").replace("interval", name)
        assert cut_notes(result) == [note]


@pytest.mark.parametrize(
    "score", ["root_mean_squared_error", "mean_squared_error", "mean_absolute_error", "log_loss"]
)
def test_fold_errors_end_at_0(score):
    losses = uv.Losses.from_scores(
        {"a": [0.1, 0.0, 0.0, 0.7, 0.0]}, n_learn=8, n_test=2, score=score
    )
    assert uv.CorrectedTTest.from_losses(losses).fit().conf_int()[0] == 0


def test_names_are_not_believed_against_the_numbers():
    percent = uv.Losses.from_scores({"a": [91.0, 92, 99]}, n_learn=2, n_test=1, score="accuracy")
    result = uv.CorrectedTTest.from_losses(percent).fit()
    assert result.conf_int()[1] > 99
    assert not cut_notes(result)


@pytest.mark.parametrize("groups", [None, np.arange(24)])
@pytest.mark.parametrize("rules", [("a",), ("a", "b")])
def test_linearised_values_of_few_rows_do_not_leave_the_range(rules, groups):
    """The first test set has no error among the many of class 1, and the only one of class 0."""
    y = np.array([1] * 22 + [0] * 2)
    right, errors = np.r_[np.ones(23), 0], np.r_[np.arange(22) % 2, 1, 1]
    given = {"a": [right, *[errors] * 4], "b": np.zeros((5, 24))}
    fold = np.array([np.arange(24) < 12, *[np.arange(24) % 2] * 4]).astype(int)
    losses = uv.Losses.from_predictions(
        y, {name: given[name] for name in rules}, metric="g_mean", fold=fold, groups=groups
    )
    result = uv.FiveByTwoTTest.from_losses(losses).fit()
    assert result.estimate > 1
    assert "is not a value that the" in result.status
    assert math.isnan(result.pvalue)


def test_simultaneous_intervals_end_where_each_does():
    y, places = np.array([0, 1] * 6), np.arange(12)
    wrong = {"a": places == 2, "b": places != 7, "c": places < 4}
    rules = {name: np.where(where, 1 - y, y) for name, where in wrong.items()}
    losses = uv.Losses.from_predictions(y, rules)
    frame = uv.compare_losses(losses, tests="hold_out", correction="simultaneous").summary_frame()
    assert frame.conf_low.min() >= -1
    assert frame.conf_high.max() <= 1
    assert (frame.conf_low <= frame.estimate).all()


def test_results_of_former_versions_are_not_bounded():
    before = result_of("corrected_t", "almost", None).to_dict()
    del before["bounds"]
    assert uv.TestResult.from_dict(before).conf_int()[0] < 0
