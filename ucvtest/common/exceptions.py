"""The package's classes of errors and warnings, and helpers that name their subject."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

UNUSABLE = (
    TypeError,
    ValueError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""Errors that Python and NumPy raise over parts of a wrong type, shape, size or length."""


class ForkedProcessError(RuntimeError):
    """The process was forked after JAX had started, so JAX cannot be used in it."""


class MissingPlatformError(RuntimeError):
    """JAX was told to use a platform that this machine does not have."""


class UcvtestWarning(UserWarning):
    """Base class of the package's warnings; filter on it to silence or raise them all."""


class SlowFitsWarning(UcvtestWarning):
    """Fits will take long. The warning is useful while they run, not afterwards."""


class Interrupted(KeyboardInterrupt):
    """An interrupt that keeps the results finished before it, as `results`."""

    def __init__(self, results: Any, results_words: str) -> None:
        self.results = results
        super().__init__(
            f"interrupted; `except KeyboardInterrupt as stop: stop.results` has {results_words}"
        )


def warn_caller(message: str, category: type[Warning] = UcvtestWarning) -> None:
    """Issue a warning that points to the line of the user's code that led to it.

    Notes
    -----
    The user's code is the first code outside this package, outside the package that calls this
    function, and outside the libraries through which these packages call themselves.

    Raises
    ------
    ValueError
        If the message is not text, or the category is not a class of warnings.
    """
    if not isinstance(message, str):
        raise ValueError(f"message must be text, got {message!r:.60}")
    if not (isinstance(category, type) and issubclass(category, Warning)):
        raise ValueError(
            f"category must be a class of warnings, got {category!r:.60}: use UcvtestWarning"
        )
    # Python 3.12 has `skip_file_prefixes` for this; with 3.11 frames must be looked at.
    frame, level = sys._getframe(1), 2
    skipped = {"ucvtest", "contextlib", "joblib", _package(frame)}
    while _package(frame) in skipped and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def naming(subject: str) -> Iterator[None]:
    """Add the subject to the messages of errors."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{subject}: {error}") from None


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]
