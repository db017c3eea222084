"""Threads that work in the background of a call, and are kept for the next one."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

MOST_IDLE = 4
"""Threads that are kept: those of two calls at the same time."""

_idle: dict[int, list[ThreadPoolExecutor]] = {}
"""By process: a forked one has the executors, but not their threads."""


@contextmanager
def kept_thread() -> Iterator[ThreadPoolExecutor]:
    """An executor with one thread, for this context alone; leaving it waits for its tasks.

    The C library's allocator has an area of memory for each thread. The area grows with the arrays
    of the thread, and is not given back when the thread ends. With a new thread for every call, the
    memory of a process grew by more than a megabyte a call.
    """
    process = os.getpid()
    idle = _idle.setdefault(process, [])
    try:
        thread = idle.pop()
    except IndexError:
        thread = ThreadPoolExecutor(1)
    try:
        yield thread
    finally:
        # A process that was forked within the context would wait for ever.
        if os.getpid() == process:
            # Tasks run in order, so this one ends after all others.
            thread.submit(int).result()
            if len(idle) < MOST_IDLE:
                idle.append(thread)
            else:
                thread.shutdown(wait=False)
