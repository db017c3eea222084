"""Learners: jitted ones, which fit thousands of learning sets at once, and their common parts.

The public names are listed in `__init__.pyi`, and load on first use.
"""

from typing import Any

from ucvtest.common.first_use import attribute_of, homes_of_names

_HOMES = homes_of_names(__file__)

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    return attribute_of(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return list(__all__)
