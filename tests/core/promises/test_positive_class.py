"""Nobody guesses which class a score or a probability is about that comes in from outside."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from ucvtest.data.positive_class import says_positive
from ucvtest.losses import Loss

TRUTH = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1] * 2)
GOOD = np.where(TRUTH == 1, 0.7, 0.3) + np.linspace(-0.28, 0.28, 24)
POOR = np.roll(GOOD, 5)
X = np.column_stack([GOOD, POOR])

CASE = np.where(TRUTH == 1, "case", "control")
NUMBERED = np.where(TRUTH == 1, 1, 2)

UNTOLD: dict[str, Any] = {
    "case and control": CASE,
    "1 and 2": NUMBERED,
    "texts 0 and 1": TRUTH.astype(str),
    "0 and 2": 2 * TRUTH,
    "texts True and False": (TRUTH == 1).astype(str),
    "ordered categorical": pd.Series(pd.Categorical(CASE, ["control", "case"], ordered=True)),
}
TOLD: dict[str, Any] = {
    "0 and 1": TRUTH,
    "0.0 and 1.0": TRUTH.astype(float),
    "booleans": TRUTH == 1,
    "booleans as objects": (TRUTH == 1).astype(object),
    "-1 and 1": 2 * TRUTH - 1,
    "categorical of 0 and 1": pd.Series(pd.Categorical(TRUTH)),
}

TWO = {"good": GOOD, "poor": POOR}
ONE_CLASS = Loss("own", lambda y, p: (p - y) ** 2, "probability")


def ranks(X_train: Any, y_train: Any, X_test: Any) -> Any:
    """A learner that is a function, whose score is that of "case"."""
    return X_test[:, 0]


def from_arrays(y: Any, pos_label: Any = None) -> Any:
    learning = np.zeros((1, len(y)), int)
    return uv.Losses.from_arrays(GOOD[None, None], learning, loss="auc", y=y, pos_label=pos_label)


WAYS: dict[str, Callable[..., Any]] = {
    **{
        loss if isinstance(loss, str) else loss.name: lambda y, pos_label=None, loss=loss: (
            uv.Losses.from_predictions(y, TWO, loss=loss, pos_label=pos_label)
        )
        for loss in ("auc", "roc_auc", "log", "brier", ONE_CLASS)
    },
    "from_arrays": from_arrays,
    "leave_pair_out": lambda y, pos_label=None: uv.LeavePairOutTest(
        X, y, ranks, pos_label=pos_label
    ),
    "brier of a function": lambda y, pos_label=None: uv.CorrectedTTest(
        X, y, ranks, "lda", loss="brier", pos_label=pos_label
    ),
    "evaluate": lambda y, pos_label=None: uv.evaluate(
        [ranks], X, y, uv.designs.KFold(2), "auc", pos_label=pos_label, rng=0
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("labels", UNTOLD)
def test_labels_that_do_not_tell_need_pos_label(way: str, labels: str) -> None:
    y = UNTOLD[labels]
    with pytest.raises(ValueError, match="pos_label is missing: ") as refused:
        WAYS[way](y)
    for label in np.unique(y).tolist():
        assert f" pos_label={label!r} if " in str(refused.value)
        WAYS[way](y, pos_label=label)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("labels", TOLD)
def test_labels_that_tell_need_nothing(way: str, labels: str) -> None:
    WAYS[way](TOLD[labels])


@pytest.mark.parametrize("labels", [0, 1], ids=["1 0", "-1 0"])
def test_other_numbers_do_not_tell(labels: int) -> None:
    assert not says_positive([[1, 2], [-1, 0]][labels])


def test_squared_error_of_probabilities_needs_it_too() -> None:
    # Of numbers as labels predictions are amounts in their units; of texts they are probabilities.
    with pytest.raises(ValueError, match="pos_label is missing"):
        uv.Losses.from_predictions(CASE, TWO, loss="squared")
    assert uv.Losses.from_predictions(NUMBERED, TWO, loss="squared").means.shape == (2, 1)


@pytest.mark.parametrize("loss", ["zero_one", [[0, 1], [5, 0]]], ids=["zero_one", "costs"])
def test_labels_need_no_positive_class(loss: Any) -> None:
    uv.Losses.from_predictions(CASE, {"a": CASE, "b": CASE[::-1]}, loss=loss)


def test_learners_that_are_fitted_here_need_none() -> None:
    def means(y: Any, pos_label: Any) -> Any:
        return uv.evaluate("majority", X, y, 4, "auc", pos_label=pos_label, rng=0).means

    found = [means(CASE, pos_label) for pos_label in (None, "case", "control")]
    np.testing.assert_allclose(found, [found[0]] * 3)


@pytest.mark.parametrize("loss", ["auc", "log", "brier"])
def test_the_spelling_of_labels_changes_nothing(loss: str) -> None:
    def means(y: Any, pos_label: Any) -> Any:
        return uv.Losses.from_predictions(y, TWO, loss=loss, pos_label=pos_label).means

    expected = means(TRUTH, None)
    for y, pos_label in ((CASE, "case"), (NUMBERED, 1), (np.where(TRUTH == 1, "y", "n"), "y")):
        np.testing.assert_array_equal(means(y, pos_label), expected)


@pytest.mark.parametrize("loss", ["auc", "log", "brier", "squared"])
@pytest.mark.parametrize("pos_label", [None, "case", "control"])
def test_columns_named_by_the_classes_tell(loss: str, pos_label: str | None) -> None:
    told = {
        name: pd.DataFrame({"case": column, "control": 1 - column}) for name, column in TWO.items()
    }
    found = uv.Losses.from_predictions(CASE, told, loss=loss, pos_label=pos_label)
    expected = uv.Losses.from_predictions(CASE, TWO, loss=loss, pos_label="case")
    np.testing.assert_allclose(found.means, expected.means)
    with pytest.raises(ValueError, match=r"predictions\['poor'\] contains"):
        uv.Losses.from_predictions(CASE, told | {"poor": POOR}, loss=loss)


NAMED_COLUMNS = {
    name: pd.DataFrame({"case": column, "control": 1 - column}) for name, column in TWO.items()
}
OF_ONE_CLASS: dict[str, Callable[..., Any]] = {
    **{
        metric if isinstance(metric, str) else metric.name: lambda y, metric=metric, **named: (
            uv.Losses.from_predictions(y, NAMED_COLUMNS, metric=metric, **named).means[0, 0]
        )
        for metric in (
            "average_precision",
            uv.metrics.partial_auc(0.3),
            uv.metrics.net_benefit(0.2),
            uv.metrics.Moments(
                lambda y, p: np.stack([y, p], axis=-1),
                lambda means: means[0] / means[1],
                "observed over expected",
                output="probability",
            ),
        )
    },
    **{
        curve: lambda y, curve=curve, **named: getattr(uv.curves, curve)(
            y, NAMED_COLUMNS, rng=0, **named
        ).settings["pos_label"]
        for curve in ("roc", "precision_recall", "decision", "calibration")
    },
}


@pytest.mark.filterwarnings("ignore::ucvtest.UcvtestWarning")
@pytest.mark.parametrize("value", OF_ONE_CLASS)
def test_named_columns_do_not_tell_the_class_of_a_metric(value: str) -> None:
    asks = "pos_label is missing: .* the labels 'case' and 'control' do not tell which one"
    with pytest.raises(ValueError, match=asks):
        OF_ONE_CLASS[value](CASE)
    of_case, of_control = (OF_ONE_CLASS[value](CASE, pos_label=x) for x in ("case", "control"))
    assert of_case != of_control


@pytest.mark.parametrize("metric", ["brier_skill", "log_skill"])
def test_a_metric_that_is_the_same_for_both_classes_does_not_ask(metric: str) -> None:
    def skill(**named: Any) -> Any:
        return uv.Losses.from_predictions(CASE, NAMED_COLUMNS, metric=metric, **named).means

    for label in ("case", "control"):
        np.testing.assert_allclose(skill(), skill(pos_label=label))


LATER: dict[str, tuple[Any, Callable[[uv.Losses], Any]]] = {
    "F1 after MCC": ("mcc", lambda losses: losses.about("f1")),
    "ROC curve": ("auc", lambda losses: uv.curves.roc(losses, rng=0)),
    "calibration curve": ("brier_skill", lambda losses: uv.curves.calibration(losses, rng=0)),
}


@pytest.mark.filterwarnings("ignore::ucvtest.UcvtestWarning")
@pytest.mark.parametrize("way", LATER)
@pytest.mark.parametrize("learns", [True, False])
def test_losses_made_without_the_class_do_not_tell_it_later(way: str, learns: bool) -> None:
    metric, later = LATER[way]

    def losses(pos_label: Any = None) -> uv.Losses:
        if learns:
            folds = uv.designs.KFold(4, stratify=True)
            return uv.evaluate("lda", X, CASE, folds, metric=metric, pos_label=pos_label, rng=0)
        labels = metric not in ("auc", "brier_skill")
        rule = np.roll(CASE, 1) if labels else NAMED_COLUMNS["good"]
        return uv.Losses.from_predictions(CASE, {"a": rule}, metric=metric, pos_label=pos_label)

    with pytest.raises(ValueError, match=r"pos_label is missing: .*, with the predictions or the"):
        later(losses())
    for label in ("case", "control"):
        later(losses(label))


def test_a_function_with_pos_label_is_not_turned() -> None:
    def means(y: Any, pos_label: Any) -> Any:
        return uv.evaluate(ranks, X, y, [(range(8), range(8, 24))], "auc", pos_label=pos_label)

    plain = means(TRUTH, None).means
    np.testing.assert_array_equal(means(CASE, "case").means, plain)
    np.testing.assert_allclose(means(CASE, "control").means, 1 - plain)


RESULTS: dict[str, Callable[[], Any]] = {
    "delong": lambda: uv.DeLongTest.from_losses(from_cases("auc")).fit(),
    "brier": lambda: uv.HoldOutTest.from_losses(from_cases("brier")).fit(),
    "weighted": lambda: uv.HoldOutTest.from_losses(
        uv.Losses.from_predictions(
            CASE, TWO, loss="log", pos_label="case", sample_weight=np.arange(1.0, 25)
        )
    ).fit(),
    "groups": lambda: uv.DeLongTest.from_losses(
        uv.Losses.from_predictions(
            CASE, TWO, loss="auc", pos_label="case", groups=np.repeat(range(8), 3)
        )
    ).fit(),
    "fitted": lambda: uv.DeLongTest(X, CASE, "majority", ranks, pos_label="case").fit(rng=0),
    "noninferiority": lambda: (
        uv.DeLongTest.from_losses(from_cases("auc")).fit().noninferiority(0.9)
    ),
    "several": lambda: uv.compare_losses(from_cases("auc")),
    "several together": lambda: uv.compare_losses(
        from_cases("auc", third=X[:, 1] ** 2), "delong", correction="simultaneous"
    ),
    "joint": lambda: uv.DeLongTest.joint(from_cases("auc", third=X[:, 1] ** 2)),
}


def from_cases(loss: str, **more: Any) -> uv.Losses:
    return uv.Losses.from_predictions(CASE, TWO | more, loss=loss, pos_label="case")


@pytest.mark.parametrize("kind", RESULTS)
def test_the_positive_class_is_always_named(kind: str) -> None:
    found = RESULTS[kind]()
    words = [found.verdict, str(found.to_dict())]
    words += [
        str(getattr(found, name)()) for name in ("summary", "methods_text") if hasattr(found, name)
    ]
    for text in words:
        assert "ositive class" in " ".join(text.split())
        assert "'case'" in " ".join(text.split())


def test_a_plan_names_it_with_its_estimand() -> None:
    # Its verdict is a number of observations.
    plan = uv.plan(from_cases("auc"), width=0.5)
    assert "(positive class 'case')" in " ".join(str(plan.summary()).split())
    assert plan.settings["estimand"].endswith("(positive class 'case')")


@pytest.mark.parametrize("loss", ["zero_one", [[0, 2], [2, 0]]], ids=["zero_one", "costs"])
def test_what_does_not_depend_on_it_names_none(loss: Any) -> None:
    rules = {"a": CASE, "b": np.roll(CASE, 1)}
    losses = uv.Losses.from_predictions(CASE, rules, loss=loss, pos_label="case")
    assert "ositive class" not in str(uv.HoldOutTest.from_losses(losses).fit().to_dict())


def test_it_survives_a_file(tmp_path: Any) -> None:
    path = tmp_path / "losses.json"
    from_cases("auc").save(path)
    result = uv.DeLongTest.from_losses(uv.Losses.load(path)).fit()
    assert result.diagnostics["positive_class"] == "case"
    assert uv.TestResult.from_dict(result.to_dict()).verdict == result.verdict


TURNED = "An AUC below 0.5, with its whole interval, was found for good: its high scores go with "


def test_an_auc_below_one_half_has_a_note_with_the_remedy() -> None:
    def notes(pos_label: str, *names: str, **more: Any) -> list[str]:
        losses = uv.Losses.from_predictions(CASE, TWO | more, loss="auc", pos_label=pos_label)
        result = uv.DeLongTest.from_losses(losses, *names).fit()
        return [note for note in result.notes if note.startswith(TURNED)]

    for names in (("good",), ("good", "poor")):
        (note,) = notes("control", *names)
        assert note.endswith("not 'control'. If they are meant to, name that class by pos_label.")
        assert not notes("case", *names)
    compared = uv.compare_losses(
        uv.Losses.from_predictions(
            CASE, TWO | {"third": X[:, 1] ** 2}, loss="auc", pos_label="control"
        ),
        "delong",
    )
    assert TURNED in " ".join(str(compared.summary(notes=True)).split())
