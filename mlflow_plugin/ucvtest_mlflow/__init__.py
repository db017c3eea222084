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

_HOMES = {
    "hook": ("autolog", "flush_spool"),
    "tables": ("load_assessments", "load_table"),
    "delivery": ("Logged", "load_result", "log_margin", "log_result"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"ucvtest_mlflow.{module}"), name)
    raise AttributeError(f"module 'ucvtest_mlflow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
