"""What learners of survival times have in common: risks, or probabilities of an event."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from ucvtest.common.words import arg, call
from ucvtest.data.output import SURVIVAL_OUTPUTS, Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Predictions


@dataclass(frozen=True, eq=False)
class SurvivalLearner:
    """A learner that predicts risks, or the probabilities of an event by some times."""

    times: tuple[float, ...] = field(default=(), kw_only=True)
    """By when the events are whose probabilities are predicted; set by `predicting_at`."""

    def predicting_at(self, times: Sequence[float]) -> Self:
        """The same learner, whose probabilities are about events by these times."""
        timed = copy(self)
        object.__setattr__(timed, "times", tuple(map(float, times)))
        return timed


def check_survival(name: str, sample: Sample, output: Output) -> None:
    """Refuse responses that are not survival times, and other outputs.

    Raises
    ------
    ValueError
    """
    if sample.survival_times is None or output not in SURVIVAL_OUTPUTS:
        raise ValueError(
            f"learner {name} needs survival times and a metric of them: pass "
            f"{call('survival', 'time, event')} as y, and {arg('metric', 'harrell')}"
        )


@dataclass(frozen=True)
class JittedSurvivalLearner(SurvivalLearner, JittedLearner):
    """A jitted learner of survival times."""

    @abstractmethod
    def risks(self, state: Any, learning: np.ndarray) -> np.ndarray:
        """Fit every learning set and score every observation, (R, n): high where events are early.

        NaN where a fit has no solution.
        """

    @abstractmethod
    def event_probabilities(
        self, state: Any, learning: np.ndarray, times: np.ndarray
    ) -> np.ndarray:
        """The probabilities of an event by each of the times (K,), as (R, n, K)."""

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse responses that are not survival times."""
        check_survival(self.name, sample, output)
        self._refuse_memory(sample.n_obs)
        sample.matrix_for(f"learner {self.name}")

    def scores(
        self, state: Any, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """The risks."""
        if labels is not None:
            raise ValueError(f"learner {self.name} learns survival times, which no test permutes")
        return self.risks(state, learning)

    def predict(
        self,
        state: Any,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Risks (R, n); or probabilities of an event, (R, n) by one time, (R, n, K) by several."""
        if output == "risk":
            return Predictions(self.scores(state, learning, labels), Counter())
        probabilities = self.event_probabilities(state, learning, np.asarray(self.times))
        return Predictions(
            probabilities[:, :, 0] if len(self.times) == 1 else probabilities, Counter()
        )
