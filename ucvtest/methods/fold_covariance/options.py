"""What a user can ask of `FoldCovarianceTest`, and the checks of it."""

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ucvtest.common.checks import as_integer, check_choice, is_number

__all__ = [
    "Estimator",
    "Options",
    "Rho",
    "assumed_rho",
    "checked_estimator",
    "checked_folds",
    "checked_repeats",
]

Estimator = Literal["cross_validation", "jackknife"]
ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)

Rho = float | Literal["nadeau_bengio"] | None


@dataclass(frozen=True)
class Options:
    """The options of `FoldCovarianceTest.fit`; `assumed` is what `rho` stands for, NaN for none."""

    rho: Rho
    assumed: float
    n_repeats: int

    @property
    def name(self) -> str:
        """The name, in tables, of the variance under the assumption; empty for none."""
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
            raise ValueError(f"rho={rho!r} is unknown: use 'nadeau_bengio', a number or None")
        return 1 / n_folds
    lowest = -1 / (n_folds - 1)
    if not is_number(rho) or not lowest < rho < 1:
        raise ValueError(
            f"rho must lie between -1/(n_folds - 1) = {lowest:.3g} and 1, got {rho!r}: use "
            "'nadeau_bengio' for 1/n_folds, or None for no assumption"
        )
    return float(rho)


def checked_repeats(n_repeats: Any, n_folds: int, n_obs: int, n_given: int | None) -> int:
    """The number of repetitions; the design of given losses has its own."""
    repeats = as_integer("n_repeats", n_repeats)
    if repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {repeats}")
    if n_given is not None:
        if repeats not in (1, n_given):
            raise ValueError(
                f"n_repeats={repeats}, but the design of the given losses has {n_given}: leave "
                "it out"
            )
        return n_given
    if repeats > 1 and n_folds == n_obs:
        raise ValueError(
            f"n_repeats={repeats} repeats the same leave-one-out splits: use n_repeats=1, or "
            "fewer folds"
        )
    return repeats


def checked_folds(n_folds: Any, n_obs: int, units: str = "observations") -> int:
    """The number of folds, if n units can be split into that many."""
    if n_obs < 3:
        raise ValueError(f"X has {n_obs} {units}: at least 3 are needed")
    number = as_integer("n_folds", n_folds)
    if not 2 <= number <= n_obs:
        raise ValueError(
            f"n_folds must lie between 2 and n = {n_obs}, got {number}: use {min(10, n_obs)}"
        )
    return number


def checked_estimator(estimator: Any) -> Estimator:
    """The name of an estimator."""
    check_choice("estimator", estimator, ESTIMATORS)
    return estimator
