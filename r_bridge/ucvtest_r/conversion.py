"""Values between R and Python, without copies where the two agree in memory.

rpy2 is imported on use: without it, or without R, this module still imports.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_LARGEST_R_INTEGER = 2**31 - 1

NULL, CLOSURE, LOGICAL, INTEGER, DOUBLE, TEXT, LIST = 0, 3, 10, 13, 14, 16, 19
"""R's numbers for types of values."""
NUMBERS = (INTEGER, DOUBLE)
ATOMIC = (LOGICAL, *NUMBERS, TEXT)


class _Memory:
    """Memory of an R vector for NumPy, which keeps the vector alive as long as an array uses it."""

    def __init__(self, values: Any) -> None:
        interface = np.asarray(values.memoryview()).__array_interface__
        address, _ = interface["data"]
        self.values = values
        # Read-only: R's values are never changed in place.
        self.__array_interface__ = {**interface, "data": (address, True)}


def matrix(values: Any) -> np.ndarray:
    """A numeric R matrix or vector as a read-only array on the same memory."""
    return np.asarray(_Memory(values))


def vector(values: Any) -> np.ndarray:
    """An atomic R vector as an array: strings and logicals copied, numbers on the same memory."""
    if values.typeof == TEXT:
        return np.array(list(values), dtype=str)
    if values.typeof == LOGICAL:
        return np.array([bool(value) for value in values], dtype=bool)
    return matrix(values)


def is_null(value: Any) -> bool:
    """Whether it is R's NULL."""
    return bool(value.typeof == NULL)


def parts(values: Any) -> dict[str, Any]:
    """A named R list, by its names."""
    return dict(zip(values.names or (), values, strict=True))


def scalar(name: str, value: Any) -> Any:
    """An R vector of length one as a Python value, and NULL as None.

    Whole numbers become int, because R users write 400 where R means 400.0.

    Raises
    ------
    ValueError
        If it has another length, or is NA or no atomic vector.
    """
    import rpy2.rinterface as ri

    if is_null(value):
        return None
    if value.typeof not in ATOMIC or len(value) != 1:
        raise ValueError(f"{name} must be a single value, or NULL for the default")
    first = value[0]
    if first in (ri.NA_Character, ri.NA_Integer, ri.NA_Logical) or first is ri.NA_Real:
        raise ValueError(f"{name} must not be NA: use NULL for the default")
    item = vector(value)[0].item()
    return int(item) if isinstance(item, float) and item.is_integer() else item


def to_r(value: Any) -> Any:
    """Turn plain Python values and NumPy arrays into R vectors; mappings become named lists."""
    import rpy2.rinterface as ri

    if isinstance(value, ri.sexp.Sexp):
        return value
    if value is None:
        return ri.NULL
    if isinstance(value, Mapping):
        named = ri.ListSexpVector([to_r(item) for item in value.values()])
        named.names = ri.StrSexpVector([str(name) for name in value])
        return named
    if isinstance(value, str):
        return ri.StrSexpVector([value])
    if isinstance(value, np.ndarray):
        return _array(value)
    if isinstance(value, Sequence):
        if all(isinstance(item, str) for item in value):
            return ri.StrSexpVector(list(value))
        if all(isinstance(item, (int, float)) for item in value):
            return _array(np.array(value))
        return ri.ListSexpVector([to_r(item) for item in value])
    return _array(np.asarray(value))


def _array(values: np.ndarray) -> Any:
    import rpy2.rinterface as ri

    flat = values.ravel(order="F")
    if values.dtype.kind == "b":
        result = ri.BoolSexpVector([bool(item) for item in flat])
    elif values.dtype.kind in "iu" and (np.abs(flat) <= _LARGEST_R_INTEGER).all():
        result = ri.IntSexpVector.from_memoryview(flat.astype(np.int32).data)
    elif values.dtype.kind in "iuf":
        result = ri.FloatSexpVector.from_memoryview(flat.astype(np.float64).data)
    else:
        result = ri.StrSexpVector([str(item) for item in flat])
    if values.ndim > 1:
        result.do_slot_assign("dim", ri.IntSexpVector(values.shape))
    return result
