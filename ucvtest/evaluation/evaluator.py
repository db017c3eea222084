"""A learner fitted to many learning sets of one sample, in batches, with what may go wrong."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.words import place
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.evaluation.fit_requests import FitRequests
from ucvtest.evaluation.slow_fits import Pace, announce_rest
from ucvtest.evaluation.workers import BY_CLASS, SplitBatch
from ucvtest.learners.adapters.translated import TranslatedLearner
from ucvtest.learners.base import JittedLearner, Learner, Predictions, SplitLearner, class_members
from ucvtest.learners.restricted import seen_by

if TYPE_CHECKING:
    from ucvtest.evaluation.jitted_batches import JittedBatch


class Evaluator:
    """Predictions of one learner, learnt on many learning sets of one sample.

    A learning set with a single class is not fitted: the rule is to predict that class. Where the
    execution names no `n_jobs`, one worker fits, unless a `joblib.parallel_config` context says
    otherwise. Jitted learners use all cores and all of JAX's devices, and batches of a size of
    their own.
    """

    n_splits: int
    """Learning sets so far."""
    one_class_fits: int
    """Those with a single class."""
    _batch: "JittedBatch | SplitBatch"

    def __init__(
        self,
        sample: Sample,
        learner: Learner,
        output: Output,
        execution: Execution | None = None,
    ) -> None:
        # Without one nobody asks how far the fits are.
        self._execution = execution or Execution.of(0, None, None)
        learner, sample = seen_by(learner, sample)
        if isinstance(learner, TranslatedLearner):
            learner = learner.fitted_by
        self._sample = sample
        self._learner = learner
        self._output: Output = output
        if isinstance(learner, JittedLearner | TranslatedLearner):
            # Imports JAX, which all other learners do without.
            from ucvtest.evaluation.jitted_batches import JittedBatch, TranslatedBatch

            if isinstance(learner, JittedLearner):
                self._batch = JittedBatch(sample, learner, output)
            else:
                self._batch = TranslatedBatch(sample, learner, output, self._execution)
        elif isinstance(learner, SplitLearner):
            self._batch = SplitBatch(sample, learner, output, self._execution)
        else:
            raise TypeError(
                f"{type(learner).__name__} is not a JittedLearner, TranslatedLearner or "
                "SplitLearner"
            )
        if sample.n_classes:
            members = class_members(sample).T > 0
        else:
            members = np.ones((1, sample.n_obs), dtype=bool)
        self._by_class = output in BY_CLASS and sample.n_classes > 2
        self._members = _bit_words(members)
        self.n_splits = 0
        self._pace, self._compiled = Pace(), False
        self.one_class_fits = 0

    @property
    def jitted(self) -> bool:
        """Whether fits are jitted, so that many at a time take little longer than one."""
        return not isinstance(self._learner, SplitLearner)

    def at_once(self, *, labelings: bool = False) -> int:
        """Fits that take no longer than one: a call of jitted fits has that number in any case."""
        batch = self._batch
        if isinstance(batch, SplitBatch):
            return 1
        return (batch.most_labelings if labelings else batch.size) or 1

    @property
    def n_workers(self) -> int:
        """Fits that are done at the same time, where they are not jitted."""
        return self._batch.n_workers if isinstance(self._batch, SplitBatch) else 1

    def predict(self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray) -> Predictions:
        """Learn on every learning set and predict the observations tested with it: NaN for others.

        Sets are (R, n), with one seed (R,) for each fit. Errors name the learner and the split,
        counted from 0 over all calls.
        """
        predictions = self.predict_all(learning, testing, seeds)
        return _with_nan_where_untested(predictions, testing)

    def predict_all(
        self,
        learning: np.ndarray,
        testing: np.ndarray,
        seeds: np.ndarray,
        *,
        may_fail: bool = False,
    ) -> Predictions:
        """The same as `predict`, but entries of untested observations are undefined.

        Labels may then be small integers, which are quicker to go through. Fits of learners that
        are fitted one by one `may_fail` one by one.
        """
        return self._fit_several(learning, testing, seeds, may_fail=may_fail)

    def predict_labelings(
        self,
        labels: np.ndarray,
        seeds: np.ndarray,
        learning: np.ndarray | None = None,
        testing: np.ndarray | None = None,
        *,
        blank: bool = True,
    ) -> Predictions:
        """Learn other responses than the sample's, permuted ones for example, and predict.

        Row r of the labels (P, n) is what the learner sees in fit r: the number of each class,
        or real values. A single row (1, n) of learning or test sets stands for all fits, which is
        faster: what does not depend on the labels is computed once. By default all observations
        learn, and all are predicted. Without `blank` entries of untested observations are
        undefined, which saves a pass where few are tested.
        """
        labels = np.asarray(labels, dtype=float)
        n_obs, n_classes = self._sample.n_obs, self._sample.n_classes
        if labels.ndim != 2 or labels.shape[1] != n_obs:
            raise ValueError(f"labels must have shape (P, {n_obs}), got {labels.shape}")
        if n_classes:
            members = [labels == label for label in range(n_classes)]
            if sum(map(np.count_nonzero, members)) < labels.size:
                raise ValueError(
                    f"labels must be codes of classes, whole numbers 0 to {n_classes - 1}"
                )
        else:
            if not np.isfinite(labels).all():
                raise ValueError("labels must be finite numbers")
            # A real response is one class.
            members = [np.ones(labels.shape, dtype=bool)]
        all_observations = np.ones((1, n_obs), dtype=bool)
        learning = all_observations if learning is None else learning
        tested = all_observations if testing is None else testing
        testing = np.broadcast_to(tested, labels.shape)
        predictions = self._fit_several(learning, testing, seeds, labels, members)
        return _with_nan_where_untested(predictions, tested) if blank else predictions

    def _fit_several(
        self,
        learning: np.ndarray,
        testing: np.ndarray,
        seeds: np.ndarray,
        labels: np.ndarray | None = None,
        members: list[np.ndarray] | None = None,
        *,
        may_fail: bool = False,
    ) -> Predictions:
        """Fit the learning sets with several classes, and predict its class after the others."""
        single, label = self._single_classes(learning, members)
        if labels is not None and len(learning) == 1:
            # A vector, so that a common set cannot be mistaken for the set of a single fit.
            learning = learning[0]
        splits = np.arange(self.n_splits, self.n_splits + len(testing))
        self.n_splits += len(testing)
        self.one_class_fits += int(single.sum())
        fits = FitRequests(splits, learning, testing, seeds, labels, may_fail)
        if single.any():
            self._execution.count_fits(int(single.sum()))
        else:
            return self._fit(fits)
        has_classes = ~single
        fitted_predictions = self._fit(fits.rows(has_classes))
        if fitted_predictions.values.ndim == 3 or self._by_class:
            label = (label[:, None] == np.arange(self._sample.n_classes)).astype(float)
        values = np.repeat(
            label[:, None].astype(fitted_predictions.values.dtype), testing.shape[1], axis=1
        )
        if has_classes.any():
            values[has_classes] = fitted_predictions.values
        return Predictions(values, fitted_predictions.ties, fitted_predictions.failed)

    def _single_classes(
        self, learning: np.ndarray, members: list[np.ndarray] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which learning sets have a single class, and their predictions.

        Whether each class is present in each set is (C, R); a real response is one class.
        """
        if members is not None:
            present = np.stack(
                [(learning & class_members).any(axis=1) for class_members in members]
            )
        else:
            learning_words = _bit_words(learning)
            present = np.empty((self._members.shape[1], len(learning)), dtype=bool)
            for class_words, is_present in zip(self._members.T, present, strict=True):
                shared_bits = learning_words[0] & class_words[0]
                for learning_word, member in zip(learning_words[1:], class_words[1:], strict=True):
                    shared_bits |= learning_word & member
                np.not_equal(shared_bits, 0, out=is_present)
        # Classes go first: along a short last axis every sum would take as long as a long one.
        n_present = present.sum(axis=0)
        if not n_present.all():
            raise ValueError(f"learning set {self.n_splits + int(n_present.argmin())} is empty")
        if not self._sample.n_classes:
            return np.zeros(len(n_present), dtype=bool), np.zeros(len(n_present))
        label = present.argmax(axis=0)
        return n_present == 1, np.zeros_like(label) if self._output == "score" else label

    def _fit(self, fits: FitRequests) -> Predictions:
        labelings_or_rows = self._batch.most_labelings if fits.common else self._batch.size
        size = labelings_or_rows or max(len(fits), 1)
        batches = [fits.rows(slice(i, i + size)) for i in range(0, len(fits), size)]
        batch_values = []
        ties: Counter[str] = Counter()
        failed: dict[int, Exception] = {}
        predictions_of_batches = _predict_on_devices(
            self._batch.predict, batches, self._batch.n_devices
        )
        progress = self._execution.progress
        clock_before = progress.clock()
        for batch, batch_predictions in zip(batches, predictions_of_batches, strict=True):
            self._refuse_unusable(batch_predictions.values, batch)
            if self.jitted:
                clock_now = progress.clock()
                self._execution.count_fits(len(batch))
                # The first ones were compiled; several devices end together.
                if self._compiled and self._batch.n_devices < 2:
                    self._pace.add(clock_now - clock_before, len(batch))
                    announce_rest(progress, self._pace, self._learner.name, one_by_one=False)
                self._compiled, clock_before = True, clock_now
            batch_values.append(batch_predictions.values)
            ties.update(batch_predictions.ties)
            failed.update(batch_predictions.failed)
        values = np.concatenate(batch_values) if batch_values else np.zeros(fits.testing.shape)
        return Predictions(values, ties, failed)

    def _refuse_unusable(self, values: np.ndarray, fits: FitRequests) -> None:
        """Refuse predictions that the loss cannot score, naming the first split with one."""
        if values.dtype == np.int8:
            return
        with np.errstate(invalid="ignore"):
            # The usual case needs no more than one pass: no NaN or infinity in the sum, so none.
            if self.jitted and np.isfinite(values.sum()):
                return
        if values.ndim == 3:
            # Of the scores of an observation for several classes, one that cannot be used tells.
            # It is the one that is farthest from 1/2.
            extreme_class = np.abs(values - 0.5).argmax(axis=2)[..., None]
            extreme_values = np.take_along_axis(values, extreme_class, axis=2)[..., 0]
            values = np.where(np.isnan(values).any(axis=2), np.nan, extreme_values)
        tested = np.where(fits.testing, values, 0.0)
        is_unusable = np.isnan(tested)
        if self._output in ("number", "probability", "event_probability"):
            is_unusable |= np.isinf(tested)
        if self._output in ("probability", "event_probability"):
            is_unusable |= (tested < 0) | (tested > 1)
        if not is_unusable.any():
            return
        row, column = np.argwhere(is_unusable)[0]
        learner = self._learner
        reason = f"this loss needs {_EXPECTED[self._output]}"
        raise ValueError(
            f"learner {learner.name} predicts {tested[row, column]} on split "
            f"{place(fits.splits[row])} for observation {place(column)}: "
            f"{learner.no_solution if isinstance(learner, JittedLearner) else reason}"
        )


def _predict_on_devices(
    predict: Callable[[FitRequests, int], Predictions], batches: list[FitRequests], n_devices: int
) -> Iterator[Predictions]:
    """The predictions for all batches in their order, batch i by device i modulo their number."""
    n_devices = min(n_devices, len(batches))
    if n_devices < 2:
        for batch in batches:
            yield predict(batch, 0)
        return

    def work(device: int) -> list[Predictions]:
        return [predict(batch, device) for batch in batches[device::n_devices]]

    # One thread for each device, as what a thread asks for is done at once.
    with ThreadPoolExecutor(n_devices) as pool:
        by_device = list(pool.map(work, range(n_devices)))
    for number in range(len(batches)):
        yield by_device[number % n_devices][number // n_devices]


def _bit_words(rows: np.ndarray) -> np.ndarray:
    """Rows of bool (R, n) as bits, 64 of them in a number: (ceil(n / 64), R)."""
    packed = np.packbits(rows, axis=1)
    filled = np.zeros((len(rows), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    filled[:, : packed.shape[1]] = packed
    return filled.view(np.uint64).T


def _with_nan_where_untested(predictions: Predictions, testing: np.ndarray) -> Predictions:
    """The predictions with NaN where nothing is tested."""
    # Adding NaN is faster than any copy by a random mask.
    blank = _BLANK[testing.astype(np.int8)]
    blank = blank[..., None] if predictions.values.ndim == 3 else blank
    return Predictions(predictions.values + blank, predictions.ties)


_BLANK = np.array([np.nan, 0.0])

_EXPECTED: dict[Output, str] = {
    "label": "one of the labels",
    "number": "finite numbers",
    "probability": "probabilities of the positive class, between 0 and 1",
    "score": "scores that are not NaN",
    "risk": "risks that are not NaN",
    "event_probability": "probabilities of an event, between 0 and 1",
}
