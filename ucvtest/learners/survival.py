"""What learners of survival times have in common: risks, or probabilities of an event."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Self

from ucvtest.common.words import arg, call
from ucvtest.data.output import SURVIVAL_OUTPUTS, Output
from ucvtest.data.sample import Sample


@dataclass(frozen=True, eq=False)
class SurvivalLearner:
    """A learner that predicts risks, or the probabilities of an event by some times."""

    times: tuple[float, ...] = field(default=(), kw_only=True, repr=False)
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
