"""Against a learner that always says the same: p-values near Wald's, that agree with intervals.

The standard error of a difference to it moves with the share of the classes. What was seen of that
by leaving out single observations was once followed for six standard errors.
"""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

import ucvtest as uv

SIDES = ("two-sided", "less", "greater")
LEVELS = (0.5, 0.2, 0.05, 0.01, 1e-4, 1e-6)
SIX = ("ridge:1.0", "ridge:100.0", "nearest_centroid", "gaussian_nb", "knn:3", "majority")


def drawn(load, ones, counts, seed=0):
    """So many observations of the classes `ones` and of all others, columns of unit variance."""
    X, y = load(return_X_y=True)
    y = np.isin(y, ones).astype(int)
    rng = np.random.default_rng(seed)
    rows = [rng.choice(np.flatnonzero(y == k), n, replace=False) for k, n in enumerate(counts)]
    X = X[:, X.std(axis=0) > 0]
    rows = np.concatenate(rows)
    return X[rows] / X.std(axis=0), y[rows]


def by_wald(result, null_value, side):
    """The p-value of the estimate and its standard error alone."""
    t, df = (result.estimate - null_value) / result.se, result.df
    tail = {"two-sided": 2 * stats.t.sf(abs(t), df), "less": stats.t.cdf(t, df)}
    return tail.get(side, stats.t.sf(t, df))


def check(result, side="two-sided"):
    """The default interval: bounded, nested, and left exactly by what its p-value rejects."""
    assert result.diagnostics["interval"] == "stabilised"
    assert result.status == "ok"
    for one in SIDES:
        for null_value in (-0.6, -0.2, -0.05, 0.0, 0.1):
            pvalue = result.rule.pvalue(null_value, one)
            assert 0.1 < pvalue / by_wald(result, null_value, one) < 10
            for alpha in (*LEVELS, pvalue * (1 - 1e-9), pvalue * (1 + 1e-9)):
                low, high = result.rule.interval(one, min(alpha, 1 - 1e-9))
                assert (pvalue < alpha) == (not low <= null_value <= high) or alpha >= 1
    assert result.pvalue == result.rule.pvalue(0.0, side)
    limits = [result.rule.interval("two-sided", alpha) for alpha in LEVELS]
    for alpha, (low, high) in zip(LEVELS, limits, strict=True):
        half = result.se * stats.t.isf(alpha / 2, result.df)
        # Ends are cut to what a difference of error rates can be.
        assert 0.7 * half < result.estimate - low < 1.6 * half or low == -1
        assert 0.7 * half < high - result.estimate < 1.6 * half or high == 1
    assert all(b[0] <= a[0] <= a[1] <= b[1] for a, b in pairwise(limits))


@pytest.mark.parametrize("counts", [(30, 30), (25, 45), (45, 25)])
def test_breast_cancer(counts):
    X, y = drawn(load_breast_cancer, [1], counts)
    check(uv.UStatisticTest(X, y, "ridge:1.0", "majority").fit(rng=0))


def test_irises_as_many_of_both():
    X, y = drawn(load_iris, [1], (40, 40))
    check(uv.UStatisticTest(X, y, "lda", "majority").fit(rng=0))


def nothing(X_train, y_train, X_test):
    """Always class 0."""
    return np.zeros(len(X_test), dtype=int)


def test_wines_against_a_constant_of_the_users_own_on_one_side():
    X, y = drawn(load_wine, [0], (48, 24))
    test = uv.UStatisticTest(X, y, "ridge:1.0", nothing, alternative="less")
    check(test.fit(n_pairs=60, rng=0), "less")


def test_losses_of_digits():
    X, y = drawn(load_digits, [3], (60, 20))
    design = uv.designs.DisjointSets(39, n_draws=400)
    losses = uv.evaluate({"k": "knn:1", "none": "majority"}, X, y, design, "zero_one", rng=0)
    check(uv.UStatisticTest.from_losses(losses).fit())


@pytest.fixture(scope="module")
def six():
    X, y = drawn(load_breast_cancer, [1], (30, 30))
    spec = uv.TestSpec("ustatistic", fit={"n_pairs": 300})
    return uv.compare(X, y, list(SIX), spec, correction="simultaneous", rng=0)


def test_six_learners_are_all_told_from_the_constant_one(six):
    together = six.together["ustatistic"]
    frame = six.summary_frame().set_index(["learner", "other"])
    value = together.critical(six.of_test("ustatistic"), 0.05).value
    for name in SIX[:-1]:
        row = frame.loc[name, "majority"]
        assert row["estimate"] < -0.2
        assert row["pvalue_adjusted"] < 0.05
        assert row["conf_high"] < 0
        for end in ("conf_low", "conf_high"):
            side = abs(row[end] - row["estimate"])
            assert 0.7 < side / (value * row["se"]) < 1.6
    assert "majority" not in six.best_set()


def test_six_learners_have_statistics_of_their_own_intervals(six):
    together = six.together["ustatistic"]
    for (first, second), result in six.of_test("ustatistic").items():
        if result.status == "ok":
            places = together.learners.index(first), together.learners.index(second)
            assert together.statistics[places] == pytest.approx(result.statistic)
            check(result)
