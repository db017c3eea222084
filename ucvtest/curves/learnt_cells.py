r"""Cells of learners: of rules that are learnt on rounds of disjoint learning sets.

A row is in a cell by the prediction of each rule that did not learn from it. Its weight of 1 is
shared among the rounds, and in a round among the rules that test it. A mean of influence values is
then a U-statistic, with the variance of few fits (`kernels.ustatistic.few`), which includes
learning from another sample.

Errors due to learning are assumed to have the same correlations between points as errors due to
testing. Any number of rules is enough to estimate the latter.
"""

import math
from dataclasses import dataclass

import numpy as np

from ucvtest.curves.cells import Cells, covariance_of_shares, table_of_cells
from ucvtest.data.groups import Groups
from ucvtest.kernels.ustatistic.few import FewFits, SetsOfRounds


@dataclass(frozen=True, eq=False)
class LearntCells(Cells):
    """The mean number of rows in each of m cells, over the rules of rounds.

    Parameters
    ----------
    places : ndarray of int, shape (L, R, 2, n)
        The cell of each row by each rule of each learner; m for rows that a rule has learnt from.
    sets : SetsOfRounds
        The learning sets, of rows or of clusters.
    groups : Groups or None
        Clusters of rows.
    """

    places: np.ndarray
    sets: SetsOfRounds
    groups: Groups | None

    @property
    def df(self) -> float:
        """Infinite: errors are joined as normal ones, whatever the df of each point."""
        return math.inf

    def variances(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Cells`; NaN where influence values are."""
        variances, df = np.full((2, len(values)), np.nan)
        for k, point_values in enumerate(values):
            if np.isfinite(point_values).all():
                few_fits = self._few_fits(point_values)
                variances[k], df[k] = few_fits.se**2, few_fits.df
        return variances, df

    def effective_sizes(self, values: np.ndarray, variances: np.ndarray) -> np.ndarray:
        """See `Cells`; no fewer than clusters, as in `UStatisticTest`."""
        spreads = values**2 @ self.shares - (values @ self.shares) ** 2
        return self._sizes(spreads, variances, least=self.n_units)

    def _few_fits(self, values: np.ndarray) -> FewFits:
        """Few fits of the influence values (m,), of rows or of clusters."""
        with_learnt = np.append(values, 0.0)
        n_cells_each = len(values) // len(self.places)
        row_values = np.zeros(self.places.shape[1:])
        for learner_index, learner_places in enumerate(self.places):
            own_cells = slice(learner_index * n_cells_each, (learner_index + 1) * n_cells_each)
            if values[own_cells].any():
                row_values += with_learnt[learner_places]
        if self.groups is None:
            return self.sets.few_fits(row_values)
        sizes, mean = self.groups.sizes, float(values @ self.shares)
        cluster_values = self.groups.sums(row_values) - mean * sizes * self.sets.testing
        return self.sets.few_fits(cluster_values / sizes.mean())


def count_learnt_cells(
    places: np.ndarray, n_cells: int, learning: np.ndarray, groups: Groups | None
) -> LearntCells:
    """Count the rows in the cells of all learners, one learner after the other.

    Parameters
    ----------
    places : ndarray of int, shape (L, T)
        The cell of each tested row, rule by rule, by the prediction of each learner.
    n_cells : int
        Number of cells of all learners together.
    learning : ndarray of bool, shape (2 R, n)
        The learning sets: two of each round, which are disjoint. Each rule tests all other rows.
    groups : Groups or None
        Clusters of rows.
    """
    n_obs, groups = learning.shape[1], None if groups is None or groups.single else groups
    rounds = learning.reshape(-1, 2, n_obs)
    row_sets, testing = SetsOfRounds.single(rounds), ~rounds
    by_rule = np.full((len(places), *rounds.shape), n_cells)
    by_rule[:, testing] = places
    row = np.broadcast_to(np.arange(n_obs), rounds.shape)[testing]
    weights = np.broadcast_to(1 / (len(rounds) * row_sets.n_tests[:, None, :]), rounds.shape)[
        testing
    ]
    units, sizes, unit_sets = np.arange(n_obs), np.ones(n_obs), row_sets
    if groups is not None:
        units, sizes = groups.index, groups.sizes.astype(float)
        unit_sets = SetsOfRounds.single(rounds[..., groups.first])
    table = table_of_cells(places, units[row], weights, (len(sizes), n_cells))
    return LearntCells(
        counts=table.sum(axis=0),
        covariance=covariance_of_shares(table, sizes),
        n_obs=n_obs,
        n_units=len(sizes),
        places=by_rule,
        sets=unit_sets,
        groups=groups,
    )
