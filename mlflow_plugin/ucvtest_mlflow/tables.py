"""Tables that runs hold, as `mlflow.log_table` and `mlflow.models.evaluate` write them."""

import mlflow.artifacts
import pandas as pd

from ucvtest_mlflow.pause import quiet

__all__ = ["load_table"]


def load_table(run_id: str, table: str) -> pd.DataFrame:
    """The table of one run.

    Parameters
    ----------
    run_id : str
    table : str
        Its file, for example "eval_results_table.json".

    Raises
    ------
    ValueError
        If it is no table.
    """
    with quiet():
        found = mlflow.artifacts.load_dict(f"runs:/{run_id}/{table}")
    if not {"columns", "data"} <= set(found):
        raise ValueError(f"table={table!r:.60} of run {run_id} is no table with columns and data")
    return pd.DataFrame(found["data"], columns=found["columns"])
