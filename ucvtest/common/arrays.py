"""Arrays from values that users pass; values that NumPy would change are refused."""

from datetime import date, time, timedelta
from typing import Any

import numpy as np

TEXT = (str, bytes)

TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)
"""Types of dates and times; those of pandas derive from them."""

COMPLEX = (complex, np.complexfloating)

NO_TIMES = (
    "{} contains dates or times, which are not numbers: convert them to numbers in a unit of your "
    "choice, such as days since the first date, or to text if they are labels"
)


def as_array(name: str, value: Any) -> np.ndarray:
    """Convert to an array of any type, or refuse if information would be lost.

    Raises
    ------
    ValueError
        If values are masked, complex, or an array of dates or times, or rows differ in length.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.common.arrays import as_array
    >>> as_array("y", np.array([1 + 2j]))
    Traceback (most recent call last):
        ...
    ValueError: y contains complex numbers, whose imaginary part would be lost: pass the real \
part, or both parts as two columns
    """
    check_whole(name, value)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} cannot be made an array: {error}") from None
    kinds = {array.dtype.kind, *_kinds_of_columns(value)}
    if kinds & {"m", "M"}:
        raise ValueError(NO_TIMES.format(name))
    check_whole(name, array)
    return array


def as_numbers(name: str, value: Any) -> np.ndarray:
    """Convert numbers to a float64 array; nothing else is accepted.

    Raises
    ------
    ValueError
        If values are masked, complex, dates, times or strings (even strings that look like
        numbers), or if rows differ in length.
    """
    # Most inputs are arrays of numbers, which cannot contain anything else.
    is_plain_array = type(value) is np.ndarray and value.dtype.kind in "fiub"
    array = value if is_plain_array else as_array(name, value)
    if array.dtype.kind in "fiub":
        return np.asarray(array, dtype=float)
    other = other_than_numbers(array)
    if other == "dates or times":
        raise ValueError(NO_TIMES.format(name))
    if other:
        example = next(entry for entry in array.flat if isinstance(entry, (str, bytes)))
        raise ValueError(
            f"{name} contains {other} where numbers are needed, such as {str(example)!r:.40}: "
            "convert them first; numbers written as text have one decimal mark, and no separators "
            "of thousands"
        )
    try:
        return np.asarray(array, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must contain numbers: {error}") from None


def check_whole(name: str, value: Any) -> None:
    """Refuse masked values and complex numbers; the columns of a table are checked one by one.

    Raises
    ------
    ValueError
    """
    n_masked = _count_masked(value)
    objects = isinstance(value, np.ndarray) and value.dtype == object
    types = _types_in(value) if objects else set()
    if n_masked or any(issubclass(array_type, np.ma.MaskedArray) for array_type in types):
        raise ValueError(
            f"{name} has {n_masked or 'some'} masked values, whose mask would be lost: drop these "
            "observations, or fill the values (.filled) before"
        )
    if "c" in _kinds_of_columns(value) or any(
        issubclass(array_type, COMPLEX) for array_type in types
    ):
        raise ValueError(
            f"{name} contains complex numbers, whose imaginary part would be lost: pass the real "
            "part, or both parts as two columns"
        )


def other_than_numbers(value: Any) -> str:
    """Name the values that NumPy would silently convert to numbers; "" if there are none."""
    array = np.asarray(value)
    types = _types_in(array) if array.dtype == object else {array.dtype.type}
    for kinds, type_words in ((TEXT, "strings"), (TIMES, "dates or times")):
        if any(issubclass(array_type, kinds) for array_type in types):
            return type_words
    return ""


def _count_masked(value: Any, depth: int = 2) -> int:
    """Number of masked values of an array, of arrays in a list, or in a list of lists."""
    if isinstance(value, np.ma.MaskedArray):
        return int(np.ma.getmaskarray(value).sum())
    if isinstance(value, (list, tuple)) and depth:
        return sum(_count_masked(element, depth - 1) for element in value)
    return 0


def _types_in(array: np.ndarray) -> set[type]:
    return set(map(type, array.ravel().tolist()))


def _kinds_of_columns(value: Any) -> set[str]:
    """Kinds of the types of an array or of the columns of a table; empty for anything else."""
    dtypes = getattr(value, "dtypes", getattr(value, "dtype", None))
    columns = () if dtypes is None else np.ravel(dtypes)
    return {getattr(column_dtype, "kind", "O") for column_dtype in columns}
