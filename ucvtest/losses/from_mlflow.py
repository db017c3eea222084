"""Predictions in evaluation tables of MLflow's runs."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from ucvtest.common.checks import named_options
from ucvtest.common.plugins import mlflow_function
from ucvtest.losses.from_predictions import SCORE, FromPredictions

__all__ = ["FromMlflow"]


class FromMlflow(FromPredictions):
    """Losses made of what rules predicted, as MLflow has kept it."""

    @classmethod
    @named_options
    def from_mlflow(
        cls,
        run_id: str | Mapping[str, str],
        *,
        predictions: str | Sequence[str],
        table: str = "eval_results_table.json",
        y: str = "target",
        loss: Any = "zero_one",
        metric: Any = None,
        groups: Any = None,
        pos_label: Any = None,
        fold: Any = None,
    ) -> Self:
        """What rules predicted, from evaluation tables of MLflow's runs.

        Parameters
        ----------
        run_id : str or mapping
            A run, whose table has a column for each rule; or name of each rule and the run that
            evaluated it, all on the same rows in the same order.
        predictions : str or sequence of str
            The columns with predictions; of several runs the one that all have.
        table : str
            File of the table, as `mlflow.log_table` and `mlflow.models.evaluate` write it.
        y : str
            The column with what was to be predicted.
        loss, metric, groups, pos_label, fold : optional
            See `from_predictions`; groups and fold may name columns.

        Raises
        ------
        ImportError
            If MLflow is not installed.
        ValueError
            If a column lacks, runs were evaluated on different rows, or see `from_predictions`.
        """
        response, rules, groups, fold = _of_runs(run_id, table, y, predictions, groups, fold)
        # Of scores it only says whether runs were evaluated on the same rows.
        target = None if isinstance(loss, str) and loss == SCORE else response
        return cls.from_predictions(
            *(target, rules),
            loss=loss,
            metric=metric,
            groups=groups,
            pos_label=pos_label,
            fold=fold,
        )


def _of_runs(
    run_id: Any, table: str, y: str, predictions: Any, groups: Any, fold: Any
) -> tuple[Any, Any, Any, Any]:
    """Response, predictions by name, groups and folds, as `Losses.from_predictions` takes them."""
    runs = list(run_id.values()) if isinstance(run_id, Mapping) else [run_id]
    for name, value in [("table", table), ("y", y)] + [("run_id", run) for run in runs]:
        if not isinstance(value, str) or not value:
            raise ValueError(f"{name} must be a name, got {value!r:.60}: see the run in MLflow")
    if isinstance(run_id, Mapping):
        if not isinstance(predictions, str):
            raise ValueError(
                f"predictions must be the one column that every run has, got {predictions!r:.60}"
            )
        run_and_column = {name: (run_of_rule, predictions) for name, run_of_rule in run_id.items()}
    else:
        columns = [predictions] if isinstance(predictions, str) else predictions
        if not isinstance(columns, Sequence) or not all(isinstance(c, str) for c in columns):
            raise ValueError(f"predictions must name columns of the table, got {columns!r:.60}")
        run_and_column = {column: (run_id, column) for column in columns}
    if not run_and_column:
        raise ValueError("no run and no column is named: pass at least one")
    load = mlflow_function("load_table")
    tables = {
        run: load(run, table) for run in dict.fromkeys(run for run, _ in run_and_column.values())
    }
    for run, column in [(run, y) for run in tables] + list(run_and_column.values()):
        if column not in tables[run].columns:
            raise ValueError(
                f"{column!r:.60} is no column of {table} of run {run}, which has "
                f"{', '.join(map(str, tables[run].columns))}"
            )
    first = next(iter(tables.values()))
    for run, run_table in tables.items():
        if run_table[y].tolist() != first[y].tolist():
            raise ValueError(
                f"run {run} was evaluated on other rows than the first, as {y!r} differs: log the "
                "predictions of all for the same rows in the same order"
            )
    rules = {name: tables[run][column] for name, (run, column) in run_and_column.items()}
    return first[y], rules, _column(first, "groups", groups), _column(first, "fold", fold)


def _column(table: Any, argument: str, column_or_values: Any) -> Any:
    """The column that is named; what is no name as it is."""
    if not isinstance(column_or_values, str):
        return column_or_values
    if column_or_values not in table.columns:
        raise ValueError(
            f"{argument}={column_or_values!r:.60} is no column of the table, which has "
            f"{', '.join(map(str, table.columns))}"
        )
    return table[column_or_values]
