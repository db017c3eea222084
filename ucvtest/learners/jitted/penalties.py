"""What learners with a penalty refuse, and whether it is added to a sum or a mean of losses."""

from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from ucvtest.common.checks import check_choice, is_integer
from ucvtest.common.words import arg, excerpt
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner
from ucvtest.learners.runner import MappedLearner

PenaltyScale = Literal["sum", "mean"]
SCALES: tuple[PenaltyScale, ...] = ("sum", "mean")


class PenalizedLearner(MappedLearner):
    """A penalty is added to the sum, or the mean, of the losses of a learning set."""

    lam: float
    penalty_scale: PenaltyScale

    numbers: ClassVar[tuple[str, ...]] = ("once_and_each",)
    unseen: ClassVar[tuple[str, ...]] = ("lam", "penalty_scale")

    @cached_property
    def once_and_each(self) -> tuple[float, float]:
        """The penalty on a sum of losses: what does not depend on its length, and for each loss."""
        return (0.0, self.lam) if self.penalty_scale == "mean" else (self.lam, 0.0)

    def total_penalty(self, size: Any) -> Any:
        """The penalty on the sum of the losses of a learning set of this size."""
        constant, per_loss = self.once_and_each
        return constant + per_loss * size


def check_scale(scale: str) -> None:
    """Refuse scales that are unknown."""
    check_choice("scale", scale, SCALES)


def check_penalty(lam: float, scale: str, max_iter: Any = 1) -> None:
    """Refuse penalties that are negative, unknown scales, and fits without a step."""
    if not (np.isfinite(lam) and lam >= 0):
        raise ValueError(f"lam must be a finite number >= 0, got {excerpt(lam)}")
    check_scale(scale)
    if not is_integer(max_iter) or max_iter < 1:
        raise ValueError(f"max_iter must be a positive integer, got {excerpt(max_iter)}")


def check_without_penalty(
    learner: JittedLearner, lam: float, sample: Sample, learn_size: int
) -> None:
    """Refuse fits without a penalty to as many features as observations."""
    least_size = sample.matrix.shape[1] + 1
    if lam == 0 and learn_size < least_size:
        raise ValueError(
            f"learner {learner.name} without a penalty needs {arg('learn_size')} >= {least_size} "
            f"(features plus one), got {arg('learn_size', learn_size)}: raise lam above 0"
        )


def as_penalty(lam: Any) -> float:
    """A penalty as a float; which ones are possible, the learner says."""
    try:
        return float(lam)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"lam must be a number, got {excerpt(lam)}") from None
