"""The code of functions and classes that users write, as far as it decides results.

Code of an installed package is identified by its version. Own code is everything else: a notebook,
a script, a module next to it.
"""

import dis
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from ucvtest.common.global_data import changed_names, content, is_data

INSTALLED = frozenset(("site-packages", "dist-packages"))
"""Folders of installed packages."""

OURS = frozenset(("ucvtest", "ucvtest_r", "ucvtest_mlflow"))

MARKS = frozenset(("__module__", "__dict__", "__weakref__", "__doc__", "__slots__"))
"""Attributes of a class that do not decide any result."""


def is_own(name: Any) -> bool:
    """Whether the name of a module shows that a user wrote it."""
    if not isinstance(name, str):
        return False
    root = name.partition(".")[0]
    if (root in sys.stdlib_module_names and root != "__main__") or root in OURS:
        return False
    file = getattr(sys.modules.get(name), "__file__", None)
    # A module without a file was typed in, or made by another program.
    return root != "builtins" and (file is None or not INSTALLED & set(Path(file).parts))


def version_of_package(name: Any) -> str:
    """The version of the package that a module belongs to; empty if it states none."""
    root = str(name).partition(".")[0]
    return str(getattr(sys.modules.get(root), "__version__", ""))


def used_globals(python_function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Functions, classes, estimators, constants and data of own modules that a function reads.

    Variables that a function writes and data that it changes in place are left out. They count or
    remember something, so they differ from one call to the next.
    """
    names, written = _names(python_function.__code__)
    changed = changed_names(python_function.__code__)
    for name in sorted(names):
        if name in python_function.__globals__ and name not in written:
            value = python_function.__globals__[name]
            if isinstance(value, ModuleType):
                if is_own(value.__name__):
                    yield from _of_module(value, names, changed)
            else:
                yield from _seen(name, value, changed)


def parts_of_class(cls: type) -> Iterator[tuple[str, Any]]:
    """Methods and constants of a user's class, and of its base classes that users wrote."""
    for base_class in cls.__mro__:
        if not is_own(base_class.__module__):
            continue
        members = {name: value for name, value in vars(base_class).items() if name not in MARKS}
        written, changed = set(), set()
        for value in members.values():
            if isinstance(method := _function(value), FunctionType):
                written |= _written_attributes(method.__code__)
                changed |= changed_names(method.__code__)
        for name, value in members.items():
            method = _function(value)
            if isinstance(method, FunctionType):
                yield name, method
            elif isinstance(value, property):
                yield name, (value.fget, value.fset)
            elif name not in written:
                # Python adds its own tables, such as __annotations__.
                yield from _seen(name, value, members if name.startswith("__") else changed)


def _of_module(module: ModuleType, names: set[str], changed: set[str]) -> Iterator[tuple[str, Any]]:
    for name in sorted(names):
        value = vars(module).get(name)
        if value is not None:
            for _, global_value in _seen(name, value, changed):
                yield f"{module.__name__}.{name}", global_value


def _seen(name: str, value: Any, changed: Container[str]) -> Iterator[tuple[str, Any]]:
    """Yield a variable if it decides results and is not `changed` by the code that reads it."""
    if _is_code_or_constant(value):
        yield name, value
    elif name not in changed and is_data(value):
        yield name, content(value, _is_code_or_constant)


def _is_code_or_constant(value: Any) -> bool:
    """Whether a global variable decides results and does not change."""
    if isinstance(value, tuple):
        return all(map(_is_code_or_constant, value))
    if isinstance(value, (type, FunctionType)):
        return is_own(value.__module__)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return True
    if isinstance(value, (ModuleType, BuiltinFunctionType)):
        return False
    # A compiled or cached function; an estimator, which has parameters.
    wrapped_function = getattr(value, "__wrapped__", None)
    if isinstance(wrapped_function, FunctionType):
        return is_own(wrapped_function.__module__)
    return hasattr(type(value), "get_params")


def _function(value: Any) -> Any:
    """The function of a method, a static method or a class method."""
    return getattr(value, "__func__", value)


def _names(code: CodeType) -> tuple[set[str], set[str]]:
    """The names that code reads, with those of the functions inside it, and that it writes."""
    read, written = set(code.co_names), set()
    for step in dis.get_instructions(code):
        if step.opname == "STORE_GLOBAL":
            written.add(str(step.argval))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            nested_names = _names(constant)
            read |= nested_names[0]
            written |= nested_names[1]
    return read, written


def _written_attributes(code: CodeType) -> set[str]:
    attributes = {
        str(instruction.argval)
        for instruction in dis.get_instructions(code)
        if instruction.opname == "STORE_ATTR"
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            attributes |= _written_attributes(constant)
    return attributes
