"""The loop of every study that draws samples: it keeps rows, goes on, and counts.

A study names its cells, and yields the rows of one sample of a cell. The loop draws samples of all
cells in turn, adds their rows to a file as they come, and goes on where it was stopped. Most
studies ask how often intervals contain true values; their tables are made here too.
"""

import argparse
import csv
import inspect
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Memory

import ucvtest as uv

kept = Memory("build/truths", verbose=0).cache
"""True values that take long are kept in files, below the folder where a script runs."""

ENDS = ("truth", "estimate", "low", "high")
"""The numbers of an interval: see `answer`."""


def answer(truth: float, result: uv.TestResult) -> tuple[float, ...]:
    """The true value, the estimate and the ends of the interval; NaN without an answer."""
    ends = result.conf_int() if result.status == "ok" else (np.nan, np.nan)
    return truth, result.estimate, *ends


def one_and_difference(
    test: Any, losses: uv.Losses, truth: Sequence[float], **options: Any
) -> Iterator[tuple]:
    """Answers about the first learner, and about its difference to the second."""
    first, second = truth
    for target, learners, value in (("one", [0], first), ("difference", [0, 1], first - second)):
        yield target, *answer(value, test.from_losses(losses, *learners).fit(**options))


@dataclass(frozen=True)
class Study:
    """Cells, and what a sample of a cell says.

    Parameters
    ----------
    sample : callable
        Takes the values of a cell, by the names that the table has for them, and the number of a
        sample. Yields rows: labels and numbers.
    labels : tuple of str
        The names of what tells the rows of a sample apart.
    cells : iterable of tuple
        All cells, the cheapest first: --quick draws one sample of it.
    samples : int
        Of each cell.
    more : mapping
        Numbers of a row behind those of its interval, and what pandas makes of them for the table.
    values : tuple of str
        The names of the numbers in a row that has no interval.
    table : callable, optional
        Makes the table from the rows; without one, `coverage` of keys and labels does.
    short : callable, optional
        Makes a second table from the first, which is kept as "..._in_short".
    script : str, optional
        The file next to which tables are kept, if it is another one than that of `sample`.
    """

    sample: Callable[..., Iterable[tuple]]
    labels: tuple[str, ...]
    cells: Iterable[tuple]
    samples: int
    more: Mapping[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ENDS
    table: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    short: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    script: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", list(self.cells))
        object.__setattr__(self, "values", (*self.values, *self.more))

    @property
    def path(self) -> Path:
        """The file of the table."""
        return Path(self.script or inspect.getfile(self.sample)).with_suffix(".csv")

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the values of a cell."""
        *keys, _ = inspect.signature(self.sample).parameters
        return tuple(keys)

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the rows."""
        return (*self.keys, "number", *self.labels, *self.values)

    def rows_of(self, *cell: Any) -> Iterator[tuple]:
        """The rows of a sample, whose number comes last."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for row in self.sample(*cell):
                labels, numbers = row[: len(self.labels)], row[len(self.labels) :]
                yield *cell, *labels, *(f"{number:.6g}" for number in numbers)

    def table_of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The table of these rows."""
        return self.table(rows) if self.table else self.covered(rows)

    def covered(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The table of intervals by cell and labels, with what there is more."""
        keys = [*self.keys, *self.labels]
        table = coverage(rows, keys)
        if not self.more:
            return table
        more = rows.groupby(keys, sort=False).agg(dict(self.more))
        return table.join(more.round(4), on=keys)

    def collect(self, path: Path, numbers: range, seconds: float) -> None:
        """Add rows until all samples are there, or the time is up."""
        wanted = ((*cell, number) for number, cell in product(numbers, self.cells))
        add_rows(path, self.columns, (*self.keys, "number"), wanted, self.rows_of, seconds)

    def main(self) -> None:
        """Go on with the samples and print the table; `--table` keeps it instead."""
        script = sys.modules["__main__"]
        parser = argparse.ArgumentParser(description=str(script.__doc__).splitlines()[0])
        rows = Path("build", self.path.name)
        parser.add_argument("--rows", type=Path, default=rows, help="the file of the rows")
        parser.add_argument("--samples", type=int, default=self.samples, help="of each cell")
        parser.add_argument("--seconds", type=float, default=1200, help="no sample is begun after")
        parser.add_argument("--part", type=int, nargs=2, default=(0, 1), metavar=("I", "N"))
        parser.add_argument("--table", action="store_true", help="no more samples: keep the table")
        parser.add_argument("--quick", action="store_true", help="one sample, nothing kept")
        chosen = parser.parse_args()
        if chosen.quick:
            found = pd.DataFrame(self.rows_of(*self.cells[0], 0), columns=list(self.columns))
            print(self.table_of(found.astype(dict.fromkeys(self.values, float))).to_string())
            return
        if not chosen.table:
            part, n_parts = chosen.part
            self.collect(chosen.rows, range(part, chosen.samples, n_parts), chosen.seconds)
        tables = {self.path.stem: self.table_of(pd.read_csv(chosen.rows))}
        if self.short:
            tables[f"{self.path.stem}_in_short"] = self.short(tables[self.path.stem])
        for stem, table in tables.items():
            if chosen.table:
                table.to_csv(self.path.with_stem(stem), index=False)
            print(table.to_string(index=False))


def coverage(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """How often intervals contain the truth, in percent of the samples with an answer."""
    low, high, truth = rows["low"], rows["high"], rows["truth"]
    rows = rows.assign(
        samples=1,
        answered=low.notna(),
        coverage=(low <= truth) & (truth <= high),
        ends_below=high < truth,
        begins_above=low > truth,
        rejects_0=(low > 0) | (high < 0),
        bias=rows["estimate"] - truth,
        width=high - low,
    )
    cells = rows.groupby(list(keys), sort=False)
    table = cells[["samples", "answered"]].sum()
    for name in ("coverage", "ends_below", "begins_above", "rejects_0"):
        table[name] = (100 * cells[name].sum() / table["answered"]).round(2)
    table.insert(3, "mc_se", mc_se(table["coverage"], table["answered"]).round(2))
    means = cells[["truth", "bias", "width"]].mean()
    return table.join(means.assign(sd=cells["estimate"].std()).round(4)).reset_index()


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> str:
    """A table as pages have it; nothing without rows."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        return ""
    head = [f"**{title}**", ""] if title else []
    end = [""] if title else []
    rule = f"|{'---|' * len(columns)}"
    return "\n".join([*head, f"| {' | '.join(columns)} |", rule, *lines, *end])


def mc_se(percent: Any, samples: Any) -> Any:
    """The Monte-Carlo error of percentages."""
    return np.sqrt(percent * (100 - percent) / samples)


def add_rows(
    path: Path,
    columns: Sequence[str],
    keys: Sequence[str],
    cells: Iterable[tuple[Any, ...]],
    rows_of: Callable[..., Iterable[tuple[Any, ...]]],
    seconds: float,
) -> None:
    """Add the rows of every cell missing in a file, until all are there or the time is up.

    Parameters
    ----------
    path : Path
        The file, which is made if it does not exist. The rows of a cell are written together.
    columns : sequence of str
        The names of the columns.
    keys : sequence of str
        Those by which a cell is known, in the order of its values.
    cells : iterable of tuple
        All cells, in the order in which they are wanted.
    rows_of : callable
        Takes the values of a cell and gives its rows.
    seconds : float
        No cell is begun after so long.
    """
    start = time.monotonic()
    path.parent.mkdir(parents=True, exist_ok=True)
    known = pd.read_csv(path)[list(keys)] if path.exists() else pd.DataFrame(columns=list(keys))
    done = set(known.itertuples(index=False, name=None))
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if not path.stat().st_size:
            writer.writerow(columns)
        for cell in cells:
            if cell in done:
                continue
            if time.monotonic() - start > seconds:
                return
            writer.writerows(list(rows_of(*cell)))
            file.flush()


def written(frame: pd.DataFrame, path: Path, **form: Any) -> None:
    """Write a table whole or not at all, so that a run that was stopped can go on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    frame.to_csv(part, index=False, **form)
    part.replace(path)


def in_short(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Coverage over all problems, with its error, of those kept aside, and of the worst one.

    Those kept aside are told by a column "held_out", or by their names.
    """
    keys = list(keys)
    apart = table["held_out"] if "held_out" in table else table["problem"].str.startswith("held")
    hits = table["coverage"] * table["answered"] / 100
    table = table.assign(hits=hits, of_held=hits.where(apart), held=table["answered"].where(apart))
    cells = table.groupby(keys, sort=False)
    sums = cells[["samples", "answered", "hits", "of_held", "held"]].sum()
    of_problems = table.groupby([*keys, "problem"], sort=False)[["hits", "answered"]].sum()
    shares = (100 * of_problems["hits"] / of_problems["answered"]).rename("worst").reset_index()
    worst = shares.loc[shares.groupby(keys)["worst"].idxmin()].set_index(keys)
    share = 100 * sums["hits"] / sums["answered"]
    short = sums[["samples", "answered"]].assign(
        coverage=share,
        mc_se=mc_se(share, sums["answered"]),
        held=100 * sums["of_held"] / sums["held"],
        worst=worst["worst"],
    )
    short = short.round(1).assign(worst_problem=worst["problem"])
    return short.assign(width=cells["width"].mean().round(3)).reset_index()
