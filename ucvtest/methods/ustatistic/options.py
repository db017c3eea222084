"""The options of a `UStatisticTest`, checked before the first draw."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import comb
from typing import Any, Literal, Protocol, Self

from ucvtest.common.checks import as_integer, check_seconds
from ucvtest.designs.design import Design
from ucvtest.designs.structure import disjoint_sets_of
from ucvtest.kernels.ustatistic.accumulator import MAX_OBS_PAIR_EFFECTS
from ucvtest.learners.base import Learner
from ucvtest.methods.ustatistic.enumeration import MAX_SUBSETS
from ucvtest.methods.ustatistic.interval import Interval
from ucvtest.methods.ustatistic.precomputed_splits import GivenSplits
from ucvtest.stats.jackknife import has_pair_effects

__all__ = [
    "DEFAULT_TOL",
    "NEED_DISJOINT",
    "VARIANCES",
    "GivenPairs",
    "NumberOfPairs",
    "Options",
    "ProfileOptions",
    "SetSizes",
    "Sizes",
    "Variance",
    "given_sets",
]

Variance = Literal["auto", "midpoint", "clipped", "jackknife", "unbiased", "asymptotic"]
NumberOfPairs = int | Literal["auto", "exact"]

VARIANCES = ("midpoint", "clipped", "jackknife", "unbiased", "asymptotic")
NEED_PAIR_EFFECTS = ("midpoint", "clipped")
NEED_DISJOINT = ("clipped", "unbiased", "asymptotic")

FEW_OBS = 12
"""With fewer observations intervals by the midpoint variance have not been tried: "auto" is the
jackknife."""

DEFAULT_TOL = 0.05

MAX_FITS_JITTED = 200_000
MAX_FITS_OTHERWISE = 20_000


class SetSizes(Protocol):
    """Sizes of the sample and of learning sets: of all observations, or of each class."""

    @property
    def disjoint(self) -> bool:
        """Whether two learning sets with what is tested can be disjoint."""

    def chosen(self, variance: Any) -> str:
        """The variance that is asked for, or that "auto" stands for."""

    def check_enumeration(self, n_learners: int, max_fits: int, remedy: str) -> None:
        """Refuse all learning sets where they are too many."""


@dataclass(frozen=True)
class Sizes:
    """Numbers of observations in the sample and in a learning set, and whether errors are counted.

    "auto" depends on that: with squared and other unbounded losses the midpoint variance is too
    small too often, as is the jackknife, but less.
    """

    n_obs: int
    learn_size: int
    zero_one: bool = False

    @classmethod
    def checked(cls, n_obs: int, learn_size: Any, units: str = "observations") -> Self:
        """The sizes that a user asks for; without a learning-set size the default."""
        if n_obs < 4:
            raise ValueError(f"X has {n_obs} {units}: at least 4 are needed")
        largest = n_obs // 2 - 1
        if learn_size is None:
            return cls(n_obs, largest)
        size = as_integer("learn_size", learn_size)
        if not 1 <= size < n_obs - 1:
            raise ValueError(
                f"learn_size must lie between 1 and n - 2 = {n_obs - 2}, got {size}: use "
                f"{largest}, the largest for which every variance exists, or leave it out"
            )
        return cls(n_obs, size)

    @property
    def disjoint(self) -> bool:
        """Whether two disjoint learning sets leave two observations or more."""
        return self.n_obs >= 2 * self.learn_size + 2

    @property
    def pair_effects(self) -> bool:
        """Whether the midpoint variance exists."""
        return has_pair_effects(self.n_obs, self.learn_size)

    @property
    def least_overlap(self) -> int:
        """Observations that two learning sets have in common at least."""
        return max(0, 2 * self.learn_size - self.n_obs)

    def chosen(self, variance: Any) -> str:
        """The variance that is asked for, or that "auto" stands for."""
        n, g = self.n_obs, self.learn_size
        if isinstance(variance, str) and variance == "auto":
            suits = self.zero_one and FEW_OBS <= n <= MAX_OBS_PAIR_EFFECTS
            return "midpoint" if self.pair_effects and suits else "jackknife"
        if not isinstance(variance, str) or variance not in VARIANCES:
            raise ValueError(
                f"variance={variance!r:.60} is unknown: use one of auto, {', '.join(VARIANCES)}"
            )
        if variance in NEED_DISJOINT and not self.disjoint:
            raise ValueError(
                f"variance={variance!r} needs n >= 2 * learn_size + 2, got n = {n} and "
                f"learn_size = {g}: use learn_size <= {n // 2 - 1}, or variance='jackknife'"
            )
        if variance == "midpoint" and not self.pair_effects:
            raise ValueError(
                f"variance='midpoint' needs at most half of the observations to learn from, got "
                f"learn_size = {g} and n = {n}: use learn_size <= {min(n // 2, n - 3)}, or "
                "variance='jackknife'"
            )
        if variance in NEED_PAIR_EFFECTS and n > MAX_OBS_PAIR_EFFECTS:
            raise ValueError(
                f"variance={variance!r} needs n <= {MAX_OBS_PAIR_EFFECTS}, got n = {n}: use "
                "variance='jackknife', which hardly differs from it there"
            )
        return str(variance)

    def check_enumeration(self, n_learners: int, max_fits: int, remedy: str) -> None:
        """Refuse all learning sets where they are too many."""
        n, g = self.n_obs, self.learn_size
        n_fits = comb(n, g) * n_learners
        if n_fits > max_fits:
            raise ValueError(
                f"n_pairs='exact' needs {n_fits} fits, max_fits is {max_fits}: {remedy}"
            )
        if self.pair_effects and comb(n, g + 1) > MAX_SUBSETS:
            raise ValueError(
                f"n_pairs='exact' needs {comb(n, g + 1)} subsets in memory, more than "
                f"{MAX_SUBSETS}: use random pairs"
            )


@dataclass(frozen=True, eq=False)
class GivenPairs:
    """Disjoint learning sets whose losses are given, `n_sets` on each side of a draw."""

    design: Design
    n_draws: int
    n_sets: int

    @property
    def n_pairs(self) -> int:
        """Learning sets on each side."""
        return self.n_draws * self.n_sets


def given_sets(design: Design) -> GivenPairs | GivenSplits:
    """The learning sets of a design: disjoint pairs if they are, else random splits of one size."""
    n, low, high = design.n_obs, design.learn_sizes[0], design.learn_sizes[-1]
    if low < high or n - low < 2:
        numbers = f"{low}" if low == high else f"{low} to {high}"
        raise ValueError(
            f"the design learns from {numbers} of {n} observations at a time, and the test needs "
            "one size, with two left to be tested: use uv.designs.RandomSplits"
        )
    given: GivenPairs | GivenSplits = GivenSplits.of(design)
    if Sizes(n, low).disjoint:
        with suppress(ValueError):
            given = GivenPairs(design, *disjoint_sets_of(design))
    if given.n_draws < 2:
        raise ValueError(
            "the design has one draw, and a Monte-Carlo error needs several: use "
            "uv.designs.RandomSplits, or uv.designs.DisjointSets with a larger n_draws"
        )
    return given


@dataclass(frozen=True)
class Options:
    """The options of `UStatisticTest.fit`: `asked` is the variance asked for, or "auto".

    Where losses are given, nothing is drawn or fitted.
    """

    n_pairs: NumberOfPairs
    variance: str
    asked: str
    tol: float
    max_fits: int
    interval: Interval
    given: GivenPairs | GivenSplits | None = None
    max_seconds: float | None = None
    """Decides `max_fits` once fits have been tried; None where that is known."""

    @classmethod
    def for_fits(
        cls,
        sizes: SetSizes,
        learners: Sequence[Learner],
        *,
        n_pairs: Any,
        variance: Any,
        tol: Any,
        max_fits: Any,
        interval: Interval,
        max_seconds: Any = None,
    ) -> Self:
        """Check the options of a test that fits learners."""
        check_seconds(max_seconds)
        if max_fits is None:
            max_fits = _default_max_fits(learners)
        elif as_integer("max_fits", max_fits) < 4:
            raise ValueError(f"max_fits must be at least 4, got {max_fits}")
        if not isinstance(tol, (int, float)) or not 0 < tol < 1:
            raise ValueError(f"tol must lie between 0 and 1, got {tol!r}: use 0.05 for 5%")
        number = _n_pairs(n_pairs)
        chosen = sizes.chosen(interval.variance(variance))
        if number == "exact":
            remedy = "raise max_fits, or use n_pairs='auto'"
            sizes.check_enumeration(len(learners), max_fits, remedy)
        if max_seconds is not None and number != "auto":
            raise ValueError(
                f"max_seconds has no use with n_pairs={number!r}, which says how many fits there "
                "are: use n_pairs='auto'"
            )
        known = (number, chosen, variance, float(tol), int(max_fits), interval)
        return cls(*known, max_seconds=max_seconds)

    @classmethod
    def for_losses(
        cls,
        sizes: SetSizes,
        given: GivenPairs | GivenSplits,
        *,
        n_pairs: Any,
        variance: Any,
        tol: Any,
        interval: Interval,
    ) -> Self:
        """Check the options of a test whose losses are given: only the variance can be chosen."""
        if n_pairs not in ("auto", given.n_pairs):
            raise ValueError(
                f"n_pairs={n_pairs!r}, but the given losses are of {given.n_pairs} pairs: leave "
                "it out"
            )
        if tol != DEFAULT_TOL:
            raise ValueError(f"tol={tol!r} has no use where losses are given: leave it out")
        chosen = sizes.chosen(interval.variance(variance))
        if chosen == "asymptotic":
            raise ValueError(
                "variance='asymptotic' needs further fits, and losses are given: use 'midpoint' or "
                "'jackknife'"
            )
        if chosen in NEED_DISJOINT and isinstance(given, GivenSplits):
            raise ValueError(
                f"variance={chosen!r} needs learning sets in disjoint pairs: use losses of "
                "uv.designs.DisjointSets, or variance='jackknife'"
            )
        return cls(given.n_pairs, chosen, variance, DEFAULT_TOL, 0, interval, given)

    def fits_left(self, excess: float, n_fits: int) -> int:
        """Fits that "auto" still needs, as far as can be seen.

        Monte-Carlo errors are `excess` times those asked for, and fall with the root of the number.
        """
        most = max(self.max_fits - n_fits, 0)
        needed = n_fits * (excess**2 - 1)
        return most if not needed < most else max(round(needed), 0)

    def settings(self, learn_size: int, seed: int | None) -> dict[str, Any]:
        """What is needed to repeat the fit."""
        settings: dict[str, Any] = {
            "learn_size": learn_size,
            "n_pairs": self.n_pairs,
            "variance": self.asked,
            "interval": self.interval.asked,
        }
        if self.given is None:
            settings |= {"tol": self.tol, "max_fits": self.max_fits, "rng": seed}
        if self.max_seconds is not None:
            settings["max_seconds"] = self.max_seconds
        return settings


@dataclass(frozen=True)
class ProfileOptions:
    """The options of `UStatisticTest.kappa_profile`; no number of pairs for all learning sets."""

    c_values: tuple[int, ...]
    n_pairs: int | None

    @classmethod
    def checked(
        cls, sizes: Sizes, learners: Sequence[Learner], c_values: Any, n_pairs: Any
    ) -> Self:
        """Check the options that a user passes."""
        needed = _c_values(c_values, sizes)
        if isinstance(n_pairs, str) and n_pairs != "exact":
            raise ValueError(f"n_pairs={n_pairs!r} is unknown here: use an integer or 'exact'")
        number = _n_pairs(n_pairs)
        if isinstance(number, int):
            return cls(needed, number)
        max_fits = _default_max_fits(learners)
        sizes.check_enumeration(len(learners), max_fits, "use a number of pairs")
        if not sizes.disjoint:
            raise ValueError(
                f"n_pairs='exact' needs n >= 2 * learn_size + 2 here, got n = {sizes.n_obs} and "
                f"learn_size = {sizes.learn_size}: use a number of pairs"
            )
        return cls(needed, None)


def _default_max_fits(learners: Sequence[Learner]) -> int:
    jitted = all(learner.backend == "jax" for learner in learners)
    return MAX_FITS_JITTED if jitted else MAX_FITS_OTHERWISE


def _n_pairs(n_pairs: Any) -> NumberOfPairs:
    if isinstance(n_pairs, str):
        if n_pairs not in ("auto", "exact"):
            raise ValueError(f"n_pairs={n_pairs!r} is unknown: use an integer, 'auto' or 'exact'")
        return "auto" if n_pairs == "auto" else "exact"
    number = as_integer("n_pairs", n_pairs)
    if number < 2:
        raise ValueError(f"n_pairs must be at least 2, got {number}: use 'auto'")
    return number


def _c_values(c_values: Any, sizes: Sizes) -> tuple[int, ...]:
    """The numbers of common observations that are asked for; by default all."""
    m = sizes.learn_size + 1
    lowest = max(0, 2 * m - sizes.n_obs)
    if c_values is None:
        return tuple(range(lowest, m + 1))
    if not isinstance(c_values, Iterable) or getattr(c_values, "ndim", 1) == 0:
        raise ValueError(f"c_values must be a sequence of integers, got {c_values!r:.60}: use None")
    found = tuple(sorted({as_integer("c_values", c) for c in c_values}))
    if not found or found[0] < lowest or found[-1] > m:
        raise ValueError(
            f"c_values must be integers from {lowest} to {m} = learn_size + 1, got {list(c_values)}"
        )
    return found
