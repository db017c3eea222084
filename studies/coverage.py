"""Tables in short: coverage over problems, with its error, of held-out problems, and at worst."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["over_problems", "share_of", "write_both"]


def over_problems(cells: pd.DataFrame, held_out: pd.Series) -> dict[str, Any]:
    """Samples and answers of some cells, and the coverage of the answers in percent.

    Parameters
    ----------
    cells : DataFrame
        With the problem, and the numbers of samples, of answers, and of answers that contain the
        true value.
    held_out : Series of bool
        Which cells are of held-out problems.
    """
    by_problem = cells.groupby("problem", sort=False)[["covered", "answered"]].sum()
    of_each = by_problem["covered"] / by_problem["answered"]
    share, answered = share_of(cells), cells["answered"].sum()
    return {
        "samples": cells["samples"].sum(),
        "answered": answered,
        "coverage": 100 * share,
        "mc_se": 100 * np.sqrt(share * (1 - share) / answered),
        "held": 100 * share_of(cells[held_out]),
        "worst": 100 * of_each.min(),
        "worst_problem": of_each.idxmin(),
    }


def share_of(cells: pd.DataFrame) -> float:
    """The share of the answers that contain the true value; NaN without answers."""
    answered = cells["answered"].sum()
    return float(cells["covered"].sum() / answered) if answered else np.nan


def write_both(table: pd.DataFrame, short: pd.DataFrame, path: Path, short_path: Path) -> None:
    """Write the table of all cells and the short one, and print the short one."""
    table.to_csv(path, index=False, float_format="%.3g")
    short.to_csv(short_path, index=False)
    print(short.to_string(index=False))
