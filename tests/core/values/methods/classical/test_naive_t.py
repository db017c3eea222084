"""The naive t test: what everybody computes."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from tests.support.resampling import random_losses


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize(
    "plan", [uv.designs.KFold(10), uv.designs.KFold(5, 3), uv.designs.RandomSplits(30, 0.3)]
)
def test_it_is_the_paired_t_test_of_scipy(plan, alternative):
    losses = random_losses(plan.draw(40, np.random.default_rng(0)))
    result = uv.NaiveTTest.from_losses(losses, alternative=alternative).fit()
    expected = stats.ttest_rel(*losses.means, alternative=alternative)
    assert tuple(result) == pytest.approx((expected.statistic, expected.pvalue))
    interval = expected.confidence_interval(0.9)
    assert result.conf_int(0.1) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize(
    ("depth", "statistic", "pvalue"), [(None, "-1.861", "0.096"), (1, "13.491", "0.000")]
)
def test_documented_example_of_mlxtend(depth, statistic, pvalue):
    """User guide of mlxtend, paired_ttest_kfold_cv: printed values; accuracies, so the other sign.

    Their logistic regression was scikit-learn's default of that time: liblinear, one class
    against the rest. Their ten folds are not shuffled.
    """
    X, y = load_iris(return_X_y=True)
    logistic = OneVsRestClassifier(LogisticRegression(solver="liblinear", random_state=1))
    tree = DecisionTreeClassifier(random_state=1, max_depth=depth)
    result = uv.NaiveTTest(X, y, logistic, tree, design=KFold(10), backend="sklearn").fit(rng=0)
    assert f"{-result.statistic:.3f}" == statistic
    assert f"{result.pvalue:.3f}" == pvalue


def test_the_claims_of_the_docstring():
    """Size with J normal means of which any two have correlation 0.1: exact."""

    def size(n_means, rho=0.1):
        factor = np.sqrt(1 + n_means * rho / (1 - rho))
        reference = stats.t(n_means - 1)
        return 2 * reference.sf(reference.isf(0.025) / factor)

    assert size(10) == pytest.approx(0.154, abs=5e-4)
    assert size(1000) > 0.8
