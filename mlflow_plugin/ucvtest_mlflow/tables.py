"""Tables that runs contain, and what judges said of the answers that were evaluated in runs."""

import json
from typing import Any

import mlflow
import mlflow.artifacts
import pandas as pd
from mlflow import MlflowClient

from ucvtest_mlflow.pause import quiet

OF_RUN = "mlflow.assessment.sourceRunId"
"""Where an assessment says in which run it was made."""


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
        If it is not a table.
    """
    with quiet():
        found = mlflow.artifacts.load_dict(f"runs:/{run_id}/{table}")
    if not {"columns", "data"} <= set(found):
        raise ValueError(
            f"table={table!r:.60} of run {run_id} is not a table with columns and data"
        )
    return pd.DataFrame(found["data"], columns=found["columns"])


def load_assessments(evaluated: str, name: str) -> pd.DataFrame:
    """The assessment of each answer under one name, as `mlflow.genai.evaluate` has kept it.

    Parameters
    ----------
    evaluated : str
        A run, or a version of a model ("m-..."), whose evaluations are then read together.
    name : str
        Of the assessment, which is that of the scorer.

    Returns
    -------
    DataFrame
        "request", the inputs as JSON, and "value", None where a scorer failed; a row for each
        answer, the oldest first.
    """
    client, of_model = MlflowClient(), evaluated.startswith("m-")
    home = client.get_logged_model(evaluated) if of_model else client.get_run(evaluated).info
    traces = mlflow.search_traces(
        locations=[home.experiment_id],
        return_type="list",
        **{"model_id" if of_model else "run_id": evaluated},
    )
    found = [
        {"request": _request(trace), "value": said[-1].feedback.value}
        for trace in sorted(traces, key=lambda trace: trace.info.request_time)
        if (said := _said(trace, name, None if of_model else evaluated))
    ]
    return pd.DataFrame(found, columns=["request", "value"], dtype=object)


def _said(trace: Any, name: str, run_id: str | None) -> list[Any]:
    """The valid assessments of one name, the latest last; of one run if it is named.

    Traces that are evaluated again keep the assessments of other runs.
    """
    found = [
        each
        for each in trace.info.assessments
        if each.name == name and each.feedback is not None and each.valid is not False
    ]
    made = {id(each): (each.metadata or {}).get(OF_RUN, run_id) for each in found}
    return sorted(
        (each for each in found if run_id is None or made[id(each)] == run_id),
        key=lambda each: each.last_update_time_ms,
    )


def _request(trace: Any) -> str:
    """The inputs with their names in order, so that the same ones are the same text."""
    text = trace.data.request or trace.info.request_preview
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (TypeError, ValueError):
        return str(text)
