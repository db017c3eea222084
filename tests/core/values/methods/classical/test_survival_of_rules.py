"""Survival metrics of rules as they are: one, two, several; clusters, folds, plans, margins."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit, logit

import ucvtest as uv

N = 90
RNG = np.random.default_rng(0)
TIME = np.round(RNG.exponential(5, N), 1) + 0.1
EVENT = RNG.random(N) < 0.6
Y = uv.survival(TIME, EVENT)
RISK = 5 * RNG.normal(size=N) - TIME
RISKS = {"a": RISK, "b": RISK + 4 * RNG.normal(size=N), "c": 5 * RNG.normal(size=N)}
PROBABILITIES = {name: expit(each / 10) for name, each in RISKS.items()}
PATIENT = np.arange(N) // 3
FOLD = np.arange(N) % 5
WALD = uv.CrossValidationWaldTest
METRICS = ("harrell", "uno(9)", "auc(4)", "brier(4)")


def losses_of(metric: str, **options) -> uv.Losses:
    rules = PROBABILITIES if metric.startswith("brier") else RISKS
    return uv.Losses.from_predictions(Y, rules, metric=metric, **options)


def fit(losses: uv.Losses, *who: str, test=uv.HoldOutTest) -> uv.TestResult:
    return test.from_losses(losses, *who).fit()


@pytest.mark.parametrize("metric", METRICS)
def test_one_rule_has_the_spread_of_linearised_values(metric):
    losses = losses_of(metric)
    values, result = losses.values[0], fit(losses, "a")
    assert result.estimate == pytest.approx(values.mean(), rel=1e-12)
    assert result.se == pytest.approx(values.std(ddof=1) / math.sqrt(N), rel=1e-12)
    t = stats.t.isf(0.025, N - 1) * np.array([-1, 1])
    ends = result.estimate + t * result.se
    if not metric.startswith("brier"):
        ends = expit(
            logit(result.estimate) + t * result.se / (result.estimate * (1 - result.estimate))
        )
    assert result.conf_int() == pytest.approx(tuple(ends), rel=1e-12)
    assert result.diagnostics["n_events"] == EVENT.sum()
    assert result.better == ("lower" if metric.startswith("brier") else "higher")


@pytest.mark.parametrize("metric", METRICS)
def test_two_rules_and_clusters(metric):
    losses = losses_of(metric, groups=PATIENT)
    moved = losses.values[0] - losses.values[1]
    plain, result = fit(losses_of(metric), "a", "b"), fit(losses, "a", "b")
    assert plain.se == pytest.approx(moved.std(ddof=1) / math.sqrt(N), rel=1e-12)
    sums = np.bincount(PATIENT, moved - moved.mean())
    n_groups = len(sums)
    assert result.se == pytest.approx(
        math.sqrt(n_groups / (n_groups - 1) * float(sums @ sums)) / N, rel=1e-12
    )
    assert (result.df, result.estimate) == (n_groups - 1, plain.estimate)


@pytest.mark.parametrize("metric", METRICS)
def test_several_rules_at_once(metric):
    losses = losses_of(metric)
    frame = uv.compare_losses(losses, "hold_out", correction="simultaneous").summary_frame()
    for _, each in frame.iterrows():
        alone = fit(losses, each.learner, each.other)
        assert (each.estimate, each.se) == pytest.approx((alone.estimate, alone.se), rel=1e-12)
        assert each.conf_low < alone.conf_int()[0] < alone.conf_int()[1] < each.conf_high


def test_folds_keep_pairs_to_themselves():
    losses = losses_of("harrell", fold=FOLD)
    concordances, pairs = np.zeros((2, 5))
    for fold in range(5):
        some = fold == FOLD
        concordances[fold] = uv.Losses.from_predictions(
            Y.take(some), {"a": RISK[some]}, metric="harrell"
        ).means[0, 0]
        time, event = TIME[some], EVENT[some]
        later = (time[:, None] < time) | ((time[:, None] == time) & ~event)
        pairs[fold] = (later & event[:, None]).sum()
    result = fit(losses, "a", test=uv.CrossValidationWaldTest)
    assert result.estimate == pytest.approx(np.average(concordances, weights=pairs), rel=1e-12)
    # A fold counts by its pairs, and each of them once.
    of_folds = result.estimate + pairs / pairs.mean() * (concordances - result.estimate)
    found = fit(losses, "a", test=uv.CorrectedTTest)
    assert found.diagnostics["resample_means"] == pytest.approx(of_folds, rel=1e-12)
    assert found.estimate == pytest.approx(result.estimate, rel=1e-12)
    # Folds that are clusters, as with one center left out at a time, are independent.
    centers = fit(losses_of("harrell", fold=FOLD, groups=FOLD), "a", test=WALD)
    assert centers.se == pytest.approx(of_folds.std(ddof=1) / math.sqrt(5), rel=1e-12)
    assert found.se == pytest.approx(of_folds.std(ddof=1) * math.sqrt(1 / 5 + 1 / 4), rel=1e-12)
    assert result.n_fits == 5
    both = fit(losses, "a", "b", test=uv.CrossValidationWaldTest)
    assert both.se == pytest.approx(
        (losses.values[0] - losses.values[1]).std(ddof=1) / math.sqrt(N), rel=1e-12
    )


@pytest.mark.parametrize("clusters_in_a_fold", [1, 2, 6])
def test_pairs_within_a_cluster_of_a_fold_count_once(clusters_in_a_fold):
    cluster = FOLD + 5 * (PATIENT % clusters_in_a_fold)
    result = fit(losses_of("harrell", fold=FOLD, groups=cluster), "a", "b", test=WALD)
    later = (TIME[:, None] < TIME) | ((TIME[:, None] == TIME) & ~EVENT)
    pairs = later & EVENT[:, None] & (FOLD[:, None] == FOLD)
    gained = np.zeros((N, N))
    for sign, risk in ((1, RISKS["a"]), (-1, RISKS["b"])):
        right = (risk[:, None] > risk) + 0.5 * (risk[:, None] == risk)
        gained += sign * pairs * (right - right[pairs].mean())
    sums = np.array([gained[(cluster[:, None] == c) | (cluster == c)].sum() for c in set(cluster)])
    rows = np.bincount(cluster) / N
    # The values of rows are centred, as in all variances by clusters.
    sums = sums / pairs.sum() - rows * sums.sum() / pairs.sum()
    assert result.se == pytest.approx(math.sqrt(len(sums) * sums.var(ddof=1)), rel=1e-9)


def test_risks_of_several_folds_are_never_compared():
    moved = RISK + 1000 * FOLD
    for metric in ("harrell", "uno", "auc(4)"):
        plain = uv.Losses.from_predictions(Y, {"a": RISK}, metric=metric, fold=FOLD)
        found = uv.Losses.from_predictions(Y, {"a": moved}, metric=metric, fold=FOLD)
        assert found.values == pytest.approx(plain.values, rel=1e-9)


def test_what_does_not_vary_is_degenerate():
    perfect = uv.Losses.from_predictions(
        uv.survival(np.arange(9) + 1, np.ones(9)),
        {"a": -np.arange(9), "b": -np.arange(9)},
        metric="harrell",
    )
    alone, both = fit(perfect, "a"), fit(perfect, "a", "b")
    assert alone.estimate == 1
    assert "degenerate: every pair that counts" in alone.status
    assert "the same score at every observation" in both.status


BAD = {
    "labels": (
        lambda: uv.Losses.from_predictions(EVENT, RISKS, metric="harrell"),
        "needs survival",
    ),
    "one time": (
        lambda: uv.Losses.from_predictions(Y, RISKS, metric=uv.metrics.integrated_brier([1, 2])),
        r"must have a column for each of the 2 times .* got shape \(90,\)",
    ),
    "no probability": (
        lambda: uv.Losses.from_predictions(Y, RISKS, metric=uv.metrics.brier(4)),
        "needs probabilities of an event by then",
    ),
    "a positive class": (
        lambda: uv.Losses.from_predictions(Y, RISKS, metric="harrell", pos_label=1),
        "pos_label does not apply",
    ),
    "a learner": (
        lambda: uv.HoldOutTest(RISK[:, None], EVENT, "lda", metric="harrell"),
        r"metric='harrell' needs survival times: pass uv.survival\(time, event\) as y",
    ),
    "missing risks": (
        lambda: uv.Losses.from_predictions(Y, {"a": RISK * np.nan}, metric="harrell"),
        "90 values that are missing or infinite",
    ),
    "other rows": (
        lambda: uv.Losses.from_predictions(
            pd.DataFrame({"time": TIME, "event": EVENT}),
            {"a": pd.Series(RISK, index=np.arange(N)[::-1])},
            metric="harrell",
        ),
        "have the same index in another order",
    ),
}


BAD["other rows of vectors"] = (
    lambda: uv.Losses.from_predictions(
        uv.survival(pd.Series(TIME), EVENT),
        {"a": pd.Series(RISK, index=np.arange(N)[::-1])},
        metric="harrell",
    ),
    "y and predictions.'a'. have the same index in another order",
)
