"""Plugins: packages that depend on this one and are found by their entry points.

A plugin declares an entry point in the group ``ucvtest.loggers``. It refers to a module that
has the functions `autolog`, `flush_spool`, `load_assessments` and `load_table`, which importing
the module need not load.
"""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any


def mlflow_function(name: str) -> Callable[..., Any]:
    """The function of the plugin that logs to MLflow; an ImportError names the missing part."""
    try:
        for plugin in entry_points(group="ucvtest.loggers", name="mlflow"):
            plugin_function: Callable[..., Any] = getattr(plugin.load(), name)
            return plugin_function
    except ImportError as error:
        raise ImportError(f"{name} needs MLflow: pip install 'ucvtest[mlflow]'") from error
    raise ImportError(
        f"{name} finds no entry point 'mlflow' in the group 'ucvtest.loggers': install ucvtest "
        "again, pip install 'ucvtest[mlflow]'"
    )
