"""Tables of polars, pyarrow and others as tables of pandas, and columns by their names."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.common.words import excerpt

AS_THEY_ARE = {"builtins", "numpy", "pandas", "scipy", "ucvtest"}
"""Packages whose objects are not converted."""


def as_pandas(argument: str, value: Any) -> Any:
    """Convert a table or column of polars, pyarrow and others to pandas; leave the rest as it is.

    Columns keep their names and order, and rows keep their order.

    Raises
    ------
    ValueError
        If the table is lazy and therefore has no rows yet.

    Examples
    --------
    >>> import pandas as pd
    >>> from ucvtest.data.frames import as_pandas
    >>> table = pd.DataFrame({"age": [61, 54]})
    >>> as_pandas("X", table) is table
    True
    """
    package = type(value).__module__.partition(".")[0]
    if package in AS_THEY_ARE or _is_of_pandas(value) or isinstance(value, np.ndarray):
        return value
    import narwhals as nw

    narwhals_frame: Any = nw.from_native(value, pass_through=True, allow_series=True)
    if isinstance(narwhals_frame, nw.LazyFrame):
        raise ValueError(
            f"{argument} is a lazy table of {package}, which has no rows yet: call "
            f".{'compute' if package == 'dask' else 'collect'}() on it"
        )
    if isinstance(narwhals_frame, nw.DataFrame):
        import pandas as pd

        columns = {name: _values(narwhals_frame[name]) for name in narwhals_frame.columns}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(narwhals_frame)), copy=False)
    return _values(narwhals_frame) if isinstance(narwhals_frame, nw.Series) else value


def own_columns(X: Any, columns: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Features, and by argument the response, groups or weights, which may be columns of X.

    Raises
    ------
    ValueError
        If there is no such column, or X is not a table with names.
    """
    table = as_pandas("X", X)
    named = {
        name: column_name for name, column_name in columns.items() if isinstance(column_name, str)
    }
    taken: dict[str, Any] = {}
    for argument, column in named.items():
        if not hasattr(table, "columns"):
            raise ValueError(
                f"{argument}={column!r:.60} names a column, but X is not a table with names: pass "
                "the values, or a DataFrame as X"
            )
        if column not in table.columns:
            raise ValueError(
                f"{argument}={column!r:.60} is not a column of X{nearest(column, table)}"
            )
        taken[argument] = table[column]
    if taken:
        table = table.drop(columns=list(dict.fromkeys(named.values())))
    own = {**columns, **taken}
    for name, column in columns.items():
        if name not in taken and hasattr(column, "columns"):
            # A table of another package becomes an array, without names of rows.
            response = as_pandas(name, column)
            own[name] = column if response is column else response.to_numpy()
    if table is not X:
        # Rows without names get those of a pandas response.
        index = next((column.index for column in own.values() if _is_of_pandas(column)), None)
        if index is not None and len(index) == len(table):
            table = table.set_axis(index, axis=0)
    return table, own


def nearest(name: str, table: Any) -> str:
    """The end of a message: the column that was probably meant, or all columns."""
    names = [str(column) for column in table.columns]
    near = get_close_matches(name, names, n=1)
    if near:
        return f": did you mean {near[0]!r}?"
    listed = ", ".join(names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f", which has {listed}{more}"


MOST_NAMES = 8
"""Most columns that a message lists."""


def column_places(argument: str, columns: Iterable[Any], X: Any) -> list[int]:
    """The places of columns that a user means by their names, or by their numbers.

    Raises
    ------
    ValueError
        If there is no such column, or one is named twice.
    """
    names = list(getattr(X, "columns", ()))
    places = []
    for column in columns:
        has_place = is_integer(column) and 0 <= column < X.shape[1]
        if column not in names and not has_place:
            ending = nearest(str(column), X) if names else f", which has {X.shape[1]} columns"
            raise ValueError(f"{argument}: {excerpt(column)} is not a column of X{ending}")
        places.append(names.index(column) if column in names else int(column))
        if places[-1] in places[:-1]:
            raise ValueError(f"{argument}: {excerpt(column)} is there twice: name each column once")
    return places


def _is_of_pandas(value: Any) -> bool:
    """Whether a class derives from a class of pandas, as those of geopandas do."""
    return any(
        base_class.__module__.partition(".")[0] == "pandas" for base_class in type(value).__mro__
    )


def _values(series: Any) -> Any:
    """A column as a Series of pandas; an enumeration keeps its known order."""
    import narwhals as nw
    import pandas as pd

    if series.dtype == nw.Enum:
        # Not ordered: the names of two classes then decide which is the positive one, as they do
        # for texts.
        return pd.Series(pd.Categorical(series.to_list(), categories=series.dtype.categories))
    if series.dtype in (nw.String, nw.Categorical, nw.Object):
        return pd.Series(np.array(series.to_list(), dtype=object))
    return pd.Series(series.to_numpy())
