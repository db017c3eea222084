"""Rows of a simulation, kept in a file while it runs: one that was stopped goes on."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from studies.coverage import written

STEP = 20
"""Rows between two writes."""


def kept_rows(
    file: Path | None, n_rows: int, row: Callable[[int], Mapping[str, float]]
) -> pd.DataFrame:
    """Rows 0 to n_rows - 1; those that the file has are not made again.

    Each must follow from its number alone, whatever was made before it.
    """
    frame = pd.DataFrame()
    if file is not None and file.exists():
        frame = pd.read_csv(file)
    while len(frame) < n_rows:
        numbers = range(len(frame), min(n_rows, len(frame) + STEP))
        frame = pd.concat([frame, pd.DataFrame([row(i) for i in numbers])], ignore_index=True)
        if file is not None:
            written(frame, file)
    return frame.iloc[:n_rows]
