"""Packages whose names load on first use: those that `__init__.pyi` lists for type checkers."""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any


def homes_of_names(init_file: str) -> dict[str, str]:
    """The module of each name of a package; that of a module is the package."""
    stub = ast.parse(Path(init_file).with_suffix(".pyi").read_text("utf-8"))
    return {
        alias.name: statement.module
        for statement in stub.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }


def attribute_of(package: str, homes: dict[str, str], name: str) -> Any:
    """The attribute of a package with this name, imported at the first request.

    Raises
    ------
    AttributeError
        If there is none.
    """
    home = homes.get(name)
    if home is None:
        raise AttributeError(f"module '{package}' has no attribute {name!r}")
    if home == package:
        return import_module(f"{package}.{name}")
    return getattr(import_module(home), name)
