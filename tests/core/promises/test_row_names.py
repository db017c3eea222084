"""Numbers of rows that have names are matched by these, or refused."""

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv

N = 24
NAMES = pd.Index([f"patient {k}" for k in range(N)])
TURNED = NAMES[::-1]
Y = pd.Series(np.arange(N) % 2, NAMES)
PREDICTED = pd.Series(np.arange(N) % 3 % 2, NAMES)
GROUPS = pd.Series(np.r_[np.arange(12) // 2, np.arange(12) // 2 + 6], NAMES)
LEARNING = np.array([[0, 1], [1, 0]]).repeat(N // 2, axis=1)
VALUES = pd.DataFrame((np.arange(2 * N).reshape(2, N) % 5 < 2) * 1.0, columns=NAMES)
FOLDS = pd.Series([0.8, 0.7, 0.9], ["fold 1", "fold 2", "fold 3"])
SIZES = {"n_learn": 20, "n_test": 10}

REFUSED = {
    "scores of test sets": lambda: uv.Losses.from_scores({"a": FOLDS, "b": FOLDS[::-1]}, **SIZES),
    "scores of other test sets": lambda: uv.Losses.from_scores(
        {"a": FOLDS, "b": FOLDS.rename(lambda name: f"{name} b")}, **SIZES
    ),
    "a prediction": lambda: uv.Losses.from_predictions(Y, {"a": PREDICTED.loc[TURNED]}),
    "two predictions, y without names": lambda: uv.Losses.from_predictions(
        Y.to_numpy(), {"a": PREDICTED, "b": PREDICTED.loc[TURNED]}
    ),
    "predictions whose names agree in 60 letters": lambda: uv.Losses.from_predictions(
        Y, {60 * "a" + "1": PREDICTED.loc[TURNED], 60 * "a" + "2": PREDICTED}
    ),
    "marks whose names agree in 60 letters": lambda: uv.Losses.from_correct(
        {60 * "a" + "1": PREDICTED.loc[TURNED], 60 * "a" + "2": PREDICTED, "b": PREDICTED}
    ),
    "weights": lambda: uv.Losses.from_predictions(
        Y.to_numpy(), {"a": PREDICTED}, sample_weight=GROUPS.loc[TURNED] + 1
    ),
    "groups of predictions": lambda: uv.Losses.from_predictions(
        Y, {"a": PREDICTED.to_numpy()}, groups=GROUPS.loc[TURNED]
    ),
    "y of arrays": lambda: uv.Losses.from_arrays(VALUES, LEARNING, y=Y.loc[TURNED]),
    "groups of arrays": lambda: uv.Losses.from_arrays(VALUES, LEARNING, groups=GROUPS.loc[TURNED]),
    "y and groups of arrays": lambda: uv.Losses.from_arrays(
        VALUES.to_numpy(), LEARNING, y=Y, groups=GROUPS.loc[TURNED]
    ),
    "a design": lambda: uv.Losses.from_arrays(VALUES, pd.DataFrame(LEARNING, columns=TURNED)),
    "learning and testing": lambda: uv.Losses.from_arrays(
        VALUES.to_numpy(),
        pd.DataFrame(LEARNING, columns=NAMES),
        pd.DataFrame(1 - LEARNING, columns=TURNED),
    ),
    "values of two learners": lambda: uv.Losses.from_arrays([VALUES, VALUES[TURNED]], LEARNING),
    "y and groups of features without names": lambda: uv.CorrectedTTest(
        np.arange(N)[:, None], Y, "majority", groups=GROUPS.loc[TURNED]
    ),
    "rows with numbers": lambda: uv.Losses.from_arrays(
        VALUES.to_numpy(),
        LEARNING,
        y=pd.Series(Y.to_numpy()),
        groups=pd.Series(GROUPS.to_numpy(), np.arange(N)[::-1]),
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_rows_in_another_order_are_refused(kind):
    with pytest.raises(ValueError, match=r"(same index in another order|different indices), but"):
        REFUSED[kind]()


def test_rows_in_one_order_and_rows_without_names_are_taken():
    named = uv.Losses.from_arrays(
        [VALUES, VALUES], pd.DataFrame(LEARNING, columns=NAMES), y=Y, groups=GROUPS
    )
    plain = uv.Losses.from_arrays(
        np.stack([VALUES, VALUES]), LEARNING, y=Y.to_numpy(), groups=GROUPS.to_numpy()
    )
    np.testing.assert_array_equal(named.means, plain.means)
    # What pandas numbers by itself has no names.
    uv.Losses.from_arrays(VALUES, LEARNING, y=pd.Series(Y.to_numpy()))
    uv.Losses.from_arrays(pd.DataFrame(VALUES.to_numpy()), LEARNING, y=Y)
    uv.Losses.from_scores({"a": FOLDS, "b": FOLDS.to_numpy(), "c": FOLDS + 0.01}, **SIZES)
    uv.Losses.from_scores({"a": pd.Series([0.8, 0.7, 0.9]), "b": FOLDS}, **SIZES)
    uv.Losses.from_predictions(Y, {"a": PREDICTED, "b": PREDICTED.to_numpy()}, groups=GROUPS)


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_rows_are_an_order_where_y_has_no_names(first):
    numbered = PREDICTED.set_axis(np.arange(N) + first)
    uv.Losses.from_predictions(Y.to_numpy(), {"a": numbered})
    uv.Losses.from_predictions(Y.to_numpy(), {"a": numbered.set_axis(np.arange(N)[::-1] + 7)})
    with pytest.raises(ValueError, match="numbered in another order than y"):
        uv.Losses.from_predictions(Y.to_numpy(), {"a": numbered[::-1]})
