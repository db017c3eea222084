"""Few fits of small and large samples, of learning sets of a third, and margins of equivalence.

Differences of error rates on problems of the calibration study, whose true values are those of the
packaged table, or 0 where learners are equally good. "half" learns from n/2 - 1 observations,
"third" from n/3: true values differ, widths are those of the same number of fits. `margin` is the
median of the smallest margin within which a 90% interval says that learners are equivalent, and
`wrongly` how often it does so for a margin that is the true difference.

    python studies/intervals/few_fits_sizes.py --rows build/few_fits_sizes.csv --seconds 600
    python studies/intervals/few_fits_sizes.py --rows build/few_fits_sizes.csv --table
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.calibration.problems import problems
from studies.calibration.simulation import SampleRun
from studies.resuming import add_rows
from ucvtest.advice.calibration import calibration_table

CELLS = {
    "small": (("equal", "weak_2", "no_signal_2"), (20, 30), ("half",)),
    "usual": (("medium", "imbalance", "held_circle", "strips"), (60, 200), ("half", "third")),
    "large": (("equal", "medium"), (500,), ("half",)),
    "largest": (("equal", "no_signal"), (1000,), ("half",)),
}
PAIRS = (10, 40)
SAMPLES = 200
COLUMNS = (
    *("problem", "n_obs", "sets", "pairs", "number"),
    *("estimate", "low", "high", "pvalue", "low_90", "high_90"),
)
TABLE = Path(__file__).with_suffix(".csv")
IN_SHORT = TABLE.with_stem("few_fits_sizes_in_short")
LEAST_DIFFERENCE = 0.01
"""A true difference that is smaller is no margin."""


def rows_of(name: str, n_obs: int, sets: str, number: int) -> Iterator[tuple]:
    """What every number of pairs says of a sample of a problem."""
    problem = problems()[name]
    run = SampleRun(problem, n_obs, number)
    if len(np.unique(run.y)) == 1:
        return
    size = n_obs // 2 - 1 if sets == "half" else n_obs // 3
    test = uv.UStatisticTest(run.X, run.y, *problem.learners, learn_size=size)
    for pairs in PAIRS:
        found = test.fit(pairs, "few", rng=run.seed(f"few fits, {sets}"))
        numbers = found.estimate, *found.conf_int(), found.pvalue, *found.conf_int(0.1)
        yield name, n_obs, sets, pairs, number, *(f"{x:.6g}" for x in numbers)


def cells() -> Iterator[tuple[str, int, str]]:
    """Problem, number of observations, and the size of learning sets in words."""
    for names, sizes, several in CELLS.values():
        yield from ((name, n, sets) for name in names for n in sizes for sets in several)


def truth(problem: str, n_obs: int, sets: str) -> float:
    """The true difference; 0 of learners that are equally good."""
    if problems()[problem].equal:
        return 0.0
    table = calibration_table().set_index(["problem", "n_obs", "target", "procedure"])
    procedure = "ustatistic" if sets == "half" else "ustatistic_third"
    return float(table.loc[(problem, n_obs, "difference", procedure), "truth"])


def table_of(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage, width, rejections and margins of each cell."""
    found = []
    for (problem, n_obs, sets, pairs), cell in rows.groupby(list(COLUMNS[:4])):
        real = truth(problem, n_obs, sets)
        margins = np.maximum(-cell["low_90"], cell["high_90"])
        found.append(
            {
                "problem": problem,
                "n_obs": n_obs,
                "sets": sets,
                "fits_of_each": 2 * pairs,
                "samples": len(cell),
                "covered": int(((cell["low"] <= real) & (real <= cell["high"])).sum()),
                "width": (cell["high"] - cell["low"]).median(),
                "rejected": int((cell["pvalue"] <= 0.05).sum()),
                "truth": real,
                "margin": margins.median(),
                "wrongly": int((margins < abs(real)).sum())
                if abs(real) >= LEAST_DIFFERENCE
                else np.nan,
            }
        )
    return pd.DataFrame(found)


def in_short(table: pd.DataFrame) -> pd.DataFrame:
    """By the number of observations, the size of learning sets and the fits."""
    table = table.assign(
        coverage=100 * table["covered"] / table["samples"],
        margins=table["samples"].where(table["wrongly"].notna()),
    )
    found = []
    for key, cells in table.groupby(["n_obs", "sets", "fits_of_each"]):
        asked = cells["margins"].sum()
        found.append(
            dict(zip(("n_obs", "sets", "fits_of_each"), key, strict=True))
            | {
                "cells": len(cells),
                "samples": int(cells["samples"].sum()),
                "coverage": cells["coverage"].mean(),
                "worst": cells["coverage"].min(),
                "worst_cell": cells["problem"][cells["coverage"].idxmin()],
                "width": np.exp(np.log(cells["width"]).mean()),
                "margin": np.exp(np.log(cells["margin"]).mean()),
                "wrongly": 100 * cells["wrongly"].sum() / asked if asked else np.nan,
            }
        )
    return pd.DataFrame(found)


def simulate(path: Path, seconds: float) -> None:
    """A sample of every cell at a time, until there are enough or time is up."""
    samples = ((*cell, number) for number in range(SAMPLES) for cell in cells())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        keys = ("problem", "n_obs", "sets", "number")
        add_rows(path, COLUMNS, keys, samples, rows_of, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("build/few_fits_sizes.csv"))
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--table", action="store_true", help="no more samples, only the table")
    parser.add_argument("--quick", action="store_true", help="one sample, nothing kept")
    arguments = parser.parse_args()
    if arguments.quick:
        print(pd.DataFrame(rows_of("weak_2", 30, "half", 0), columns=list(COLUMNS)))
        return
    if not arguments.table:
        simulate(arguments.rows, arguments.seconds)
    table = table_of(pd.read_csv(arguments.rows))
    table.to_csv(TABLE, index=False, float_format="%.4g")
    means = in_short(table).round(3)
    means.to_csv(IN_SHORT, index=False)
    print(means.to_string(index=False))


if __name__ == "__main__":
    main()
