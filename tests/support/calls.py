"""What a call passes through: functions and files of the package, counted by a profile."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import ucvtest
from ucvtest.inference.base import HypothesisTest

PACKAGE = str(Path(ucvtest.__file__).parent)


@dataclass
class Calls:
    """Functions that were called, and calls between the class files of one test."""

    functions: set[CodeType] = field(default_factory=set)
    between_files: list[str] = field(default_factory=list)

    @property
    def files(self) -> set[str]:
        """The files that the functions are in."""
        return {code.co_filename for code in self.functions}

    def note(self, frame: FrameType) -> None:
        """Count the call of a function of the package."""
        code, caller = frame.f_code, frame.f_back
        if not code.co_filename.startswith(PACKAGE):
            return
        # A comprehension is a part of the function that it stands in.
        if not code.co_name.startswith("<"):
            self.functions.add(code)
        # What a dataclass generates stands in no file.
        if caller is None or caller.f_code.co_filename in ("<string>", code.co_filename):
            return
        called, calling = _object_of(frame), _object_of(caller)
        if called is not None and calling is not None and _is_one(called, calling):
            self.between_files.append(f"{caller.f_code.co_name} -> {code.co_name}")


def _object_of(frame: FrameType) -> Any:
    """What a method was called on: an object, or its class."""
    for name in ("self", "cls"):
        if name in frame.f_code.co_varnames[:1]:
            return frame.f_locals.get(name)
    return None


def _is_one(called: Any, calling: Any) -> bool:
    """Whether both are one test, or a test and its class."""
    cls = called if isinstance(called, type) else type(called)
    same = called is calling or called is type(calling) or type(called) is calling
    return same and issubclass(cls, HypothesisTest)


@contextmanager
def counted() -> Iterator[Calls]:
    """Count the calls in this thread until the context ends."""
    calls = Calls()

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            calls.note(frame)

    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def calls_of(function: Callable[[], Any]) -> Calls:
    """The calls of a function, after it was called once: imports and compilations do not count."""
    function()
    with counted() as calls:
        function()
    return calls
