"""Values that are equal if all their parts are, NaN and arrays among them, and can be pickled."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

__all__ = ["ByValue", "same"]


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
        return _restored, (type(self), _thawed(_values(self)))


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal in all their parts; NaN is equal to NaN."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return _same_arrays(np.asarray(one), np.asarray(other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (float, np.floating)) and one != one:
        return isinstance(other, (float, np.floating)) and bool(other != other)
    if type(one) is type(other) and _is_opaque(one):
        return same(_parts(one), _parts(other))
    return bool(one == other)


def _same_arrays(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype == object or other.dtype == object:
        return same(one.ravel().tolist(), other.ravel().tolist())
    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc" and other.dtype.kind in "fc")


def _is_opaque(value: Any) -> bool:
    """Whether it does not say itself when it is equal, or not where arrays are among its parts."""
    if isinstance(value, type):
        return False
    by_identity = getattr(type(value), "__eq__") is object.__eq__  # noqa: B009  (mypy)
    return is_dataclass(value) or (by_identity and hasattr(value, "__dict__"))


def _parts(value: Any) -> dict[str, Any]:
    return _values(value) if is_dataclass(value) else dict(vars(value))


def _values(value: Any) -> dict[str, Any]:
    return {item.name: getattr(value, item.name) for item in fields(value)}


def _thawed(value: Any) -> Any:
    """The value with plain dictionaries in the place of other mappings."""
    if isinstance(value, Mapping):
        return {key: _thawed(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_thawed, value))
    return value


def _restored(cls: type, values: Mapping[str, Any]) -> Any:
    return cls(**values)
