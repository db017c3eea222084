"""A jitted learner that looks at some columns only."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.base import JittedLearner, Scale


@dataclass(frozen=True)
class OnColumns(JittedLearner):
    """The learner on these columns, for two classes or numbers; made by `on_columns`."""

    learner: JittedLearner
    columns: tuple[int, ...]

    @property
    def scale(self) -> Scale:  # type: ignore[override]
        """That of the learner."""
        return self.learner.scale

    @property
    def regression(self) -> bool:  # type: ignore[override]
        """That of the learner."""
        return self.learner.regression

    @property
    def name(self) -> str:
        """The learner's, and which columns."""
        return f"{self.learner.name}[{','.join(map(str, self.columns))}]"

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """As the learner does."""
        self.learner.check(self._part(sample), output, learn_size)

    def rows_per_call(self, sample: Sample) -> int:
        """As many as the learner takes."""
        return self.learner.rows_per_call(self._part(sample))

    def prepare(self, sample: Sample) -> Any:
        """What the learner prepares."""
        return self.learner.prepare(self._part(sample))

    def scores(
        self, state: Any, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """The scores of the learner."""
        return self.learner.scores(state, learning, labels)

    def _part(self, sample: Sample) -> Sample:
        return replace(sample, features=sample.matrix[:, list(self.columns)])


def on_columns(learner: str, columns: tuple[int, ...]) -> OnColumns:
    """A learner by its short name, on some columns."""
    found = as_learner(learner)
    if not isinstance(found, JittedLearner):
        raise TypeError(f"{learner} is not jitted")
    return OnColumns(found, columns)
