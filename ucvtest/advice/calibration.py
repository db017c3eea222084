"""The calibration table, and its evidence on a procedure."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

LEAST_MEAN = 0.93
"""Coverage of nominal 95% intervals, on average over problems, below which advice is no promise."""

WEAK = 0.90
"""Coverage below which a cell of the table is named."""

FEWEST_PROBLEMS = 3
"""Evidence from fewer problems promises nothing."""


@dataclass(frozen=True)
class WeakCell:
    """A problem and sample size where too few 95% intervals contained the true value."""

    problem: str
    n_obs: int
    coverage: float
    samples: int

    def __str__(self) -> str:
        return f"{self.problem}, n = {self.n_obs}: {self.coverage:.1%} of {self.samples} samples"


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
    sizes : tuple of int
        The sample sizes of the table that it is from.
    n_problems, n_samples : int
        Behind the numbers.
    coverage : float
        Of nominal 95% intervals, mean over problems.
    lowest_coverage : float
        In the worst problem, whose name is `worst`.
    worst : str
    size : float
        Share of true nulls rejected at the 5% level; NaN where none was tested.
    width : float
        Width of the intervals over that of the corrected t test on the same samples,
        geometric mean; NaN for metrics such as F1.
    expected_width : float
        Width of the intervals at the sample size that was asked about, geometric mean; NaN for
        losses and metrics whose scale is that of the response, and for metrics that were not
        studied.
    weak : tuple of WeakCell
        Cells below 90%, the worst first.
    within : bool
        Whether it was studied with fewer and with more observations than were asked about, or with
        as many.
    """

    procedure: str
    learn_size: int
    n_fits: int
    sizes: tuple[int, ...]
    n_problems: int
    n_samples: int
    coverage: float
    lowest_coverage: float
    worst: str
    size: float
    width: float
    expected_width: float
    weak: tuple[WeakCell, ...]
    within: bool

    @property
    def in_words(self) -> str:
        """One line for summaries."""
        return (
            f"{self.procedure}: coverage {self.coverage:.3f}, lowest {self.lowest_coverage:.3f} "
            f"({self.worst}), width {self.width:.2f}, {self.n_fits} fits, learning sets of "
            f"{self.learn_size}"
        )


class Cell(NamedTuple):
    """What advice reads in a row of the calibration table; see `calibration_table`."""

    problem: str
    loss: str
    n_obs: int
    target: str
    procedure: str
    n_fits: int
    answered: int
    covered: int
    equal: int
    tested: int
    rejected: int
    width: float


@cache
def calibration_cells(procedures: frozenset[str]) -> tuple[Cell, ...]:
    """The rows about some procedures in the calibration table, for advice."""
    losses = {name: about["loss"] for name, about in calibration_settings()["problems"].items()}
    columns = _columns("calibration.csv", procedures)
    return _cells(columns | {"loss": list(map(losses.__getitem__, columns["problem"]))})


@cache
def metric_cells(procedures: frozenset[str]) -> tuple[Cell, ...]:
    """The same about metrics such as F1, by whose name the loss is replaced.

    They are from studies with other samples and are in a file of their own, so that a problem,
    size, target and procedure have one row in the calibration table.
    """
    columns = _columns("metrics.csv", procedures)
    return _cells(columns | {"loss": columns["metric"]})


def _columns(name: str, procedures: frozenset[str]) -> dict[str, Sequence[str]]:
    """The rows about some procedures in a file, as texts.

    Without pandas, whose import takes longer than the fits of a first comparison.
    """
    header, *lines = resources.files("ucvtest.advice").joinpath(name).read_text().splitlines()
    # Most rows are about other procedures, and are not parsed.
    marks = [f",{procedure}," for procedure in procedures]
    lines = [line for line in lines if any(mark in line for mark in marks)]
    (names,), rows = csv.reader([header]), csv.reader(lines)
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def _cells(columns: Mapping[str, Sequence[str]]) -> tuple[Cell, ...]:
    """Cells from texts; counts that a study does not have are 0."""
    parsed = [
        [kind(text or _MISSING[kind]) for text in columns[name]]
        for name, kind in Cell.__annotations__.items()
    ]
    return tuple(map(Cell._make, zip(*parsed, strict=True)))


_MISSING: Mapping[type, str] = {str: "", int: "0", float: "nan"}


def cells_of(table: "pd.DataFrame", procedures: frozenset[str]) -> tuple[Cell, ...]:
    """The rows about some procedures in another table with the same columns."""
    rows = table.loc[table["procedure"].isin(procedures), list(Cell._fields)]
    return tuple(map(Cell._make, rows.itertuples(index=False)))


def calibration_table() -> "pd.DataFrame":
    """The results of the calibration study, a new copy.

    Returns
    -------
    DataFrame
        One row for each problem, sample size, target ("difference" of two learners, "error" of the
        first, "independence") and procedure: size of the learning sets, model fits, true value and
        its standard error; samples, how many had an answer, and an interval with the true value,
        with Clopper and Pearson's 95% limits; whether both learners are equally good; p-values, how
        many were at most 0.05, with limits; median width of the intervals. In rows of the last
        studies also the standard deviation of the estimates, intervals below and above the true
        value, median seconds, and for AUCs the size of the smaller class.

    Examples
    --------
    >>> from ucvtest.advice.calibration import calibration_table
    >>> table = calibration_table()
    >>> len(set(table["problem"])) >= 12
    True
    """
    return _table().copy()


def forget_table() -> None:
    """Read the table again at the next request, as after it was written."""
    _table.cache_clear()
    calibration_cells.cache_clear()
    metric_cells.cache_clear()


def calibration_settings() -> dict[str, Any]:
    """Seed, level, versions and problems of the calibration study."""
    return json.loads(resources.files("ucvtest.advice").joinpath("calibration.json").read_text())


@cache
def _table() -> "pd.DataFrame":
    import pandas as pd

    problems = calibration_settings()["problems"]
    losses = pd.DataFrame(
        [{"problem": name, "loss": problem["loss"]} for name, problem in problems.items()]
    )
    with resources.files("ucvtest.advice").joinpath("calibration.csv").open() as file:
        return pd.read_csv(file).merge(losses, on="problem")
