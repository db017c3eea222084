"""Doors in the words of whoever stands before them: scoring, missing values, cv, weights, files."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

import ucvtest as uv
from ucvtest.stats.intervals import PlusFour

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, :4], Y[:60]
LACKING = X.copy()
LACKING[[3, 17], [0, 2]] = np.nan
KEPT = ~np.isnan(LACKING).any(axis=1)


@pytest.mark.parametrize(
    ("cls", "scoring", "message"),
    [
        (uv.DeLongTest, "accuracy", "about loss='auc' alone, got scoring='accuracy': leave scor"),
        (uv.McNemarTest, "roc_auc", "about loss='zero_one' alone, got scoring='roc_auc'"),
        (uv.HoldOutTest, "roc_auc", "scoring='roc_auc' keeps decision scores, but HoldOutTest"),
        (uv.FoldCovarianceTest, "roc_auc", "FoldCovarianceTest needs the loss of every observa"),
        (uv.InfluenceFunctionTest, "f1", "scoring='f1' is not known to InfluenceFunctionTest"),
        (uv.InfluenceFunctionTest, "neg_log_loss", "use 'roc_auc' or 'accuracy'"),
    ],
)
def test_errors_speak_of_scoring(cls, scoring, message):
    with pytest.raises(ValueError, match=message):
        cls(X, Y, "lda", "knn:3", scoring=scoring)


@pytest.mark.parametrize("metric", ["auc", "error"])
def test_metric_is_not_overruled_in_silence(metric):
    with pytest.raises(ValueError, match="metric and scoring exclude each other"):
        uv.InfluenceFunctionTest(X, Y, "lda", metric=metric, scoring="accuracy")
    assert uv.InfluenceFunctionTest(X, Y, "lda", scoring="accuracy").metric == "error"
    assert uv.InfluenceFunctionTest(X, Y, "lda").metric == "auc"


def test_leave_pair_out_takes_the_only_score_that_it_is_about():
    options = {"n_permutations": 19, "rng": 0}
    expected = uv.LeavePairOutTest(X, Y, "ridge:1.0").fit(**options)
    found = uv.LeavePairOutTest(X, Y, "ridge:1.0", scoring="roc_auc").fit(**options)
    assert tuple(found) == tuple(expected)
    with pytest.raises(
        ValueError, match="scoring='accuracy' is not an AUC, which the test is about"
    ):
        uv.LeavePairOutTest(X, Y, "ridge:1.0", scoring="accuracy")


def test_leave_pair_out_leaves_out_missing_values():
    options = {"n_permutations": 19, "rng": 0}
    gaps = Y.astype(float)
    gaps[30] = np.nan
    found = uv.LeavePairOutTest(LACKING, gaps, "ridge:1.0", missing="drop").fit(**options)
    kept = KEPT & ~np.isnan(gaps)
    expected = uv.LeavePairOutTest(X[kept], Y[kept], "ridge:1.0").fit(**options)
    assert (found.n_obs, tuple(found)) == (57, tuple(expected))
    assert any(note.startswith("3 observations have missing values") for note in found.notes)
    with pytest.raises(ValueError, match="X contains nan at row 3"):
        uv.LeavePairOutTest(LACKING, Y, "ridge:1.0")


def test_selection_takes_scores_and_leaves_out_missing_values():
    learners, options = ["lda", "knn:3"], {"criteria": ["permutation"], "n_permutations": 5}
    expected = uv.select_model(X[KEPT], Y[KEPT], learners, loss="log", rng=0, **options)
    found = uv.select_model(
        LACKING, Y, learners, scoring="neg_log_loss", missing="drop", rng=0, **options
    )
    losses = -found.table[["e_in", "permutation"]]
    pd.testing.assert_frame_equal(losses, expected.table[["e_in", "permutation"]])
    assert found.choices == expected.choices
    assert (found.n_obs, found.settings["n_dropped"]) == (58, 2)
    for scoring, message in (("roc_auc", "scoring='roc_auc' keeps dec"), ("f1", "select_model ne")):
        with pytest.raises(ValueError, match=message):
            uv.select_model(X, Y, learners, scoring=scoring)


def test_comparisons_are_made_on_scikit_learns_splits():
    learners = ["lda", "knn:3"]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    tests = ["corrected_t", "mcnemar", uv.TestSpec("hold_out", {"design": uv.designs.HoldOut()})]
    found = uv.compare(X, Y, learners, tests, cv=folds, rng=0)
    expected = uv.CorrectedTTest(X, Y, *learners, cv=folds).fit()
    assert tuple(found.result("corrected_t")) == pytest.approx(tuple(expected), rel=1e-12)
    assert len(found.fits) == 2  # the folds are fitted once
    again = uv.compare(X, Y, learners, "corrected_t", cv=5).result()
    assert tuple(again) == tuple(uv.CorrectedTTest(X, Y, *learners, cv=5).fit())
    splits = uv.compare(X, Y, learners, "corrected_t", cv=iter(list(folds.split(X, Y)))).result()
    assert tuple(splits) == pytest.approx(tuple(expected), rel=1e-12)
    with pytest.raises(ValueError, match="cv does not apply to the recommended test"):
        uv.compare(X, Y, learners, cv=5)
    with pytest.raises(ValueError, match="whose numbers the splits contain"):
        uv.compare(LACKING, Y, learners, "corrected_t", cv=list(folds.split(X, Y)), missing="drop")


WEIGHTS = np.arange(60) % 4 + 0.5
RULES = {"a": (X[:, 0] < 15).astype(int), "b": (X[:, 1] < 20).astype(int)}


def weighted(**options):
    return uv.Losses.from_predictions(Y, RULES, **({"sample_weight": WEIGHTS} | options))


def test_weighted_means_are_those_of_weighted_least_squares():
    wrong = {name: (rule != Y).astype(float) for name, rule in RULES.items()}
    questions = {("a", "b"): wrong["a"] - wrong["b"], ("a", None): wrong["a"]}
    for names, values in questions.items():
        expected = sm.WLS(values, np.ones(60), WEIGHTS).fit(cov_type="HC1", use_t=True)
        result = uv.HoldOutTest.from_losses(weighted(), *names).fit()
        assert result.estimate == pytest.approx(expected.params[0], rel=1e-12)
        assert result.se == pytest.approx(expected.bse[0], rel=1e-12)
        assert result.reference == "t"
        if names[1] is not None:
            assert result.conf_int() == pytest.approx(tuple(expected.conf_int()[0]), rel=1e-9)
    assert "weighted error rates" in uv.HoldOutTest.from_losses(weighted()).fit().estimand


def test_a_weighted_error_rate_lies_between_0_and_1():
    few = np.where(np.arange(60) < 1, 1 - Y, Y)
    losses = uv.Losses.from_predictions(Y, {"few": few, "none": Y}, sample_weight=WEIGHTS)
    assert losses.bounds == (0.0, 1.0)
    result = uv.HoldOutTest.from_losses(losses, "few").fit()
    effective = WEIGHTS.sum() ** 2 / (WEIGHTS @ WEIGHTS)
    rule = PlusFour(result.estimate, result.se**2, effective, given_df=59.0)
    assert result.conf_int() == pytest.approx(rule.interval("two-sided", 0.05))
    assert 0 <= result.conf_int()[0] < result.estimate < result.conf_int()[1] < 0.2
    # Student's has no answer where nothing was wrong.
    low, high = uv.HoldOutTest.from_losses(losses, "none").fit().conf_int()
    assert low == 0 < high < 0.2
    with pytest.raises(ValueError, match="width must be below 1"):
        uv.plan(losses, learner="few", width=1.0)


def test_equal_weights_change_nothing_and_columns_can_be_named():
    plain = uv.Losses.from_predictions(Y, RULES)
    equal = weighted(sample_weight=np.full(60, 3.0))
    np.testing.assert_allclose(equal.values, plain.values, atol=1e-12)
    table = pd.DataFrame({"y": Y, "w": WEIGHTS, **RULES})
    named = uv.Losses.from_predictions("y", table, sample_weight="w")
    np.testing.assert_array_equal(named.values, weighted().values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "auc"}, "sample_weight is for means over observations, but an AUC is not"),
        ({"sample_weight": WEIGHTS[:9]}, "sample_weight has 9 values for 60 observations"),
        ({"sample_weight": -WEIGHTS}, "finite numbers, none negative and not all 0"),
        ({"sample_weight": 0 * WEIGHTS}, "finite numbers, none negative and not all 0"),
        ({"sample_weight": ["x"] * 60}, "sample_weight contains strings where numbers"),
    ],
)
def test_weights_that_cannot_be_used(options, message):
    with pytest.raises(ValueError, match=message):
        weighted(**options)


def test_weighted_errors_are_no_counts():
    with pytest.raises(ValueError, match=r"McNemarTest counts rows alike, .* use HoldOutTest"):
        uv.McNemarTest.from_losses(weighted())


def test_row_numbers_of_pandas_are_no_rule(tmp_path):
    table = pd.DataFrame({"y": Y, **RULES})
    path = tmp_path / "rules.csv"
    table.to_csv(path)
    for given in (path, str(path), pd.read_csv(path)):
        assert uv.Losses.from_predictions("y", given).learners == ("a", "b")
    table.set_index(table["a"].to_numpy() * 2.5).to_csv(path)
    with pytest.raises(
        ValueError, match=r"a column has no name \('Unnamed: 0'\): name it, or drop"
    ):
        uv.Losses.from_predictions("y", path)
