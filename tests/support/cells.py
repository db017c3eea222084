"""Which cells of a grid of parameters are tried: in core a sample, all with UCVTEST_CELLS=all."""

import os
from collections import defaultdict

import pytest


def sampled(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The tests of core that are tried, and those that are not.

    Of a test with several stacked ``parametrize``, as many cells are tried as each value of each
    parameter needs to occur: of 30 classes and 4 options 30 cells, and not 120.
    """
    if all_of_them():
        return items, []
    functions: dict[str, list[tuple[pytest.Item, set[str]]]] = defaultdict(list)
    for item in items:
        values = _values(item)
        if len(values) > 1 and "tests/core/" in item.path.as_posix():
            functions[item.nodeid.partition("[")[0]].append((item, values))
    left_out = {item for cells in functions.values() for item in _not_needed(cells)}
    return [item for item in items if item not in left_out], list(left_out)


def repeated(number: int) -> int:
    """How often something random is tried: a fifth of it, and all with UCVTEST_CELLS=all."""
    return number if all_of_them() else number // 5


def all_of_them() -> bool:
    """Whether a run is as long as it has to be."""
    return os.environ.get("UCVTEST_CELLS") == "all"


def _values(item: pytest.Item) -> set[str]:
    """The value that each ``parametrize`` above a test gives to its parameters."""
    values = set()
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        names = names.split(",") if isinstance(names, str) else names
        given = item.callspec.params  # type: ignore[attr-defined]
        values.add(repr([(name.strip(), given[name.strip()]) for name in names]))
    return values


def _not_needed(cells: list[tuple[pytest.Item, set[str]]]) -> list[pytest.Item]:
    """All cells but those that contain, one after another, the most values that none before had."""
    left = list(cells)
    lacking = set().union(*(values for _, values in cells))
    while lacking:
        needed = max(left, key=lambda cell: len(cell[1] & lacking))
        lacking -= needed[1]
        left.remove(needed)
    return [item for item, _ in left]
