"""Few fits of small and large samples, of learning sets of a third, and margins of equivalence.

Differences of error rates on problems of the calibration study, whose true values are those of the
packaged table, or 0 where learners are equally good. "half" learns from n/2 - 1 observations,
"third" from n/3: true values differ, widths are those of the same number of fits. `margin` is the
median of the smallest margin within which a 90% interval says that learners are equivalent, and
`wrongly` how often it does so for a margin that is the true difference, in percent.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.calibration.problems import problems
from studies.calibration.simulation import SampleRun
from studies.coverage import ENDS, Study, answer, coverage
from ucvtest.advice.calibration import calibration_table

CELLS = {
    "small": (("equal", "weak_2", "no_signal_2"), (20, 30), ("half",)),
    "usual": (("medium", "imbalance", "held_circle", "strips"), (60, 200), ("half", "third")),
    "large": (("equal", "medium"), (500,), ("half",)),
    "largest": (("equal", "no_signal"), (1000,), ("half",)),
}
PAIRS = (10, 40)
LEAST_DIFFERENCE = 0.01
"""A true difference that is smaller is no margin."""


def sample(problem: str, n_obs: int, sets: str, number: int) -> Iterator[tuple]:
    """What every number of pairs says of a sample of a problem."""
    case = problems()[problem]
    run = SampleRun(case, n_obs, number)
    if len(np.unique(run.y)) == 1:
        return
    size = n_obs // 2 - 1 if sets == "half" else n_obs // 3
    test = uv.UStatisticTest(run.X, run.y, *case.learners, learn_size=size)
    for pairs in PAIRS:
        found = test.fit(pairs, "few", rng=run.seed(f"few fits, {sets}"))
        low, high = found.conf_int(0.1)
        yield 2 * pairs, *answer(truth(problem, n_obs, sets), found), max(-low, high)


def truth(problem: str, n_obs: int, sets: str) -> float:
    """The true difference; 0 of learners that are equally good."""
    if problems()[problem].equal:
        return 0.0
    table = calibration_table().set_index(["problem", "n_obs", "target", "procedure"])
    procedure = "ustatistic" if sets == "half" else "ustatistic_third"
    return float(table.loc[(problem, n_obs, "difference", procedure), "truth"])


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage, median widths and margins of each cell."""
    keys = ["problem", "n_obs", "sets", "fits_of_each"]
    asked = rows["truth"].abs() >= LEAST_DIFFERENCE
    rows = rows.assign(
        width=rows["high"] - rows["low"],
        wrongly=100.0 * (rows["margin"] < rows["truth"].abs()).where(asked),
    )
    cells = rows.groupby(keys)
    medians = cells[["width", "margin"]].median().assign(wrongly=cells["wrongly"].mean())
    return coverage(rows, keys).drop(columns="width").join(medians.round(4), on=keys)


def short(table: pd.DataFrame) -> pd.DataFrame:
    """By the number of observations, the size of learning sets and the fits."""
    keys = ["n_obs", "sets", "fits_of_each"]
    logs = table.assign(**{name: np.log(table[name]) for name in ("width", "margin")})
    cells = logs.groupby(keys)
    worst = logs.loc[cells["coverage"].idxmin()].set_index(keys)
    short = cells.agg(
        cells=("problem", "size"), samples=("samples", "sum"), coverage=("coverage", "mean")
    )
    short = short.assign(worst=worst["coverage"], worst_cell=worst["problem"])
    means = np.exp(cells[["width", "margin"]].mean()).assign(wrongly=cells["wrongly"].mean())
    return short.join(means).round(3).reset_index()


STUDY = Study(
    sample,
    ("fits_of_each",),
    [
        (name, n, sets)
        for names, sizes, several in CELLS.values()
        for name in names
        for n in sizes
        for sets in several
    ],
    samples=200,
    values=(*ENDS, "margin"),
    table=table,
    short=short,
)

if __name__ == "__main__":
    STUDY.main()
