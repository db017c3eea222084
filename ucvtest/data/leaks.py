"""Features that determine the response; most are the response itself in another coding."""

from typing import Any

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.common.words import arg, place
from ucvtest.data.rows import Remark, coded, variables_of

FEWEST_ROWS = 20
"""With fewer observations, a feature can determine the response by chance."""

EXPLAINED_BY_CLASSES = 0.95
EXPLAINED_OF_NUMBERS = 0.999
"""Least share of the variance in common of a feature and the response."""

MOST_NAMED = 3

BY_CHANCE = 1e-4
"""The probability with which a column of labels may decide the response by chance."""


def leaks_of(
    features: Any, response: np.ndarray, class_index: np.ndarray | None
) -> tuple[Remark, ...]:
    """The remark on columns that determine the response exactly or nearly, if there are any.

    A column determines classes if it has one value or narrow range for each class. It determines
    numbers if they are a linear function of the column.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.data.leaks import leaks_of
    >>> y = np.arange(30) % 2
    >>> noise = np.random.default_rng(0).normal(size=30)
    >>> len(leaks_of(np.column_stack([noise, 1 - y]), y, y))
    1
    """
    if len(response) < FEWEST_ROWS:
        return ()
    columns, numeric = coded(features)
    if class_index is None:
        shares = _linear(columns, np.asarray(response, dtype=float))
        determines_response = numeric & (shares >= EXPLAINED_OF_NUMBERS)
    else:
        determines_response = _between_classes(columns, class_index) >= EXPLAINED_BY_CLASSES
        for column_index in np.flatnonzero(~numeric):
            determines_response[column_index] = _names_classes(
                columns[:, column_index], class_index
            )
    places = np.flatnonzero(determines_response)
    if not len(places):
        return ()
    names = getattr(features, "columns", None)
    named = [
        str(place(at)) if names is None else repr(names[at]) for at in places[:MOST_NAMED].tolist()
    ]
    more = f" and {len(places) - len(named)} more" if len(places) > len(named) else ""
    several = len(places) > 1
    line = (
        f"{'Columns' if several else 'Column'} {', '.join(named)}{more} of {arg('X')} "
        f"{'determine' if several else 'determines'} the response"
    )
    text = (
        f"{line}, or nearly. Leave "
        f"{'them' if several else 'it'} out unless {'they are' if several else 'it is'} known "
        "before the response is."
    )
    return (Remark(Note(text, f"{line}, or nearly."), warns=False),)


def identifiers_in(
    features: Any, response: np.ndarray, class_index: np.ndarray | None
) -> tuple[Remark, ...]:
    """The remark on text columns that may name units, such as patients, if there are any.

    Their values repeat, and rows with one value have one response, more often than by chance.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from ucvtest.data.leaks import identifiers_in
    >>> patient, y = np.repeat(list("abcdefgh"), 4), np.repeat([0, 1] * 4, 4)
    >>> len(identifiers_in(pd.DataFrame({"patient": patient}), y, y))
    1
    """
    variables = variables_of(features)
    if len(response) < FEWEST_ROWS:
        return ()
    columns, numeric = coded(variables)
    value_index = np.unique(response, return_inverse=True)[1].reshape(-1)
    names = getattr(variables, "columns", None)
    remarks = []
    for at in np.flatnonzero(~numeric).tolist():
        column = columns[:, at]
        is_class = class_index is not None and _names_classes(column, class_index)
        if is_class or not _decides(column, value_index):
            continue
        n_values = len(np.unique(column))
        name = str(place(at)) if names is None else repr(names[at])
        text = (
            f"Column {name} of {arg('X')} is text that repeats, and rows with one of its "
            f"{n_values} values have one response. If it names units, such as patients, leave it "
            f"out and name the rows of each unit ({arg('groups')}): they are not independent."
        )
        line = (
            f"Column {name} of {arg('X')} may name units: leave it out, and name their rows "
            f"({arg('groups')})."
        )
        remarks.append(Remark(Note(text, line), warns=False))
    return tuple(remarks)


def _decides(column: np.ndarray, class_index: np.ndarray) -> bool:
    """Whether each value has one class, and chance would hardly make it so."""
    values, counts = np.unique(column, return_inverse=True, return_counts=True)[1:]
    pairs = np.unique(values * (class_index.max() + 1) + class_index)
    if len(pairs) > len(counts):
        return False
    shares = np.bincount(class_index) / len(class_index)
    # That all rows of a value have the same class, for each value.
    log_chance = sum(
        number * np.log((shares**size).sum())
        for size, number in zip(*np.unique(counts, return_counts=True), strict=True)
    )
    return bool(log_chance < np.log(BY_CHANCE))


def _between_classes(columns: np.ndarray, class_index: np.ndarray) -> np.ndarray:
    """The share of each column's variance that lies between the classes."""
    members = (class_index == np.arange(class_index.max() + 1)[:, None]).astype(float)
    with np.errstate(all="ignore"):
        centred = columns - columns.mean(axis=0)
        sums = members @ centred
        between = (sums**2 / members.sum(axis=1)[:, None]).sum(axis=0)
        return np.nan_to_num(between / (centred**2).sum(axis=0))


def _linear(columns: np.ndarray, response: np.ndarray) -> np.ndarray:
    """The squared correlation of each column with the response."""
    with np.errstate(all="ignore"):
        centred, centred_response = columns - columns.mean(axis=0), response - response.mean()
        return np.nan_to_num(
            (centred_response @ centred) ** 2
            / ((centred**2).sum(axis=0) * (centred_response @ centred_response))
        )


def _names_classes(column: np.ndarray, class_index: np.ndarray) -> bool:
    """Whether the values of a column correspond one to one to the classes."""
    values = np.unique(column, return_inverse=True)[1]
    pairs = len(np.unique(values * (class_index.max() + 1) + class_index))
    return bool(pairs == values.max() + 1 == class_index.max() + 1)
