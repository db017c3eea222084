r"""Intervals for the points of a curve, for each point by itself and for all points at once.

A point is a ratio :math:`T = N \cdot P / D \cdot P` of sums over cells with shares P. Its influence
value in a cell is :math:`l = (N - T D)/(D \cdot P)`. The variance of T is the variance of the mean
of l, and the correlation of two points is the correlation of their influence values.

Observations are added before an interval is computed, so that it exists even if all rows agree. For
one learner, one is added to each cell of the confusion matrix (Agresti and Coull 1998). For a
difference of two, a quarter is added to each of the eight cells of class and both predictions
(Agresti and Min 2005). The one is z^2/4 at the 95% level; for all points at once z is larger, and
more is added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from ucvtest.curves.cells import Cells
from ucvtest.curves.points import Points
from ucvtest.results.serialising import freeze
from ucvtest.stats.simultaneous import MultivariateT, as_normal
from ucvtest.stats.wald import ReferenceDistribution

N_DRAWS = 5_000
"""Draws of the largest error; its 95% quantile then has a standard error of about .02."""

NO_VARIANCE = 1e-12
"""Variances of points up to this value are rounding error."""


@dataclass(frozen=True, eq=False)
class Band:
    """Estimates along a curve with their intervals; all arrays have shape (K,).

    Parameters
    ----------
    learner : str
        The learner of the estimates; "difference" is the first learner minus the second.
    quantity : str
        The quantity that is estimated at each point, such as "sensitivity".
    x : ndarray
        The places of the points: thresholds, or the mean prediction of each bin.
    n : ndarray
        Rows that decide the estimate, of learners on average; for a difference, the smaller number.
    estimate : ndarray
        NaN where no row decides.
    se : ndarray
        Standard errors by influence values; 0 where all rows agree.
    low, high : ndarray
        The interval of each point by itself.
    low_all, high_all : ndarray
        Intervals for all points of the curve at once.
    """

    learner: str
    quantity: str
    x: np.ndarray
    n: np.ndarray
    estimate: np.ndarray
    se: np.ndarray
    low: np.ndarray
    high: np.ndarray
    low_all: np.ndarray
    high_all: np.ndarray

    def __post_init__(self) -> None:
        for band_field in fields(self):
            object.__setattr__(self, band_field.name, freeze(getattr(self, band_field.name)))


def bands_of(
    learner: str,
    points: Mapping[str, tuple[Points, ...]],
    x: np.ndarray,
    cells: Cells,
    alpha: float,
    seed: int,
) -> list[Band]:
    """The bands of one learner, or of the difference of two, over the same grid.

    Parameters
    ----------
    points : mapping of str to tuple of Points
        For each quantity the points of the learner, and the points of the second learner to
        subtract, if there is one. Intervals for all points are also for all quantities.
    seed : int
        Seed of the draws of the largest error.
    """
    quantities = [_Quantity(quantity_points, cells) for quantity_points in points.values()]
    moved = [quantity.moved(1.0) for quantity in quantities]
    largest = _largest([points_moved.values for points_moved in moved], cells, alpha, seed)
    added = max(1.0, float(as_normal(largest, cells.df)) ** 2 / 4)
    bands = []
    for name, quantity, points_moved in zip(points, quantities, moved, strict=True):
        low, high = quantity.interval(points_moved, -stdtrit(points_moved.df, alpha / 2))
        points_moved = quantity.moved(added)
        # Intervals for all points contain the intervals for one point.
        low_all, high_all = quantity.interval(
            points_moved, _with_tail_of(largest, cells.df, points_moved.df)
        )
        band = Band(
            *(learner, name, x, quantity.n_deciding, quantity.estimate, quantity.se, low, high),
            low_all=np.minimum(low_all, low),
            high_all=np.maximum(high_all, high),
        )
        bands.append(band)
    return bands


def _largest(values: list[np.ndarray], cells: Cells, alpha: float, seed: int) -> float:
    """The upper `alpha` quantile of the largest studentised error of all points."""
    stacked = np.vstack(values)
    covariance = stacked @ cells.covariance @ stacked.T
    variance = covariance.diagonal()
    has_variance = variance > NO_VARIANCE
    if not has_variance.any():
        return ReferenceDistribution(cells.df).isf(alpha / 2)
    scale = np.sqrt(variance[has_variance])
    correlation = covariance[np.ix_(has_variance, has_variance)] / np.outer(scale, scale)
    return MultivariateT(correlation, cells.df, seed, N_DRAWS).critical(alpha).value


def _with_tail_of(largest: float, joint_df: float, df: np.ndarray) -> np.ndarray:
    """Quantiles of Student's t with `df` (K,) that have the tail of `largest` with `joint_df`."""
    if (df == joint_df).all():
        return np.full(len(df), largest)
    return -np.asarray(stdtrit(df, stdtr(joint_df, -largest)))


class _Moved(NamedTuple):
    """Points with added observations.

    `centre` are the points (K,), with their influence values (K, m), variances (K,) and degrees of
    freedom (K,).
    """

    centre: np.ndarray
    values: np.ndarray
    variance: np.ndarray
    df: np.ndarray


class _Quantity:
    """The points of one learner, or of one learner minus another."""

    def __init__(self, points: tuple[Points, ...], cells: Cells) -> None:
        self.points, self.cells = points, cells
        ratios = [_ratio(learner_points, cells) for learner_points in points]
        self.estimate = _less([estimate for estimate, _ in ratios])
        self.values = _less([values for _, values in ratios])
        variances, _ = cells.variances(self.values)
        self.se = np.sqrt(variances)
        self.n_deciding = np.min(
            [learner_points.denominator @ cells.counts for learner_points in points], axis=0
        )
        self.n = np.full(len(self.estimate), float(cells.n_obs))
        """The number of independent rows (K,) that clusters are worth."""
        if cells.clustered:
            self.n = cells.effective_sizes(self.values, self.se**2)

    def moved(self, added: float) -> _Moved:
        """The points with added observations.

        Each cell of the confusion matrix of one learner has `added` of them; for a difference, each
        margin has half as many.
        """
        shares = self.cells.shares
        is_single = len(self.points) == 1
        added_each = added if is_single else added / 2
        points_by_learner = [
            _with_added(points, shares, self.n, added_each) for points in self.points
        ]
        centre = _less([moved_points[0] for moved_points in points_by_learner])
        values = _less([moved_points[1] for moved_points in points_by_learner])
        if is_single:
            squares = added * (points_by_learner[0][2] ** 2).sum(axis=1)
        else:
            # All four pairs of predictions, of a positive and of a negative.
            first, second = (
                moved_points[2].reshape(-1, 2, 2) for moved_points in points_by_learner
            )
            added_differences = first[:, :, :, None] - second[:, :, None, :]
            squares = added / 4 * (added_differences**2).sum(axis=(1, 2, 3))
        variances, df = self.cells.variances(values)
        spread = self.n**2 * variances + (self.n * (values @ shares) ** 2 + squares)
        return _Moved(centre, values, spread / (self.n + 4 * added_each) ** 2, df)

    def interval(self, moved: _Moved, quantiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The interval around moved points, within the possible values of the quantity."""
        half_width = quantiles * np.sqrt(moved.variance)
        first, *other_learners = self.points
        # The second is at most 1, and at least its own lower limit.
        smallest_value = first.least - len(other_learners)
        largest_value = 1 - sum(
            (other_points.least for other_points in other_learners), np.zeros(len(moved.centre))
        )
        return np.maximum(moved.centre - half_width, smallest_value), np.minimum(
            moved.centre + half_width, largest_value
        )


def _ratio(points: Points, cells: Cells) -> tuple[np.ndarray, np.ndarray]:
    """Ratios (K,) and their influence values (K, m); NaN where no row decides."""
    below = points.denominator @ cells.counts
    below = np.where(below > 0, below, np.nan)
    # Ratios of counts, which are exact: other software divides the same integers.
    ratios = points.numerator @ cells.counts / below
    values = points.numerator - ratios[:, None] * points.denominator
    return ratios, cells.n_obs * values / below[:, None]


def _with_added(
    points: Points, shares: np.ndarray, n: np.ndarray, added_each: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ratios, and influence values of cells and of the four added ones, `added_each` times each."""
    above, below = (
        (n * (weights @ shares) + added_each * added.sum(axis=1)) / (n + 4 * added_each)
        for weights, added in (
            (points.numerator, points.added_numerator),
            (points.denominator, points.added_denominator),
        )
    )
    ratios = above / below
    values = (points.numerator - ratios[:, None] * points.denominator) / below[:, None]
    added = (points.added_numerator - ratios[:, None] * points.added_denominator) / below[:, None]
    return ratios, values, added


def _less(minuend_and_subtrahend: list[np.ndarray]) -> np.ndarray:
    """The first, minus the second if there is one."""
    if len(minuend_and_subtrahend) == 1:
        return minuend_and_subtrahend[0]
    return minuend_and_subtrahend[0] - minuend_and_subtrahend[1]
