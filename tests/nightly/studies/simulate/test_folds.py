"""Simulated covariances against closed forms, and against loops over the very same samples."""

import math

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier

import ucvtest as uv
from studies import simulate
from studies.simulate.many_samples import ManySamples
from tests.oracles import fold_covariance as oracle
from ucvtest.data.sample import make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import as_learner


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


def moments_of_loop(X, y, fold, learn, loss, jackknife=False):
    """s1, s2, s3 and the mean of the losses of one sample; ``learn(X, y)`` returns a rule."""
    without = [loss(y, learn(X[fold != k], y[fold != k])(X)) for k in np.unique(fold)]
    e = np.array(without)[fold, np.arange(len(y))]
    if jackknife:
        full = loss(y, learn(X, y)(X))
        e = e + len(without) * full - np.sum(without, axis=0)
        assert e.mean() == pytest.approx(oracle.jackknife(full, np.array(without), fold))
    return np.array([*oracle.moments(e, fold), e.mean()])


def squared(y, prediction):
    return (y - prediction) ** 2


def zero_one(y, prediction):
    return (y != prediction).astype(float)


def fitted(estimator):
    return lambda X, y: estimator.fit(X, y).predict


def check_replicates(found, sampler, fold, learn, loss, **options):
    names = ("s1", "s2", "s3", "mean")
    for number, (X, y) in enumerate(sampler.samples):
        expected = moments_of_loop(X, y, fold, learn, loss, **options)
        replicate = [found.replicates[name][number] for name in names]
        np.testing.assert_allclose(replicate, expected, rtol=1e-8, atol=1e-10)


FOLD = np.repeat(np.arange(4), 5)


@pytest.mark.parametrize("estimator", ["cross_validation", "jackknife"])
@pytest.mark.parametrize(
    ("learner", "alpha"), [("ridge:0", 1e-12), ("ridge:3.0", 3.0), ("ridge:0.2,scale=mean", None)]
)
def test_ridge_in_batches_is_ridge_fitted_one_by_one(learner, alpha, estimator):
    sampler = Recording(simulate.regression_sampler(4))
    found = simulate.fold_covariance(
        sampler, learner, 20, 4, 5, estimator=estimator, loss="squared", rng=0
    )
    assert len(sampler.samples) == found.n_replications == 5

    def learn(X, y):
        penalty = 0.2 * len(y) if alpha is None else alpha
        return Ridge(alpha=penalty).fit(X, y).predict

    jackknife = estimator == "jackknife"
    check_replicates(found, sampler, FOLD, learn, squared, jackknife=jackknife)


@pytest.mark.parametrize("options", ["penalize_intercept=true", "scale=mean"])
@pytest.mark.parametrize("output", ["label", "score"])
def test_batches_and_single_samples_predict_the_same(options, output):
    learner = as_learner(f"ridge:0.5,{options}")
    loss = uv.Loss("margin" if output == "score" else "wrong", _difference, output)
    learning = np.arange(4)[:, None] != FOLD
    sampler = Recording(two_classes)
    rng = np.random.default_rng(1)
    many = ManySamples(sampler, [learner], learning, ~learning, loss=loss, rng=rng)
    found = np.concatenate(list(many.losses(7)))
    for (X, y), losses in zip(sampler.samples, found, strict=True):
        sample = make_sample(X, y, as_classes=True)
        single = Evaluator(sample, learner, output).predict(learning, ~learning, np.arange(4))
        expected = np.where(learning, 0.0, sample.target - single.values)
        np.testing.assert_allclose(losses, expected, atol=1e-9)


def _difference(y, prediction):
    return y - prediction


def test_more_features_than_observations():
    sampler = Recording(simulate.regression_sampler(40))
    found = simulate.fold_covariance(sampler, "ridge:1.0", 20, 4, 3, rng=0)
    check_replicates(found, sampler, FOLD, fitted(Ridge(alpha=1.0)), squared)


@pytest.mark.parametrize(
    ("learner", "estimator"),
    [
        ("lda", LinearDiscriminantAnalysis()),
        ("knn:3", KNeighborsClassifier(3)),
        (LinearDiscriminantAnalysis(), LinearDiscriminantAnalysis()),
    ],
    ids=["lda", "knn", "sklearn"],
)
@pytest.mark.parametrize("mean", ["cross_validation", "jackknife"])
def test_any_learner_is_learnt_from_every_sample(learner, estimator, mean):
    sampler = Recording(two_classes)
    found = simulate.fold_covariance(sampler, learner, 20, 4, 4, rng=0, estimator=mean)
    jackknife = mean == "jackknife"
    check_replicates(found, sampler, FOLD, fitted(estimator), zero_one, jackknife=jackknife)
    assert found.settings["loss"] == "zero_one"


def test_matched_pairs():
    sampler = Recording(two_classes)
    found = simulate.fold_covariance(sampler, "lda", 20, 4, 4, "knn:3", rng=0)
    means = []
    for X, y in sampler.samples:
        both = [
            moments_of_loop(X, y, FOLD, fitted(estimator), zero_one)[3]
            for estimator in (LinearDiscriminantAnalysis(), KNeighborsClassifier(3))
        ]
        means.append(both[0] - both[1])
    np.testing.assert_allclose(found.replicates["mean"], means, atol=1e-12)


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


def test_estimated_eigenvalues_are_unbiased_and_the_naive_variance_lacks_gamma():
    n, m = 20, 5
    sigma_squared, omega, gamma = closed_form(n, m)
    lambda1, lambda2, lambda3 = uv.kernels.fold_covariance.eigenvalues(
        sigma_squared, omega, gamma, n, m
    )
    for seed in range(3):
        found = simulate.fold_covariance(noise, CONSTANT, n, 4, 3000, rng=10 + seed)
        for name, value in (("lambda1", lambda1), ("lambda2", lambda2)):
            each = found.replicates[name]
            assert abs(each.mean() - value) < 4 * each.std() / math.sqrt(len(each))
        naive = found.replicates["lambda2"] / n
        bias = naive.mean() - lambda3 / n
        assert abs(bias + gamma) < 4 * naive.std() / math.sqrt(len(naive))


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


def test_mean_error_of_least_squares_is_the_known_one():
    """(g + 1)(g - 2)/(g (g - d - 2)) for g normal observations of d features, variance 1."""
    found = simulate.fold_covariance(simulate.regression_sampler(3), "ridge:0", 20, 5, 4000, rng=3)
    assert abs(found.mean - 17 * 14 / (16 * 11)) < 4 * found.mc_se["mean"]


def test_monte_carlo_errors_are_the_spread_of_repeated_simulations():
    runs = [simulate.fold_covariance(noise, CONSTANT, 12, 4, 300, rng=seed) for seed in range(60)]
    for name in ("sigma_squared", "omega", "gamma", "theta", "rho", "mean"):
        spread = np.std([getattr(run, name) for run in runs], ddof=1)
        stated = np.mean([run.mc_se[name] for run in runs])
        # The error of a standard deviation of 60 numbers is 9% of it, more with long tails.
        assert 0.6 < spread / stated < 1.5, name
    shares = np.std([run.shares["s1"] for run in runs], ddof=1)
    assert 0.6 < shares / np.mean([run.mc_se["share_s1"] for run in runs]) < 1.5


def test_hold_out_variances_are_those_of_a_closed_form():
    """theta_2 is unbiased, theta_1 lacks the covariance of losses after the same learning set."""
    n, n_sets = 10, 2
    sigma_squared, omega = 2 * (1 + 1 / n) ** 2, 2 / n**2
    variance = (sigma_squared + (n - 1) * omega) / (n * n_sets)
    for seed in range(3):
        found = simulate.hold_out(noise, CONSTANT, n, n_sets, 3000, rng=seed)
        assert abs(found.variance - variance) < 4 * found.mc_se["variance"]
        assert abs(found.theta2 - variance) < 4 * found.mc_se["theta2"]
        # Of N losses in all, E theta_1 = (sigma^2 - variance)/(N - 1).
        total = n * n_sets
        ignoring = (sigma_squared - variance) / (total - 1)
        assert abs(found.theta1 - ignoring) < 4 * found.mc_se["theta1"]


def test_hold_out_estimates_are_those_of_the_kernel():
    sampler = Recording(simulate.regression_sampler(2))
    found = simulate.hold_out(sampler, "ridge:0", 8, 3, 2, rng=0)
    losses = [
        squared(y[8:], Ridge(1e-12).fit(X[:8], y[:8]).predict(X[8:])) for X, y in sampler.samples
    ]
    for number in range(2):
        e = np.array(losses[3 * number : 3 * number + 3])
        expected = uv.kernels.fold_covariance.hold_out(e.ravel(), np.repeat(np.arange(3), 8))
        for name, value in expected.items():
            assert found.replicates[name][number] == pytest.approx(value, rel=1e-8)


def by_vote(X_train, y_train, X_test):
    labels, counts = np.unique(y_train, return_counts=True)
    return np.repeat(labels[counts.argmax()], len(X_test))


@pytest.mark.parametrize("learner", ["ridge:0.1", "lda", by_vote])
def test_results_depend_neither_on_workers_nor_on_batches(monkeypatch, learner):
    usual = simulate.fold_covariance(two_classes, learner, 12, 3, 30, rng=0)
    monkeypatch.setattr("studies.simulate.many_samples.CHUNK_CELLS", 500)
    monkeypatch.setattr("studies.simulate.many_samples.FITS_PER_TASK", 6)
    with parallel_config("threading"):
        other = simulate.fold_covariance(two_classes, learner, 12, 3, 30, rng=0, n_jobs=2)
    for name, values in usual.replicates.items():
        np.testing.assert_array_equal(values, other.replicates[name])
    assert simulate.fold_covariance(two_classes, learner, 12, 3, 30, rng=1).mean != usual.mean


def test_learning_sets_with_one_class_predict_it():
    """Class b is rare, so that many learning sets of three lack it."""

    def sampler(rng, n):
        y = rng.random(n) < 0.15
        return rng.normal(size=(n, 2)) + 5 * y[:, None], np.where(y, "b", "a")

    recording = Recording(sampler)
    found = simulate.fold_covariance(recording, "nearest_centroid", 4, 4, 40, rng=0)
    n_single = 0
    for number, (X, y) in enumerate(recording.samples):
        losses = []
        for i in range(4):
            rest = np.arange(4) != i
            labels = np.unique(y[rest])
            n_single += len(labels) == 1
            means = [X[rest][y[rest] == label].mean(axis=0) for label in labels]
            nearest = np.argmin([((X[i] - mean) ** 2).sum() for mean in means])
            losses.append(labels[nearest] != y[i])
        assert found.replicates["mean"][number] == pytest.approx(np.mean(losses))
    assert n_single > 40


def test_leave_one_out_has_no_covariance_within_folds():
    found = simulate.fold_covariance(noise, CONSTANT, 12, 12, 50, rng=0)
    assert math.isnan(found.omega)
    assert set(found.contributions) == {"s1", "s3"}
    assert math.isnan(found.eigenvalues[0])
    assert found.eigenvalues[2] / 12 == pytest.approx(found.theta, rel=1e-10)
    assert found.summary_frame()["quantity"].tolist()[0] == "sigma_squared"


def test_eigenvalues_add_up_to_the_variance():
    found = simulate.fold_covariance(noise, CONSTANT, 12, 4, 50, rng=0)
    assert found.eigenvalues[2] / 12 == pytest.approx(found.theta, rel=1e-10)
    frame = found.summary_frame().set_index("quantity")
    assert frame.loc["theta", "mc_se"] == found.mc_se["theta"]
    assert frame.loc["gamma", "share"] == found.shares["s3"]


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


def test_population_sampler_draws_with_replacement():
    X, y = np.arange(6.0).reshape(3, 2), np.array(["a", "b", "b"])
    drawn, labels = simulate.population_sampler(X, y)(np.random.default_rng(0), 3000)
    rows = (drawn[:, 0] / 2).astype(int)
    assert (y[rows] == labels).all()
    assert np.bincount(rows).min() > 900


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n": 21}, "n must be a multiple of n_folds, got n = 21 and n_folds = 4: use n = 20"),
        ({"n_folds": 1}, "n_folds must lie between"),
        ({"n_replications": 1}, "n_replications must be at least 2"),
        ({"estimator": "bootstrap"}, "estimator='bootstrap' is unknown"),
        ({"learner": "zebra"}, "zebra"),
        ({"learner": "knn:40"}, "learner knn:40"),
        ({"sampler": lambda rng, n: rng.normal(size=n)}, "sampler must return a tuple"),
        ({"sampler": lambda rng, n: (np.zeros((n, 1)), np.zeros(3))}, "sampler returned shapes"),
    ],
)
def test_what_cannot_be_simulated_is_refused(changed, message):
    arguments = {
        "sampler": two_classes,
        "learner": "lda",
        "n": 20,
        "n_folds": 4,
        "n_replications": 3,
        "rng": 0,
    }
    with pytest.raises(ValueError, match=message):
        simulate.fold_covariance(**{**arguments, **changed})


def test_a_label_that_comes_too_late_is_refused():
    def sampler(rng, n):
        X, y = two_classes(rng, n)
        return X, y if n == 1000 else np.where(y == "a", "a", "c")

    with pytest.raises(ValueError, match="a label that was not among"):
        simulate.fold_covariance(sampler, "lda", 20, 4, 3, rng=0)


def test_a_fit_without_a_solution_names_the_sample():
    def sampler(rng, n):
        X, y = noise(rng, n)
        return (X, y) if n == 1000 else (np.ones((n, 2)), y)

    with pytest.raises(ValueError, match="no finite prediction in sample 0: lam is so small"):
        simulate.fold_covariance(sampler, "ridge:0", 20, 4, 3, rng=0)


@pytest.mark.parametrize(("n", "n_sets"), [(0, 3), (5, 1)])
def test_hold_out_refuses_too_few(n, n_sets):
    with pytest.raises(ValueError, match="n must be at least 1 and n_sets at least 2"):
        simulate.hold_out(noise, CONSTANT, n, n_sets, 3)


@pytest.mark.parametrize(("n_features", "share"), [(0, 0.0), (3, 1.5)])
def test_regression_sampler_refuses(n_features, share):
    with pytest.raises(ValueError, match="must"):
        simulate.regression_sampler(n_features, share)


def test_population_sampler_refuses_lengths_that_differ():
    with pytest.raises(ValueError, match="X and y must have shapes"):
        simulate.population_sampler(np.zeros((3, 2)), np.zeros(2))


def test_losses_that_never_vary_have_no_correlation():
    def separated(rng, n):
        y = rng.permutation(np.arange(n) % 2)
        return rng.normal(size=(n, 2)) + 100 * y[:, None], y

    found = simulate.fold_covariance(separated, "nearest_centroid", 12, 3, 5, rng=0)
    frame = found.summary_frame().set_index("quantity")
    assert frame["estimate"]["theta"] == 0
    assert math.isnan(frame["estimate"]["rho"])
    assert math.isnan(found.shares["s1"])
