"""Slow fits, a few at a time: shown, announced and kept as they are finished."""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.evaluation.fit_requests import FitRequests
from ucvtest.evaluation.slow_fits import Pace, announce_rest, is_long
from ucvtest.evaluation.workers import SplitBatch
from ucvtest.learners.base import Predictions

if TYPE_CHECKING:
    from joblib import Parallel

CHUNK_SECONDS = 5.0
"""Seconds from which on chunks become no larger: what an interrupt loses at most is twice that, in
the last chunk three times, and workers wait for each other at the end of a chunk."""


class ChunkedFits:
    """Fits of one learning set at a time, in chunks of some seconds each; see `Batch`.

    How long they take decides the size of the chunks and nothing else. Known predictions are not
    fitted again.
    """

    def __init__(self, batch: SplitBatch, execution: Execution) -> None:
        self._batch, self._execution = batch, execution
        self.size = batch.size
        self.most_labelings = batch.most_labelings
        self.n_devices, self.n_workers = batch.n_devices, batch.n_workers
        self._chunk_size = 0
        self._pace = Pace()

    def predict(self, fits: FitRequests, device: int) -> Predictions:
        """See `Batch`."""
        execution, checkpoint = self._execution, self._execution.progress.known_fits
        values = np.full(self._batch.shape(fits.testing), np.nan)
        missing = np.arange(len(fits))
        failed: dict[int, Exception] = {}
        if checkpoint is not None:
            missing = checkpoint.fill_known(values, self._batch.learner, self._batch.output, fits)
            execution.count_fits(len(fits) - len(missing))
        if len(missing):
            with self._batch.workers() as workers:
                failed = self._fit(values, fits, missing, device, workers)
        return Predictions(values, Counter(), failed)

    def _fit(
        self,
        values: np.ndarray,
        fits: FitRequests,
        missing: np.ndarray,
        device: int,
        workers: "Parallel",
    ) -> dict[int, Exception]:
        """Do the fits that are missing, chunk by chunk, and write their predictions.

        Returns why fits have failed, by the number of the split.
        """
        failed: dict[int, Exception] = {}
        execution, checkpoint = self._execution, self._execution.progress.known_fits
        self._chunk_size = max(self._chunk_size, self.n_workers)
        first_row = 0
        while first_row < len(missing):
            n_left = len(missing) - first_row
            size = -(-n_left // max(1, round(n_left / self._chunk_size)))
            rows = missing[first_row : first_row + size]
            chunk = fits.rows(rows)
            clock_before = execution.progress.clock()
            predictions = self._batch.predict(chunk, device, workers)
            values[rows] = predictions.values
            failed.update(predictions.failed)
            seconds = execution.progress.clock() - clock_before
            has_fitted = ~np.isin(chunk.splits, list(predictions.failed))
            if checkpoint is not None and has_fitted.any():
                checkpoint.add_predictions(
                    *(values[rows[has_fitted]], self._batch.learner, self._batch.output),
                    chunk.rows(np.flatnonzero(has_fitted)),
                )
            execution.count_fits(len(rows))
            first_row += len(rows)
            # What starts workers, imports or compiles says little of the others, unless it is long.
            if self._batch.workers_were_ready or is_long(seconds):
                self._pace.add(seconds, len(rows))
            announce_rest(execution.progress, self._pace, self._batch.learner.name, one_by_one=True)
            # Workers idle at the end of each chunk: few small ones.
            if seconds < CHUNK_SECONDS:
                self._chunk_size *= 2 if seconds > CHUNK_SECONDS / 4 else 4
        return failed
