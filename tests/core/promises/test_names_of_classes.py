"""Nobody guesses which class a score, a column or a cost is about that comes in from outside."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from ucvtest.data.positive_class import says_positive
from ucvtest.losses import Loss

TRUTH = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1] * 2)
GOOD = np.where(TRUTH == 1, 0.701, 0.3) + np.linspace(-0.28, 0.28, 24)
POOR = np.roll(GOOD, 5)
X = np.column_stack([GOOD, POOR])

CASE = np.where(TRUTH == 1, "case", "control")
NUMBERED = np.where(TRUTH == 1, 1, 2)

UNTOLD: list[Any] = [
    *(CASE, NUMBERED, TRUTH.astype(str), 2 * TRUTH, (TRUTH == 1).astype(str)),
    pd.Series(pd.Categorical(CASE, ["control", "case"], ordered=True)),
]
TOLD: list[Any] = [
    *(TRUTH, TRUTH.astype(float), TRUTH == 1, (TRUTH == 1).astype(object), 2 * TRUTH - 1),
    pd.Series(pd.Categorical(TRUTH)),
]

TWO = {"good": GOOD, "poor": POOR}
NAMED_COLUMNS = {
    name: pd.DataFrame({"case": column, "control": 1 - column}) for name, column in TWO.items()
}
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


# ------------------------------------------------------------------------- the positive class


@pytest.mark.parametrize("way", WAYS)
def test_labels_that_do_not_tell_need_pos_label_and_others_do_not(way: str) -> None:
    for y in UNTOLD:
        with pytest.raises(ValueError, match="pos_label") as refused:
            WAYS[way](y)
        for label in np.unique(y).tolist():
            assert f" pos_label={label!r} if " in str(refused.value)
            WAYS[way](y, pos_label=label)
    for y in TOLD:
        WAYS[way](y)


def test_other_numbers_do_not_tell() -> None:
    assert not says_positive([1, 2])
    assert not says_positive([-1, 0])


def test_squared_error_of_probabilities_needs_it_too() -> None:
    # Of numbers as labels predictions are amounts in their units; of texts they are probabilities.
    with pytest.raises(ValueError, match="pos_label"):
        uv.Losses.from_predictions(CASE, TWO, loss="squared")
    assert uv.Losses.from_predictions(NUMBERED, TWO, loss="squared").means.shape == (2, 1)


@pytest.mark.parametrize("loss", ["zero_one", [[0, 2], [2, 0]], [[0, 1], [5, 0]]], ids=str)
def test_what_does_not_depend_on_it_needs_and_names_none(loss: Any) -> None:
    rules = {"a": CASE, "b": np.roll(CASE, 1)}
    for told in ({}, {"pos_label": "case"}):
        losses = uv.Losses.from_predictions(CASE, rules, loss=loss, **told)
        if loss != [[0, 1], [5, 0]]:
            assert "ositive class" not in str(uv.HoldOutTest.from_losses(losses).fit().to_dict())


def test_learners_that_are_fitted_here_need_none_and_functions_are_not_turned() -> None:
    def means(learner: Any, y: Any, pos_label: Any) -> Any:
        splits = [(range(8), range(8, 24))]
        return uv.evaluate(learner, X, y, splits, "auc", pos_label=pos_label, rng=0).means

    found = [means("majority", CASE, pos_label) for pos_label in (None, "case", "control")]
    np.testing.assert_allclose(found, [found[0]] * 3)
    plain = means(ranks, TRUTH, None)
    np.testing.assert_array_equal(means(ranks, CASE, "case"), plain)
    np.testing.assert_allclose(means(ranks, CASE, "control"), 1 - plain)


@pytest.mark.parametrize("loss", ["auc", "log", "brier", "squared"])
def test_columns_named_by_the_classes_tell(loss: str) -> None:
    expected = uv.Losses.from_predictions(CASE, TWO, loss=loss, pos_label="case").means
    for pos_label in (None, "case", "control"):
        found = uv.Losses.from_predictions(CASE, NAMED_COLUMNS, loss=loss, pos_label=pos_label)
        np.testing.assert_allclose(found.means, expected)
    with pytest.raises(ValueError, match="poor"):
        uv.Losses.from_predictions(CASE, NAMED_COLUMNS | {"poor": POOR}, loss=loss)


def ratio(**options: Any) -> Any:
    return uv.metrics.Moments(
        lambda y, p: np.stack([y, p], axis=-1),
        lambda means: means[0] / means[1],
        "observed over expected",
        output="probability",
        **options,
    )


OF_ONE_CLASS: dict[str, Callable[..., Any]] = {
    **{
        str(metric): lambda y, metric=metric, **named: uv.Losses.from_predictions(
            y, NAMED_COLUMNS, metric=metric, **named
        ).means[0, 0]
        for metric in ("average_precision", "partial_auc(0.3)", "net_benefit(0.2)", ratio())
    },
    **{
        curve: lambda y, curve=curve, **named: getattr(uv.curves, curve)(
            y, NAMED_COLUMNS, rng=0, **named
        ).settings["pos_label"]
        for curve in ("roc", "precision_recall", "decision", "calibration")
    },
}


@pytest.mark.filterwarnings("ignore::ucvtest.UcvtestWarning")
def test_named_columns_do_not_tell_the_class_of_a_metric() -> None:
    for value in OF_ONE_CLASS.values():
        with pytest.raises(ValueError, match="pos_label"):
            value(CASE)
        assert value(CASE, pos_label="case") != value(CASE, pos_label="control")
    for metric in ("brier_skill", "log_skill"):
        # The same for both classes, so it does not ask.
        found = [
            uv.Losses.from_predictions(CASE, NAMED_COLUMNS, metric=metric, pos_label=label).means
            for label in (None, "case", "control")
        ]
        np.testing.assert_allclose(found, [found[0]] * 3)


LATER: dict[str, tuple[Any, Callable[[uv.Losses], Any]]] = {
    "F1 after MCC": ("mcc", lambda losses: losses.about("f1")),
    "ROC curve": ("auc", lambda losses: uv.curves.roc(losses, rng=0)),
    "calibration curve": ("brier_skill", lambda losses: uv.curves.calibration(losses, rng=0)),
}


@pytest.mark.filterwarnings("ignore::ucvtest.UcvtestWarning")
@pytest.mark.parametrize("way", LATER)
def test_losses_made_without_the_class_do_not_tell_it_later(way: str) -> None:
    metric, later = LATER[way]
    folds = uv.designs.KFold(4, stratify=True)
    rule = np.roll(CASE, 1) if metric == "mcc" else NAMED_COLUMNS["good"]
    for made in (
        lambda told: uv.evaluate("lda", X, CASE, folds, metric=metric, pos_label=told, rng=0),
        lambda told: uv.Losses.from_predictions(CASE, {"a": rule}, metric=metric, pos_label=told),
    ):
        with pytest.raises(ValueError, match="pos_label"):
            later(made(None))
        for label in ("case", "control"):
            later(made(label))


def from_cases(loss: str, *, n_rules: int = 2, **more: Any) -> uv.Losses:
    rules = dict([*TWO.items(), ("third", X[:, 1] ** 2)][:n_rules])
    return uv.Losses.from_predictions(CASE, rules, loss=loss, pos_label="case", **more)


RESULTS: dict[str, Callable[[], Any]] = {
    "delong": lambda: uv.DeLongTest.from_losses(from_cases("auc")).fit(),
    "brier": lambda: uv.HoldOutTest.from_losses(from_cases("brier")).fit(),
    "weighted": lambda: uv.HoldOutTest.from_losses(
        from_cases("log", sample_weight=np.arange(1.0, 25))
    ).fit(),
    "groups": lambda: uv.DeLongTest.from_losses(
        from_cases("auc", groups=np.repeat(range(8), 3))
    ).fit(),
    "fitted": lambda: uv.DeLongTest(X, CASE, "majority", ranks, pos_label="case").fit(rng=0),
    "noninferiority": lambda: RESULTS["delong"]().noninferiority(0.9),
    "several": lambda: uv.compare_losses(from_cases("auc")),
    "several together": lambda: uv.compare_losses(
        from_cases("auc", n_rules=3), "delong", correction="simultaneous"
    ),
    "joint": lambda: uv.DeLongTest.joint(from_cases("auc", n_rules=3)),
}


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


def test_plans_and_files_name_it(tmp_path: Any) -> None:
    plan = uv.plan(from_cases("auc"), width=0.5)
    assert "(positive class 'case')" in " ".join(str(plan.summary()).split())
    assert plan.settings["estimand"].endswith("(positive class 'case')")
    path = tmp_path / "losses.json"
    from_cases("auc").save(path)
    result = uv.DeLongTest.from_losses(uv.Losses.load(path)).fit()
    assert result.diagnostics["positive_class"] == "case"
    assert uv.TestResult.from_dict(result.to_dict()).verdict == result.verdict


TURNED = "An AUC below 0.5, with its whole interval, was found for good: its high scores go with "


def test_an_auc_below_one_half_has_a_note_with_the_remedy() -> None:
    rules = TWO | {"third": X[:, 1] ** 2}
    losses = {
        label: uv.Losses.from_predictions(CASE, rules, loss="auc", pos_label=label)
        for label in ("case", "control")
    }
    for names in (("good",), ("good", "poor")):
        found = {}
        for label, each in losses.items():
            notes = uv.DeLongTest.from_losses(each, *names).fit().notes
            found[label] = [note for note in notes if note.startswith(TURNED)]
        assert not found["case"]
        assert "pos_label" in found["control"][0]
    compared = uv.compare_losses(losses["control"], "delong")
    assert TURNED in " ".join(str(compared.summary(notes=True)).split())


# --------------------------------------------------------------------------- order of classes

NAMES = ["low", "mid", "up"]
DECLARED = ["up", "low", "mid"]
GRADES = np.array(NAMES * 8)
SCORES = np.arange(72.0).reshape(24, 3) * 7 % 5 + 3 * (GRADES[:, None] == np.array(NAMES)) + 1
TABLE = pd.DataFrame(SCORES / SCORES.sum(axis=1, keepdims=True), columns=NAMES)
PREDICTED = np.roll(GRADES, 1)
COSTS = pd.DataFrame([[0, 1, 9], [2, 0, 1], [3, 1, 0]], NAMES, NAMES)
PLACES = np.column_stack([np.arange(24) % 5, np.arange(24) % 7])


def categorical(order: Any, **options: Any) -> pd.Series:
    return pd.Series(pd.Categorical(GRADES, order, **options))


class Enum:
    """The type of a column of polars that declares its classes."""

    categories = DECLARED


class Column(list):
    """A column with such a type."""

    dtype = Enum()


ORDERED = {
    "of polars": Column(GRADES.tolist()),
    "ordered": categorical(DECLARED, ordered=True),
}
UNORDERED = {
    "unordered": categorical(DECLARED),
    "with a category that is not there": categorical([*DECLARED, "none"]),
}
SORTED = [GRADES, categorical(NAMES), categorical(NAMES, ordered=True)]


def losses(y: Any, given: Any, loss: Any, pos_label: Any = None) -> uv.Losses:
    return uv.Losses.from_predictions(y, {"rule": given}, loss=loss, pos_label=pos_label)


@pytest.mark.parametrize("labels", [*ORDERED, *UNORDERED])
def test_columns_without_names_are_refused_where_another_order_is_declared(labels: str) -> None:
    y = (ORDERED | UNORDERED)[labels]
    for loss, pos_label in (("log", None), ("brier", None), ("auc", "mid")):
        with pytest.raises(ValueError, match=r"^predictions\['rule'\] .*'up', 'low', 'mid'"):
            losses(y, TABLE.to_numpy(), loss, pos_label)
        named = losses(y, TABLE[DECLARED], loss, pos_label)
        expected = losses(GRADES, TABLE.to_numpy(), loss, pos_label)
        np.testing.assert_array_equal(named.means, expected.means)


def test_the_order_of_columns_is_said() -> None:
    for labels in SORTED:
        result = uv.HoldOutTest.from_losses(losses(labels, TABLE.to_numpy(), "log")).fit()
        note = "Columns of probabilities or scores stand for the classes 'low', 'mid', 'up', in"
        assert any(each.startswith(note) for each in result.notes)
        result = uv.HoldOutTest.from_losses(losses(labels, TABLE, "log")).fit()
        assert not any("stand for" in each for each in result.notes)


def test_costs_follow_names_and_refuse_a_guess() -> None:
    expected = losses(GRADES, PREDICTED, COSTS.to_numpy()).means
    for y in (ORDERED | UNORDERED).values():
        turned = COSTS.loc[DECLARED, list(reversed(NAMES))]
        np.testing.assert_array_equal(losses(y, PREDICTED, turned).means, expected)
    # The classes of an ordered categorical, and of an Enum of polars, are in its own order.
    for y in ORDERED.values():
        own = losses(y, PREDICTED, COSTS.loc[DECLARED, DECLARED].to_numpy())
        np.testing.assert_array_equal(own.means, expected)
    for y in UNORDERED.values():
        with pytest.raises(ValueError, match=r"^loss "):
            losses(y, PREDICTED, COSTS.to_numpy())
        # The order of these means nothing.
        losses(y, PREDICTED, 2 * (1 - np.eye(3)))
    places = pd.DataFrame(COSTS.to_numpy())
    np.testing.assert_array_equal(losses(GRADES, PREDICTED, places).means, expected)
    for wrong in (COSTS.set_axis(["low", "mid", "top"], axis=axis) for axis in (0, 1)):
        with pytest.raises(ValueError, match=r"^loss has rows .* by the labels of y"):
            losses(GRADES, PREDICTED, wrong)


def test_functions_as_learners() -> None:
    def array(X_train: Any, y_train: Any, X_test: Any) -> Any:
        return TABLE.to_numpy()[: len(X_test)]

    def table(X_train: Any, y_train: Any, X_test: Any) -> Any:
        return TABLE[DECLARED][: len(X_test)]

    def means(function: Any, y: Any) -> Any:
        return uv.evaluate(function, PLACES, y, 3, "log", rng=0).means

    np.testing.assert_array_equal(means(table, GRADES), means(array, GRADES))
    np.testing.assert_array_equal(means(table, ORDERED["ordered"]), means(array, GRADES))
    with pytest.raises(ValueError, match="has no names for the classes"):
        means(array, UNORDERED["unordered"])


def test_sizes_of_learning_sets_for_each_class() -> None:
    y = pd.Series(pd.Categorical(np.where(np.arange(24) % 3, "many", "few"), ["many", "few"]))
    with pytest.raises(ValueError, match=r"^learn_size has no names"):
        uv.UStatisticTest(PLACES, y, "majority", loss="auc", learn_size=(3, 5))
    for plain in (y.to_numpy(), y.cat.set_categories(["many", "few"], ordered=True)):
        uv.UStatisticTest(PLACES, plain, "majority", loss="auc", learn_size=(3, 3))
