"""A whole learner: nearest class mean, the means shrunken towards the mean of all by a share."""

from dataclasses import dataclass
from typing import ClassVar

import jax

from ucvtest.data.sample import Sample
from ucvtest.learners.base import Scale
from ucvtest.learners.runner import Data, MappedLearner


@dataclass(frozen=True)
class ShrunkenMeans(MappedLearner):
    """Nearest class mean; the fields are the settings."""

    shrinkage: float = 0.0

    family: ClassVar[str] = "shrunken_means"
    arguments: ClassVar[tuple[str, ...]] = ("shrinkage",)
    scale: ClassVar[Scale] = "discriminant"
    multiclass: ClassVar[bool] = True
    indicators: ClassVar[bool] = True
    numbers: ClassVar[tuple[str, ...]] = ("shrinkage",)

    def share(self, sample: Sample) -> Data:
        """What all fits share."""
        return Data(sample.matrix, sample.target)

    def fit(self, data: Data, w: jax.Array) -> jax.Array:
        """Scores of all observations by the rule learnt from those with weight one."""
        members = w[:, None] * data.y
        overall = w @ data.x / w.sum()
        means = (members.T @ data.x) / members.sum(axis=0)[:, None]
        means = overall + (1.0 - self.shrinkage) * (means - overall)
        distances = ((data.x[:, None] - means) ** 2).sum(axis=2)
        return distances[:, 0] - distances[:, 1] if len(means) == 2 else -distances
