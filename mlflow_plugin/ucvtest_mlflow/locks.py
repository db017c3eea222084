"""Locks on files and folders, which are the operating system's and end with the process."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks: two flushes at once may send a result twice.
    fcntl = None  # type: ignore[assignment]

__all__ = ["alone_in", "is_at", "lock", "wait_for"]


def lock(handle: int, *, where_there_are_none: bool = True) -> bool:
    """Whether an open file is now locked for this process alone.

    Some systems, and some file systems, have no locks.
    """
    if fcntl is None:
        return where_there_are_none
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return where_there_are_none
    return True


def wait_for(handle: int) -> None:
    """Lock an open file, once nobody else has it."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)


def is_at(path: Path, handle: int) -> bool:
    """Whether an open file was neither removed nor replaced before it was locked."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """One process, and one thread of it, at a time in this context for this folder.

    The lock lies on the folder itself and leaves nothing behind. All go on at once where there
    is no folder, or where it cannot be locked.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            if fcntl is not None:
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
                # Not by its end alone: a process that was forked meanwhile holds on to the handle.
                stack.callback(fcntl.flock, handle, fcntl.LOCK_UN)
        yield
