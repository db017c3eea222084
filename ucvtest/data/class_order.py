"""The order in which arrays without names have the classes, where nothing else says it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ucvtest.data.positive_class import json_label, plain_label

__all__ = [
    "COLUMN_ORDER",
    "COSTS",
    "COST_ORDER",
    "ORDERS",
    "by_class",
    "check_order",
    "listed_labels",
    "names_classes",
    "order_note",
    "order_notes",
    "order_setting",
]

COST_ORDER, COLUMN_ORDER = "cost_order", "column_order"
"""The settings of losses with the classes in the order in which a matrix of costs, or columns of
probabilities, had them that came without names."""

ORDERS = frozenset({COST_ORDER, COLUMN_ORDER})

COSTS, COLUMNS = "Rows and columns of the costs", "Columns of probabilities or scores"

NAMED_TABLE = "pass a DataFrame with columns, and rows of costs, named by the labels"


def check_order(
    table_name: str,
    used_order: Sequence[Any],
    declared: Sequence[Any],
    positive: Any,
    remedy: str = NAMED_TABLE,
) -> None:
    """Refuse an array without names where a categorical declares another order than is used.

    Parameters
    ----------
    table_name : str
        The array, for the message: "predictions['a']", "loss".
    used_order : sequence
        The classes in the order in which the array would be taken.
    declared : sequence
        The labels in the order of the categories; empty where nothing is declared.
    positive
        The class that is put last in any case; None for none.
    remedy : str
        How the order can be said.

    Raises
    ------
    ValueError
        If the orders differ: either could be meant.
    """
    expected = [label for label in declared if label != positive]
    expected += [label for label in declared if label == positive]
    if not expected or expected == list(used_order):
        return
    raise ValueError(
        f"{table_name} has no names for the classes, and y declares them in the order "
        f"{listed_labels(expected)}, where {listed_labels(used_order)} is the order without a "
        f"declaration: {remedy}"
    )


def names_classes(user_table: Any, classes: Any) -> bool:
    """Whether it is a table with as many columns as classes, which then are named by these."""
    return hasattr(user_table, "columns") and len(user_table.columns) == len(classes)


def by_class(table_name: str, table: Any, classes: Any) -> Any:
    """The columns of a table that are named by the classes, in the order of these.

    Raises
    ------
    ValueError
        If their names are not the classes.
    """
    class_labels = [plain_label(label) for label in classes]
    names = {str(column): column for column in table.columns}
    if sorted(names) != sorted(map(str, class_labels)) or len(table.columns) != len(class_labels):
        raise ValueError(
            f"{table_name} has columns {listed_labels(table.columns)}: name them by the labels of "
            f"y, {listed_labels(class_labels)}"
        )
    return table[[names[str(label)] for label in class_labels]].to_numpy()


def order_note(column_words: str, classes: Iterable[Any]) -> str:
    """The note on the order that was used."""
    return f"{column_words} stand for the classes {listed_labels(classes)}, in this order."


def order_setting(name: str, classes: Iterable[Any]) -> dict[str, list[Any]]:
    """The setting with an order; nothing where there is none."""
    labels = [json_label(label) for label in classes]
    return {name: labels} if labels else {}


def order_notes(settings: Mapping[str, Any]) -> list[str]:
    """The notes on orders that losses were made with."""
    ordered_columns = {COST_ORDER: COSTS, COLUMN_ORDER: COLUMNS}
    return [
        order_note(column_words, settings[name])
        for name, column_words in ordered_columns.items()
        if name in settings
    ]


def listed_labels(labels: Iterable[Any], n_shown: int = 20) -> str:
    """Labels in their order, as messages and notes show them."""
    label_texts = [
        f"{plain_label(label)!r:.30}" for label in np.asarray(list(labels), dtype=object)
    ]
    return ", ".join(label_texts[:n_shown]) + (", ..." if len(label_texts) > n_shown else "")
