"""Turning off what MLflow does by itself, for as long as it would be in the way.

Worker processes import this module, and MLflow itself only where a learner has imported it.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar


class _Pause:
    """A switch of MLflow's, held off by as many as need it off at a time.

    The switches belong to the process and are not counted by MLflow: the first of two
    threads to end would turn one on again under the other.

    Parameters
    ----------
    switch : callable
        Makes the context in which it is off.
    """

    def __init__(self, switch: Callable[[], AbstractContextManager[None]]) -> None:
        self._make = switch
        self._lock = threading.Lock()
        self._holders = 0
        self._switch = ExitStack()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self._lock:
            if self._holders == 0:
                self._switch.enter_context(self._make())
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    self._switch.close()


@contextmanager
def _autologging_off() -> Iterator[None]:
    from mlflow.utils import autologging_utils

    # Inside a `disable_autologging` of the user's, ours would turn it on again at its end.
    if getattr(autologging_utils, "_AUTOLOGGING_GLOBALLY_DISABLED", False):
        yield
        return
    with autologging_utils.disable_autologging():
        yield


QUIET = {
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
}
BRIEF = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "3",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "0",
    "MLFLOW_HTTP_REQUEST_BACKOFF_JITTER": "0",
    # A server may name hours.
    "MLFLOW_HTTP_RESPECT_RETRY_AFTER_HEADER": "false",
}
"""Two attempts of 3 seconds each: MLflow's own values let a server keep a test for minutes."""


@contextmanager
def _variables(values: dict[str, str]) -> Iterator[None]:
    """Variables that MLflow reads at each request, but for those that the user has set."""
    ours = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)


NOT_LOGGED: ContextVar[bool] = ContextVar("ucvtest_mlflow.not_logged", default=False)
"""Where it is True, `ucvtest_mlflow.autolog` leaves results to whoever asks for them."""

autologging_paused = _Pause(_autologging_off)
"""No fit in this process is logged by MLflow's integrations inside such a context.

The state from before returns when the last such context ends, exceptions included.
"""

quiet = _Pause(lambda: _variables(QUIET))
"""MLflow prints neither progress bars nor addresses of runs inside such a context."""

brief = _Pause(lambda: _variables(BRIEF))
"""MLflow waits for no server for long inside such a context."""


def paused_in_worker() -> AbstractContextManager[None]:
    """No fit in a worker process is logged by MLflow's integrations inside this context."""
    return autologging_paused() if "mlflow" in sys.modules else nullcontext()
