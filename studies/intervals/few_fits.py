"""Coverage and width of the U-statistic test from few fits.

Problems, samples and true values are those of the calibration study; the rule for few fits was
chosen on other problems, but for what it keeps where a few observations decide, which was chosen on
`held_spam` and ten of these. A sample is evaluated once, at the most pairs; smaller budgets are the
first of them. The table has median widths next to those of 5x2 t and of the full test from the
packaged table, whose samples are the same. `--table` keeps a table by kind of loss too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.calibration.problem import Problem
from studies.calibration.problems import problems
from studies.calibration.simulation import SampleRun, first_rows
from studies.coverage import ENDS, Study, answer, coverage
from ucvtest.advice.calibration import calibration_table
from ucvtest.advice.configured_tests import FEW_PAIRS

SIZES, MOST_FEATURES = (40, 60, 100, 200), 60
TARGETS = {"difference": (0, 1), "error": (0, None)}


@dataclass(frozen=True)
class FewFits:
    """Some problems, how a sample is evaluated, and two tests of the packaged table.

    `full` is the test with thousands of fits, `usual` the one that people use, and its column.
    """

    script: str
    chosen: Callable[[Problem], bool]
    losses: Callable[[SampleRun], uv.Losses]
    full: str
    usual: tuple[str, str]
    within_classes: bool = False
    known: pd.DataFrame = field(default_factory=calibration_table)

    @cached_property
    def problems(self) -> dict[str, Problem]:
        """Those with learners that are quick to fit, by name."""
        return {
            problem.name: problem
            for problem in problems().values()
            if problem.quick and problem.features.shape[1] <= MOST_FEATURES and self.chosen(problem)
        }

    @cached_property
    def cells_of_full(self) -> pd.DataFrame:
        """The rows of the full test in the packaged table."""
        rows = self.known[self.known["procedure"] == self.full]
        return rows.set_index(["problem", "n_obs", "target"])

    def sample(self, problem: str, n_obs: int, number: int) -> Iterator[tuple]:
        """What every budget says of a sample; no learner accepts a single class."""
        run = SampleRun(self.problems[problem], n_obs, number, within_classes=self.within_classes)
        if len(np.unique(run.y)) < 2:
            return
        losses = self.losses(run)
        for pairs in FEW_PAIRS:
            some = first_rows(losses, 2 * pairs)
            for target, places in TARGETS.items():
                if (problem, n_obs, target) in self.cells_of_full.index:
                    truth = self.cells_of_full.loc[(problem, n_obs, target), "truth"]
                    found = uv.UStatisticTest.from_losses(some, *places).fit(variance="few")
                    yield target, 2 * pairs, *answer(truth, found), found.pvalue

    def table(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Coverage, median widths, and the share of rejections, with widths of other tests."""
        keys, cell = ["problem", "n_obs", "target", "fits_of_each"], ["problem", "n_obs", "target"]
        table = coverage(rows, keys)
        widths = (rows["high"] - rows["low"]).groupby([rows[key] for key in keys]).median()
        rejected = (rows["pvalue"] <= 0.05).groupby([rows[key] for key in keys]).mean()
        column, procedure = self.usual
        usual = self.known[self.known["procedure"] == procedure].set_index(cell)["width"]
        table = table.drop(columns=["width", "rejects_0"]).join(widths.rename("width"), on=keys)
        table = table.join((100 * rejected).rename("rejects"), on=keys)
        table = table.join(usual.rename(column), on=cell)
        full = self.cells_of_full[["width", "equal"]].rename(columns={"width": "width_full"})
        table = table.join(full, on=cell)
        losses = {name: problem.loss for name, problem in self.problems.items()}
        return table.assign(loss="auc" if self.within_classes else table["problem"].map(losses))

    def short(self, table: pd.DataFrame) -> pd.DataFrame:
        """By kind of loss, target and budget: mean coverage and the worst cell, mean ratios."""
        column = self.usual[0]
        over = {column.replace("width_", "width_over_"): column, "width_over_full": "width_full"}
        table = table.assign(
            loss=table["loss"].where(table["loss"].isin(["zero_one", "auc"]), "other"),
            cell=table["problem"] + " " + table["n_obs"].astype(str),
            size=table["rejects"].where(table["equal"] == 1),
            **{name: np.log(table["width"] / table[other]) for name, other in over.items()},
        )
        keys = ["loss", "target", "fits_of_each"]
        cells = table.groupby(keys)
        worst = table.loc[cells["coverage"].idxmin()].set_index(keys)
        short = cells.agg(
            cells=("cell", "size"), samples=("samples", "sum"), coverage=("coverage", "mean")
        )
        short = short.assign(worst=worst["coverage"], worst_cell=worst["cell"])
        short = short.join(np.exp(cells[list(over)].mean())).assign(size=cells["size"].mean())
        return short.round(2).reset_index()

    def study(self) -> Study:
        """The study of these problems."""
        cells = [
            (name, n)
            for name, problem in self.problems.items()
            for n in sorted({*problem.sizes} & {*SIZES})
        ]
        return Study(
            self.sample,
            ("target", "fits_of_each"),
            cells,
            samples=300,
            values=(*ENDS, "pvalue"),
            table=self.table,
            short=self.short,
            script=self.script,
        )


FEW_FITS = FewFits(
    script=__file__,
    chosen=lambda problem: problem.loss != "auc",
    losses=lambda run: run.pairs,
    full="ustatistic",
    usual=("width_5x2", "five_by_two_t"),
)

if __name__ == "__main__":
    FEW_FITS.study().main()
