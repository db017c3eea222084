"""Several classes by ridge regression: the largest of the fits to the indicators of each."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Scale
from ucvtest.learners.jitted.penalties import check_without_penalty
from ucvtest.learners.jitted.ridge import Ridge


class SharedFits(NamedTuple):
    """What all learning sets share."""

    state: Any
    """That of the regression."""
    target: np.ndarray
    """(n,) labels 0, 1, ..."""
    n_classes: int


@dataclass(frozen=True)
class OneAgainstRest(JittedLearner):
    """Ridge regression of the indicator of each class, as RidgeClassifier; the largest fit wins."""

    regression_of_each: Ridge

    scale: ClassVar[Scale] = "discriminant"
    multiclass: ClassVar[bool] = True
    pair_bytes: ClassVar[int] = Ridge.pair_bytes

    @property
    def name(self) -> str:
        """That of the regression."""
        return self.regression_of_each.name

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse also least squares with as many features as observations."""
        super().check(sample, output, learn_size)
        check_without_penalty(self, self.regression_of_each.lam, sample, learn_size)

    def rows_per_call(self, sample: Sample) -> int:
        """As many learning sets as the regression fits in one call."""
        return self.regression_of_each.rows_per_call(sample)

    def prepare(self, sample: Sample) -> SharedFits:
        """What all regressions share."""
        state = self.regression_of_each.prepare(sample)
        return SharedFits(state, sample.target, sample.n_classes)

    def scores(
        self, state: SharedFits, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Fitted values of the indicators, (R, n, C)."""
        if labels is None:
            labels = np.broadcast_to(state.target, learning.shape)
        indicators = (np.equal(labels, code).astype(float) for code in range(state.n_classes))
        fit = self.regression_of_each.scores
        return np.stack([fit(state.state, learning, indicator) for indicator in indicators], axis=2)
