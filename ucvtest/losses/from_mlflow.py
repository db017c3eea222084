"""Predictions in evaluation tables of MLflow's runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from ucvtest.common.plugins import mlflow_function

__all__ = ["of_runs"]


def of_runs(run_id: Any, table: str, y: str, predictions: Any, groups: Any) -> tuple[Any, Any, Any]:
    """Response, predictions by name and groups, as `Losses.from_predictions` takes them."""
    if isinstance(run_id, Mapping):
        if not isinstance(predictions, str):
            raise ValueError(
                f"predictions must be the one column that every run has, got {predictions!r:.60}"
            )
        asked = {name: (each, predictions) for name, each in run_id.items()}
    else:
        columns = [predictions] if isinstance(predictions, str) else predictions
        if not isinstance(columns, Sequence) or not all(isinstance(c, str) for c in columns):
            raise ValueError(f"predictions must name columns of the table, got {columns!r:.60}")
        asked = {column: (run_id, column) for column in columns}
    if not asked:
        raise ValueError("no run and no column is named: pass at least one")
    load = mlflow_function("load_table")
    tables = {run: load(run, table) for run in dict.fromkeys(run for run, _ in asked.values())}
    for run, column in [(run, y) for run in tables] + list(asked.values()):
        if column not in tables[run].columns:
            raise ValueError(
                f"{column!r:.60} is no column of {table} of run {run}, which has "
                f"{', '.join(map(str, tables[run].columns))}"
            )
    first = next(iter(tables.values()))
    for run, found in tables.items():
        if found[y].tolist() != first[y].tolist():
            raise ValueError(
                f"run {run} was evaluated on other rows than the first, as {y!r} differs: log the "
                "predictions of all for the same rows in the same order"
            )
    rules = {name: tables[run][column] for name, (run, column) in asked.items()}
    return first[y], rules, first[groups] if isinstance(groups, str) else groups
