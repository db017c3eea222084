"""What messages say differently in Python, in R and in the shell.

A message is written once, in words that are right everywhere. An argument, a call, a value or the
number of a row goes through the functions of this module, which write it for the door that the
user came through.

Examples
--------
>>> from ucvtest.common.words import arg, call, place
>>> f"split {place(0)} has one class: use {call('designs.KFold', '5')}, or {arg('loss', 'log')}"
"split 0 has one class: use uv.designs.KFold(5), or loss='log'"
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar


class Door:
    """The words of Python. R and the shell have subclasses of their own."""

    first: ClassVar[int] = 0
    """The number of the first row."""

    terms: Mapping[str, str] = MappingProxyType({})
    """What stands in the place of words that only Python's packages have."""

    def arg(self, name: str, *values: Any) -> str:
        """An argument, with the values that are meant."""
        return f"{name}={alternatives(map(self.code, values))}" if values else name

    def has(self, name: str) -> bool:
        """Whether users of this door can pass the argument."""
        return bool(name)

    def code(self, value: Any) -> str:
        """A value as it is typed."""
        value = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
        return f"{value:g}" if isinstance(value, float) else f"{value!r:.60}"

    def call(self, name: str, *arguments: str) -> str:
        """A class or function of the package, or a call of it."""
        return f"uv.{name}({', '.join(arguments)})" if arguments else f"uv.{name}"

    def item(self, name: str, key: Any) -> str:
        """One of the columns that an argument has by name."""
        return f"{name}[{key!r:.60}]"

    def excerpt(self, value: Any) -> str:
        """The beginning of a value that a user passed."""
        return f"{value!r:.60}"

    def cause_of(self, error: BaseException) -> str:
        """What an error of a user's own function says."""
        return f"{type(error).__name__}: {error}"


_doors = [Door()]
"""The last one is open. It is open in all threads, because fits run in threads of their own."""


@contextmanager
def through(door: Door) -> Iterator[None]:
    """Write messages for another door."""
    _doors.append(door)
    try:
        yield
    finally:
        _doors.pop()


def same_door() -> Callable[[], AbstractContextManager[None]]:
    """The context in which a worker process writes for the door that is open here."""
    return partial(through, _doors[-1])


def alternatives(words: Iterable[str]) -> str:
    """Words as in ``"'a', 'b' or 'c'"``."""
    *first_words, last = words
    return f"{', '.join(first_words)} or {last}" if first_words else last


def arg(name: str, *values: Any) -> str:
    """An argument, as ``learn_size``, or with values, as ``loss='log' or 'brier'``."""
    return _doors[-1].arg(name, *values)


def has(name: str) -> bool:
    """Whether the argument can be passed, so that it is a remedy."""
    return _doors[-1].has(name)


def call(name: str, *arguments: str) -> str:
    """A class or function of the package, as ``uv.designs.KFold``, or a call of it."""
    return _doors[-1].call(name, *arguments)


def item(name: str, key: Any) -> str:
    """One of the columns that an argument has by name, as ``predictions['a']``."""
    return _doors[-1].item(name, key)


def excerpt(value: Any) -> str:
    """The beginning of a value that a user passed."""
    return _doors[-1].excerpt(value)


def cause_of(error: BaseException) -> str:
    """What an error of a user's own function says."""
    return _doors[-1].cause_of(error)


def place(index: Any) -> int:
    """The number of a row, column, split or repeat, which Python counts from 0."""
    return int(index) + _doors[-1].first


def term(words: str) -> str:
    """Words that only Python's packages have, such as ``a scikit-learn pipeline``."""
    return _doors[-1].terms.get(words, words)
