"""The test class on losses that exist: the results of its own fits, and what it refuses."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, PredefinedSplit

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
    assert any("Nothing was fitted" in note for note in test.fit().notes)


def test_folds_of_scikit_learn_are_admitted():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(22, 2)), np.arange(22) % 2
    losses = uv.evaluate("lda", X, y, KFold(4), rng=0)
    result = uv.FoldCovarianceTest.from_losses(losses).fit()
    np.testing.assert_array_equal(result.diagnostics["fold_means"], [losses.means[0]])
    assert result.settings["n_folds"] == 4
    assert result.settings["design"].startswith("KFold")
    assert "learning from 16 or 17" in result.estimand


def test_given_losses_that_are_no_use_are_refused():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(24, 2)), np.arange(24) % 2

    def losses(design, loss="zero_one"):
        return uv.evaluate("lda", X, y, design, loss, rng=0)

    take = uv.FoldCovarianceTest.from_losses
    with pytest.raises(ValueError, match="the design is not a K-fold cross-validation"):
        take(losses(uv.designs.RandomSplits(5)))
    with pytest.raises(ValueError, match="the design has folds of 4 to 10 observations"):
        take(losses(PredefinedSplit(np.repeat([0, 1, 2], [10, 10, 4]))))
    with pytest.raises(ValueError, match="decision scores"):
        take(losses(4, "auc"))
    test = take(losses(uv.designs.KFold(4, 2)))
    with pytest.raises(ValueError, match="n_repeats=3, but the design of the given losses has 2"):
        test.fit(n_repeats=3)
    with pytest.raises(ValueError, match="rng does not apply when losses are given"):
        test.fit(rng=1)
    with pytest.raises(ValueError, match=r"losses must be uv\.Losses, got dict"):
        take({})


def test_what_it_says_of_itself_is_what_a_test_made_from_data_says():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(42, 2)), np.arange(42) % 2
    own = uv.FoldCovarianceTest(X, y, "lda", "knn:3", n_folds=5)
    losses = uv.evaluate(["lda", "knn:3"], X, y, uv.designs.KFold(5, 3), rng=0)
    given = uv.FoldCovarianceTest.from_losses(losses)
    for name in ("n_folds", "estimator", "learn_sizes", "estimand", "paired", "n_obs", "loss"):
        assert getattr(given, name) == getattr(own, name), name
    assert sorted(given.fold_sizes) == sorted(own.fold_sizes) == [8, 8, 8, 9, 9]
