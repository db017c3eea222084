"""What module-level data hold, as far as it can be read, and which data code changes itself."""

import dis
import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from enum import Enum
from functools import partial
from numbers import Number
from pathlib import PurePath
from types import CodeType, MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np

__all__ = ["changed_names", "content", "is_data"]

FIXED = (Number, date, time, timedelta, range, slice, PurePath, Enum, re.Pattern)
"""What never changes and writes itself in full."""

CONTAINERS = (dict, MappingProxyType, list, tuple, deque, set, frozenset, SimpleNamespace, partial)

ARRAYS = ("to_numpy", "tocsr", "__array__")
"""Methods of tables, sparse matrices, and arrays of NumPy and others."""

CHANGING = {"add", "append", "appendleft", "clear", "difference_update", "discard", "extend"}
CHANGING |= {"extendleft", "fill", "insert", "intersection_update", "pop", "popitem", "popleft"}
CHANGING |= {"remove", "reverse", "rotate", "setdefault", "sort", "symmetric_difference_update"}
CHANGING |= {"update"}
"""Methods that change a container in place."""

STORES = {"STORE_SUBSCR": 2, "DELETE_SUBSCR": 2, "STORE_SLICE": 3, "STORE_ATTR": 1}
"""How deep in the stack the object lies that a step of code changes."""


def is_data(value: Any) -> bool:
    """Whether `content` can read a value."""
    if isinstance(value, type):
        return False
    known = isinstance(value, (*FIXED, *CONTAINERS)) or is_dataclass(value)
    return known or any(hasattr(type(value), name) for name in ARRAYS)


def content(value: Any, is_known: Callable[[Any], bool], outer: tuple[int, ...] = ()) -> Any:
    """A value whose fingerprint goes by what it holds; `is_known` says what is taken as it is.

    Of a part that cannot be read the type counts, of a function or class of an installed package
    its name.
    """
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if is_known(value):
        return value
    if id(value) in outer:
        # It contains itself.
        return kind, len(outer) - outer.index(id(value))
    if isinstance(value, FIXED):
        return kind, repr(value)

    def each(values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(content(one, is_known, (*outer, id(value))) for one in values)

    if isinstance(value, (dict, MappingProxyType)):
        return kind, each(value.keys()), each(value.values())
    if isinstance(value, (list, tuple, deque)):
        return kind, each(value)
    if isinstance(value, (set, frozenset)):
        return kind, frozenset(each(value))
    if isinstance(value, partial):
        return kind, each((value.func, value.args, value.keywords))
    if isinstance(value, SimpleNamespace):
        return kind, each([vars(value)])
    if is_dataclass(value) and not isinstance(value, type):
        parts = {item.name: getattr(value, item.name, None) for item in fields(value)}
        return kind, each((parts, type(value)))
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return kind, value.shape, each(value.ravel().tolist())
    return _array_or_name(value, kind)


def _array_or_name(value: Any, kind: str) -> Any:
    if isinstance(value, type) or not is_data(value):
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", "")
        return kind, f"{getattr(value, '__module__', '')}.{name}"
    if isinstance(value, np.ndarray) or not hasattr(type(value), "__array__"):
        return value
    if any(hasattr(type(value), name) for name in ARRAYS[:2]):
        return value
    try:
        return kind, np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        # An array of another library that it does not give away.
        return kind


def changed_names(code: CodeType) -> set[str]:
    """Names of variables and attributes that code changes in place, such as D in ``D[k] = v``."""
    steps = list(dis.get_instructions(code))
    found = set()
    for place, step in enumerate(steps):
        if step.opname in STORES:
            # ``D[k] += v`` keeps D lowest, and turns the stack before it stores.
            turned = place > 0 and steps[place - 1].opname == "SWAP"
            found |= _path(steps[:place], STORES[step.opname] + turned)
        elif step.opname in ("LOAD_METHOD", "LOAD_ATTR") and step.argval in CHANGING:
            found |= _path(steps[:place], 1)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= changed_names(constant)
    return found


def _path(steps: list[dis.Instruction], depth: int) -> set[str]:
    """Names by which code came to an object in the stack: a.b of ``a.b[k]``, whatever k is."""
    found, above = set(), depth
    for step in reversed(steps):
        before = above - dis.stack_effect(step.opcode, step.arg, jump=False)
        if above == 1 and isinstance(step.argval, str) and step.opname.startswith("LOAD_"):
            found.add(step.argval)
        if before < 1:
            break
        above = before
    return found
