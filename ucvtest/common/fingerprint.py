"""What a value is, in 32 hexadecimal digits that do not change from one process to the next."""

import functools
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

__all__ = ["fingerprint"]

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""Where an object lies in memory, as Python writes objects that say nothing else of themselves."""


def fingerprint(value: Any) -> str:
    """Equal for values with equal parts: numbers, tables, estimators, functions and their like.

    Of a function its code, its defaults and what it encloses count, but no global variable that it
    reads; of an object its parameters or its attributes.
    """
    digest = blake2b(digest_size=16)
    _Parts(digest).add(value)
    return digest.hexdigest()


class _Parts:
    """Writes the parts of a value, one after the other, to a digest."""

    def __init__(self, digest: Any) -> None:
        self._digest = digest
        # A part that contains itself is written once.
        self._inside: list[int] = []

    def add(self, value: Any) -> None:
        """Write a value with all its parts."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            self._write(type(value).__name__, repr(value))
        elif id(value) in self._inside:
            self._write("again", str(len(self._inside) - self._inside.index(id(value))))
        else:
            self._inside.append(id(value))
            self._add_parts(value)
            self._inside.pop()

    def _write(self, *words: str) -> None:
        for word in words:
            data = word.encode("utf-8", "surrogatepass")
            # The length goes first, so that two words are never taken for one.
            self._digest.update(len(data).to_bytes(8, "little") + data)

    def _add_parts(self, value: Any) -> None:
        self._write(f"{type(value).__module__}.{type(value).__qualname__}")
        if isinstance(value, np.ndarray):
            self._add_array(value)
        elif isinstance(value, Mapping):
            self._add_all(each for item in value.items() for each in item)
        elif isinstance(value, (list, tuple)):
            self._add_all(value)
        elif isinstance(value, (set, frozenset)):
            self._write(*sorted(fingerprint(each) for each in value))
        elif isinstance(value, (type, ModuleType, BuiltinFunctionType, np.ufunc)):
            self._write(f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', '')}")
        else:
            self._add_all(_parts(value))

    def _add_all(self, values: Any) -> None:
        for value in values:
            self.add(value)

    def _add_array(self, array: np.ndarray) -> None:
        self._write(array.dtype.str, str(array.shape))
        if array.dtype.hasobject:
            self._add_all(array.ravel().tolist())
        else:
            self._digest.update(np.ascontiguousarray(array).tobytes())


def _parts(value: Any) -> tuple[Any, ...]:
    """What makes an object what it is."""
    if isinstance(value, FunctionType):
        cells = tuple(cell.cell_contents for cell in value.__closure__ or ())
        return value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, cells
    if isinstance(value, CodeType):
        return value.co_code, value.co_consts, value.co_names
    if isinstance(value, MethodType):
        return value.__self__, value.__func__
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if isinstance(value, np.random.Generator):
        return (value.bit_generator.state,)
    if isinstance(value, np.random.RandomState):
        return (value.get_state(legacy=False),)
    if is_dataclass(value):
        return tuple((item.name, getattr(value, item.name)) for item in fields(value))
    if hasattr(value, "get_params"):
        return (value.get_params(deep=False),)
    if hasattr(value, "tocsr"):
        rows = value.tocsr()
        return rows.shape, rows.data, rows.indices, rows.indptr
    if hasattr(value, "to_numpy"):
        return _columns(value)
    if hasattr(value, "__dict__"):
        return (vars(value),)
    return (ADDRESS.sub("", repr(value)),)


def _columns(table: Any) -> tuple[Any, ...]:
    """A table of pandas, or one of its columns, by its values and their names."""
    if not hasattr(table, "items") or getattr(table, "ndim", 1) == 1:
        return str(table.dtype), table.to_numpy()
    return tuple((str(name), str(each.dtype), each.to_numpy()) for name, each in table.items())
