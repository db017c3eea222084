"""Ctrl-C while Python and R hand values to each other."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["deferred", "handed_to_r", "none_lost", "take_over"]


class _Interrupts:
    """Python's reaction to Ctrl-C: at once, or at the end of the block that defers it."""

    def __init__(self) -> None:
        self._depth = 0
        self._waiting = False

    def handle(self, _: int, frame: FrameType | None) -> None:
        if self._depth or _frees_something(frame):
            self._waiting = True
            return
        self._waiting = False
        raise KeyboardInterrupt

    @contextmanager
    def deferred(self) -> Iterator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._deliver()

    @contextmanager
    def none_lost(self) -> Iterator[None]:
        self._waiting = False
        try:
            yield
        finally:
            self._deliver()

    def _deliver(self) -> None:
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt


def _frees_something(frame: FrameType | None) -> bool:
    """Whether a frame lies inside a finalizer, where Python reports exceptions and goes on."""
    while frame is not None:
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


# SIGINT belongs to the process, and only R's own thread gets here.
_interrupts = _Interrupts()


def take_over() -> None:
    """Let `deferred` decide when Ctrl-C ends what Python does."""
    signal.signal(signal.SIGINT, _interrupts.handle)


def deferred() -> Any:
    """A context at whose end a Ctrl-C from inside it arrives.

    A KeyboardInterrupt inside rpy2 would get lost where it frees an R value, or would leave
    R's stack of protected values unbalanced.
    """
    return _interrupts.deferred()


def none_lost() -> Any:
    """A context that ends with the Ctrl-C that came while Python freed something inside it.

    Until then it arrives at the end of the next deferring block.
    """
    return _interrupts.none_lost()


@contextmanager
def handed_to_r() -> Iterator[None]:
    """Let Ctrl-C end what R does in this block, where R runs inside Python.

    R learns of it when it asks for events, which it does all the time while it evaluates. The
    handler that was there gets the signal at the end of the block.
    """
    from rpy2.rinterface_lib import openrlib

    before = signal.getsignal(signal.SIGINT)
    # Inside another such block, inside an R session, or where Ctrl-C is ignored or not Python's.
    if not callable(before) or getattr(before, "__self__", None) is _interrupts:
        with deferred():
            yield
        return
    caught: list[int] = []

    def handle(number: int, _: Any) -> None:
        caught.append(number)
        openrlib.rlib.R_interrupts_pending = 1

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        openrlib.rlib.R_interrupts_pending = 0
        if caught:
            signal.raise_signal(signal.SIGINT)
