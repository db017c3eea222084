"""A jitted learner that replaces a scikit-learn estimator, with the fits that it leaves open."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.estimators import SklearnLearner
from ucvtest.learners.base import JittedLearner, Learner, Predictions, leading
from ucvtest.learners.batching import clear_labels

OPEN = 1e-8
"""Distance from the cut within which the error of a solution could decide."""

ROUNDING = 1e-12
"""The same for rounding errors, relative to the largest score of a call."""


@dataclass(frozen=True, eq=False)
class TranslatedLearner(Learner):
    """A jitted learner that predicts what a scikit-learn estimator would; made by `translate`.

    The original fits where the jitted learner leaves a prediction open. `outputs` says what to ask
    the jitted one for, where it is not what the loss needs; a `signed_score` is for classes
    numbered -1 and 1; with `exact_scores`, labels of scores near the cut are left open.
    """

    backend: ClassVar[str] = "jax"

    original: SklearnLearner
    jitted: JittedLearner
    outputs: Mapping[Output, Output] = field(default_factory=dict)
    signed_score: bool = False
    exact_scores: bool = True
    early_stop: Callable[[], str] | None = None
    """Finds the remark by a fit, where scikit-learn might stop early."""

    @property
    def name(self) -> str:
        """The estimator as scikit-learn writes it."""
        return self.original.name

    @cached_property
    def remark(self) -> str:
        """Where predictions differ from scikit-learn's after all, because that one stops early.

        It is first asked for where fits belong, inside of `hooks.fitting`.
        """
        return "" if self.early_stop is None else self.early_stop()

    @property
    def regresses(self) -> bool:
        """Whether the estimator is a regressor."""
        return self.original.regresses

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse what the estimator cannot do."""
        self.original.check(sample, output, learn_size)

    def note_on(self, sample: Sample) -> str:
        """The remarks on the estimator, and on the learner that replaces it."""
        notes = self.original.note_on(sample), self.jitted.note_on(sample)
        return " ".join(filter(None, notes))

    def rows_per_call(self, sample: Sample) -> int:
        """As many learning sets as the jitted learner fits in one call."""
        return self.jitted.rows_per_call(sample)

    def prepare(self, sample: Sample) -> Any:
        """What all fits of the jitted learner share."""
        return self.jitted.prepare(sample)

    def labelings_per_call(self, sample: Sample) -> int:
        """As many labelings of one learning set as the jitted learner fits in one call."""
        return self.jitted.labelings_per_call(sample)

    def predict(
        self,
        state: Any,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Predictions as those of `JittedLearner.predict`; NaN where they are left open."""
        jitted_output = self.outputs.get(output, output)
        if jitted_output == "label" and self.exact_scores:
            predicted = self.jitted.codes(state, learning, labels, (OPEN, ROUNDING))
            if predicted is not None:
                return Predictions(predicted, Counter(score_ties=0))
            return self._labels(self.jitted.scores(state, learning, labels), testing)
        predictions = self.jitted.predict(state, learning, jitted_output, testing, labels)
        if output == "score" and self.signed_score:
            return Predictions(2.0 * predictions.values - 1.0, predictions.ties)
        return predictions

    def _labels(self, scores: np.ndarray, testing: np.ndarray) -> Predictions:
        """Labels for scores; NaN where rounding errors could decide between the best classes."""
        largest = max(np.fmax.reduce(scores, axis=None), -np.fmin.reduce(scores, axis=None))
        if scores.ndim == 3 and not np.isfinite(largest):
            # Infinite for classes that are missing in a learning set.
            largest = np.where(np.isfinite(scores), np.abs(scores), 0.0).max()
        distance = OPEN + ROUNDING * largest
        if scores.ndim == 2:
            predicted = clear_labels(scores, self.jitted.cut, distance)
            if predicted is not None:
                return Predictions(predicted, Counter(score_ties=0))
            near = np.abs(scores - self.jitted.cut) <= distance
        else:
            predicted, best_score, second = leading(scores)
            clear = second < best_score - distance
            if clear.all():
                return Predictions(predicted, Counter(score_ties=0))
            near = ~clear
        elected = self.jitted.elect(scores, testing)
        elected.values[near] = np.nan
        return elected


def remarks_of(learners: Iterable[Learner]) -> list[str]:
    """Remarks on learners that predict something else than the estimators they stand for."""
    translated = (learner for learner in learners if isinstance(learner, TranslatedLearner))
    return [learner.remark for learner in translated if learner.remark]
