"""Rows counted in cells, by class and by where their predictions lie between the points of a curve.

Every point of every curve is a function of these counts. Its variance, and the covariance of two
points, are therefore quadratic forms of one small matrix. Counting takes time and memory in
proportion to the number of rows; everything after it does not depend on that number.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from ucvtest.data.groups import Groups


@dataclass(frozen=True, eq=False)
class Cells(ABC):
    """The number of rows in each of m cells, and the covariance of their shares.

    Parameters
    ----------
    counts : ndarray, shape (m,)
    covariance : ndarray, shape (m, m)
        Covariance of counts / n_obs as rows are tested, by clusters if there are any.
    n_obs, n_units : int
        Rows, and clusters (or rows).
    """

    counts: np.ndarray
    covariance: np.ndarray
    n_obs: int
    n_units: int

    @property
    def clustered(self) -> bool:
        """Whether rows belong to clusters."""
        return self.n_units < self.n_obs

    @property
    def shares(self) -> np.ndarray:
        """The share of rows in each cell, (m,)."""
        return self.counts / self.n_obs

    @property
    @abstractmethod
    def df(self) -> float:
        """Degrees of freedom of the joint distribution of all points."""

    @abstractmethod
    def variances(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The variances (K,) of means of influence values (K, m), and their degrees of freedom."""

    @abstractmethod
    def effective_sizes(self, values: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """The number of independent rows (K,) whose means of `values` have these variances."""

    def _sizes(self, spreads: np.ndarray, variances: np.ndarray, least: float) -> np.ndarray:
        """The ratios of spreads and variances; one row for each cluster if all rows agree."""
        sizes = np.full(len(variances), float(self.n_units))
        np.divide(spreads, variances, out=sizes, where=variances > 0)
        return np.clip(sizes, least, self.n_obs)


@dataclass(frozen=True, eq=False)
class RuleCells(Cells):
    """Cells of fixed rules; `independent` (m, m) is the covariance if all rows were independent."""

    independent: np.ndarray

    @property
    def df(self) -> float:
        """See `Cells`."""
        return self.n_units - 1.0

    def variances(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Cells`."""
        variances = _quadratic_forms(values, self.covariance)
        return variances, np.full(len(values), self.df)

    def effective_sizes(self, values: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """See `Cells`."""
        independent_variances = _quadratic_forms(values, self.independent)
        return self._sizes(self.n_obs * independent_variances, variances, least=1)


def count_cells(places: np.ndarray, n_cells: int, groups: Groups | None) -> RuleCells:
    """Count the rows in the cells of all learners, one learner after the other.

    Parameters
    ----------
    places : ndarray of int, shape (L, n)
        The cell of each row, by the prediction of each learner.
    n_cells : int
        Number of cells of all learners together.
    groups : Groups or None
        Clusters of rows.
    """
    n_obs = places.shape[1]
    rows = np.arange(n_obs)
    by_row = table_of_cells(places, rows, np.ones(n_obs), (n_obs, n_cells))
    if groups is None or groups.single:
        covariance = covariance_of_shares(by_row, np.ones(n_obs))
        return RuleCells(by_row.sum(axis=0), covariance, n_obs, n_obs, independent=covariance)
    by_cluster = table_of_cells(places, groups.index, np.ones(n_obs), (groups.n_groups, n_cells))
    return RuleCells(
        by_row.sum(axis=0),
        covariance_of_shares(by_cluster, groups.sizes.astype(float)),
        n_obs,
        groups.n_groups,
        independent=covariance_of_shares(by_row, np.ones(n_obs)),
    )


def table_of_cells(
    places: np.ndarray, units: np.ndarray, weights: np.ndarray, shape: tuple[int, int]
) -> csr_array:
    """The weight of the tested rows of each unit in each cell (G, m).

    The cells `places` (L, T) are by the prediction of each learner; `units` (T,) are rows or
    clusters.
    """
    unit_and_cell = (np.tile(units, len(places)), places.ravel())
    return csr_array((np.tile(weights, len(places)), unit_and_cell), shape=shape)


def covariance_of_shares(table: csr_array, sizes: np.ndarray) -> np.ndarray:
    """The covariance of shares, which are ratios of means over units.

    With counts c_g of unit g, m_g rows in it and shares p, it is the covariance of the sums c_g -
    m_g p: G/(G - 1) sum_g (c_g - m_g p)(c_g - m_g p)'/n^2.
    """
    n_units, n_obs = len(sizes), sizes.sum()
    shares = table.sum(axis=0) / n_obs
    weighted = table.T @ sizes
    cross = np.outer(weighted, shares)
    squares = (table.T @ table).toarray() - cross - cross.T
    squares += (sizes @ sizes) * np.outer(shares, shares)
    return n_units / (n_units - 1) / n_obs**2 * squares


def _quadratic_forms(values: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """The variance (K,) of each mean of influence values (K, m)."""
    return np.maximum(np.einsum("km,km->k", values @ covariance, values), 0.0)
