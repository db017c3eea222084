"""Intervals of one learner: which rule, and its numbers from the learning sets."""

import math
from itertools import combinations

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import intervals as oracle
from tests.oracles.ustatistic import (
    error_of_slope,
    jackknife_variance,
    slope_of_standard_error,
    symmetrised_kernel,
)
from ucvtest.methods.ustatistic.interval import suited
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.ranks import AUC
from ucvtest.stats.pivots import plus_four

BRIER = Loss("brier", lambda y, p: (p - y) ** 2, "probability", bounds=(0.0, 1.0))


def regression(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.lognormal(size=n)


def classes(n, seed, shift=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + shift * y[:, None], y


def nearest_mean(X_train, y_train, X_test):
    means = np.array(
        [
            X_train[y_train == label].mean(axis=0) if (y_train == label).any() else [9.0, 9.0]
            for label in (0, 1)
        ]
    )
    return ((X_test[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)


def nearest_one(X_train, y_train, X_test):
    distances = ((X_test[:, None] - X_train) ** 2).sum(axis=2)
    return y_train[distances.argmin(axis=1)]


def train_mean(X_train, y_train, X_test):
    return np.full(len(X_test), y_train.mean())


def effects(X, y, g, loss):
    """U and b_i = E[D 1{i in S}] - (m/n) U, by going through all learning sets."""
    n, m = len(y), g + 1
    total, inside, count = 0.0, np.zeros(n), 0
    for learning in map(list, combinations(range(n), g)):
        for i in set(range(n)) - set(learning):
            value = loss(X, y, learning, i)
            total, count = total + value, count + 1
            inside[[*learning, i]] += value
    estimate = total / count
    return estimate, inside / count - m / n * estimate


@pytest.mark.parametrize("side", oracle.SIDES)
@pytest.mark.parametrize("name", ["hall", "hall_floor"])
def test_hall_is_that_of_all_learning_sets(name, side):
    X, y = regression(10, 3)
    result = uv.UStatisticTest(
        X, y, train_mean, learn_size=4, null_value=1.5, alternative=side
    ).fit("exact", interval=name)
    estimate, b = effects(X, y, 4, lambda X, y, L, i: (y[L].mean() - y[i]) ** 2)
    h = oracle.pseudo_values(b, 4)
    gamma, df = oracle.moments(h)
    se = math.sqrt((h**2).sum() / 90)
    floor = 6.0 if name == "hall_floor" else gamma
    low, high = oracle.hall(estimate, se, df, 10, gamma, side, 0.05, gamma_above=max(gamma, floor))
    assert result.estimate == pytest.approx(estimate)
    assert (result.se, result.df) == pytest.approx((se, df))
    expected = (0.0 if low is None else max(low, 0.0), math.inf if high is None else high)
    assert result.conf_int() == pytest.approx(expected, rel=1e-9)
    assert result.diagnostics["skewness"] == pytest.approx(gamma)
    assert result.diagnostics["df_kurtosis"] == pytest.approx(df)
    assert result.diagnostics["interval"] == name
    assert result.diagnostics["variance"] == "jackknife"


def kernel_of_errors(X, y, g, learners):
    """Phi_0 of the difference of errors of two learners, or of the errors of one."""

    def difference(learning, i):
        L = list(learning)
        wrong = [float(learner(X[L], y[L], X[[i]])[0] != y[i]) for learner in learners]
        return wrong[0] - sum(wrong[1:])

    return symmetrised_kernel(difference, len(y), g)


@pytest.mark.parametrize("side", oracle.SIDES)
@pytest.mark.parametrize("learners", [(nearest_mean,), (nearest_mean, nearest_one)])
def test_stabilised_is_that_of_all_learning_sets(learners, side):
    X, y = classes(9, 5, 0.6)
    null = 0.3 if len(learners) == 1 else 0.1
    test = uv.UStatisticTest(X, y, *learners, learn_size=3, null_value=null, alternative=side)
    result = test.fit("exact", variance="jackknife", interval="stabilised")
    phi_0 = kernel_of_errors(X, y, 3, learners)
    slope, error = slope_of_standard_error(phi_0, 9), error_of_slope(phi_0, 9)
    se = math.sqrt(jackknife_variance(phi_0, 9))
    assert result.diagnostics["slope"] == pytest.approx(slope)
    assert result.diagnostics["se_slope"] == pytest.approx(error)
    assert result.diagnostics["mc_se_slope"] == 0
    least = 0.0 if len(learners) == 1 else -1.0
    expected = oracle.stabilised(result.estimate, se, 8, slope, side, 0.05, least, 1.0, error)
    assert result.conf_int() == pytest.approx(expected)
    z = oracle.stabilised_z(result.estimate, se, slope, error, null)
    assert result.statistic == pytest.approx(z)
    assert result.df == 8


def test_slopes_of_random_learning_sets_approach_the_one_of_all():
    X, y = classes(12, 2)
    test = uv.UStatisticTest(X, y, "lda", "knn:1", learn_size=4)
    expected = test.fit("exact", interval="stabilised").diagnostics["slope"]
    found = test.fit(6000, interval="stabilised", rng=0).diagnostics
    assert 0 < found["mc_se_slope"] < 0.3 * abs(expected)
    assert abs(found["slope"] - expected) < 4 * found["mc_se_slope"]


@pytest.mark.parametrize("side", oracle.SIDES)
def test_plus_four_is_that_of_all_learning_sets(side):
    X, y = classes(10, 0, 0.3)
    test = uv.UStatisticTest(X, y, nearest_mean, learn_size=4, null_value=0.5, alternative=side)
    result = test.fit("exact", variance="jackknife")
    estimate, b = effects(
        X, y, 4, lambda X, y, L, i: float(nearest_mean(X[L], y[L], X[[i]])[0] != y[i])
    )
    v = (oracle.pseudo_values(b, 4) ** 2).sum() / 90
    assert result.variance == pytest.approx(v)
    moved = (10 * estimate + 2) / 14
    se = math.sqrt((100 * v + 1 + 40 * (estimate - 0.5) ** 2 / 14) / 14**2)
    low, high = oracle.quantiles(side, 0.05, 9)
    expected = (
        0.0 if low is None else max(0.0, moved - low * se),
        1.0 if high is None else min(1.0, moved - high * se),
    )
    assert result.conf_int() == pytest.approx(expected)
    assert result.statistic == pytest.approx((moved - 0.5) / se)
    assert (result.reference, result.df) == ("t", 9.0)


@pytest.mark.parametrize("shift", [50.0, -50.0])
def test_without_any_error_or_without_any_success(shift):
    """Far apart every rule is right; learnt with the labels exchanged, every one is wrong."""
    X, y = classes(24, 1, abs(shift))

    def learner(X_train, y_train, X_test):
        found = (X_test[:, 0] > 25).astype(int)
        return found if shift > 0 else 1 - found

    result = uv.UStatisticTest(X, y, learner, null_value=0.5).fit(200, rng=0)
    assert (result.status, result.variance, result.se) == ("ok", 0.0, 0.0)
    assert result.estimate == (0.0 if shift > 0 else 1.0)
    expected = plus_four(result.estimate, 0.0, 24).interval("two-sided", 0.05)
    assert result.conf_int() == expected
    assert 0 < expected[1 if shift > 0 else 0] < 1
    assert result.pvalue < 0.001
    wald = uv.UStatisticTest(X, y, learner, null_value=0.5).fit(200, interval="wald", rng=0)
    assert wald.status.startswith("degenerate")
    assert math.isnan(wald.pvalue)


@pytest.mark.parametrize(
    ("loss", "name", "word"),
    [
        (LOSSES["zero_one"], "plus_four", "share"),
        (LOSSES["log"], "hall", "skewed"),
        (LOSSES["squared"], "hall_floor", "without a largest value"),
        (LOSSES["absolute"], "hall_floor", "without a largest value"),
        (BRIER, "hall", "skewed"),
        (uv.losses.matrix_loss([[0, 1], [5, 0]]), "hall", "skewed"),
        (Loss("huber", np.subtract, "number"), "hall_floor", "without a largest value"),
        (AUC, "logit", "between 0 and 1"),
    ],
)
def test_the_default_goes_by_loss_and_number_of_learners(loss, name, word):
    chosen, reason = suited(loss, "auto", paired=False, sloped=True)
    assert chosen == name
    assert word in reason
    of_two = "stabilised" if loss is LOSSES["zero_one"] else "wald"
    assert suited(loss, "auto", paired=True, sloped=True)[0] == of_two
    assert suited(loss, "auto", paired=True, sloped=False)[0] == "wald"
    if loss is not AUC:
        assert suited(loss, "unbiased", paired=False, sloped=True)[0] == "wald"
