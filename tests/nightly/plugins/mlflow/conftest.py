"""The fixtures of tests/support/mlflow_fixtures.py, where there is MLflow to make them."""

from importlib.util import find_spec

if find_spec("mlflow") is not None:
    from tests.support.mlflow_fixtures import (
        client,
        empty_store,
        experiment,
        running_server,
        server,
        spool,
    )

    __all__ = ["client", "empty_store", "experiment", "running_server", "server", "spool"]
