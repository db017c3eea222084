"""Features that determine the response; most are the response itself in another coding."""

from typing import Any

import numpy as np

from ucvtest.data.rows import Remark, coded

FEWEST_ROWS = 20
"""With fewer observations, a feature can determine the response by chance."""

EXPLAINED_BY_CLASSES = 0.95
EXPLAINED_OF_NUMBERS = 0.999
"""Least share of the variance in common of a feature and the response."""

MOST_NAMED = 3


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
    named = [str(at) if names is None else repr(names[at]) for at in places[:MOST_NAMED].tolist()]
    more = f" and {len(places) - len(named)} more" if len(places) > len(named) else ""
    several = len(places) > 1
    text = (
        f"{'Columns' if several else 'Column'} {', '.join(named)}{more} of X "
        f"{'determine' if several else 'determines'} the response, or nearly. Leave "
        f"{'them' if several else 'it'} out unless {'they are' if several else 'it is'} known "
        "before the response is."
    )
    return (Remark(text, warns=False),)


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
