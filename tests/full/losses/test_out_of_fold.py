"""Out-of-fold predictions: one door for all losses, for one cross-validation or repeats of it."""

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv

RNG = np.random.default_rng(11)
N, K, R = 20, 4, 3
Y = np.arange(N) % 2
FOLD = RNG.permutation(N) % K
FOLDS = np.array([FOLD, *(RNG.permutation(N) % K for _ in range(R - 1))])
PROBABILITIES = {"a": RNG.random((R, N)), "b": RNG.random((R, N))}
LABELS = {name: (p > 0.5).astype(int) for name, p in PROBABILITIES.items()}
COSTS = np.array([[0.0, 1.0], [3.0, 0.0]])


def squares(y, p):
    return (y - p) ** 2


BY_HAND = {
    "zero_one": (LABELS, lambda p: p != Y),
    "squared": (PROBABILITIES, lambda p: (Y - p) ** 2),
    "absolute": (PROBABILITIES, lambda p: abs(Y - p)),
    "brier": (PROBABILITIES, lambda p: (Y - p) ** 2),
    "log": (PROBABILITIES, lambda p: -np.log(np.where(Y == 1, p, 1 - p))),
    "matrix": (LABELS, lambda p: COSTS[Y, p]),
    "function": (PROBABILITIES, lambda p: (Y - p) ** 2),
    "auc": (PROBABILITIES, lambda p: p),
    "score": (PROBABILITIES, lambda p: p),
}
LOSSES = {"matrix": COSTS, "function": uv.Loss("squares", squares, "number")}


def from_folds(loss, n_repeats, **more):
    """Losses of one cross-validation, or of repeats."""
    given = BY_HAND[loss][0]
    rules = given if n_repeats > 1 else {name: row[0] for name, row in given.items()}
    y = None if loss == "score" else Y
    fold = FOLDS if n_repeats > 1 else FOLD
    return uv.Losses.from_predictions(y, rules, loss=LOSSES.get(loss, loss), fold=fold, **more)


@pytest.mark.parametrize("n_repeats", [1, R])
@pytest.mark.parametrize("loss", BY_HAND)
def test_every_loss_is_that_of_the_rows_of_each_fold(loss, n_repeats):
    losses = from_folds(loss, n_repeats)
    given, function = BY_HAND[loss]
    testing = np.concatenate([row == np.arange(K)[:, None] for row in FOLDS[:n_repeats]])
    assert losses.design == uv.designs.Design(~testing, testing)
    assert losses.n_fits == 2 * K * n_repeats
    for name, array in zip(losses.learners, losses.array, strict=True):
        expected = np.repeat([function(row) for row in given[name][:n_repeats]], K, axis=0)
        np.testing.assert_allclose(array[testing], expected[testing], rtol=1e-12)
        assert np.isnan(array[~testing]).all()
    assert losses.settings["design"] == "4-fold cross-validation" + ", 3 times" * (n_repeats > 1)


def test_tests_take_them_as_they_take_those_of_evaluate():
    X = RNG.normal(size=(N, 2)) + Y[:, None]
    evaluated = uv.evaluate(["lda", "knn:3"], X, Y, uv.designs.KFold(K), loss="auc", rng=0)
    fold = evaluated.design.testing.argmax(axis=0)
    scores = dict(zip(evaluated.learners, np.nansum(evaluated.array, axis=1), strict=True))
    given = uv.Losses.from_predictions(Y, scores, loss="auc", fold=fold)
    assert given.design == evaluated.design
    for cls in (uv.CorrectedTTest, uv.NaiveTTest, uv.CrossValidationWaldTest, uv.DeLongTest):
        first, second = (cls.from_losses(each).fit() for each in (evaluated, given))
        assert tuple(first) == tuple(second)
        assert first.estimand == second.estimand
        assert first.n_fits == second.n_fits
    errors = from_folds("zero_one", 1)
    for cls in (uv.CorrectedTTest, uv.NaiveTTest, uv.CrossValidationWaldTest, uv.McNemarTest):
        assert cls.from_losses(errors).fit().n_obs == N
    text = uv.CorrectedTTest.from_losses(errors).fit().methods_text()
    assert "4-fold cross-validation" in text
    assert "no model was fitted" not in text


@pytest.mark.parametrize("n_repeats", [1, 2])
@pytest.mark.parametrize("metric", ["f1", "auc"])
def test_metrics_are_pooled_over_all_folds_as_by_evaluate(metric, n_repeats):
    X = RNG.normal(size=(N, 2)) + Y[:, None]
    design = uv.designs.KFold(K, n_repeats)
    evaluated = uv.evaluate(["nearest_centroid"], X, Y, design, metric=metric, rng=0)
    testing = evaluated.design.testing
    kept = evaluated.values if metric == "auc" else evaluated.predictions
    resample, row = np.nonzero(testing)
    predicted = np.empty((n_repeats, N))
    predicted[resample // K, row] = kept[0]
    rules = {"nearest_centroid": predicted if metric == "auc" else predicted.astype(int)}
    fold = testing.reshape(n_repeats, K, N).argmax(axis=1)
    given = uv.Losses.from_predictions(Y, rules, metric=metric, fold=fold)
    assert given.design == evaluated.design
    np.testing.assert_array_equal(given.values, evaluated.values)
    np.testing.assert_array_equal(given.means, evaluated.means)
    if metric == "auc":
        direct = uv.CrossValidationWaldTest(
            X, Y, "nearest_centroid", metric="auc", design=design
        ).fit(rng=0)
        assert direct.se == uv.CrossValidationWaldTest.from_losses(given).fit().se


def test_labels_of_folds_are_of_any_type():
    expected = from_folds("auc", 1)
    for labels in (list("abcd"), [0.5, 1.5, 2.5, 3.5], [10, 20, 30, 40]):
        scores = {name: row[0] for name, row in PROBABILITIES.items()}
        found = uv.Losses.from_predictions(
            Y, scores, loss="auc", fold=np.array(labels, dtype=object)[FOLD]
        )
        assert found.design == expected.design
        np.testing.assert_array_equal(found.means, expected.means)


def test_folds_in_a_column(tmp_path):
    table = pd.DataFrame({"y": Y, "part": FOLD, "a": LABELS["a"][0], "b": LABELS["b"][0]})
    expected = from_folds("zero_one", 1)
    table.to_csv(tmp_path / "held.csv", index=False)
    for given in (table, tmp_path / "held.csv"):
        found = uv.Losses.from_predictions("y", given, fold="part")
        assert found.learners == ("a", "b")
        np.testing.assert_array_equal(found.means, expected.means)
    with pytest.raises(ValueError, match=r"^fold='folds' is not a column of predictions"):
        uv.Losses.from_predictions("y", table, fold="folds")


def test_probabilities_of_several_classes_in_repeats():
    y = np.array(list("uvw"))[np.arange(N) % 3]
    p = RNG.dirichlet([1, 1, 1], size=(R, N))
    frames = [pd.DataFrame(each, columns=list("uvw")) for each in p]
    losses = [
        uv.Losses.from_predictions(y, {"a": given}, loss="log", fold=FOLDS) for given in (p, frames)
    ]
    expected = -np.log(p[:, np.arange(N), np.arange(N) % 3]).mean()
    for each in losses:
        assert each.means.mean() == pytest.approx(expected)


def test_repeats_may_differ_in_their_folds_where_a_test_takes_splits():
    folds = np.array([np.arange(N) % 4, np.arange(N) % 5])
    losses = uv.Losses.from_predictions(Y, {"a": LABELS["a"][:2]}, fold=folds)
    assert losses.settings["design"] == "4- to 5-fold cross-validation, 2 times"
    with pytest.raises(ValueError, match="not a K-fold cross-validation"):
        uv.CrossValidationWaldTest.from_losses(losses)


@pytest.mark.filterwarnings("ignore:.*labels that do not occur in y")
def test_labels_that_y_lacks_are_in_every_repeat_or_in_none():
    y, fold = np.array([0, 2, 4] * 4), np.arange(12) // 6
    known, other = np.roll(y, 1), np.where(np.arange(12) == 3, 1, np.roll(y, 1))
    for rows in ((known, known), (other, other)):
        losses = uv.Losses.from_predictions(
            y, {"a": np.stack(rows)}, metric="kappa_linear", fold=np.stack([fold, fold])
        )
        expected = uv.Losses.from_predictions(y, {"a": rows[0]}, metric="kappa_linear")
        assert losses.values.mean() == pytest.approx(expected.values.mean())
    with pytest.raises(ValueError, match="in some repeats but not in others"):
        uv.Losses.from_predictions(
            *(y, {"a": np.stack([known, other])}),
            metric="f1_macro",
            fold=np.stack([fold, fold]),
        )
