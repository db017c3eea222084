"""Where the real data sets are that studies use, which are not part of the project."""

import os
from pathlib import Path

import pandas as pd

BESIDE_THE_CLONE = Path(__file__).resolve().parents[2] / "shared" / "data"

FOLDER = Path(os.environ.get("UCVTEST_DATA", BESIDE_THE_CLONE))


class DataMissing(FileNotFoundError):
    """A data set is not in the folder; the message says how to name another folder."""


def data_set(name: str) -> pd.DataFrame:
    """The table of a data set, whose first column is the response.

    Raises
    ------
    DataMissing
        The folder has no such file.
    """
    file = FOLDER / f"{name}.csv.gz"
    if not file.exists():
        raise DataMissing(f"{file} is missing: set UCVTEST_DATA to the folder of the data sets")
    return pd.read_csv(file)
