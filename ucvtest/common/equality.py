"""Values that are equal if all their parts are, NaN and arrays among them, and can be pickled."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import numpy as np


class ByValue:
    """Base of frozen dataclasses (with ``eq=False``) that are compared and pickled by fields."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(same(value, getattr(other, name)) for name, value in _values(self).items())

    def __hash__(self) -> int:
        # Equal ones must have equal hashes, and names are the only parts that can be hashed.
        names = (value for value in _values(self).values() if isinstance(value, str))
        return hash((type(self), *names))

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies cannot be pickled; plain dictionaries can.
        return partial(type(self), **_thawed(_values(self))), ()


def same(value: Any, other_value: Any) -> bool:
    """Whether two values are equal in all their parts; NaN is equal to NaN."""
    if value is other_value:
        return True
    if isinstance(value, np.ndarray) or isinstance(other_value, np.ndarray):
        return _same_arrays(np.asarray(value), np.asarray(other_value))
    if isinstance(value, Mapping) and isinstance(other_value, Mapping):
        return value.keys() == other_value.keys() and all(
            same(value[key], other_value[key]) for key in value
        )
    if isinstance(value, (list, tuple)) and isinstance(other_value, (list, tuple)):
        return len(value) == len(other_value) and all(map(same, value, other_value))
    if isinstance(value, (float, np.floating)) and value != value:
        return isinstance(other_value, (float, np.floating)) and bool(other_value != other_value)
    if type(value) is type(other_value) and _is_opaque(value):
        return same(_value_parts(value), _value_parts(other_value))
    return bool(value == other_value)


def _same_arrays(array: np.ndarray, other_array: np.ndarray) -> bool:
    if array.shape != other_array.shape:
        return False
    if array.dtype == object or other_array.dtype == object:
        return same(array.ravel().tolist(), other_array.ravel().tolist())
    have_nan = {array.dtype.kind, other_array.dtype.kind} <= {"f", "c"}
    return np.array_equal(array, other_array, equal_nan=have_nan)


def _is_opaque(value: Any) -> bool:
    """Whether its type defines no equality, or one that fails if arrays are among its parts."""
    if isinstance(value, type):
        return False
    by_identity = getattr(type(value), "__eq__") is object.__eq__  # noqa: B009  (mypy)
    return is_dataclass(value) or (by_identity and hasattr(value, "__dict__"))


def _value_parts(value: Any) -> dict[str, Any]:
    return _values(value) if is_dataclass(value) else dict(vars(value))


def _values(value: Any) -> dict[str, Any]:
    return {value_field.name: getattr(value, value_field.name) for value_field in fields(value)}


def _thawed(value: Any) -> Any:
    """The value with plain dictionaries in the place of other mappings."""
    if isinstance(value, Mapping):
        return {key: _thawed(element) for key, element in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_thawed, value))
    return value
