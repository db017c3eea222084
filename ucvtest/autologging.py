"""The switch for automatic logging to MLflow."""

import threading
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, ClassVar

from ucvtest import hooks
from ucvtest.common.checks import check_switch
from ucvtest.common.plugins import mlflow_function

__all__ = ["AutologByEnvironment", "autolog", "flush_spool"]


def autolog(
    *,
    log_plots: bool = True,
    log_datasets: bool = True,
    log_tables: bool = True,
    nested: bool = False,
    spool_dir: str | Path | None = None,
    disable: bool = False,
    silent: bool = False,
) -> None:
    """Log every later test, comparison, selection and plan, in the active run or one of its own.

    Calling it again replaces the options. While a test resamples, MLflow's own autologging
    is off in the whole process, so that the fits inside log nothing. A server that does not answer
    delays a test by 8 seconds at most, and only one test a minute. ``UCVTEST_AUTOLOG=1`` in the
    environment does the same without code.

    Parameters
    ----------
    log_plots, log_datasets, log_tables : bool
        Whether the pictures, the data set as a run input, and the tables are logged.
    nested : bool
        Log each test as a child run of the active run instead of into it.
    spool_dir : path, optional
        Where results wait while the tracking server cannot be reached; by default a folder
        ``ucvtest/mlflow_spool`` below ``$XDG_STATE_HOME`` or ``~/.local/state``. Where this one
        cannot be used, a warning says so, and results are logged without waiting.
    disable : bool
        Stop logging.
    silent : bool
        Print nothing about where results go. Failures still warn.

    Raises
    ------
    ImportError
        If MLflow is not installed, or plots are asked for and matplotlib is not.
    ValueError
        If a switch is not True or False, or `spool_dir` cannot be written to.

    See Also
    --------
    ucvtest_mlflow : logs results that exist already, and sends what could not be sent.
    """
    switches = {
        "log_plots": log_plots,
        "log_datasets": log_datasets,
        "log_tables": log_tables,
        "nested": nested,
        "disable": disable,
        "silent": silent,
    }
    for name, value in switches.items():
        check_switch(name, value)
    mlflow_function("autolog")(**switches, spool_dir=spool_dir)


def flush_spool(spool_dir: str | Path | None = None) -> list[Any]:
    """Send the results that were kept while their MLflow server could not be reached.

    Parameters
    ----------
    spool_dir : path, optional
        The folder given to `autolog`; by default its default.

    Returns
    -------
    list of (run_id, key)
        Records that were sent, the oldest first. Records that could not be sent stay, with a
        warning. Records that another process or thread is sending are left to it, so that nothing
        is sent twice.

    Raises
    ------
    ImportError
        If MLflow is not installed.
    """
    sent: list[Any] = mlflow_function("flush_spool")(spool_dir)
    return sent


class AutologByEnvironment:
    """Stands for `autolog` up to the first fit or result: without one MLflow is not imported."""

    logs_to: ClassVar[str] = "mlflow"

    def __init__(self) -> None:
        self._switching = threading.Lock()
        self._switched = False

    def fitting(self, test: Any) -> AbstractContextManager[Any]:
        """Leave the fit to the hook that `autolog` adds, which surrounds the fit."""
        with ExitStack() as stack:
            for hook in self._in_its_place():
                stack.enter_context(hook.fitting(test))
            return stack.pop_all()

    def fitted(self, test: Any, result: Any) -> None:
        """Leave the result to it if nothing was fitted before, as by a test on losses."""
        for hook in self._in_its_place():
            hook.fitted(test, result)

    def compared(self, test: Any, comparison: Any) -> None:
        """The same for a comparison."""
        for hook in self._in_its_place():
            if isinstance(hook, hooks.ComparisonHook):
                hook.compared(test, comparison)

    def concluded(self, question: Any, outcome: Any) -> None:
        """The same for a plan, or a selection."""
        for hook in self._in_its_place():
            if isinstance(hook, hooks.OutcomeHook):
                hook.concluded(question, outcome)

    def _in_its_place(self) -> list[hooks.LoggingHook]:
        """The hook that `autolog` adds; threads that come meanwhile wait for it."""
        with self._switching:
            if not self._switched:
                # Whether or not autolog succeeds, it is called once, and warns once.
                self._switched = True
                try:
                    autolog()
                finally:
                    hooks.remove_hook(self)
        return [
            hook
            for hook in hooks.installed_hooks()
            if isinstance(hook, hooks.LoggingHook) and hook.logs_to == self.logs_to
        ]
