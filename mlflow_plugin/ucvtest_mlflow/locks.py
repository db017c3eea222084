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

# A link could lead out of the folder. Windows knows nothing of it.
NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def new(path: Path) -> TextIO:
    """A file that is made, its user's alone, open and locked."""
    file = _open(path, os.O_CREAT | os.O_EXCL)
    # Who comes in between looks at an empty file, and leaves it.
    _lock(file, wait=True)
    return file


def take(path: Path) -> TextIO | None:
    """The file, open and locked for this process alone; None if it has gone, or another has it."""
    try:
        file = _open(path)
    except FileNotFoundError:
        return None
    # Whoever had it may have removed it meanwhile.
    if _lock(file, wait=False) and os.fstat(file.fileno()).st_nlink:
        return file
    file.close()
    return None


def _open(path: Path, flags: int = 0) -> TextIO:
    return os.fdopen(os.open(path, os.O_RDWR | NO_LINK | flags, 0o600), "r+", encoding="utf-8")


def _lock(file: TextIO, *, wait: bool) -> bool:
    """Whether nobody else has the file; some systems, and some file systems, have no locks."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """One process, and one thread of it, at a time in this context for this folder.

    The lock lies on the folder itself and leaves nothing behind. All continue at once if there is
    no folder, or if it cannot be locked.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            if fcntl is not None:
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
                # Not by its end alone: a process forked meanwhile keeps the handle.
                stack.callback(fcntl.flock, handle, fcntl.LOCK_UN)
        yield
