"""The options of `FoldCovarianceTest`, and their checks."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal, Self, get_args

import numpy as np

from ucvtest.common.checks import AtLeast, Between, as_integer, check_choice
from ucvtest.common.words import arg, call, excerpt
from ucvtest.designs.design import Design, learn_size
from ucvtest.designs.draws import draw_orders, fold_numbers
from ucvtest.designs.structure import folds_of
from ucvtest.inference.options import FitOptions

Estimator = Literal["cross_validation", "jackknife"]
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)

Rho = Annotated[float, Between(-1, 1)] | Literal["nadeau_bengio"] | None


@dataclass(frozen=True, eq=False)
class FoldScheme:
    """The number of folds, and the estimator from their losses.

    `user_folds` are those of existing losses, (R, n); None if folds are drawn.
    """

    n_units: int
    n_folds: int
    estimator: Estimator
    user_folds: np.ndarray | None = None

    @classmethod
    def of(cls, n_folds: Any, estimator: Any, n_units: int, units: str) -> Self:
        """Validate the user's request."""
        if n_units < 3:
            raise ValueError(f"{arg('X')} has {n_units} {units}: at least 3 are needed")
        number = as_integer("n_folds", n_folds)
        if not 2 <= number <= n_units:
            raise ValueError(
                f"{arg('n_folds')} must lie between 2 and n = {n_units}, got {number}: use "
                f"{min(10, n_units)}"
            )
        check_choice("estimator", estimator, ESTIMATORS)
        return cls(n_units, number, estimator)

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
class Options(FitOptions):
    """The options of `FoldCovarianceTest.fit`."""

    rho: Rho = "nadeau_bengio"
    n_repeats: Annotated[int, AtLeast(1)] = 1


@dataclass(frozen=True)
class FoldCovarianceOptions(Options):
    """The options for folds: with the number that `rho` stands for, NaN for none."""

    assumed: float = field(default=math.nan, kw_only=True)

    @classmethod
    def of(cls, options: Options, scheme: FoldScheme) -> Self:
        """The options for a scheme; the design of given losses has its own repetitions."""
        rho, n_repeats, n_given = options.rho, options.n_repeats, scheme.n_given
        lowest = -1 / (scheme.n_folds - 1)
        if rho is None:
            assumed = math.nan
        elif rho == "nadeau_bengio":
            assumed = 1 / scheme.n_folds
        elif rho > lowest:
            assumed = rho
        else:
            raise ValueError(
                f"{arg('rho')} must lie between -1/(n_folds - 1) = {lowest:.3g} and 1, got {rho}: "
                f"use 'nadeau_bengio' for 1/n_folds, or {excerpt(None)} for no assumption"
            )
        if n_given is not None and n_repeats not in (1, n_given):
            raise ValueError(
                f"{arg('n_repeats', n_repeats)}, but the design of the given losses has {n_given}: "
                "leave it out"
            )
        if n_given is None and n_repeats > 1 and scheme.n_folds == scheme.n_units:
            raise ValueError(
                f"{arg('n_repeats', n_repeats)} repeats the same leave-one-out splits: use "
                f"{arg('n_repeats', 1)}, or fewer folds"
            )
        decided = {"n_repeats": n_given or n_repeats, "assumed": assumed}
        return cls(**{**vars(options), **decided})

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
