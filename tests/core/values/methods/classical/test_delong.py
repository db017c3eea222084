"""DeLong's test of the AUC: pairs by hand, pROC and its published example."""

import json
import math
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import logit

import ucvtest as uv
from tests.oracles import resampling_wald as oracle
from ucvtest.stats.placements import placements

SIDES = ("two-sided", "less", "greater")


def scores_of(y: np.ndarray, *columns: np.ndarray) -> uv.Losses:
    """Scores of one test set, after two observations to learn from."""
    values = np.array(columns, dtype=float)
    learning = np.repeat([1, 0], [2, len(y)])[None]
    table = np.concatenate([np.zeros((len(values), 2)), values], axis=1)[:, None]
    names = [f"rule {number}" for number in range(len(values))]
    labels = np.concatenate([[0, 1], y])
    return uv.Losses.from_arrays(table, learning, learners=names, loss="auc", y=labels)


def fit(losses: uv.Losses, *learners: Any, **options: Any) -> uv.TestResult:
    return uv.DeLongTest.from_losses(losses, *learners, **options).fit()


def draw(
    seed: int, n_positive: int = 18, n_negative: int = 22, decimals: int = 1, n_columns: int = 2
) -> Any:
    """Labels and correlated scores with ties."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0], [n_positive, n_negative]))
    common = rng.normal(size=len(y))
    columns = [0.8 * y + common + rng.normal(size=len(y)) for _ in range(n_columns)]
    return y, *(np.round(column, decimals) for column in columns)


class TestValues:
    @pytest.mark.parametrize("decimals", [0, 1, 9])
    @pytest.mark.parametrize("seed", range(3))
    def test_equals_the_paper_pair_by_pair(self, seed, decimals):
        y, first, second = draw(seed, decimals=decimals)
        theta, s = oracle.delong(y.tolist(), [first.tolist(), second.tolist()])
        losses = scores_of(y, first, second)
        result = fit(losses)
        assert result.estimate == pytest.approx(theta[0] - theta[1], rel=1e-12)
        expected = s[0][0] + s[1][1] - 2 * s[0][1]
        assert result.variance == pytest.approx(expected, rel=1e-10)
        z = result.estimate / math.sqrt(expected)
        assert result.pvalue == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-10)
        assert result.tables["Learners"]["estimate"] == pytest.approx(theta)
        single = fit(losses, "rule 1")
        assert single.estimate == pytest.approx(theta[1])
        assert single.variance == pytest.approx(s[1][1], rel=1e-10)
        assert single.null_value == 0.5
        assert single.conf_int() == pytest.approx(
            tuple(result.tables["Learners"][end][1] for end in ("conf_low", "conf_high"))
        )

    def test_many_observations_take_no_pairs(self):
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 400_000)
        # All pairs would be 4e10 numbers.
        found = placements(y, y + rng.normal(size=len(y)))[y == 1].mean()
        assert found == pytest.approx(stats.norm.cdf(1 / math.sqrt(2)), abs=0.005)


# Ovarian cancer: albumin, total protein, Krebs-Goldberg score, and whether surgery helped (DeLong,
# DeLong and Clarke-Pearson 1988), as SAS/STAT 13.2 prints them in the example "Comparing Receiver
# Operating Characteristic Curves" of PROC LOGISTIC, without the six patients with missing values.
OVARIAN = """
3.0 5.8 10 0  3.2 6.3  5 1  3.9 6.8  3 1  2.8 4.8  6 0  3.2 5.8  3 1  0.9 4.0  5 0  2.5 5.7  8 0
1.6 5.6  5 1  3.8 5.7  5 1  3.7 6.7  6 1  3.2 5.4  4 1  3.8 6.6  6 1  4.1 6.6  5 1  3.6 5.7  5 1
4.3 7.0  4 1  3.6 6.7  4 0  2.3 4.4  6 1  4.2 7.6  4 0  4.0 6.6  6 0  3.5 5.8  6 1  3.8 6.8  7 1
3.0 4.7  8 0  4.5 7.4  5 1  3.7 7.4  5 1  3.1 6.6  6 1  4.1 8.2  6 1  4.3 7.0  5 1  4.3 6.5  4 1
3.2 5.1  5 1  2.6 4.7  6 1  3.3 6.8  6 0  1.7 4.0  7 0  3.7 6.1  5 1  3.3 6.3  7 1  4.2 7.7  6 1
3.5 6.2  5 1  2.9 5.7  9 0  2.1 4.8  7 1  2.8 6.2  8 0  4.0 7.0  7 1  3.3 5.7  6 1  3.7 6.9  5 1
3.6 6.6  5 1
"""


class TestJoint:
    @pytest.mark.parametrize("decimals", [0, 1, 9])
    @pytest.mark.parametrize("n_rules", [3, 5])
    def test_equals_the_paper_pair_by_pair(self, n_rules, decimals):
        y, *columns = draw(n_rules, decimals=decimals, n_columns=n_rules)
        lists = [column.tolist() for column in columns]
        theta, s = oracle.delong(y.tolist(), lists)
        statistic, df = oracle.delong_joint(y.tolist(), lists)
        found = uv.DeLongTest.joint(scores_of(y, *columns))
        assert found.estimates == pytest.approx(theta, rel=1e-12)
        assert found.covariance == pytest.approx(np.array(s), rel=1e-10, abs=1e-14)
        assert (found.df, df) == (n_rules - 1, n_rules - 1)
        assert found.statistic == pytest.approx(statistic, rel=1e-8)
        assert tuple(found) == (found.statistic, pytest.approx(stats.chi2.sf(statistic, df)))
        assert found.status == "ok"

    def test_published_example(self):
        table = np.array(OVARIAN.split(), dtype=float).reshape(-1, 4)
        albumin, protein, score, y = table.T
        losses = scores_of(y.astype(int), albumin, -score, protein)
        found = uv.DeLongTest.joint(losses)
        assert [round(auc, 4) for auc in found.estimates] == [0.7366, 0.7258, 0.6478]
        assert [round(each**0.5, 4) for each in np.diag(found.covariance)] == [0.0927, 0.1028, 0.1]
        assert (round(found.statistic, 4), found.df, round(found.pvalue, 4)) == (2.534, 2, 0.2817)

    def test_rules_that_rank_alike_reduce_the_rank(self):
        y, first, second = draw(3)
        found = uv.DeLongTest.joint(scores_of(y, first, np.exp(second), second, 3 * first - 1))
        expected, df = oracle.delong_joint(
            y.tolist(), [each.tolist() for each in (first, second, second, first)]
        )
        assert (found.df, df) == (1, 1)
        assert found.statistic == pytest.approx(expected, rel=1e-8)
        assert found.pvalue == pytest.approx(fit(scores_of(y, first, second)).pvalue, rel=1e-8)

    def test_rules_that_all_rank_alike_have_no_test(self):
        y, first, _ = draw(3)
        found = uv.DeLongTest.joint(scores_of(y, first, 2 * first, first + 1))
        assert (found.df, found.status) == (
            0,
            "degenerate: all learners rank observations the same, so there is no difference to "
            "test",
        )
        assert math.isnan(found.statistic)
        assert math.isnan(found.pvalue)

    def test_a_difference_without_an_error_has_no_test(self):
        y, first, _ = draw(3)
        found = uv.DeLongTest.joint(scores_of(y, y, 0 * y, first))
        assert math.isnan(found.pvalue)
        assert found.status.startswith("degenerate: a difference of AUCs has no error")


def in_r(script: str, *arguments: str) -> Any:
    """What a script that uses pROC printed."""
    ask = 'if (!requireNamespace("pROC", quietly = TRUE)) quit(status = 3);'
    done = subprocess.run(
        [shutil.which("Rscript"), "--vanilla", "-e", ask + script, *arguments],
        capture_output=True,
        text=True,
    )
    if done.returncode == 3:
        pytest.skip("the R package pROC is missing")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.requires_r
class TestPROC:
    @pytest.mark.parametrize("alternative", SIDES)
    def test_equals_roc_test(self, tmp_path, alternative):
        y, first, second = draw(7)
        table = np.column_stack([y, first, second])
        np.savetxt(tmp_path / "d.csv", table, delimiter=",", header="y,a,b", comments="")
        script = (
            "a <- commandArgs(TRUE); d <- read.csv(a[1]);"
            'r <- lapply(d[-1], function(s) pROC::roc(d$y, s, levels = c(0, 1), direction = "<"));'
            't <- pROC::roc.test(r$a, r$b, method = "delong", paired = TRUE, alternative = a[2]);'
            'v <- pROC::var(r$a, method = "delong");'
            'cat(sprintf("[%.15g, %.15g, %.15g]", t$statistic, t$p.value, v))'
        )
        side = {"two-sided": "two.sided"}.get(alternative, alternative)
        statistic, pvalue, variance = in_r(script, str(tmp_path / "d.csv"), side)
        losses = scores_of(y, first, second)
        result = fit(losses, alternative=alternative)
        assert tuple(result) == pytest.approx((statistic, pvalue), rel=1e-10)
        if alternative == "two-sided":
            joint = uv.DeLongTest.joint(losses)
            assert tuple(joint) == pytest.approx((statistic**2, pvalue), rel=1e-9)
        assert fit(losses, "rule 0").variance == pytest.approx(variance, rel=1e-10)

    def test_published_example(self):
        # The example of pROC's manual, and what it prints: roc.test(outcome, wfns, s100b) and
        # ci.auc(outcome, s100b) of the patients with a subarachnoid haemorrhage in aSAH.
        script = (
            'utils::data("aSAH", package = "pROC"); d <- pROC::aSAH;'
            'cat(sprintf("[[%s],[%s],[%s]]", toString(as.integer(d$outcome == "Poor")),'
            "toString(as.integer(d$wfns)), toString(d$s100b)))"
        )
        y, wfns, s100b = (np.array(column, dtype=float) for column in in_r(script))
        losses = scores_of(y.astype(int), wfns, s100b)
        result = fit(losses)
        assert (round(result.statistic, 3), round(result.pvalue, 5)) == (2.209, 0.02718)
        assert [round(end, 8) for end in result.conf_int()] == [0.01040618, 0.17421442]
        assert [round(auc, 7) for auc in result.tables["Learners"]["estimate"]] == [
            0.8236789,
            0.7313686,
        ]
        single = uv.DeLongTest.from_losses(losses, "rule 1").fit(interval="wald")
        assert [round(end, 7) for end in single.conf_int()] == [0.6301182, 0.8326189]


class TestInterval:
    @pytest.mark.parametrize("alternative", SIDES)
    def test_one_rule_is_on_the_logit_scale(self, alternative):
        losses = scores_of(*draw(4))
        result = fit(losses, 0, alternative=alternative, null_value=0.6)
        known = uv.DeLongTest.from_losses(losses, 0, alternative=alternative, null_value=0.6)
        published = known.fit(interval="wald")
        auc, se = published.estimate, published.se
        assert (result.estimate, result.se, result.reference) == (auc, se, "normal")
        z = (logit(auc) - logit(0.6)) / (se / (auc * (1 - auc)))
        tail = {"less": stats.norm.cdf(z), "greater": stats.norm.sf(z)}
        assert result.statistic == pytest.approx(z)
        assert result.pvalue == pytest.approx(tail.get(alternative, 2 * stats.norm.sf(abs(z))))
        assert result.pvalue != pytest.approx(published.pvalue)
        # The interval ends where a null value would just be rejected.
        ends = [end for end in result.conf_int() if 0 < end < 1]
        assert len(ends) == (2 if alternative == "two-sided" else 1)
        for end in ends:
            at = fit(losses, 0, alternative=alternative, null_value=end)
            assert at.pvalue == pytest.approx(0.05)

    def test_two_rules_have_the_published_one(self):
        losses = scores_of(*draw(4))
        test = uv.DeLongTest.from_losses(losses)
        result, published = test.fit(), test.fit(interval="wald")
        assert result.conf_int() == published.conf_int()
        alone = [published.tables["Learners"][end] for end in ("conf_low", "conf_high")]
        for place in (0, 1):
            one = uv.DeLongTest.from_losses(losses, place)
            assert one.fit(interval="wald").conf_int() == (alone[0][place], alone[1][place])


class TestCases:
    @pytest.mark.parametrize(
        ("scores", "estimate"),
        [
            (lambda y, first: (first, 2 * first + 1), 0),
            (lambda y, first: (y,), 1),
            (lambda y, first: (0 * y,), 0.5),
        ],
        ids=["the same ranks", "perfect", "tied"],
    )
    def test_what_has_no_error_has_no_answer(self, scores, estimate):
        y, first, _ = draw(1)
        result = fit(scores_of(y, *scores(y, first)))
        assert result.status.startswith("all observations are ranked the same, or perfectly")
        assert (result.estimate, result.variance) == (estimate, 0)
        assert math.isnan(result.pvalue)

    @pytest.mark.parametrize("n_positive", [0, 1])
    def test_too_few_of_a_class_are_tested(self, n_positive):
        y = np.zeros(9, dtype=int)
        y[:n_positive] = 1
        result = fit(scores_of(y, np.arange(9.0)))
        assert math.isnan(result.estimate)
        expected = f"no estimate: {n_positive} positive and {9 - n_positive} negative"
        assert result.status.startswith(expected)

    def test_pooled_folds(self):
        rng = np.random.default_rng(2)
        y = np.repeat([0, 1], [17, 14])
        X = rng.normal(size=(31, 2)) + y[:, None]
        losses = uv.evaluate(["lda", "knn:5"], X, y, design=4, loss="auc", rng=3)
        result = uv.DeLongTest.from_losses(losses, "lda", "knn:5").fit()
        pooled = np.nansum(losses.array, axis=1)
        theta, s = oracle.delong(y.tolist(), pooled.tolist())
        assert result.estimate == pytest.approx(theta[0] - theta[1])
        assert result.variance == pytest.approx(s[0][0] + s[1][1] - 2 * s[0][1])
        expected = losses.means[0].mean() - losses.means[1].mean()
        assert result.diagnostics["mean_of_fold_aucs"] == pytest.approx(expected)
        direct = uv.DeLongTest(X, y, "lda", "knn:5", design=4).fit(rng=3)
        assert tuple(direct) == tuple(result)
        assert direct.tables["Learners"]["learner"] == ("lda", "knn:5")

    def test_folds_with_one_class(self):
        rng = np.random.default_rng(2)
        y = np.repeat([0, 1], [27, 3])
        result = uv.DeLongTest(rng.normal(size=(30, 2)), y, "lda", design=10).fit(rng=0)
        assert result.status == "ok"
        assert math.isnan(result.diagnostics["mean_of_fold_aucs"])
