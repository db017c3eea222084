"""The closed form of linear discriminant analysis, and the Wilcoxon distribution of many pairs."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import ucvtest as uv
from ucvtest.codes.null_distributions import NullDistribution, wilcoxon_null
from ucvtest.codes.wilcoxon import wilcoxon_shares
from ucvtest.kernels.leave_pair_out import discriminant
from ucvtest.kernels.leave_pair_out.discriminant import count_by_discriminant
from ucvtest.methods.leave_pair_out import pair_errors


def sample(n, p, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, p))
    return X, X[:, 0] + generator.normal(size=n) > 0.3


def naive_counts(X, y):
    """Wrong and tied pairs, one fit of scikit-learn after the other."""
    wrong = tied = 0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y):
            left = np.delete(np.arange(len(y)), [i, j])
            rule = LinearDiscriminantAnalysis().fit(X[left], y[left])
            first, second = rule.decision_function(X[[i, j]])
            wrong, tied = wrong + (first < second), tied + (first == second)
    return wrong, tied


@pytest.mark.parametrize(("n", "p"), [(24, 1), (30, 4), (25, 9)])
def test_counts_are_those_of_scikit_learn(n, p, monkeypatch):
    monkeypatch.setattr(discriminant, "PAIRS", 40)
    X, y = sample(n, p)
    assert count_by_discriminant(X, y) == naive_counts(X, y)


def test_equal_rows_of_both_classes_are_tied():
    X, y = sample(30, 3)
    X[np.flatnonzero(y)[:2]] = X[np.flatnonzero(~y)[:2]]
    wrong, tied = count_by_discriminant(X, y)
    assert tied == 2
    assert wrong == naive_counts(X, y)[0]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (0.1, 0.3)])
def test_ties_where_class_means_are_equal_are_those_of_fits(seed, scale, shift, monkeypatch):
    generator = np.random.default_rng(seed)
    A, B = generator.integers(-2, 3, size=(2, 18, 2)).astype(float)
    y = np.arange(72) < 36
    for X in (np.r_[A, -A, A, -A], np.r_[A, -A, B, -B]):
        counts = []
        for pairs in (1000, 10**9):
            monkeypatch.setattr(pair_errors, "FITTED_PAIRS", pairs)
            result = uv.LeavePairOutTest(scale * X + shift, y, "lda").fit("wmw")
            counts.append((result.estimate, result.diagnostics["n_ties"]))
        assert counts[0] == counts[1]


def test_ties_of_one_feature_are_those_of_fractions():
    generator = np.random.default_rng(11)
    values, y = generator.integers(0, 3, size=72).tolist(), generator.random(72) < 0.5
    positive, negative = ([v for v, at in zip(values, y, strict=True) if at == k] for k in (1, 0))
    wrong = tied = 0
    for first in positive:
        for second in negative:
            between = Fraction(sum(positive) - first, len(positive) - 1) - Fraction(
                sum(negative) - second, len(negative) - 1
            )
            difference = between * (first - second)
            wrong, tied = wrong + (difference < 0), tied + (difference == 0)
    X = np.array(values)[:, None]
    assert count_by_discriminant((X - X.mean()) / X.std(), y) == (wrong, tied)


def test_singular_matrices_have_no_closed_form():
    X, y = sample(30, 3)
    assert count_by_discriminant(np.c_[X, X[:, 0] + X[:, 1]], y) is None
    assert count_by_discriminant(np.c_[X, np.zeros(30)], y) is None
    # A column that varies in one observation alone is singular without it.
    assert count_by_discriminant(np.c_[X, np.arange(30) == 4], y) is None
    assert count_by_discriminant(X, np.arange(30) == 0) is None


def test_the_test_counts_and_permutes_as_by_fits(monkeypatch):
    X, y = sample(70, 2)
    test = uv.LeavePairOutTest(X, y, "lda")
    result = test.fit(n_permutations=19, rng=0)
    assert result.diagnostics["computed_by"] == "closed form"
    monkeypatch.setattr(pair_errors, "FITTED_PAIRS", 10**6)
    fitted = test.fit(n_permutations=19, rng=0)
    assert fitted.diagnostics["computed_by"] == "jitted fits"
    assert result.estimate == fitted.estimate
    assert result.pvalue == fitted.pvalue
    np.testing.assert_array_equal(
        result.diagnostics["null_errors"], fitted.diagnostics["null_errors"]
    )


@pytest.mark.parametrize(("n", "w"), [(150, 70), (90, 30)])
def test_shares_are_those_of_whole_numbers(n, w):
    shares = wilcoxon_shares(n, w)
    expected = wilcoxon_null(n, w).probabilities
    # Small samples, whose distributions are less smooth, are never computed so.
    np.testing.assert_allclose(shares, expected, rtol=1e-7)
    np.testing.assert_allclose(shares[n:-n], expected[n:-n], rtol=1e-9)


def test_large_distributions_are_symmetric_and_have_their_moments():
    n, w = 340, 160
    null = wilcoxon_null(n, w)
    share, n_pairs = null.probabilities, w * (n - w)
    assert share.dtype == float
    assert share.sum() == pytest.approx(1, rel=1e-14)
    np.testing.assert_array_equal(share, share[::-1])
    variance = (share * (null.errors - n_pairs / 2) ** 2).sum()
    assert variance == pytest.approx(n_pairs * (n + 1) / 12, rel=1e-10)
    assert null.pvalue(n_pairs) == 1
    critical = null.critical_value(0.05)
    assert null.pvalue(critical) <= 0.05 < null.pvalue(critical + 1)
    assert null.critical_value(1e-320) == -1 or null.pvalue(null.critical_value(1e-320)) <= 1e-320


def test_sums_of_probabilities_do_not_exceed_one():
    null = NullDistribution(np.arange(2.0), np.array([0.5, 0.5 + 1e-15]), sampled=False)
    assert null.pvalue(1) == 1


@pytest.mark.parametrize(("n", "w"), [(250_100, 4), (40_200, 10)])
def test_rare_classes_are_counted_in_whole_numbers(n, w):
    """Numbers of few pairs are partitions into parts of at most w."""
    null = wilcoxon_null(n, w)
    few = np.zeros(200, dtype=object)
    few[0] = 1
    for part in range(1, w + 1):
        for number in range(part, len(few)):
            few[number] += few[number - part]
    at_most = np.cumsum(few)
    for number in (0, 50, 199):
        assert null.pvalue(number) == int(at_most[number]) / comb(n, w)
