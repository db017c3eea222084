"""The one warning that fits will take long, given while they go on."""

from dataclasses import dataclass

from ucvtest.common.exceptions import SlowFitsWarning, warn_caller
from ucvtest.common.execution import Progress
from ucvtest.common.words import arg, call

LONG_SECONDS = 60.0
"""Seconds from which on a user is told how long fits will take."""

MEASURED = 60
"""What is announced is measured before, for this part of the seconds that are long."""


@dataclass
class Pace:
    """Seconds of a learner's fits so far, but for those that also imported, compiled or started."""

    learner: str
    one_by_one: bool
    seconds: float = 0.0
    fits: int = 0

    def add(self, seconds: float, fits: int) -> None:
        """Record some fits."""
        self.seconds += seconds
        self.fits += fits

    def announce(self, progress: Progress) -> None:
        """Say once how long the fits that are left will take, if that is long.

        Where they are not done one by one, a bound that is far away says nothing: only numbers of
        fits count that are known, or foreseen.
        """
        is_measured = self.fits > 0 and self.seconds >= LONG_SECONDS / MEASURED
        if progress.duration_announced or not is_measured:
            return
        total, bounded = progress.total, progress.at_most
        if bounded and progress.foreseen is not None:
            total, bounded = progress.foreseen, False
        if total is None or (bounded and not self.one_by_one):
            return
        n_left, seconds_of_fit = total - progress.n_fits + progress.later, self.seconds / self.fits
        usual_remedies = (
            f"{arg('max_seconds')} of {call('compare')} chooses a test that fits the time, and "
            "that of a test stops draws in time"
        )
        if self.one_by_one:
            usual_remedies += (
                f", {arg('n_jobs')} distributes the fits, and {arg('checkpoint')} keeps finished "
                "work"
            )
        announce_duration(
            progress,
            f"{'at most ' if bounded else ''}{n_left} fits are left, "
            f"{duration_in_words(seconds_of_fit)} each with {self.learner}",
            n_left * seconds_of_fit,
            progress.remedies or usual_remedies,
            at_most=bounded,
        )


def announce_duration(
    progress: Progress, fits: str, seconds: float, remedies: str, *, at_most: bool = False
) -> None:
    """Warn of fits that will take long; `fits` and `remedies` are parts of the sentence."""
    if not is_long(seconds):
        return
    progress.duration_announced = True
    about = "at most" if at_most else "about"
    warn_caller(f"{fits}: {about} {duration_in_words(seconds)}. {remedies}", SlowFitsWarning)


def is_long(seconds: float) -> bool:
    """Whether fits take long enough for a warning."""
    return seconds >= LONG_SECONDS


def duration_in_words(seconds: float) -> str:
    """A duration in the unit in which it is a small number."""
    if seconds < 100:
        return f"{seconds:.2g} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours"
