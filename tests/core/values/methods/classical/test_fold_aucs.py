"""The AUC of out-of-fold scores over pairs within folds: the paper in loops, and cases."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

import ucvtest as uv
from tests.oracles import cv_auc as oracle
from ucvtest.stats.fold_pairs import FoldAreas, LabeledFolds
from ucvtest.stats.pivots import on_logit
from ucvtest.stats.placements import influence_on_areas, placements

RNG = np.random.default_rng(3)
N = 24
Y = (RNG.random(N) < 0.4).astype(int)
# Rounded, so that there are ties within folds and between the classes.
SCORES = np.round(RNG.normal(size=(2, 3, N)) + Y, 1)
FOLDS = np.array([RNG.permutation(N) % 3 for _ in range(3)])
PATIENT = np.arange(N) // 2
FOLDS_OF_PATIENTS = np.array([(RNG.permutation(N // 2) % 3)[PATIENT] for _ in range(3)])


def losses_of(scores, folds, y=Y, **options):
    """Losses (L, R, n) of scores and numbers of folds (R, n)."""
    testing = np.concatenate([row == np.arange(row.max() + 1)[:, None] for row in folds])
    n_folds = len(testing) // len(folds)
    values = np.repeat(np.asarray(scores, dtype=float), n_folds, axis=1)
    return uv.Losses.from_arrays(values, ~testing, testing, loss="auc", y=y, **options)


def fit(losses, *names, **options):
    return uv.CrossValidationWaldTest.from_losses(losses, *names, **options).fit()


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("paired", [False, True])
def test_equals_the_paper_in_loops(n_repeats, grouped, paired):
    folds = (FOLDS_OF_PATIENTS if grouped else FOLDS)[:n_repeats]
    scores, groups = SCORES[:, :n_repeats], PATIENT if grouped else None
    more = {"group_weight": "row"} if grouped else {}
    losses = losses_of(scores, folds, groups=groups)
    result = fit(losses, *((0, 1) if paired else (0,)), **more)
    areas, values, of_patients = [], [], []
    for repeat, fold in enumerate(folds):
        (a, l_a), (b, l_b) = (oracle.linearised(Y, each[repeat], fold) for each in scores)
        x, z = (oracle.of_clusters(Y, each[repeat], fold, PATIENT) for each in scores)
        areas.append(a - b if paired else a)
        values.append(l_a - l_b if paired else l_a)
        of_patients.append(x - z if paired else x)
    variance, df = (
        oracle.variance_by_clusters(np.array(of_patients))
        if grouped
        else oracle.variance(Y, np.array(values))
    )
    assert result.status == "ok"
    assert result.estimate == pytest.approx(np.mean(areas), rel=1e-10)
    assert result.variance == pytest.approx(variance, rel=1e-10)
    assert result.df == pytest.approx(df, rel=1e-10)
    assert result.reference == "t"
    if not paired:
        expected = on_logit(np.mean(areas), math.sqrt(variance), df).interval("two-sided", 0.05)
        assert result.conf_int() == pytest.approx(expected, rel=1e-9)


def test_clusters_that_count_alike():
    folds, w = FOLDS_OF_PATIENTS[:1], np.empty(N)
    for label in (0, 1):
        own = label == Y
        w[own] = 1 / np.bincount(PATIENT[own], minlength=N // 2)[PATIENT[own]]
    area, _ = oracle.linearised(Y, SCORES[0, 0], folds[0], w)
    result = fit(losses_of(SCORES[:1, :1], folds, groups=PATIENT))
    values = oracle.of_clusters(Y, SCORES[0, 0], folds[0], PATIENT, w)
    expected = oracle.variance_by_clusters(values[None])
    assert result.estimate == pytest.approx(area, rel=1e-10)
    assert (result.variance, result.df) == pytest.approx(expected, rel=1e-10)
    assert result.n_obs == N


def test_a_fold_that_is_one_cluster_has_the_spread_of_the_folds():
    y, fold = np.arange(40) % 2, np.arange(40) // 8
    scores = np.random.default_rng(5).normal(size=40) + y
    result = fit(losses_of([[scores]], fold[None], y=y, groups=fold), group_weight="row")
    areas = [
        oracle.linearised(y[fold == k], scores[fold == k], fold[fold == k])[0] for k in set(fold)
    ]
    assert result.estimate == pytest.approx(np.mean(areas), rel=1e-12)
    assert result.se == pytest.approx(np.std(areas, ddof=1) / math.sqrt(5), rel=1e-12)


def test_one_fold_of_all_observations_is_delongs_auc():
    # Whose placement values are checked against R's pROC.
    one_fold = LabeledFolds(Y == 1, np.zeros((1, N), int))
    a, b = (one_fold.influence(each[:1]) for each in SCORES)
    c, d = (influence_on_areas(Y, placements(Y, each[:1])) for each in SCORES)
    for found, expected in ((a, c), (b, d), (a - b, c - d)):
        assert found.estimates == pytest.approx(expected.estimates, rel=1e-12)
        assert found.variances == pytest.approx(expected.variances, rel=1e-12)


def test_infinite_scores_and_a_repeat_without_error():
    ranks = np.array([0, 1, 2, 2] * 6)
    infinite = np.array([-math.inf, 0, math.inf])[ranks]
    first, second = (
        FoldAreas.of(LabeledFolds(Y == 1, FOLDS[[0, 0]]).influence(np.array([each, Y])))
        for each in (infinite, ranks)
    )
    assert math.isfinite(first.df)
    assert (first.mean, first.variance, first.df) == (second.mean, second.variance, second.df)


def test_scores_of_different_folds_are_never_compared():
    fold = FOLDS[0]
    moved = SCORES[:, :1] + np.array([0, 100, -100])[fold]
    first, second = (fit(losses_of(each, FOLDS[:1])) for each in (SCORES[:, :1], moved))
    assert (first.estimate, first.se) == (second.estimate, second.se)
    pooled = uv.DeLongTest.from_losses(losses_of(moved, FOLDS[:1])).fit()
    assert pooled.estimate != pytest.approx(first.estimate)


class TestCases:
    def test_a_fold_with_one_class_has_no_pairs(self):
        fold = np.where(Y == 1, FOLDS[0] % 2, FOLDS[0])[None]
        result = fit(losses_of(SCORES[:, :1], fold))
        assert result.status == "ok"
        kept = fold[0] < 2
        assert result.diagnostics["n_pairs"] == sum(
            (Y[fold[0] == k] == 1).sum() * (Y[fold[0] == k] == 0).sum() for k in (0, 1)
        )
        assert not kept.all()

    def test_too_few_of_a_class(self):
        y = (np.arange(N) == 0).astype(int)
        result = fit(losses_of(SCORES[:, :1], FOLDS[:1], y))
        assert result.status.startswith("no estimate: 1 positive and 23 negative observations")

    @pytest.mark.parametrize("turned", [False, True])
    def test_perfect_rankings_get_an_answer_at_the_edge(self, turned):
        scores, folds = (1 - Y if turned else Y)[None, None], FOLDS[:1]
        result = fit(losses_of(scores, folds), null_value=0.6)
        # A quarter of a positive and of a negative above all and below all, spread over 3 folds.
        y = np.concatenate([Y, [1, 1, 0, 0] * 3])
        s = np.concatenate([scores[0, 0], [2, -2, 2, -2] * 3])
        fold = np.concatenate([folds[0], np.repeat([0, 1, 2], 4)])
        w = np.concatenate([np.ones(N), np.full(12, 1 / 12)])
        area, values = oracle.linearised(y, s, fold, w)
        parts = []
        for label in (0, 1):
            own, n_c = y == label, (label == Y).sum()
            influence = (values - area)[own] / len(y) / w[own]
            parts.append((n_c + 0.5) / (n_c - 0.5) * (w[own] * influence**2).sum())
        df = sum(parts) ** 2 / sum(v**2 / ((label == Y).sum() - 1) for label, v in enumerate(parts))
        half = stats.t.isf(0.025, df) * math.sqrt(sum(parts)) / (area * (1 - area))
        end = expit(logit(area) + (half if turned else -half))
        assert result.status == "ok"
        assert result.estimate == (0 if turned else 1)
        assert math.isnan(result.se)
        assert result.conf_int() == pytest.approx((0, end) if turned else (end, 1), rel=1e-9)
        assert result.df == pytest.approx(df)
        at_end = fit(losses_of(scores, folds), null_value=end)
        assert at_end.pvalue == pytest.approx(0.05)
        assert uv.TestResult.from_dict(result.to_dict()).conf_int() == result.conf_int()
        row = result.tables["Learners"]
        assert (row["conf_low"][0], row["conf_high"][0]) == result.conf_int()

    def test_what_has_no_error_has_no_answer(self):
        constant = fit(losses_of(np.zeros((1, 1, N)), FOLDS[:1]))
        assert "ranked the same, or perfectly" in constant.status
        of_patients = fit(losses_of(Y[None, None], FOLDS_OF_PATIENTS[:1], groups=PATIENT))
        assert "ranked the same, or perfectly" in of_patients.status
        both = fit(losses_of(np.stack([Y[None], 2 * Y[None]]), FOLDS[:1]))
        assert both.status.startswith("degenerate: within every fold both learners rank")
        assert both.tables["Learners"]["conf_high"] == (1, 1)

    def test_the_same_ranking_within_folds(self):
        scores = np.stack([SCORES[0, :1], SCORES[0, :1] + 10.0 * FOLDS[:1]])
        result = fit(losses_of(scores, FOLDS[:1]))
        assert result.status.startswith("degenerate: within every fold both learners rank")
