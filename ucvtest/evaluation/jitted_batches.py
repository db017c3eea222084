"""How jitted learners predict some learning sets at a time."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.float64 import count_devices, on_device
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.evaluation.fit_requests import FitRequests
from ucvtest.evaluation.slow_fits import Pace
from ucvtest.evaluation.workers import SplitBatch
from ucvtest.learners.adapters.translated import TranslatedLearner
from ucvtest.learners.base import JittedLearner, Predictions


class JittedBatch:
    """Fits of a jitted learner, always in calls of the same shape.

    Another shape would be compiled again, and would round differently: the last bit of a
    score can decide a tie, so that results would depend on the size of the batches.
    """

    jitted = True
    n_workers = 1

    def __init__(
        self, sample: Sample, learner: JittedLearner, output: Output, execution: Execution
    ) -> None:
        self._sample, self._clock = sample, execution.progress.clock
        self._learner = learner
        self._output: Output = output
        self._n_devices, self._compiled = count_devices(), False
        self.pace = Pace(learner.name, one_by_one=False)
        self._states = {0: learner.prepare(sample)}
        self._most_rows = learner.rows_per_call(sample)

    @cached_property
    def _most_labelings(self) -> int:
        """Few tests ask for any."""
        return self._learner.labelings_per_call(self._sample)

    def at_once(self, *, labelings: bool) -> int:
        """Learning sets, or labelings of one, in every call."""
        return self._most_labelings if labelings else self._most_rows

    def predictions(self, fits: FitRequests) -> Iterator[tuple[slice, Predictions]]:
        """Those of all fits in their order, call by call; call i is for device i modulo n."""
        size = self.at_once(labelings=fits.common)
        calls = [slice(i, i + size) for i in range(0, len(fits), size)]
        n_devices = min(self._n_devices, len(calls))
        if n_devices < 2:
            for rows in calls:
                clock_before = self._clock()
                predictions = self.predict(fits.rows(rows), 0)
                # The first ones were compiled.
                if self._compiled:
                    self.pace.add(self._clock() - clock_before, len(predictions.values))
                self._compiled = True
                yield rows, predictions
            return

        def work(device: int) -> list[Predictions]:
            return [self.predict(fits.rows(rows), device) for rows in calls[device::n_devices]]

        # One thread for each device, as what a thread asks for is done at once.
        with ThreadPoolExecutor(n_devices) as pool:
            by_device = list(pool.map(work, range(n_devices)))
        for number, rows in enumerate(calls):
            yield rows, by_device[number % n_devices][number // n_devices]

    def predict(self, fits: FitRequests, device: int) -> Predictions:
        """Values (R, n); those of untested observations are undefined."""
        with on_device(device):
            # A second device gets what all fits share when there is work for it.
            if device not in self._states:
                self._states[device] = self._learner.prepare(self._sample)
            labels, testing, size = fits.labels, fits.testing, len(fits)
            shape = self.at_once(labelings=fits.common)
            # One learning set may stand for all labelings.
            learning = fits.learning[None] if fits.common else _lengthened(fits.learning, shape)
            if size < shape:
                labels = None if labels is None else _lengthened(labels, shape)
                # Ties of repeated fits must not be counted again.
                testing = np.pad(testing, ((0, shape - size), (0, 0)))
            state = self._states[device]
            predictions = self._learner.predict(state, learning, self._output, testing, labels)
        return Predictions(predictions.values[:size], predictions.ties)


class TranslatedBatch(JittedBatch):
    """Fits of a jitted learner, and of scikit-learn where that one leaves a prediction open."""

    def __init__(
        self, sample: Sample, learner: TranslatedLearner, output: Output, execution: Execution
    ) -> None:
        super().__init__(sample, learner.jitted, learner.outputs.get(output, output), execution)
        self.pace = Pace(learner.name, one_by_one=False)
        self._original = SplitBatch(sample, learner.original, output, execution)
        self._signed = learner.signed_score and output == "score"

    def predict(self, fits: FitRequests, device: int) -> Predictions:
        """See `JittedBatch`."""
        predictions = super().predict(fits, device)
        values, ties, failed = predictions.values, Counter(predictions.ties), predictions.failed
        if self._signed:
            values = 2.0 * values - 1.0
        if values.dtype != np.int8 and np.isnan(values.sum()):
            missing = np.isnan(values.reshape(*fits.testing.shape, -1)).any(axis=2)
            rows = np.flatnonzero((missing & fits.testing).any(axis=1))
            ties["sklearn_fits"] += len(rows)
            if len(rows):
                # What comes from JAX is read-only.
                values = values.copy()
                refitted = self._original.fit(fits.rows(rows))
                values[rows], failed = refitted.values, refitted.failed
        return Predictions(values, ties, failed)


def _lengthened(rows: np.ndarray, count: int) -> np.ndarray:
    """The rows, the last one repeated until there are `count`."""
    missing = count - len(rows)
    return np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)]) if missing > 0 else rows
