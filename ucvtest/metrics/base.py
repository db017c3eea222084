"""The declarations of every metric, so that no code depends on its name."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ucvtest.common.checks import check_choice
from ucvtest.common.words import excerpt
from ucvtest.data.output import OUTPUTS, Output
from ucvtest.data.positive_class import plain_label

if TYPE_CHECKING:
    from ucvtest.data.sample import Sample

Scale = Literal["identity", "logit", "log"]
Kind = Literal["mean", "pairs", "set"]


@dataclass(frozen=True)
class Units:
    """The units of results other than the loss: a number plus a multiple of the loss.

    The accuracy is one minus the error rate. A score such as "neg_log_loss" is a loss with the
    other sign. A cost of 3 for every error is three times the error rate. The loss is computed; its
    values are converted when they are reported.
    """

    name: str
    intercept: float
    estimand: str
    slope: float = -1.0

    @property
    def greater_is_better(self) -> bool:
        """Whether the units increase when the loss decreases."""
        return self.slope < 0

    def of(self, values: Any, *, paired: bool = False) -> Any:
        """Convert values of the loss, or the difference of two learners."""
        # Exact for scores, and never -0.0: 1 minus 0, 1/2 or 1, or a change of sign.
        return (0.0 if paired else self.intercept) + self.slope * values

    def back(self, values: Any, *, paired: bool = False) -> Any:
        """Convert back to values of the loss."""
        return (values - (0.0 if paired else self.intercept)) / self.slope + 0.0


@dataclass(frozen=True)
class Metric:
    """A quantity to estimate, computed by `function` from the response and predictions.

    Attributes
    ----------
    output : {"label", "number", "probability", "score"}
        What the learner must predict.
    original_labels : bool
        Whether `function` receives the labels that the user gave instead of their numbers 0, 1, ...
    estimand : str
        The expected value in words.
    bounds : tuple of float, optional
        The smallest and the largest value, if both exist.
    units : Units, optional
        The requested units, which are reported if a loss is computed instead.
    kind : {"mean", "pairs", "set"}
        See `is_mean`, `ranks_pairs` and `per_test_set`.
    greater_is_better : bool
        Whether a good learner has a high value.
    compares_pairs : bool
        Whether it is linearised and compares the risks of two observations.
    of_loss : Metric, optional
        The loss that tests compute with, if the values are values of its score.
    """

    name: str
    function: Callable[..., Any]
    output: Output
    original_labels: bool = False
    estimand: str = ""
    bounds: tuple[float, float] | None = None
    units: Units | None = field(default=None, kw_only=True)
    kind: Kind = field(default="mean", init=False)
    greater_is_better: bool = field(default=True, init=False)
    compares_pairs: bool = field(default=False, init=False)
    of_loss: "Metric | None" = field(default=None, init=False)

    outputs: ClassVar[tuple[str, ...]] = OUTPUTS
    """Possible values of `output`."""

    of_survival: ClassVar[bool] = False
    """Whether the response is survival times, and not labels or numbers."""

    linearised: ClassVar[bool] = False
    """Whether it is a function of means. Predictions are then kept, and tests use its linearised
    values as losses."""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function must be callable, got {excerpt(self.function)}")
        check_choice("output", self.output, self.outputs)
        if self.bounds is not None and not -np.inf < self.bounds[0] < self.bounds[1] < np.inf:
            raise ValueError(
                f"bounds must be two finite numbers in order, got {excerpt(self.bounds)}"
            )

    @property
    def is_mean(self) -> bool:
        """Whether it is a mean over observations that have separate values."""
        return self.kind == "mean"

    @property
    def ranks_pairs(self) -> bool:
        """Whether it compares the scores of two observations.

        A single observation has no value, and the scores are kept together with the response.
        """
        return self.kind == "pairs"

    @property
    def per_test_set(self) -> bool:
        """Whether there is one number for each test set, and no values of observations."""
        return self.kind == "set"

    @property
    def scale(self) -> Scale:
        """The scale on which the value of one learner is studentised by default.

        Differences are studentised on the identity scale. A share of pairs lies between 0 and 1.
        """
        return "logit" if self.ranks_pairs else "identity"

    @property
    def wants(self) -> tuple[Any, ...]:
        """The kind of predictions; metrics of the same kind can score the same predictions."""
        return (self.output,)

    @property
    def wants_in_words(self) -> str:
        """The prediction that it scores, in messages."""
        return self.output

    @property
    def needs_every_class(self) -> bool:
        """Whether a test set without one of the classes, or without an event, has no value."""
        return self.ranks_pairs or self.of_survival

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
        return self.name == "zero_one" and not self.linearised

    @property
    def of_cells(self) -> bool:
        """Whether it is a function of the confusion matrix: see `linearised`."""
        return False

    @property
    def reported_name(self) -> str:
        """The name in results: the requested score."""
        return self.name if self.units is None else self.units.name

    @property
    def reported_bounds(self) -> tuple[float, float] | None:
        """The smallest and the largest value in the units of results."""
        if self.bounds is None or self.units is None:
            return self.bounds
        low, high = sorted(self.units.of(bound) for bound in self.bounds)
        return low, high

    @property
    def unit(self) -> float:
        """The distance in results of values whose losses differ by 1."""
        return 1.0 if self.units is None else abs(self.units.slope)

    def reported(self, value: Any, *, paired: bool) -> Any:
        """A value of the estimand in the units of results."""
        return value if self.units is None else self.units.of(value, paired=paired)

    @property
    def in_words(self) -> str:
        """The name of the expected value in summaries."""
        return self.units.estimand if self.units else self._own_words

    @property
    def _own_words(self) -> str:
        return self.estimand or f"mean {self.name}"

    @property
    def plural(self) -> str:
        """The name of the expected values of two learners in summaries."""
        return plural(self.in_words)

    def kept(
        self, sample: "Sample", predictions: np.ndarray, testing: np.ndarray, first: int = 0
    ) -> np.ndarray:
        """The values kept from predictions (R, n), or (R, n, C), for tested observations.

        The result is (R, n), with the loss or score of each tested observation, `testing` (R, n);
        or (R,) if there is one number for each test set. `first` is the number of the first test
        set, for messages.
        """
        raise NotImplementedError


def with_ties(score: Callable[[np.ndarray], Any], predictions: np.ndarray) -> Any:
    """The score of labels 0, 1, ...; half-way between two is a tie, with the mean of both."""
    below = np.floor(predictions).astype(int)
    undecided = predictions != below
    low = score(below)
    return (low + score(below + undecided)) / 2 if undecided.any() else low


def when_learning_from(size: int | str, units: str = "observations") -> str:
    """The words behind an estimand that is about rules from learning sets of this size."""
    return f"when learning from {size} {units}"


def plural(singular: str) -> str:
    """The plural of the expected value of a learner; the words after "at" or "of" stay."""
    for word in (" at ", " up to ", " of ", " from ", " ("):
        head, preposition, tail = singular.partition(word)
        if preposition and not tail.startswith("recalls"):
            return f"{plural(head)}{preposition}{tail}"
    if singular.endswith(("accuracy", "specificity")):
        return f"{singular[:-1]}ies"
    if singular.endswith("index"):
        return f"{singular[:-2]}ices"
    if singular.endswith("mean of recalls"):
        return singular.replace("mean of recalls", "means of recalls")
    return singular + ("es" if singular.endswith("s") else "s")
