"""Results of ucvtest in MLflow: logged by themselves, sent by hand, and read back.

The public names load on first use, so that ``import ucvtest_mlflow`` stays quick; using
one of them imports MLflow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucvtest_mlflow.delivery import Logged, load_result, log_margin, log_result
    from ucvtest_mlflow.hook import autolog, flush_spool
    from ucvtest_mlflow.tables import load_assessments, load_table

__all__ = [
    "Logged",
    "autolog",
    "flush_spool",
    "load_assessments",
    "load_result",
    "load_table",
    "log_margin",
    "log_result",
]

_HOME = {
    "Logged": "ucvtest_mlflow.delivery",
    "autolog": "ucvtest_mlflow.hook",
    "flush_spool": "ucvtest_mlflow.hook",
    "load_assessments": "ucvtest_mlflow.tables",
    "load_result": "ucvtest_mlflow.delivery",
    "load_table": "ucvtest_mlflow.tables",
    "log_margin": "ucvtest_mlflow.delivery",
    "log_result": "ucvtest_mlflow.delivery",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ucvtest_mlflow' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
