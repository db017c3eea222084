"""What every metric declares, so that nobody asks for its name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ucvtest.common.checks import check_choice
from ucvtest.data.output import OUTPUTS, Output
from ucvtest.data.positive_class import plain_label

if TYPE_CHECKING:
    from ucvtest.data.sample import Sample

__all__ = ["Metric", "Scale", "plural"]

Scale = Literal["identity", "logit", "log"]


@dataclass(frozen=True)
class Metric:
    """What is estimated of a learner, computed by `function` from the response and predictions.

    A subclass is one kind of metric. It declares exactly one of `is_mean`, `ranks_pairs` and
    `per_test_set`.

    Attributes
    ----------
    output : {"label", "number", "probability", "score"}
        What the learner must predict.
    original_labels : bool
        Whether `function` gets the labels that the user gave, and not their numbers 0, 1, ...
    estimand : str
        The expected value in words.
    bounds : tuple of float, optional
        The smallest and the largest value, where there are both.
    """

    name: str
    function: Callable[..., Any]
    output: Output
    original_labels: bool = False
    estimand: str = ""
    bounds: tuple[float, float] | None = None

    ranks_pairs: ClassVar[bool] = False
    """Whether it compares the scores of two observations, so that none has a value alone: then the
    scores are kept, and the response with them."""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function must be callable, got {self.function!r}")
        check_choice("output", self.output, OUTPUTS)
        if self.bounds is not None and not -np.inf < self.bounds[0] < self.bounds[1] < np.inf:
            raise ValueError(f"bounds must be two finite numbers in order, got {self.bounds!r}")

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean over observations, each of which has a value of its own."""
        return False

    @property
    def per_test_set(self) -> bool:
        """Whether there is one number for each test set, and nothing to be kept of observations."""
        return False

    @property
    def greater_is_better(self) -> bool:
        """Whether a good learner has a high value."""
        return True

    @property
    def scale(self) -> Scale:
        """The scale on which the value of one learner is studentised by default.

        Differences are studentised on the identity scale.
        """
        return "identity"

    @property
    def needs_every_class(self) -> bool:
        """Whether a test set without one of the classes has no value."""
        return False

    @property
    def of_one_class(self) -> bool:
        """Whether the value is about one of two classes, the positive one: results then name it."""
        return self.output in ("score", "probability")

    def positive_class(self, sample: "Sample") -> Any:
        """The class of two that the value is about, if it is about one."""
        if self.of_one_class and sample.classes is not None and len(sample.classes) == 2:
            return plain_label(sample.classes[-1])
        return None

    @property
    def counts_errors(self) -> bool:
        """Whether it is the share of wrong labels, so that sums are counts."""
        return False

    @property
    def in_words(self) -> str:
        """The expected value, as summaries name it."""
        return self.estimand or f"expected {self.name}"

    @property
    def plural(self) -> str:
        """The expected values of two learners, as summaries name them."""
        return plural(self.in_words)

    def kept(
        self, sample: "Sample", predictions: np.ndarray, testing: np.ndarray, first: int = 0
    ) -> np.ndarray:
        """What is kept of predictions (R, n), or (R, n, C), of which `testing` (R, n) are tested.

        That is (R, n), with the loss or score of each tested observation; or (R,) where there is
        one number for each test set. `first` is the number of the first test set, for messages.
        """
        raise NotImplementedError


def plural(words: str) -> str:
    """The expected values of two learners, from that of one."""
    return words + ("es" if words.endswith("s") else "s")
