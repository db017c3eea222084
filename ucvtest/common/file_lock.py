"""A file that one call at a time may write, in this process or another."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from ucvtest.common.exceptions import warn_caller


class InUseError(Exception):
    """Another call has the file."""


class FileLock:
    """The operating system's lock on a file next to the one that is written.

    The lock ends with its process, however the process ends. The lock file then means nothing, and
    the next call takes it over.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}.lock")
        self._handle: int | None = None

    def acquire(self) -> None:
        """Lock the file, at once or not at all.

        Raises
        ------
        InUseError
            If another call has it.
        OSError
            If the lock file cannot be made.
        """
        while self._handle is None:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                if not _lock(handle):
                    warn_caller(
                        f"{self._path.parent} is on a file system without locks, so two calls at "
                        "once would mix their output: name a file on another file system, or run "
                        "one call at a time"
                    )
                elif not _is_at(self._path, handle):
                    # The previous owner has just removed it.
                    os.close(handle)
                    continue
            except BaseException:
                os.close(handle)
                raise
            self._handle = handle

    def release(self) -> None:
        """Release the lock; no file is left behind."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        # Windows does not remove a file that is open.
        with suppress(OSError):
            self._path.unlink()
        os.close(handle)
        with suppress(OSError):
            if sys.platform == "win32":
                self._path.unlink()


def _is_at(path: Path, handle: int) -> bool:
    """Whether an open file was neither removed nor replaced before it was locked."""
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> bool:
        """Lock an open file; whether there are locks."""
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise InUseError from error
        return True

else:
    import fcntl

    def _lock(handle: int) -> bool:
        """Lock an open file; whether there are locks."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InUseError from error
        except OSError:
            return False
        return True
