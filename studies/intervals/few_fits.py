"""Coverage and width of the U-statistic test from few fits.

Problems, samples and true values are those of the calibration study; the rule for few fits was
chosen on other problems, but for what it keeps where a few observations decide, which was chosen on
`held_spam` and ten of these. A sample is evaluated once, at the most pairs; smaller budgets are the
first of them. The table has coverage and width next to the widths of 5x2 t and of the full test
from the packaged table, whose samples are the same. Rows are kept as they come, and the script goes
on where it was stopped.

    python studies/intervals/few_fits.py --rows build/few_fits.csv --seconds 1200
    python studies/intervals/few_fits.py --rows build/few_fits.csv --table
"""

import argparse
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.calibration.problems import Problem, problems
from studies.calibration.simulation import SampleRun, first_rows
from studies.resuming import add_rows
from ucvtest.advice.calibration import calibration_table
from ucvtest.advice.configured_tests import FEW_PAIRS

PAIRS = FEW_PAIRS

SIZES, MOST_FEATURES = (40, 60, 100, 200), 60
TARGETS = {"difference": (0, 1), "error": (0, None)}
COLUMNS = ("problem", "n_obs", "number", "target", "pairs", "estimate", "low", "high", "pvalue")
TABLE = Path(__file__).with_suffix(".csv")
IN_SHORT = TABLE.with_stem("few_fits_in_short")
"""Of the study of losses; other studies have their own."""


def rows_of(problem: Problem, n_obs: int, number: int) -> Iterator[tuple]:
    """What every budget says of a sample."""
    run = SampleRun(problem, n_obs, number)
    # No learner accepts a single class.
    if len(np.unique(run.y)) > 1:
        yield from rows_from(run, run.pairs)


def rows_from(run: SampleRun, all_losses: uv.Losses) -> Iterator[tuple]:
    """The same from the losses on the most pairs."""
    for pairs in PAIRS:
        losses = first_rows(all_losses, 2 * pairs)
        for target, places in TARGETS.items():
            found = uv.UStatisticTest.from_losses(losses, *places).fit(variance="few")
            numbers = found.estimate, *found.conf_int(), found.pvalue
            cell = run.problem.name, run.n_obs, run.number, target, pairs
            yield *cell, *(f"{x:.6g}" for x in numbers)


def studied() -> list[Problem]:
    """Problems with losses, and learners that are quick to fit."""
    return [
        problem
        for problem in problems().values()
        if problem.quick and problem.loss != "auc" and problem.features.shape[1] <= MOST_FEATURES
    ]


@dataclass(frozen=True)
class Study:
    """Problems, the analysis of a sample, and tests of the packaged table to compare with.

    `full` is the test with thousands of fits, `usual` another one with the name of its width. The
    `loss` is that of all problems, if they do not have their own.
    """

    problems: Callable[[], list[Problem]]
    rows_of: Callable[[Problem, int, int], Iterator[tuple]]
    full: str
    usual: tuple[str, str]
    table: Path
    loss: str | None = None

    @property
    def in_short(self) -> Path:
        """The file of the table by loss, target and budget."""
        return self.table.with_stem(f"{self.table.stem}_in_short")


FEW_FITS = Study(studied, rows_of, "ustatistic", ("width_5x2", "five_by_two_t"), TABLE)


def simulate(study: Study, path: Path, n_samples: int, seconds: float) -> None:
    """Rows, a sample of each problem and size at a time, until there are enough or time is up."""
    by_name = {problem.name: problem for problem in study.problems()}
    cells = (
        (name, n_obs, number)
        for number in range(n_samples)
        for name, problem in by_name.items()
        for n_obs in sorted({*problem.sizes} & {*SIZES})
    )

    def rows_of(name: str, n_obs: int, number: int) -> Iterable[tuple[Any, ...]]:
        return study.rows_of(by_name[name], n_obs, number)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        add_rows(path, COLUMNS, ("problem", "n_obs", "number"), cells, rows_of, seconds)


def table_of(study: Study, rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage, width and rejections of each cell, with widths of the tests to compare with."""
    known = calibration_table().set_index(["problem", "n_obs", "target", "procedure"])
    loss = {problem.name: study.loss or problem.loss for problem in study.problems()}
    found = []
    for (name, n_obs, target, pairs), cell in rows.groupby(list(COLUMNS[:2] + COLUMNS[3:5])):
        cell_of = (name, n_obs, target)
        if (*cell_of, study.full) not in known.index:
            continue  # whose true value is not known
        full = known.loc[(*cell_of, study.full)]
        column, usual = study.usual
        answered = cell["low"].notna()
        covered = (cell["low"] <= full["truth"]) & (full["truth"] <= cell["high"])
        found.append(
            {
                "problem": name,
                "loss": loss[name],
                "n_obs": n_obs,
                "target": target,
                "fits_of_each": 2 * pairs,
                "samples": len(cell),
                "answered": int(answered.sum()),
                "covered": int(covered.sum()),
                "rejected": int((cell["pvalue"] <= 0.05).sum()),
                "equal": int(full["equal"]),
                "width": (cell["high"] - cell["low"]).median(),
                column: known.loc[(*cell_of, usual)]["width"],
                "width_full": full["width"],
            }
        )
    return pd.DataFrame(found)


def in_short(table: pd.DataFrame) -> pd.DataFrame:
    """The table by kind of loss, target and budget: coverage in the mean and in the worst cell."""
    (usual,) = set(table.columns) & {FEW_FITS.usual[0], "width_corrected_t"}
    share = table["covered"] / table["answered"]
    table = table.assign(
        kind=table["loss"].where(table["loss"].isin(["zero_one", "auc"]), "other"),
        coverage=100 * share,
        of_usual=table["width"] / table[usual],
        of_full=table["width"] / table["width_full"],
        cell=table["problem"] + " " + table["n_obs"].astype(str),
        size=(100 * table["rejected"] / table["samples"]).where(table["equal"] == 1),
    )
    found = []
    for key, cells in table.groupby(["kind", "target", "fits_of_each"]):
        worst = cells["coverage"].idxmin()
        found.append(
            dict(zip(("loss", "target", "fits_of_each"), key, strict=True))
            | {
                "cells": len(cells),
                "samples": int(cells["samples"].sum()),
                "coverage": cells["coverage"].mean(),
                "worst": cells["coverage"].min(),
                "worst_cell": cells["cell"][worst],
                usual.replace("width_", "width_over_"): np.exp(np.log(cells["of_usual"]).mean()),
                "width_over_full": np.exp(np.log(cells["of_full"]).mean()),
                "size": cells["size"].mean(),
            }
        )
    return pd.DataFrame(found)


def main(study: Study, words: str) -> None:
    """Run a study, or print what one sample gives."""
    parser = argparse.ArgumentParser(description=words.splitlines()[0])
    rows = Path("build") / study.table.name
    parser.add_argument("--rows", type=Path, default=rows)
    parser.add_argument("--samples", type=int, default=300, help="of each problem and size")
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--table", action="store_true", help="no more samples, only the table")
    parser.add_argument("--quick", action="store_true", help="one sample, nothing kept")
    arguments = parser.parse_args()
    if arguments.quick:
        found = list(study.rows_of(problems()["weak"], 40, 0))
        print(pd.DataFrame(found, columns=list(COLUMNS)).to_string(index=False))
        return
    arguments.rows.parent.mkdir(parents=True, exist_ok=True)
    if not arguments.table:
        simulate(study, arguments.rows, arguments.samples, arguments.seconds)
    table = table_of(study, pd.read_csv(arguments.rows))
    table.to_csv(study.table, index=False, float_format="%.5g")
    means = in_short(table).round(2)
    means.to_csv(study.in_short, index=False)
    print(means.to_string(index=False))


if __name__ == "__main__":
    main(FEW_FITS, str(__doc__))
