"""Records on their way to MLflow, and the private folder that keeps them until they have arrived.

A record is one file. Whoever sends it has renamed it to a name that ends in that process, so that
it is sent by one at a time; the claim of a process that has ended counts no more.
"""

import json
import os
import platform
import stat
import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ucvtest

FORMAT = "ucvtest_mlflow.Record"
FORMAT_VERSION = 1
SUFFIX = ".json"
CLAIM_SECONDS = 3600.0
"""No attempt takes so long: a claim that is older was left by a machine that has gone."""


def restored(data: Mapping[str, Any]) -> Any:
    """The result, comparison, selection or plan that a dictionary was made of."""
    kind = str(data.get("format")).removeprefix("ucvtest.")
    # Looked up here: all except results load JAX, which most records do not need.
    known = ("ColumnGains", "Comparison", "ModelSelection", "SamplePlan")
    return getattr(ucvtest, kind if kind in known else "TestResult").from_dict(data)


@dataclass(frozen=True)
class Record:
    """A result on its way to MLflow.

    Parameters
    ----------
    result : TestResult, Comparison, ModelSelection or SamplePlan
    tracking_uri : str
        The server or store that was current when the test ended.
    run_id : str, optional
        Run to log into; None asks for a new one, which is found again by `id`.
    parent_run_id, experiment_id, experiment_name : str, optional
        Where a new run belongs.
    dataset : mapping, optional
        Name, digest, source, schema and profile of the data, as MLflow describes them.
    words : mapping of str to str
        Further tags, such as the compared models.
    log_plots, log_tables : bool
    id : str
        Distinguishes a result that has arrived from others.
    created : int
        When the test ended, in milliseconds since 1970. Numbers that are logged twice with the
        same time are one number to MLflow.
    """

    result: Any
    tracking_uri: str
    run_id: str | None = None
    parent_run_id: str | None = None
    experiment_id: str | None = None
    experiment_name: str | None = None
    dataset: Mapping[str, str] | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    log_plots: bool = True
    log_tables: bool = True
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: int = field(default_factory=lambda: int(time.time() * 1000))

    def to_json(self) -> str:
        """The record as strict JSON."""
        values = {**vars(self), "result": self.result.to_dict()}
        document = {"format": FORMAT, "version": FORMAT_VERSION, **values}
        return json.dumps(document, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """The record that `to_json` was called on.

        Raises
        ------
        ValueError
            If the text was not written by `to_json`, not to its end, or in another version of its
            format.
        """
        try:
            data = json.loads(text)
        except ValueError:
            raise ValueError("the file ends too early: its writer was killed, delete it") from None
        if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
            raise ValueError("the file was not written by ucvtest's MLflow logging")
        version = data.pop("version", None)
        if version != FORMAT_VERSION:
            raise ValueError(
                f"the file has format version {version}, this ucvtest reads version "
                f"{FORMAT_VERSION}: upgrade ucvtest"
            )
        return cls(**{**data, "result": restored(data["result"])})


class SpooledRecord(AbstractContextManager["SpooledRecord"]):
    """A record on disk that nobody else may send, in a context that sends it.

    The end of the context removes the file; an error in it leaves the file to the next attempt.
    """

    def __init__(self, record: Record, path: Path, *, sent_before: bool = False) -> None:
        self.record, self.path = record, path
        # Whether an earlier attempt to send it may have left something at the server.
        self.sent_before = sent_before

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            with suppress(OSError):
                self.path.unlink()
        # Also where it cannot be removed: that it has arrived is seen before it is sent again.
        with suppress(OSError):
            self.path.rename(home(self.path))


@dataclass(frozen=True)
class Spool:
    """The folder. Tracking addresses may contain passwords: files are their user's alone."""

    folder: Path

    def open(self) -> None:
        """Create the folder.

        Raises
        ------
        ValueError
            If it cannot be written to.
        """
        with suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self.folder.is_dir() or not os.access(self.folder, os.W_OK | os.X_OK):
            raise ValueError(
                f"spool_dir {self.folder} cannot be written to: name another folder in spool_dir"
            )

    def keep(self, record: Record) -> SpooledRecord:
        """Write a record that the caller is about to send."""
        self.open()
        path, text = _claimed(self.folder / f"{record.id}{SUFFIX}"), record.to_json()
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            self._name_to_disk()
        except OSError:
            path.unlink(missing_ok=True)
            raise
        return SpooledRecord(record, path)

    def _name_to_disk(self) -> None:
        """Have the name of a new file on the disk too, which a power cut would take with it."""
        with suppress(OSError):  # Some systems cannot open a folder.
            handle = os.open(self.folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def claim(self, path: Path) -> SpooledRecord | None:
        """Take a file in order to send it; None if it has gone, or if another is sending it.

        Raises
        ------
        ValueError
            If the file contains no record, or is not this user's.
        """
        taken, sender = _claimed(home(path)), path.name.partition(f"{SUFFIX}.")[2]
        try:
            found = path.lstat()
            if sender and time.time() - found.st_ctime < CLAIM_SECONDS and _may_live(sender):
                return None
            path.rename(taken)
        except FileNotFoundError:
            return None
        try:
            mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
            if not mine or not stat.S_ISREG(found.st_mode):
                raise ValueError("the file is a link, or belongs to another user")
            record = Record.from_json(taken.read_text(encoding="utf-8"))
        except BaseException:
            taken.rename(home(path))
            raise
        return SpooledRecord(record, taken, sent_before=True)

    def files(self) -> list[Path]:
        """The kept records, the oldest first."""
        with suppress(FileNotFoundError):  # of one that another process has sent in this moment
            return sorted(self.folder.glob(f"*{SUFFIX}*"), key=lambda path: path.lstat().st_mtime)
        return sorted(self.folder.glob(f"*{SUFFIX}*"))


def home(path: Path) -> Path:
    """The name of a record that nobody is sending."""
    return path.with_name(path.name.partition(SUFFIX)[0] + SUFFIX)


def _claimed(path: Path) -> Path:
    """A name that says who is sending the record; another one for each attempt."""
    sender = f"{uuid.uuid4().hex[:8]}.{os.getpid()}@{platform.node()}"
    return path.with_name(f"{path.name}.{sender}")


def _may_live(sender: str) -> bool:
    """Whether a process may still run; one of another machine may."""
    process, _, host = sender.partition("@")
    if host == platform.node() and os.name == "posix":
        try:
            os.kill(int(process.rpartition(".")[2]), 0)
        except ProcessLookupError:
            return False
        except (OSError, ValueError):
            return True
    return True


def default_spool_dir() -> Path:
    """The user's folder for state, where results wait unless told otherwise."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "ucvtest" / "mlflow_spool"
