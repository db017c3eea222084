"""The ratio of two expected losses, by deletion."""

import math

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import intervals as oracle


def regression(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.lognormal(size=n)


def train_mean(X_train, y_train, X_test):
    return np.full(len(X_test), y_train.mean())


def slope(X_train, y_train, X_test):
    """Least squares through the origin on the first feature."""
    return X_test[:, 0] * (X_train[:, 0] @ y_train) / (X_train[:, 0] @ X_train[:, 0])


def losses_by_set(learner, X, y, g):
    from itertools import combinations

    return {
        (L, i): float((learner(X[list(L)], y[list(L)], X[[i]])[0] - y[i]) ** 2)
        for L in combinations(range(len(y)), g)
        for i in range(len(y))
        if i not in L
    }


def made(n=40, seed=0, **arguments):
    X, y = regression(n, seed)
    return uv.UStatisticTest(X, y, "ridge:10.0", "ridge:0.001", contrast="ratio", **arguments)


class TestByDeletion:
    """Leaving one observation out changes the complete statistic of n - 1 others.

    The jackknife of log(U1/U2) itself and that of its linear part agree to the order of their
    difference: they come together as the effect of one observation gets small.
    """

    def test_exact_estimate_and_linear_variance(self):
        X, y = regression(9, 1)
        first, second = (losses_by_set(each, X, y, 3) for each in (train_mean, slope))
        result = uv.UStatisticTest(X, y, train_mean, slope, learn_size=3, contrast="ratio").fit(
            "exact"
        )
        log_ratio, _ = oracle.ratio_by_deletion(first, second, 3)
        assert result.estimate == pytest.approx(math.exp(log_ratio))
        means = [np.mean(list(each.values())) for each in (first, second)]
        kernel = {key: first[key] / means[0] - second[key] / means[1] for key in first}
        everyone = tuple(range(9))

        def mean(members):
            return np.mean([v for (L, i), v in kernel.items() if {*L, i} <= set(members)])

        left_out = np.array([mean(everyone[:i] + everyone[i + 1 :]) for i in everyone])
        expected = 8 / 9 * np.sum((left_out - left_out.mean()) ** 2)
        assert result.variance == pytest.approx(expected)
        assert result.se == pytest.approx(math.sqrt(expected))


@pytest.mark.parametrize("side", oracle.SIDES)
def test_interval_and_pvalue_are_student_t_on_the_log_scale(side):
    result = made(alternative=side, null_value=0.9).fit(300, rng=0)
    low, high = oracle.quantiles(side, 0.05, result.df)
    centre = math.log(result.estimate)
    expected = (
        0.0 if low is None else math.exp(centre - low * result.se),
        math.inf if high is None else math.exp(centre - high * result.se),
    )
    assert result.conf_int() == pytest.approx(expected)
    assert result.statistic == pytest.approx((centre - math.log(0.9)) / result.se)
    assert (result.pvalue <= 0.05) == (not expected[0] <= 0.9 <= expected[1])
    assert result.rule.kind == "log t"
    assert result.diagnostics["interval"] == "log"
    assert result.diagnostics["df_kurtosis"] == result.df


def test_given_random_and_auto_agree():
    test = made()
    auto = test.fit(rng=1, max_fits=10_000)
    fixed = test.fit(4000, rng=2)
    X, y = regression(40, 0)
    learners = ["ridge:10.0", "ridge:0.001"]
    losses = uv.evaluate(learners, X, y, uv.designs.DisjointSets(19, 4000), rng=3)
    given = uv.UStatisticTest.from_losses(losses, contrast="ratio").fit()
    for one in (fixed, given):
        assert one.estimate == pytest.approx(auto.estimate, rel=0.01)
        assert one.se == pytest.approx(auto.se, rel=0.15)
    assert auto.se**2 == pytest.approx(
        auto.variance + (auto.diagnostics["mc_se_estimate"] / auto.estimate) ** 2
    )
    assert auto.estimate == pytest.approx(
        auto.diagnostics["estimate_learner"] / auto.diagnostics["estimate_other"]
    )


def test_without_an_answer():
    X, y = regression(20, 0)
    same = uv.UStatisticTest(X, y, "ridge:1.0", "ridge:1.0", contrast="ratio").fit(50, rng=0)
    assert same.status.startswith("degenerate: the two learners had the same loss")
    assert math.isnan(same.pvalue)
    assert same.estimate == 1

    def clairvoyant(X_train, y_train, X_test):
        return X_test[:, 0]

    known = uv.UStatisticTest(X, X[:, 0], clairvoyant, "ridge:1.0", contrast="ratio")
    result = known.fit(50, rng=0)
    assert result.status.startswith("no ratio: the mean loss of a learner is 0")
    few = made(20).fit(5, variance="jackknife", rng=0)
    assert few.status.startswith("too few resamples: 5 pairs")
