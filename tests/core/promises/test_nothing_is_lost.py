"""Every door refuses what NumPy would turn into other numbers: masks, complex numbers, dates."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ucvtest as uv
from ucvtest import kernels
from ucvtest.methods.registry import TESTS

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 2)), np.arange(40) % 2
DAYS = np.arange(40).astype("datetime64[D]")
FRAME = pd.DataFrame(X, columns=["a", "b"])
SCORES = np.tile(RNG.normal(size=6), (9, 1))
PAIRS = np.array([np.eye(6)[i] + np.eye(6)[j] for i in range(3) for j in range(3, 6)])


def made_by(name):
    cls = TESTS[name]
    learners = ("lda", "knn:3") if cls.needs.compares else ("lda",)
    return lambda X, y: cls(X, y, *learners)


DOORS = {
    **{name: made_by(name) for name in TESTS},
    "evaluate": lambda X, y: uv.evaluate("lda", X, y, rng=0),
    "compare": lambda X, y: uv.compare(X, y, ["lda", "knn:3"], rng=0),
    "select_model": lambda X, y: uv.select_model(X, y, ["lda", "knn:3"], rng=0),
}
DATA = {
    "X has 1 masked": (np.ma.masked_greater_equal(X, X.max()), Y),
    "X contains complex": (X + 1j, Y),
    "X contains complex numbers": (FRAME.assign(c=1j), Y),
    "X contains dates": (np.stack([DAYS, DAYS], axis=1), Y),
    "X has columns .*'c' contains dates or times": (FRAME.assign(c=DAYS), Y),
    "X has columns .*'c' contains dates": (FRAME.assign(c=DAYS - DAYS[0]), Y),
    "X has columns .*'a' contains strings, 'b' contains strings": (FRAME.astype(str), Y),
    "X has columns .*X contains strings": (X.astype(str), Y),
    "y has 1 masked": (X, np.ma.array(Y, mask=np.arange(40) == 3)),
    "y contains complex": (X, Y + 0j),
    "y contains dates": (X, DAYS[:2][Y]),
    "X and y have different indices": (FRAME, pd.Series(Y, index=range(1, 41))),
}


@pytest.mark.parametrize("door", DOORS)
def test_data(door):
    for message, data in DATA.items():
        with pytest.raises(ValueError, match=rf"^(test '\w+': )?{message}"):
            DOORS[door](*data)


class TestLearners:
    def test_of_scikit_learn_get_no_strings_that_look_like_numbers(self):
        for features in (FRAME.astype(str), FRAME.assign(c=DAYS)[["c"]]):
            with pytest.raises(ValueError, match="X has columns that are not numeric"):
                uv.evaluate(LogisticRegression(), features, Y, 2, rng=0)

    def test_may_encode_them(self):
        numbers = make_pipeline(
            FunctionTransformer(lambda frame: frame.astype(float)), LogisticRegression()
        )
        found = uv.evaluate(numbers, FRAME.astype(str), Y, 2, rng=0)
        assert found.means.shape == (1, 2)

    @pytest.mark.parametrize(
        ("loss", "prediction", "message"),
        [
            ("log", lambda n: np.ma.array(np.full(n, 0.5), mask=np.arange(n) == 1), "1 masked"),
            ("zero_one", lambda n: np.full(n, 0.5 + 1j), "complex"),
            ("log", lambda n: DAYS[:n] - DAYS[0], "dates or times"),
            ("log", lambda n: ["0.5"] * n, "strings"),
            ("zero_one", lambda n: ["0.5"] * n, "is not one of the labels"),
        ],
    )
    def test_predict_numbers(self, loss, prediction, message):
        def learner(X_train, y_train, X_test):
            return prediction(len(X_test))

        with pytest.raises(ValueError, match=f"^learner learner failed on split 0: .*{message}"):
            uv.evaluate(learner, X, Y, 2, loss, rng=0)

    def test_losses_are_real_numbers(self):
        with pytest.raises(ValueError, match=r"^the result of loss custom contains complex"):
            uv.evaluate("lda", X, Y, 2, lambda y, predicted: (y != predicted) + 1j, rng=0)


@pytest.mark.parametrize("cut", [list, tuple])
def test_rows_in_a_list_keep_their_mask(cut):
    table = np.ma.masked_greater_equal(X, X.max())
    with pytest.raises(ValueError, match=r"^X has 1 masked"):
        uv.evaluate("lda", cut(table[i] for i in range(len(table))), Y, 2, rng=0)
    with pytest.raises(ValueError, match=r"^y has 1 masked"):
        uv.evaluate("lda", X, cut([np.ma.masked, *Y[1:].tolist()]), 2, rng=0)
    whole = np.ma.array(X)
    assert uv.evaluate("lda", [whole[i] for i in range(len(X))], Y, 2, rng=0).means.shape == (1, 2)


@pytest.mark.parametrize("loss", ["zero_one", "log"])
def test_predictions_in_another_order_than_their_rows(loss):
    for rows in (lambda index: index[::-1], lambda index: range(len(index))):

        def learner(X_train, y_train, X_test, rows=rows):
            return pd.Series(1.0, rows(X_test.index))

        with pytest.raises(ValueError, match="X_test and the predictions"):
            uv.evaluate(learner, pd.DataFrame(X).add_prefix("x"), Y, 2, loss, rng=0)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.array([pd.NA, *range(39)], "Float64"), "missing values"),
        (pd.period_range("2020", periods=40, freq="D"), "periods"),
        (pd.interval_range(0, 40), "Interval"),
        ([[1]] * 40, "list"),
    ],
)
def test_columns_that_cannot_be_numbers_are_named(column, words):
    frame = pd.DataFrame({"a": X[:, 0], "c": column})
    for features, name in ((frame, "'c'"), (frame.to_numpy(dtype=object), "1")):
        with pytest.raises(ValueError, match=f"not numeric \\({name} contains {words}\\)"):
            uv.evaluate("lda", features, Y, 2, rng=0)


def masked(values):
    mask = np.zeros(values.shape, dtype=bool)
    mask.flat[1] = True
    return np.ma.array(values, mask=mask)


LOST = {
    "has 1 masked": masked,
    "contains complex": lambda values: values + 1j,
    "contains dates or times": lambda values: np.zeros(values.shape, "datetime64[D]"),
    "contains strings": lambda values: values.astype(str),
}


@pytest.mark.parametrize(
    "door",
    [
        lambda lost: kernels.ustatistic.from_pairs(lost(X), X, Y == 0, Y == 1),
        lambda lost: kernels.auc_ustatistic.from_scores(
            lost(RNG.normal(size=(160, 40))), np.tile(np.eye(4)[:2].repeat(10, axis=1), (80, 1)), Y
        ),
        lambda lost: kernels.influence.auc(lost(SCORES), PAIRS, np.arange(6) // 3),
        lambda lost: kernels.influence.error(lost(np.eye(4)), np.eye(4)),
        lambda lost: kernels.influence.ad_hoc_variances(lost(X)),
        lambda lost: kernels.fold_covariance.moments(lost(X[:, 0]), Y),
        lambda lost: kernels.fold_covariance.moments_by_row(lost(X.T), Y),
        lambda lost: kernels.leave_pair_out.errors(lost(np.eye(4)), np.arange(4) % 2),
        lambda lost: kernels.permutation.generalization(lost(X.T), X.T, X[:, 0]),
        lambda lost: kernels.permutation.effective_degrees(lost(np.eye(3))),
        lambda lost: uv.Losses.from_arrays(lost(X.T), np.eye(40)[:2]),
        lambda lost: uv.Losses.from_predictions(Y, {"a": lost(X[:, 0])}, loss="auc"),
        lambda lost: uv.Losses.from_scores({"a": lost(X[:, 0])}, n_learn=3, n_test=1),
        lambda lost: uv.learners.smoother(lost(np.eye(3))),
        lambda lost: uv.learners.hat_matrix(uv.learners.ridge(1.0), lost(X)),
    ],
)
def test_arrays_of_ones_own(door):
    for message, lost in LOST.items():
        with pytest.raises(ValueError, match=message):
            door(lost)


def test_the_response_of_losses():
    with pytest.raises(ValueError, match=r"^y has 1 masked"):
        uv.Losses.from_arrays(X.T, np.eye(40)[:2], loss="squared", y=masked(Y))
