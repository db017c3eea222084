"""Columns of numbers or labels by name, as mappings and data frames have them."""

from collections.abc import Mapping
from typing import Any

__all__ = ["by_name"]


def by_name(argument: str, given: Any) -> dict[str, Any]:
    """The columns of a mapping or DataFrame; refused unless their names are different strings."""
    table = hasattr(given, "columns") and hasattr(given, "items")
    if not isinstance(given, Mapping) and not table:
        raise ValueError(
            f"{argument} must map names to columns, or be a DataFrame, got "
            f"{type(given).__name__}: use {{'name': ...}}"
        )
    pairs = list(given.items())
    names = [name for name, _ in pairs]
    for name in names:
        if not isinstance(name, str) or not name.strip() or names.count(name) > 1:
            raise ValueError(
                f"{argument} has the key {name!r:.60}: names must be different strings with text"
            )
    if not pairs:
        raise ValueError(f"{argument} is empty: pass at least one")
    return dict(pairs)
