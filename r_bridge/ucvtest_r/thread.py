"""R in this process: on the main thread alone, because R is not made for several.

It cannot have another one: functions of R that wait, such as ``Sys.sleep``, answer Ctrl-C on the
thread that gets the signal, and that is the main one.
"""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

from ucvtest_r import interrupts

PINNED = "pip install --force-reinstall --no-cache-dir rpy2==3.6.6 rpy2-rinterface==3.6.5"


def import_rinterface() -> ModuleType:
    """Import ``rpy2.rinterface``.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If rpy2 or R is missing, or rpy2 was built for another R; with the remedy.
    """
    if "rpy2.rinterface" in sys.modules:
        return sys.modules["rpy2.rinterface"]
    if shutil.which("R") is None:
        raise ImportError("R was not found on the PATH: install R 4.2 or newer")
    try:
        import rpy2.rinterface as ri
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("rpy2", "cffi"):
            raise
        raise ImportError(f"{error.name} is missing: run  pip install 'ucvtest[r]'") from error
    except (ImportError, OSError) as error:
        raise ImportError(
            f"rpy2 does not fit {_r_version()} ({error}): with R before 4.5 run  {PINNED}  and "
            "with a newer R  pip install --upgrade rpy2 rpy2-rinterface"
        ) from error
    return ri


def _r_version() -> str:
    answer = subprocess.run(["R", "--version"], capture_output=True, text=True, check=False)
    return " ".join(answer.stdout.split()[:3]) or "this R"


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
