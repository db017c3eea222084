"""Processes that were forked after JAX had started, without the threads of JAX.

Computations there would wait for these threads forever, so the first call that needs JAX raises an
error instead.
"""

import os
import sys
from dataclasses import dataclass

from ucvtest.common.exceptions import ForkedProcessError

MESSAGE = (
    "this process was forked after JAX had started, and JAX would wait forever for threads that "
    "the fork does not have: start processes by the method 'spawn' or 'forkserver', for example "
    "multiprocessing.get_context('spawn'), or leave them to n_jobs="
)


@dataclass
class _Started:
    """The process in which this package last used JAX, and whether a fork came too late."""

    process: int | None = None
    too_late: bool = False


_started = _Started()


def refuse_fork() -> None:
    """Refuse to use JAX if it had started before the process was forked.

    Raises
    ------
    ForkedProcessError
    """
    # Forks unknown to Python, such as those made by R, are recognised by the process number.
    process = os.getpid()
    if _started.process not in (None, process):
        _started.too_late |= _jax_has_started()
    if _started.too_late:
        raise ForkedProcessError(MESSAGE)
    _started.process = process


def _jax_has_started() -> bool:
    """Whether JAX has a backend, whose threads are running; asking starts none."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    # No public function of JAX tells this; without this one, only our own use counts.
    backends_initialized = getattr(
        bridge, "backends_are_initialized", lambda: _started.process is not None
    )
    return bool(backends_initialized())


def _mark_child() -> None:
    _started.too_late |= _jax_has_started()


os.register_at_fork(after_in_child=_mark_child)
