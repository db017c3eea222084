"""Callbacks around a fit: what automatic logging listens to.

A hook is added and removed explicitly; nothing adds itself at import, except where the
environment variable ``UCVTEST_AUTOLOG`` asks for it.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Protocol, runtime_checkable

from ucvtest.common.exceptions import warn_caller
from ucvtest.common.execution import bars_by
from ucvtest.common.words import Door, alternatives, arg, call, place, through
from ucvtest.data.rows import computed_from

__all__ = [
    "ComparisonHook",
    "Door",
    "FitHook",
    "LoggingHook",
    "OutcomeHook",
    "WorkerHook",
    "add_hook",
    "alternatives",
    "arg",
    "bars_by",
    "call",
    "computed_from",
    "installed_hooks",
    "place",
    "remove_hook",
    "remove_logging",
    "replace_logging",
    "through",
    "warn_caller",
]


class FitHook(Protocol):
    """A hook that is called about every fit of a test."""

    def fitting(self, test: Any) -> AbstractContextManager[Any]:
        """A context that surrounds the resampling.

        `test` is the test; where `uv.evaluate` or `uv.select_model` fit without one, it is their
        validated question. Both have `sample`, `loss` and `output`.
        """

    def fitted(self, test: Any, result: Any) -> None:
        """Called with the finished result, outside the context of `fitting`."""


@runtime_checkable
class ComparisonHook(FitHook, Protocol):
    """A hook that is called with a whole comparison, instead of result by result."""

    def compared(self, test: Any, comparison: Any) -> None:
        """Called with the finished comparison and a test on its data."""


@runtime_checkable
class OutcomeHook(FitHook, Protocol):
    """A hook that is called with selections of `uv.select_model` and plans of `uv.plan` too."""

    def concluded(self, question: Any, outcome: Any) -> None:
        """Called with the finished selection or plan, and the question, which has `sample`.

        Of a selection that is what `fitting` got; of a plan without data None.
        """


@runtime_checkable
class WorkerHook(FitHook, Protocol):
    """A hook that surrounds fits in other processes too, which know nothing of its `fitting`."""

    def in_worker(self) -> Callable[[], AbstractContextManager[Any]]:
        """What makes the context of fits there; it is pickled, and called in every process."""


@runtime_checkable
class LoggingHook(FitHook, Protocol):
    """What keeps results somewhere; hooks that log to the same place replace each other."""

    logs_to: ClassVar[str]


_hooks: list[FitHook] = []
_of_a_whole: ContextVar[bool] = ContextVar("of_a_whole", default=False)
"""Whether results are parts of an outcome that is announced as one."""
_changing = threading.Lock()


def add_hook(hook: FitHook) -> None:
    """Have a hook told about every later fit; adding it twice has no effect."""
    _check_hook(hook)
    with _changing:
        if hook not in _hooks:
            _hooks.append(hook)


def remove_hook(hook: FitHook) -> None:
    """Stop telling a hook; removing an unknown one has no effect."""
    with _changing:
        # No hook is in the list that is none: an array would be compared element by element.
        if _is_hook(hook) and hook in _hooks:
            _hooks.remove(hook)


def _check_hook(hook: Any) -> None:
    if not _is_hook(hook):
        raise ValueError(
            f"hook must have the methods fitting and fitted, got {hook!r:.60}: see "
            "ucvtest.hooks.FitHook"
        )


def _check_place(name: str, logger_place: Any) -> None:
    """Refuse anything but a word: an array would be compared element by element."""
    if not isinstance(logger_place, str):
        raise ValueError(
            f'{name} must be the name of a place, such as "mlflow", got {logger_place!r:.60}'
        )


def _is_hook(hook: Any) -> bool:
    """Whether it has the methods that are called around a fit."""
    return hasattr(hook, "fitting") and hasattr(hook, "fitted")


def remove_logging(logs_to: str) -> None:
    """Remove every hook that logs to this place, such as "mlflow"."""
    _check_place("logs_to", logs_to)
    _put(logs_to, ())


def replace_logging(hook: LoggingHook) -> None:
    """Add a hook in the place of all that log where it does.

    A fit in another thread that begins meanwhile finds the ones before or this one, never none.
    """
    _check_hook(hook)
    _check_place("hook.logs_to", getattr(hook, "logs_to", None))
    _put(hook.logs_to, (hook,))


def _put(logs_to: str, hooks: tuple[FitHook, ...]) -> None:
    with _changing:
        other_hooks = (
            hook
            for hook in _hooks
            if not (isinstance(hook, LoggingHook) and hook.logs_to == logs_to)
        )
        _hooks[:] = [*other_hooks, *hooks]


def installed_hooks() -> tuple[FitHook, ...]:
    """The hooks in the order in which they were added."""
    return tuple(_hooks)


@contextmanager
def fitting(test: Any) -> Iterator[None]:
    """Surround a fit with the contexts of all hooks; one that fails costs a warning only."""
    with ExitStack() as stack:
        for hook in tuple(_hooks):
            stack.enter_context(_context_of(hook, test))
        yield


def worker_contexts() -> tuple[Callable[[], AbstractContextManager[Any]], ...]:
    """What makes the contexts of all hooks in a worker process."""
    return tuple(hook.in_worker() for hook in tuple(_hooks) if isinstance(hook, WorkerHook))


@contextmanager
def _context_of(hook: FitHook, test: Any) -> Iterator[None]:
    """The context of one hook, which can neither stop a fit nor swallow its errors."""
    context = ExitStack()
    try:
        context.enter_context(hook.fitting(test))
    except Exception as error:
        _warn(hook, "before a fit", error, "the fit goes on without it")
    try:
        yield
    finally:
        try:
            context.__exit__(*sys.exc_info())
        except Exception as error:
            _warn(hook, "after a fit", error, "the fit itself is complete")


@contextmanager
def parts_of_a_whole() -> Iterator[None]:
    """Tell no hook of results and comparisons: who asks for them announces one outcome."""
    token = _of_a_whole.set(True)
    try:
        yield
    finally:
        _of_a_whole.reset(token)


def _listening() -> tuple[FitHook, ...]:
    """The hooks that receive a result, or a comparison."""
    return () if _of_a_whole.get() else tuple(_hooks)


def announce(test: Any, result: Any) -> None:
    """Tell all hooks of a result; one that fails costs a warning, never the result."""
    for hook in _listening():
        try:
            hook.fitted(test, result)
        except Exception as error:
            _warn(hook, "on a finished result", error, "the result itself is complete")


def announce_comparison(test: Any, comparison: Any) -> None:
    """Tell all hooks of a comparison; those without `compared` of each of its results."""
    for hook in _listening():
        try:
            if isinstance(hook, ComparisonHook):
                hook.compared(test, comparison)
            else:
                for result in comparison.results.values():
                    hook.fitted(test, result)
        except Exception as error:
            _warn(hook, "on a finished comparison", error, "the comparison is complete")


def announce_outcome(question: Any, outcome: Any) -> None:
    """Tell the hooks that take them of a selection or a plan."""
    for hook in tuple(_hooks):
        try:
            if isinstance(hook, OutcomeHook):
                hook.concluded(question, outcome)
        except Exception as error:
            _warn(hook, "on a finished outcome", error, "the outcome itself is complete")


def _warn(hook: FitHook, occasion: str, error: Exception, consequence: str) -> None:
    warn_caller(
        f"{type(hook).__name__} failed {occasion} ({type(error).__name__}: {error}); {consequence}"
    )
