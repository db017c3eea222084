"""What benchmarks share: versions, seconds of calls in turn, processes of their own, tables."""

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

import jax
import numpy as np
import sklearn

import ucvtest

NO_CACHE = {"JAX_ENABLE_COMPILATION_CACHE": "false"}
"""Settings of a process that compiles everything itself."""


def versions() -> str:
    """One line on versions and machine."""
    return (
        f"ucvtest {ucvtest.__version__}, jax {jax.__version__}, scikit-learn "
        f"{sklearn.__version__}, NumPy {np.__version__}, Python {platform.python_version()}; "
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )


def options(doc: str | None, quick: str) -> argparse.ArgumentParser:
    """A parser that knows `--quick`; `quick` names the smaller sizes."""
    parser = argparse.ArgumentParser(description=str(doc).partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=quick)
    return parser


def show(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table, row by row as they come."""
    print(versions())
    print(" | ".join(columns))
    for row in rows:
        print(" | ".join(map(str, row)), flush=True)


def seconds(work: Callable[[], Any]) -> np.ndarray:
    """Elapsed time, and processor time of all cores."""
    start = np.array([time.perf_counter(), time.process_time()])
    work()
    return np.array([time.perf_counter(), time.process_time()]) - start


def in_turn(*works: Callable[[], Any], repeats: int) -> np.ndarray:
    """The least `seconds` of each, (works, 2): in turn, so that all meet the same machine."""
    return np.min([[seconds(work) for work in works] for _ in range(repeats)], axis=0)


def alone(function: Callable[..., Any], *arguments: Any, **settings: str) -> Any:
    """What a function of a script returns in a process of its own, with these settings.

    Raises
    ------
    concurrent.futures.process.BrokenProcessPool
        If the process ends before.
    """
    with (
        mock.patch.dict(os.environ, settings),
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process,
    ):
        return process.submit(function, *arguments).result()


def memory(name: str) -> float:
    """Of this process in MB: "VmRSS", or the largest so far, "VmHWM"."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(dict(line.split(":", 1) for line in lines)[name].split()[0]) / 1024
