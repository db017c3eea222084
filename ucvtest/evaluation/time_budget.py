"""How many fits a number of seconds allows, from the time of the first ones.

Time decides the number and nothing else: a result belongs to its seed and its number of fits, with
which anybody can repeat it, on a slower machine too.
"""

import math
import time
from collections.abc import Callable, Iterable

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.words import arg, has
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.problem import Problem
from ucvtest.learners.base import Learner

TRIED, MOST_TRIED = 0.03, 1024
"""Share of the seconds that the fits of a trial take at least, and the most fits of a trial."""

USED_BY_SLOW, USED_BY_QUICK = 0.8, 0.35
"""Share of the seconds that is planned for: what fits of a millisecond leave to sums is little."""

QUICK = 1e-3
"""Seconds of a fit that is quick."""

SPARE = 1.1
"""How many times the seconds that seem to be needed are asked for, as two trials differ."""

LEAST = 0.1
"""Share of the seconds that is left in any case: a trial of jitted fits may take all of them."""

Trial = tuple[Callable[[int], object], int]
"""A task that is done a number of times, and how often takes no longer than once."""


def decided_fits(
    problem: Problem, learn_size: int, max_seconds: float, execution: Execution
) -> int:
    """Fits of all learners that the seconds allow, each to as many learning sets as the others.

    The learners are ready to be fitted; trials are not part of any answer. They are done once for
    all: a checkpoint knows the number of the first call.
    """
    sample = problem.sample
    member = np.arange(sample.n_obs) < learn_size
    rng = np.random.default_rng(0)

    def trial(learner: Learner) -> Trial:
        evaluator = Evaluator(sample, learner, problem.output, execution.trial)

        def fit(size: int) -> None:
            learning = rng.permuted(np.tile(member, (size, 1)), axis=1)
            evaluator.predict_all(learning, ~learning, np.arange(size))

        return fit, evaluator.at_once()

    def decide() -> int:
        trials = map(trial, problem.learners.values())
        return len(problem.learners) * rounds_within(trials, max_seconds, "fit of each learner")

    name = f"fits of {', '.join(problem.learners)} from {learn_size} rows in {max_seconds:g} s"
    checkpoint = execution.progress.checkpoint
    return decide() if checkpoint is None else int(checkpoint.recall_or_decide(name, decide))


def rounds_within(trials: Iterable[Trial], max_seconds: float, round_name: str) -> int:
    """How often the seconds allow a round of some tasks.

    Time that is spent once, to import and to compile, is not charged.

    Raises
    ------
    ValueError
        If there is no time to do all of them twice; `round_name` says what once is.
    """
    pace = spent = 0.0
    for trial, size in trials:
        # The first call imports, or compiles.
        trial(size)
        n_tried = size
        while True:
            clock_before = time.monotonic()
            trial(size)
            seconds = time.monotonic() - clock_before
            n_tried += size
            if seconds >= TRIED * max_seconds or size >= MOST_TRIED:
                break
            size *= 2
        pace += seconds / size
        spent += n_tried * seconds / size
    used_share = USED_BY_SLOW if pace > QUICK else USED_BY_QUICK
    seconds_left = max(used_share * max_seconds - spent, LEAST * max_seconds)
    number = int(seconds_left / pace) if pace > 0 else 10**9
    if number < 2:
        raise ValueError(
            f"{arg('max_seconds', max_seconds)} does not suffice: one {round_name} takes about "
            f"{pace:.3g} s; raise it, or use quicker learners"
        )
    return number


def too_few_seconds(
    seconds: float, affordable_fits: int, needed_fits: int, purpose: str
) -> ValueError:
    """The refusal of seconds that allow fewer fits than `purpose`, which is asked for, takes."""
    # About the seconds that allow as many fits as are needed, in two digits.
    least_time = SPARE * seconds * needed_fits / max(affordable_fits, 1)
    unit = 10.0 ** (math.floor(math.log10(least_time)) - 1)
    least_time = math.ceil(least_time / unit) * unit
    more_workers = f"{arg('n_jobs')}, " if has("n_jobs") else ""
    return ValueError(
        f"{arg('max_seconds', seconds)} allows about {affordable_fits} fits, and {purpose} takes "
        f"{needed_fits} at least: use quicker learners, {more_workers}or "
        f"{arg('max_seconds', least_time)} or more"
    )
