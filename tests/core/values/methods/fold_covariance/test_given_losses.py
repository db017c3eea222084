"""The test class on losses that exist: the results of its own fits."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

import ucvtest as uv

NUMBERS = ("estimate", "se", "variance", "statistic", "pvalue", "df", "n_fits", "n_obs")


def same_result(found, expected):
    for name in NUMBERS:
        np.testing.assert_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    for name in ("estimand", "method", "reference", "status"):
        assert getattr(found, name) == getattr(expected, name)
    assert set(found.diagnostics) >= set(expected.diagnostics)
    for name, value in expected.diagnostics.items():
        np.testing.assert_array_equal(found.diagnostics[name], value, err_msg=name)
    for title, table in expected.tables.items():
        for column, cells in table.items():
            np.testing.assert_array_equal(found.tables[title][column], cells)


@pytest.mark.parametrize("n_repeats", [1, 3])
@pytest.mark.parametrize("loss", ["zero_one", "log"])
@pytest.mark.parametrize("other", [None, "knn:3"])
def test_given_losses_are_tested_as_those_of_its_own_fits(n_repeats, loss, other):
    rng = np.random.default_rng(3)
    y = np.arange(43) % 2
    X = rng.normal(size=(43, 3)) + y[:, None]
    own = uv.FoldCovarianceTest(X, y, "lda", other, n_folds=5, loss=loss, null_value=0.1)
    expected = own.fit(0.3, n_repeats, rng=0)
    learners = ["lda"] if other is None else ["lda", other]
    losses = uv.evaluate(learners, X, y, uv.designs.KFold(5, n_repeats), loss, rng=0)
    test = uv.FoldCovarianceTest.from_losses(losses, null_value=0.1)
    same_result(test.fit(0.3), expected)
    same_result(test.fit(0.3, n_repeats), expected)


def test_folds_of_scikit_learn_are_admitted():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(22, 2)), np.arange(22) % 2
    losses = uv.evaluate("lda", X, y, KFold(4), rng=0)
    result = uv.FoldCovarianceTest.from_losses(losses).fit()
    np.testing.assert_array_equal(result.diagnostics["fold_means"], [losses.means[0]])
    assert result.settings["n_folds"] == 4
    assert result.settings["design"].startswith("KFold")
