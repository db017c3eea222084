"""Honest statistical tests for learning algorithms on one small data set.

The public names are listed in `__init__.pyi`, and load on first use, so that ``import ucvtest``
stays quick.
"""

import os
from importlib import import_module
from typing import Any

from ucvtest.common.first_use import attribute_of, homes_of_names

__version__ = "0.1.0"

_HOMES = homes_of_names(__file__)

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return attribute_of(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


# Forks are watched from now on, also where others start JAX before this package does.
import_module("ucvtest.common.fork_guard")

if os.environ.get("UCVTEST_AUTOLOG", "").lower() not in ("", "0", "false"):
    import_module("ucvtest.hooks").add_hook(
        import_module("ucvtest.autologging").AutologByEnvironment()
    )
