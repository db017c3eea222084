"""Locks on files and folders, which are the operating system's and end with the process."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

try:
    import fcntl
except ImportError:  # Windows has no such locks: two flushes at once may send a result twice.
    fcntl = None  # type: ignore[assignment]

__all__ = ["alone_in", "is_at", "open_file", "take", "wait_for"]

# A link could lead out of the folder. Windows knows nothing of it.
NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def open_file(path: Path, flags: int = 0) -> TextIO:
    """Open a file to read and write, which is its user's alone if this creates it."""
    return os.fdopen(os.open(path, os.O_RDWR | NO_LINK | flags, 0o600), "r+", encoding="utf-8")


def take(path: Path, *, where_there_are_none: bool = True) -> TextIO | None:
    """The file, open and locked for this process alone; None if it has gone, or another has it.

    Some systems, and some file systems, have no locks.
    """
    try:
        file = open_file(path)
    except FileNotFoundError:
        return None
    if _lock(file, where_there_are_none=where_there_are_none) and is_at(path, file):
        return file
    file.close()
    return None


def _lock(file: TextIO, *, where_there_are_none: bool) -> bool:
    if fcntl is None:
        return where_there_are_none
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return where_there_are_none
    return True


def wait_for(file: TextIO) -> None:
    """Lock an open file, once nobody else has it."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)


def is_at(path: Path, file: TextIO) -> bool:
    """Whether an open file was neither removed nor replaced before it was locked."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
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
