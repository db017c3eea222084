"""Threads of the background are kept, one for each call that runs at the same time."""

import os
import threading
import time
from contextlib import ExitStack

import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer
from ucvtest.common.execution import MOST_IDLE, kept_thread


def test_a_test_uses_the_threads_of_the_test_before() -> None:
    sample = breast_cancer(n_columns=3)
    X, y = sample.matrix[:60], sample.response[:60]

    def threads() -> set[threading.Thread]:
        uv.UStatisticTest(X, y, "lda").fit(n_pairs=64, rng=0)
        return set(threading.enumerate())

    assert threads() == threads()


def test_calls_at_the_same_time_have_threads_of_their_own() -> None:
    with kept_thread() as first, kept_thread() as second:
        assert first is not second


def test_no_more_threads_are_kept_than_two_calls_need() -> None:
    with ExitStack() as stack:
        threads = [stack.enter_context(kept_thread()) for _ in range(MOST_IDLE + 3)]
        for thread in threads:
            thread.submit(int)
    with ExitStack() as stack:
        again = [stack.enter_context(kept_thread()) for _ in range(MOST_IDLE + 3)]
        assert len(set(threads) & set(again)) == MOST_IDLE


def test_leaving_waits_for_the_tasks() -> None:
    finished = []

    def task() -> None:
        time.sleep(0.05)
        finished.append(True)

    with kept_thread() as thread:
        thread.submit(task)
    assert finished == [True]


def test_an_error_in_the_context_leaves_a_thread_that_works() -> None:
    def interrupted() -> None:
        with kept_thread() as thread:
            thread.submit(divmod, 1, 0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        interrupted()
    with kept_thread() as thread:
        assert thread.submit(divmod, 7, 2).result() == (3, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning", "ignore:.*fork:RuntimeWarning")
def test_a_forked_process_starts_threads_of_its_own() -> None:
    with kept_thread() as thread:
        thread.submit(int).result()
    child = os.fork()
    if not child:
        with kept_thread() as thread:
            os._exit(0 if thread.submit(divmod, 7, 2).result(timeout=20) == (3, 1) else 1)
    assert os.waitpid(child, 0)[1] == 0
