"""Processes that tests start: the one that hangs fails its test, with what it has printed."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

__all__ = ["LIMIT", "finished"]

LIMIT = 1200
"""Seconds: more than what works takes on a slow and busy machine, less than pytest's own limit."""


def finished(
    command: Sequence[str | Path], *, limit: float = LIMIT, **options: Any
) -> subprocess.CompletedProcess[str]:
    """What a command printed and how it ended; the test fails if it has not ended within a limit.

    The command is the leader of a group, because a process that is killed leaves others behind,
    which keep its output open.
    """
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )
    with process:
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            words = " ".join(map(str, command))
            pytest.fail(f"no end within {limit:g} s: {words}\n{output}{errors}", pytrace=False)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, output, errors)
