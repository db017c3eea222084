"""Exact p-values where two rules could change places: by clusters, or row by row.

Both are one-sided, of the alternative that the first rule is better, and right at every level.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

LEFT_OUT = 2e-17
"""More than the probability of the numbers of heads that are left out: 4 exp(-40.5) by Hoeffding,
for two classes on both sides."""

ROUNDING = 1e-12
"""Differences of a metric that are equal up to this are equal."""


def sign_flips(sums: np.ndarray) -> float:
    """The p-value of whole numbers: rows that the first rule wins in a cluster less those it loses.

    H0: in every cluster the two rules could change places. Clusters of one row make it McNemar's.
    """
    sizes = np.sort(np.abs(sums[sums != 0])).astype(int)
    chances = np.zeros(int(sizes.sum()) + 1)
    chances[0] = 1.0
    reach = 0
    for size in sizes.tolist():
        # The clusters so far won this many rows in all, or this one won its own as well.
        won = chances[: reach + 1] / 2
        reach += size
        chances[: reach + 1] /= 2
        chances[size : reach + 1] += won
    return min(1.0, float(chances[int(sums[sums > 0].sum()) :].sum()))


def row_swaps(
    values: Callable[[np.ndarray], np.ndarray],
    target: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
) -> float:
    """The p-value of a metric of two classes, labels 0 and 1 (n,).

    H0: in every row the two rules could change places. `values` takes confusion matrices of shares
    (m, 2, 2), true classes in rows; higher is better, and 0/0 counts 0.
    """
    telling = first != second
    same = np.bincount(2 * target[~telling] + first[~telling], minlength=4).reshape(2, 2)
    of_class = [telling & (target == label) for label in (0, 1)]
    sizes = np.array([rows.sum() for rows in of_class])
    observed = np.array([first[rows].sum() for rows in of_class])

    def gains(false: int, true: np.ndarray) -> np.ndarray:
        """The lead of the first rule, from the telling rows of a class in which its label is 1."""
        ones = np.stack([np.full(len(true), false), true], axis=-1)
        ones_of_rules = np.stack([ones, sizes - ones])
        tables = same + np.stack([sizes - ones_of_rules, ones_of_rules], axis=-1)
        metric = values(tables.reshape(-1, 2, 2) / len(target))
        new, old = np.nan_to_num(metric, posinf=0.0, neginf=0.0).reshape(2, -1)
        return np.asarray(new - old)

    least = gains(observed[0], observed[1:]) - ROUNDING
    (heads, chances), (true, chances_of_true) = map(_heads, sizes.tolist())
    # One number of false alarms at a time, so that memory is that of one row of cells.
    tails = [(gains(false, true) >= least) @ chances_of_true for false in heads.tolist()]
    return min(1.0, float(chances @ tails) + LEFT_OUT)


def _heads(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of heads in throws of a coin, and their probabilities.

    They are up to nine standard deviations from the middle.
    """
    low = max(0, math.floor(size / 2 - 4.5 * math.sqrt(size)))
    heads = np.arange(low, size - low + 1)
    logs = gammaln(size + 1) - gammaln(heads + 1) - gammaln(size - heads + 1)
    return heads, np.exp(logs - size * math.log(2))
