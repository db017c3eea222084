"""McNemar's exact test: counts by hand, published tables, and R."""

import json
import math
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import resampling_wald as oracle
from ucvtest.stats.exact import PairedCounts

SIDES = ("two-sided", "less", "greater")


def losses_of(first: Any, second: Any, n_learnt: int = 3) -> uv.Losses:
    """Losses of two rules on one test set, after some observations to learn from."""
    values = np.array([first, second], dtype=float)
    n_tested = values.shape[1]
    learning = np.repeat([1, 0], [n_learnt, n_tested])[None]
    table = np.concatenate([np.zeros((2, n_learnt)), values], axis=1)[:, None]
    return uv.Losses.from_arrays(table, learning, learners=["a", "b"])


def table_of(both_right: int, second_only: int, first_only: int, both_wrong: int) -> uv.Losses:
    counts = [both_right, second_only, first_only, both_wrong]
    return losses_of(np.repeat([0, 0, 1, 1], counts), np.repeat([0, 1, 0, 1], counts))


def fit(losses: uv.Losses, **options: Any) -> uv.TestResult:
    return uv.McNemarTest.from_losses(losses, **options).fit()


class TestValues:
    @pytest.mark.parametrize("alternative", SIDES)
    @pytest.mark.parametrize(("b", "c"), [(0, 1), (1, 11), (7, 3), (4, 4), (0, 9)])
    def test_equals_the_binomial_sum(self, b, c, alternative):
        result = fit(table_of(5, c, b, 2), alternative=alternative)
        assert result.pvalue == pytest.approx(oracle.mcnemar_exact(b, c, alternative), rel=1e-12)
        assert result.estimate == pytest.approx((b - c) / (7 + b + c))
        assert result.diagnostics["only_first_wrong"] == b
        assert result.diagnostics["only_second_wrong"] == c
        table = result.tables["Observations"]
        assert table["second right"] == (5, b)
        assert table["second wrong"] == (c, 2)

    def test_mlxtend_scenario_a(self):
        # The user guide of mlxtend, example 3; up to 0.14 it printed 0.005859375, which is twice
        # P(B = 1) and leaves P(B = 0) out.
        assert fit(table_of(9959, 11, 1, 29)).pvalue == 0.00634765625

    @pytest.mark.requires_r
    @pytest.mark.parametrize("counts", [(794, 86, 150, 570), (9945, 25, 15, 15), (20, 2, 9, 4)])
    @pytest.mark.parametrize("alternative", SIDES)
    def test_equals_binom_test_of_r(self, counts, alternative):
        # The first table is the example of R's mcnemar.test (Agresti 1990, p. 350).
        script = (
            "a <- commandArgs(TRUE); b <- as.integer(a[1]); n <- b + as.integer(a[2]);"
            'cat(sprintf("%.15g", binom.test(b, n, alternative = a[3])$p.value))'
        )
        _, c, b, _ = counts
        command = [shutil.which("Rscript"), "--vanilla", "-e", script, str(b), str(c)]
        in_r = {"two-sided": "two.sided"}.get(alternative, alternative)
        done = subprocess.run([*command, in_r], capture_output=True, text=True, check=True)
        result = fit(table_of(*counts), alternative=alternative)
        assert result.pvalue == pytest.approx(json.loads(done.stdout), rel=1e-12)

    def test_what_is_shown_belongs_to_the_exact_test(self):
        result = fit(table_of(8, 9, 3, 4))
        assert (result.statistic, result.reference) == (3, "exact binomial")
        assert math.isnan(result.df)
        assert result.conf_int() == PairedCounts(3, 9, 24).interval("two-sided", 0.05)
        text = result.summary(notes=True).as_text()
        assert "exact binomial" in text
        assert " df)" not in text

    def test_p_one_eighth_has_an_interval_with_zero(self):
        # Four observations tell, all of one side: Student's interval left 0 out.
        result = fit(table_of(16, 4, 0, 0))
        assert result.pvalue == 0.125
        low, high = result.conf_int()
        assert low < 0 < high
        low, high = result.conf_int(alpha=0.125)
        assert high < 0


class TestCases:
    def test_identical_rules(self):
        result = fit(losses_of([0, 1, 0, 1], [0, 1, 0, 1]))
        assert result.pvalue == 1.0
        assert result.status == "ok"
        assert result.conf_int() == pytest.approx((-(1 - 0.025**0.25), 1 - 0.025**0.25))

    def test_one_rule_is_always_wrong(self):
        result = fit(losses_of([1] * 8, [0] * 8))
        assert result.pvalue == pytest.approx(2 / 2**8)
        assert result.status == "ok"
        assert 0 < result.conf_int()[0] < result.conf_int()[1] == 1

    def test_one_observation(self):
        result = fit(losses_of([1], [0]))
        assert (result.pvalue, result.status) == (1.0, "ok")
        assert result.conf_int() == (pytest.approx(-0.95), 1.0)

    def test_predictions_left_open(self):
        result = fit(losses_of([0.5, 1, 0, 0], [1, 0, 0, 1]))
        assert math.isnan(result.pvalue)
        assert result.rule is None
        assert result.status.startswith("1 predictions were undecided between two classes")

    def test_k_folds(self):
        rng = np.random.default_rng(2)
        X, y = rng.normal(size=(41, 2)), rng.integers(0, 2, 41)
        losses = uv.evaluate(["lda", "knn:1"], X, y, design=7, rng=3)
        result = uv.McNemarTest.from_losses(losses, "lda", "knn:1").fit()
        by_hand = losses.array  # (2, 7, 41), NaN where not tested
        wrong = np.nansum(by_hand, axis=1) > 0
        b, c = int((wrong[0] & ~wrong[1]).sum()), int((~wrong[0] & wrong[1]).sum())
        assert result.pvalue == pytest.approx(oracle.mcnemar_exact(b, c, "two-sided"))
        from_data = uv.McNemarTest(X, y, "lda", "knn:1", design=7).fit(rng=3)
        assert (from_data.pvalue, from_data.se) == (result.pvalue, result.se)
        assert from_data.n_fits == result.n_fits == 14
