"""The surroundings of every fit: a generator, workers, threads, a progress bar."""

import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import check_workers, is_integer
from ucvtest.common.words import arg, excerpt

SHOW_SECONDS = 1.0
"""Least seconds between two computations of the answer so far; each takes milliseconds."""

CLOCK = time.monotonic
"""The time of the first fits predicts the duration of all."""

LINE_SECONDS = 60.0
"""Seconds between two lines about progress, if they are requested and there is no terminal."""

MOST_IDLE = 4
"""Threads that are kept: those of two calls at the same time."""

_idle: dict[int, list[ThreadPoolExecutor]] = {}
"""By process: a forked one has the executors, but not their threads."""


def make_generator(rng: Any) -> tuple[np.random.Generator, int | None]:
    """The generator that ``rng=None``, an integer or a Generator stand for, and its seed.

    If no seed is given, one is drawn from the operating system, so that results can be repeated.
    The seed of a Generator is not known.
    """
    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        rng = int(np.random.SeedSequence().generate_state(1)[0])
    if not is_integer(rng):
        raise ValueError(
            f"{arg('rng')} must be {excerpt(None)}, an integer or a numpy Generator, got "
            f"{type(rng).__name__}"
        )
    if rng < 0:
        raise ValueError(f"{arg('rng')} must not be negative, got {rng}")
    return np.random.default_rng(int(rng)), int(rng)


_MAKE_BAR: ContextVar[Callable[[str], Any] | None] = ContextVar("make_bar", default=None)


def bars_by(make_bar: Callable[[str], Any] | None) -> AbstractContextManager[None]:
    """Show progress by bars of another front, in the place of tqdm's.

    Parameters
    ----------
    make_bar : callable or None
        Called with a description; returns a bar with the attributes ``n``, ``total`` and
        ``disable`` and the methods ``update(n)`` and ``close()``. With None bars are tqdm's.

    Raises
    ------
    ValueError
        If `make_bar` is neither.

    Examples
    --------
    >>> import ucvtest as uv
    >>> class Bar:
    ...     n, total, disable = 0, 0, True
    ...     def update(self, n):
    ...         self.n += n
    ...     def close(self):
    ...         print(self.n, "fits")
    >>> X, y = [[0], [1], [2], [3]] * 5, [0, 0, 1, 1] * 5
    >>> with uv.hooks.bars_by(lambda description: Bar()):
    ...     result = uv.CorrectedTTest(X, y, "lda", design=5).fit(rng=0)
    5 fits
    """
    if make_bar is not None and not callable(make_bar):
        raise ValueError(f"make_bar must be a function of a description, got {make_bar!r:.60}")
    return _bars_by(make_bar)


@contextmanager
def _bars_by(make_bar: Callable[[str], Any] | None) -> Iterator[None]:
    token = _MAKE_BAR.set(make_bar)
    try:
        yield
    finally:
        _MAKE_BAR.reset(token)


@contextmanager
def progress_bar(progress: bool | None, description: str, unit: str) -> Iterator[Any]:
    """A tqdm bar that appears after three seconds; by default on terminals and in notebooks only.

    If it is requested where there is no terminal, as in a batch job, it prints a line a minute.
    """
    make_bar = _MAKE_BAR.get()
    if make_bar is not None and progress is not False:
        with closing(make_bar(description)) as bar:
            yield bar
        return
    # The output of notebooks is not a terminal but shows bars nevertheless.
    notebook = "ipykernel" in sys.modules and find_spec("ipywidgets") is not None
    shows_bars = notebook or not hasattr(sys.stderr, "isatty") or sys.stderr.isatty()
    if not (shows_bars if progress is None else progress):
        yield NoBar()
        return
    tqdm = import_module("tqdm.auto" if notebook else "tqdm").tqdm
    options: dict[str, Any] = {} if progress else {"delay": 3.0}
    if not shows_bars:
        options = {"file": _Lines(sys.stderr), "mininterval": LINE_SECONDS}
    with tqdm(desc=description, unit=unit, **options) as bar:
        yield bar


class _Lines:
    """A stream on which every state of a bar gets a line of its own."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, message: str) -> None:
        """Write the text, if there is any, as one line."""
        line = message.strip("\r\n ")
        if line:
            self._stream.write(f"{line}\n")

    def flush(self) -> None:
        """Flush the lines so far."""
        self._stream.flush()


def row_batches(
    n_rows: int, cells: int, most_cells: int, most_rows: int | None = None
) -> Iterator[slice]:
    """Slices of rows, so that memory stays bounded if each row has this many cells."""
    size = max(1, most_cells // cells)
    size = size if most_rows is None else min(size, most_rows)
    for first_row in range(0, n_rows, size):
        yield slice(first_row, min(first_row + size, n_rows))


@dataclass(eq=False)
class Progress:
    """The progress of a call: how many fits there were and how many there will be."""

    checkpoint: Any = None
    """The checkpoint, which keeps finished work; None if none is wanted."""
    known: Any = None
    """Predictions that several tests of a call share if there is no checkpoint."""
    clock: Callable[[], float] = field(default_factory=lambda: CLOCK)
    """Tests pass their own."""
    n_fits: int = 0
    total: int | None = None
    """The number of fits to come, or an upper bound; None if it is not known."""
    at_most: bool = False
    """Whether there may be fewer."""
    foreseen: int | None = None
    """The expected number of fits if only an upper bound is known."""
    later: int = 0
    """The number of fits in further steps of the call."""
    remedies: str | None = None
    """How the call takes less time; None if in the ways of every test."""
    duration_announced: bool = False
    """Whether the user was warned that the fits will take long."""
    last_shown: float = -math.inf
    """When an answer so far was shown last."""

    @property
    def known_fits(self) -> Any:
        """Where predictions are looked up before a learner is fitted; None if nowhere."""
        return self.known if self.checkpoint is None else self.checkpoint


class NoBar:
    """Replaces the progress bar if nothing takes long enough to need one."""

    n = total = 0
    disable = True

    def update(self, n: int = 1) -> None:
        """Show nothing."""


@dataclass(frozen=True)
class Execution:
    """How fits are run: settings that decide the draws, and settings of speed and memory."""

    generator: np.random.Generator
    seed: int | None
    n_jobs: int | None = None
    batch_size: int | None = None
    bar: Any = field(default_factory=NoBar)
    progress: Progress = field(default_factory=Progress)

    def announce_total(self, n_fits: int, *, at_most: bool = False) -> None:
        """Set the number of fits to come, so that the time left can be predicted."""
        progress = self.progress
        progress.total, progress.at_most = progress.n_fits + n_fits, at_most
        progress.foreseen = None
        if not at_most:
            self.bar.total = self.bar.n + n_fits

    def update_eta(self, n_fits: int) -> None:
        """Show the expected number of fits left; no result depends on it."""
        self.bar.total = self.bar.n + n_fits
        self.progress.foreseen = self.progress.n_fits + n_fits

    def show(self, answer_so_far: Callable[[], str]) -> None:
        """Show the answer so far, computed no more often than the bar is updated."""
        if self.bar.disable:
            return
        clock_now = self.progress.clock()
        if clock_now - self.progress.last_shown >= max(self.bar.mininterval, SHOW_SECONDS):
            self.progress.last_shown = clock_now
            self.bar.set_postfix_str(answer_so_far(), refresh=False)

    def count_fits(self, number: int) -> None:
        """Count the fits since the last time."""
        self.bar.update(number)
        self.progress.n_fits += number

    @property
    def trial(self) -> Self:
        """The same for fits that no answer uses: they are not shown, counted or kept."""
        return replace(self, bar=NoBar(), progress=Progress())

    @classmethod
    def of(cls, rng: Any, n_jobs: int | None, batch_size: int | None) -> Self:
        """Validate what a user passes."""
        check_workers(n_jobs, batch_size)
        generator, seed = make_generator(rng)
        return cls(generator, seed, n_jobs, batch_size)


@contextmanager
def kept_thread() -> Iterator[ThreadPoolExecutor]:
    """An executor with one thread, for this context alone; leaving it waits for its tasks.

    The C library's allocator has an area of memory for each thread. The area grows with the arrays
    of the thread, and is not given back when the thread ends. With a new thread for every call, the
    memory of a process grew by more than a megabyte a call.
    """
    process = os.getpid()
    idle = _idle.setdefault(process, [])
    try:
        thread = idle.pop()
    except IndexError:
        thread = ThreadPoolExecutor(1)
    try:
        yield thread
    finally:
        # A process that was forked within the context would wait for ever.
        if os.getpid() == process:
            # Tasks run in order, so this one ends after all others.
            thread.submit(int).result()
            if len(idle) < MOST_IDLE:
                idle.append(thread)
            else:
                thread.shutdown(wait=False)
