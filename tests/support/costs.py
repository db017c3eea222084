"""The costs of tests in seconds of processor: a test may not cost more than its tier allows.

Seconds of processor and not of the clock, so that a loaded machine fails no test. Those that start
and end processes count their processes too.
"""

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.cells import all_of_them
from tests.support.paths import ROOT

AT_MOST = {"core": 1.0, "full": 10.0}
"""Seconds that a test may cost; more by ``@pytest.mark.seconds(3, reason="...")``."""

ELSEWHERE = 3.0
"""The same work costs up to three times as much on another machine, or beside other work.

A test fails above its seconds times this, so that no machine fails one that has its seconds here.
"""


class Costs:
    """Measures tests and fixtures, and what a whole run took."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.of_folders: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0.0])
        self.of_processes = 0.0
        self.started = time.monotonic()
        self.set_up = 0.0
        # No test is charged for what tests share: fixtures of a file or a run, and programs, which
        # the first test to ask compiles, if no run before has left them.
        self.shared = 0.0
        self.compiling = 0.0
        self.programs = 0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection(self) -> Iterator[None]:
        """Listen to JAX, in the processes that run tests."""
        # The one that starts others collects nothing.
        import jax.monitoring

        jax.monitoring.register_event_duration_secs_listener(self.heard)
        return (yield)

    def heard(self, event: str, seconds: float, **_: Any) -> None:
        """Count programs, and the seconds in which they are traced, lowered and compiled."""
        if event.startswith("/jax/core/compile/"):
            self.compiling += seconds
            # They come from the cache of the disk, too.
            self.programs += "backend_compile" in event

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Count a test, and everything around it, for its folder."""
        before, programs = processor_seconds(), self.programs
        result = yield
        row = self.of_folders[folder_of(item)]
        row[0] += 1
        row[1] += self.programs - programs
        row[2] += processor_seconds() - before
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[Any]:
        """Leave out of a test's seconds what other tests use too."""
        if fixturedef.scope == "function":
            return (yield)
        with self.measured() as own:
            result = yield
        self.shared += own[0]
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        """Begin to measure a test."""
        self.shared = 0.0
        with self.measured() as own:
            result = yield
        self.set_up = own[0] - self.shared
        return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Fail a test that costs more than it may."""
        self.shared = 0.0
        with self.measured() as own:
            result = yield
        seconds = self.set_up + own[0] - self.shared
        allowed = seconds_of(item)
        if seconds > ELSEWHERE * allowed:
            pytest.fail(
                f"took {seconds:.1f} s of processor, and may take {allowed:g} (on a slow machine "
                f"{ELSEWHERE * allowed:g}): see Costs in docs/develop/testing.md",
                pytrace=False,
            )
        return result

    @contextmanager
    def measured(self) -> Iterator[list[float]]:
        """The seconds of processor of a block that are not spent on programs of JAX."""
        seconds = [0.0]
        processor, compiling = processor_seconds(), self.compiling
        yield seconds
        # Seconds of the clock, which are more than those of the processor on a loaded machine.
        programs = self.compiling - compiling
        seconds[0] = max(processor_seconds() - processor - programs, 0.0)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Report to the process that started this one."""
        own = processor_seconds()
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["costs"] = (dict(self.of_folders), own)
            return
        if not hasattr(self.config, "workerinput") and not self.config.getoption("numprocesses", 0):
            self.of_processes = own
        limit = limit_of_run()
        if limit and self.of_processes > limit and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a process reports, unless it crashed."""
        of_folders, seconds = getattr(node, "workeroutput", {}).get("costs", ({}, 0.0))
        for folder, row in of_folders.items():
            self.of_folders[folder] = [
                known + new for known, new in zip(self.of_folders[folder], row, strict=True)
            ]
        self.of_processes += seconds

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what folders cost."""
        if not self.of_folders:
            return
        rows = sorted(self.of_folders.items())
        of_tests = sum(seconds for _, (_, _, seconds) in rows)
        rows.append(("imports and collection", [0, 0, max(self.of_processes - of_tests, 0.0)]))
        terminalreporter.section("seconds of processor")
        terminalreporter.line(f"{'':<36}{'tests':>7}{'programs':>10}{'seconds':>9}")
        for folder, (number, programs, seconds) in rows:
            terminalreporter.line(
                f"{folder:<36}{number or '':>7}{programs or '':>10}{seconds:>9.1f}"
            )
        total, limit = self.of_processes, limit_of_run()
        wall = time.monotonic() - self.started
        terminalreporter.line(f"{'all':<53}{total:>9.1f}   in {wall:.0f} s of the clock")
        if limit and total > limit:
            terminalreporter.line(f"More than the {limit:g} s that this run may take.", red=True)


def processor_seconds() -> float:
    """Those of this process, and of processes that it started and that have ended."""
    return sum(os.times()[:4])


def limit_of_run() -> float:
    """Seconds that all processes of a run may take together; 0 where nobody set a limit."""
    return float(os.environ.get("UCVTEST_CPU_SECONDS") or 0)


def seconds_of(item: pytest.Item) -> float:
    """What a test may take."""
    if all_of_them():
        return float("inf")
    own = item.get_closest_marker("seconds")
    if own is not None:
        return float(own.args[0])
    return AT_MOST.get("".join(folder_of(item).split("/")[1:2]), float("inf"))


def folder_of(item: pytest.Item) -> str:
    """The tier and the part of it that a test is in, or the package of a doctest."""
    parts = item.path.relative_to(ROOT).parts[:-1]
    return "/".join(parts[:4] if parts[0] == "tests" else parts[:1])
