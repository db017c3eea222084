"""Observations with missing values, left out on request."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ucvtest.common.arrays import check_whole
from ucvtest.common.checks import check_choice
from ucvtest.data.frames import own_columns
from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.data.weights import parts_of_weights, weights_called

Missing = Literal["raise", "drop"]
MISSING: tuple[Missing, ...] = ("raise", "drop")


def complete_rows(X: Any, y: Any, groups: Any, missing: Missing) -> tuple[Any, Any, Any, int]:
    """Features, response and groups without incomplete observations, and the number left out.

    Tables of other packages become tables of pandas. Columns that `y` and `groups` name are taken
    out of X. With "raise" all rows stay; missing values are refused later.
    """
    X, columns, n_dropped = _complete(X, {"y": y, "groups": groups}, missing)
    return X, columns["y"], columns["groups"], n_dropped


def complete_weighted_rows(
    X: Any, y: Any, groups: Any, weights: Any, missing: Missing
) -> tuple[Any, Any, Any, dict[str, Any] | None, int]:
    """The same together with weights, by "fit" and "loss"; None stays None."""
    parts = parts_of_weights(weights)
    named = {weights_called(place, weights): part for place, part in parts.items()}
    X, columns, n_dropped = _complete(X, {"y": y, "groups": groups, **named}, missing)
    parts = {place: columns[weights_called(place, weights)] for place in parts}
    return X, columns["y"], columns["groups"], parts or None, n_dropped


def _complete(
    X: Any, columns: Mapping[str, Any], missing: Missing
) -> tuple[Any, dict[str, Any], int]:
    check_choice("missing", missing, MISSING)
    X, columns = own_columns(X, columns)
    if missing == "raise":
        return X, columns, 0
    arguments = {"X": X, **columns}
    tables = [table for table in arguments.values() if table is not None]
    for name, table in arguments.items():
        needs_no_check = (
            table is None or hasattr(table, "toarray") or isinstance(table, SurvivalTimes)
        )
        if not needs_no_check:
            # Values under a mask must not become visible when rows are selected.
            check_whole(name, table)
    gaps = [_gaps(table) for table in tables]
    if len({len(has_gap) for has_gap in gaps}) > 1:
        # Lengths that differ are refused later, in a message with both lengths.
        return X, columns, 0
    complete = ~np.any(gaps, axis=0)
    n_dropped = int((~complete).sum())
    if n_dropped == len(complete):
        raise ValueError("every observation has a missing value: impute them, or drop columns")
    if not n_dropped:
        return X, columns, 0
    whole = {
        name: None if table is None else rows_of(table, complete)
        for name, table in arguments.items()
    }
    return whole.pop("X"), whole, n_dropped


def dropped_note(n_dropped: int) -> list[str]:
    """The note about observations that were left out."""
    if not n_dropped:
        return []
    is_single = n_dropped == 1
    left_out = "1 observation has" if is_single else f"{n_dropped} observations have"
    return [f"{left_out} missing values and {'was' if is_single else 'were'} left out."]


def _gaps(table: Any) -> np.ndarray:
    """Which rows have a missing value."""
    import pandas as pd

    if isinstance(table, SurvivalTimes):
        return np.zeros(len(table), dtype=bool)
    if hasattr(table, "toarray"):
        table = table.tocoo()
        has_gap = np.zeros(table.shape[0], dtype=bool)
        has_gap[table.coords[0][np.isnan(table.data)]] = True
        return has_gap
    lacking: Any = np.atleast_1d(
        np.asarray(pd.isna(table if hasattr(table, "isna") else np.asarray(table)))
    )
    has_gap = lacking.reshape(len(lacking), -1).any(axis=1)
    return np.asarray(has_gap, dtype=bool)


def rows_of(table: Any, is_kept: np.ndarray) -> Any:
    """Some rows of a column or table, by a mask (n,); names of rows and order of labels stay."""
    if isinstance(table, SurvivalTimes):
        return table.take(is_kept)
    if hasattr(table, "iloc"):
        return table.iloc[np.flatnonzero(is_kept)]
    if hasattr(table, "toarray"):
        return table.tocsr()[np.flatnonzero(is_kept)]
    # An ordered categorical keeps its order.
    if not hasattr(table, "categories") and not isinstance(table, np.ndarray):
        table = np.asarray(table)
    return table[is_kept]
