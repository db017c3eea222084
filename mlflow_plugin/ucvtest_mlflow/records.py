"""What is to be logged and where, as a value that survives on disk until it has arrived."""

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ucvtest import TestResult

__all__ = ["Record", "Spool", "default_spool_dir"]

FORMAT = "ucvtest_mlflow.Record"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class Record:
    """A result on its way to MLflow.

    Parameters
    ----------
    result : TestResult
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

    result: TestResult
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
        return cls(**{**data, "result": TestResult.from_dict(data["result"])})


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

    def path(self, record: Record) -> Path:
        """The file of a record."""
        return self.folder / f"{record.id}.json"

    def keep(self, record: Record) -> None:
        """Write a record, or write it anew."""
        path = self.path(record)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(record.to_json(), encoding="utf-8")
        # A reader sees the old file or the new one, never half of one.
        unfinished.replace(path)

    def remove(self, record: Record) -> None:
        """Forget a record that has arrived."""
        self.path(record).unlink(missing_ok=True)

    def files(self) -> Iterator[Path]:
        """What is kept, the oldest first."""
        return iter(sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime))


def default_spool_dir() -> Path:
    """The user's folder for state, where results wait unless told otherwise."""
    state: Any = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "ucvtest" / "mlflow_spool"
