"""A learner that sees some columns of the features, and what learns from none."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.words import excerpt
from ucvtest.data.output import Output
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Learner, Scale
from ucvtest.learners.jitted.majority import majority

MOST_NAMED = 3
"""Columns that the name of a learner lists."""


@dataclass(frozen=True, eq=False)
class OnColumns(Learner):
    """A learner with a sample of its own: some columns of the features; made by `on_columns`.

    What does the fits is the learner inside, jitted where it can be, and `seen` of the sample.
    """

    inner: Learner
    columns: tuple[Any, ...]

    @property
    def backend(self) -> str:  # type: ignore[override]
        """What does the fits."""
        return self.inner.backend

    @property
    def name(self) -> str:
        """The learner and its columns, of many the number."""
        listed = ", ".join(map(str, self.columns)) or "no columns"
        if len(self.columns) > MOST_NAMED:
            listed = f"{len(self.columns)} columns"
        return f"{self.inner.name} on {listed}"

    @property
    def regresses(self) -> bool:
        """Whether the learner inside predicts numbers."""
        return self.inner.regresses

    def seen(self, sample: Sample) -> Sample:
        """The sample with these columns alone."""
        return sample.of_columns(f"columns of learner {self.inner.name}", self.columns)

    def for_sample(self, sample: Sample) -> "OnColumns":
        """The learner of this sample; without columns the most frequent class, or the mean."""
        seen_sample = self.seen(sample)
        if self.columns:
            return replace(self, inner=self.inner.for_sample(seen_sample))
        return replace(self, inner=majority() if sample.n_classes else MeanResponse())

    def note_on(self, sample: Sample) -> str:
        """What the learner inside has to say of its columns."""
        return self.inner.note_on(self.seen(sample))

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse what the learner inside cannot do, and pipelines that name columns themselves."""
        seen_sample = self.seen(sample)
        names = list(getattr(seen_sample.features, "columns", ()))
        for column in _columns_named_in(getattr(self.inner, "estimator", None)):
            if column not in names:
                raise ValueError(
                    f"learner {self.inner.name} names column {excerpt(column)} itself, and here it "
                    f"sees other columns: choose them by sklearn.compose.make_column_selector"
                )
        self.inner.check(seen_sample, output, learn_size)

    def check_weights(self) -> None:
        """Refuse weights where the learner inside does."""
        self.inner.check_weights()


def seen_by(learner: Learner, sample: Sample) -> tuple[Learner, Sample]:
    """What does the fits of a learner, and the sample that it sees."""
    if isinstance(learner, OnColumns):
        return learner.inner, learner.seen(sample)
    return learner, sample


def _columns_named_in(estimator: Any) -> Iterator[Any]:
    """The columns that the parts of a pipeline name, as ColumnTransformer does."""
    if not hasattr(estimator, "get_params"):
        return
    for name, value in estimator.get_params(deep=True).items():
        if name.rpartition("__")[2] == "transformers" and isinstance(value, (list, tuple)):
            for *_, columns in value:
                if isinstance(columns, (str, int)):
                    yield columns
                elif isinstance(columns, (list, tuple, np.ndarray)):
                    yield from columns


@dataclass(frozen=True)
class MeanResponse(JittedLearner):
    """The mean of the learnt responses, whatever the features are."""

    family: ClassVar[str] = "mean"
    scale: ClassVar[Scale] = "fitted"
    regression: ClassVar[bool] = True
    needs_features: ClassVar[bool] = False

    def prepare(self, sample: Sample) -> np.ndarray:
        """The response, (n,)."""
        return sample.target

    def scores(
        self, state: np.ndarray, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """The same mean for all observations of a row."""
        values = np.where(learning, state if labels is None else labels, 0.0)
        means = values.sum(axis=1) / learning.sum(axis=1)
        return np.repeat(means[:, None], learning.shape[1], axis=1)
