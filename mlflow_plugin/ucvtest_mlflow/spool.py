"""A private folder that keeps records until they have arrived; each is sent by one at a time."""

import os
import stat
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from ucvtest_mlflow import locks
from ucvtest_mlflow.records import Record

SUFFIX = ".json"


class SpooledRecord(AbstractContextManager["SpooledRecord"]):
    """A record on disk that nobody else may send; a context that ends that right.

    The lock lies on the file itself, so that it ends with the process, however that ends, and
    leaves nothing behind.
    """

    def __init__(
        self, record: Record, path: Path, file: TextIO, *, sent_before: bool = False
    ) -> None:
        self.record, self.path = record, path
        # Whether an earlier attempt to send it may have left something at the server.
        self.sent_before = sent_before
        self._file = file

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the record to whoever sends it next."""
        with suppress(OSError):  # of a full disk, which has refused the key before
            self._file.close()

    def note_key(self, key: str) -> None:
        """Add the key that the record goes to, which a second attempt must not change.

        Records on their way do not stop if the disk refuses.
        """
        with suppress(OSError):
            _write(self._file, Record.noted(key))

    def remove(self) -> None:
        """Forget the record, which has arrived; if it stays, that is seen before it is sent."""
        with suppress(OSError):
            self.path.unlink()


@dataclass(frozen=True)
class Spool:
    """The folder, which is its user's alone: tracking addresses may contain passwords."""

    folder: Path

    def open(self) -> None:
        """Create the folder, or make it private.

        Raises
        ------
        ValueError
            If it cannot be written to, belongs to another user, or is open to others and contains
            more than records.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_private()
            writable = os.access(self.folder, os.W_OK | os.X_OK)
        except OSError:
            writable = False
        if not writable:
            raise ValueError(
                f"spool_dir {self.folder} cannot be written to: name another folder in spool_dir"
            )

    def keep(self, record: Record) -> SpooledRecord:
        """Write a record that the caller is about to send."""
        self.open()
        path = self.folder / f"{record.id}{SUFFIX}"
        with ExitStack() as stack:
            file = stack.enter_context(locks.new(path))
            stack.callback(path.unlink)
            _write(file, record.to_json())
            _sync(self.folder)
            stack.pop_all()
        return SpooledRecord(record, path, file)

    def claim(self, path: Path) -> SpooledRecord | None:
        """Take a file in order to send it; None if it has gone, or if another is sending it.

        Raises
        ------
        ValueError
            If the file contains no record, or is not this user's.
        """
        file = locks.take(path)
        if file is None:
            return None
        with ExitStack() as stack:
            stack.enter_context(file)
            if not _is_mine(os.fstat(file.fileno())):
                raise ValueError(f"{path.name} belongs to another user, and is not sent")
            record = Record.from_json(file.read())
            stack.pop_all()
        return SpooledRecord(record, path, file, sent_before=True)

    def files(self) -> list[Path]:
        """The kept records, the oldest first.

        Raises
        ------
        ValueError
            As `open` does; a folder that is not there keeps nothing.
        """
        if self.folder.is_dir():
            self.open()
        return sorted(self.folder.glob(f"*{SUFFIX}"), key=lambda path: (_written_at(path), path))

    def _make_private(self) -> None:
        found = self.folder.stat()
        if not _is_mine(found):
            raise ValueError(
                f"spool_dir {self.folder} belongs to another user, who could read and change its "
                "files: name your own folder"
            )
        if os.name != "posix" or not found.st_mode & 0o077:
            return
        if all(path.suffix == SUFFIX for path in self.folder.iterdir()):
            self.folder.chmod(0o700)
            found = self.folder.stat()
        if found.st_mode & 0o077:
            raise ValueError(
                f"spool_dir {self.folder} is open to other users (mode "
                f"{stat.S_IMODE(found.st_mode):o}): name a folder for records alone, which is "
                f"made private, or close this one by chmod 700"
            )


def _is_mine(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or found.st_uid == os.geteuid()


def _written_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # sent by another process in this moment
        return 0.0


def _write(file: TextIO, text: str) -> None:
    file.write(text)
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """See to it that the name of a file outlives a power cut, where folders can be synced."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def default_spool_dir() -> Path:
    """The user's folder for state, where results wait unless told otherwise."""
    state: Any = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "ucvtest" / "mlflow_spool"
