"""A learner fitted to many learning sets of one sample, in batches, with what may go wrong."""

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.common.words import place
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.evaluation.fit_requests import FitRequests
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
        self, sample: Sample, learner: Learner, output: Output, execution: Execution | None = None
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
                self._batch = JittedBatch(sample, learner, output, self._execution)
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
        self.n_splits = self.one_class_fits = 0

    @property
    def jitted(self) -> bool:
        """Whether fits are jitted, so that many at a time take little longer than one."""
        return self._batch.jitted

    def at_once(self, *, labelings: bool = False) -> int:
        """Fits that take no longer than one: a call of jitted fits has that number in any case."""
        return self._batch.at_once(labelings=labelings)

    @property
    def n_workers(self) -> int:
        """Fits that are done at the same time, where they are not jitted."""
        return self._batch.n_workers

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
        labels: np.ndarray | None = None,
        *,
        may_fail: bool = False,
    ) -> Predictions:
        """The same as `predict`, but entries of untested observations are undefined.

        Labels may then be small integers, which are quicker to go through. Fits of learners that
        are fitted one by one `may_fail` one by one. See `predict_labelings` for other labels.
        """
        single, label = self._single_classes(learning, labels)
        if labels is not None and len(learning) == 1:
            # A vector, so that a common set cannot be mistaken for the set of a single fit.
            learning = learning[0]
        splits = np.arange(self.n_splits, self.n_splits + len(testing))
        self.n_splits += len(testing)
        self.one_class_fits += int(single.sum())
        fits = FitRequests(splits, learning, testing, seeds, labels, may_fail)
        if not single.any():
            return self._fit(fits)
        self._execution.count_fits(int(single.sum()))
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
        n_obs = self._sample.n_obs
        if labels.ndim != 2 or labels.shape[1] != n_obs:
            raise ValueError(f"labels must have shape (P, {n_obs}), got {labels.shape}")
        all_observations = np.ones((1, n_obs), dtype=bool)
        learning = all_observations if learning is None else learning
        tested = all_observations if testing is None else testing
        testing = np.broadcast_to(tested, labels.shape)
        predictions = self.predict_all(learning, testing, seeds, labels)
        return _with_nan_where_untested(predictions, tested) if blank else predictions

    def _single_classes(
        self, learning: np.ndarray, labels: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which learning sets have a single class, and their predictions.

        Whether each class is present in each set is (C, R); a real response is one class.
        """
        n_classes = self._sample.n_classes
        if labels is not None and n_classes:
            members = [labels == label for label in range(n_classes)]
            if sum(map(np.count_nonzero, members)) < labels.size:
                raise ValueError(
                    f"labels must be codes of classes, whole numbers 0 to {n_classes - 1}"
                )
            present = np.stack([(learning & of_class).any(axis=1) for of_class in members])
        elif labels is not None:
            if not np.isfinite(labels).all():
                raise ValueError("labels must be finite numbers")
            present = np.broadcast_to(learning.any(axis=1), (1, len(labels)))
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
        if not n_classes:
            return np.zeros(len(n_present), dtype=bool), np.zeros(len(n_present))
        label = present.argmax(axis=0)
        return n_present == 1, np.zeros_like(label) if self._output == "score" else label

    def _fit(self, fits: FitRequests) -> Predictions:
        values, ties, failed = [], Counter[str](), dict[int, Exception]()
        for rows, predictions in self._batch.predictions(fits):
            self._refuse_unusable(predictions.values, fits.rows(rows))
            self._execution.count_fits(len(predictions.values))
            self._batch.pace.announce(self._execution.progress)
            values.append(predictions.values)
            ties.update(predictions.ties)
            failed.update(predictions.failed)
        whole = np.concatenate(values) if values else np.zeros(fits.testing.shape)
        return Predictions(whole, ties, failed)

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
