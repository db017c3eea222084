"""Repeated rows, and columns that number the rows: signs that rows are not independent."""

from contextlib import suppress
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.common.words import arg, place

FEWEST_PAIRS = 3
TIMES_EXPECTED = 10
"""Least number of identical pairs that is suspicious, in units of the expected number plus one."""

MOST_TURNS = 3
"""Most turns between rising and falling in a column derived from another, as in a cubic."""

MANY_VALUES = 20
"""A column with more values than this rarely repeats by chance."""


VARIABLES = "ucvtest.variables"
"""Where a data frame of features has the variables that it was computed from."""


@dataclass(frozen=True)
class Remark:
    """A remark on a sample; it is a warning if p-values cannot be trusted."""

    text: str
    warns: bool


@dataclass(frozen=True, eq=False)
class Reported:
    """Features that were warned about already, for comparisons with several tests."""

    features: Any


@dataclass(frozen=True, eq=False)
class _Variables:
    """The variables that a model matrix was computed from, a data frame with the same rows."""

    table: Any

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Variables":
        """The same object: pandas copies the attributes of a data frame with every slice."""
        return self


def computed_from(variables: Any, features: Any) -> Any:
    """A data frame of features that knows the variables it was computed from.

    Columns such as powers, splines and interactions of variables repeat with these. Remarks on
    rows are therefore about the variables.

    Parameters
    ----------
    variables, features : DataFrame
        With the same index.

    Raises
    ------
    ValueError
        If one of them is not a data frame, or the indices differ.

    Examples
    --------
    >>> import pandas as pd
    >>> from ucvtest.data.rows import computed_from, remarks_on
    >>> age = pd.DataFrame({"age": [20.0, 30.0] * 20})
    >>> powers = pd.DataFrame({f"age{power}": age["age"] ** power for power in range(1, 9)})
    >>> remarks_on(computed_from(age, powers))
    ()
    """
    import pandas as pd

    if not isinstance(variables, pd.DataFrame) or not isinstance(features, pd.DataFrame):
        raise ValueError(
            "variables and features must be pandas DataFrames, got "
            f"{type(variables).__name__} and {type(features).__name__}"
        )
    if not variables.index.equals(features.index):
        raise ValueError("variables and features must have the same index, row by row")
    described = features.copy(deep=False)
    described.attrs[VARIABLES] = _Variables(variables)
    return described


def variables_of(features: Any) -> Any:
    """The variables behind features, or the features themselves; all rows must be the same."""
    variables = getattr(features, "attrs", {}).get(VARIABLES)
    if variables is None or not variables.table.index.equals(features.index):
        return features
    return variables.table


def remarks_on(features: Any) -> tuple[Remark, ...]:
    """Remarks on the rows of a matrix or a data frame.

    Identical pairs of rows are too many if there are at least three, and more than ten times (e +
    1). Here e = C(n, 2) prod_j sum_v p_jv^2 is the number expected if columns were independent and
    value v had its share p_jv in column j. Copies of an earlier column and smooth functions of it,
    such as its square, are left out of the product. Features that were `computed_from` variables
    count as these.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.data.rows import remarks_on
    >>> noise = np.random.default_rng(0).normal(size=(40, 3))
    >>> [remark.warns for remark in remarks_on(np.repeat(noise, 2, axis=0))]
    [True]
    """
    features = variables_of(features)
    columns, numeric = coded(features)
    numbering = _row_numbers(columns, numeric)
    names = getattr(features, "columns", None)
    numbers = {
        column_index: str(place(column_index)) if names is None else repr(names[column_index])
        for column_index in np.flatnonzero(numbering).tolist()
    }
    # A row number does not make a copy a new observation.
    remarks = _repeated_rows(columns[:, ~numbering], list(numbers.values()))
    for position, name in numbers.items():
        column = columns[:, position]
        remark_text = (
            f"Column {name} of {arg('X')} numbers the rows: its values are {column.min():.0f} to "
            f"{column.max():.0f}, each once. If rows are sorted, it reveals the response; leave it "
            "out unless it was measured."
        )
        line = f"Column {name} of {arg('X')} numbers the rows: leave it out unless it was measured."
        remarks.append(Remark(Note(remark_text, line), warns=False))
    return tuple(remarks)


def coded(features: Any) -> tuple[np.ndarray, np.ndarray]:
    """The features coded as numbers, equal for equal values, and which columns were numeric."""
    frame = not isinstance(features, np.ndarray)
    dtypes = list(features.dtypes) if frame else [features.dtype]
    numeric = np.array([getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes])
    if numeric.all():
        try:
            return np.asarray(features, dtype=float) + 0.0, np.ones(features.shape[1], dtype=bool)
        except (TypeError, ValueError):
            numeric[:] = False  # missing values of pandas
    import pandas as pd

    table = features if frame else pd.DataFrame(features)
    columns = np.empty(table.shape)
    for column_index in range(table.shape[1]):
        column = table.iloc[:, column_index]
        # Codes in sorted order. In the order of the rows, all columns of repeated units would have
        # the same codes, so that order is for values without one. Values without a hash count as
        # distinct.
        columns[:, column_index] = range(len(table))
        for sort in (True, False):
            with suppress(TypeError):
                columns[:, column_index] = pd.factorize(column, sort=sort)[0]
                break
    numeric = np.broadcast_to(numeric, table.shape[1])
    for column_index in np.flatnonzero(numeric).tolist():
        columns[:, column_index] = np.asarray(table.iloc[:, column_index], dtype=float)
    return columns, numeric


def _repeated_rows(columns: np.ndarray, left_out_columns: list[str]) -> list[Remark]:
    n_obs = len(columns)
    if columns.shape[1] == 0:
        return []
    # As bytes: comparing rows number by number would take much longer.
    as_bytes = np.dtype((np.void, columns.itemsize * columns.shape[1]))
    rows = np.ascontiguousarray(columns).view(as_bytes)[:, 0]
    counts = np.unique(rows, return_counts=True)[1]
    pairs = int((counts * (counts - 1)).sum()) // 2
    if pairs < FEWEST_PAIRS:
        return []
    values = [np.unique(column, return_counts=True)[1] for column in columns.T]
    shares = np.array([((count / n_obs) ** 2).sum() for count in values])
    expected = comb(n_obs, 2) * float(np.exp(np.log(shares).sum()))
    if pairs > TIMES_EXPECTED * (
        expected + 1
    ):  # only then is a search for derived columns worth its time
        expected = comb(n_obs, 2) * _share_of_own(columns, shares, pairs)
    if pairs <= TIMES_EXPECTED * (expected + 1):
        return []
    but_for = f", leaving out column {', '.join(left_out_columns)}" if left_out_columns else ""
    remark_text = (
        f"{arg('X')} has {pairs} pairs of identical rows{but_for}; {expected:.2g} would be "
        "expected by chance. Several rows of one unit, such as a patient, are not independent. "
        "Rules are then tested on copies of the rows they learnt from, and errors and p-values "
        f"are too small. Name the rows of each unit ({arg('groups')}), or keep one row for each."
    )
    warns = max(map(len, values)) > MANY_VALUES
    line = f"{pairs} pairs of rows are identical: p-values are too small if they repeat a unit."
    return [Remark(Note(remark_text, line) if warns else remark_text, warns)]


def _share_of_own(columns: np.ndarray, shares: np.ndarray, pairs: int) -> float:
    """The share of pairs equal by chance; columns derived from earlier ones do not count."""
    n_pairs = comb(len(columns), 2)
    value_index = np.column_stack(
        [np.unique(column, return_inverse=True)[1] for column in columns.T]
    )
    adds_information = np.ones(len(shares), dtype=bool)
    chance_share = 1.0
    for column_index in range(len(shares)):
        if not adds_information[column_index]:
            continue
        chance_share *= shares[column_index]
        # Further columns only lower the share: if there are many, most need no comparison.
        if pairs > TIMES_EXPECTED * (n_pairs * chance_share + 1):
            break
        adds_information[column_index + 1 :] &= ~_derived(
            value_index[:, column_index], value_index[:, column_index + 1 :]
        )
    return float(np.exp(np.log(shares[adds_information]).sum()))


def _derived(value_index: np.ndarray, other_columns: np.ndarray) -> np.ndarray:
    """Which columns are copies of one column, or smooth functions of it such as its square.

    If units repeat, every column is a function of any column that distinguishes the units. A
    function therefore counts only if it turns between rising and falling a few times at most.
    """
    order = np.argsort(value_index, kind="stable")
    starts = np.diff(value_index[order], prepend=-1) != 0
    ranked = other_columns[order]
    is_derived = ((np.diff(ranked, axis=0) == 0) | starts[1:, None]).all(axis=0)
    for column_index in np.flatnonzero(is_derived):
        steps = np.diff(ranked[starts, column_index])
        steps = np.sign(steps[steps != 0])
        is_derived[column_index] = np.count_nonzero(np.diff(steps)) <= min(
            MOST_TURNS, starts.sum() // 6
        )
    return is_derived


def _row_numbers(columns: np.ndarray, numeric: np.ndarray) -> np.ndarray:
    """Which columns contain consecutive whole numbers, each once."""
    n_obs = len(columns)
    with np.errstate(invalid="ignore"):
        numbers_rows = (
            numeric & (columns.max(axis=0) - columns.min(axis=0) == n_obs - 1) & (n_obs > 1)
        )
    for column_index in np.flatnonzero(numbers_rows):
        column = np.sort(columns[:, column_index])
        numbers_rows[column_index] = (np.diff(column) == 1).all() and column[0] == np.rint(
            column[0]
        )
    return numbers_rows
