"""Automatic logging: a hook on every fit, and a spool for what could not be sent."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

import mlflow

from ucvtest import hooks
from ucvtest_mlflow.content import data_of, describe_data
from ucvtest_mlflow.delivery import (
    Logged,
    Unreachable,
    destination,
    displayed_address,
    is_local,
    require_same_server,
    send,
)
from ucvtest_mlflow.pause import NOT_LOGGED, autologging_paused, paused_in_worker
from ucvtest_mlflow.records import Record, Spool, default_spool_dir, home

LONG_SECONDS = 2.0
"""A failure that took longer kept a test waiting, which the next ones are spared."""
PAUSE_SECONDS = 60.0

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
    ask_again: dict[str, float] = field(default_factory=dict, compare=False, repr=False)
    """When servers that kept a test waiting are asked again."""

    def fitting(self, test: Any) -> AbstractContextManager[None]:
        """Hide the fits of the resampling from MLflow's integrations."""
        return autologging_paused()

    def in_worker(self) -> Callable[[], AbstractContextManager[None]]:
        """The same in joblib's processes, where a learner's module may have turned them on."""
        return paused_in_worker

    def fitted(self, test: Any, result: Any) -> None:
        """Log the result, or keep it for later with a warning that says where."""
        self._log(test, result)

    def compared(self, test: Any, comparison: Any) -> None:
        """Log a comparison as one, and none of its results by itself."""
        self._log(test, comparison)

    def concluded(self, question: Any, outcome: Any) -> None:
        """Log a choice of `uv.select_model`, or a plan."""
        self._log(question, outcome)

    def _log(self, test: Any, result: Any) -> None:
        if NOT_LOGGED.get():
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
        kept = None
        # Whatever happens from here on, an interruption included, the result is on disk. One
        # that refuses writing is not a reason to lose results that the server would take.
        try:
            kept = self.spool.keep(record)
        except Exception as error:
            hooks.warn_caller(
                f"the result is not kept on disk while it is sent ({_error_text(error)}): "
                "name another folder in spool_dir"
            )
        try:
            with kept or nullcontext(), self._once_a_minute(record.tracking_uri):
                logged = send(record, data_of(test), kept)
        except Exception as error:
            hooks.warn_caller(_failed(error, None if kept is None else kept.path))
            return
        if not self.silent:
            where = _without_passwords(record.tracking_uri)
            logger.info("Logged %s to run %s (%s)", logged.key, logged.run_id, where)

    @contextmanager
    def _once_a_minute(self, tracking_uri: str) -> Iterator[None]:
        """Surround a request to a server, unless it has kept a test waiting within a minute."""
        server, start = displayed_address(tracking_uri), monotonic()
        left = self.ask_again.get(server, start) - start
        if left > 0:
            raise Unreachable(
                f"{server} has kept an earlier test waiting, and is asked again in {left:.0f} s"
            )
        try:
            yield
        except Exception:
            if monotonic() - start >= LONG_SECONDS and not is_local(tracking_uri):
                self.ask_again[server] = monotonic() + PAUSE_SECONDS
            raise


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
        If `spool_dir` cannot be written to.

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
        What another process or thread is sending is left to it, so that nothing is sent twice.

    Raises
    ------
    ValueError
        If `spool_dir` is not the name of a folder.
    """
    spool = _spool(spool_dir)
    sent, dead = [], set()
    for path in spool.files():
        kept = None
        try:
            kept = spool.claim(path)
            if kept is None:
                if path.exists():
                    waiting = f"{home(path)} is being sent already"
                    hooks.warn_caller(f"{waiting}, and is left to that attempt")
                continue
            with kept:
                if kept.record.tracking_uri in dead:
                    raise Unreachable
                require_same_server(kept.record.tracking_uri)
                sent.append(send(kept.record, kept=kept))
        except Exception as error:
            server = kept and kept.record.tracking_uri
            if server not in dead:
                hooks.warn_caller(_failed(error, path))
            if isinstance(error, Unreachable):
                dead.add(server)
    return sent


def _spool(spool_dir: str | Path | None) -> Spool:
    if spool_dir is not None and not isinstance(spool_dir, (str, PathLike)):
        raise ValueError(f"spool_dir must be the name of a folder, got {spool_dir!r:.60}")
    return Spool(default_spool_dir() if spool_dir is None else Path(spool_dir))


def _failed(error: Exception, path: Path | None) -> str:
    """That a result is not in MLflow, and how it comes there."""
    remedy = "ucvtest_mlflow.log_result(result) logs it"
    if path is not None:
        remedy = (
            f"it is kept in {home(path)}: ucvtest_mlflow.flush_spool() or the command "
            "'ucvtest mlflow flush' sends it"
        )
    return f"the result is not in MLflow ({_error_text(error)}); {remedy}"


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {_without_passwords(str(error))}"


def _without_passwords(text: str) -> str:
    """The text without users and passwords in the addresses that it names."""
    return re.sub(r"(?<=://)[^/\s]+@", "", text)
