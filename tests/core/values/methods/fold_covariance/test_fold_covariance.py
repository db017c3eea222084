"""The test class: what it estimates, against loops."""

import json
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from tests.oracles import fold_covariance as oracle
from ucvtest.designs.draws import draw_orders, fold_numbers

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, [1, 4, 8]], Y[:60]


def make(learner="lda", other="gaussian_nb", n_folds=6, **options):
    return uv.FoldCovarianceTest(X, Y, learner, other, n_folds=n_folds, **options)


def folds_of(seed, n_obs, n_folds, n_repeats=1):
    """The folds that a fit with this seed draws."""
    return fold_numbers(draw_orders(np.random.default_rng(seed), n_repeats, n_obs), n_folds)


def losses_without(estimator, fold, n_folds):
    """Zero-one losses of all observations after learning all folds but one, (K, n)."""
    return np.array(
        [estimator.fit(X[fold != k], Y[fold != k]).predict(X) != Y for k in range(n_folds)]
    ).astype(float)


def test_estimate_and_moments_are_those_of_a_loop():
    result = make().fit(rng=3)
    fold = folds_of(3, 60, 6)[0]
    own = np.arange(60)
    first = losses_without(LinearDiscriminantAnalysis(), fold, 6)[fold, own]
    second = losses_without(GaussianNB(), fold, 6)[fold, own]
    e = first - second
    assert result.estimate == pytest.approx(e.mean(), abs=1e-12)
    found = [result.diagnostics[name] for name in ("s1", "s2", "s3")]
    np.testing.assert_allclose(found, oracle.moments(e, fold), atol=1e-12)
    means = [e[fold == k].mean() for k in range(6)]
    np.testing.assert_allclose(result.diagnostics["fold_means"][0], means, atol=1e-12)
    assert (result.n_obs, result.n_fits) == (60, 12)
    assert result.settings["learn_size"] == 50


def test_jackknife_is_that_of_5_6():
    result = make(other=None, estimator="jackknife").fit(rng=3)
    fold = folds_of(3, 60, 6)[0]
    without = losses_without(LinearDiscriminantAnalysis(), fold, 6)
    full = (LinearDiscriminantAnalysis().fit(X, Y).predict(X) != Y).astype(float)
    assert result.estimate == pytest.approx(oracle.jackknife(full, without, fold), abs=1e-12)
    # Section 2.5: the same as a mean of n numbers.
    e = [6 * full[i] - without[:, i].sum() + without[fold[i], i] for i in range(60)]
    expected = oracle.moments(np.array(e), fold)
    found = [result.diagnostics[name] for name in ("s1", "s2", "s3")]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert result.n_fits == 7


def test_counts_of_errors_do_not_overflow_in_the_jackknife():
    """K times an error is more than a small integer can store."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:135, [1, 4, 8]], y[:135]
    result = uv.FoldCovarianceTest(X, y, "lda", n_folds=135, estimator="jackknife").fit(rng=0)
    lda, own = LinearDiscriminantAnalysis(), np.arange(135)
    full = lda.fit(X, y).predict(X) != y
    without = np.array([lda.fit(X[own != i], y[own != i]).predict(X) != y for i in own])
    expected = oracle.jackknife(full.astype(float), without.astype(float), own)
    assert result.estimate == pytest.approx(expected, abs=1e-12)


def test_nadeau_and_bengio_is_the_corrected_t_test():
    result = make().fit(rho="nadeau_bengio", rng=3)
    means = result.diagnostics["fold_means"][0]
    se = math.sqrt(means.var(ddof=1) * (1 / 6 + 10 / 50))
    assert result.se == pytest.approx(se, rel=1e-12)
    assert result.statistic == pytest.approx(means.mean() / se, rel=1e-12)
    assert result.pvalue == pytest.approx(2 * stats.t(5).sf(abs(means.mean() / se)), rel=1e-12)
    assert result.df == 5
    assert result.diagnostics["variance"] == "nadeau_bengio"


def test_rho_zero_is_the_naive_t_test_of_the_fold_means():
    result = make().fit(rho=0.0, rng=3)
    expected = stats.ttest_1samp(result.diagnostics["fold_means"][0], 0.0)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert result.diagnostics["variance"] == "naive"


def test_without_an_assumption_there_is_no_test():
    result = make().fit(rho=None, rng=3)
    assert math.isnan(result.se)
    assert math.isnan(result.pvalue)
    assert math.isnan(result.variance)
    assert "rho 'nadeau_bengio'" in result.status
    assert "variance" not in result.diagnostics
    # What needs no assumption is there.
    assert result.diagnostics["lambda2"] > 0
    assert result.plot_kinds[0] == "admissible"


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("n_repeats", [1, 3])
def test_the_verdict_changes_at_rho_flip(alternative, n_repeats):
    scoring = "accuracy" if alternative == "greater" else None
    test = make(other=None, null_value=0.4, alternative=alternative, scoring=scoring)
    flip = test.fit(rng=3, n_repeats=n_repeats).diagnostics["rho_flip"]
    assert -1 / 5 < flip < 1
    at_flip = test.fit(rho=flip, rng=3, n_repeats=n_repeats)
    assert at_flip.pvalue == pytest.approx(0.05, rel=1e-9)
    below = test.fit(rho=flip - 0.01, rng=3, n_repeats=n_repeats)
    above = test.fit(rho=flip + 0.01, rng=3, n_repeats=n_repeats)
    assert below.pvalue < 0.05 < above.pvalue


def test_no_rho_rejects_on_the_wrong_side():
    test = make(other=None, null_value=0.4, alternative="greater")
    result = test.fit(rng=3)
    assert math.isnan(result.diagnostics["rho_flip"])
    assert min(result.tables["Sensitivity to rho"]["pvalue"]) > 0.5


def test_a_rho_that_is_not_possible_is_none_at_which_the_verdict_changes():
    mean = make(other=None, n_folds=7).fit(rng=3).estimate
    result = make(other=None, n_folds=7, null_value=mean).fit(rng=3)
    assert math.isnan(result.diagnostics["rho_flip"])


def test_admissible_variances_end_where_the_loss_does():
    one, two = make(other=None).fit(rng=3), make().fit(rng=3)
    for result, width in ((one, 1.0), (two, 2.0)):
        found = result.diagnostics
        at_zero = found["lambda2"] / 60 + (found["lambda1"] - found["lambda2"]) / 10
        assert found["admissible_low"] == pytest.approx(max(0.0, at_zero), abs=1e-14)
        highest = at_zero + width**2 / 4 - found["lambda1"]
        assert found["admissible_high"] == pytest.approx(highest, abs=1e-14)
    jackknife = make(other=None, estimator="jackknife").fit(rng=3).diagnostics
    assert jackknife["admissible_low"] == 0.0
    assert jackknife["admissible_high"] > found["admissible_high"]


def test_a_loss_without_bounds_leaves_a_half_line():
    X, y = load_diabetes(return_X_y=True)
    test = uv.FoldCovarianceTest(X[:50, :3], y[:50], "ridge:0.1", n_folds=5, loss="squared")
    result = test.fit(rng=0)
    assert result.diagnostics["admissible_high"] == math.inf
    assert json.loads(result.to_json())["tables"]["Admissible variances"]


def test_leave_one_out():
    result = make(n_folds=60).fit(rng=3)
    assert math.isnan(result.diagnostics["s2"])
    assert math.isnan(result.diagnostics["lambda1"])
    assert result.df == 59
    assert result.status == "ok"
    assert result.diagnostics["admissible_low"] == 0.0
    assert "admissible" not in result.pictures
    # Without random learners the order of folds is irrelevant.
    assert result.estimate == make(n_folds=60).fit(rng=4).estimate


def test_two_folds():
    result = make(n_folds=2).fit(rng=3)
    assert result.df == 1
    assert result.diagnostics["rho"] == 0.5


def test_folds_of_different_sizes_are_weighted_and_mentioned():
    test = make(n_folds=7)
    result = test.fit(rng=3)
    assert test.learn_sizes == (51, 52)
    assert result.settings["learn_size"] == "51 or 52"
    fold = folds_of(3, 60, 7)[0]
    e = np.array(
        losses_without(LinearDiscriminantAnalysis(), fold, 7)
        - losses_without(GaussianNB(), fold, 7)
    )[fold, np.arange(60)]
    expected = uv.kernels.fold_covariance.moments(e, fold)
    assert result.diagnostics["naive_variance"] == pytest.approx(expected["naive_variance"])


def test_repetitions_reduce_the_variance_by_what_varies_between_them():
    test = make()
    result = test.fit(rng=3, n_repeats=4)
    fold = folds_of(3, 60, 6, n_repeats=4)
    means, variances = [], []
    for row in fold:
        first = losses_without(LinearDiscriminantAnalysis(), row, 6)
        second = losses_without(GaussianNB(), row, 6)
        e = (first - second)[row, np.arange(60)]
        means.append(e.mean())
        by_fold = [e[row == k].mean() for k in range(6)]
        variances.append(np.var(by_fold, ddof=1) * (1 / 6 + 1 / 5))
    expected = np.mean(variances) - 3 / 4 * np.var(means, ddof=1)
    assert result.estimate == pytest.approx(np.mean(means), abs=1e-12)
    assert result.variance == pytest.approx(expected, rel=1e-10)
    assert result.n_fits == 48


def test_a_loss_that_does_not_vary_is_degenerate():
    y = np.arange(60) % 2
    test = uv.FoldCovarianceTest(y[:, None] * 1.0, y, "knn:1", null_value=0.5)
    result = test.fit(rng=0)
    assert result.status.startswith("degenerate: the loss is the same in every fold")
    assert math.isnan(result.pvalue)
    assert math.isnan(result.diagnostics["rho_flip"])


def test_a_negative_variance_is_said_and_not_clamped():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    result = make(tree, None, null_value=0.5).fit(rho=-0.199, n_repeats=3, rng=0)
    assert result.variance < 0
    assert result.status.startswith("negative variance estimate")
    assert math.isnan(result.se)
    assert math.isnan(result.pvalue)


def test_a_negative_eigenvalue_of_unequal_folds_is_said():
    """Losses of equal mean in folds of 2 and 3, by a rule that knows its fold."""
    fold = folds_of(0, 5, 2)[0]
    y = np.empty(5)
    for k in range(2):
        members = np.flatnonzero(fold == k)
        y[members] = np.linspace(0.5, 1.5, len(members))
    test = uv.FoldCovarianceTest(
        np.arange(5.0)[:, None], y, nothing, n_folds=2, loss="absolute", null_value=0.5
    )
    result = test.fit(rng=0)
    assert result.diagnostics["lambda2"] < 0
    assert result.status.startswith("negative variance estimate")
    assert result.status.endswith("use n_folds that divide n")
    assert math.isnan(result.diagnostics["rho_flip"])
    assert math.isnan(result.pvalue)


def nothing(X_train, y_train, X_test):
    return np.zeros(len(X_test))


def inside(polygon, x, y):
    """Whether a point is in the trapezoid with vertical sides, corners (4, 2)."""
    (x0, low0), (x1, low1), (_, high1), (_, high0) = polygon
    share = (x - x0) / (x1 - x0)
    low, high = low0 + share * (low1 - low0), high0 + share * (high1 - high0)
    return x0 - 1e-9 <= x <= x1 + 1e-9 and low - 1e-9 <= y <= high + 1e-9


@pytest.mark.parametrize("estimator", ["cross_validation", "jackknife"])
@pytest.mark.parametrize("n_folds", [2, 6, 7])
def test_the_picture_of_admissible_covariances(estimator, n_folds):
    """The area is that of Lemma 5.5, the line runs inside it, and has the eigenvalues."""
    result = make(n_folds=n_folds, estimator=estimator).fit(rho=0.6, rng=3)
    area, line, point, _ = result.pictures["admissible"].layers
    corners = np.column_stack([area.x, area.y])
    m = uv.kernels.fold_covariance.mean_fold_size(make(n_folds=n_folds).fold_sizes)
    u = area.x
    bounds = np.where(np.arange(4) < 2, -(1 + (m - 1) * u) / (60 - m), (1 + (m - 1) * u) / m)
    np.testing.assert_allclose(area.y, bounds, atol=1e-12)
    found = result.diagnostics
    for x, y in [*zip(line.x, line.y, strict=True), (point.x[0], point.y[0])]:
        assert inside(corners, x, y)
        sigma_squared = found["lambda1"] / (1 - x)
        values = uv.kernels.fold_covariance.eigenvalues(
            sigma_squared, x * sigma_squared, y * sigma_squared, 60, m
        )
        assert values[1] == pytest.approx(found["lambda2"], rel=1e-9)
    ends = sorted([found["admissible_low"], found["admissible_high"]])
    by_picture = [
        found["naive_variance"] + y * found["lambda1"] / (1 - x)
        for x, y in zip(line.x, line.y, strict=True)
    ]
    np.testing.assert_allclose(by_picture, ends, atol=1e-9)
