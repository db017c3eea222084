"""Ctrl-C while Python and R hand values to each other."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["deferred", "handed_to_r", "take_over"]


class _Interrupts:
    """Python's reaction to Ctrl-C: at once, or at the end of the block that defers it."""

    def __init__(self) -> None:
        self._depth = 0
        self._waiting = False

    def handle(self, *_: Any) -> None:
        if self._depth == 0:
            raise KeyboardInterrupt
        self._waiting = True

    @contextmanager
    def deferred(self) -> Iterator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0 and self._waiting:
                self._waiting = False
                raise KeyboardInterrupt


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
