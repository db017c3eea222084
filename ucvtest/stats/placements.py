"""Placement values: areas under the ROC curve with DeLong's variance, paired where wanted."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

__all__ = ["Placements", "auc_table", "placements"]


@dataclass(frozen=True, eq=False)
class Placements:
    """Placement values of one column of scores, or the differences of two columns.

    For each positive the share of negatives below it, for each negative that of positives above it;
    ties count half.
    """

    positives: np.ndarray
    negatives: np.ndarray

    @property
    def mean(self) -> float:
        """The AUC, or the difference of two."""
        return float(self.positives.mean())

    @property
    def variance(self) -> float:
        """DeLong's variance of `mean`; NaN with fewer than two observations of a class."""
        both = (self.positives, self.negatives)
        if min(map(len, both)) < 2:
            return math.nan
        return float(sum(values.var(ddof=1) / len(values) for values in both))

    def __sub__(self, other: "Placements") -> "Placements":
        return Placements(self.positives - other.positives, self.negatives - other.negatives)


def placements(y: np.ndarray, scores: np.ndarray) -> Placements:
    """The placement values of scores, which rise with class 1.

    By midranks, in n log n steps instead of the n^2 of all pairs (Sun and Xu 2014); E. DeLong, D.
    DeLong, D. Clarke-Pearson (1988), Biometrics 44, equations 3 to 6.
    """
    positive = y == 1
    ranks = stats.rankdata(scores)
    n_positive, n_negative = int(positive.sum()), int((~positive).sum())
    below = (ranks[positive] - stats.rankdata(scores[positive])) / n_negative
    above = 1 - (ranks[~positive] - stats.rankdata(scores[~positive])) / n_positive
    return Placements(below, above)


def auc_table(
    column: str, names: Sequence[str], parts: Sequence[Placements], value: str = "estimate"
) -> dict[str, Any]:
    """The AUC of each column of scores with its error and 95% interval, as a table of a result."""
    errors = [math.sqrt(part.variance) for part in parts]
    half = [float(stats.norm.isf(0.025)) * error for error in errors]
    means = [part.mean for part in parts]
    return {
        column: tuple(names),
        value: tuple(means),
        "se": tuple(errors),
        "conf_low": tuple(mean - width for mean, width in zip(means, half, strict=True)),
        "conf_high": tuple(mean + width for mean, width in zip(means, half, strict=True)),
    }
