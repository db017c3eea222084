"""Keeping MLflow's own autologging away from the fits inside a resampling test."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from mlflow.utils import autologging_utils

__all__ = ["autologging_paused"]


class _Pause:
    """MLflow's switch for all autologging, held by as many tests as run at a time.

    The switch belongs to the process and is not counted by MLflow: the first of two tests
    in two threads to end would turn it on again under the other.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._switch = ExitStack()

    def take(self) -> None:
        with self._lock:
            if self._holders == 0 and not _already_off():
                self._switch.enter_context(autologging_utils.disable_autologging())
            self._holders += 1

    def give_back(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._switch.close()


def _already_off() -> bool:
    # Inside a `disable_autologging` of the user's, ours would turn it on again at its end.
    return bool(getattr(autologging_utils, "_AUTOLOGGING_GLOBALLY_DISABLED", False))


_pause = _Pause()


@contextmanager
def autologging_paused() -> Iterator[None]:
    """No fit in this process is logged by MLflow's integrations inside this context.

    The state from before returns when the last such context ends, exceptions included.
    """
    _pause.take()
    try:
        yield
    finally:
        _pause.give_back()
