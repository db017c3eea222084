"""The ratio of two expected losses: by deletion, in words, and wherever it is shown."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import ucvtest as uv
from tests.oracles import intervals as oracle
from ucvtest.metrics.loss import Loss
from ucvtest.stats.intervals import LogT


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

    def test_the_linear_part_is_the_delta_method(self):
        """Both come together as the losses of the first learner vary less, by a factor of e."""
        u = np.random.default_rng(2).normal(size=8)
        apart = []
        for e in (0.1, 0.01):
            zero = losses_by_set(lambda X, y, T: np.zeros(len(T)), np.ones((8, 1)), 1 + e * u, 3)
            more = {key: 1 + value**2 for key, value in zero.items()}
            _, deleted = oracle.ratio_by_deletion(zero, more, 3)
            test = uv.UStatisticTest.from_losses(_losses(zero, more, 8, 3), contrast="ratio")
            apart.append(abs(test.fit().variance / deleted - 1))
        assert apart[0] < 0.2
        assert apart[1] < 0.02


def _losses(first, second, n, g):
    """All pairs of disjoint learning sets, each in both orders of appearance once."""
    from itertools import combinations

    rows = [
        (a, b)
        for a in combinations(range(n), g)
        for b in combinations(range(n), g)
        if not set(a) & set(b)
    ]
    sets = [each for pair in rows for each in pair]
    learning = np.array([[i in each for i in range(n)] for each in sets])
    values = [
        np.array([[each.get((L, i), 0.0) for i in range(n)] for L in sets])
        for each in (first, second)
    ]
    return uv.Losses.from_arrays(values, learning, loss="squared", learners=["a", "b"])


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
    assert isinstance(result.rule, LogT)
    assert result.diagnostics["interval"] == "log"
    assert result.diagnostics["df_kurtosis"] == result.df


def test_given_random_and_auto_agree():
    test = made()
    auto = test.fit(rng=1, max_fits=40_000)
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


def test_a_ratio_the_other_way_round_is_the_reciprocal():
    X, y = regression(40, 0)
    one, other = (
        uv.UStatisticTest(X, y, *pair, contrast="ratio").fit(300, rng=0)
        for pair in (("ridge:10.0", "ridge:0.001"), ("ridge:0.001", "ridge:10.0"))
    )
    assert one.estimate * other.estimate == pytest.approx(1)
    assert one.pvalue == pytest.approx(other.pvalue)
    low, high = one.conf_int()
    assert other.conf_int() == pytest.approx((1 / high, 1 / low))


def test_no_units():
    """Amounts in another currency have the same ratio."""
    X, y = regression(30, 4)
    found = [
        uv.UStatisticTest(X, unit * y, train_mean, slope, contrast="ratio").fit(100, rng=0)
        for unit in (1.0, 1000.0)
    ]
    assert found[0].estimate == pytest.approx(found[1].estimate)
    assert found[0].conf_int() == pytest.approx(found[1].conf_int())


def test_in_words():
    result = made().fit(500, rng=0)
    assert result.null_value == 1
    assert result.estimand == "ratio of mean squared errors when learning from 19 observations"
    text = result.summary(notes=True).as_text()
    assert "first / second" in text
    assert "se of log" in text
    assert "estimand = 1" in text
    share = 100 * (result.estimate - 1)
    assert 1 < share < 9.9
    assert f", {share:.1f}% more for the first learner (95% interval" in result.verdict
    assert "logarithm" in " ".join(result.notes)
    better = replace(result, estimate=0.5, pvalue=0.001)
    assert better.verdict.startswith("The first learner (ridge:10.0) is better at the 5% level")
    assert "50% less" in better.verdict
    worse = replace(result, estimate=1.23, pvalue=0.001)
    assert worse.verdict.startswith("The second learner (ridge:0.001) is better")
    assert "23% more" in worse.verdict
    assert "that ridge:10.0 and ridge:0.001 differ" in replace(result, pvalue=0.5).verdict


def test_is_kept():
    result = made().fit(100, rng=0)
    again = uv.TestResult.from_dict(json.loads(result.to_json()))
    assert again == result
    assert again.contrast == "ratio"
    assert result.settings["contrast"] == "ratio"


@pytest.mark.parametrize("side", oracle.SIDES)
def test_picture(side):
    result = made(alternative=side).fit(100, rng=0)
    ax = result.plot(Figure().subplots())
    assert ax.get_xscale() == "log"
    assert any(set(line.get_xdata()) == {1.0} for line in ax.get_lines())
    left, right = ax.get_xlim()
    assert 0 < left < result.estimate < right
    assert ax.get_title("left").startswith("ridge:10.0 over ridge:0.001")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": "auc"}, "an AUC is not a mean loss"),
        ({"loss": "zero_one"}, "not for error rates"),
        ({}, "not for error rates"),
        ({"loss": [[0, -1], [5, 0]]}, "never negative"),
        ({"loss": lambda y, p: p - y}, "never negative"),
        ({"loss": "log", "null_value": 0}, "null_value must be positive for a ratio, got 0: use 1"),
    ],
)
def test_ratios_of_something_else_are_refused(arguments, message):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(ValueError, match=message):
        uv.UStatisticTest(X, y, "lda", "gaussian_nb", contrast="ratio", **arguments)


def test_odd_arguments_are_refused():
    X, y = regression(20, 0)
    with pytest.raises(ValueError, match="contrast='ratio' compares two learners: pass other"):
        uv.UStatisticTest(X, y, "ridge:1.0", contrast="ratio")
    with pytest.raises(ValueError, match="contrast='odds' is unknown: use one of difference"):
        uv.UStatisticTest(X, y, "ridge:1.0", "ridge:2.0", contrast="odds")
    test = made(20)
    with pytest.raises(ValueError, match="interval='hall' is not for ratios"):
        test.fit(interval="hall")
    with pytest.raises(ValueError, match="variance='clipped' is not for ratios"):
        test.fit(variance="clipped")
    with pytest.raises(ValueError, match="kappa_profile is about a mean of loss differences"):
        test.kappa_profile()


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
    assert "could not be" in result.verdict
    result.plot(Figure().subplots())
    result.summary(notes=True).as_text()
    few = made(20).fit(5, variance="jackknife", rng=0)
    assert few.status.startswith("too few resamples: 5 pairs")


def test_bounded_losses_have_ratios():
    brier = Loss("brier", lambda y, p: (p - y) ** 2, "probability", bounds=(0.0, 1.0))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    test = uv.UStatisticTest(X, y, "lda", "majority", loss=brier, contrast="ratio", learn_size=15)
    assert test.fit(100, rng=0).estimand.startswith("ratio of mean brier losses")


def test_differences_of_losses_with_tails_point_to_it():
    X, y = regression(40, 0)
    y[3] += 40
    pair = ("ridge:10.0", "ridge:0.001")
    difference = uv.UStatisticTest(X, y, *pair).fit(100, "jackknife", rng=0)
    assert any("contrast='ratio'" in note for note in difference.notes)
    ratio = uv.UStatisticTest(X, y, *pair, contrast="ratio").fit(100, rng=0)
    assert not any("contrast='ratio'" in note for note in ratio.notes)


class TestComparison:
    def test_is_of_ratios(self):
        X, y = regression(30, 0)
        learners = ["ridge:10.0", "ridge:1.0", "knn:3"]
        test = uv.TestSpec("ustatistic", fit={"n_pairs": 100})
        found = uv.compare(X, y, learners, test, contrast="ratio", rng=0)
        assert found.contrast == "ratio"
        assert all(each.contrast == "ratio" for each in found.results.values())
        assert found.settings["contrast"] == "ratio"
        assert "ridge:10.0 / ridge:1.0" in found.summary(notes=True).as_text()
        assert (found.frame.null_value == 1).all()
        ax = found.plot(Figure().subplots())
        assert ax.get_xscale() == "log"
        assert any(set(line.get_xdata()) == {1.0} for line in ax.get_lines())
        again = uv.Comparison.from_dict(json.loads(found.to_json()))
        assert again == found
        single = uv.UStatisticTest(X, y, *learners[:2], contrast="ratio").fit(100, rng=0)
        assert found.result("ustatistic", *learners[:2]).estimate == single.estimate

    def test_on_one_design(self):
        X, y = regression(30, 0)
        design = uv.designs.DisjointSets(14, 100)
        test = uv.TestSpec("ustatistic", {"design": design})
        found = uv.compare(X, y, ["ridge:10.0", "ridge:1.0"], test, contrast="ratio", rng=0)
        assert found.result().contrast == "ratio"
        assert found.result().null_value == 1

    def test_the_test_that_has_it_is_the_default(self):
        X, y = regression(20, 0)
        found = uv.compare(X, y, [train_mean, slope], contrast="ratio", rng=0)
        assert found.tests == ("ustatistic",)

    def test_other_tests_are_refused(self):
        X, y = regression(20, 0)
        learners = ["ridge:10.0", "ridge:1.0"]
        with pytest.raises(ValueError, match="corrected_t tests no ratio: use the test"):
            uv.compare(X, y, learners, "corrected_t", contrast="ratio")
        with pytest.raises(ValueError, match="decides it for all tests"):
            uv.TestSpec("ustatistic", {"contrast": "ratio"})


@pytest.mark.parametrize(
    "design", [uv.designs.RandomSplits(1500, 0.5), uv.designs.KFold(2, n_repeats=750)]
)
def test_random_splits_of_one_size_are_admitted(design):
    X, y = regression(40, 1)
    losses = uv.evaluate(["ridge:1.0", "knn:3"], X, y, design, rng=0)
    found = uv.UStatisticTest.from_losses(losses, contrast="ratio").fit()
    own = uv.UStatisticTest(X, y, "ridge:1.0", "knn:3", contrast="ratio", learn_size=20)
    expected = own.fit(n_pairs=2000, rng=1)
    assert found.status == expected.status == "ok"
    assert found.n_fits == 3000
    assert found.estimate == pytest.approx(expected.estimate, rel=0.02)
    assert found.se == pytest.approx(expected.se, rel=0.2)
