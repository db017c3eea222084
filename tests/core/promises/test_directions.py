"""No table of numbers has a direction that was guessed from nothing."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import ucvtest as uv
from ucvtest.cli import app
from ucvtest.metrics.directions import names_a_score

LEARNING = np.kron(1 - np.eye(3, dtype=int), np.ones((1, 6), dtype=int))
VALUES = (np.arange(2 * 3 * 18).reshape(2, 3, 18) * 7 % 11 > [[[4]], [[2]]]).astype(float)
SCORES = {"a": [0.8, 0.9, 0.7, 0.8], "b": [0.6, 0.7, 0.7, 0.5]}
SIZES = {"n_learn": 30, "n_test": 10}


@pytest.mark.parametrize(
    "name",
    [
        *("accuracy", "r2", "balanced_accuracy", "f1", "neg_log_loss", "average_precision"),
        *("explained_variance", "d2_absolute_error_score", "pearson", "c_index", "accuracy_score"),
    ],
)
def test_names_of_scores_are_not_losses(name):
    with pytest.raises(ValueError, match=r"is the name of a score.*pass greater_is_better=True"):
        uv.Losses.from_arrays(VALUES, LEARNING, loss=name)
    design = uv.Losses.from_arrays(VALUES, LEARNING).design
    with pytest.raises(ValueError, match="is the name of a score"):
        uv.Losses(design, ("a",), name, np.zeros((1, 3)))


@pytest.mark.parametrize(
    "name",
    ["brier_score", "log_loss", "mse", "max_error", "rmse", "root_mean_squared_error", "error"],
)
def test_names_of_losses_are_known(name):
    assert not names_a_score(name)
    assert not uv.Losses.from_arrays(VALUES, LEARNING, loss=name).greater_is_better


@pytest.mark.parametrize("name", ["huber", "BLEU", "ROC AUC", "hit rate", "own_error", "neg_huber"])
def test_words_in_other_names_decide_nothing(name):
    says = f"='{name}' does not tell whether higher is better: pass greater_is_better=True, or"
    for call in (
        lambda **options: uv.Losses.from_arrays(VALUES, LEARNING, loss=name, **options),
        lambda **options: uv.Losses.from_scores(SCORES, **SIZES, score=name, **options),
    ):
        with pytest.raises(ValueError, match=says):
            call()
        assert call(greater_is_better=True).greater_is_better
        assert not call(greater_is_better=False).greater_is_better


def test_scores_that_say_so_are_scores():
    losses = uv.Losses.from_arrays(VALUES, LEARNING, loss="zero_one")
    scores = uv.Losses.from_arrays(1 - VALUES, LEARNING, loss="accuracy", greater_is_better=True)
    own = uv.Losses.from_arrays(-VALUES, LEARNING, loss="r2", greater_is_better=True)
    one, other, third = (uv.CorrectedTTest.from_losses(x).fit() for x in (losses, scores, own))
    assert one.estimate == -other.estimate == -third.estimate
    assert one.pvalue == other.pvalue == third.pvalue
    assert (one.better, other.better, third.better) == ("lower", "higher", "higher")
    assert (other.settings["loss"], third.settings["loss"]) == ("accuracy", "r2")
    whole = uv.Losses.from_arrays(VALUES[:, :1], LEARNING[:1])
    right = uv.Losses.from_arrays(
        1 - VALUES[:, :1], LEARNING[:1], loss="accuracy", greater_is_better=True
    )
    exact = [uv.McNemarTest.from_losses(x).fit().pvalue for x in (whole, right)]
    assert exact[0] == exact[1]
    again = uv.Losses.from_dict(json.loads(json.dumps(own.to_dict())))
    assert again.greater_is_better
    turned = uv.Losses.from_arrays(VALUES, LEARNING, loss="1 - accuracy", greater_is_better=False)
    assert not uv.Losses.from_dict(turned.to_dict()).greater_is_better


@pytest.mark.parametrize(
    ("loss", "values", "greater", "message"),
    [
        ("zero_one", VALUES, True, "contradicts loss='zero_one', whose smaller"),
        ("accuracy", VALUES, False, "contradicts loss='accuracy', whose greater"),
        ("neg_log_loss", VALUES, True, "values go up to 1, but neg_log_loss is never above 0"),
        ("accuracy", 2 * VALUES, True, "loss='accuracy' lies between 0 and 1"),
        ("roc_auc", VALUES, True, "pass decision scores with loss='auc'"),
        ("huber", VALUES, "yes", "greater_is_better must be True or False, got 'yes'"),
    ],
)
def test_contradictions_are_refused(loss, values, greater, message):
    with pytest.raises(ValueError, match=message):
        uv.Losses.from_arrays(values, LEARNING, loss=loss, greater_is_better=greater)


@pytest.mark.parametrize(
    ("score", "greater", "better"),
    [
        ("r2", None, "higher"),
        ("accuracy", None, "higher"),
        ("squared", None, "lower"),
        ("rmse", None, "lower"),
        ("own", True, "higher"),
        ("own", False, "lower"),
        (None, None, "higher"),
    ],
)
def test_scores_of_test_sets_have_the_direction_of_their_name(score, greater, better):
    losses = uv.Losses.from_scores(SCORES, **SIZES, score=score, greater_is_better=greater)
    result = uv.CorrectedTTest.from_losses(losses).fit()
    assert result.better == better
    assert result.estimate == pytest.approx(0.175, abs=1e-12)
    assert result.settings["loss"] == (score or "score")


def test_scores_of_test_sets_without_a_known_direction_are_refused():
    for score, greater, message in (
        (
            "own",
            None,
            "score='own' does not tell whether higher is better: pass greater_is_better=True",
        ),
        ("squared", True, "contradicts score='squared'"),
        (3, None, "score must be the name of the score, got 3"),
    ):
        with pytest.raises(ValueError, match=message):
            uv.Losses.from_scores(SCORES, **SIZES, score=score, greater_is_better=greater)


def test_readers_of_predictions_know_no_such_names(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y,a,b\n" + "0,0,1\n1,1,1\n" * 6)
    for command in ("predictions", "gate"):
        told = ["--target", "y", "--scores", "a,b", "--loss", "r2"]
        more = ["--margin", "0.1"] if command == "gate" else []
        assert CliRunner().invoke(app, [command, str(path), *told, *more]).exit_code == 2
    with pytest.raises(ValueError, match=r"loss='r2' is not a mean .*: pass metric='r2'"):
        uv.Losses.from_predictions([0, 1] * 6, {"a": [0, 1] * 6}, loss="r2")


def test_functions_that_are_called_like_scores_are_not_losses():
    def accuracy(y, prediction):
        return (y == prediction) * 1.0

    X, y = np.arange(24.0).reshape(12, 2), [0, 1] * 6
    for call in (
        lambda: uv.losses.as_loss(accuracy, has_classes=True),
        lambda: uv.evaluate("lda", X, y, 3, accuracy),
        lambda: uv.compare(X, y, ["lda", "majority"], "corrected_t", loss=accuracy),
        lambda: uv.Losses.from_predictions(y, {"a": y}, loss=accuracy),
    ):
        with pytest.raises(
            ValueError, match="the function accuracy, which has the name of a score"
        ):
            call()
