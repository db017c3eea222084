"""scikit-learn's vocabulary: the numbers are those of cross_val_score, with the right direction."""

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, fbeta_score, get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ucvtest as uv

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, :4], Y[:60]
PIPE = make_pipeline(StandardScaler(), LogisticRegression())
NEAR = KNeighborsClassifier(3)
AMOUNTS = tuple(part[:60] for part in load_diabetes(return_X_y=True))
FLOWERS, SPECIES = load_iris(return_X_y=True)
FLOWERS, SPECIES = FLOWERS[:, :2], np.array(["setosa", "versicolor", "virginica"])[SPECIES]

MODELS = {"lda": LinearDiscriminantAnalysis(), "gaussian_nb": GaussianNB()}
OF_CLASSES = """accuracy neg_log_loss neg_brier_score roc_auc f1 balanced_accuracy average_precision
    recall d2_log_loss_score"""
OF_NUMBERS = """neg_mean_squared_error neg_mean_absolute_error neg_mean_squared_log_error
    neg_mean_absolute_percentage_error neg_mean_poisson_deviance neg_mean_gamma_deviance r2
    neg_root_mean_squared_error neg_median_absolute_error"""
OF_SEVERAL = "accuracy neg_log_loss neg_brier_score f1_macro roc_auc_ovr"
SCORED = [
    *((scoring, (X, Y), (PIPE, NEAR)) for scoring in OF_CLASSES.split()),
    *((scoring, AMOUNTS, (Ridge(), KNeighborsRegressor())) for scoring in OF_NUMBERS.split()),
    *((scoring, (FLOWERS, SPECIES), tuple(MODELS)) for scoring in OF_SEVERAL.split()),
]


@pytest.mark.parametrize(("scoring", "data", "learners"), SCORED)
def test_scores_are_those_of_cross_val_score(scoring, data, learners):
    """The corrected t test against the scores of scikit-learn on the same folds."""
    backend = "auto" if learners == tuple(MODELS) else "sklearn"
    test = uv.CorrectedTTest(*data, *learners, cv=5, scoring=scoring, backend=backend)
    result = test.fit(rng=0)
    models = [MODELS.get(each, each) if isinstance(each, str) else each for each in learners]
    one, other = (cross_val_score(each, *data, cv=5, scoring=scoring) for each in models)
    difference = one - other
    expected = difference.mean(), np.sqrt(difference.var(ddof=1) * (1 / 5 + 1 / 4))
    assert (result.estimate, result.se) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert result.better == "higher"


def test_probabilities_of_three_classes_by_estimators_and_functions():
    def shares(X_train, y_train, X_test):
        return np.tile(
            [(y_train == label).mean() for label in np.unique(SPECIES)], (len(X_test), 1)
        )

    losses = uv.evaluate(
        {"nb": GaussianNB(), "prior": shares, "none": "majority", "discriminant": "lda"},
        *(FLOWERS, SPECIES, KFold(5, shuffle=True, random_state=0)),
        loss="brier",
        pos_label="setosa",
    )
    np.testing.assert_allclose(losses.means[1], losses.means[2], rtol=1e-12)
    expected = cross_val_score(
        GaussianNB(),
        FLOWERS,
        SPECIES,
        cv=KFold(5, shuffle=True, random_state=0),
        scoring="neg_brier_score",
    )
    np.testing.assert_allclose(losses.means[0], -expected, rtol=1e-12)
    assert losses.bounds == (0, 2)


def test_a_class_that_was_not_learnt_has_probability_zero():
    rows = np.r_[0:12, 50:62, 100:112]
    splits = [(np.arange(24), np.arange(24, 36)), (np.arange(12, 36), np.arange(12))]
    losses = uv.evaluate(["lda", GaussianNB()], FLOWERS[rows], SPECIES[rows], splits, loss="brier")
    assert (losses.means >= 1).all()
    single = [(np.arange(12), np.arange(12, 36))]
    losses = uv.evaluate("lda", FLOWERS[rows], SPECIES[rows], single, loss="brier")
    assert losses.means.tolist() == [[2.0]]
    assert losses.diagnostics["lda"]["one_class_fits"] == 1


def test_labels_that_are_strings_have_the_positive_class_of_the_test():
    ill = np.where(Y == 1, "a", "b")
    options = {"cv": 5, "backend": "sklearn"}
    named = uv.CorrectedTTest(X, ill, PIPE, NEAR, scoring="f1", pos_label="a", **options)
    numbered = uv.CorrectedTTest(X, Y, PIPE, NEAR, scoring="f1", **options)
    assert named.fit().estimate == numbered.fit().estimate
    scorer = make_scorer(f1_score, pos_label="b")
    other = uv.CorrectedTTest(X, ill, PIPE, NEAR, scoring=scorer, pos_label="a", **options)
    zero = uv.CorrectedTTest(X, Y, PIPE, NEAR, scoring="f1", pos_label=0, **options)
    assert other.fit().estimate == zero.fit().estimate


def test_scorer_objects_are_known_by_what_they_do():
    test = uv.HoldOutTest(X, Y, "lda", "knn:3", scoring=get_scorer("accuracy"))
    assert test.metric.name == "zero_one"
    scorer = make_scorer(fbeta_score, beta=2)
    result = uv.CorrectedTTest(X, Y, "lda", "knn:3", scoring=scorer, cv=5).fit(rng=0)
    assert result.settings["loss"] == "fbeta_score"
    assert result.estimand.startswith("difference in mean fbeta score")
    less = make_scorer(fbeta_score, beta=2, greater_is_better=False)
    other = uv.CorrectedTTest(X, Y, "lda", "knn:3", scoring=less, cv=5).fit(rng=0)
    assert other.estimate == -result.estimate
    assert other.better == "higher"


def test_other_aliases():
    assert uv.evaluate("ridge:1.0", *AMOUNTS, 5, "mse", rng=0).loss == "squared"
    assert uv.evaluate("ridge:1.0", *AMOUNTS, 5, "mae", rng=0).loss == "absolute"
    assert uv.evaluate("lda", X, Y, 5, "roc_auc", rng=0).loss == "auc"
    assert uv.UStatisticTest(X, Y, "lda", loss="roc_auc").loss is None
    losses = uv.Losses.from_predictions(Y, {"a": X[:, 0]}, loss="roc_auc")
    assert losses.loss == "auc"


def test_a_function_that_scores_no_predictions_is_refused():
    with pytest.raises(ValueError, match="ask the estimator for pred"):
        uv.CorrectedTTest(X, Y, "lda", "knn:3", scoring=lambda model, X, y: 1.0)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "name",
    ["mean_squared_log_error", "mean_poisson_deviance", "mean_gamma_deviance"],
)
@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([1, 2, 3], [2, 2, 4]),
        ([0, 2, 3], [2, 2, 4]),
        ([1, 2, 3], [2, 0, 4]),
        ([1, -2, 3], [2, -2.5, 4]),
        ([1, -2, 3], [2, 2, 4]),
        ([1, 2, 3], [2, -2, 4]),
    ],
)
def test_numbers_outside_of_a_loss_are_refused_as_in_scikit_learn(name, y, p):
    """Two wrong signs cancelled in deviances."""
    y, p = np.array(y, float), np.array(p, float)

    def found() -> float:
        losses = uv.Losses.from_predictions(y, {"a": p}, metric=f"neg_{name}")
        return -uv.HoldOutTest.from_losses(losses).fit().estimate

    try:
        expected = getattr(sklearn.metrics, name)(y, p)
    except ValueError:
        with pytest.raises(ValueError, match=r"needs (y|predictions) "):
            found()
    else:
        assert found() == pytest.approx(expected)


def test_a_test_set_without_the_score_is_named():
    with pytest.raises(ValueError, match=r"gave nan on split 0, whose test set has no such score"):
        uv.evaluate("lda", FLOWERS, SPECIES, KFold(10), scoring="roc_auc_ovr")
    with pytest.warns(
        uv.UcvtestWarning, match="scoring='f1' in 11 of 20 test sets: F-score is ill"
    ):
        uv.evaluate("lda", X, Y, KFold(20), scoring="f1")
    # Ours are stratified, as those of cross_val_score are.
    drawn = uv.evaluate("lda", X, Y, 5, scoring="f1", rng=0).design
    counts = (drawn.testing & (Y == 1)).sum(axis=1)
    assert counts.max() - counts.min() <= 1


# -------------------------------------------------------------- other forms of data


def test_sparse_matrices_go_to_estimators():
    counts = sparse.csc_array(np.random.default_rng(0).poisson(1.0, size=(60, 5)))
    models = MultinomialNB(), LogisticRegression()
    options = {"cv": 5, "backend": "sklearn"}
    found = uv.CorrectedTTest(counts, Y, *models, **options).fit(rng=0)
    dense = uv.CorrectedTTest(counts.toarray(), Y, *models, **options).fit(rng=0)
    assert found.estimate == pytest.approx(dense.estimate, abs=1e-12)
    assert uv.CorrectedTTest(counts, Y, LogisticRegression(), cv=5).fit(rng=0).n_obs == 60
    with pytest.raises(ValueError, match=r"X is a sparse matrix, which learner lda .*toarray"):
        uv.CorrectedTTest(counts, Y, "lda")


def test_missing_values_are_left_out_with_a_note():
    gaps = pd.DataFrame(X, columns=list("abcd"))
    gaps.loc[[2, 7], "b"] = np.nan
    labels = pd.Series(Y, dtype=object)
    labels[11] = None
    kept = np.setdiff1d(np.arange(60), [2, 7, 11])
    expected = uv.CorrectedTTest(X[kept], Y[kept], "lda", "knn:3").fit(rng=0)
    found = uv.CorrectedTTest(gaps, labels, "lda", "knn:3", missing="drop").fit(rng=0)
    assert (found.n_obs, found.estimate) == (57, expected.estimate)
    note = "3 observations have missing values and were left out."
    assert note in found.notes
    table = uv.compare(gaps, labels, ["lda", "knn:3"], "corrected_t", missing="drop", rng=0)
    assert note in table.result("corrected_t").notes
    losses = uv.evaluate("lda", gaps.to_numpy(), labels, missing="drop", rng=0)
    assert losses.settings["n_dropped"] == 3
    whole = uv.CorrectedTTest(X, Y, "lda", missing="drop").fit(rng=0)
    assert not any("left out" in each for each in whole.notes)
    with pytest.raises(ValueError, match="y has 1 missing values"):
        uv.CorrectedTTest(gaps, labels, "lda")
    with pytest.raises(ValueError, match="every observation has a missing value"):
        uv.CorrectedTTest(gaps.assign(e=np.nan), labels, "lda", missing="drop")


def test_what_is_dropped_leaves_the_rest_as_it_was():
    masked = np.ma.masked_array(X.copy(), mask=np.zeros(X.shape, dtype=bool))
    masked[3, 1] = np.ma.masked
    masked[5, 0] = np.nan
    with pytest.raises(ValueError, match="X has 1 masked values"):
        uv.CorrectedTTest(masked, Y, "lda", missing="drop")
    gaps = X.copy()
    gaps[5, 0] = np.nan
    ordered = pd.Categorical(np.where(Y, "high", "low"), ["low", "high"], ordered=True)
    result = uv.CorrectedTTest(gaps, ordered, "lda", missing="drop").fit(rng=0)
    assert result.settings["pos_label"] == "high"
    with pytest.raises(ValueError, match="missing='drop' does not apply with a formula"):
        uv.CorrectedTTest.from_formula("y ~ .", pd.DataFrame({"y": Y}), "lda", missing="drop")


def test_scores_of_sets_say_nothing_of_groups():
    groups = np.repeat(np.arange(30), 2)
    losses = uv.evaluate(["lda", "knn:3"], X, Y, 5, scoring="recall", groups=groups, rng=0)
    with pytest.raises(ValueError, match="contain only the mean of each resample, without groups"):
        uv.CorrectedTTest.from_losses(losses).fit()


def test_a_scorer_of_ones_own_takes_counts_of_a_regressor():
    counts = np.arange(60) % 7
    scorer = make_scorer(lambda y, prediction: -np.median(np.abs(y - prediction)))
    models = Ridge(), KNeighborsRegressor()
    for found in (
        uv.CorrectedTTest(X, counts, *models, design=5, scoring=scorer).fit(rng=0),
        uv.compare(
            *(X, counts, list(models)),
            uv.TestSpec("corrected_t", {"design": 5}),
            scoring=scorer,
            rng=0,
        ).result("corrected_t"),
    ):
        assert found.settings["design"] == "5-fold cross-validation"


def test_names_of_learners():
    result = uv.CorrectedTTest(X, Y, {"near": "knn:3"}, {"linear": PIPE}).fit(rng=0)
    assert (result.settings["learner"], result.settings["other"]) == ("near", "linear")
    models = {"line": "polynomial:1", "curve": "polynomial:5"}
    chosen = uv.select_model(AMOUNTS[0][:, :1], AMOUNTS[1], models, rng=0)
    assert chosen.table["learner"].tolist() == ["line", "curve"]
    assert chosen.names == ("line", "curve")


def test_predictions_of_three_classes():
    model = GaussianNB().fit(FLOWERS, SPECIES)
    probability = model.predict_proba(FLOWERS)
    frame = pd.DataFrame(probability, columns=model.classes_)
    given = {"array": probability, "frame": frame.iloc[:, ::-1]}
    for loss in ("log", "brier"):
        losses = uv.Losses.from_predictions(SPECIES, given, loss=loss)
        score = get_scorer({"log": "neg_log_loss", "brier": "neg_brier_score"}[loss])
        assert losses.means[:, 0] == pytest.approx(-score(model, FLOWERS, SPECIES), rel=1e-12)
    named = uv.Losses.from_predictions(SPECIES, given, loss="auc", pos_label="setosa")
    plain = uv.Losses.from_predictions(SPECIES == "setosa", {"a": probability[:, 0]}, loss="auc")
    assert named.means[0, 0] == named.means[1, 0] == plain.means[0, 0]
    for wrong, message in (
        (probability[:, :2], "must have a column for each of 3 classes"),
        (probability * 0.9, "rows that sum to"),
        (frame.rename(columns={"setosa": "x"}), "name them by the labels of y"),
    ):
        with pytest.raises(ValueError, match=message):
            uv.Losses.from_predictions(SPECIES, {"a": wrong}, loss="log")


@pytest.mark.parametrize(
    "scoring",
    [
        "d2_log_loss_score",
        make_scorer(roc_auc_score, response_method="predict_proba", max_fpr=0.3),
        make_scorer(roc_auc_score, response_method="decision_function", max_fpr=0.3),
    ],
)
def test_scores_without_a_positive_class_are_those_of_scikit_learn_whatever_it_is(scoring):
    ill = np.where(Y == 1, "b", "a")
    expected = cross_val_score(PIPE, X, ill, scoring=scoring, cv=3).mean()
    for positive in ("a", "b"):
        losses = uv.evaluate(
            [PIPE], X, ill, scoring=scoring, pos_label=positive, cv=3, backend="sklearn"
        )
        assert losses.means.mean() == pytest.approx(expected, rel=1e-12)


def test_columns_of_several_classes_keep_to_their_classes():
    expected = cross_val_score(PIPE, FLOWERS, SPECIES, scoring="roc_auc_ovr", cv=3).mean()
    for positive in (None, "setosa", "versicolor"):
        losses = uv.evaluate(
            [PIPE], FLOWERS, SPECIES, scoring="roc_auc_ovr", pos_label=positive, cv=3
        )
        assert losses.means.mean() == pytest.approx(expected, rel=1e-12)


def test_rows_that_are_left_out_shift_no_splits():
    gap = X.copy()
    gap[3, 0] = np.nan
    splits = [(np.arange(30), np.arange(30, 59))]
    learners = [NEAR, "majority"]
    for call in (
        lambda: uv.HoldOutTest(gap, Y, *learners, cv=splits, missing="drop"),
        lambda: uv.HoldOutTest(gap, Y, *learners, design=splits, missing="drop"),
        lambda: uv.evaluate(learners, gap, Y, design=splits, missing="drop"),
        lambda: uv.compare(
            gap, Y, learners, uv.TestSpec("hold_out", {"design": splits}), missing="drop"
        ),
    ):
        with pytest.raises(ValueError, match="missing='drop' leaves out 1 of the rows whose numb"):
            call()
    uv.CorrectedTTest(gap, Y, *learners, cv=KFold(2), missing="drop")
