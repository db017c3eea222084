"""Rows that count more than others: in fitting, in the loss, or in both."""

import numpy as np
import pandas as pd
import pytest
import sklearn
import statsmodels.api as sm
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ucvtest as uv

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, :3], Y[:60]
RNG = np.random.default_rng(8)
WEIGHTS = RNG.uniform(0.2, 3.0, size=60)
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
NB = GaussianNB()


def wrong(model, weights=None):
    """Errors of out-of-fold predictions."""
    predicted = np.empty_like(Y)
    for learn, test in FOLDS.split(X, Y):
        given = {} if weights is None else {"sample_weight": weights[learn]}
        predicted[test] = sklearn.clone(model).fit(X[learn], Y[learn], **given).predict(X[test])
    return (predicted != Y).astype(float)


def test_a_weighted_loss_is_the_weighted_mean_of_out_of_fold_losses():
    errors = (cross_val_predict(NB, X, Y, cv=FOLDS) != Y).astype(float)
    test = uv.CrossValidationWaldTest(X, Y, NB, cv=FOLDS, weights={"loss": WEIGHTS})
    found = test.fit(rng=0)
    assert found.estimate == pytest.approx(np.average(errors, weights=WEIGHTS))
    linearised = WEIGHTS * (errors - found.estimate) / WEIGHTS.mean()
    assert found.se == pytest.approx(np.sqrt(np.mean(linearised**2) / 60))
    assert found.estimand.startswith("weighted error rate of these rules")
    assert found.settings["weights"] == "loss"
    effective = WEIGHTS.sum() ** 2 / (WEIGHTS @ WEIGHTS)
    assert found.settings["effective_size"] == pytest.approx(effective)
    assert any(f"worth {effective:.4g} equal ones" in note for note in found.notes)


def test_weights_in_fitting_are_those_of_the_estimator():
    test = uv.CrossValidationWaldTest(X, Y, NB, cv=FOLDS, weights={"fit": WEIGHTS})
    found = test.fit(rng=0)
    assert found.estimate == pytest.approx(wrong(NB, WEIGHTS).mean())
    assert found.estimand.endswith("(rules learnt with weights)")
    assert found.settings["weights"] == "fit"
    assert "weighted error" not in found.estimand


@pytest.mark.parametrize("scoring", ["accuracy", "neg_brier_score"])
def test_an_array_weights_both(scoring):
    both = uv.CorrectedTTest(X, Y, NB, cv=FOLDS, weights=WEIGHTS, scoring=scoring).fit(rng=0)
    assert both.settings["weights"] == "fit and loss"
    assert both.settings["loss"] == f"weighted_{scoring}"
    assert both.better == "higher"
    parts = {"fit": WEIGHTS, "loss": WEIGHTS.tolist()}
    same = uv.CorrectedTTest(X, Y, NB, cv=FOLDS, weights=parts, scoring=scoring).fit(rng=0)
    assert (same.estimate, same.conf_int()) == (both.estimate, both.conf_int())
    if scoring == "accuracy":
        expected = 1 - np.average(wrong(NB, WEIGHTS), weights=WEIGHTS)
        assert both.estimate == pytest.approx(expected, abs=0.005)


def test_one_split_is_weighted_least_squares():
    design = uv.designs.HoldOut(1 / 3)
    losses = uv.evaluate([NB, "knn:3"], X, Y, design, rng=0, weights={"loss": WEIGHTS})
    plain = uv.evaluate([NB, "knn:3"], X, Y, design, rng=0)
    found = uv.HoldOutTest.from_losses(losses).fit()
    difference = plain.values[0] - plain.values[1]
    tested = WEIGHTS[plain.design.testing[0]]
    expected = sm.WLS(difference, np.ones(20), tested).fit(cov_type="HC1", use_t=True)
    assert found.estimate == pytest.approx(expected.params[0])
    assert found.se == pytest.approx(expected.bse[0])
    again = uv.HoldOutTest(X, Y, NB, "knn:3", design=design, weights={"loss": WEIGHTS}).fit(rng=0)
    assert (again.estimate, again.pvalue) == pytest.approx((found.estimate, found.pvalue))
    one = uv.HoldOutTest(X, Y, NB, design=design, weights={"loss": WEIGHTS}).fit(rng=0)
    assert 0 <= one.conf_int()[0] < one.conf_int()[1] <= 1


ROWS = np.concatenate([np.flatnonzero(Y == 0)[:5], np.flatnonzero(Y == 1)[:5]])
SMALL, FEW = X[ROWS], Y[ROWS]
TIMES = np.array([1, 3, 2, 1, 1, 4, 2, 1, 2, 1])
COPIED = np.repeat(np.arange(10), TIMES)


def of_constant(X_train, y_train, X_test):
    """A rule that copies do not change."""
    return np.full(len(X_test), np.unique(y_train)[0])


@pytest.mark.parametrize("contrast", ["difference", "ratio"])
@pytest.mark.parametrize("fit", [{"n_pairs": "exact"}, {"variance": "few", "n_pairs": 12}])
def test_counts_as_weights_are_copies_that_are_a_cluster(contrast, fit):
    """Of learners that copies do not change, with the ratio of means over clusters as oracle."""
    squared = uv.losses.Loss("own", lambda y, p: 1 + (y - p) ** 2, "label", bounds=(1, 2))
    options = {"loss": squared, "contrast": contrast, "learn_size": 4}
    weighted = uv.UStatisticTest(
        *(SMALL, FEW, "knn:1", of_constant), weights={"loss": TIMES}, **options
    )
    copies = uv.UStatisticTest(
        *(SMALL[COPIED], FEW[COPIED], "knn:1", of_constant),
        groups=COPIED,
        group_weight="row",
        **options,
    )
    found, expected = weighted.fit(rng=0, **fit), copies.fit(rng=0, **fit)
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
    assert found.se == pytest.approx(expected.se, rel=1e-12)
    assert found.tables["Learners"]["se"] == pytest.approx(expected.tables["Learners"]["se"])
    assert "weighted mean own loss" in found.estimand


def test_weighted_rows_of_clusters():
    wards = np.arange(60) % 12
    options = {"groups": wards, "group_weight": "row", "cv": 4}
    found = uv.CorrectedTTest(X, Y, NB, weights={"loss": WEIGHTS}, **options).fit(rng=0)
    losses = uv.evaluate(NB, X, Y, cv=4, groups=wards, weights={"loss": WEIGHTS})
    assert uv.CorrectedTTest.from_losses(losses).fit().pvalue is not None
    equal = uv.CorrectedTTest(X, Y, NB, weights={"loss": np.ones(60)}, **options).fit(rng=0)
    plain = uv.CorrectedTTest(X, Y, NB, **options).fit(rng=0)
    assert (equal.estimate, equal.se) == pytest.approx((plain.estimate, plain.se))
    assert found.estimate != plain.estimate
    with pytest.raises(ValueError, match="pass group_weight='row'"):
        uv.CorrectedTTest(X, Y, NB, weights=WEIGHTS, groups=wards)
    with pytest.raises(ValueError, match="rows count by their weights"):
        uv.CorrectedTTest.from_losses(losses, group_weight="group")


def test_weights_reach_the_last_step_and_what_a_search_fits():
    plain = make_pipeline(StandardScaler(), GaussianNB())
    searched = GridSearchCV(plain, {"gaussiannb__var_smoothing": [1e-9]}, cv=3)
    # Scaling by weighted moments would not change this model either.
    expected = wrong(NB, WEIGHTS).mean()
    for model in (plain, searched):
        test = uv.CrossValidationWaldTest(X, Y, model, cv=FOLDS, weights={"fit": WEIGHTS})
        assert test.fit(rng=0).estimate == pytest.approx(expected)


def test_weights_are_routed_as_scikit_learn_routes_them():
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        model = LogisticRegression(max_iter=500).set_fit_request(sample_weight=True)
        routed = make_pipeline(scaler, model)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        found = uv.CrossValidationWaldTest(
            X, Y, routed, cv=FOLDS, weights=WEIGHTS, scoring=scorer
        ).fit(rng=0)
        by_fold = cross_validate(
            routed, X, Y, cv=FOLDS, scoring=scorer, params={"sample_weight": WEIGHTS}
        )["test_score"]
        sizes = [WEIGHTS[test].sum() for _, test in FOLDS.split(X, Y)]
        assert found.estimate == pytest.approx(np.average(by_fold, weights=sizes))
        deaf = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            LogisticRegression().set_fit_request(sample_weight=False),
        )
        with pytest.raises(ValueError, match="cannot weight rows in fitting"):
            uv.CorrectedTTest(X, Y, deaf, weights=WEIGHTS)


def test_functions_take_them_by_name():
    def weighted_rule(X_train, y_train, X_test, sample_weight):
        return GaussianNB().fit(X_train, y_train, sample_weight).predict(X_test)

    options = {"cv": FOLDS, "weights": WEIGHTS}
    found = uv.CorrectedTTest(X, Y, weighted_rule, **options).fit(rng=0)
    assert found.estimate == uv.CorrectedTTest(X, Y, NB, **options).fit(rng=0).estimate


def test_a_column_of_the_table_holds_the_weights():
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(ill=Y, w=WEIGHTS)
    expected = uv.CorrectedTTest(X[1:], Y[1:], "ridge", NB, weights=WEIGHTS[1:]).fit(rng=0)
    table.loc[0, "w"] = np.nan
    for weights in ("w", {"fit": "w", "loss": "w"}):
        test = uv.CorrectedTTest(table, "ill", "ridge", NB, weights=weights, missing="drop")
        assert test.fit(rng=0).estimate == expected.estimate
    pl = pytest.importorskip("polars")
    of_polars = pl.DataFrame({name: column.tolist() for name, column in table[1:].items()})
    found = uv.CorrectedTTest(of_polars, "ill", "ridge", NB, weights="w").fit(rng=0)
    assert found.estimate == expected.estimate
    with pytest.raises(ValueError, match="weights='W' is not a column of X, which has a, b"):
        uv.CorrectedTTest(table, "ill", NB, weights="W")


def test_a_formula_names_features_and_options_name_columns():
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(ill=Y, w=WEIGHTS)
    found = uv.CorrectedTTest.from_formula("ill ~ .", table, NB, weights="w").fit(rng=0)
    expected = uv.CorrectedTTest(table[["a", "b", "c"]], Y, NB, weights=WEIGHTS).fit(rng=0)
    assert found.estimate == expected.estimate
    with pytest.raises(
        ValueError, match="'weigth' is not a column of the data: did you mean 'weight"
    ):
        uv.CorrectedTTest.from_formula("ill ~ weigth", table.assign(weight=1.0), NB)


def test_a_comparison_with_weights_can_be_interrupted(tmp_path):
    path = tmp_path / "kept.jsonl"
    models = {"ridge": Ridge(), "nb": NB}
    options = {"tests": ["corrected_t", "ustatistic"], "rng": 0, "max_fits": 200}
    table = uv.compare(X, Y, models, weights=WEIGHTS, checkpoint=path, **options)
    again = uv.compare(X, Y, models, weights=WEIGHTS, checkpoint=path, **options)
    assert table.settings["weights"] == "fit and loss"
    for key, result in table.results.items():
        assert again.results[key].pvalue == result.pvalue
        assert "rules learnt with weights" in result.estimand
    with pytest.raises(ValueError, match="weights"):
        uv.compare(X, Y, models, weights=WEIGHTS[::-1], checkpoint=path, **options)
    default = uv.compare(X, Y, models, weights=WEIGHTS, rng=0)
    assert default.n_fits == 40
    assert "(taken for the error rate)" in " ".join(default.result().notes)


def test_out_of_fold_predictions_with_weights():
    fold = np.empty(60, dtype=int)
    for number, (_, test) in enumerate(FOLDS.split(X, Y)):
        fold[test] = number
    predicted = cross_val_predict(NB, X, Y, cv=FOLDS)
    losses = uv.Losses.from_predictions(Y, {"nb": predicted}, fold=fold, sample_weight=WEIGHTS)
    found = uv.CrossValidationWaldTest.from_losses(losses).fit()
    test = uv.CrossValidationWaldTest(X, Y, NB, cv=FOLDS, weights={"loss": WEIGHTS})
    assert found.conf_int() == pytest.approx(test.fit(rng=0).conf_int())


def test_out_of_fold_rows_of_weight_0_are_not_there():
    """Most of them in one fold, and a fold of nothing else."""
    fold, rule = np.arange(60) % 4, (X[:, 0] < 15).astype(int)
    folds, weights = np.r_[fold, np.zeros(15, int), np.full(5, 9)], np.r_[WEIGHTS, np.zeros(20)]
    y, rules = np.r_[Y, np.zeros(20, int)], np.r_[rule, np.ones(20, int)]
    for cls in (uv.CrossValidationWaldTest, uv.CorrectedTTest):
        kept = uv.Losses.from_predictions(Y, {"p": rule}, fold=fold, sample_weight=WEIGHTS)
        given = uv.Losses.from_predictions(y, {"p": rules}, fold=folds, sample_weight=weights)
        expected, found = (cls.from_losses(losses).fit() for losses in (kept, given))
        assert (found.estimate, found.se) == pytest.approx((expected.estimate, expected.se))
        assert found.n_obs == 60
        assert any("worth" in note and "left out: 20" in note for note in found.notes)
    twice = {"fold": np.stack([folds] * 2), "sample_weight": weights}
    given = uv.Losses.from_predictions(y, {"p": np.stack([rules] * 2)}, **twice)
    np.testing.assert_allclose(given.means, np.tile(kept.means, 2))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("unit", [1e307, 1e-310])
def test_only_ratios_of_weights_count_in_the_loss(unit):
    """Sums of very large ones are infinite, and squares of very small ones are 0."""
    rule = (X[:, 0] < 15).astype(int)
    for more in ({}, {"groups": np.arange(60) // 3}):
        found, expected = (
            uv.HoldOutTest.from_losses(
                uv.Losses.from_predictions(Y, {"p": rule}, sample_weight=weights, **more)
            ).fit()
            for weights in (WEIGHTS * unit, WEIGHTS)
        )
        assert found.conf_int() == pytest.approx(expected.conf_int())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: uv.CorrectedTTest(X, Y, of_constant, weights=WEIGHTS), "argument sample_weight"),
        (lambda: uv.CorrectedTTest(X, Y, NB, weights=WEIGHTS, backend="jax"), "without weights"),
        (
            lambda: uv.CorrectedTTest(pd.DataFrame(X), Y, NB, weights=pd.Series(WEIGHTS)[::-1]),
            "the same index in another order",
        ),
    ],
)
def test_what_cannot_be_weighted_is_refused(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
