"""Automatic logging: a hook on every fit, and a spool for what could not be sent."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import mlflow

from ucvtest import TestResult, hooks
from ucvtest_mlflow.content import data_of, describe_data
from ucvtest_mlflow.delivery import Logged, destination, send
from ucvtest_mlflow.pause import autologging_paused, is_not_logged, paused_in_worker
from ucvtest_mlflow.records import Outcome, Record
from ucvtest_mlflow.servers import (
    Paused,
    RetryPolicy,
    Unreachable,
    hide_passwords,
    require_same_server,
)
from ucvtest_mlflow.spool import Spool, default_spool_dir

if TYPE_CHECKING:
    from ucvtest import Comparison, ModelSelection, SamplePlan

# Below MLflow's own logger, whose handler and level then apply to it too.
logger = logging.getLogger("mlflow.ucvtest")


@dataclass(frozen=True)
class AutologHook:
    """Logs every result that it receives; see `autolog` for the options."""

    logs_to: ClassVar[str] = "mlflow"

    spool: Spool
    log_plots: bool = True
    log_datasets: bool = True
    log_tables: bool = True
    nested: bool = False
    silent: bool = False
    retry_policy: RetryPolicy = field(default_factory=RetryPolicy, compare=False, repr=False)

    def fitting(self, test: Any) -> AbstractContextManager[None]:
        """Hide the fits of the resampling from MLflow's integrations."""
        return autologging_paused()

    def in_worker(self) -> Callable[[], AbstractContextManager[None]]:
        """The same in joblib's processes, where a learner's module may have turned them on."""
        return paused_in_worker

    def fitted(self, test: Any, result: TestResult) -> None:
        """Log the result, or keep it for later with a warning that says where."""
        self._log(test, result)

    def compared(self, test: Any, comparison: "Comparison") -> None:
        """Log a comparison as one, and none of its results by itself."""
        self._log(test, comparison)

    def concluded(self, question: Any, outcome: "ModelSelection | SamplePlan") -> None:
        """Log a choice of `uv.select_model`, or a plan."""
        self._log(question, outcome)

    def _log(self, test: Any, result: Outcome) -> None:
        if is_not_logged():
            return
        record = destination(
            Record(
                result,
                mlflow.get_tracking_uri(),
                dataset=describe_data(test) if self.log_datasets else None,
                log_plots=self.log_plots,
                log_tables=self.log_tables,
            ),
            nested=self.nested,
        )
        kept, disk = None, ""
        # Whatever happens from here on, an interruption included, the result is on disk. One
        # that refuses writing is not a reason to lose results that the server would take.
        try:
            kept = self.spool.keep(record)
        except Exception as error:
            disk = _error_text(error)
        try:
            with self.retry_policy.request(record.tracking_uri):
                logged = send(record, data_of(test), kept)
        except Exception as error:
            if kept is not None:
                if isinstance(error, Paused):
                    kept.close()
                hooks.warn_caller(_kept_message(error, kept.path))
            else:
                hooks.warn_caller(
                    f"the result is neither in MLflow ({_error_text(error)}) nor on disk ({disk}): "
                    "ucvtest_mlflow.log_result(result) logs it; name another folder in spool_dir"
                )
            return
        if not self.silent:
            where = hide_passwords(record.tracking_uri)
            logger.info("Logged %s to run %s (%s)", logged.key, logged.run_id, where)
        if kept is None:
            hooks.warn_caller(
                f"the result is in MLflow, but it could not be kept on disk before ({disk}): had "
                "the server failed, it would be lost; name another folder in spool_dir"
            )


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
    """Log every later test to MLflow; `ucvtest.autolog` calls this function.

    Parameters
    ----------
    log_plots, log_datasets, log_tables, nested, spool_dir, disable, silent
        See `ucvtest.autolog`.

    Raises
    ------
    ImportError
        If plots are asked for and matplotlib is not installed.
    ValueError
        If `spool_dir` cannot be written to, is not the user's, or is open to others and contains
        more than records.

    Notes
    -----
    `mlflow.load_table` finds the tables of the first result of a run; further ones are read by
    `ucvtest_mlflow.load_table`, because its list of tables is one tag, which everybody rewrites.
    """
    if disable:
        hooks.remove_logging(AutologHook.logs_to)
        return
    if log_plots and find_spec("matplotlib") is None:
        raise ImportError(
            "log_plots=True needs matplotlib: pip install 'ucvtest[plot]', or pass log_plots=False"
        )
    spool = _spool(spool_dir)
    try:
        spool.open()
    except ValueError as error:
        if spool_dir is not None:
            raise
        # Nobody asked for this folder, and healthy servers need none.
        hooks.warn_caller(f"{error}; results are logged without being kept on disk before")
    hooks.replace_logging(AutologHook(spool, log_plots, log_datasets, log_tables, nested, silent))


def flush_spool(spool_dir: str | Path | None = None) -> list[Logged]:
    """Send the results that were kept while their MLflow server could not be reached.

    Parameters
    ----------
    spool_dir : path, optional
        The folder given to `autolog`; by default its default.

    Returns
    -------
    list of Logged
        The results that were sent, the oldest first. What could not be sent stays, with a warning.
        What another process (or an earlier attempt of this one) is sending is left to it,
        so that nothing is sent twice.

    Raises
    ------
    ValueError
        If the folder is not the user's, or is open to others and contains more than records.
    """
    spool = _spool(spool_dir)
    dead: set[str] = set()
    tried = [_resend(spool, path, dead) for path in spool.files()]
    return [logged for logged in tried if logged is not None]


def _resend(spool: Spool, path: Path, dead: set[str]) -> Logged | None:
    """Send one file, unless its server is among the dead ones; None where that failed."""
    tracking_uri = None
    try:
        kept = spool.claim(path)
        if kept is None:
            if path.exists():
                hooks.warn_caller(f"{path} is being sent already, and is left to that attempt")
            return None
        tracking_uri = kept.record.tracking_uri
        if tracking_uri in dead:
            kept.close()
            return None
        try:
            require_same_server(tracking_uri)
        except ValueError:
            kept.close()
            raise
        return send(kept.record, kept=kept)
    except Exception as error:
        if isinstance(error, Unreachable) and tracking_uri is not None:
            dead.add(tracking_uri)
        hooks.warn_caller(_kept_message(error, path))
        return None


def _spool(spool_dir: str | Path | None) -> Spool:
    if spool_dir is not None and not isinstance(spool_dir, (str, PathLike)):
        raise ValueError(f"spool_dir must be the name of a folder, got {spool_dir!r:.60}")
    return Spool(default_spool_dir() if spool_dir is None else Path(spool_dir))


def _kept_message(error: Exception, path: Path) -> str:
    return (
        f"the result is not in MLflow ({_error_text(error)}); it is kept in {path}: "
        "ucvtest_mlflow.flush_spool() or the command 'ucvtest mlflow flush' sends it"
    )


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {hide_passwords(str(error))}"
