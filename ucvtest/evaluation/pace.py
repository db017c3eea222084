"""How many fits a number of seconds allows, from the time of the first ones.

Time decides the number and nothing else: a result belongs to its seed and its number of fits, with
which anybody can repeat it, on a slower machine too.
"""

import time
from collections.abc import Callable

import numpy as np

from ucvtest.common.checks import check_number
from ucvtest.common.runtime import Execution
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.problem import Problem

__all__ = ["check_seconds", "fits_within"]

TRIED, MOST_TRIED = 0.03, 1024
"""Share of the seconds that the fits of a trial take at least, and the most fits of a trial."""

USED_BY_SLOW, USED_BY_QUICK = 0.8, 0.35
"""Share of the seconds that is planned for: what fits of a millisecond leave to sums is little."""

QUICK = 1e-3


def check_seconds(max_seconds: float | None) -> None:
    """Refuse anything but a positive number of seconds, or none."""
    if max_seconds is not None:
        check_number("max_seconds", max_seconds, low=1e-3, high=1e9)


def fits_within(
    problem: Problem,
    learn_size: int,
    max_seconds: float,
    execution: Execution,
    clock: Callable[[], float] | None = None,
) -> int:
    """Fits of all learners that the seconds allow, each to as many learning sets as the others.

    The learners are ready to be fitted; what is tried here is not part of any answer.
    """
    clock = time.monotonic if clock is None else clock
    start = clock()
    sample = problem.sample
    member = np.arange(sample.n_obs) < learn_size
    rng = np.random.default_rng(0)
    pace = 0.0
    for learner in problem.learners.values():
        evaluator = Evaluator.run_by(execution.trial, sample, learner, problem.output)
        size, tried = 2, 0
        while True:
            learning = rng.permuted(np.tile(member, (size, 1)), axis=1)
            before = clock()
            evaluator.predict_all(learning, ~learning, np.arange(size))
            seconds = clock() - before
            tried += 1
            # The first call imports and compiles; what takes long even so need not be tried again.
            if seconds >= TRIED * max_seconds or (tried > 1 and size >= MOST_TRIED):
                break
            size = size if tried == 1 else 2 * size
        pace += seconds / size
    used = USED_BY_SLOW if pace > QUICK else USED_BY_QUICK
    left = used * max_seconds - (clock() - start)
    number = int(left / pace) if pace > 0 else 10**9
    if number < 2:
        raise ValueError(
            f"max_seconds={max_seconds:g} does not suffice: one fit of each learner takes about "
            f"{pace:.3g} s; raise it, or use quicker learners"
        )
    return len(problem.learners) * number
