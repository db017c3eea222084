"""Exact p-values where two rules could change places: by clusters, or row by row.

Both are one-sided, of the alternative that the first rule is better, and right at every level.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import gammaln

LEFT_OUT = 1e-17
"""More than the probability of the numbers of heads that are left out (Hoeffding)."""

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
    value: Callable[[np.ndarray], float], target: np.ndarray, first: np.ndarray, second: np.ndarray
) -> float:
    """The p-value of a metric of two classes, labels 0 and 1 (n,).

    H0: in every row the two rules could change places. `value` takes a confusion matrix of shares,
    true classes in rows; higher is better, and 0/0 counts 0.
    """
    telling = first != second
    same = np.bincount(2 * target[~telling] + first[~telling], minlength=4).reshape(2, 2)
    of_class = [telling & (target == label) for label in (0, 1)]
    sizes = [int(rows.sum()) for rows in of_class]

    def gain(positives: Any) -> float:
        """The metric where the first rule says 1 in these numbers of telling rows."""
        counts = [[size - k, k] for size, k in zip(sizes, positives, strict=True)]
        number = value((same + counts) / len(target))
        return number if math.isfinite(number) else 0.0

    spans = [_span(size) for size in sizes]
    values = np.array([[gain((i, j)) for j in spans[1]] for i in spans[0]])
    observed = [int(first[rows].sum()) for rows in of_class]
    swapped = [size - k for size, k in zip(sizes, observed, strict=True)]
    as_good = values - values[::-1, ::-1] >= gain(observed) - gain(swapped) - ROUNDING
    chances = [_chances(size, span) for size, span in zip(sizes, spans, strict=True)]
    return min(1.0, float(chances[0] @ as_good @ chances[1]) + LEFT_OUT)


def _span(size: int) -> range:
    """Numbers of heads in throws of a coin, up to nine standard deviations from the middle."""
    low = max(0, math.floor(size / 2 - 4.5 * math.sqrt(size)))
    return range(low, size - low + 1)


def _chances(size: int, span: range) -> np.ndarray:
    heads = np.array(span)
    logs = gammaln(size + 1) - gammaln(heads + 1) - gammaln(size - heads + 1)
    return np.asarray(np.exp(logs - size * math.log(2)))
