"""A learner fitted to many learning sets of one sample, in batches, with what may go wrong."""

import os
from collections import Counter
from contextlib import nullcontext
from typing import Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from ucvtest.learners.base import (
    JittedLearner,
    Learner,
    Predictions,
    SplitLearner,
    class_members,
)
from ucvtest.learners.translate import TranslatedLearner
from ucvtest.losses import Output
from ucvtest.sample import Sample

__all__ = ["Evaluator"]

TASKS_PER_JOB = 8
"""Tasks for each worker: enough to even out slow ones, few enough for the sample to travel
seldom."""

SPLITS_PER_TASK = 256
"""About the most splits of one task, so that an interrupt or an error does not wait for long."""


class Evaluator:
    """Predictions of one learner, learnt on many learning sets of one sample.

    A learning set with a single class is not fitted: the rule is to predict that class.

    Parameters
    ----------
    sample : Sample
    learner : Learner
    output : {"label", "number", "probability", "score"}
        What is predicted.
    n_jobs : int, optional
        Workers for learners that are fitted to one learning set at a time; None means one,
        unless a `joblib.parallel_config` context says otherwise. Jitted learners use the
        processor's cores by themselves.
    batch_size : int, optional
        Most learning sets that are shared out to the workers at a time. Results do not
        depend on it; jitted learners have a size of their own, which fits the processor.

    Raises
    ------
    ValueError
        If `n_jobs` is 0, or `batch_size` is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest.evaluation import Evaluator
    >>> from ucvtest.learners.coerce import as_learner
    >>> from ucvtest.sample import make_sample
    >>> sample = make_sample(np.arange(6.0)[:, None], list("aaabbb"), as_classes=True)
    >>> learning = np.array([[1, 1, 0, 0, 1, 1]], dtype=bool)
    >>> evaluator = Evaluator(sample, as_learner("nearest_centroid"), "label")
    >>> evaluator.predict(learning, ~learning, seeds=np.array([0])).values
    array([[nan, nan,  0.,  1., nan, nan]])
    """

    def __init__(
        self,
        sample: Sample,
        learner: Learner,
        output: Output,
        *,
        n_jobs: int | None = None,
        batch_size: int | None = None,
    ) -> None:
        if n_jobs == 0:
            raise ValueError("n_jobs must not be 0: use 1 for one worker, -1 for all processors")
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {batch_size}")
        self._sample = sample
        self._learner = learner
        self._output: Output = output
        self._batch: _Batch
        if isinstance(learner, JittedLearner):
            self._batch = _JittedBatch(sample, learner, output)
        elif isinstance(learner, TranslatedLearner):
            self._batch = _TranslatedBatch(sample, learner, output, n_jobs)
        elif isinstance(learner, SplitLearner):
            self._batch = _SplitBatch(sample, learner, output, batch_size, n_jobs)
        else:
            raise TypeError(
                f"{type(learner).__name__} is no JittedLearner, TranslatedLearner or SplitLearner"
            )
        self._n_splits = 0
        self._one_class_fits = 0

    @property
    def one_class_fits(self) -> int:
        """Learning sets with a single class so far."""
        return self._one_class_fits

    def predict(self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray) -> Predictions:
        """Learn on every learning set and predict the observations tested with it.

        Parameters
        ----------
        learning, testing : ndarray of bool, shape (R, n)
        seeds : ndarray of int, shape (R,)
            One for each fit, for learners with randomness of their own.

        Returns
        -------
        Predictions
            Values (R, n), NaN where an observation is not tested; ties among those tested.

        Raises
        ------
        ValueError
            If a learner fails on a split, or predicts what the loss cannot use: the message
            names learner and split, counted from 0 over all calls.
        """
        single, code = self._single_classes(learning)
        splits = np.arange(self._n_splits, self._n_splits + len(learning))
        self._n_splits += len(learning)
        self._one_class_fits += int(single.sum())
        if not single.any():
            return self._fit(splits, learning, testing, seeds)
        rest = ~single
        fitted = self._fit(splits[rest], learning[rest], testing[rest], seeds[rest])
        values = np.where(testing, code[:, None], np.nan)
        values[rest] = fitted.values
        return Predictions(values, fitted.ties)

    def _single_classes(self, learning: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which learning sets have a single class, and what is then predicted."""
        if self._sample.n_classes:
            members = class_members(self._sample)
        else:
            members = np.ones((self._sample.n_obs, 1))
        # Single precision counts exactly, and twice as fast.
        present = learning.astype(np.float32) @ members.astype(np.float32) > 0
        n_present = present.sum(axis=1)
        if not n_present.all():
            raise ValueError(f"learning set {self._n_splits + int(n_present.argmin())} is empty")
        if not self._sample.n_classes:
            return np.zeros(len(learning), dtype=bool), np.zeros(len(learning))
        code = present.argmax(axis=1).astype(float)
        return n_present == 1, np.zeros_like(code) if self._output == "score" else code

    def _fit(
        self, splits: np.ndarray, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> Predictions:
        values = np.empty(learning.shape)
        ties: Counter[str] = Counter()
        size = self._batch.size or max(len(splits), 1)
        for start in range(0, len(splits), size):
            rows = slice(start, start + size)
            part = self._batch.predict(splits[rows], learning[rows], testing[rows], seeds[rows])
            self._refuse_unusable(part.values, testing[rows], splits[rows])
            # Adding NaN where nothing is tested is faster than any copy by a random mask.
            np.add(part.values, _BLANK[testing[rows].view(np.int8)], out=values[rows])
            ties.update(part.ties)
        return Predictions(values, ties)

    def _refuse_unusable(self, values: np.ndarray, testing: np.ndarray, splits: np.ndarray) -> None:
        """Refuse predictions that the loss cannot score, naming the first split with one."""
        jitted = not isinstance(self._learner, SplitLearner)
        with np.errstate(invalid="ignore"):
            # The usual case needs no more than one pass: no NaN or infinity in the sum, so none.
            if jitted and np.isfinite(values.sum()):
                return
        tested = np.where(testing, values, 0.0)
        bad = np.isnan(tested)
        if self._output in ("number", "probability"):
            bad |= np.isinf(tested)
        if self._output == "probability":
            bad |= (tested < 0) | (tested > 1)
        if not bad.any():
            return
        row, column = np.argwhere(bad)[0]
        learner = self._learner
        reason = f"this loss needs {_EXPECTED[self._output]}"
        raise ValueError(
            f"learner {learner.name} predicts {tested[row, column]} on split {splits[row]} for "
            f"observation {column}: "
            f"{learner.no_solution if isinstance(learner, JittedLearner) else reason}"
        )


_BLANK = np.array([np.nan, 0.0])

_EXPECTED: dict[Output, str] = {
    "label": "one of the labels",
    "number": "finite numbers",
    "probability": "probabilities of the positive class, between 0 and 1",
    "score": "scores that are not NaN",
}


class _Batch(Protocol):
    """How a learner predicts some learning sets at a time."""

    size: int | None
    """Most learning sets at a time; None for all."""

    def predict(
        self, splits: np.ndarray, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> Predictions:
        """Values (R, n), anything where not tested, for the splits of these numbers."""


class _JittedBatch:
    """Fits of a jitted learner, always in calls of the same shape.

    Another shape would be compiled anew, and would round differently: the last bit of a
    score can decide a tie, so that results would depend on the size of the batches.
    """

    def __init__(
        self, sample: Sample, learner: JittedLearner | TranslatedLearner, output: Output
    ) -> None:
        self._learner = learner
        self._output: Output = output
        self._state = learner.prepare(sample)
        self._shape = learner.rows_per_call(sample)
        self.size: int | None = self._shape

    def predict(
        self, splits: np.ndarray, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> Predictions:
        size = len(learning)
        if size < self._shape:
            padding = self._shape - size
            learning = np.concatenate([learning, np.repeat(learning[-1:], padding, axis=0)])
            # What is repeated must not have its ties counted again.
            testing = np.pad(testing, ((0, padding), (0, 0)))
        predictions = self._learner.predict(self._state, learning, self._output, testing)
        return Predictions(predictions.values[:size], predictions.ties)


class _TranslatedBatch:
    """Fits of a jitted learner, and of scikit-learn where that one leaves a prediction open."""

    def __init__(
        self, sample: Sample, learner: TranslatedLearner, output: Output, n_jobs: int | None
    ) -> None:
        self._jitted = _JittedBatch(sample, learner, output)
        self._original = _SplitBatch(sample, learner.original, output, None, n_jobs)
        self.size = self._jitted.size

    def predict(
        self, splits: np.ndarray, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> Predictions:
        predictions = self._jitted.predict(splits, learning, testing, seeds)
        values, ties = predictions.values, predictions.ties
        if np.isnan(values.sum()):
            rows = np.flatnonzero((np.isnan(values) & testing).any(axis=1))
            ties["sklearn_fits"] += len(rows)
            if len(rows):
                each = (splits[rows], learning[rows], testing[rows], seeds[rows])
                values[rows] = self._original.predict(*each).values
        return Predictions(values, ties)


class _SplitBatch:
    """Fits of one learning set at a time, shared out to joblib's workers."""

    def __init__(
        self,
        sample: Sample,
        learner: SplitLearner,
        output: Output,
        batch_size: int | None,
        n_jobs: int | None,
    ) -> None:
        self._sample = sample
        self._learner = learner
        self._output: Output = output
        self._n_jobs = n_jobs
        self.size = batch_size

    def predict(
        self, splits: np.ndarray, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> Predictions:
        fit = delayed(_fit_splits)
        # The limit is set here for threads, which share it, and again in every worker process.
        with threadpool_limits(1):
            parts = self._workers()(
                fit(
                    self._learner,
                    self._sample,
                    self._output,
                    splits[task],
                    learning[task],
                    testing[task],
                    seeds[task],
                    os.getpid(),
                )
                for task in self._tasks(len(splits))
            )
        return Predictions(np.concatenate(parts), Counter())

    def _workers(self) -> Parallel:
        if self._learner.calling_thread_only:
            return Parallel(n_jobs=1, backend="sequential")
        return Parallel(n_jobs=self._n_jobs)

    def _tasks(self, n_splits: int) -> list[np.ndarray]:
        n_jobs = effective_n_jobs(self._n_jobs)
        n_tasks = 1 if n_jobs == 1 else n_jobs * TASKS_PER_JOB
        n_tasks = max(n_tasks, n_splits // SPLITS_PER_TASK)
        return np.array_split(np.arange(n_splits), min(n_tasks, n_splits))


def _fit_splits(
    learner: SplitLearner,
    sample: Sample,
    output: Output,
    splits: np.ndarray,
    learning: np.ndarray,
    testing: np.ndarray,
    seeds: np.ndarray,
    parent: int,
) -> np.ndarray:
    """Fit some splits in a worker, one BLAS thread each: (len(splits), n), NaN if not tested."""
    values = np.full(testing.shape, np.nan)
    with nullcontext() if os.getpid() == parent else threadpool_limits(1):
        for row, split in enumerate(splits):
            learnt, tested = np.flatnonzero(learning[row]), np.flatnonzero(testing[row])
            if not len(tested):
                continue
            values[row, tested] = _fit_split(
                learner, sample, output, split, learnt, tested, int(seeds[row])
            )
    return values


def _fit_split(
    learner: SplitLearner,
    sample: Sample,
    output: Output,
    split: int,
    learnt: np.ndarray,
    tested: np.ndarray,
    seed: int,
) -> np.ndarray:
    try:
        predicted = learner.fit_predict(sample, learnt, tested, output, seed)
    except Exception as error:
        raise ValueError(
            f"learner {learner.name} failed on split {split}: {type(error).__name__}: {error}"
        ) from error
    # A single column is as good as a vector; some libraries return one.
    if np.shape(predicted) not in ((len(tested),), (len(tested), 1)):
        raise ValueError(
            f"learner {learner.name} returned predictions of shape {np.shape(predicted)} on split "
            f"{split}, which tests {len(tested)} observations: it must return one value for each"
        )
    return np.reshape(predicted, -1)
