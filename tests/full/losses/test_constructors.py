"""Doors in the words of whoever stands before them: scoring, missing values, cv, weights, files."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold

import ucvtest as uv
from ucvtest.stats.pivots import plus_four

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, :4], Y[:60]
LACKING = X.copy()
LACKING[[3, 17], [0, 2]] = np.nan
KEPT = ~np.isnan(LACKING).any(axis=1)


def test_leave_pair_out_takes_the_only_score_that_it_is_about():
    options = {"n_permutations": 19, "rng": 0}
    expected = uv.LeavePairOutTest(X, Y, "ridge:1.0").fit(**options)
    found = uv.LeavePairOutTest(X, Y, "ridge:1.0", scoring="roc_auc").fit(**options)
    assert tuple(found) == tuple(expected)
    assert uv.InfluenceFunctionTest(X, Y, "lda", scoring="accuracy").metric == "error"
    assert uv.InfluenceFunctionTest(X, Y, "lda").metric == "auc"


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
    size = WEIGHTS.sum() ** 2 / (WEIGHTS @ WEIGHTS)
    result = uv.HoldOutTest.from_losses(weighted(), "a", "b").fit()
    # One right and one wrong observation among as many of equal weight (Agresti and Min 2005).
    centre = size * result.estimate / (size + 2)
    spread = size**2 * result.variance + size * (result.estimate - centre) ** 2 + 1 + 2 * centre**2
    half = stats.t.isf(0.025, size - 1) * np.sqrt(spread) / (size + 2)
    assert result.conf_int() == pytest.approx((centre - half, centre + half), rel=1e-9)
    assert result.df == pytest.approx(size - 1)
    assert "weighted error rate" in uv.HoldOutTest.from_losses(weighted()).fit().estimand


def test_a_weighted_error_rate_lies_between_0_and_1():
    few = np.where(np.arange(60) < 1, 1 - Y, Y)
    losses = uv.Losses.from_predictions(Y, {"few": few, "none": Y}, sample_weight=WEIGHTS)
    assert losses.bounds == (0.0, 1.0)
    result = uv.HoldOutTest.from_losses(losses, "few").fit()
    effective = WEIGHTS.sum() ** 2 / (WEIGHTS @ WEIGHTS)
    rule = plus_four(result.estimate, result.se**2, effective, df=effective - 1)
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
    test = uv.HoldOutTest.from_losses
    assert test(equal).fit().conf_int() == pytest.approx(test(plain).fit().conf_int(), rel=1e-12)
    few = {"sample_weight": [2.0] * 3, "loss": "squared"}
    three = test(uv.Losses.from_predictions([0.0, 1, 2], {"p": [1.0, 3, 2]}, **few)).fit()
    assert (three.status, three.df) == ("ok", pytest.approx(2))


def numbers_of(result):
    return (
        result.estimate,
        result.se,
        result.df,
        *result.conf_int(),
        result.n_obs,
        result.status == "ok",
    )


@pytest.mark.parametrize("names", [("a", None), ("a", "b")])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("loss", ["zero_one", "squared"])
def test_rows_of_weight_0_are_not_there_and_scale_does_not_matter(names, grouped, loss):
    groups = np.arange(60) // 4
    given = {"loss": loss, **({"groups": groups} if grouped else {})}
    expected = uv.HoldOutTest.from_losses(weighted(**given), *names).fit()
    y, rules = np.r_[Y, [7] * 40], {name: [*rule, *[None] * 40] for name, rule in RULES.items()}
    more = {"groups": [*groups, *range(100, 140)]} if grouped else {}
    given |= more | {"sample_weight": np.r_[WEIGHTS * 1e200, np.zeros(40)]}
    found = uv.HoldOutTest.from_losses(uv.Losses.from_predictions(y, rules, **given), *names).fit()
    assert numbers_of(found) == pytest.approx(numbers_of(expected), rel=1e-9)
    assert any("Rows of weight 0 were left out: 40." in note for note in found.notes)
    assert found.settings["effective_size"] == pytest.approx(
        WEIGHTS.sum() ** 2 / (WEIGHTS @ WEIGHTS)
    )


def test_degrees_of_freedom_are_those_that_the_weights_leave():
    result = uv.HoldOutTest.from_losses(weighted(loss="squared")).fit()
    p = WEIGHTS / WEIGHTS.sum()
    residuals = np.eye(60) - np.outer(np.ones(60), p)
    form = residuals.T @ np.diag(p**2) @ residuals
    assert result.df == pytest.approx(np.trace(form) ** 2 / np.trace(form @ form), rel=1e-9)
    half = stats.t.isf(0.025, result.df) * result.se
    assert result.conf_int() == pytest.approx((result.estimate - half, result.estimate + half))
    clustered = {"loss": "squared", "groups": np.arange(60) // 4, "sample_weight": np.full(60, 0.1)}
    assert uv.HoldOutTest.from_losses(weighted(**clustered)).fit().df == pytest.approx(14)


@pytest.mark.parametrize("heavy", [1, 2, 3])
@pytest.mark.parametrize("given", [{}, {"loss": "squared"}, {"groups": np.arange(60) // 4}])
def test_there_is_no_test_where_few_rows_have_the_weight(heavy, given):
    weights = np.where(np.arange(60) % 20 < 1, 1e6, 1.0)
    weights[20 * heavy :] = 1.0
    losses = weighted(sample_weight=weights, **given)
    for names in (("a",), ("a", "b")):
        result = uv.HoldOutTest.from_losses(losses, *names).fit()
        assert f"worth {heavy} equal ones (Kish), fewer than 4" in result.status
        assert not any("limit" in note or "freedom" in note for note in result.notes)
        with pytest.warns(uv.UcvtestWarning, match="no confidence interval"):
            assert np.isnan([result.pvalue, *result.conf_int(), result.df]).all()
    compared = uv.compare_losses(losses, correction="simultaneous")
    assert compared.best_set() == ("a", "b")
    with pytest.raises(ValueError, match=r"the pilot leaves no variance estimate|groups is not"):
        uv.plan(losses, learner="a", other="b", width=0.1)


def test_joint_statistics_of_weighted_errors_are_those_of_the_pairs():
    third = {"c": np.where(np.arange(60) % 3 < 1, 1 - Y, Y)}
    losses = uv.Losses.from_predictions(Y, RULES | third, sample_weight=WEIGHTS)
    compared = uv.compare_losses(losses, correction="simultaneous")
    for (_, *names), result in compared.results.items():
        alone = uv.HoldOutTest.from_losses(losses, *names).fit()
        assert (result.statistic, result.df) == (alone.statistic, alone.df)
    joint = compared.together["hold_out"]
    assert joint.statistics[0, 2] == compared.result("hold_out", "a", "c").statistic


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
