"""A value's content in 32 hexadecimal digits that do not change between processes."""

import functools
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ucvtest.common.own_code import is_own, parts_of_class, used_globals, version_of_package

ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""The memory address in Python's default representation of an object."""


def fingerprint(value: Any) -> str:
    """Equal for values with equal parts: numbers, tables, estimators, functions and their like.

    A function counts by its code, its defaults, its closure, and the functions, classes,
    estimators, constants and data (dictionaries, lists, sets, arrays, tables) that it reads in the
    user's own modules. An object counts by its parameters or attributes and by the methods of its
    class. An installed package counts by its version. The fingerprint does not see data that a
    function changes itself, global variables that are other objects, imports while a function runs,
    files, or the environment.
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
        # Own functions and classes are written once, and then by their number.
        self._code: dict[int, int] = {}
        self._kept: list[Any] = []

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

    def _write(self, *tokens: str) -> None:
        for token in tokens:
            data = token.encode("utf-8", "surrogatepass")
            # The length goes first, so that two words are never taken for one.
            self._digest.update(len(data).to_bytes(8, "little") + data)

    def _add_parts(self, value: Any) -> None:
        self._write(f"{type(value).__module__}.{type(value).__qualname__}")
        if is_own(type(value).__module__):
            self._add_class(type(value))
        elif not isinstance(value, (np.ndarray, Mapping, list, tuple, set, frozenset)):
            self._write(version_of_package(type(value).__module__))
        if isinstance(value, np.ndarray):
            self._write(value.dtype.str, str(value.shape))
            if value.dtype.hasobject:
                self._add_all(value.ravel().tolist())
            else:
                self._digest.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, Mapping):
            self._add_all(key_or_value for item in value.items() for key_or_value in item)
        elif isinstance(value, (list, tuple)):
            self._add_all(value)
        elif isinstance(value, (set, frozenset)):
            self._write(*sorted(fingerprint(element) for element in value))
        elif isinstance(value, FunctionType):
            self._add_function(value)
        elif isinstance(value, type) and is_own(value.__module__):
            self._add_class(value)
        elif isinstance(value, (type, ModuleType, BuiltinFunctionType, np.ufunc)):
            module = getattr(value, "__module__", "")
            self._write(f"{module}.{getattr(value, '__name__', '')}", version_of_package(module))
        else:
            self._add_all(_fingerprint_parts(value))

    def _add_function(self, python_function: FunctionType) -> None:
        if self._is_known(python_function):
            return
        cells = tuple(cell.cell_contents for cell in python_function.__closure__ or ())
        defaults = python_function.__defaults__, python_function.__kwdefaults__
        self._add_all((python_function.__qualname__, python_function.__code__, *defaults, cells))
        if is_own(python_function.__module__):
            self._add_all(used_globals(python_function))
        else:
            self._write(version_of_package(python_function.__module__))

    def _add_class(self, cls: type) -> None:
        if not self._is_known(cls):
            self._write(cls.__qualname__)
            self._add_all(parts_of_class(cls))

    def _is_known(self, code: FunctionType | type) -> bool:
        """Whether a function or class was written before; its number is then written instead."""
        was_written = id(code) in self._code
        self._write("code", str(self._code.setdefault(id(code), len(self._code))))
        # Another object must not take its place in memory meanwhile.
        self._kept.append(code)
        return was_written

    def _add_all(self, values: Any) -> None:
        for value in values:
            self.add(value)


def _fingerprint_parts(value: Any) -> tuple[Any, ...]:
    """The parts of an object that decide its behaviour."""
    if hasattr(value, "fingerprint_parts"):
        # Learners of other languages state themselves what decides their predictions.
        return tuple(value.fingerprint_parts)
    if isinstance(value, CodeType):
        return value.co_code, value.co_consts, value.co_names
    if isinstance(value, MethodType):
        return value.__self__, value.__func__
    if isinstance(getattr(value, "__wrapped__", None), FunctionType):
        return (value.__wrapped__,)
    if isinstance(value, functools.partial):
        return value.func, value.args, value.keywords
    if isinstance(value, np.random.Generator):
        return (value.bit_generator.state,)
    if isinstance(value, np.random.RandomState):
        return (value.get_state(legacy=False),)
    if is_dataclass(value):
        return tuple(
            (value_field.name, getattr(value, value_field.name)) for value_field in fields(value)
        )
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
    return tuple(
        (str(name), str(column.dtype), column.to_numpy()) for name, column in table.items()
    )
