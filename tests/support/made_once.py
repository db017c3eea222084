"""What takes seconds to make, and serves all processes of a run of the tests."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

try:
    import fcntl
except ImportError:  # Windows: each process makes its own.
    fcntl = None  # type: ignore[assignment]

__all__ = ["made_once"]


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder that `make` fills, for whichever process of the run asks first; others wait."""
    if fcntl is None or "PYTEST_XDIST_WORKER" not in os.environ:
        folder = factory.mktemp(name)
        make(folder)
        return folder
    # The folders of the processes of one run are in one folder.
    root = factory.getbasetemp().parent
    folder, complete = root / name, root / f"{name}.complete"
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            # What another process began, and could not end.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            complete.touch()
    return folder
