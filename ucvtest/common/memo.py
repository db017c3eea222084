"""Numbers that are made from an immutable object once, and kept with the object."""

from collections.abc import Callable
from typing import Any, TypeVar

Made = TypeVar("Made")

MEMO = "_memo"
"""The attribute with what was made, by function. Fields alone are compared, copied and saved."""


def memoised(owner: Any, function: Callable[[Any], Made]) -> Made:
    """What a function makes of an object that nobody changes, computed at the first request."""
    memo: dict[Any, Made] = vars(owner).setdefault(MEMO, {})
    if function not in memo:
        memo[function] = function(owner)
    return memo[function]


def share_memoised(owner: Any, other: Any, function: Callable[[Any], Any]) -> None:
    """Give another object what the function makes of the owner, where it would make the same."""
    vars(other).setdefault(MEMO, {})[function] = memoised(owner, function)
