"""Answers that were marked right or wrong: what is taken, and what is refused with a remedy."""

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv

RIGHT = [True] * 19 + [False]
WORSE = [1] * 12 + [0] * 8


def test_what_is_kept():
    losses = uv.Losses.from_correct({"a": RIGHT, "b": WORSE})
    assert (losses.loss, losses.in_words, losses.bounds) == ("accuracy", "accuracy", (0.0, 1.0))
    assert losses.greater_is_better
    assert losses.right_or_wrong
    assert losses.means[:, 0].tolist() == [0.95, 0.6]
    assert losses.n_fits == 0
    assert losses.in_losses.loss == "zero_one"
    assert losses.usual_weight == "row"
    again = uv.Losses.from_dict(losses.to_dict())
    assert again.right_or_wrong


@pytest.mark.parametrize(
    "column",
    [
        RIGHT,
        np.array(RIGHT),
        np.array(RIGHT, float),
        np.array(RIGHT, np.uint8),
        np.array(RIGHT, object),
        pd.Series(RIGHT, dtype="boolean"),
        pd.Series(RIGHT, dtype="Int64"),
        np.array(RIGHT)[:, None],
    ],
    ids=lambda column: str(getattr(column, "dtype", "list")),
)
def test_right_is_true_or_one(column):
    assert uv.Losses.from_correct({"a": column}).values.tolist() == [list(map(float, RIGHT))]


def test_tables_and_files(tmp_path):
    table = pd.DataFrame({"a": RIGHT, "b": WORSE, "question": np.arange(20) // 2})
    path = tmp_path / "answers.csv"
    table.to_csv(path)
    for source in (table, path, str(path)):
        losses = uv.Losses.from_correct(source, groups="question")
        assert losses.learners == ("a", "b")
        assert losses.groups.tolist() == (np.arange(20) // 2).tolist()
    assert (
        uv.Losses.from_correct({"a": RIGHT, "id": np.arange(20) // 2}, groups="id").groups.max()
        == 9
    )


def test_scores_of_zeros_and_ones_are_marks():
    made = uv.Losses.from_predictions
    for column, marks in ((RIGHT, True), ([1, 0.5, 0], False), ([1, 2], False), ([1, 1], False)):
        losses = made(None, {"a": column}, loss="score")
        assert losses.right_or_wrong == marks
        assert losses.loss == "score"
        assert losses.in_words == "mean score"
    # Learners are no fixed rules, and losses no scores.
    learnt = uv.Losses.from_arrays(
        [[[0.0, 1.0, 1.0]]], [[1, 0, 0]], loss="score", greater_is_better=True
    )
    assert not learnt.right_or_wrong
    assert not made([0, 1, 1], {"a": [0, 1, 0]}).right_or_wrong
