"""Arrays without names have the classes in an order that nobody has to guess."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv

NAMES = ["low", "mid", "up"]
DECLARED = ["up", "low", "mid"]
TRUTH = np.array(["low", "mid", "up"] * 8)
SCORES = np.arange(72.0).reshape(24, 3) * 7 % 5 + 3 * (TRUTH[:, None] == np.array(NAMES)) + 1
TABLE = pd.DataFrame(SCORES / SCORES.sum(axis=1, keepdims=True), columns=NAMES)
PREDICTED = np.roll(TRUTH, 1)
COSTS = pd.DataFrame([[0, 1, 9], [2, 0, 1], [3, 1, 0]], NAMES, NAMES)
X = np.column_stack([np.arange(24) % 5, np.arange(24) % 7])


def categorical(order: Any, *, ordered: bool = False, extra: tuple[str, ...] = ()) -> pd.Series:
    return pd.Series(pd.Categorical(TRUTH, [*order, *extra], ordered=ordered))


class Enum:
    """The type of a column of polars that declares its classes."""

    categories = DECLARED


class Column(list):
    """A column with such a type."""

    dtype = Enum()


OTHERS = {
    "of polars": Column(TRUTH.tolist()),
    "unordered": categorical(DECLARED),
    "ordered": categorical(DECLARED, ordered=True),
    "with a category that is not there": categorical(DECLARED, extra=("none",)),
}
SORTED = {
    "texts": TRUTH,
    "sorted categories": categorical(NAMES),
    "sorted categories, ordered": categorical(NAMES, ordered=True),
}


def losses(y: Any, given: Any, loss: Any, pos_label: Any = None) -> uv.Losses:
    return uv.Losses.from_predictions(y, {"rule": given}, loss=loss, pos_label=pos_label)


@pytest.mark.parametrize("labels", OTHERS)
@pytest.mark.parametrize(("loss", "pos_label"), [("log", None), ("brier", None), ("auc", "mid")])
def test_columns_without_names_are_refused_where_another_order_is_declared(
    labels: str, loss: str, pos_label: Any
) -> None:
    with pytest.raises(ValueError, match="declares them in the order 'up', 'low', 'mid'") as found:
        losses(OTHERS[labels], TABLE.to_numpy(), loss, pos_label)
    assert str(found.value).startswith("predictions['rule'] has no names for the classes")
    named = losses(OTHERS[labels], TABLE[DECLARED], loss, pos_label)
    expected = losses(TRUTH, TABLE.to_numpy(), loss, pos_label)
    np.testing.assert_array_equal(named.means, expected.means)


@pytest.mark.parametrize("labels", SORTED)
def test_the_order_of_columns_is_said(labels: str) -> None:
    result = uv.HoldOutTest.from_losses(losses(SORTED[labels], TABLE.to_numpy(), "log")).fit()
    note = "Columns of probabilities or scores stand for the classes 'low', 'mid', 'up', in"
    assert any(each.startswith(note) for each in result.notes)
    result = uv.HoldOutTest.from_losses(losses(SORTED[labels], TABLE, "log")).fit()
    assert not any("stand for" in each for each in result.notes)


def test_costs_follow_names_and_refuse_a_guess() -> None:
    expected = losses(TRUTH, PREDICTED, COSTS.to_numpy()).means
    for labels, y in OTHERS.items():
        turned = COSTS.loc[DECLARED, list(reversed(NAMES))]
        np.testing.assert_array_equal(losses(y, PREDICTED, turned).means, expected)
        if labels not in ("ordered", "of polars"):
            with pytest.raises(ValueError, match=r"^loss has no names for the classes"):
                losses(y, PREDICTED, COSTS.to_numpy())
    # The classes of an ordered categorical, and of an Enum of polars, are in its own order.
    for labels in ("ordered", "of polars"):
        own = losses(OTHERS[labels], PREDICTED, COSTS.loc[DECLARED, DECLARED].to_numpy())
        np.testing.assert_array_equal(own.means, expected)


@pytest.mark.parametrize("names", [["low", "mid", "top"], [0, 1, 2]], ids=["wrong", "places"])
def test_names_of_costs_are_the_labels_or_places(names: list[Any]) -> None:
    table = pd.DataFrame(COSTS.to_numpy(), names, names)
    if names[0] == 0:
        found = losses(TRUTH, PREDICTED, table).means
        np.testing.assert_array_equal(found, losses(TRUTH, PREDICTED, COSTS).means)
        return
    with pytest.raises(ValueError, match="name them by the labels of y, 'low', 'mid', 'up'"):
        losses(TRUTH, PREDICTED, table)
    with pytest.raises(ValueError, match="name both by the labels of y"):
        losses(TRUTH, PREDICTED, COSTS.set_axis(names, axis=1))


def test_learners_are_judged_by_the_same_costs() -> None:
    def means(y: Any, loss: Any) -> Any:
        return uv.evaluate("majority", X, y, 3, loss, rng=0)

    expected = means(TRUTH, COSTS.to_numpy())
    assert expected.settings["cost_order"] == NAMES
    turned = COSTS.loc[DECLARED, DECLARED]
    np.testing.assert_array_equal(means(OTHERS["unordered"], turned).means, expected.means)
    with pytest.raises(ValueError, match=r"^loss has no names for the classes"):
        means(OTHERS["unordered"], COSTS.to_numpy())
    result = uv.CorrectedTTest(X, TRUTH, "majority", loss=COSTS.to_numpy(), design=3).fit(rng=0)
    assert "Rows and columns of the costs stand for the classes 'low', 'mid', 'up'" in " ".join(
        result.notes
    )


def test_costs_of_which_the_order_means_nothing_need_none() -> None:
    losses(OTHERS["unordered"], PREDICTED, 2 * (1 - np.eye(3)))


def test_functions_as_learners() -> None:
    def array(X_train: Any, y_train: Any, X_test: Any) -> Any:
        return TABLE.to_numpy()[: len(X_test)]

    def table(X_train: Any, y_train: Any, X_test: Any) -> Any:
        return TABLE[DECLARED][: len(X_test)]

    def means(function: Any, y: Any) -> Any:
        return uv.evaluate(function, X, y, 3, "log", rng=0).means

    np.testing.assert_array_equal(means(table, TRUTH), means(array, TRUTH))
    np.testing.assert_array_equal(means(table, OTHERS["ordered"]), means(array, TRUTH))
    with pytest.raises(ValueError, match="has no names for the classes"):
        means(array, OTHERS["unordered"])


def test_two_costs_with_a_named_class_follow_names() -> None:
    y, predicted = np.array(["n", "y", "y", "n"]), {"rule": np.array(["y", "n", "y", "n"])}
    costs = pd.DataFrame([[0, 1], [5, 0]], ["n", "y"], ["n", "y"])
    found = [
        uv.Losses.from_predictions(y, predicted, loss=costs, pos_label=pos_label).means
        for pos_label in (None, "n", "y")
    ]
    np.testing.assert_array_equal(found, [found[0]] * 3)
    assert found[0][0, 0] == 1.5


def test_sizes_of_learning_sets_for_each_class() -> None:
    y = pd.Series(pd.Categorical(np.where(np.arange(24) % 3, "many", "few"), ["many", "few"]))
    with pytest.raises(ValueError, match=r"^learn_size has no names for .* pass y.to_numpy\(\)"):
        uv.UStatisticTest(X, y, "majority", loss="auc", learn_size=(3, 5))
    for plain in (y.to_numpy(), y.cat.set_categories(["many", "few"], ordered=True)):
        uv.UStatisticTest(X, plain, "majority", loss="auc", learn_size=(3, 3))
