"""The order of the classes in arrays without names, if nothing else decides it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ucvtest.common.words import excerpt, term
from ucvtest.data.positive_class import json_label, plain_label

COST_ORDER, COLUMN_ORDER = "cost_order", "column_order"
"""The settings of losses that record the order of the classes in a matrix of costs, or in columns
of probabilities, without names."""

MOST_SHOWN = 20
"""Most labels that a message lists."""

ORDERS = frozenset({COST_ORDER, COLUMN_ORDER})

COSTS, COLUMNS = "Rows and columns of the costs", "Columns of probabilities or scores"

ORDERED = ", or pass y as pd.Categorical(y, categories=[...], ordered=True)"

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
        The name of the array in the message: "predictions['a']", "loss".
    used_order : sequence
        The order of the classes in which the array would be read.
    declared : sequence
        The labels in the order of the categories; empty if no order is declared.
    positive
        The class that always comes last; None if there is none.
    remedy : str
        How the user can name the order.

    Raises
    ------
    ValueError
        If the orders differ, so that either could be meant.
    """
    expected = [label for label in declared if label != positive]
    expected += [label for label in declared if label == positive]
    if not expected or expected == list(used_order):
        return
    raise ValueError(
        f"{table_name} has no names for the classes. y declares them in the order "
        f"{listed_labels(expected)}, but the order without a declaration is "
        f"{listed_labels(used_order)}: {remedy}"
    )


def check_has_order(metric: str, classes: Iterable[Any], order: Sequence[Any]) -> None:
    """Refuse to go by the alphabet where a metric depends on the order of three classes or more.

    Parameters
    ----------
    metric : str
        The metric in the message, such as "metric='kappa_linear'".
    classes : iterable
        Labels of the response and of predictions.
    order : sequence
        The labels in the order that was declared; empty if none was.

    Raises
    ------
    ValueError
        If text has no declared order, or does not contain a label. Numbers have an order.
    """
    labels = [plain_label(label) for label in classes]
    no_place = [label for label in labels if isinstance(label, (str, bytes)) and label not in order]
    if len(labels) <= 2 or not no_place:
        return
    raise ValueError(
        f"{metric} depends on the order of the classes, which text does not have: y does not "
        f"declare the place of {listed_labels(no_place)}; give the labels as "
        f"numbers in y and predictions{term(ORDERED)}"
    )


def names_classes(user_table: Any, classes: Any) -> bool:
    """Whether it is a table with one column for each class; the names of the classes name them."""
    return hasattr(user_table, "columns") and len(user_table.columns) == len(classes)


def by_class(table_name: str, table: Any, classes: Any) -> Any:
    """The columns of a table that are named by the classes, in the order of the classes.

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
    """The setting that records an order; empty if there is no order."""
    labels = [json_label(label) for label in classes]
    return {name: labels} if labels else {}


def order_notes(settings: Mapping[str, Any]) -> list[str]:
    """The notes on orders of classes that were used in making the losses."""
    ordered_columns = {COST_ORDER: COSTS, COLUMN_ORDER: COLUMNS}
    return [
        order_note(column_words, settings[name])
        for name, column_words in ordered_columns.items()
        if name in settings
    ]


def listed_labels(labels: Iterable[Any]) -> str:
    """Labels in their order, in the form for messages and notes."""
    label_texts = [
        f"{excerpt(plain_label(label)):.30}" for label in np.asarray(list(labels), dtype=object)
    ]
    return ", ".join(label_texts[:MOST_SHOWN]) + (", ..." if len(label_texts) > MOST_SHOWN else "")
