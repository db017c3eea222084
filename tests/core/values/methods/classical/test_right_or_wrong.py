"""Tests of answers that are right or wrong: exact, by clusters, several at once, one class."""

import json
import math
import warnings

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

import ucvtest as uv
from tests.oracles import right_or_wrong as oracle

GROUPS = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6] * 2)
N = len(GROUPS)


def answers():
    rng = np.random.default_rng(3)
    common = rng.random(12)[GROUPS]
    rules = {
        name: common + 0.4 * rng.normal(size=N) > cut
        for name, cut in (("a", 0.1), ("b", 0.3), ("c", 0.9))
    }
    return {**rules, "a again": rules["a"].copy(), "perfect": np.ones(N, bool)}


RIGHT = answers()
LOSSES = uv.Losses.from_correct(RIGHT, groups=GROUPS)


def held_out(*names, losses=LOSSES, interval="auto", **options):
    return uv.HoldOutTest.from_losses(losses, *names, **options).fit(interval=interval)


class TestWithoutClusters:
    @pytest.mark.parametrize("right", [0, 13, 19, 20])
    def test_intervals_of_one_are_those_of_statsmodels(self, right):
        marked = {"a": np.arange(20) < right}
        losses = uv.Losses.from_correct(marked)
        for interval, method in (("auto", "beta"), ("exact", "beta"), ("wilson", "wilson")):
            result = held_out(losses=losses, interval=interval)
            expected = proportion_confint(right, 20, method=method)
            assert result.conf_int() == pytest.approx(expected, abs=1e-12)
            assert result.settings["interval"] == interval
        assert result.better == "higher"

    def test_wilsons_pvalue_is_that_of_the_score_test(self):
        losses = uv.Losses.from_correct({"a": np.arange(20) < 15})
        result = held_out(losses=losses, interval="wilson", null_value=0.5)
        assert result.statistic == pytest.approx(0.25 / math.sqrt(0.25 / 20))
        assert result.reference == "normal"

    def test_rules_that_never_differ_have_an_answer(self):
        losses = uv.Losses.from_correct({"a": np.arange(9) < 5, "b": np.arange(9) < 5})
        result = held_out(losses=losses)
        assert (result.status, result.pvalue) == ("ok", 1.0)
        assert result.conf_int() == uv.McNemarTest.from_losses(losses).fit().conf_int()


class TestClusters:
    @pytest.mark.parametrize("name", RIGHT)
    @pytest.mark.parametrize("alpha", [0.05, 0.2])
    def test_one_rule_is_korn_and_graubards(self, name, alpha):
        for interval, score in (("auto", False), ("wilson", True)):
            result = held_out(name, interval=interval)
            expected = oracle.korn_graubard(RIGHT[name], GROUPS, alpha, score=score)
            assert result.conf_int(alpha) == pytest.approx(expected, abs=1e-10)
            assert result.estimate == pytest.approx(RIGHT[name].mean())
            assert result.variance == pytest.approx(oracle.variance(RIGHT[name], GROUPS))
        assert result.settings["group_weight"] == "row"
        assert result.diagnostics["n_tested"] == N
        if name == "perfect":
            assert result.diagnostics["n_effective"] == 12

    @pytest.mark.parametrize("names", [("a", "b"), ("a", "c"), ("a", "a again"), ("perfect", "c")])
    def test_two_rules_have_one_right_and_one_wrong_added(self, names):
        result = held_out(*names)
        wrong = (1 - RIGHT[name] for name in names)
        low, high = oracle.one_right_one_wrong(*wrong, GROUPS, 0.05)
        assert result.conf_int() == pytest.approx((-high, -low), abs=1e-10)
        difference = RIGHT[names[0]] * 1.0 - RIGHT[names[1]]
        assert result.estimate == pytest.approx(difference.mean())
        assert result.se**2 == pytest.approx(oracle.variance(difference, GROUPS))
        assert result.df == 11
        assert (result.pvalue <= 0.05) == (not low <= 0 <= high)
        again = uv.TestResult.from_dict(json.loads(json.dumps(result.to_dict())))
        assert again.conf_int(0.1) == result.conf_int(0.1)

    def test_errors_of_predictions_are_the_same_by_rows(self):
        y = np.ones(N, int)
        predicted = {name: right.astype(int) for name, right in RIGHT.items()}
        losses = uv.Losses.from_predictions(y, predicted, groups=GROUPS)
        for names in (("a",), ("a", "b")):
            marked, errors = held_out(*names), held_out(*names, losses=losses, group_weight="row")
            sign = -1 if len(names) > 1 else 1
            ends = [(0 if sign < 0 else 1) - end for end in errors.conf_int()[::-1]]
            assert marked.conf_int() == pytest.approx(ends)
            # Means of clusters, where nobody asks for rows.
            assert held_out(*names, losses=losses).settings["group_weight"] == "group"
            assert held_out(*names, losses=losses).reference == "t"

    def test_predictions_left_open_are_neither_right_nor_wrong(self):
        tied = np.where(np.arange(N) == 4, 0.5, 1 - RIGHT["a"])[None, None]
        fixed = np.zeros((1, N), int)
        losses = uv.Losses.from_arrays(tied, fixed, 1 - fixed, groups=GROUPS)
        assert held_out(losses=losses, group_weight="row").reference == "t"
        status = held_out(losses=losses, group_weight="row", interval="exact").status
        assert status.startswith("1 predictions were undecided")

    def test_mcnemar_counts_rows_too(self):
        result = uv.McNemarTest.from_losses(LOSSES, "a", "c").fit()
        assert result.estimate == pytest.approx(RIGHT["a"].mean() - RIGHT["c"].mean())
        assert result.settings["group_weight"] == "row"


class TestSeveral:
    found = uv.compare_losses(LOSSES, "hold_out", correction="simultaneous")

    def test_pairs_that_never_differ_are_no_error(self):
        pair = self.found.result("hold_out", "a", "a again")
        assert (pair.status, pair.pvalue) == ("ok", 1.0)
        assert self.found.settings["group_weight"] == "row"

    def test_the_best_set_holds_rules_that_are_tied(self):
        without = {name: right for name, right in RIGHT.items() if name != "perfect"}
        losses = uv.Losses.from_correct(without, groups=GROUPS)
        best = uv.compare_losses(losses, "hold_out", correction="simultaneous")
        tied = best.together["hold_out"].best_set(0.05)
        assert {"a", "a again"} <= set(tied)
        assert "c" not in tied

    def test_the_best_set_is_that_of_the_intervals(self):
        together = self.found.together["hold_out"]
        pairs = {key[1:]: result for key, result in self.found.results.items()}
        for (first, second), result in pairs.items():
            place = [together.learners.index(name) for name in (first, second)]
            assert together.statistics[tuple(place)] == pytest.approx(result.statistic)
        assert together.df == 11
        values = np.array([RIGHT[name] for name in together.learners], float)
        for k, row in enumerate(values):
            assert together.covariance[k, k] == pytest.approx(oracle.variance(row, GROUPS))
        both = oracle.variance(values[0] + values[1], GROUPS)
        less = oracle.variance(values[0] - values[1], GROUPS)
        assert together.covariance[0, 1] == pytest.approx((both - less) / 4)

    def test_without_clusters_the_critical_value_is_students(self):
        # Of two rules that never differ the difference has no degrees of freedom.
        right = {name: RIGHT[name] for name in ("a", "a again", "c")}
        losses = uv.Losses.from_correct(right)
        found = uv.compare_losses(losses, "hold_out", correction="simultaneous")
        assert found.together["hold_out"].df == N - 1
        assert found.together["hold_out"].best_set(0.05) == ("a", "a again")

    def test_clusters_that_count_alike_and_areas(self):
        groups = np.arange(40) // 2
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 40)
        scores = {name: y + k * rng.normal(size=40) for k, name in enumerate("abc", 1)}
        areas = uv.Losses.from_predictions(y, scores, loss="auc", groups=groups)
        squares = uv.Losses.from_predictions(y * 1.0, scores, loss="squared", groups=groups)
        for losses, name in ((areas, "delong"), (squares, "hold_out")):
            for weight in ("group", "row"):
                found = uv.compare_losses(
                    losses, name, correction="simultaneous", group_weight=weight
                )
                together = found.together[name]
                pair = found.result(name, "a", "b")
                assert together.se[0, 1] == pytest.approx(pair.se)


class TestOneClass:
    def test_sensitivities_among_the_ill(self):
        y = ["ill"] * 20
        rules = {"a": ["ill"] * 19 + ["well"], "b": ["ill"] * 12 + ["well"] * 8}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            losses = uv.Losses.from_predictions(y, rules)
        assert losses.means[:, 0] == pytest.approx([0.05, 0.4])
        assert held_out("a", losses=losses).conf_int() == pytest.approx(
            proportion_confint(1, 20, method="beta")
        )
        assert uv.McNemarTest.from_losses(losses).fit().pvalue == pytest.approx(2 / 2**7)

    @pytest.mark.parametrize(
        ("y", "options", "true"),
        [
            ([1, 1], {}, 1),
            ([0, 0], {}, 0),
            ([True, True], {}, 1),
            ([0, 0], {"pos_label": 0}, 1),
            (["ill"] * 2, {"pos_label": "ill"}, 1),
            (["well"] * 2, {"pos_label": "ill"}, 0),
        ],
    )
    def test_probabilities_of_one_class(self, y, options, true):
        p = np.array([0.3, 0.6])
        losses = uv.Losses.from_predictions(y, {"a": p}, loss="brier", **options)
        assert losses.values[0] == pytest.approx((true - p) ** 2)
        positive = options.get("pos_label", 1)
        assert losses.settings["pos_label"] == positive
