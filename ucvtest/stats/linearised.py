"""Variances of means of linearised values, by clusters too, and functions with rows added.

Observations added to a confusion matrix (Agresti and Coull 1998 of a share, Agresti and Min 2005
of a difference) keep the intervals of its functions where they should be when cells are empty.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ucvtest.stats.shares import effective_number

__all__ = [
    "RowsAdded",
    "effective_size",
    "one_right_one_wrong",
    "two_right_two_wrong",
    "variance_of_mean",
]

ValueAndGradient = Callable[[np.ndarray], tuple[float, np.ndarray]]


def variance_of_mean(values: np.ndarray, index: np.ndarray | None = None) -> float:
    """The variance of the mean of values (n,); `index` (n,) numbers the clusters of rows, from 0.

    Of clusters: G/(G - 1) times the squared sums of deviations, over n^2 (Liang and Zeger 1986).
    """
    n, moved = len(values), values - values.mean()
    if index is None:
        return float(moved @ moved) / (n * (n - 1)) if n > 1 else math.nan
    sums = np.bincount(index, moved)
    n_groups = len(sums)
    return n_groups / (n_groups - 1) * float(sums @ sums) / n**2 if n_groups > 1 else math.nan


def effective_size(values: np.ndarray, index: np.ndarray | None) -> float:
    """Independent rows that would tell as much: Korn and Graubard (1998), between 1 and n.

    The number of clusters where nothing varies.
    """
    n = len(values)
    if index is None:
        return float(n)
    independent_variance, by_clusters = variance_of_mean(values), variance_of_mean(values, index)
    return effective_number(independent_variance, by_clusters, n, int(index.max()) + 1)


def two_right_two_wrong(n_classes: int) -> np.ndarray:
    """What is added of one learner: four observations over the cells (true, predicted)."""
    right = np.eye(n_classes) > 0
    return np.where(right, 2 / n_classes, 2 / (n_classes * max(n_classes - 1, 1)))


def one_right_one_wrong(n_classes: int) -> np.ndarray:
    """Of two: two observations over (true, first, second).

    Half of one each where both are right, only the first, only the second, and neither.
    """
    k = np.arange(n_classes)
    first, second = k[:, None, None] == k[:, None], k[:, None, None] == k
    n_wrong_classes = max(n_classes - 1, 1)
    return (
        0.5 / n_classes / np.where(first, 1, n_wrong_classes) / np.where(second, 1, n_wrong_classes)
    )


@dataclass(frozen=True)
class RowsAdded:
    """A function of a table of shares, with observations added to those of the sample.

    `estimate` and `se` are those with them; `variance_of` takes numbers of cells, and gives the
    variance of their mean over the observations as they are.
    """

    estimate: float
    se: float

    @classmethod
    def of(
        cls,
        value_and_gradient: ValueAndGradient,
        table: np.ndarray,
        n: float,
        variance_of: Callable[[np.ndarray], float],
        added: np.ndarray,
    ) -> "RowsAdded":
        """By the gradient at the table with the observations added."""
        n_with_added = n + float(added.sum())
        moved = (n * table + added) / n_with_added
        value, gradient = value_and_gradient(moved)
        slopes = gradient - (moved * gradient).sum()
        spread = (
            n**2 * variance_of(slopes)
            + n * float((table * slopes).sum()) ** 2
            + float((added * slopes**2).sum())
        )
        return cls(value, math.sqrt(spread) / n_with_added)
