"""A file of JSON lines that only grows. Each line has the hash of the one before."""

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from ucvtest.common.words import call

FORMAT = "ucvtest.Ledger"

BEGINNING = json.dumps({"kind": "open", "format": FORMAT}).encode()[:-1]
"""How a file begins whose first line is written, be it cut by a kill."""

START = "0" * 32
"""What the first line has in the place of a hash."""

PATIENCE = 60.0
"""Seconds to wait for another process, which needs a fraction of one."""

Line = dict[str, Any]


class Journal:
    """The lines of a file, while no other process can add any."""

    def __init__(self, path: Path) -> None:
        self.path = path
        content = path.read_bytes() if path.exists() else b""
        if not content.startswith(BEGINNING[: len(content)]):
            raise ValueError(
                f"{path} does not begin as a ledger's file: name another file, or put the file "
                "back as it was"
            )
        # A line without its end was cut by a kill. Nobody has heard of it.
        self._whole = content[: content.rfind(b"\n") + 1]
        self._is_cut = len(self._whole) < len(content)
        self.head = START
        self.lines = [self._read(*numbered) for numbered in enumerate(self._whole.splitlines(), 1)]

    def _read(self, number: int, text: bytes) -> Line:
        try:
            line = json.loads(text)
            own_hash = line.pop("hash")
            intact = line.pop("before") == self.head and own_hash == _hash(self.head, line)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            intact = False
        if not intact:
            raise ValueError(
                f"line {number} of {self.path} was changed, moved or taken out: put the file back "
                "as it was, or open another ledger with new rows"
            )
        self.head = own_hash
        return line

    def append(self, **line: Any) -> None:
        """Add a line, which is on the disk when this returns."""
        if self._is_cut:
            os.truncate(self.path, len(self._whole))
            self._is_cut = False
        # Whole seconds: how long a test took may depend on labels.
        line["time"] = int(time.time())
        own_hash = _hash(self.head, line)
        text = json.dumps({**line, "before": self.head, "hash": own_hash}, allow_nan=False)
        # Nobody but its owner can read it.
        with open(self.path, "ab", opener=partial(os.open, mode=0o600)) as file:
            file.write(text.encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines.append(line)
        self.head = own_hash


@contextmanager
def locked(path: Path, *, new: bool = False) -> Iterator[Journal]:
    """The journal of a file, for one process at a time; a lock ends with its process."""
    from filelock import FileLock, Timeout

    missing = f"there is no ledger {path}: open one by {call('Ledger.open')}, once for its rows"
    if not new and not path.exists():
        raise ValueError(missing)
    if path.is_dir():
        raise ValueError(f"ledger {path} is a folder: name a file in it, such as gate.jsonl")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"ledger {path}: the folder {path.parent} does not exist")
    try:
        with FileLock(f"{path}.lock", timeout=PATIENCE, mode=0o600):
            journal = Journal(path)
            if not new and not journal.lines:
                raise ValueError(missing)
            yield journal
    except Timeout:
        raise ValueError(
            f"{path} has been in use by another process for {PATIENCE:g} seconds: ask again when "
            "that process has ended"
        ) from None


def _hash(before: str, line: Line) -> str:
    text = json.dumps([before, line], sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
