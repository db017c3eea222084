"""What takes long is announced while it goes on; what starts or compiles is not counted as fits."""

import os
import warnings

import numpy as np
import pytest

import ucvtest as uv
from tests.support.cells import all_of_them
from tests.support.clock import Clock
from tests.support.samples import breast_cancer
from ucvtest import UcvtestWarning
from ucvtest.common.execution import Execution, Progress
from ucvtest.evaluation import slow_fits, workers
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import as_learner

SAMPLE = breast_cancer(40, 2)
X, Y = SAMPLE.matrix, SAMPLE.response


@pytest.fixture(autouse=True)
def minutes_are_long(monkeypatch):
    monkeypatch.setattr(slow_fits, "LONG_SECONDS", 60.0)


@pytest.fixture
def clock(monkeypatch):
    """Every call's clock, moved on by learners alone."""
    found = Clock()
    monkeypatch.setattr("ucvtest.common.execution.CLOCK", found)
    return found


def learner(clock, *seconds, process=None):
    """Moves the clock by the next number of seconds with each fit, and by the last with others.

    A fit that takes 20 s or more is done by a process that has just started.
    """
    fits = iter(seconds)

    def slow(X_train, y_train, X_test):
        passed = next(fits, seconds[-1])
        clock.now += passed
        if process is not None and passed >= 20:
            process[0] += 1
        return np.full(len(X_test), y_train[0])

    return slow


def run(learners, n_fits, total, clock):
    execution = Execution(np.random.default_rng(0), 0, 1, progress=Progress(clock=clock))
    if total is not None:
        execution.announce_total(total)
    learning = np.random.default_rng(0).permuted(np.tile(np.arange(40) < 30, (n_fits, 1)), axis=1)
    for each in learners:
        evaluator = Evaluator(SAMPLE, as_learner(each), "label", execution)
        evaluator.predict(learning, ~learning, np.arange(n_fits))


def test_workers_that_start_are_not_counted_as_fits(monkeypatch):
    clock, process = Clock(), [os.getpid()]
    monkeypatch.setattr(workers.os, "getpid", lambda: process[0])
    # The second worker is there when the first has done a chunk.
    run([learner(clock, 20, 20, 0.001, process=process)], 60, 6000, clock)


def test_a_slow_learner_after_a_quick_one_is_announced():
    clock = Clock()
    said = r"fits are left, 3 s each with .* about \d+ minutes.*max_seconds.*n_jobs.*checkpoint"
    with pytest.warns(UcvtestWarning, match=said):
        run([learner(clock, 0.1), learner(clock, 3)], 40, 80, clock)
    assert clock.now < 40 * 3.1 + 1


@pytest.mark.parametrize(("seconds", "total"), [(1e-3, 300), (10.0, None), (2.0, 30)])
def test_what_does_not_take_long_or_cannot_be_known_to_is_not_announced(seconds, total):
    clock = Clock()
    run([learner(clock, seconds)], 30, total, clock)


def test_jitted_fits_that_take_long_are_announced():
    class Ticking(Clock):
        def __call__(self):
            self.now += 30
            return self.now

    clock = Ticking()
    execution = Execution(np.random.default_rng(0), 0, progress=Progress(clock=clock))
    execution.announce_total(100_000)
    evaluator = Evaluator(SAMPLE, as_learner("lda"), "label", execution)
    learning = np.random.default_rng(0).permuted(np.tile(np.arange(40) < 30, (64, 1)), axis=1)
    # The first call compiles.
    evaluator.predict(learning, ~learning, np.arange(64))
    with pytest.warns(UcvtestWarning, match=r"99872 fits are left, .* each with lda: about"):
        evaluator.predict(learning, ~learning, np.arange(64))


def test_bounds_that_are_far_away_are_not_announced_of_jitted_learners():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        uv.UStatisticTest(X, Y, "lda", "qda").fit(max_fits=400, rng=0)


def test_a_start_is_no_forecast_of_permuted_labels(clock):
    small = np.sort(np.argsort(SAMPLE.class_index, kind="stable")[[*range(5), *range(-5, 0)]])
    slow = learner(clock, 20, 0.001)
    uv.LeavePairOutTest(X[small], Y[small], slow, pos_label=Y.max()).fit(
        n_permutations=99, rng=0, n_jobs=1
    )


def test_selections_are_announced(clock):
    with pytest.warns(UcvtestWarning, match=r"fits are left, 2 s each with .* about 2 minutes"):
        uv.select_model(
            *(X, Y, {"slow": learner(clock, 2), "other": learner(clock, 2)}),
            criteria=["permutation"],
            n_permutations=30,
            rng=0,
            n_jobs=1,
        )


def test_comparisons_are_announced_while_they_go_on(clock):
    shown = []

    def seen(message, *_):
        shown.append((str(message), clock.now))

    learners = {"one": learner(clock, 12), "two": learner(clock, 12)}
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *arguments, **_: seen(*arguments)
        uv.compare(X, Y, learners, "corrected_t", rng=0, n_jobs=1)
    ((message, when),) = shown
    assert "18 fits are left, 12 s each" in message
    assert when == 24
    assert clock.now == 240


@pytest.mark.parametrize("curve", [True, False] if all_of_them() else [False])
def test_plans_announce_all_their_steps_once(clock, curve):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = uv.plan(X, Y, learner(clock, 0.05), "lda", difference=0.1, curve=curve, rng=0)
    (announced,) = (str(each.message) for each in caught if each.category is uv.SlowFitsWarning)
    n_left, seconds = found.n_fits - 21, 0.05
    assert announced.startswith(f"{n_left} fits are left, {seconds} s each with slow: about ")
    remedy = f"curve=False omits the learning curves, {found.n_fits - 3200} of these fits; "
    assert announced.endswith(
        f"{remedy if curve else ''}learners by short names, such as 'lda', are quicker"
    )
