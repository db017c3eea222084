"""Attaches to the R process that Python was started in, and answers its calls.

The R package starts Python inside R and calls `attach` once. From then on R calls one
dispatcher, on R's own thread, and gets back a list that says how the call ended: nothing else
can leave a function that R calls through rpy2, which turns exceptions into NULL.
"""

import atexit
import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ucvtest import SlowFitsWarning
from ucvtest.hooks import bars_by, through
from ucvtest_r import interrupts
from ucvtest_r.conditions import r_condition
from ucvtest_r.conversion import CLOSURE, to_r
from ucvtest_r.functions import answer
from ucvtest_r.learners import call_r
from ucvtest_r.thread import import_rinterface, is_r_thread
from ucvtest_r.wording import RDoor

# rpy2 frees an R function that no Python object refers to, even while R can still call it.
_kept: list[Any] = []


def attach(pid: int, package: str = "ucvtest") -> None:
    """Let the R package call what `ucvtest_r.functions` answers.

    Parameters
    ----------
    pid : int
        Process number of R, which has to be this process.
    package : str
        Name of the R package; its environment ``.session`` gets the dispatcher as ``call``.
    """
    with _environment_restored():
        # How rpy2 is told that R already runs, here.
        os.environ["R_SESSION_INITIALIZED"] = f'PID={pid}:NAME="{package}"'
        ri = import_rinterface()
        if not ri.embedded.isinitialized():
            ri.initr()
            atexit.unregister(ri.endr)  # R ends itself
            interrupts.take_over()
    _forget_library_folders_of_r()
    session = ri.baseenv["getNamespace"](ri.StrSexpVector([package]))[".session"]
    dispatcher = ri.rternalize(_dispatch)
    session["call"] = dispatcher
    # Keeping the session too makes its finalizer, the shutdown, run when R ends and not before.
    _kept.extend((dispatcher, session))


@contextmanager
def _environment_restored() -> Iterator[None]:
    """Undo what rpy2 does to the environment variables, which are R's too."""
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)


def _forget_library_folders_of_r() -> None:
    """Take the folders that R's start script adds out of LD_LIBRARY_PATH.

    Worker processes inherit the variable, and a Python started with R's folders may load
    the library of another Python. R itself and its child R processes do not need it any more:
    the loader reads it when a process starts, and R's start script adds the folders again.
    """
    import subprocess

    script = f". '{os.environ.get('R_HOME', '')}/etc/ldpaths' && echo \"$LD_LIBRARY_PATH\""
    without = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    answer = subprocess.run(
        ["sh", "-c", script], env=without, capture_output=True, text=True, check=False
    )
    added = set(answer.stdout.strip().split(":"))
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    kept = [folder for folder in folders if folder and folder not in added]
    if kept:
        os.environ["LD_LIBRARY_PATH"] = ":".join(kept)
    else:
        os.environ.pop("LD_LIBRARY_PATH", None)


def _dispatch(name: Any, arguments: Any) -> Any:
    """Call a function by name: ``list(kind, value, warnings, announced)``, whatever happens.

    Warnings are R's after the call, which only then can signal them; warnings of slow fits are
    printed at once, and R receives them afterwards.
    """
    later: list[str] = []
    announced: list[str] = []

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = str(message)
        if issubclass(category, SlowFitsWarning) and is_r_thread():
            announced.append(text)
            _announce(text)
        else:
            later.append(text)

    with warnings.catch_warnings(record=True):
        # Whoever records asks this function nothing, unless it is another one than Python's own.
        warnings.showwarning = show
        kind, value = _outcome(name[0], arguments)
    texts = list(dict.fromkeys(later))
    return to_r({"kind": kind, "value": value, "warnings": texts, "announced": announced})


def _announce(text: str) -> None:
    """Print a text in R, while R waits for this call."""
    with interrupts.deferred():
        call_r(_kept[1]["announce"], text)


SHOWN_SECONDS = 0.1
"""Least seconds between two calls that show progress."""


class RBar:
    """A progress bar that an R function shows: ``function(state, done, total, text)``.

    Parameters
    ----------
    show : R function
        Called with the states "begin", "update" and "end".
    description : str
    """

    disable = True
    """That no answer so far is looked for, which would not be shown."""

    def __init__(self, show: Any, description: str) -> None:
        self.n = self.total = 0
        self._show = show
        self._description = description
        self._last_shown = time.monotonic()
        self._tell("begin")

    def update(self, n: int) -> None:
        """Count fits, and show them unless others were shown just now."""
        self.n += n
        now = time.monotonic()
        if now - self._last_shown >= SHOWN_SECONDS:
            self._last_shown = now
            self._tell("update")

    def close(self) -> None:
        """Show that all is done."""
        self._tell("end")

    def _tell(self, state: str) -> None:
        if is_r_thread():
            with interrupts.deferred():
                call_r(self._show, state, self.n, self.total or 0, self._description)


def _bars() -> Any:
    """How progress is shown: by R where R has a function for it, else as everywhere."""
    show = _kept[1]["progress"] if _kept else None
    if getattr(show, "typeof", None) != CLOSURE:
        return None
    return lambda description: RBar(show, description)


def _outcome(name: str, arguments: Any) -> tuple[str, Any]:
    try:
        if name == "shutdown":
            # What Python does first when it ends; the rest of its end is left to the process.
            # Worker processes would otherwise keep R waiting, and taking the interpreter down
            # while R is going down as well is not safe. What Python calls has no public name.
            threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
            atexit._run_exitfuncs()  # noqa: SLF001
            return "value", None
        with interrupts.delivered_by_the_end(), bars_by(_bars()), through(RDoor()):
            return "value", answer(name, arguments)
    except KeyboardInterrupt:
        return "interrupt", None
    # A SystemExit, for example, would end nothing here but only get lost.
    except BaseException as error:
        condition = r_condition(error)
        if condition is not None:
            return "r_error", {"condition": condition, "message": str(error)}
        message = str(error).strip() or type(error).__name__
        return "python_error", {"message": message, "type": type(error).__name__}
