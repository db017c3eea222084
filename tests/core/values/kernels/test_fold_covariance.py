"""The kernels of fold covariance against double loops, explicit matrices and each other."""

import math

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import fold_covariance as oracle

kernel = uv.kernels.fold_covariance

EQUAL = np.repeat(np.arange(5), 4)
UNEQUAL = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2])
LEAVE_ONE_OUT = np.arange(9)
TWO_FOLDS = np.array([7, -1] * 6)
ALL_FOLDS = [EQUAL, UNEQUAL, LEAVE_ONE_OUT, TWO_FOLDS]


@pytest.mark.parametrize("fold", ALL_FOLDS)
def test_moments_are_those_of_the_double_loops(rng, fold):
    fold = rng.permutation(fold)
    e = rng.normal(1.0, 1.0, len(fold))
    found = kernel.moments(e, fold)
    expected = oracle.moments(e, fold)
    np.testing.assert_allclose([found[s] for s in ("s1", "s2", "s3")], expected, rtol=1e-10)
    assert found["mean"] == pytest.approx(e.mean(), abs=1e-14)


@pytest.mark.parametrize("fold", [EQUAL, LEAVE_ONE_OUT, TWO_FOLDS])
def test_eigenvalue_estimates_follow_from_the_moments(rng, fold):
    """lambda_1 = s1 - s2 and lambda_2 = s1 + (m - 1) s2 - m s3, mu^2 cancelling."""
    e = rng.normal(1.0, 1.0, len(fold))
    s1, s2, s3 = oracle.moments(e, fold)
    m = np.sum(fold == fold[0])
    found = kernel.moments(e, fold)
    within = 0.0 if m == 1 else (m - 1) * s2
    assert found["lambda2"] == pytest.approx(s1 + within - m * s3, rel=1e-10)
    np.testing.assert_allclose(found["lambda1"], s1 - s2, rtol=1e-10)
    assert found["naive_variance"] == found["lambda2"] / len(e)
    assert math.isnan(found["repeat_variance"])


@pytest.mark.parametrize("fold", [EQUAL, LEAVE_ONE_OUT, TWO_FOLDS])
def test_eigenvalues_are_the_spectrum_of_the_covariance_matrix(fold):
    n, n_folds = len(fold), len(np.unique(fold))
    values = kernel.eigenvalues(1.3, 0.4, 0.15, n, n // n_folds)
    expected = np.repeat(values, [n - n_folds, n_folds - 1, 1])
    matrix = oracle.covariance_matrix(fold, 1.3, 0.4, 0.15)
    np.testing.assert_allclose(np.linalg.eigvalsh(matrix), np.sort(expected), atol=1e-10)
    # (5.7): the variance of the mean.
    assert values[2] / n == pytest.approx(matrix.sum() / n**2, abs=1e-12)


def expectation(estimate, matrix, mean):
    """Expectation of a quadratic estimate over losses with this covariance matrix and mean.

    Exact: a quadratic form is the same for all losses with these two moments, for example
    the equally likely losses mean +- sqrt(n) (column of a root of the matrix).
    """
    n = len(matrix)
    root = math.sqrt(n) * np.linalg.cholesky(matrix)
    values = [estimate(mean + sign * root[:, k]) for k in range(n) for sign in (-1, 1)]
    return np.mean(values)


@pytest.mark.parametrize("fold", ALL_FOLDS)
def test_estimates_are_unbiased_for_every_size_of_folds(fold):
    matrix = oracle.covariance_matrix(fold, 1.3, 0.4, 0.15)
    theta = matrix.sum() / len(fold) ** 2

    def expected(name):
        return expectation(lambda e: kernel.moments(e, fold)[name], matrix, 2.0)

    assert expected("naive_variance") == pytest.approx(theta - 0.15, abs=1e-10)
    assert expected("s1") == pytest.approx(1.3 + 4.0, abs=1e-10)
    assert expected("s3") == pytest.approx(0.15 + 4.0, abs=1e-10)
    if fold is not LEAVE_ONE_OUT:
        assert expected("lambda1") == pytest.approx(0.9, abs=1e-10)
        assert expected("s2") == pytest.approx(0.4 + 4.0, abs=1e-10)


def test_an_unbiased_estimate_may_be_negative_and_is_not_clamped():
    """Equal fold means, folds of different sizes."""
    found = kernel.moments(np.array([1.0, -1, 0, 1, -1, 0, 0]), np.array([0, 0, 0, 1, 1, 1, 1]))
    assert found["lambda2"] < 0


@pytest.mark.parametrize("fold", ALL_FOLDS)
def test_the_true_rho_gives_the_true_variance(fold):
    matrix = oracle.covariance_matrix(fold, 1.3, 0.4, 0.15)
    n, m = len(fold), kernel.mean_fold_size(np.unique(fold, return_counts=True)[1])
    theta = matrix.sum() / n**2
    _, lambda2, lambda3 = kernel.eigenvalues(1.3, 0.4, 0.15, n, m)
    assert lambda3 / n == pytest.approx(theta, abs=1e-12)
    rho = m * 0.15 / (1.3 + (m - 1) * 0.4)
    assert kernel.variance_given_rho(lambda2, rho, n, m) == pytest.approx(theta, abs=1e-12)


def test_variance_given_rho_is_the_textbook_form_for_fold_means(rng):
    """Nadeau and Bengio (2003): (1/K + n_test/n_train) times the variance of the fold means."""
    e = rng.normal(size=20)
    found = kernel.moments(e, EQUAL)
    by_fold = e.reshape(5, 4).mean(axis=1).var(ddof=1)
    corrected = kernel.variance_given_rho(found["lambda2"], 1 / 5, 20, 4)
    assert corrected == pytest.approx(by_fold * (1 / 5 + 4 / 16), rel=1e-12)


@pytest.mark.seconds(6, reason="searches all matrices")
@pytest.mark.parametrize(("n_obs", "m"), [(40, 4), (12, 6), (20, 1)])
@pytest.mark.parametrize("jackknife", [False, True])
def test_admissible_variances_are_those_of_a_search_of_all_matrices(n_obs, m, jackknife):
    """Every (sigma^2, omega, gamma) on a grid with these two eigenvalues and no contradiction."""
    lambda1, lambda2, most = 0.1, 0.15, 0.25
    fold = np.repeat(np.arange(n_obs // m), m)
    low, high = kernel.admissible_variances(
        math.nan if m == 1 else lambda1,
        lambda2,
        n_obs,
        m,
        width=1.0,
        nonnegative_omega=not jackknife,
    )
    possible = []
    for free in np.linspace(-0.3, 0.3, 601):
        if m == 1:
            sigma_squared, omega, gamma = lambda2 + free, 0.0, free
        else:
            sigma_squared, omega = lambda1 + free, free
            gamma = omega - (lambda2 - lambda1) / m
        allowed = 0 <= sigma_squared <= most and (jackknife or m == 1 or omega >= 0)
        theta = eigen_theta(fold, sigma_squared, omega, gamma)
        if allowed and theta >= 0:
            possible.append(theta)
    assert low == pytest.approx(min(possible), abs=1.2e-3)
    assert high == pytest.approx(max(possible), abs=1.2e-3)


def eigen_theta(fold, sigma_squared, omega, gamma):
    values = np.linalg.eigvalsh(oracle.covariance_matrix(fold, sigma_squared, omega, gamma))
    total = oracle.covariance_matrix(fold, sigma_squared, omega, gamma).sum() / len(fold) ** 2
    return total if values[0] > -1e-9 else -1.0


def test_variances_of_a_loss_without_bounds_have_no_upper_end():
    assert kernel.admissible_variances(0.1, 0.15, 40, 4)[1] == math.inf


def test_hold_out_estimates_are_those_of_section_2_2(rng):
    losses = rng.normal(size=(4, 6)) + rng.normal(size=(4, 1))
    found = kernel.hold_out(losses.ravel(), np.repeat(np.arange(4), 6))
    assert found["theta1"] == pytest.approx(oracle.theta_1(losses), rel=1e-12)
    assert found["theta2"] == pytest.approx(oracle.theta_2(losses), rel=1e-12)


def test_a_single_hold_out_set_says_nothing_of_other_learning_sets(rng):
    found = kernel.hold_out(rng.normal(size=7), np.zeros(7, dtype=int))
    assert math.isnan(found["theta2"])
    assert found["theta1"] > 0


def test_repetitions_are_averaged(rng):
    e, fold = rng.normal(size=(3, 20)), np.stack([rng.permutation(EQUAL) for _ in range(3)])
    found = kernel.moments(e, fold)
    singles = [kernel.moments(e[r], fold[r]) for r in range(3)]
    for name in ("mean", "s1", "s2", "s3", "lambda1", "lambda2"):
        assert found[name] == pytest.approx(np.mean([one[name] for one in singles]), rel=1e-12)
    between = np.var([one["mean"] for one in singles], ddof=1)
    assert found["repeat_variance"] == pytest.approx(between, rel=1e-12)


def test_the_variance_of_a_mean_of_repetitions_is_unbiased():
    """Exact expectation over losses of two repetitions with a covariance of their own."""
    second = np.roll(EQUAL, 2)
    one = oracle.covariance_matrix(EQUAL, 1.3, 0.4, 0.15)
    two = oracle.covariance_matrix(second, 1.3, 0.4, 0.15)
    crossed = np.full((20, 20), 0.12) + 0.5 * np.eye(20)
    joint = np.block([[one, crossed], [crossed, two]])
    theta = joint.sum() / 40**2
    fold = np.stack([EQUAL, second])

    def naive(e):
        return kernel.moments(e.reshape(2, 20), fold)["naive_variance"]

    assert expectation(naive, joint, 2.0) == pytest.approx(theta - 0.15, abs=1e-10)
