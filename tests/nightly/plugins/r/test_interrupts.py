"""Ctrl-C at the worst times, beside those of tests/full/plugins/r/test_r_learner.py."""

import signal
import sys
import types
from typing import Any

import numpy as np
import pytest
from ucvtest_r import interrupts, session
from ucvtest_r.functions import FUNCTIONS
from ucvtest_r.learners import RFunctionLearner, RFunctionLoss

from tests.full.plugins.r.test_r_learner import (
    InterruptedWhenFreed,
    NoArguments,
    ctrl_c_is_the_bridges,
    interrupted_finalizer,
)

__all__ = ["ctrl_c_is_the_bridges"]

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(120, reason="sessions of R")]


@pytest.mark.usefixtures("ctrl_c_is_the_bridges")
def test_other_errors_of_finalizers_are_reported_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Failing:
        def __del__(self) -> None:
            raise ValueError("not freed")

    reported: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda ignored: reported.append(ignored.exc_type))
    with interrupts.delivered_by_the_end():
        Failing()
    assert reported == [ValueError]


@pytest.mark.usefixtures("ctrl_c_is_the_bridges")
def test_ctrl_c_ends_the_outer_call_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """An R learner may itself call a test."""

    def outer(interrupt_first: bool) -> None:
        with interrupts.deferred():
            if interrupt_first:
                signal.raise_signal(signal.SIGINT)
            inner = session._outcome("inner", NoArguments())
            if inner == ("interrupt", None):
                raise KeyboardInterrupt  # what R makes of it

    monkeypatch.setitem(FUNCTIONS, "before", lambda: outer(True))
    monkeypatch.setitem(FUNCTIONS, "inside", lambda: outer(False))
    monkeypatch.setitem(FUNCTIONS, "inner", lambda: None)
    assert session._outcome("inside", NoArguments())[0] == "value"
    assert session._outcome("before", NoArguments()) == ("interrupt", None)
    monkeypatch.setitem(FUNCTIONS, "inner", interrupted_finalizer)
    assert session._outcome("inside", NoArguments()) == ("interrupt", None)


class Returned(InterruptedWhenFreed):
    """A vector of R."""

    typeof = 16

    def __len__(self) -> int:
        return 3


@pytest.mark.usefixtures("ctrl_c_is_the_bridges")
def test_what_r_returned_is_freed_where_ctrl_c_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ucvtest_r.learners.call_r", lambda *_: Returned())
    monkeypatch.setattr("ucvtest_r.learners.vector", lambda _: np.array([1, 0, 1]))
    sample = types.SimpleNamespace(response=np.array([0, 1, 1, 0]), classes=np.array([0, 1]))
    learner = RFunctionLearner("R function", None, sample.response)
    with pytest.raises(KeyboardInterrupt):
        learner.fit_predict(sample, np.array([0]), np.array([1, 2, 3]), "label", 0)
    with pytest.raises(KeyboardInterrupt):
        RFunctionLoss(None)(np.zeros(3), np.zeros(3))
