"""The options of a `UStatisticTest`, checked before the first draw."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from os import PathLike
from typing import Annotated, Literal, Self

from ucvtest.common.checks import AtLeast, Between, Seconds
from ucvtest.common.words import arg, call
from ucvtest.inference.options import FitOptions
from ucvtest.inference.question import Question
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS, MOST_ROUNDS
from ucvtest.learners.base import Learner
from ucvtest.methods.ustatistic.auc_sizes import AucSizes
from ucvtest.methods.ustatistic.interval import (
    NEED_MANY_FITS,
    Interval,
    IntervalName,
)
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.precomputed_splits import GivenSets
from ucvtest.methods.ustatistic.sizes import NEED_DISJOINT, Sizes

Variance = Literal["auto", "midpoint", "clipped", "jackknife", "unbiased", "asymptotic", "few"]
NumberOfPairs = Annotated[int, AtLeast(2)] | Literal["auto", "exact"]

METHOD_NAME = "ustatistic"

DEFAULT_TOL = 0.05

FEW_PAIRS = 10
"""Default number of pairs for the variance of few fits if fits may be slow."""

MAX_FITS_JITTED = 200_000
MAX_FITS_OTHERWISE = 20_000


@dataclass(frozen=True)
class Options(FitOptions):
    """The options of `UStatisticTest.fit`."""

    n_pairs: NumberOfPairs = "auto"
    variance: Variance = "auto"
    tol: Annotated[float, Between(0, 1)] = DEFAULT_TOL
    max_fits: Annotated[int, AtLeast(4)] | None = None
    _: KW_ONLY
    interval: IntervalName = "auto"
    max_seconds: Seconds | None = None
    checkpoint: str | PathLike[str] | None = None


@dataclass(frozen=True)
class UStatisticOptions:
    """The options of `UStatisticTest.fit` for its question: "auto" is what it stands for.

    If losses are given, nothing is drawn or fitted.
    """

    n_pairs: NumberOfPairs
    variance: str
    requested_variance: str
    tol: float
    max_fits: int
    interval: Interval
    given_sets: GivenSets | None = None
    max_seconds: float | None = None
    """The time that decides `max_fits`, once fits have been timed; None if `max_fits` is known."""

    @classmethod
    def of(cls, question: Question, learning_sets: LearningSets, options: Options) -> Self:
        """The options for a question, which may not have what a user asks for."""
        sizes, given_sets, number = learning_sets.sizes, learning_sets.given_sets, options.n_pairs
        interval = Interval.of(options.interval, question, learning_sets, options.variance)
        if given_sets is not None:
            question.refuse_budget(max_fits=options.max_fits, max_seconds=options.max_seconds)
            if number not in ("auto", given_sets.n_pairs):
                raise ValueError(
                    f"{arg('n_pairs', number)}, but the given losses are of {given_sets.n_pairs} "
                    "pairs: leave it out"
                )
            if options.tol != DEFAULT_TOL:
                raise ValueError(
                    f"{arg('tol', options.tol)} does not apply when losses are given: leave it out"
                )
        variance: str = options.variance
        if variance == "auto" and interval.name in ("hall", "hall_floor", "log"):
            # Rules for skewed losses were tried with it.
            variance = "jackknife"
        variance = sizes.chosen(variance)
        if given_sets is not None:
            _check_given(variance, sizes, given_sets)
            named = (variance, options.variance, DEFAULT_TOL, 0, interval, given_sets)
            return cls(given_sets.n_pairs, *named)
        learners = tuple(question.learners.values())
        max_fits = options.max_fits
        if max_fits is None:
            max_fits = default_max_fits(learners)
            if (
                options.variance == "few"
                and options.max_seconds is None
                and max_fits < MAX_FITS_JITTED
            ):
                max_fits = 2 * len(learners) * FEW_PAIRS
        if variance == "few" and number == "exact":
            raise ValueError(
                f"{arg('variance', 'few')} is of random pairs: use {arg('n_pairs', 'auto')} or a "
                "number"
            )
        if variance == "few" and isinstance(number, int) and number < LEAST_ROUNDS:
            raise ValueError(
                f"{arg('variance', 'few')} needs {arg('n_pairs')} of at least {LEAST_ROUNDS}, got "
                f"{number}: use 10 or more"
            )
        if number == "exact":
            remedy = f"raise {arg('max_fits')}, or use {arg('n_pairs', 'auto')}"
            sizes.check_enumeration(len(learners), max_fits, remedy)
        if options.max_seconds is not None and number != "auto":
            raise ValueError(
                f"{arg('max_seconds')} does not apply with {arg('n_pairs', number)}, which fixes "
                f"the number of fits: use {arg('n_pairs', 'auto')}"
            )
        numbers = (number, variance, options.variance, options.tol, max_fits)
        return cls(*numbers, interval, max_seconds=options.max_seconds)

    @property
    def may_be_few(self) -> bool:
        """Whether the variance may be replaced by that of few fits if there are too few fits."""
        metric = self.interval.metric
        has_few_fits = metric.is_mean or metric.ranks_pairs
        return (
            self.requested_variance == "auto"
            and has_few_fits
            and self.interval.requested_name not in NEED_MANY_FITS
        )

    @property
    def purpose(self) -> str:
        """What fits are for, in words."""
        return "an answer" if self.may_be_few else f"the {self.variance} variance"

    def within(self, most_fits: int) -> Self:
        """The options with this limit on fits, unless the number of fits is fixed."""
        if self.n_pairs != "auto":
            return self
        return replace(self, max_fits=min(self.max_fits, most_fits))

    def n_pairs_of_few(self, n_learners: int) -> int:
        """Number of pairs for the variance of few fits; more pairs hardly improve it."""
        if isinstance(self.n_pairs, int):
            return self.n_pairs
        return min(self.max_fits // (2 * n_learners), MOST_ROUNDS)

    def fits_left(self, excess: float, n_fits: int) -> int:
        """The expected number of fits that "auto" still needs.

        Monte-Carlo errors are `excess` times those asked for, and fall with the root of the number.
        """
        fits_allowed = max(self.max_fits - n_fits, 0)
        needed_fits = n_fits * (excess**2 - 1)
        return fits_allowed if not needed_fits < fits_allowed else max(round(needed_fits), 0)


def _check_given(variance: str, sizes: Sizes | AucSizes, given_sets: GivenSets) -> None:
    """Refuse variances that need other learning sets than those of the losses that are given."""
    if variance == "asymptotic":
        raise ValueError(
            f"{arg('variance', 'asymptotic')} needs further fits, but losses are given: use "
            "'midpoint' or 'jackknife'"
        )
    of_auc = not isinstance(sizes, Sizes)
    in_pairs = sizes.in_rounds if of_auc else given_sets.n_sets == 1
    if variance == "few" and not (in_pairs and given_sets.n_pairs >= LEAST_ROUNDS):
        raise ValueError(
            f"{arg('variance', 'few')} needs learning sets in {LEAST_ROUNDS} disjoint pairs or "
            f"more: use losses of {call('designs.DisjointSets', arg('n_sets', 1))}, or "
            f"{arg('variance', 'jackknife')}"
        )
    if variance in NEED_DISJOINT and not given_sets.n_sets and not in_pairs:
        raise ValueError(
            f"{arg('variance', variance)} needs learning sets in disjoint pairs: use losses of "
            f"{call('designs.DisjointSets')}, or {arg('variance', 'jackknife')}"
        )


def default_max_fits(learners: Sequence[Learner]) -> int:
    """The usual limit on fits."""
    jitted = all(learner.backend == "jax" for learner in learners)
    return MAX_FITS_JITTED if jitted else MAX_FITS_OTHERWISE
