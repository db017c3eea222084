"""Where the losses of a test come from: fits, or a table of losses that exists.

A test asks for losses row by row of its design, and need not know which of the two answers.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from ucvtest.common.execution import Execution
from ucvtest.data.positive_class import json_label
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.evaluation.problem import Problem
from ucvtest.evaluation.workers import FailedFit
from ucvtest.losses.linearised import parts_where_tested
from ucvtest.losses.table import LossDifference
from ucvtest.metrics.means import LOG, LOSSES, certain_and_wrong
from ucvtest.metrics.smooth import Cells, FunctionOfMeans, SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.metrics.survival_sets import MetricOfSets

SILENT = Execution.of(0, None, None)
"""Of losses that are given: nobody asks how far they are."""

LossesAndFailures = tuple[list[np.ndarray], dict[int, list[FailedFit]]]


class LossSource(ABC):
    """Losses (scores, where the question is about no loss) of one learner, or of two.

    It also keeps what went by on the way: how many models were fitted, which ties a rule decided,
    how many learning sets had a single class, and whether two learners ever differed.
    """

    paired: bool
    """Whether there are two learners."""
    n_fits: int
    """Model fits so far, each learner and each learning set counted."""
    identical: bool
    """Whether two learners had the same losses wherever they were tested so far."""
    ties: Counter[str]
    """How many predictions each rule for ties decided."""
    one_class_fits: int
    """Fits to learning sets with a single class."""
    offset: np.ndarray | None = None
    """What the kernel of an estimate has beside losses, as a multiple of it: see `Clusters`."""

    function: FunctionOfMeans | MetricOfSets | None = None
    """The metric, where it is a function of means: predictions are then handed out in the place of
    losses, always of rows."""
    target: np.ndarray
    """What is predicted, where there is such a function."""
    largest_class: int = 0
    """The largest class that is predicted, as far as it is known."""

    one_by_one: bool = False
    """Whether a learner is fitted to one learning set at a time, which may take long."""
    n_workers: int = 1
    """Fits of such a learner that are done at the same time."""
    execution: Execution = SILENT
    """How fits are run, and how far they are."""
    pairs: Any = None
    """What became of the pairs of learning sets of such learners, where a test draws pairs."""

    @property
    def counts(self) -> dict[str, int]:
        """`one_class_fits` and `ties`, as diagnostics keep them."""
        return {"one_class_fits": self.one_class_fits, **self.ties}

    @abstractmethod
    def losses_and_failures(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray, *, may_fail: bool = True
    ) -> LossesAndFailures:
        """Losses (scores) of each learner, (R, n), for the next rows of the design.

        Of clusters, where the sample has them and there is a loss: then sets and losses are (R, G).

        0 where losses are not tested; scores may be anything there. Counts of errors may be small
        integers. Each fit has a seed, for learners with randomness of their own. By row also why
        learners that are fitted one by one, and that `may_fail`, have failed on it: losses of
        these rows mean nothing.
        """

    def losses_for(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray
    ) -> list[np.ndarray]:
        """The losses alone, where an error inside a learner ends everything."""
        return self.losses_and_failures(learning, testing, seeds, may_fail=False)[0]


class FittedLosses(LossSource):
    """Losses of learners, ready to be fitted, which are when they are asked for."""

    def __init__(self, problem: Problem, execution: Execution) -> None:
        self._problem = problem
        self._clusters = problem.clusters if problem.metric.is_mean else None
        self._weights = problem.loss_weights
        if self._weights is not None:
            self.offset = self._weights.offset(self._clusters)
        elif self._clusters is not None:
            self.offset = self._clusters.offset
        metric, sample = problem.metric, problem.sample
        if isinstance(metric, SmoothMetric):
            self.target = sample.target
            if isinstance(metric, SurvivalMetric) and sample.survival_times is not None:
                self.function = metric.in_sets(sample.survival_times)
            else:
                labels = [] if sample.classes is None else [*map(json_label, sample.classes)]
                self.function = metric.made_for(labels)
        self._evaluators = [
            Evaluator(problem.sample, learner, problem.output, execution)
            for learner in problem.learners.values()
        ]
        self.execution = execution
        self.one_by_one = not all(evaluator.jitted for evaluator in self._evaluators)
        self.n_workers = max(evaluator.n_workers for evaluator in self._evaluators)
        self.ties = Counter()
        self.paired = self.identical = len(self._evaluators) == 2
        self.n_fits = self.one_class_fits = 0

    def losses_and_failures(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray, *, may_fail: bool = True
    ) -> LossesAndFailures:
        """See `LossSource`."""
        failed: dict[int, list[FailedFit]] = {}
        learner_values, clusters, ties = [], self._clusters, Counter[str]()
        if clusters is not None:
            index = clusters.groups.index
            learning, testing = learning[:, index], testing[:, index]
        for evaluator in self._evaluators:
            first = evaluator.n_splits
            predictions = evaluator.predict_all(learning, testing, seeds, may_fail=may_fail)
            for split, error in predictions.failed.items():
                assert isinstance(error, FailedFit)
                failed.setdefault(split - first, []).append(error)
            learner_values.append(self._scored(predictions.values, testing))
            ties.update(predictions.ties)
            if self._problem.metric.name == LOG:
                ties.update(certain_and_wrong(learner_values[-1]))
        # An interrupt of one learner leaves nothing of the others behind.
        self.ties.update(ties)
        self.n_fits += len(learning) * len(self._evaluators)
        self.one_class_fits = sum(evaluator.one_class_fits for evaluator in self._evaluators)
        if self.identical:
            first_values, other_values = learner_values
            if self._problem.metric.is_mean:
                self.identical = np.array_equal(first_values, other_values)
            else:
                # Scores may be anything where they are not tested.
                self.identical = bool((first_values == other_values)[testing].all())
        if self.function is None:
            learner_values = [self._of_units(values) for values in learner_values]
        return learner_values, failed

    def _of_units(self, values: np.ndarray) -> np.ndarray:
        """Losses of observations, or of clusters, with their weights."""
        if self._weights is not None:
            values = values * self._weights.shares
        return values if self._clusters is None else self._clusters.sums(values)

    def _scored(self, predictions: np.ndarray, testing: np.ndarray) -> np.ndarray:
        metric, sample = self._problem.metric, self._problem.sample
        if predictions.dtype == np.int8 and isinstance(self.function, Cells):
            return np.where(testing, predictions, np.int8(0))
        if self.function is not None:
            scored_predictions = metric.kept(sample, predictions, testing)
            # Fits that have failed.
            return np.where(np.isnan(scored_predictions), 0.0, scored_predictions)
        if metric.function is LOSSES["zero_one"].function and predictions.dtype == np.int8:
            # Counts of errors, in the small integers in which the labels came.
            is_error = predictions != sample.target.astype(np.int8)
            is_error &= testing
            return is_error.view(np.int8)
        return metric.kept(sample, predictions, testing)


class PrecomputedLosses(LossSource):
    """Losses that exist, handed out in the order of their design's rows, or in `order`.

    Where `rows` have predictions, of a metric that is a function of means, these are handed out.
    """

    places: tuple[int, ...] = ()
    """Places of the learners whose predictions are handed out, and what these are parts of."""
    parts: Any = None

    def __init__(
        self,
        difference: LossDifference,
        order: np.ndarray | None = None,
        rows: LossDifference | None = None,
    ) -> None:
        self._order, self._next = order, 0
        handed_out, self._values = difference, [*difference.values_by_learner.values()]
        if rows is not None and rows.losses.predictions is not None:
            losses, metric, self.places = rows.losses, rows.losses.metric, rows.places
            handed_out, self._values = rows, [rows.losses.predictions[k] for k in self.places]
            self.target, self.parts = np.asarray(losses.target), parts_where_tested(losses)
            if isinstance(metric, SurvivalMetric):
                self.function = metric.in_sets(losses.survival_times)
            else:
                self.function = losses.function_of_means
            if isinstance(self.function, Cells):
                self.largest_class = int(np.ceil(max(x.max() for x in self._values)))
        self._testing = handed_out.design.testing
        self._starts = np.concatenate([[0], np.cumsum(handed_out.design.n_tested)])
        self.ties = Counter(difference.diagnostics)
        self.one_class_fits = self.ties.pop("one_class_fits", 0)
        self.paired, self.identical = difference.paired, difference.identical
        self.n_fits = difference.n_fits

    def losses_and_failures(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray, *, may_fail: bool = True
    ) -> LossesAndFailures:
        """See `LossSource`; what a row learns from and tests must be what the design says."""
        first, self._next = self._next, self._next + len(testing)
        rows: slice | np.ndarray = slice(first, self._next)
        places: slice | np.ndarray = slice(self._starts[first], self._starts[self._next])
        if self._order is not None:
            rows = self._order[rows]
            places = np.concatenate(
                [np.arange(self._starts[row], self._starts[row + 1]) for row in rows]
            )
        tested, learner_losses = self._testing[rows], []
        for values in self._values:
            losses = np.zeros((*tested.shape, *values.shape[1:]))
            losses[tested] = values[places]
            learner_losses.append(losses)
        return learner_losses, {}


class SeveralLosses(LossSource):
    """Losses of any number of learners for the same rows, each from a source of its own."""

    def __init__(self, sources: Sequence[LossSource]) -> None:
        self._sources = tuple(sources)
        # Of all that each has answered so far; learners that never differ have the same.
        self._answers = [blake2b(digest_size=16) for _ in sources]
        self.paired = self.identical = False
        self.one_by_one = any(source.one_by_one for source in sources)
        self.n_workers = max(source.n_workers for source in sources)
        self._count()

    @property
    def n_learners(self) -> int:
        """Learners."""
        return len(self._sources)

    def losses_and_failures(
        self, learning: np.ndarray, testing: np.ndarray, seeds: np.ndarray, *, may_fail: bool = True
    ) -> LossesAndFailures:
        """See `LossSource`."""
        learner_losses: list[np.ndarray] = []
        failed: dict[int, list[FailedFit]] = {}
        for source in self._sources:
            (losses,), errors = source.losses_and_failures(
                learning, testing, seeds, may_fail=may_fail
            )
            learner_losses.append(losses)
            for row, row_errors in errors.items():
                failed.setdefault(row, []).extend(row_errors)
        is_complete = ~np.isin(np.arange(len(testing)), list(failed))
        answered = testing & is_complete[:, None]
        for losses_digest, losses in zip(self._answers, learner_losses, strict=True):
            losses_digest.update(losses[answered].astype(float).tobytes())
        self._count()
        return learner_losses, failed

    def of(self, places: Sequence[int]) -> "SeveralLosses":
        """What went by of one or two of the learners."""
        selected = SeveralLosses([self._sources[k] for k in places])
        selected.paired, selected.pairs = len(places) == 2, self.pairs
        # An interrupt may have left more behind of selected learners.
        selected.n_fits = sum(self._fits_of_each[k] for k in places)
        selected.identical = (
            selected.paired and len({self._answers[k].digest() for k in places}) == 1
        )
        return selected

    def _count(self) -> None:
        self._fits_of_each = [source.n_fits for source in self._sources]
        self.n_fits = sum(self._fits_of_each)
        self.one_class_fits = sum(source.one_class_fits for source in self._sources)
        self.ties = Counter()
        for source in self._sources:
            self.ties.update(source.ties)
