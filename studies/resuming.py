"""Rows of simulations in a CSV file, to which a script adds where it was stopped."""

import csv
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["add_rows"]


def add_rows(
    path: Path,
    columns: Sequence[str],
    keys: Sequence[str],
    cells: Iterable[tuple[Any, ...]],
    rows_of: Callable[..., Iterable[tuple[Any, ...]]],
    seconds: float,
) -> None:
    """Add the rows of every cell missing in the file, until all are there or the time is up.

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
