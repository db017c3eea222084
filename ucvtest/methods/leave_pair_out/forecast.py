"""Prediction of the time of the fits on permuted labels, before they start."""

import time
from dataclasses import dataclass

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.words import arg, has
from ucvtest.evaluation.slow_fits import announce_duration, is_long
from ucvtest.evaluation.time_budget import decided_fits, rounds_within
from ucvtest.inference.question import Question
from ucvtest.methods.leave_pair_out.options import LeavePairOutOptions
from ucvtest.methods.leave_pair_out.pair_errors import FITTING, PairErrors


@dataclass(frozen=True)
class Forecast:
    """The cost of a fit.

    Parameters
    ----------
    n_fits : int
        Model fits, one for each held-out pair of each labeling.
    seconds : float
        The time of all fits, from the time of one labeling.
    """

    n_fits: int
    seconds: float


def forecast(errors: PairErrors, labels: np.ndarray, options: LeavePairOutOptions) -> Forecast:
    """Time the observed labeling, twice if the first call compiles."""
    if not errors.one_by_one:
        _seconds(errors, labels)
    sizes = errors.sizes(labels)
    n_labelings = options.n_labelings(sizes)
    return Forecast(n_labelings * sizes.n_fits, n_labelings * _seconds(errors, labels))


def affordable_labelings(
    question: Question, errors: PairErrors, max_seconds: float, execution: Execution
) -> int:
    """Number of labelings that fit into the time, including the observed one."""
    labels = question.target == 1.0
    if errors.error_method == "closed form":
        rng, ties = np.random.default_rng(0), errors.ties.copy()

        def trial(size: int) -> None:
            errors.count(np.tile(labels, (size, 1)), rng)

        number = rounds_within([(trial, 1)], max_seconds, "labeling")
        # Trials are discarded.
        errors.ties = ties
        return number
    problem = question.data("a permutation")
    rows = problem.learnt_rows(question.n_units - 2)
    fits = decided_fits(problem, rows, max_seconds, execution)
    return fits // errors.sizes(labels).n_fits


def announce(
    errors: PairErrors,
    labels: np.ndarray,
    options: LeavePairOutOptions,
    seconds: float,
    learner: str,
    execution: Execution,
) -> None:
    """Warn if the fits will take long; `seconds` is the time of the observed labeling.

    Fits are announced as they are done, without the time to start workers or to compile.
    """
    if errors.error_method in FITTING:
        return
    sizes = errors.sizes(labels)
    n_labelings = options.n_labelings(sizes)
    if is_long(n_labelings * seconds) and not errors.one_by_one:
        # The first call compiled, and many labelings are counted in one.
        seconds = _seconds(errors, labels)
    workers = f"more {arg('n_jobs')}, " if has("n_jobs") else ""
    announce_duration(
        execution.progress,
        f"{n_labelings * sizes.n_fits} fits of {learner}",
        n_labelings * seconds,
        f"A smaller {arg('n_permutations')}, {arg('max_seconds')}, {workers}or a learner with a "
        "closed form (ridge, kernel_ridge, knn, lda) needs less time",
    )


def _seconds(errors: PairErrors, labels: np.ndarray) -> float:
    """The time of one labeling, if as many are counted in one call as the method does."""
    size = errors.labelings_at_once
    ties = errors.ties.copy()
    clock_start = time.perf_counter()
    # A separate generator, so that trials do not change draws.
    errors.count(np.tile(labels, (size, 1)), np.random.default_rng(0))
    seconds = (time.perf_counter() - clock_start) / size
    errors.ties = ties
    return seconds
