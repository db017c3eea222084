"""A value's content in 32 hexadecimal digits that do not change between processes."""

import inspect
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from joblib.hashing import NumpyHasher

INSTALLED = frozenset(("site-packages", "dist-packages"))
"""Folders of installed packages."""

OURS = frozenset(("ucvtest", "ucvtest_r", "ucvtest_mlflow"))


def digest(name: str, value: Any) -> tuple[str, dict[str, str]]:
    """Equal for values with equal parts: numbers, tables, estimators, functions and their like.

    Code of installed packages counts by its name; the versions of these packages come second. Own
    code is everything else: a notebook, a script, a module next to it. Own functions and classes
    count by their source, with their defaults, the values that they enclose, and the global
    variables that they read. Estimators count by their parameters, other objects by what pickle
    would keep of them. Two lambdas on the same line are the same.

    Raises
    ------
    ValueError
        If a part has no source, or no content that could be compared; `name` says of what.
    """
    hasher = _Hasher({})
    try:
        return str(hasher.hash(value)), hasher.versions
    except _WithoutSourceError as error:
        raise ValueError(
            f"checkpoint cannot recognize {name} in a later call, because Python has no source of "
            f"{error}: define it in a file or install it as a package, or leave checkpoint out"
        ) from None
    except Exception as error:
        raise ValueError(
            f"checkpoint cannot recognize {name} in a later call ({error}): make open files, locks "
            "and connections inside of the function that uses them, or leave checkpoint out"
        ) from error


class _WithoutSourceError(Exception):
    """The source of the named function, class or module cannot be found."""


class _Hasher(NumpyHasher):  # type: ignore[misc]  # joblib is not typed
    """joblib.hash, which knows functions and classes by name alone, with `_parts` in their place.

    It pickles in order to hash; nothing is ever read back.
    """

    def __init__(self, versions: dict[str, str]) -> None:
        super().__init__()
        self.versions = versions
        """Those of the installed packages that were met."""
        self._replaced: dict[int, tuple[Any, list[Any]]] = {}

    def save(self, value: Any) -> None:
        """Save a value, or its parts: the same list again if it contains itself."""
        if id(value) not in self._replaced:
            parts = self._parts(value)
            if parts is None:
                super().save(value)
                return
            # The value is kept, so that no other one takes its place in memory meanwhile.
            self._replaced[id(value)] = value, parts
        super().save(self._replaced[id(value)][1])

    def _parts(self, value: Any) -> list[Any] | None:
        """What decides a value's behaviour; None if that is what pickle keeps."""
        kind = type(value)
        if isinstance(value, (bool, int, float, complex, str, bytes, list, tuple, type(None))):
            return None
        if isinstance(value, np.ndarray):
            # The layout in memory, which may change as a table is used, does not count.
            is_plain = value.ndim == 1 and value.flags.c_contiguous
            return None if is_plain else [value.shape, value.ravel()]
        if isinstance(value, Mapping):
            return [kind, *map(list, value.items())]
        if isinstance(value, (set, frozenset)):
            return [kind, *sorted(_Hasher(self.versions).hash(element) for element in value)]
        if isinstance(value, (FunctionType, type, ModuleType, BuiltinFunctionType)):
            return self._parts_of_code(value)
        if isinstance(value, MethodType):
            return [value.__self__, value.__func__]
        if isinstance(getattr(value, "__wrapped__", None), FunctionType):
            # Compiled or cached.
            return [value.__wrapped__]
        if value is np.random.mtrand._rand:  # noqa: SLF001
            # The global generator, which SciPy's distributions contain. Each process has its own.
            return []
        if hasattr(value, "content_of_learner"):
            # Learners of other languages state it themselves.
            return list(value.content_of_learner)
        if is_dataclass(value):
            return [kind, *([part.name, getattr(value, part.name)] for part in fields(value))]
        if hasattr(value, "get_params"):
            return [kind, value.get_params(deep=False)]
        if hasattr(value, "tocsr"):
            rows = value.tocsr()
            return [kind, rows.shape, rows.data, rows.indices, rows.indptr]
        if hasattr(value, "to_numpy"):
            if getattr(value, "ndim", 1) == 1:
                return [kind, str(value.dtype), value.to_numpy()]
            return [kind, *([str(name), column] for name, column in value.items())]
        return None

    def _parts_of_code(self, code: Any) -> list[Any]:
        is_module = isinstance(code, ModuleType)
        module = code.__name__ if is_module else code.__module__ or "builtins"
        name = getattr(code, "__qualname__", code.__name__)
        if not _is_own(module):
            package = module.partition(".")[0]
            if hasattr(sys.modules.get(package), "__version__"):
                self.versions[package] = str(sys.modules[package].__version__)
            bound = getattr(code, "__self__", None)
            return [module, name, None if isinstance(bound, ModuleType) else bound]
        if isinstance(code, FunctionType):
            variables = sorted(set(_names(code.__code__)) & set(code.__globals__))
            reads = {variable: code.__globals__[variable] for variable in variables}
            enclosed = [cell.cell_contents for cell in code.__closure__ or ()]
            return [name, _source(code), code.__defaults__, code.__kwdefaults__, enclosed, reads]
        if not isinstance(code, type):
            return [name, _source(code)]
        # The source of a class, and the global variables that its methods read.
        members = vars(code)
        methods = [
            getattr(member, "fget", getattr(member, "func", member)) for member in members.values()
        ]
        methods = [getattr(method, "__wrapped__", method) for method in methods]
        # Those that dataclass makes have no source, and follow from that of the class.
        methods = [
            method for method in methods if isinstance(method, FunctionType) and _finds(method)
        ]
        text: Any = _source(code) if _finds(code) or not methods else None
        if text is None:
            # In a notebook, functions have a source, and classes do not.
            text = {
                key: value
                for key, value in members.items()
                if not (key.startswith("_") or callable(value) or hasattr(value, "__get__"))
            }
        return [name, text, methods, list(code.__bases__)]


def _source(code: Any) -> str:
    try:
        # That of a function itself, and not of one that it wraps.
        return inspect.getsource(getattr(code, "__code__", code))
    except (OSError, TypeError):
        raise _WithoutSourceError(getattr(code, "__qualname__", code.__name__)) from None


def _finds(code: Any) -> bool:
    try:
        return bool(_source(code))
    except _WithoutSourceError:
        return False


def _names(code: CodeType) -> Iterator[str]:
    """The names of attributes and global variables in code, with those of functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _is_own(module: str) -> bool:
    """Whether the name of a module shows that a user wrote it."""
    root = module.partition(".")[0]
    if root in OURS or (root in sys.stdlib_module_names and root != "__main__"):
        return False
    file = getattr(sys.modules.get(module), "__file__", None)
    # A module without a file was typed in, or made by another program.
    return file is None or not INSTALLED & set(Path(file).parts)
