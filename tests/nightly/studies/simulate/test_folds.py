"""Simulated covariances against closed forms, and against loops over the very same samples."""

import math

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

from studies import simulate
from tests.oracles import fold_covariance as oracle


class Recording:
    """A sampler that keeps what it returned, the pilot first."""

    def __init__(self, sampler):
        self.sampler, self.drawn = sampler, []

    def __call__(self, rng, n):
        self.drawn.append(self.sampler(rng, n))
        return self.drawn[-1]

    @property
    def samples(self):
        return self.drawn[1:]


def two_classes(rng, n):
    y = rng.integers(2, size=n)
    return rng.normal(size=(n, 3)) + 0.7 * y[:, None], np.array(["a", "b"])[y]


def noise(rng, n):
    """Nothing to learn: the best rule is the mean."""
    return rng.normal(size=(n, 2)), rng.normal(size=n)


CONSTANT = "ridge:1e15"
"""Predicts the mean of the learning set, the slopes being zero."""


def moments_of_loop(X, y, fold, learn, loss):
    """s1, s2, s3 and the mean of the losses of one sample; ``learn(X, y)`` returns a rule."""
    without = [loss(y, learn(X[fold != k], y[fold != k])(X)) for k in np.unique(fold)]
    e = np.array(without)[fold, np.arange(len(y))]
    return np.array([*oracle.moments(e, fold), e.mean()])


def squared(y, prediction):
    return (y - prediction) ** 2


def zero_one(y, prediction):
    return (y != prediction).astype(float)


def fitted(estimator):
    return lambda X, y: estimator.fit(X, y).predict


def check_replicates(found, sampler, fold, learn, loss):
    names = ("s1", "s2", "s3", "mean")
    for number, (X, y) in enumerate(sampler.samples):
        expected = moments_of_loop(X, y, fold, learn, loss)
        replicate = [found.replicates[name][number] for name in names]
        np.testing.assert_allclose(replicate, expected, rtol=1e-8, atol=1e-10)


FOLD = np.repeat(np.arange(4), 5)


@pytest.mark.parametrize(
    ("learner", "alpha"), [("ridge:0", 1e-12), ("ridge:3.0", 3.0), ("ridge:0.2,scale=mean", None)]
)
def test_ridge_in_batches_is_ridge_fitted_one_by_one(learner, alpha):
    sampler = Recording(simulate.regression_sampler(4))
    found = simulate.fold_covariance(sampler, learner, 20, 4, 5, rng=0)
    assert len(sampler.samples) == found.n_replications == 5

    def learn(X, y):
        penalty = 0.2 * len(y) if alpha is None else alpha
        return Ridge(alpha=penalty).fit(X, y).predict

    check_replicates(found, sampler, FOLD, learn, squared)


@pytest.mark.parametrize(
    ("learner", "estimator"),
    [
        ("lda", LinearDiscriminantAnalysis()),
        ("knn:3", KNeighborsClassifier(3)),
        (LinearDiscriminantAnalysis(), LinearDiscriminantAnalysis()),
    ],
    ids=["lda", "knn", "sklearn"],
)
def test_any_learner_is_learnt_from_every_sample(learner, estimator):
    sampler = Recording(two_classes)
    found = simulate.fold_covariance(sampler, learner, 20, 4, 4, rng=0)
    check_replicates(found, sampler, FOLD, fitted(estimator), zero_one)


def closed_form(n, m):
    """sigma^2, omega, gamma of squared errors of the mean of g = n - m standard normal numbers.

    Errors u are jointly normal with mean zero, so Cov(u^2, v^2) = 2 Cov(u, v)^2.
    """
    g = n - m
    return 2 * (1 + 1 / g) ** 2, 2 / g**2, 2 * ((n - 2 * m) / g**2 - 2 / g) ** 2


@pytest.mark.parametrize("n_folds", [2, 4, 20])
def test_covariances_are_those_of_a_closed_form(n_folds):
    """Three seeds; one of 3 x 6 numbers beyond 4 standard errors has probability 0.001."""
    n, m = 20, 20 // n_folds
    sigma_squared, omega, gamma = closed_form(n, m)
    theta = sigma_squared / n + (m - 1) / n * omega + (n - m) / n * gamma
    true = {"sigma_squared": sigma_squared, "gamma": gamma, "theta": theta, "mean": 1 + 1 / (n - m)}
    true["rho"] = m * gamma / (sigma_squared + (m - 1) * omega)
    if m > 1:
        true["omega"] = omega
    for seed in range(3):
        found = simulate.fold_covariance(noise, CONSTANT, n, n_folds, 3000, rng=seed)
        for name, value in true.items():
            assert abs(getattr(found, name) - value) < 4 * found.mc_se[name], (name, seed)


def test_decomposition_of_least_squares_is_the_variance_that_other_samples_show():
    """(5.7) from one simulation, and the variance of the CV mean from another one."""
    sampler = simulate.regression_sampler(3, outlier_share=0.05)
    one = simulate.fold_covariance(sampler, "ridge:0", 20, 5, 4000, rng=1)
    two = simulate.fold_covariance(sampler, "ridge:0", 20, 5, 4000, rng=2)
    assert sum(one.contributions.values()) == pytest.approx(one.theta, rel=1e-10)
    assert sum(one.shares.values()) == pytest.approx(1.0, rel=1e-10)
    error = math.hypot(one.mc_se["theta"], two.mc_se["theta"])
    direct = two.replicates["mean"].var(ddof=1)
    assert abs(sum(one.contributions.values()) - direct) < 4 * error


def test_hold_out_variances_are_those_of_a_closed_form():
    """theta_2 is unbiased, theta_1 lacks the covariance of losses after the same learning set."""
    n, n_sets = 10, 2
    sigma_squared, omega = 2 * (1 + 1 / n) ** 2, 2 / n**2
    variance = (sigma_squared + (n - 1) * omega) / (n * n_sets)
    for seed in range(3):
        found = simulate.hold_out(noise, CONSTANT, n, n_sets, 3000, rng=seed)
        for name in ("variance", "theta2"):
            assert abs(found[name][0] - variance) < 4 * found[name][1]
        # Of N losses in all, E theta_1 = (sigma^2 - variance)/(N - 1).
        total = n * n_sets
        ignoring = (sigma_squared - variance) / (total - 1)
        assert abs(found["theta1"][0] - ignoring) < 4 * found["theta1"][1]


def by_vote(X_train, y_train, X_test):
    labels, counts = np.unique(y_train, return_counts=True)
    return np.repeat(labels[counts.argmax()], len(X_test))


@pytest.mark.parametrize("learner", ["ridge:0.1", "lda", by_vote])
def test_results_depend_neither_on_workers_nor_on_batches(monkeypatch, learner):
    usual = simulate.fold_covariance(two_classes, learner, 12, 3, 30, rng=0)
    monkeypatch.setattr("studies.simulate.many_samples.CHUNK_CELLS", 500)
    with parallel_config("threading"):
        other = simulate.fold_covariance(two_classes, learner, 12, 3, 30, rng=0, n_jobs=2)
    for name, values in usual.replicates.items():
        np.testing.assert_allclose(values, other.replicates[name], rtol=1e-10, atol=1e-12)
    assert simulate.fold_covariance(two_classes, learner, 12, 3, 30, rng=1).mean != usual.mean


def test_regression_sampler_explains_three_quarters():
    rng = np.random.default_rng(0)
    for share in (0.0, 0.05):
        X, y = simulate.regression_sampler(30, share)(rng, 200_000)
        signal = math.sqrt(3 / (30 * (1 + 99 * share))) * X.sum(axis=1)
        # With outliers the standard errors are 0.007 and 0.015 (measured over 300 samples).
        assert np.var(signal) / np.var(y) == pytest.approx(0.75, abs=0.028)
        assert np.var(y - signal) == pytest.approx(1.0, abs=0.06)
    outlying = np.abs(X).max(axis=1) > 8
    assert outlying.mean() == pytest.approx(0.05, abs=0.005)
