"""What every fit needs around it: a generator, workers, a progress bar, a stopwatch."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import check_workers, is_integer

__all__ = ["Execution", "Stopwatch", "expect_fits", "make_generator", "progress_bar", "row_batches"]


def make_generator(rng: Any) -> tuple[np.random.Generator, int | None]:
    """The generator that ``rng=None``, an integer or a Generator stand for, and its seed.

    Without a seed one is drawn from the operating system, so that results can be repeated; the seed
    of a Generator is not known.
    """
    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        rng = int(np.random.SeedSequence().generate_state(1)[0])
    if not is_integer(rng):
        raise ValueError(
            f"rng must be None, an integer or a numpy Generator, got {type(rng).__name__}"
        )
    if rng < 0:
        raise ValueError(f"rng must not be negative, got {rng}")
    return np.random.default_rng(int(rng)), int(rng)


@contextmanager
def progress_bar(progress: bool | None, description: str, unit: str) -> Iterator[Any]:
    """A tqdm bar that appears after three seconds, on terminals unless asked for."""
    from tqdm import tqdm

    disable = None if progress is None else not progress
    delay = 3.0 if progress is None else 0.0
    with tqdm(desc=description, unit=unit, disable=disable, delay=delay) as bar:
        yield bar


def row_batches(
    n_rows: int, cells: int, most_cells: int, most_rows: int | None = None
) -> Iterator[slice]:
    """Rows, some at a time, so that memory stays bounded where each has so many cells."""
    size = max(1, most_cells // cells)
    size = size if most_rows is None else min(size, most_rows)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Elapsed time."""
        return time.perf_counter() - self._start


def expect_fits(bar: Any, more: int) -> None:
    """Tell a bar how many fits there will be, so that it can tell the time left."""
    bar.total = bar.n + more


class _NoBar:
    """Stands for a progress bar where nothing takes long enough to need one."""

    n = total = 0

    def update(self, n: int) -> None:
        """Show nothing."""


@dataclass(frozen=True)
class Execution:
    """How fits are run: what decides the draws, and what decides speed and memory alone.

    The stopwatch is started with the execution.
    """

    generator: np.random.Generator
    seed: int | None
    n_jobs: int | None = None
    batch_size: int | None = None
    bar: Any = field(default_factory=_NoBar)
    stopwatch: Stopwatch = field(default_factory=Stopwatch)

    @classmethod
    def of(cls, rng: Any, n_jobs: int | None, batch_size: int | None) -> Self:
        """Validate what a user passes."""
        check_workers(n_jobs, batch_size)
        generator, seed = make_generator(rng)
        return cls(generator, seed, n_jobs, batch_size)

    @classmethod
    def without_draws(cls) -> Self:
        """Where nothing is drawn or fitted; the generator decides nothing."""
        return cls(np.random.default_rng(0), None)
