"""Honest statistical tests for learning algorithms on one small data set.

The public names are listed in `__init__.pyi`, and load on first use, so that ``import ucvtest``
stays quick.
"""

import ast
import os
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

_HOME = {
    alias.name: statement.module
    for statement in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    if isinstance(statement, ast.ImportFrom)
    for alias in statement.names
}
"""The module of each public name; that of a module is this package."""

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'ucvtest' has no attribute {name!r}")
    if home == "ucvtest":
        return import_module(f"ucvtest.{name}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


# Forks are watched from now on, also where others start JAX before this package does.
import_module("ucvtest.common.fork_guard")

if os.environ.get("UCVTEST_AUTOLOG", "").lower() not in ("", "0", "false"):
    import_module("ucvtest.hooks").add_hook(
        import_module("ucvtest.autologging").AutologByEnvironment()
    )
