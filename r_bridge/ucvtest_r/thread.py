"""R in this process: on the main thread alone, because R is not made for several.

It cannot have another one: functions of R that wait, such as ``Sys.sleep``, answer Ctrl-C on the
thread that gets the signal, and that is the main one.
"""

import atexit
import os
import signal
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

from ucvtest_r import interrupts
from ucvtest_r.rinterface import import_rinterface

Value = TypeVar("Value")


def is_r_thread() -> bool:
    """Whether the caller may use R: it is on R's own thread."""
    return threading.current_thread() is threading.main_thread()


def on_r_thread(task: Callable[[], Value]) -> Value:
    """Start R if it does not run yet, and run a task that uses it.

    Parameters
    ----------
    task : callable

    Returns
    -------
    object
        What the task returned.

    Raises
    ------
    ImportError
        If R or rpy2 is missing.
    RuntimeError
        On another thread than the main one.
    KeyboardInterrupt
        After Ctrl-C, which ends what R does.
    """
    if not is_r_thread():
        raise RuntimeError("R functions run on R's own thread only, the main one: call fit() there")
    ri = import_rinterface()
    if not ri.embedded.isinitialized():
        _start(ri)
    with interrupts.handed_to_r():
        return task()


def _start(ri: ModuleType) -> None:
    before = dict(os.environ)
    handler = signal.getsignal(signal.SIGINT)
    ri.initr(interactive=False)
    signal.signal(signal.SIGINT, handler)
    # Child processes would take the first two for their own, and a Python among them might load
    # the library of another Python from R's folders.
    for name in ("R_SESSION_INITIALIZED", "PYTHON_SESSION_INITIALIZED", "LD_LIBRARY_PATH"):
        if name in before:
            os.environ[name] = before[name]
        else:
            os.environ.pop(name, None)
    # A fork, such as a worker of multiprocessing, must not clean up after its parent.
    atexit.unregister(ri.endr)
    atexit.register(_end, ri, os.getpid())


def _end(ri: ModuleType, pid: int) -> None:
    if os.getpid() == pid:
        ri.endr(0)
