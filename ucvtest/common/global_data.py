"""The content of module-level data, as far as it can be read, and the data that code changes."""

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

FIXED = (Number, date, time, timedelta, range, slice, PurePath, Enum, re.Pattern)
"""Types that never change and whose representation is complete."""

CONTAINERS = (dict, MappingProxyType, list, tuple, deque, set, frozenset, SimpleNamespace, partial)

ARRAYS = ("to_numpy", "tocsr", "__array__")
"""Methods of tables, sparse matrices, and arrays of NumPy and others."""

CHANGING = {"add", "append", "appendleft", "clear", "difference_update", "discard", "extend"}
CHANGING |= {"extendleft", "fill", "insert", "intersection_update", "pop", "popitem", "popleft"}
CHANGING |= {"remove", "reverse", "rotate", "setdefault", "sort", "symmetric_difference_update"}
CHANGING |= {"update"}
"""Methods that change a container in place."""

STORES = {"STORE_SUBSCR": 2, "DELETE_SUBSCR": 2, "STORE_SLICE": 3, "STORE_ATTR": 1}
"""The depth in the stack of the object that a step of code changes."""


def is_data(value: Any) -> bool:
    """Whether `content` can read a value."""
    if isinstance(value, type):
        return False
    is_known_type = isinstance(value, (*FIXED, *CONTAINERS)) or is_dataclass(value)
    return is_known_type or any(hasattr(type(value), name) for name in ARRAYS)


def content(
    value: Any, is_known: Callable[[Any], bool], enclosing_ids: tuple[int, ...] = ()
) -> Any:
    """The content of a value, for its fingerprint; `is_known` decides which parts stay unread.

    A part that cannot be read counts by its type. A function or class of an installed package
    counts by its name.
    """
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if is_known(value):
        return value
    if id(value) in enclosing_ids:
        # The value contains itself.
        return kind, len(enclosing_ids) - enclosing_ids.index(id(value))
    if isinstance(value, FIXED):
        return kind, repr(value)

    def content_of_each(values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(content(element, is_known, (*enclosing_ids, id(value))) for element in values)

    if isinstance(value, (dict, MappingProxyType)):
        return kind, content_of_each(value.keys()), content_of_each(value.values())
    if isinstance(value, (list, tuple, deque)):
        return kind, content_of_each(value)
    if isinstance(value, (set, frozenset)):
        return kind, frozenset(content_of_each(value))
    if isinstance(value, partial):
        return kind, content_of_each((value.func, value.args, value.keywords))
    if isinstance(value, SimpleNamespace):
        return kind, content_of_each([vars(value)])
    if is_dataclass(value) and not isinstance(value, type):
        field_values = {
            value_field.name: getattr(value, value_field.name, None)
            for value_field in fields(value)
        }
        return kind, content_of_each((field_values, type(value)))
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        return kind, value.shape, content_of_each(value.ravel().tolist())
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
        # An array of another library that does not hand out its values.
        return kind


def changed_names(code: CodeType) -> set[str]:
    """Names of variables and attributes that code changes in place, such as D in ``D[k] = v``."""
    steps = list(dis.get_instructions(code))
    names = set()
    for position, step in enumerate(steps):
        if step.opname in STORES:
            # ``D[k] += v`` keeps D lowest, and turns the stack before it stores.
            turned = position > 0 and steps[position - 1].opname == "SWAP"
            names |= _path(steps[:position], STORES[step.opname] + turned)
        elif step.opname in ("LOAD_METHOD", "LOAD_ATTR") and step.argval in CHANGING:
            names |= _path(steps[:position], 1)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= changed_names(constant)
    return names


def _path(steps: list[dis.Instruction], depth: int) -> set[str]:
    """Names by which code reached an object in the stack: a.b of ``a.b[k]``, whatever k is."""
    names, above = set(), depth
    for step in reversed(steps):
        depth_before = above - dis.stack_effect(step.opcode, step.arg, jump=False)
        if above == 1 and isinstance(step.argval, str) and step.opname.startswith("LOAD_"):
            names.add(step.argval)
        if depth_before < 1:
            break
        above = depth_before
    return names
