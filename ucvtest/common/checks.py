"""Checks of arguments that several functions share."""

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

__all__ = [
    "as_integer",
    "at_least",
    "check_choice",
    "check_format_version",
    "check_number",
    "check_seconds",
    "check_switch",
    "check_workers",
    "is_integer",
    "is_number",
]


def is_integer(value: Any) -> bool:
    """Whether a value is an integer; True and 3.0 are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, as a float too; True is not."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def as_integer(name: str, value: Any) -> int:
    """The value as an int, refused if it is none in the sense of `is_integer`."""
    if not is_integer(value):
        raise ValueError(f"{name} must be an integer, got {value!r:.60}")
    return int(value)


def at_least(name: str, value: Any, least: int, remedy: str = "") -> int:
    """The value as an int, refused below `least`."""
    if as_integer(name, value) < least:
        more = f": {remedy}" if remedy else ""
        raise ValueError(f"{name} must be at least {least}, got {value}{more}")
    return int(value)


def check_format_version(source: str, version: Any, known: int) -> None:
    """Refuse saved data of any format version but the one that is read."""
    if not is_integer(version) or version < 1:
        raise ValueError(f"{source} has no format version, got {version!r:.60}")
    if version != known:
        raise ValueError(
            f"{source} has format version {version}, this ucvtest reads version {known}: "
            "upgrade ucvtest"
        )


def check_number(name: str, value: Any, *, low: float = -1e100, high: float = 1e100) -> None:
    """Refuse what is no number between two limits; by default those whose squares are numbers."""
    if not is_number(value) or not low <= value <= high:
        limits = f" between {low:g} and {high:g}" if (low, high) != (-1e100, 1e100) else ""
        raise ValueError(f"{name} must be a finite number{limits}, got {value!r:.60}")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Refuse anything but one of some words."""
    known = tuple(choices)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name}={value!r:.60} is unknown: use one of {', '.join(known)}")


def check_switch(name: str, value: Any) -> None:
    """Refuse anything but True and False: an array is neither."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r:.60}")


def check_seconds(max_seconds: Any) -> None:
    """Refuse anything but a positive number of seconds, or none."""
    if max_seconds is not None:
        check_number("max_seconds", max_seconds, low=1e-3, high=1e9)


def check_workers(n_jobs: Any, batch_size: Any) -> None:
    """Refuse numbers of workers and of learning sets that make no sense; None is the default."""
    if n_jobs is not None and as_integer("n_jobs", n_jobs) == 0:
        raise ValueError("n_jobs must not be 0: use 1 for one worker, -1 for all processors")
    if batch_size is not None and as_integer("batch_size", batch_size) < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
