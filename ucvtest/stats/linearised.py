"""Variances of means of linearised values, by clusters too, and functions with rows added.

Observations added to a confusion matrix (Agresti and Coull 1998 of a share, Agresti and Min 2005
of a difference) keep the intervals of its functions where they should be when cells are empty.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ucvtest.stats.shares import effective_number

MOST_CELLS = 200
"""With observations in more cells, as with many classes, it takes too long to leave one out of
each."""

ROUNDING = 1e-20
"""Of squares of linearised values, as a share of the largest, that is none."""

NEGLIGIBLE = 1e-9
"""Kurtosis less 1 of values that are all of one size."""

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


def two_right_two_wrong(n_classes: int, only_class: int | None = None) -> np.ndarray:
    """Rows added for one learner: four observations over the cells (true, predicted).

    Of one class against the rest it is what two classes have: one observation in each cell.
    """
    if only_class is not None:
        either = _one_and_the_rest(n_classes, only_class)
        return either[:, None] * either
    right = np.eye(n_classes) > 0
    return np.where(right, 2 / n_classes, 2 / (n_classes * max(n_classes - 1, 1)))


def one_right_one_wrong(n_classes: int, only_class: int | None = None) -> np.ndarray:
    """Of two: two observations over (true, first, second).

    Half of one each where both are right, only the first, only the second, and neither. Of one
    class against the rest a quarter in each cell of two classes.
    """
    if only_class is not None:
        either = _one_and_the_rest(n_classes, only_class)
        return either[:, None, None] * either[:, None] * either / 4
    k = np.arange(n_classes)
    first, second = k[:, None, None] == k[:, None], k[:, None, None] == k
    n_wrong_classes = max(n_classes - 1, 1)
    return (
        0.5 / n_classes / np.where(first, 1, n_wrong_classes) / np.where(second, 1, n_wrong_classes)
    )


def _one_and_the_rest(n_classes: int, only_class: int) -> np.ndarray:
    """One observation of the class, and one over all others, which are one class."""
    shares = np.full(n_classes, 1 / max(n_classes - 1, 1))
    shares[only_class] = 1.0
    return shares


@dataclass(frozen=True)
class RowsAdded:
    """A function of a table of shares, with observations added to those of the sample.

    `estimate` and `se` are those with them; `df` are the degrees of freedom that the kurtosis of
    the sample's linearised values leaves (Satterthwaite's).
    """

    estimate: float
    se: float
    df: float

    @classmethod
    def of(
        cls,
        value_and_gradient: ValueAndGradient,
        table: np.ndarray,
        n: float,
        variance_of: Callable[[np.ndarray], float],
        added: np.ndarray,
        *,
        left_out: bool = False,
    ) -> "RowsAdded":
        """By the gradient at the table with the observations added.

        `variance_of` takes numbers of cells, and gives the variance of their mean over the
        observations as they are. With `left_out` it is the geometric mean of those of linearised
        values and of the changes that leaving out an observation makes. Where a metric divides by
        the small number of a class, the one is too small, the other too large: of a recall their
        mean is p(1 - p)/(n - 1), which has no bias.
        """
        n_with_added = n + float(added.sum())
        moved = (n * table + added) / n_with_added
        value, gradient = value_and_gradient(moved)
        slopes = gradient - (moved * gradient).sum()
        variance = variance_of(slopes)
        if left_out:
            changes = _left_out(value_and_gradient, value, slopes, moved, n * table, n_with_added)
            variance = math.sqrt(max(variance * variance_of(changes), 0.0))
        spread = (
            n**2 * variance
            + n * float((table * slopes).sum()) ** 2
            + float((added * slopes**2).sum())
        )
        apart = slopes - (table * slopes).sum()
        second, fourth = (float((table * apart**k).sum()) for k in (2, 4))
        varies = second > ROUNDING * float((slopes**2).max())
        excess = fourth / second**2 - 1 if varies else 0.0
        return cls(value, math.sqrt(spread) / n_with_added, 2 * n / max(excess, NEGLIGIBLE))


def _left_out(
    value_and_gradient: ValueAndGradient,
    value: float,
    slopes: np.ndarray,
    moved: np.ndarray,
    counts: np.ndarray,
    n_with_added: float,
) -> np.ndarray:
    """How leaving out an observation of each cell changes `value`, in the units of `slopes`.

    Of `n_with_added` observations `counts` are those of the sample. Cells that have none keep
    their slopes.
    """
    changes = slopes.copy()
    for cell in map(tuple, np.argwhere(counts > 0)):
        # A sample from which others are made can have less than one.
        size = min(1.0, float(counts[cell]))
        left_cells = n_with_added * moved
        left_cells[cell] -= size
        n_left = n_with_added - size
        changes[cell] = n_left / size * (value - value_and_gradient(left_cells / n_left)[0])
    return changes
