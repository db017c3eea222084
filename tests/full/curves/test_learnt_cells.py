"""Cells of rules of disjoint learning sets, with clusters of unequal size."""

import numpy as np
import pytest

from tests.oracles.few_fits import few_fits
from ucvtest.curves.learnt_cells import count_learnt_cells
from ucvtest.data.groups import as_groups

CLUSTER = np.array([0, 3, 1, 1, 4, 2, 5, 2, 6, 6, 7, 1, 5, 7, 7, 7, 3, 2, 4, 4])
N, N_CLUSTERS, LEARN_SIZE, N_ROUNDS, N_CELLS = 20, 8, 3, 3, 4


@pytest.fixture(scope="module")
def drawn():
    """Learning sets of clusters [r][j], cells (2 R, n) of one learner, and the counted cells."""
    rng = np.random.default_rng(6)
    rounds = [
        [set(order[:LEARN_SIZE]), set(order[LEARN_SIZE : 2 * LEARN_SIZE])]
        for order in (rng.permutation(N_CLUSTERS) for _ in range(N_ROUNDS))
    ]
    learning = np.array([np.isin(CLUSTER, list(one)) for pair in rounds for one in pair])
    cells = rng.integers(N_CELLS, size=learning.shape)
    groups = as_groups(CLUSTER, N)
    counted = count_learnt_cells(cells[~learning][None], N_CELLS, learning, groups)
    return rounds, cells, counted


def weights(rounds, cells):
    """The weight of each row in each cell, (n, m)."""
    table = np.zeros((N, N_CELLS))
    for r, pair in enumerate(rounds):
        for i in range(N):
            tested = [j for j in range(2) if CLUSTER[i] not in pair[j]]
            for j in tested:
                table[i, cells[2 * r + j, i]] += 1 / (N_ROUNDS * len(tested))
    return table


def test_the_joint_covariance_is_that_of_clusters(drawn):
    rounds, cells, counted = drawn
    table = weights(rounds, cells)
    np.testing.assert_allclose(counted.counts, table.sum(axis=0), atol=1e-12)
    moved = table - table.mean(axis=0)
    sums = np.array([moved[g == CLUSTER].sum(axis=0) for g in range(N_CLUSTERS)])
    covariance = N_CLUSTERS / (N_CLUSTERS - 1) * sums.T @ sums / N**2
    np.testing.assert_allclose(counted.covariance, covariance, atol=1e-13)


def test_a_variance_is_that_of_sums_of_clusters_around_the_mean(drawn):
    rounds, cells, counted = drawn
    # Clusters are numbered in the order in which they appear.
    order = list(dict.fromkeys(CLUSTER.tolist()))
    values = np.array([[0.3, 1.4, -0.2, 2.0], [1.0, 0.0, 0.0, 1.0]])
    variances, df = counted.variances(values)
    for point_values, variance, point_df in zip(values, variances, df, strict=True):
        mean = weights(rounds, cells).sum(axis=0) @ point_values / N
        losses = [
            [
                [
                    (point_values[cells[2 * r + j, g == CLUSTER]] - mean).sum() * N_CLUSTERS / N
                    for g in order
                ]
                for j in range(2)
            ]
            for r in range(N_ROUNDS)
        ]
        sets = [[{order.index(g) for g in one} for one in pair] for pair in rounds]
        _, v, noise, expected_df, _ = few_fits(losses, sets, LEARN_SIZE)
        assert variance == pytest.approx(v + noise / N_ROUNDS, abs=1e-12)
        assert point_df == pytest.approx(expected_df, abs=1e-9)


def test_clusters_are_worth_no_fewer_rows_than_there_are_clusters(drawn):
    *_, counted = drawn
    values = np.array([[0.0, 1.0, 0.0, 0.0]] * 3)
    share = counted.counts[1] / N
    sizes = counted.effective_sizes(values, share * (1 - share) / np.array([12.0, 2.0, 99.0]))
    np.testing.assert_allclose(sizes, [12.0, N_CLUSTERS, N], atol=1e-12)
