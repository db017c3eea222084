"""The second-order bias of a function of means.

It is half the trace of the Hessian times the covariance of the means. The sum of the outer squares
of `directions` (m, p) is this covariance. In a confusion matrix, each non-empty cell is a
direction. `None` stands for too many directions.
"""

import numpy as np

from ucvtest.metrics.smooth import FunctionOfMeans

MOST_DIRECTIONS = 200
"""With more directions, as with more than fourteen classes, a bias takes too long to compute."""

ROUNDING = 1e-12
"""Variances up to this share of the largest are rounding error."""


def second_order_bias(
    metric_of_means: FunctionOfMeans, means: np.ndarray, directions: np.ndarray | None, scale: float
) -> float:
    """The bias at the means, by directions times the scale; NaN in too many directions.

    Differences go along the scaled directions, which are as long as the errors of the means, in
    their units.
    """
    if directions is None or _too_many(*directions.shape):
        return float("nan")
    if len(directions) > directions.shape[1]:
        # As many directions as there are parts, with the same sum of squares.
        directions = np.asarray(np.linalg.qr(directions, mode="r"))
    with np.errstate(all="ignore"):
        return sum(
            metric_of_means.curvature(means, direction) / 2
            for direction in scale * directions.reshape(len(directions), *means.shape)
            if direction.any()
        )


def directions_of_table(table: np.ndarray) -> np.ndarray | None:
    """Directions of the cell of an observation, from the shares of cells, which are the means."""
    filled = np.flatnonzero(table)
    if _too_many(len(filled), table.size):
        return None
    cell_indicators = np.zeros((len(filled), table.size))
    cell_indicators[np.arange(len(filled)), filled] = 1.0
    return np.asarray(np.sqrt(table.ravel()[filled])[:, None] * (cell_indicators - table.ravel()))


def directions_of_cells(
    target: np.ndarray, predictions: np.ndarray, means: np.ndarray, index: np.ndarray | None
) -> np.ndarray | None:
    """The same from observations, times the root of their number.

    Half-way numbers are also cells. With an `index` of clusters, their rows are added up.
    """
    size, alone = len(means), index is None
    if index is None:
        index = np.unique(2 * size * target + 2 * predictions, return_inverse=True)[1]
    counts = np.bincount(index)
    if _too_many(len(counts), means.size):
        return None
    sums = np.zeros((len(counts), means.size))
    for predicted_code in (np.floor(predictions), np.ceil(predictions)):
        np.add.at(sums, (index, (size * target + predicted_code).astype(int)), 0.5)
    directions = sums - counts[:, None] * means.ravel()
    return np.asarray(directions / np.sqrt(counts)[:, None] if alone else directions)


def directions_of_covariance(covariance: np.ndarray) -> np.ndarray:
    """Directions along the axes of a covariance matrix, in which all parts have the same spread."""
    spread = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    unit = np.where(spread > 0, spread, 1.0)
    sizes, axes = np.linalg.eigh(covariance / np.outer(unit, unit))
    is_nonzero = sizes > ROUNDING * sizes[-1]
    return np.asarray((axes[:, is_nonzero] * np.sqrt(sizes[is_nonzero])).T * unit)


def _too_many(n_directions: int, n_parts: int) -> bool:
    return min(n_directions, n_parts) > MOST_DIRECTIONS
