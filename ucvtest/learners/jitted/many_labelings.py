"""Many labelings of one learning set: what does not depend on the labels, computed once.

Ridge regression and the discriminant of two classes then need two products with thin matrices
for each labeling, instead of a system of equations.
"""

from collections.abc import Callable

import numpy as np

from ucvtest.learners.batching import RESULT_NUMBERS, power_of_two

LABELINGS = 512
"""Labelings in one call: enough to make the cost of the call negligible, but so few that their
scores stay in the processor's cache."""

WELL_CONDITIONED = 1e-5
"""Pivots below this share of their diagonal element are left to elimination, which says of each
labeling whether there is a solution."""

OPEN = 1e-10
"""Distance from the cut, relative to the largest score, within which two forms of a score may be
on different sides: well-conditioned systems lose no more than five of sixteen digits."""

ONE_THREAD = 2**18
"""Multiplications in a matrix product up to which BLAS starts no threads: synchronising them would
take longer than the product."""

LEAST_ROWS = 4
"""Rows of a matrix product, at least."""


def product(rows: np.ndarray, matrix: np.ndarray, least_rows: int = LEAST_ROWS) -> np.ndarray:
    """Matrix product (R, m) of (R, k) and (k, m), always the same few rows at a time.

    A row of the result then does not depend on how many others there are, to the last bit.
    """
    rows_per_product = max(power_of_two(ONE_THREAD // matrix.size), least_rows)
    product_rows = np.empty((len(rows), matrix.shape[1]))
    n_in_blocks = len(rows) // rows_per_product * rows_per_product
    blocks = product_rows[:n_in_blocks].reshape(-1, rows_per_product, matrix.shape[1])
    np.matmul(rows[:n_in_blocks].reshape(-1, rows_per_product, len(matrix)), matrix, out=blocks)
    if n_in_blocks < len(rows):
        last = np.zeros((rows_per_product, len(matrix)))
        last[: len(rows) - n_in_blocks] = rows[n_in_blocks:]
        product_rows[n_in_blocks:] = (last @ matrix)[: len(rows) - n_in_blocks]
    return product_rows


def whitened(
    features: np.ndarray,
    learning: np.ndarray,
    penalty: float = 0.0,
    centre: bool = True,
    least_pivot: float = 0.0,
) -> tuple[np.ndarray, float] | None:
    """Linear combinations of the features, uncorrelated in a learning set but for a penalty.

    Z (n, p) with Z Z' = X (X'X + penalty I)^-1 X', X'X of the learning set only; and the smallest
    pivot as a share of its diagonal element. None where that is below `WELL_CONDITIONED`, or a
    pivot is at most the share `least_pivot` of the largest diagonal element.
    """
    centred = features - features[learning].mean(axis=0) if centre else features
    learnt = centred[learning]
    gram = learnt.T @ learnt + penalty * np.eye(features.shape[1])
    try:
        root = np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return None
    # The pivots of elimination are the squares of the root's diagonal.
    pivots, diagonal = root.diagonal() ** 2, gram.diagonal()
    least_pivot_share = float((pivots / diagonal).min())
    if not (least_pivot_share > WELL_CONDITIONED and pivots.min() > least_pivot * diagonal.max()):
        return None
    from scipy.linalg import solve_triangular

    return solve_triangular(root, centred.T, lower=True).T, least_pivot_share


def replace_open_rows(
    scores: np.ndarray,
    cut: float,
    distance: np.ndarray | float,
    labels: np.ndarray,
    scores_of_labels: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Replace, in place, rows of scores with one that is missing or within `distance` of the cut.

    Ties are then the same, whatever the form: `scores_of_labels` gives the scores of labelings
    in the other one.
    """
    nearest = np.abs(scores - cut).min(axis=1)
    rows = np.flatnonzero(~(nearest > distance))
    # Always the same number: another would have to be compiled, and round differently.
    count = min(LABELINGS, power_of_two(RESULT_NUMBERS // scores.shape[1]))
    for first_row in range(0, len(rows), count):
        open_rows = rows[first_row : first_row + count]
        scores[open_rows] = scores_of_labels(labels[np.resize(open_rows, count)])[: len(open_rows)]
    return scores
