"""The largest of correlated studentised errors, against integrals and enumeration."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats
from scipy.stats import multivariate_t, studentized_range

from ucvtest.stats.simultaneous import MultivariateT


def of(covariance, df=20.0, seed=0):
    return MultivariateT(np.asarray(covariance, dtype=float), df, seed)


@pytest.mark.parametrize("df", [5, 29, 200])
def test_all_pairs_of_alike_estimates_have_the_quantile_of_the_studentised_range(df):
    found = of(np.eye(4), df).critical(0.05, [(i, j) for i in range(4) for j in range(i)])
    exact = studentized_range.ppf(0.95, 4, df) / np.sqrt(2)
    assert abs(found.value - exact) < 4 * found.mc_se
    assert 0 < found.mc_se < 0.03


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_differences_from_a_baseline_have_the_quantile_of_scipys_multivariate_t(alternative):
    rng = np.random.default_rng(3)
    root = rng.standard_normal((4, 6))
    covariance, df = root @ root.T, 15
    pairs = [(1, 0), (2, 0), (3, 0)]
    found = of(covariance, df).critical(0.1, pairs, alternative)
    contrasts = np.array([[-1, 1, 0, 0], [-1, 0, 1, 0], [-1, 0, 0, 1.0]])
    shape = contrasts @ covariance @ contrasts.T
    shape /= np.sqrt(np.outer(np.diag(shape), np.diag(shape)))
    upper = np.full(3, found.value)
    lower = -upper if alternative == "two-sided" else np.full(3, -np.inf)
    level = multivariate_t(shape=shape, df=df).cdf(
        upper, lower_limit=lower, random_state=np.random.default_rng(0), maxpts=200_000
    )
    # Four Monte-Carlo standard errors of the draws.
    assert abs(level - 0.9) < 4 * np.sqrt(0.09 / 50_000) + 1e-3


@pytest.mark.parametrize("df", [12, np.inf])
def test_one_estimate_has_students_quantile(df):
    found = of([[3.0]], df).critical(0.05)
    assert found.mc_se == 0
    assert found.value == pytest.approx(stats.t.isf(0.025, df), rel=1e-12)


def test_stepdown_is_the_slow_definition():
    rng = np.random.default_rng(1)
    root = rng.standard_normal((4, 4))
    known = of(root @ root.T, 9)
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2)]
    statistics = np.array([2.9, -1.1, 2.2, 0.3])
    found = known.stepdown(statistics, pairs)
    order = np.argsort(-np.abs(statistics))
    slow, last = np.empty(4), 0.0
    for rank, place in enumerate(order):
        largest = known.largest([pairs[k] for k in order[rank:]])
        exceeds = np.count_nonzero(largest >= abs(statistics[place]))
        slow[place] = last = max(last, (exceeds + 1) / (known.n_draws + 1))
    assert_array_equal(found, slow)
    # The first step is the single step of the intervals.
    largest = known.largest(pairs)
    assert found[0] == (np.count_nonzero(largest >= 2.9) + 1) / (known.n_draws + 1)


def test_a_missing_statistic_counts_as_the_least():
    known = of(np.eye(3))
    pairs = [(0, 1), (0, 2), (1, 2)]
    with_gap = known.stepdown(np.array([3.0, np.nan, 1.0]), pairs)
    assert_array_equal(with_gap, known.stepdown(np.array([3.0, 0.0, 1.0]), pairs))
    assert with_gap[1] == 1


def test_estimates_that_never_differ_have_no_error():
    known = of(np.ones((3, 3)))
    assert_array_equal(known.largest([(0, 1)]), 0.0)
    assert known.worst(1, 0.05) == 0


@pytest.mark.parametrize("df", [15.0, np.inf])
def test_the_worst_is_one_sided_and_between_student_and_bonferroni(df):
    known = of(np.diag([1.0, 2.0, 5.0]), df)
    assert known.worst(2, 0.05) == known.critical(0.05, [(2, 0), (2, 1)], "greater").value
    least, most = known.around_worst(0.05)
    family = known.critical(0.05, [(0, 1), (0, 2), (1, 2)]).value
    for place in range(3):
        assert least < known.worst(place, 0.05) < most < family
    # Of two there is one difference.
    two = of(np.eye(2), df)
    assert two.around_worst(0.05) == (two.worst(0, 0.05), two.worst(1, 0.05))
