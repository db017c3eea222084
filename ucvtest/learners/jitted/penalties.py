"""What learners with a penalty refuse, and whether it is added to a sum or a mean of losses."""

from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from ucvtest.common.checks import AtLeast
from ucvtest.common.words import arg
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner
from ucvtest.learners.runner import MappedLearner

PenaltyScale = Literal["sum", "mean"]
Penalty = Annotated[float, AtLeast(0)]
Steps = Annotated[int, AtLeast(1)]


class PenalizedLearner(MappedLearner):
    """A penalty is added to the sum, or the mean, of the losses of a learning set."""

    lam: Any
    penalty_scale: PenaltyScale

    arguments: ClassVar[tuple[str, ...]] = ("lam",)
    numbers: ClassVar[tuple[str, ...]] = ("once_and_each",)
    unseen: ClassVar[tuple[str, ...]] = ("lam", "penalty_scale")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "lam", float(self.lam))

    @cached_property
    def once_and_each(self) -> tuple[float, float]:
        """The penalty on a sum of losses: what does not depend on its length, and for each loss."""
        return (0.0, self.lam) if self.penalty_scale == "mean" else (self.lam, 0.0)

    def total_penalty(self, size: Any) -> Any:
        """The penalty on the sum of the losses of a learning set of this size."""
        constant, per_loss = self.once_and_each
        return constant + per_loss * size


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
