"""A learner fitted to many learning sets of one sample, in batches, with what may go wrong."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from threadpoolctl import threadpool_limits

from ucvtest.checks import check_workers
from ucvtest.float64 import count_devices, on_device
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

if TYPE_CHECKING:
    from joblib import Parallel

__all__ = ["Evaluator"]

TASKS_PER_JOB = 8
"""Tasks for each worker: enough to even out slow ones, few enough for the sample to travel
seldom."""

SPLITS_PER_TASK = 256
"""About the most splits of one task, so that an interrupt or an error does not wait for long."""


class _OneBlasThread:
    """Limits BLAS and OpenMP to one thread while anybody is inside.

    Fits in several threads may overlap in any order. Some libraries have one limit for the whole
    process, some one for each thread: the limits that were there before the first of them are
    set again by every thread that leaves.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._before: list[threadpool_limits] = []

    def __enter__(self) -> None:
        with self._lock:
            # Only the first one in sees what was there before.
            self._before.append(self._before[0] if self._before else threadpool_limits(1))
            if len(self._before) > 1:
                threadpool_limits(1)

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._before.pop().restore_original_limits()


_ONE_BLAS_THREAD = _OneBlasThread()


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
        processor's cores by themselves, and all of JAX's devices where there are several.
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
        check_workers(n_jobs, batch_size)
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
        if sample.n_classes:
            members = class_members(sample).T > 0
        else:
            members = np.ones((1, sample.n_obs), dtype=bool)
        self._members = _words(members)
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
        found = self.predict_all(learning, testing, seeds)
        return _blanked(found, testing)

    def predict_all(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> Predictions:
        """The same as `predict`, with anything where an observation is not tested.

        Class codes may then be small integers, which are quicker to go through.
        """
        single, code = self._single_classes(learning)
        splits = np.arange(self._n_splits, self._n_splits + len(learning))
        self._n_splits += len(learning)
        self._one_class_fits += int(single.sum())
        return self._fit_several(splits, learning, testing, seeds, single, code)

    def predict_labelings(
        self,
        labels: np.ndarray,
        seeds: np.ndarray,
        learning: np.ndarray | None = None,
        testing: np.ndarray | None = None,
    ) -> Predictions:
        """Learn other responses than the sample's, permuted ones for example, and predict.

        Parameters
        ----------
        labels : ndarray, shape (P, n)
            Row r is what the learner sees as the response in fit r: codes of the sample's
            classes, or real values if the sample has no classes.
        seeds : ndarray of int, shape (P,)
            One for each fit, for learners with randomness of their own.
        learning, testing : ndarray of bool, shape (P, n) or (1, n), optional
            A single row stands for all fits, which is faster: what does not depend on the
            labels is computed once. By default all observations learn, and all are predicted.

        Returns
        -------
        Predictions
            Values (P, n), NaN where an observation is not tested; ties among those tested.

        Raises
        ------
        ValueError
            As in `predict`; also if shapes do not match, or labels are not codes of classes or
            finite numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from ucvtest.evaluation import Evaluator
        >>> from ucvtest.learners.coerce import as_learner
        >>> from ucvtest.sample import make_sample
        >>> sample = make_sample(np.arange(4.0)[:, None], list("aabb"), as_classes=True)
        >>> evaluator = Evaluator(sample, as_learner("nearest_centroid"), "label")
        >>> permuted = np.array([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]])
        >>> evaluator.predict_labelings(permuted, seeds=np.arange(3)).values
        array([[0., 0., 1., 1.],
               [1., 1., 0., 0.],
               [0., 0., 0., 0.]])
        """
        labels, members = self._usable_labels(labels)
        everything = np.ones((1, self._sample.n_obs), dtype=bool)
        learning = everything if learning is None else learning
        tested = everything if testing is None else testing
        testing = np.broadcast_to(tested, labels.shape)
        single, code = self._single_classes(learning, members)
        # A vector, so that what is common cannot be mistaken for the set of a single fit.
        learning = learning[0] if len(learning) == 1 else learning
        splits = np.arange(self._n_splits, self._n_splits + len(labels))
        self._n_splits += len(labels)
        self._one_class_fits += int(single.sum())
        found = self._fit_several(splits, learning, testing, seeds, single, code, labels)
        return _blanked(found, tested)

    def _usable_labels(self, labels: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        """The labels as numbers, and where each class is; one class for a real response."""
        labels = np.asarray(labels, dtype=float)
        n_obs, n_classes = self._sample.n_obs, self._sample.n_classes
        if labels.ndim != 2 or labels.shape[1] != n_obs:
            raise ValueError(f"labels must have shape (P, {n_obs}), got {labels.shape}")
        if not n_classes:
            if not np.isfinite(labels).all():
                raise ValueError("labels must be finite numbers")
            return labels, [np.ones(labels.shape, dtype=bool)]
        members = [labels == code for code in range(n_classes)]
        if sum(np.count_nonzero(each) for each in members) < labels.size:
            raise ValueError(f"labels must be codes of classes, whole numbers 0 to {n_classes - 1}")
        return labels, members

    def _fit_several(
        self,
        splits: np.ndarray,
        learning: np.ndarray,
        testing: np.ndarray,
        seeds: np.ndarray,
        single: np.ndarray,
        code: np.ndarray,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Fit the learning sets with several classes, and predict `code` after the others."""
        if not single.any():
            return self._fit(splits, learning, testing, seeds, labels)
        rest = ~single
        fitted = self._fit(
            splits[rest],
            learning if learning.ndim == 1 else learning[rest],
            testing[rest],
            seeds[rest],
            None if labels is None else labels[rest],
        )
        values = np.repeat(code[:, None].astype(fitted.values.dtype), testing.shape[1], axis=1)
        values[rest] = fitted.values
        return Predictions(values, fitted.ties)

    def _single_classes(
        self, learning: np.ndarray, members: list[np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which learning sets have a single class, and what is then predicted."""
        if members is not None:
            present = np.stack([(learning & each).any(axis=1) for each in members])
        else:
            present = self._present(learning)
        # Classes go first: along a short last axis every sum would take as long as a long one.
        n_present = present.sum(axis=0)
        if not n_present.all():
            raise ValueError(f"learning set {self._n_splits + int(n_present.argmin())} is empty")
        if not self._sample.n_classes:
            return np.zeros(len(n_present), dtype=bool), np.zeros(len(n_present))
        code = present.argmax(axis=0)
        return n_present == 1, np.zeros_like(code) if self._output == "score" else code

    def _present(self, learning: np.ndarray) -> np.ndarray:
        """Which classes are present in each learning set, (C, R); one for a real response."""
        words = _words(learning)
        present = np.empty((self._members.shape[1], len(learning)), dtype=bool)
        for members, found in zip(self._members.T, present, strict=True):
            common = words[0] & members[0]
            for word, member in zip(words[1:], members[1:], strict=True):
                common |= word & member
            np.not_equal(common, 0, out=found)
        return present

    def _fit(
        self,
        splits: np.ndarray,
        learning: np.ndarray,
        testing: np.ndarray,
        seeds: np.ndarray,
        labels: np.ndarray | None,
    ) -> Predictions:
        common = learning.ndim == 1
        most = self._batch.most_labelings if common else self._batch.size
        size = most or max(len(splits), 1)
        batches = [slice(start, start + size) for start in range(0, len(splits), size)]

        def predict(rows: slice, device: int) -> Predictions:
            return self._batch.predict(
                splits[rows],
                learning if common else learning[rows],
                testing[rows],
                seeds[rows],
                None if labels is None else labels[rows],
                device,
            )

        parts = []
        ties: Counter[str] = Counter()
        found = _dealt_out(predict, batches, self._batch.n_devices)
        for rows, part in zip(batches, found, strict=True):
            self._refuse_unusable(part.values, testing[rows], splits[rows])
            parts.append(part.values)
            ties.update(part.ties)
        return Predictions(np.concatenate(parts) if parts else np.zeros(testing.shape), ties)

    def _refuse_unusable(self, values: np.ndarray, testing: np.ndarray, splits: np.ndarray) -> None:
        """Refuse predictions that the loss cannot score, naming the first split with one."""
        if values.dtype == np.int8:
            return
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


def _dealt_out(
    predict: Callable[[slice, int], Predictions], batches: list[slice], n_devices: int
) -> Iterator[Predictions]:
    """The predictions for all batches in their order, batch i by device i modulo their number."""
    n_devices = min(n_devices, len(batches))
    if n_devices < 2:
        for rows in batches:
            yield predict(rows, 0)
        return

    def work(device: int) -> list[Predictions]:
        return [predict(rows, device) for rows in batches[device::n_devices]]

    # One thread for each device, as what a thread asks for is done at once.
    with ThreadPoolExecutor(n_devices) as pool:
        by_device = list(pool.map(work, range(n_devices)))
    for number in range(len(batches)):
        yield by_device[number % n_devices][number // n_devices]


def _words(rows: np.ndarray) -> np.ndarray:
    """Rows of bool (R, n) as bits, 64 of them in a number: (ceil(n / 64), R)."""
    packed = np.packbits(rows, axis=1)
    filled = np.zeros((len(rows), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    filled[:, : packed.shape[1]] = packed
    return filled.view(np.uint64).T


def _blanked(predictions: Predictions, testing: np.ndarray) -> Predictions:
    """The predictions with NaN where nothing is tested."""
    # Adding NaN is faster than any copy by a random mask.
    return Predictions(predictions.values + _BLANK[testing.astype(np.int8)], predictions.ties)


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
    most_labelings: int | None
    """The same for labelings of one learning set."""
    n_devices: int
    """Devices that can do batches at the same time."""

    def predict(
        self,
        splits: np.ndarray,
        learning: np.ndarray,
        testing: np.ndarray,
        seeds: np.ndarray,
        labels: np.ndarray | None,
        device: int,
    ) -> Predictions:
        """Values (R, n), anything where not tested, for the splits of these numbers.

        With labels (R, n) the learning set may be one for all, (n,).
        """


class _JittedBatch:
    """Fits of a jitted learner, always in calls of the same shape.

    Another shape would be compiled anew, and would round differently: the last bit of a
    score can decide a tie, so that results would depend on the size of the batches. Labelings
    of one learning set may have a form to which the shape does not matter.
    """

    def __init__(
        self, sample: Sample, learner: JittedLearner | TranslatedLearner, output: Output
    ) -> None:
        self._sample = sample
        self._learner = learner
        self._output: Output = output
        self.n_devices = count_devices()
        self._states = {0: learner.prepare(sample)}
        self._shape = learner.rows_per_call(sample)
        self.size: int | None = self._shape
        self._labelings = learner.labelings_per_call(sample)
        self.most_labelings: int | None = self._labelings
        self._common: dict[int, tuple[np.ndarray, Any]] = {}

    def predict(
        self,
        splits: np.ndarray,
        learning: np.ndarray,
        testing: np.ndarray,
        seeds: np.ndarray,
        labels: np.ndarray | None,
        device: int,
    ) -> Predictions:
        with on_device(device):
            base = self._state_on(device)
            common = learning.ndim == 1
            state = self._common_state(base, device, learning) if common else base
            shape = self._labelings if common else self._shape
            learning = learning[None] if common else _lengthened(learning, shape)
            size = len(testing)
            if size < shape and state is base:
                labels = None if labels is None else _lengthened(labels, shape)
                # What is repeated must not have its ties counted again.
                testing = np.pad(testing, ((0, shape - size), (0, 0)))
            predictions = self._learner.predict(state, learning, self._output, testing, labels)
        return Predictions(predictions.values[:size], predictions.ties)

    def _state_on(self, device: int) -> Any:
        """What all fits share; a second device gets it when there is work for it."""
        if device not in self._states:
            self._states[device] = self._learner.prepare(self._sample)
        return self._states[device]

    def _common_state(self, base: Any, device: int, learning: np.ndarray) -> Any:
        """What all labelings of one learning set share, kept for as long as they come."""
        last, state = self._common.get(device, (None, None))
        if last is None or not np.array_equal(last, learning):
            state = self._learner.prepare_labelings(base, learning)
            self._common[device] = learning.copy(), state
        return state


class _TranslatedBatch:
    """Fits of a jitted learner, and of scikit-learn where that one leaves a prediction open."""

    def __init__(
        self, sample: Sample, learner: TranslatedLearner, output: Output, n_jobs: int | None
    ) -> None:
        self._jitted = _JittedBatch(sample, learner, output)
        self._original = _SplitBatch(sample, learner.original, output, None, n_jobs)
        self.size = self._jitted.size
        self.n_devices = self._jitted.n_devices
        self.most_labelings = self._jitted.most_labelings

    def predict(
        self,
        splits: np.ndarray,
        learning: np.ndarray,
        testing: np.ndarray,
        seeds: np.ndarray,
        labels: np.ndarray | None,
        device: int,
    ) -> Predictions:
        predictions = self._jitted.predict(splits, learning, testing, seeds, labels, device)
        values, ties = predictions.values, predictions.ties
        if np.isnan(values.sum()):
            rows = np.flatnonzero((np.isnan(values) & testing).any(axis=1))
            ties["sklearn_fits"] += len(rows)
            if len(rows):
                # What comes from JAX is read-only.
                values = values.copy()
                learning = np.broadcast_to(learning, testing.shape)[rows]
                other = None if labels is None else labels[rows]
                each = (splits[rows], learning, testing[rows], seeds[rows], other)
                values[rows] = self._original.predict(*each, device).values
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
        self.size = self.most_labelings = batch_size
        self.n_devices = 1

    def predict(
        self,
        splits: np.ndarray,
        learning: np.ndarray,
        testing: np.ndarray,
        seeds: np.ndarray,
        labels: np.ndarray | None,
        device: int,
    ) -> Predictions:
        from joblib import delayed

        fit = delayed(_fit_splits)
        learning = np.broadcast_to(learning, testing.shape)
        # The limit is set here for threads, which share it, and again in every worker process.
        with _ONE_BLAS_THREAD:
            parts = self._workers()(
                fit(
                    self._learner,
                    self._sample,
                    self._output,
                    splits[task],
                    learning[task],
                    testing[task],
                    seeds[task],
                    None if labels is None else labels[task],
                    os.getpid(),
                )
                for task in self._tasks(len(splits))
            )
        return Predictions(np.concatenate(parts), Counter())

    def _workers(self) -> "Parallel":
        from joblib import Parallel

        if self._learner.calling_thread_only:
            return Parallel(n_jobs=1, backend="sequential")
        return Parallel(n_jobs=self._n_jobs)

    def _tasks(self, n_splits: int) -> list[np.ndarray]:
        from joblib import effective_n_jobs

        n_jobs = effective_n_jobs(self._n_jobs)
        n_tasks = 1 if n_jobs == 1 else n_jobs * TASKS_PER_JOB
        n_tasks = max(n_tasks, n_splits // SPLITS_PER_TASK)
        return np.array_split(np.arange(n_splits), min(n_tasks, n_splits))


def _lengthened(rows: np.ndarray, count: int) -> np.ndarray:
    """The rows, the last one repeated until there are as many."""
    missing = count - len(rows)
    return np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)]) if missing > 0 else rows


def _fit_splits(
    learner: SplitLearner,
    sample: Sample,
    output: Output,
    splits: np.ndarray,
    learning: np.ndarray,
    testing: np.ndarray,
    seeds: np.ndarray,
    labels: np.ndarray | None,
    parent: int,
) -> np.ndarray:
    """Fit some splits in a worker, one BLAS thread each: (len(splits), n), NaN if not tested."""
    values = np.full(testing.shape, np.nan)
    with nullcontext() if os.getpid() == parent else _ONE_BLAS_THREAD:
        for row, split in enumerate(splits):
            learnt, tested = np.flatnonzero(learning[row]), np.flatnonzero(testing[row])
            if not len(tested):
                continue
            seen = sample if labels is None else sample.relabelled(labels[row])
            values[row, tested] = _fit_split(
                learner, seen, output, split, learnt, tested, int(seeds[row])
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
