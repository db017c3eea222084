"""The calibration table, and what it says of a procedure."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "FEWEST_PROBLEMS",
    "FEWEST_SAMPLES",
    "LIMITS",
    "Evidence",
    "Limits",
    "calibration_table",
]


@dataclass(frozen=True)
class Limits:
    """What is asked of a test before it is recommended with a promise.

    No less than is promised (93% on average and 88% at least), and more of the mean, since the
    problems of users are not those of the table. `studies/calibration/advised.py` sets the lowest
    coverage on half of the problems and counts on the other half what that is worth.

    Parameters
    ----------
    mean, lowest : float
        Coverage of nominal 95% intervals, over the problems of the table and in the worst one.
    all_sizes : float
        Mean coverage with the samples of all sizes together: what intervals are called.
    missing : float
        Largest share of samples without an answer, in any problem. Learners that often agree in all
        their predictions leave a test nothing to say, which is no harm if it is said.
    size : float
        Most true nulls that may be rejected at the 5% level.
    unstudied : float
        Largest share of the problems of this kind and size that a test may lack: one that was
        spared the hard problems looks better than others.
    """

    mean: float = 0.94
    lowest: float = 0.88
    all_sizes: float = 0.95
    missing: float = 0.25
    size: float = 0.075
    unstudied: float = 0.25


LIMITS = Limits()
"""Those of `uv.advise`."""

FEWEST_PROBLEMS, FEWEST_SAMPLES = 3, 100
"""Evidence from fewer problems, or fewer samples in all, promises nothing."""


@dataclass(frozen=True)
class Evidence:
    """What the calibration table says of one test at about this sample size.

    Parameters
    ----------
    procedure : str
        Key in the calibration table.
    learn_size : int
        Observations that learn.
    n_fits : int
        Model fits, each learner and each learning set counted.
    n_problems, n_samples : int
        Behind the numbers.
    coverage : float
        Of nominal 95% intervals, mean over problems.
    lowest_coverage : float
        In the worst problem, whose name is `worst`.
    worst : str
    all_sizes, lowest_all_sizes : float
        The same coverages with the samples of all sizes of the table together: those of one
        size alone are few, and some test looks good in them by chance.
    missing : float
        Largest share of samples without an answer in any problem.
    size : float
        Share of true nulls rejected at the 5% level; NaN where none was tested.
    width : float
        Width of the intervals over that of the corrected t test on the same samples,
        geometric mean.
    both_sides : bool
        Whether it was studied with fewer and with more observations than were asked about, or with
        as many.
    unstudied : float
        Share of the problems with this kind of loss and about this size on which other tests were
        studied and this one was not.
    overlapping : bool
        Whether its learning sets hold more than half of the observations each, so that any two
        overlap. Its variance then sees only part of how rules differ from one learning set to
        another, and a table says nothing about learners that are less stable than its own.
    """

    procedure: str
    learn_size: int
    n_fits: int
    n_problems: int
    n_samples: int
    coverage: float
    lowest_coverage: float
    worst: str
    all_sizes: float
    lowest_all_sizes: float
    missing: float
    size: float
    width: float
    both_sides: bool = True
    unstudied: float = 0.0
    overlapping: bool = False

    def meets(self, limits: Limits) -> bool:
        """Whether it can be promised: it holds, and its learning sets do not all overlap."""
        return not self.overlapping and self.holds(limits)

    def holds(self, limits: Limits) -> bool:
        """Whether it was good enough in every problem of the table."""
        return (
            self.both_sides
            and self.n_problems >= FEWEST_PROBLEMS
            and self.n_samples >= FEWEST_SAMPLES
            and self.coverage >= limits.mean
            and self.all_sizes >= limits.all_sizes
            and min(self.lowest_coverage, self.lowest_all_sizes) >= limits.lowest
            and self.missing <= limits.missing
            and not self.size > limits.size
            and self.unstudied <= limits.unstudied
        )

    @property
    def promises(self) -> bool:
        """Whether it meets the limits of `uv.advise`."""
        return self.meets(LIMITS)

    @property
    def in_words(self) -> str:
        """One line for summaries."""
        return (
            f"{self.procedure}: coverage {self.coverage:.3f}, lowest {self.lowest_coverage:.3f} "
            f"({self.worst}), width {self.width:.2f}, {self.n_fits} fits, learning sets of "
            f"{self.learn_size}"
        )


def calibration_table() -> "pd.DataFrame":
    """The results of the calibration study, a new copy.

    Returns
    -------
    DataFrame
        One row for each problem, sample size, target ("difference" of two learners, "error" of
        the first, "independence") and procedure: size of the learning sets, model fits, true
        value and its standard error; samples, how many were answered and covered, with Clopper
        and Pearson's 95% limits; whether both learners are equally good; p-values, how many were
        at most 0.05, with limits; median width of the intervals. In rows of the last studies
        also the standard deviation of the estimates, intervals below and above the true value,
        median seconds, and for AUCs the size of the smaller class.

    Examples
    --------
    >>> from ucvtest.advice.calibration import calibration_table
    >>> table = calibration_table()
    >>> len(set(table["problem"])) >= 12
    True
    """
    return _table().copy()


def forget_table() -> None:
    """Read the table anew when it is next asked for, as after it was written."""
    _table.cache_clear()


def calibration_settings() -> dict[str, Any]:
    """Seed, level, versions and problems of the calibration study."""
    return json.loads(resources.files("ucvtest.advice").joinpath("calibration.json").read_text())


@cache
def _table() -> "pd.DataFrame":
    import pandas as pd

    with resources.files("ucvtest.advice").joinpath("calibration.csv").open() as file:
        return pd.read_csv(file).merge(_losses_of_problems(), on="problem")


def _losses_of_problems() -> "pd.DataFrame":
    import pandas as pd

    known = calibration_settings()["problems"]
    return pd.DataFrame([{"problem": name, "loss": each["loss"]} for name, each in known.items()])
