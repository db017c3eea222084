"""Fits of one learning set at a time, shared out to joblib's workers, some seconds at a time."""

import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from inspect import isgenerator
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest import hooks
from ucvtest.common.execution import Execution
from ucvtest.common.single_thread import ONE_BLAS_THREAD
from ucvtest.common.words import cause_of, place, same_door
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.evaluation.fit_requests import FitRequests
from ucvtest.evaluation.slow_fits import Pace, is_long
from ucvtest.learners.base import Predictions, SplitLearner, UnreadablePredictions
from ucvtest.learners.survival import SurvivalLearner

if TYPE_CHECKING:
    from joblib import Parallel

BY_CLASS = ("probability", "score")
"""Outputs with a column for each of more than two classes."""

CHUNK_SECONDS = 5.0
"""Seconds from which on chunks become no larger: what an interrupt loses at most is twice that, in
the last chunk three times, and workers wait for each other at the end of a chunk."""

SPLITS_PER_TASK = 256
"""The most splits of one task, so that an interrupt or an error does not wait for long."""


class SplitBatch:
    """Fits of one learning set at a time, shared out to joblib's workers in chunks of some seconds.

    How long they take decides the size of the chunks and nothing else. Known predictions are not
    fitted again.
    """

    jitted = False

    def __init__(
        self, sample: Sample, learner: SplitLearner, output: Output, execution: Execution
    ) -> None:
        self._sample = sample
        self._learner = learner
        self._output: Output = output
        self._execution = execution
        self._seen: set[int] = set()
        self._workers_were_ready = False
        self._chunk_size = 0
        self.pace = Pace(learner.name, one_by_one=True)

    @property
    def n_workers(self) -> int:
        """Fits that are done at the same time."""
        from joblib import effective_n_jobs

        if self._learner.calling_thread_only:
            return 1
        return int(effective_n_jobs(self._execution.n_jobs))

    def at_once(self, *, labelings: bool) -> int:
        """One: a second fit takes as long as the first."""
        return 1

    def predictions(self, fits: FitRequests) -> Iterator[tuple[slice, Predictions]]:
        """Those of all fits in their order, some at a time: known ones, and a chunk of others."""
        learner, output, progress = self._learner, self._output, self._execution.progress
        values = np.full(_shape(learner, self._sample, output, fits.testing), np.nan)
        missing, known, first = np.arange(len(fits)), progress.known_fits, 0
        if known is not None:
            missing = known.fill_known(values, learner, output, fits)
        if not len(missing):
            yield slice(0, len(fits)), Predictions(values, Counter())
            return
        self._chunk_size = max(self._chunk_size, self.n_workers)
        with self._workers() as workers:
            while len(missing):
                size = -(-len(missing) // max(1, round(len(missing) / self._chunk_size)))
                size = min(size, self._execution.batch_size or size)
                rows, missing = missing[:size], missing[size:]
                chunk, clock_before = fits.rows(rows), progress.clock()
                predictions = self.fit(chunk, workers)
                seconds = progress.clock() - clock_before
                values[rows] = predictions.values
                has_fitted = ~np.isin(chunk.splits, list(predictions.failed))
                if known is not None and has_fitted.any():
                    fitted = chunk.rows(np.flatnonzero(has_fitted))
                    known.add_predictions(values[rows[has_fitted]], learner, output, fitted)
                # What starts workers, imports or compiles says little of the others, unless it is
                # long.
                if self._workers_were_ready or is_long(seconds):
                    self.pace.add(seconds, len(rows))
                # Workers idle at the end of each chunk: few small ones.
                if seconds < CHUNK_SECONDS:
                    self._chunk_size *= 2 if seconds > CHUNK_SECONDS / 4 else 4
                last = int(missing[0]) if len(missing) else len(fits)
                part = Predictions(values[first:last], Counter(), predictions.failed)
                yield slice(first, last), part
                first = last

    def fit(self, fits: FitRequests, workers: "Parallel | None" = None) -> Predictions:
        """Fit all at once, where nothing is known, kept or counted."""
        from joblib import delayed

        fit = delayed(_fit_splits)
        quietly = self._learner.quietly
        caller = _Caller(os.getpid(), (*hooks.worker_contexts(), same_door(), quietly))
        # Set here for threads, which share limits and filters, and again in every worker process.
        with ONE_BLAS_THREAD, quietly():
            worker_results = (workers or self._workers())(
                fit(self._learner, self._sample, self._output, fits.rows(task), caller)
                for task in _tasks(len(fits), self.n_workers)
            )
        values, workers_now, errors = zip(*worker_results, strict=True)
        self._workers_were_ready = self._seen.issuperset(workers_now)
        self._seen.update(workers_now)
        failed = dict[int, Exception]()
        for split_errors in errors:
            failed |= split_errors
        return Predictions(np.concatenate(values), Counter(), failed)

    def _workers(self) -> "Parallel":
        """Who fits; as a context, for several calls: Ray starts processes for each context."""
        from joblib import Parallel

        if self._learner.calling_thread_only:
            return Parallel(n_jobs=1, backend="sequential")
        return Parallel(n_jobs=self._execution.n_jobs, pre_dispatch="all")


def _tasks(n_splits: int, n_workers: int) -> Iterator[np.ndarray]:
    """The tasks of the workers in turn: each is half of an equal share of the rest.

    Few large tasks, because the sample travels with each; single splits at the end, where a worker
    that has nothing left to do waits for the others.
    """
    first_split = 0
    while first_split < n_splits:
        n_left = n_splits - first_split
        size = n_left if n_workers == 1 else -(-n_left // (2 * n_workers))
        size = min(size, SPLITS_PER_TASK)
        yield np.arange(first_split, first_split + size)
        first_split += size


@dataclass(frozen=True)
class _Caller:
    """The process that asks for fits, and what makes the contexts of fits in others."""

    process: int
    contexts: tuple[Callable[[], AbstractContextManager[Any]], ...]


def _fit_splits(
    learner: SplitLearner, sample: Sample, output: Output, fits: FitRequests, caller: _Caller
) -> tuple[np.ndarray, int, dict[int, Exception]]:
    """Fit some splits in a worker, one BLAS thread each: (R, n), NaN if not tested.

    (R, n, C) for scores or probabilities of C > 2 classes. The worker's process comes second, and
    then why fits that may fail have failed, by the number of the split: their values are 0.
    """
    failed: dict[int, Exception] = {}
    values = np.full(_shape(learner, sample, output, fits.testing), np.nan)
    rows = [row for row in range(len(fits.splits)) if fits.testing[row].any()]

    def predictions_from(position: int) -> Iterator[np.ndarray]:
        requests = (fits.of_row(sample, row) for row in rows[position:])
        return learner.fit_predict_each(requests, output)

    with _as_worker(caller):
        iterator = predictions_from(0)
        for position, row in enumerate(rows):
            tested, split = np.flatnonzero(fits.testing[row]), int(fits.splits[row])
            try:
                values[row, tested] = _next(iterator, learner, values.shape[2:], split, tested)
            except FailedFit as error:
                if not fits.may_fail:
                    raise ValueError(str(error)) from error.__cause__
                cause = error.__cause__
                if os.getpid() != caller.process:
                    # Where the error cannot travel to another process, its words do.
                    try:
                        cause = pickle.loads(pickle.dumps(cause))
                    except Exception:
                        cause = RuntimeError(str(error))
                # Pickled errors lose their cause, so it is an argument.
                failed[split], values[row, tested] = FailedFit(str(error), cause), 0.0
                # A generator ends with its first error; other iterators go on.
                if isgenerator(iterator):
                    iterator = predictions_from(position + 1)
    return values, os.getpid(), failed


class FailedFit(ValueError):
    """A learner failed on one split; why is the cause, or where it has travelled an argument."""

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def reason(self) -> BaseException | None:
        """The learner's own error."""
        return self.args[1] if len(self.args) > 1 else self.__cause__


@contextmanager
def _as_worker(caller: _Caller) -> Iterator[None]:
    """In a worker process, let a learner use the worker's core alone, in the hooks' contexts.

    Dask would otherwise get the trees of a forest as tasks of their own, which takes longer.
    """
    if os.getpid() == caller.process:
        yield
        return
    from joblib import parallel_config

    with ONE_BLAS_THREAD, parallel_config(backend="sequential"), ExitStack() as stack:
        for context in caller.contexts:
            stack.enter_context(context())
        yield


def _shape(
    learner: SplitLearner, sample: Sample, output: Output, testing: np.ndarray
) -> tuple[int, ...]:
    """(R, n), or with a column for each of several classes, or of several times."""
    if output in BY_CLASS and sample.n_classes > 2:
        return (*testing.shape, sample.n_classes)
    n_times = len(learner.times) if isinstance(learner, SurvivalLearner) else 0
    return (*testing.shape, n_times) if n_times > 1 else testing.shape


def _failed(learner: SplitLearner, split: int, error: BaseException) -> str:
    return f"learner {learner.name} failed on split {place(split)}: {cause_of(error)}"


def _next(
    prediction_iterator: Iterator[np.ndarray],
    learner: SplitLearner,
    columns: tuple[int, ...],
    split: int,
    tested: np.ndarray,
) -> np.ndarray:
    try:
        predicted = next(prediction_iterator)
    except UnreadablePredictions as error:
        reported_error = error.__cause__ or error
        raise ValueError(_failed(learner, split, reported_error)) from error
    except Exception as error:
        raise FailedFit(_failed(learner, split, error)) from error
    # A single column is as good as a vector; some libraries return one.
    shape = (len(tested), *columns)
    if np.shape(predicted) == shape or (not columns and np.shape(predicted) == (len(tested), 1)):
        return np.reshape(predicted, shape)
    needed = "one value for each"
    if columns:
        of_survival = isinstance(learner, SurvivalLearner)
        of_column = "time of the metric" if of_survival else "class in the order of the labels"
        needed = f"shape {shape}, one column for each {of_column}"
    raise ValueError(
        f"learner {learner.name} returned predictions of shape {np.shape(predicted)} on split "
        f"{place(split)}, which tests {len(tested)} observations: it must return {needed}"
    )
