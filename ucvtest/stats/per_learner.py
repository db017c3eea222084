"""Each of two learners by itself, beside the difference that a test is about."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["PerLearnerEstimates"]


@dataclass(frozen=True)
class PerLearnerEstimates:
    """The error (or AUC) of two learners, with standard errors: NaN where there is none."""

    names: tuple[str, str]
    estimates: tuple[float, float]
    errors: tuple[float, float]

    @classmethod
    def of_variances(cls, names: Iterable[Any], values: Iterable[tuple[float, float]]) -> Self:
        """From the estimate of each, and its variance, which an unbiased one can have below 0."""
        first, other = map(str, names)
        (a, variance_a), (b, variance_b) = values
        return cls((first, other), (a, b), (_root(variance_a), _root(variance_b)))

    @property
    def table(self) -> dict[str, tuple[Any, ...]]:
        """As a table of a result, column by column."""
        return {"learner": self.names, "estimate": self.estimates, "se": self.errors}

    @property
    def diagnostics(self) -> dict[str, float]:
        """As diagnostics of a result."""
        keys = ("estimate_learner", "estimate_other", "se_learner", "se_other")
        return dict(zip(keys, (*self.estimates, *self.errors), strict=True))


def _root(variance: float) -> float:
    return math.sqrt(variance) if variance >= 0 else math.nan
