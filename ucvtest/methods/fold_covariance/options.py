"""The options of `FoldCovarianceTest`, and their checks."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np

from ucvtest.common.checks import as_integer, check_choice, is_number
from ucvtest.common.words import arg, call, shown
from ucvtest.designs.design import Design, learn_size
from ucvtest.designs.draws import draw_orders, fold_numbers
from ucvtest.designs.structure import folds_of

Estimator = Literal["cross_validation", "jackknife"]
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)

Rho = float | Literal["nadeau_bengio"] | None


@dataclass(frozen=True, eq=False)
class FoldScheme:
    """The number of folds, and the estimator from their losses.

    `given` are the folds of existing losses, (R, n); None if folds are drawn.
    """

    n_units: int
    n_folds: int
    estimator: Estimator
    user_folds: np.ndarray | None = None

    @classmethod
    def of(cls, n_folds: Any, estimator: Any, n_units: int, units: str) -> Self:
        """Validate the user's request."""
        return cls(n_units, checked_folds(n_folds, n_units, units), checked_estimator(estimator))

    @classmethod
    def of_design(cls, design: Design) -> Self:
        """The folds of a design; refused if their sizes differ by more than one observation."""
        folds, sizes = folds_of(design), design.test_sizes
        if sizes[-1] - sizes[0] > 1:
            raise ValueError(
                f"the design has folds of {sizes[0]} to {sizes[-1]} observations, but the test "
                f"needs folds of equal size, to within one observation: use {call('designs.KFold')}"
            )
        return cls(design.n_obs, int(folds.max()) + 1, "cross_validation", folds)

    @property
    def jackknife(self) -> bool:
        """Whether learners are also fitted to all observations."""
        return self.estimator == "jackknife"

    @property
    def n_given(self) -> int | None:
        """Repetitions of given losses; None if folds are drawn."""
        return None if self.user_folds is None else len(self.user_folds)

    @cached_property
    def fold_sizes(self) -> tuple[int, ...]:
        """Number of observations in each fold."""
        folds = self.user_folds
        if folds is None:
            # The observations of a fold are drawn, but not their number.
            folds = fold_numbers(np.arange(self.n_units)[None], self.n_folds)
        return tuple(np.bincount(folds[0]).tolist())

    @property
    def learn_sizes(self) -> tuple[int, ...]:
        """The different sizes of the learning sets, ascending."""
        return tuple(sorted({self.n_units - size for size in self.fold_sizes}))

    @property
    def settings(self) -> dict[str, Any]:
        """As a result keeps them."""
        return {
            "learn_size": learn_size(self.learn_sizes),
            "n_folds": self.n_folds,
            "estimator": self.estimator,
        }

    def drawn(self, n_repeats: int, rng: np.random.Generator) -> np.ndarray:
        """Random folds, (R, n)."""
        return fold_numbers(draw_orders(rng, n_repeats, self.n_units), self.n_folds)


@dataclass(frozen=True)
class FoldCovarianceOptions:
    """The options of `FoldCovarianceTest.fit`; `assumed` is the number for `rho`, NaN for none."""

    rho: Rho
    assumed: float
    n_repeats: int

    @classmethod
    def of(cls, rho: Any, n_repeats: Any, scheme: FoldScheme) -> Self:
        """Validate what a user passes."""
        assumed = assumed_rho(rho, scheme.n_folds)
        repeats = checked_repeats(n_repeats, scheme.n_folds, scheme.n_units, scheme.n_given)
        return cls(rho, assumed, repeats)

    @property
    def settings(self) -> dict[str, Any]:
        """As a result keeps them."""
        return {"rho": self.rho, "n_repeats": self.n_repeats}

    @property
    def name(self) -> str:
        """The name of the variance under the assumption in tables; empty for none."""
        if self.rho is None:
            return ""
        if isinstance(self.rho, str):
            return self.rho
        return "naive" if self.rho == 0 else f"rho = {self.rho:g}"


def assumed_rho(rho: Any, n_folds: int) -> float:
    """The correlation that an assumption stands for; NaN for none."""
    if rho is None:
        return math.nan
    if isinstance(rho, str):
        if rho != "nadeau_bengio":
            raise ValueError(
                f"{arg('rho', rho)} is unknown: use 'nadeau_bengio', a number or {shown(None)}"
            )
        return 1 / n_folds
    lowest = -1 / (n_folds - 1)
    if not is_number(rho) or not lowest < rho < 1:
        raise ValueError(
            f"{arg('rho')} must lie between -1/(n_folds - 1) = {lowest:.3g} and 1, got "
            f"{rho!r:.60}: use 'nadeau_bengio' for 1/n_folds, or {shown(None)} for no assumption"
        )
    return float(rho)


def checked_repeats(n_repeats: Any, n_folds: int, n_obs: int, n_given: int | None) -> int:
    """The number of repetitions; the design of given losses has its own."""
    repeats = as_integer("n_repeats", n_repeats)
    if repeats < 1:
        raise ValueError(f"{arg('n_repeats')} must be at least 1, got {repeats}")
    if n_given is not None:
        if repeats not in (1, n_given):
            raise ValueError(
                f"{arg('n_repeats', repeats)}, but the design of the given losses has {n_given}: "
                "leave it out"
            )
        return n_given
    if repeats > 1 and n_folds == n_obs:
        raise ValueError(
            f"{arg('n_repeats', repeats)} repeats the same leave-one-out splits: use "
            f"{arg('n_repeats', 1)}, or fewer folds"
        )
    return repeats


def checked_folds(n_folds: Any, n_obs: int, units: str = "observations") -> int:
    """The number of folds, if n units can be split into that many."""
    if n_obs < 3:
        raise ValueError(f"{arg('X')} has {n_obs} {units}: at least 3 are needed")
    number = as_integer("n_folds", n_folds)
    if not 2 <= number <= n_obs:
        raise ValueError(
            f"{arg('n_folds')} must lie between 2 and n = {n_obs}, got {number}: use "
            f"{min(10, n_obs)}"
        )
    return number


def checked_estimator(estimator: Any) -> Estimator:
    """The name of an estimator."""
    check_choice("estimator", estimator, ESTIMATORS)
    return estimator
