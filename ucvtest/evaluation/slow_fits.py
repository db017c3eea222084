"""The one warning that fits will take long."""

from ucvtest.common.exceptions import warn_caller
from ucvtest.common.execution import Progress

__all__ = ["announce_duration", "duration_in_words", "is_long"]

LONG_SECONDS = 60.0
"""Seconds from which on a user is told how long fits will take."""


def announce_duration(
    progress: Progress, fits: str, seconds: float, remedies: str, *, at_most: bool = False
) -> None:
    """Warn of fits that will take long; `fits` and `remedies` are parts of the sentence."""
    progress.duration_checked = True
    if not is_long(seconds):
        return
    progress.duration_announced = True
    about = "at most" if at_most else "about"
    warn_caller(f"{fits}: {about} {duration_in_words(seconds)}. {remedies}")


def is_long(seconds: float) -> bool:
    """Whether a user is told of fits that take so long."""
    return seconds >= LONG_SECONDS


def duration_in_words(seconds: float) -> str:
    """A duration in the unit in which it is a small number."""
    if seconds < 100:
        return f"{seconds:.2g} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours"
