"""Fits that take their time, a few at a time: shown, announced and kept as they are finished."""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.evaluation.fit_requests import FitRequests
from ucvtest.evaluation.slow_fits import announce_duration, duration_in_words, is_long
from ucvtest.evaluation.workers import SplitBatch
from ucvtest.learners.base import Predictions

if TYPE_CHECKING:
    from joblib import Parallel

__all__ = ["ChunkedFits"]

CHUNK_SECONDS = 5.0
"""Seconds from which on chunks become no larger: what an interrupt loses at most is twice that, in
the last chunk three times, and workers wait for each other at the end of a chunk."""


class ChunkedFits:
    """Fits of one learning set at a time, in chunks of some seconds each; see `Batch`.

    How long they take decides the size of the chunks and nothing else. What a checkpoint holds is
    not fitted again.
    """

    def __init__(self, batch: SplitBatch, execution: Execution) -> None:
        self._batch, self._execution = batch, execution
        self.size = batch.size
        self.most_labelings = batch.most_labelings
        self.n_devices = batch.n_devices
        self._chunk_size = 0
        self._n_chunks = 0

    def predict(self, fits: FitRequests, device: int) -> Predictions:
        """See `Batch`."""
        execution, kept = self._execution, self._execution.progress.checkpoint
        values = np.full(self._batch.shape(fits.testing), np.nan)
        missing = np.arange(len(fits))
        if kept is not None:
            missing = kept.fill_known(values, self._batch.learner, self._batch.output, fits)
            execution.count_fits(len(fits) - len(missing))
        if len(missing):
            with self._batch.workers() as workers:
                self._fit(values, fits, missing, device, workers)
        return Predictions(values, Counter())

    def _fit(
        self,
        values: np.ndarray,
        fits: FitRequests,
        missing: np.ndarray,
        device: int,
        workers: "Parallel",
    ) -> None:
        """Do the fits that are missing, chunk by chunk, and write what they predict."""
        execution, kept = self._execution, self._execution.progress.checkpoint
        self._chunk_size = max(self._chunk_size, self._batch.n_workers)
        start = 0
        while start < len(missing):
            left = len(missing) - start
            size = -(-left // max(1, round(left / self._chunk_size)))
            rows = missing[start : start + size]
            part = fits.rows(rows)
            before = execution.progress.clock()
            values[rows] = self._batch.predict(part, device, workers).values
            seconds = execution.progress.clock() - before
            if kept is not None:
                kept.add_predictions(values[rows], self._batch.learner, self._batch.output, part)
            execution.count_fits(len(rows))
            start += len(rows)
            self._n_chunks += 1
            self._announce(seconds / len(rows), seconds)
            # Workers idle at the end of each chunk: few small ones.
            if seconds < CHUNK_SECONDS:
                self._chunk_size *= 2 if seconds > CHUNK_SECONDS / 4 else 4

    def _announce(self, pace: float, seconds: float) -> None:
        """Say once how long all fits will take, if that is long; `pace`: seconds for one."""
        progress = self._execution.progress
        # The first chunk imports and starts workers, which says little of the others.
        known = self._n_chunks > 1 or is_long(seconds)
        if progress.duration_checked or progress.total is None or not known:
            return
        left = progress.total - progress.n_fits
        most = "at most " if progress.at_most else ""
        each = f"{duration_in_words(pace)} each with {self._batch.learner.name}"
        announce_duration(
            progress,
            f"{most}{left} fits are left, {each}",
            left * pace,
            "compare(max_seconds=) takes the test that there is time for, fit(max_seconds=) ends "
            "in time, or says at once that it cannot, n_jobs= shares the fits out, and checkpoint= "
            "keeps what is finished",
            at_most=progress.at_most,
        )
