"""Plans: against statsmodels and enumeration for fixed rules, and what a pilot's plan says."""

import copy
import json
import math
import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats
from statsmodels.stats.power import TTestPower

import ucvtest as uv
from ucvtest.planning.curve import curve_tests, learning_curve
from ucvtest.planning.fixed_rules import McNemar, OneRate, PairedT
from ucvtest.planning.predictors import UStatisticPredictor
from ucvtest.planning.sample_plan import SamplePlan
from ucvtest.planning.variance_components import VarianceComponents
from ucvtest.stats.pivots import Stabilised, on_logit, plus_four


def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.2 * y
    return X, y


X, Y = sampler(np.random.default_rng(1), 40)


def rates(n_errors: int, n_obs: int = 100) -> tuple[list[int], list[int]]:
    """Labels, and a rule that errs on the first ones."""
    y = [0, 1] * (n_obs // 2)
    return y, [1 - label if place < n_errors else label for place, label in enumerate(y)]


@pytest.fixture(scope="module")
def plan() -> SamplePlan:
    return uv.plan(X, Y, "lda", "knn:1", difference=-0.1, rng=0)


@pytest.mark.parametrize("n", [20, 64, 400])
@pytest.mark.parametrize("effect", [0.05, -0.3])
def test_paired_differences_are_those_of_statsmodels(n, effect):
    found = PairedT(0.8, 0.1).power(n, effect, 0.05)
    assert found == pytest.approx(TTestPower().power(abs(effect) / 0.8, n, 0.05), abs=1e-8)


def test_the_plan_of_two_rules_has_the_size_that_statsmodels_finds():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    rules = {"a": y + rng.normal(size=50), "b": y + 1.2 * rng.normal(size=50)}
    losses = uv.Losses.from_predictions(y, rules, loss="squared")
    found = uv.plan(losses, difference=0.5, power=0.9)
    effect = 0.5 / losses.difference(0, 1).values.std(ddof=1)
    assert found.n_needed == math.ceil(TTestPower().solve_power(effect, power=0.9, alpha=0.05))
    row = found.frame.set_index("n").loc[found.n_needed]
    expected = TTestPower().power(effect, found.n_needed, 0.05)
    assert row["power"] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("n", "share", "effect"), [(6, 0.5, 0.3), (9, 0.4, -0.4), (8, 0.9, 0.1)])
def test_mcnemar_is_the_sum_over_all_tables(n, share, effect):
    first, second = (share + effect) / 2, (share - effect) / 2
    total = 0.0
    for b, c in product(range(n + 1), repeat=2):
        if b + c <= n and b + c and stats.binomtest(b, b + c).pvalue <= 0.2:
            total += stats.multinomial.pmf([b, c, n - b - c], n, [first, second, 1 - share])
    assert McNemar(share, 0.1, share, share).power(n, effect, 0.2) == pytest.approx(
        total, abs=1e-10
    )


def test_delong_goes_by_its_variance():
    rng = np.random.default_rng(3)
    y = np.arange(80) % 2
    scores = {"a": y + rng.normal(size=80), "b": y + 1.5 * rng.normal(size=80)}
    losses = uv.Losses.from_predictions(y, scores, loss="auc")
    found = uv.plan(losses, difference=0.1, n=[80, 320]).frame
    se = uv.DeLongTest.from_losses(losses).fit().se
    np.testing.assert_allclose(found["se"], [se, se / 2])
    expected = stats.norm.sf(1.959963985 - 0.2 / se) + stats.norm.sf(1.959963985 + 0.2 / se)
    assert found["power"][1] == pytest.approx(expected, rel=1e-8)


def test_the_plan_of_one_auc_is_about_the_interval_that_the_test_gives():
    rng = np.random.default_rng(3)
    y = np.arange(40) % 2
    losses = uv.Losses.from_predictions(y, {"rule": 1.5 * y + rng.normal(size=40)}, loss="auc")
    test = uv.DeLongTest.from_losses(losses)
    low, high = test.fit().conf_int()
    assert uv.plan(losses, width=0.2, n=40).frame["width"][0] == pytest.approx(high - low)
    published = test.fit(interval="wald").conf_int()
    assert high - low != pytest.approx(published[1] - published[0], rel=1e-3)


def test_beleites_et_al_need_75_to_100_for_one_classifier_and_hundreds_to_show_superiority():
    y, rule = rates(10)
    one = uv.plan(uv.Losses.from_predictions(y, {"rule": rule}), width=0.13)
    assert 75 <= one.n_needed <= 100
    # 90% against 95% correct, each wrong on its own observations.
    assert McNemar(0.15, 0.1, 0.1, 0.2).power(100, 0.05, 0.05) < 0.25
    other = [1 - label if 10 <= place < 15 else label for place, label in enumerate(y)]
    both = uv.plan(uv.Losses.from_predictions(y, {"old": rule, "new": other}), difference=0.05)
    assert 300 < both.n_needed < 1000


@pytest.mark.parametrize("loss", ["zero_one", "squared"])
@pytest.mark.parametrize("names", [("rule",), ("rule", "other")])
def test_the_plan_of_a_weighted_mean_is_about_the_interval_that_the_test_gives(loss, names):
    y, rule = rates(10)
    rules = {"rule": rule, "other": np.roll(rule, 3)}
    weights = np.random.default_rng(0).exponential(size=100)
    losses = uv.Losses.from_predictions(y, rules, loss=loss, sample_weight=weights)
    low, high = uv.HoldOutTest.from_losses(losses, *names).fit().conf_int()
    asked = dict(zip(("learner", "other"), names, strict=False))
    found = uv.plan(losses, width=0.1, n=100, **asked).frame
    assert found["width"][0] == pytest.approx(high - low)


def test_the_expected_width_of_one_rate():
    n, rate = 15, 0.2
    ends = [stats.binomtest(k, n).proportion_ci() for k in range(n + 1)]
    weights = stats.binom.pmf(np.arange(n + 1), n, rate)
    expected = sum(w * (end.high - end.low) for w, end in zip(weights, ends, strict=True))
    assert OneRate(rate, 0.1, 0.1, 0.3).width(n, 0.05) == pytest.approx(expected, abs=1e-9)


def test_a_plan_from_a_pilot(plan):
    frame = plan.frame.set_index("n")
    needed = frame.loc[plan.n_needed]
    assert needed["power"] >= 0.8
    assert plan.n_low < plan.n_needed < plan.n_high
    assert (frame["power"].diff().dropna() >= 0).all()
    assert (frame["width"].diff().dropna() <= 0).all()
    assert ((frame["power_low"] <= frame["power"]) & (frame["power"] <= frame["power_high"])).all()
    # At the pilot's own size it predicts what the test reports.
    assert plan.settings["learn_size"] == 19
    reported = uv.UStatisticTest(X, Y, "lda", "knn:1").fit(rng=1)
    at_pilot = uv.plan(X, Y, "lda", "knn:1", difference=0.1, n=40, curve=False, rng=0).frame
    assert at_pilot["se"][0] == pytest.approx(reported.se, rel=0.15)
    assert str(plan.n_needed) in plan.verdict
    assert "learning sets of 19" in plan.verdict


def test_the_curves_end_in_an_extrapolation_without_a_band(plan):
    curve = plan.curve_frame
    assert set(curve["learner"]) == {"lda", "knn:1"}
    beyond = curve[curve["extrapolated"]]
    assert beyond["learn_size"].min() >= curve[~curve["extrapolated"]]["learn_size"].max()
    assert beyond["low"].isna().all()
    marks = [layer.mark for layer in plan.pictures["curve"].layers]
    assert marks.count("broken") == 2


def test_bands_of_curves_end_where_losses_do():
    separate = X + np.array([4.0, 0.0, 0.0]) * Y[:, None]
    for loss, ends in (("zero_one", ("low", 0)), ("auc", ("high", 1))):
        tests = curve_tests(separate, Y, ("lda", "knn:1"), {"loss": loss}, 40)
        for curve in learning_curve(tests, np.random.default_rng(0), largest=40, alpha=0.05)[0]:
            band = np.concatenate([curve["low"], curve["high"]])
            known = band[~np.isnan(band)]
            assert (known >= 0).all()
            assert (known <= 1).all()
            assert (curve[ends[0]] == ends[1]).any()


def test_plans_survive_and_are_drawn(plan, tmp_path):
    for again in (
        SamplePlan.from_dict(json.loads(plan.to_json())),
        pickle.loads(pickle.dumps(plan)),
        copy.deepcopy(plan),
    ):
        assert again == plan
    assert plan.plot_kinds == ("power", "width", "curve")
    for kind in plan.plot_kinds:
        assert plan.plot(Figure().subplots(), kind=kind).lines
    plan.save_plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 1000
    assert str(plan) == plan.summary().as_text()
    text = " ".join(plan.summary().as_text().split())
    assert plan.verdict in text
    assert "2 more notes: summary(notes=True)" in text
    assert " ".join(plan.summary(notes=True).as_text().split()).endswith(plan.notes[-1])
    assert plan.verdict in str(plan._repr_html_())
    assert plan.summary().as_markdown().startswith("## How many observations\n\n**")


def test_a_simulator_narrows_the_band(plan):
    found = uv.plan(
        sampler, None, "lda", "knn:1", difference=-0.1, pilot_size=40, n_pilots=8, rng=0
    )
    assert found.n_high / found.n_low < plan.n_high / plan.n_low
    assert found.curve_frame.empty
    assert 0.5 < found.n_needed / plan.n_needed < 2


@pytest.mark.parametrize(
    ("learners", "asked"),
    [
        (("lda",), {"width": 0.1}),
        (("lda", "gaussian_nb"), {"difference": 0.05, "loss": "auc"}),
    ],
)
def test_one_learner_and_aucs(learners, asked):
    found = uv.plan(X, Y, *learners, **asked, curve=False, rng=0)
    row = found.frame.set_index("n").loc[found.n_needed]
    wanted = row["power"] >= 0.8 if "difference" in asked else row["width"] <= 0.1
    assert wanted
    assert ("power" in found.frame) == ("difference" in asked)


@pytest.mark.parametrize(
    ("kind", "rule"),
    [("plus four", plus_four(0.3, 0.0025, 80)), ("logit", on_logit(0.3, 0.05, 78.0))],
)
def test_widths_of_one_learner_are_those_of_its_interval(kind, rule):
    predictor = UStatisticPredictor(
        VarianceComponents(80, 20, 0.0025, 0.0, 0.0), "midpoint", kind, 0.3, 0.1
    )
    assert predictor.se(80) == pytest.approx(0.05, rel=0.01)
    low, high = rule.interval("two-sided", 0.05)
    assert predictor.width(80, 0.05) == pytest.approx(high - low, rel=0.01)


def test_a_difference_of_error_rates_has_the_stabilised_interval():
    components = VarianceComponents(60, 20, 0.0025, 0.0, 0.0)
    predictor = UStatisticPredictor(components, "jackknife", "stabilised", 0.1, 0.1, slope=4.0)
    plain = UStatisticPredictor(components, "jackknife", "t", 0.1, 0.1)
    low, high = Stabilised(0.1, 0.05, 59.0, slope=4.0).interval("two-sided", 0.05)
    assert predictor.width(60, 0.05) == pytest.approx(high - low)
    assert predictor.width(60, 0.05) > 1.05 * plain.width(60, 0.05)
    estimates = np.random.default_rng(0).normal(0.1, 0.05, size=20_000)
    rejected = [
        np.mean([Stabilised(u, 0.05, 59.0, slope=s).pvalue(0, "two-sided") <= 0.05 for u in us])
        for us in (estimates[:4000], -estimates[:4000])
        for s in (4.0,)
    ]
    assert predictor.power(60, 0.1, 0.05) == pytest.approx(np.mean(rejected), abs=0.02)
    # With learning sets of more than half there is no slope to go by, and the test has "t".
    assert predictor.width(30, 0.05) == plain.width(30, 0.05)


def test_at_its_floor_a_plan_says_that_no_smaller_sample_can_be_planned():
    found = uv.plan(X, Y, "lda", "knn:1", difference=0.6, curve=False, rng=0)
    assert found.n_needed == found.settings["n_least"] == 40
    assert "no smaller sample can be planned" in found.verdict
    rules = uv.Losses.from_predictions([0, 1] * 50, {"rule": [1, 0] * 5 + [0, 1] * 45})
    assert uv.plan(rules, learner="rule", width=0.9).n_needed == 4


def test_simulated_samples_without_an_error_count_as_such():
    def rare(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        features, labels = sampler(rng, n)
        return features + 2.5 * labels[:, None], labels

    asked = {"n_pilots": 4, "pilot_size": 20, "rng": 0}
    found = uv.plan(rare, None, "lda", "nearest_centroid", difference=0.02, **asked)
    assert 0 < found.settings["mean_square"] < 0.05
    assert 0 <= found.settings["agreement"] <= 1
    assert found.n_low <= found.n_needed <= found.n_high


def test_differences_of_squared_losses_are_helped_by_their_mean_square():
    y = X[:, 0] + np.random.default_rng(2).normal(size=40)
    asked = {"loss": "squared", "n": 100, "curve": False, "rng": 0}
    found = uv.plan(X, y, "ridge:0.01", "ridge:30", difference=0.1, **asked)
    assert found.n_fits == 2 * 2 * 800
    assert found.settings["mean_square"] > 0
    assert any("shrunk towards typical" in note for note in found.notes)
    # Of one learner the mean square is mostly its mean, and tells little of the variance.
    alone = uv.plan(X, y, "ridge:30", width=0.5, **asked)
    assert "mean_square" not in alone.settings
    assert any("40% of the jackknife" in note for note in alone.notes)


def test_learners_without_an_error_plan_nothing():
    clear = X + 100 * Y[:, None]
    with pytest.raises(ValueError, match="no error occurred, or the learners never differed"):
        uv.plan(clear, Y, "lda", width=0.1, curve=False, rng=0)


def test_groups_are_what_is_counted():
    groups = np.repeat(np.arange(20), 2)
    asked = {"difference": 0.1, "n": [20, 80], "groups": groups, "rng": 0}
    found = uv.plan(X, Y, "lda", "knn:1", **asked)
    assert (found.settings["n_pilot"], found.settings["learn_size"]) == (20, 9)
    assert "clusters give 80% power" in found.verdict
    reported = uv.UStatisticTest(X, Y, "lda", "knn:1", groups=groups).fit(rng=1)
    assert found.frame["se"][0] == pytest.approx(reported.se, rel=0.2)
    assert found.curve_frame["learn_size"].min() == 4


def test_a_ratio_is_planned_on_the_log_scale():
    rng = np.random.default_rng(4)
    response = X[:, 0] + rng.normal(size=40)
    asked = {"ratio": 0.7, "n": 40, "curve": False, "rng": 0}
    found = uv.plan(X, response, "ridge:1", "ridge:100", **asked)
    test = uv.UStatisticTest(X, response, "ridge:1", "ridge:100", contrast="ratio").fit(rng=1)
    low, high = test.conf_int()
    assert found.frame["se"][0] == pytest.approx(test.se, rel=0.1)
    assert found.frame["width"][0] == pytest.approx(high / low, rel=0.1)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((sampler, None, "lda"), {"width": 0.1, "n_pilots": "x"}, "n_pilots must be an integer"),
        ((sampler, None, "lda", "knn:1"), {"ratio": 0.9, "loss": "squared"}, "a simulator plans"),
    ],
)
def test_what_cannot_be_planned_is_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        uv.plan(*arguments, **options)


def test_curves_leave_out_sizes_that_learners_refuse():
    tests = curve_tests(X, Y, ("knn:7", "lda"), {"loss": None}, 40)
    assert [test.learn_size for test in tests] == sorted({test.learn_size for test in tests})
    assert tests[0].learn_size >= 7


def test_curves_of_aucs_rise_whatever_the_auc_is_called():
    tests = curve_tests(X, Y, ("lda",), {"loss": "roc_auc"}, 40)[:2]
    (found,), _ = learning_curve(tests, np.random.default_rng(0), largest=100, alpha=0.05)
    estimates, beyond = found["estimate"], found["extrapolated"]
    assert estimates[beyond][0] == pytest.approx(estimates[~beyond][-1], abs=0.02)
    assert estimates[beyond][-1] > estimates[~beyond][-1]


def test_rules_of_which_nothing_was_seen_plan_nothing():
    y, rule = rates(0)
    perfect = uv.Losses.from_predictions(y, {"rule": rule, "same": rule})
    with pytest.raises(ValueError, match="losses do not vary"):
        uv.plan(perfect, difference=0.1)
    with pytest.raises(ValueError, match="losses do not vary"):
        uv.plan(perfect, learner="rule", width=0.05)
    with pytest.raises(ValueError, match="difference must be below 1"):
        uv.plan(uv.Losses.from_predictions(*rates(3)[:1], {"a": rates(3)[1], "b": y}), difference=2)


def test_the_band_of_few_errors_is_that_of_their_rate():
    y, rule = rates(1)
    found = uv.plan(uv.Losses.from_predictions(y, {"rule": rule}), width=0.05)
    low, high = stats.binomtest(1, 100).proportion_ci()
    assert found.n_high == needed_at(high, 0.05)
    assert found.n_low == needed_at(low, 0.05)


def needed_at(rate: float, width: float) -> int:
    """The fewest observations for a rate that is known."""
    sizes = range(4, 1000)
    return next(n for n in sizes if OneRate(rate, 0.1, rate, rate).width(n, 0.05) <= width)
