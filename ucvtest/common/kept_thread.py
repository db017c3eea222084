"""Threads that work in the background of a call, and are kept for the next one."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

__all__ = ["kept_thread"]

_idle: list[ThreadPoolExecutor] = []

# A forked process has the executors, but not their threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)


@contextmanager
def kept_thread() -> Iterator[ThreadPoolExecutor]:
    """An executor with one thread, used by nobody else until the context ends and its tasks too.

    The C library's allocator has an area of memory for each thread. The area grows with the arrays
    of the thread, and is not given back when the thread ends. With a new thread for every call, the
    memory of a process grew by more than a megabyte a call.
    """
    try:
        thread = _idle.pop()
    except IndexError:
        thread = ThreadPoolExecutor(1)
    try:
        yield thread
    finally:
        # Tasks run in order, so this one ends after all others.
        thread.submit(int).result()
        _idle.append(thread)
