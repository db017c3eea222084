"""What every fit needs around it: a generator, a progress bar, a stopwatch."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["make_generator", "progress_bar"]


def make_generator(rng: Any) -> tuple[np.random.Generator, int | None]:
    """The generator that ``rng=None``, an integer or a Generator stand for, and its seed.

    Without a seed one is drawn from the operating system, so that results can be repeated;
    a Generator has none that could be told.

    Raises
    ------
    ValueError
        For anything else.
    """
    if isinstance(rng, np.random.Generator):
        return rng, None
    if rng is None:
        rng = int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)):
        raise ValueError(
            f"rng must be None, an integer or a numpy Generator, got {type(rng).__name__}"
        )
    if rng < 0:
        raise ValueError(f"rng must not be negative, got {rng}")
    return np.random.default_rng(int(rng)), int(rng)


@contextmanager
def progress_bar(progress: bool | None, description: str, unit: str) -> Iterator[Any]:
    """A tqdm bar that appears after three seconds, on terminals unless asked for.

    Parameters
    ----------
    progress : bool or None
        None shows it where the standard error stream is a terminal.
    """
    from tqdm import tqdm

    disable = None if progress is None else not progress
    delay = 3.0 if progress is None else 0.0
    with tqdm(desc=description, unit=unit, disable=disable, delay=delay) as bar:
        yield bar


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Elapsed time."""
        return time.perf_counter() - self._start
