"""What is to be logged and where, as a value that survives on disk until it has arrived."""

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from ucvtest import TestResult

if TYPE_CHECKING:
    from ucvtest import Comparison

try:
    import fcntl
except ImportError:  # Windows has no such locks: two flushes at once may send a result twice.
    fcntl = None  # type: ignore[assignment]

__all__ = ["Kept", "Outcome", "Record", "Spool", "alone_in", "default_spool_dir", "restored"]

FORMAT = "ucvtest_mlflow.Record"
FORMAT_VERSION = 1

Outcome: TypeAlias = "TestResult | Comparison"
"""What is logged."""


def restored(data: Mapping[str, Any]) -> Outcome:
    """The result or comparison that a dictionary was made of."""
    if data.get("format") != "ucvtest.Comparison":
        return TestResult.from_dict(data)
    # Here: a comparison loads JAX, which MLflow's evaluator does without.
    from ucvtest import Comparison

    return Comparison.from_dict(data)


@dataclass(frozen=True)
class Record:
    """A result on its way to MLflow.

    Parameters
    ----------
    result : TestResult or Comparison
    tracking_uri : str
        The server or store that was current when the test ended.
    run_id : str, optional
        Run to log into; None asks for a new one.
    own_run : bool
        Whether `run_id` was created for this result, and must be ended after it.
    parent_run_id, experiment_id, experiment_name : str, optional
        Where a new run belongs.
    dataset : mapping, optional
        Name, digest, source, schema and profile of the data, as MLflow describes them.
    log_plots, log_tables : bool
    id : str
        Tells a result that has arrived from one that has not.
    """

    result: Outcome
    tracking_uri: str
    run_id: str | None = None
    own_run: bool = False
    parent_run_id: str | None = None
    experiment_id: str | None = None
    experiment_name: str | None = None
    dataset: Mapping[str, str] | None = None
    log_plots: bool = True
    log_tables: bool = True
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    def to_json(self) -> str:
        """The record as strict JSON."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["result"] = self.result.to_dict()
        document = {"format": FORMAT, "version": FORMAT_VERSION, **values}
        return json.dumps(document, allow_nan=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """The record that `to_json` was called on.

        Raises
        ------
        ValueError
            If the text was not written by `to_json`, or by a newer version of it.
        """
        data = json.loads(text)
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise ValueError("the file was not written by ucvtest's MLflow logging")
        version = data.pop("version")
        if version > FORMAT_VERSION:
            raise ValueError(
                f"the file has format version {version}, this ucvtest reads up to "
                f"{FORMAT_VERSION}: upgrade ucvtest"
            )
        return cls(**{**data, "result": restored(data["result"])})


class Kept:
    """A record on disk that nobody else may send; a context that ends that right.

    The lock is the operating system's and lies on the file itself, so that it ends with the
    process, however that ends, and leaves nothing behind.

    Parameters
    ----------
    record : Record
    path : path
    handle : int
        Descriptor of the locked file.
    """

    def __init__(self, record: Record, path: Path, handle: int) -> None:
        self.record, self.path = record, path
        self._handle = handle

    def __enter__(self) -> "Kept":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._handle)

    def renew(self, record: Record) -> None:
        """Keep the record in this form from now on."""
        handle = _write_locked(self.path, record)
        os.close(self._handle)
        self.record, self._handle = record, handle

    def remove(self) -> None:
        """Forget the record, which has arrived."""
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Spool:
    """A folder that keeps records until they have arrived."""

    folder: Path

    def open(self) -> None:
        """Create the folder; tracking addresses may hold passwords, so it is the user's alone.

        Raises
        ------
        ValueError
            If it cannot be written to.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            writable = os.access(self.folder, os.W_OK | os.X_OK)
        except OSError:
            writable = False
        if not writable:
            raise ValueError(
                f"spool_dir {self.folder} cannot be written to: name another folder in spool_dir"
            )

    def keep(self, record: Record) -> Kept:
        """Write a record that the caller is about to send."""
        path = self.folder / f"{record.id}.json"
        return Kept(record, path, _write_locked(path, record))

    def claim(self, path: Path) -> Kept | None:
        """Take a file in order to send it; None if it has gone, or if another is sending it.

        Raises
        ------
        ValueError
            If the file holds no record.
        """
        try:
            handle = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return None
        try:
            if _lock(handle) and _is_at(path, handle):
                return Kept(Record.from_json(path.read_text(encoding="utf-8")), path, handle)
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        return None

    def files(self) -> Iterator[Path]:
        """What is kept, the oldest first."""
        found = [(_age(path), path) for path in self.folder.glob("*.json")]
        return iter([path for _, path in sorted(found)])


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # sent by another process in this moment
        return 0.0


def _write_locked(path: Path, record: Record) -> int:
    """Write a record; the descriptor that is returned holds the lock on it."""
    unfinished = path.with_suffix(".part")
    handle = os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        _lock(handle)
        with open(handle, "w", encoding="utf-8", closefd=False) as file:
            file.write(record.to_json())
        # A reader sees the old file or the new one, never half of one and never an unlocked one.
        unfinished.replace(path)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _lock(handle: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


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


def _is_at(path: Path, handle: int) -> bool:
    """Whether the file was neither removed nor replaced before it was locked."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(handle))
    except FileNotFoundError:
        return False


def default_spool_dir() -> Path:
    """The user's folder for state, where results wait unless told otherwise."""
    state: Any = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "ucvtest" / "mlflow_spool"
