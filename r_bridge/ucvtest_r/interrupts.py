"""Ctrl-C while Python and R hand values to each other."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


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
        """A context at whose end a Ctrl-C from inside it arrives.

        A KeyboardInterrupt inside rpy2 would get lost where it frees an R value, or would leave
        R's stack of protected values unbalanced.
        """
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if self._depth == 0:
                self._deliver()

    @contextmanager
    def delivered_by_the_end(self) -> Iterator[None]:
        """A context that a Ctrl-C ends, even one that came while Python freed something.

        What a finalizer raises, or another function that Python calls when memory is freed, is
        reported and forgotten. Such a Ctrl-C arrives at the end of the next deferring block, or at
        the end of this one: where nothing defers, the work of this block is done first.
        """
        if self._depth == 0:
            # One that came after the end of the last call is late; the outer call's is not.
            self._waiting = False
        report = sys.unraisablehook

        def keep(ignored: Any) -> None:
            if ignored.exc_type is KeyboardInterrupt:
                self._waiting = True
            else:
                report(ignored)

        sys.unraisablehook = keep
        try:
            yield
        finally:
            sys.unraisablehook = report
            self._deliver()

    def _deliver(self) -> None:
        if self._waiting:
            self._waiting = False
            raise KeyboardInterrupt


# SIGINT belongs to the process, and only R's own thread gets here.
_interrupts = _Interrupts()


def take_over() -> None:
    """Let `deferred` decide when Ctrl-C ends what Python does."""
    signal.signal(signal.SIGINT, _interrupts.handle)


deferred = _interrupts.deferred
delivered_by_the_end = _interrupts.delivered_by_the_end


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
