"""Observations with missing values, left out where the user says so."""

from typing import Any, Literal

import numpy as np

from ucvtest.common.arrays import check_whole
from ucvtest.common.checks import check_choice
from ucvtest.data.survival_times import SurvivalTimes

__all__ = ["Missing", "complete_rows", "dropped_note"]

Missing = Literal["raise", "drop"]
MISSING: tuple[Missing, ...] = ("raise", "drop")


def complete_rows(X: Any, y: Any, groups: Any, missing: Missing) -> tuple[Any, Any, Any, int]:
    """Features, response and groups without observations that lack a value, and their number.

    With "raise" everything stays as it is; what cannot be used is refused later.
    """
    check_choice("missing", missing, MISSING)
    if missing == "raise":
        return X, y, groups, 0
    named = {"X": X, "y": y, "groups": groups}
    parts = [part for part in named.values() if part is not None]
    for name, part in named.items():
        known = part is None or hasattr(part, "toarray") or isinstance(part, SurvivalTimes)
        if not known:
            # What is under a mask must not come out where rows are taken.
            check_whole(name, part)
    gaps = [_gaps(part) for part in parts]
    if len({len(each) for each in gaps}) > 1:
        # Lengths that do not match are refused later, with both of them.
        return X, y, groups, 0
    complete = ~np.any(gaps, axis=0)
    n_dropped = int((~complete).sum())
    if n_dropped == len(complete):
        raise ValueError("every observation has a missing value: impute them, or drop columns")
    if not n_dropped:
        return X, y, groups, 0
    X, y, groups = (None if part is None else _rows(part, complete) for part in (X, y, groups))
    return X, y, groups, n_dropped


def dropped_note(n_dropped: int) -> list[str]:
    """What is said of them."""
    if not n_dropped:
        return []
    one = n_dropped == 1
    left_out = "1 observation has" if one else f"{n_dropped} observations have"
    return [f"{left_out} missing values and {'was' if one else 'were'} left out (missing='drop')."]


def _gaps(part: Any) -> np.ndarray:
    """Which rows lack a value."""
    import pandas as pd

    if isinstance(part, SurvivalTimes):
        return np.zeros(len(part), dtype=bool)
    if hasattr(part, "toarray"):
        part = part.tocoo()
        found = np.zeros(part.shape[0], dtype=bool)
        found[part.coords[0][np.isnan(part.data)]] = True
        return found
    lacking: Any = np.atleast_1d(
        np.asarray(pd.isna(part if hasattr(part, "isna") else np.asarray(part)))
    )
    found = lacking.reshape(len(lacking), -1).any(axis=1)
    return np.asarray(found, dtype=bool)


def _rows(part: Any, kept: np.ndarray) -> Any:
    if isinstance(part, SurvivalTimes):
        return part.take(kept)
    if hasattr(part, "iloc"):
        return part.iloc[np.flatnonzero(kept)]
    if hasattr(part, "toarray"):
        return part.tocsr()[np.flatnonzero(kept)]
    # An ordered categorical keeps its order.
    return np.asarray(part)[kept] if isinstance(part, (list, tuple)) else part[kept]
