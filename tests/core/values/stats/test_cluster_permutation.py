"""Labels that change places in clusters, against all labelings that there could be."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from ucvtest.stats.cluster_permutation import ExchangeableLabels

CASES = {
    "mixed": ([0, 1, 1, 0, 0, 1, 1, 0, 1, 0], [0, 0, 0, 1, 2, 3, 4, 4, 5, 5]),
    "pure": ([0, 0, 1, 1, 1, 0, 1], [0, 0, 1, 1, 1, 2, 3]),
    "numbers": ([0.5, 2.5, 1.5, 2.0, 2.0, 7.0, 3.0], [0, 0, 0, 1, 1, 2, 3]),
}

each_case = pytest.mark.parametrize("name", CASES)


def made(name: str) -> tuple[ExchangeableLabels, np.ndarray, np.ndarray]:
    labels, cluster = map(np.array, CASES[name])
    return ExchangeableLabels.of(labels, cluster), labels, cluster


def admitted(labels: np.ndarray, cluster: np.ndarray) -> set[tuple]:
    """All labelings that permutations within clusters, and of equal ones, can make: by rules."""
    members = [np.flatnonzero(cluster == each) for each in np.unique(cluster)]
    pure = [len(set(labels[rows].tolist())) == 1 for rows in members]

    def signature(row: np.ndarray) -> tuple:
        if all(pure):
            same = all(len(set(row[rows].tolist())) == 1 for rows in members)
            return same, sorted(row[rows[0]] for rows in members)
        within = [sorted(row[rows]) for rows, one in zip(members, pure, strict=True) if not one]
        same = all(
            len(set(row[rows].tolist())) == 1
            for rows, one in zip(members, pure, strict=True)
            if one
        )
        of_size = {
            size: sorted(
                row[rows[0]]
                for rows, one in zip(members, pure, strict=True)
                if one and len(rows) == size
            )
            for size in {len(rows) for rows in members}
        }
        return same, within, of_size

    values = sorted(set(labels.tolist()))
    wanted = signature(labels)
    return {
        row for row in product(values, repeat=len(labels)) if signature(np.array(row)) == wanted
    }


@each_case
def test_every_labeling_comes_once(name):
    found, labels, cluster = made(name)
    rows = [tuple(row) for part in found.every(7) for row in part.tolist()]
    expected = admitted(labels, cluster) if name != "numbers" else set(rows)
    assert len(rows) == len(set(rows)) == found.n_labelings
    assert set(rows) == expected
    if name == "numbers":
        assert found.n_labelings == 6 * 1 * 2


@each_case
def test_draws_are_uniform_and_do_not_depend_on_the_batch(name):
    found, _, _ = made(name)
    drawn = found.draw(np.random.default_rng(0), 6000)
    counts = Counter(map(tuple, drawn.tolist()))
    assert len(counts) == found.n_labelings
    share = 1 / found.n_labelings
    deviations = np.array(list(counts.values())) / 6000 - share
    assert np.abs(deviations).max() < 5 * np.sqrt(share / 6000)
    rng = np.random.default_rng(0)
    parts = [found.draw(rng, size) for size in (1, 2, 5997)]
    np.testing.assert_array_equal(np.concatenate(parts), drawn)


@each_case
def test_shares_and_moments_are_those_of_all_labelings(name):
    found, _, _ = made(name)
    rows = np.concatenate(list(found.every(1000))).astype(float)
    mean, covariance = found.moments()
    np.testing.assert_allclose(mean, rows.mean(axis=0))
    np.testing.assert_allclose(covariance, np.cov(rows.T, bias=True), atol=1e-12)
    for value, share in zip(*found.shares(), strict=True):
        np.testing.assert_allclose(share, (rows == value).mean(axis=0))


@pytest.mark.seconds(3, reason="a size shows in many samples alone")
def test_size_is_kept_where_cluster_sizes_are_mixed():
    """Rows of clusters of 1 and 3; features tell the size, labels are independent in all rows."""
    cluster = np.repeat(np.arange(40), np.arange(40) % 2 * 2 + 1)
    size = np.bincount(cluster)[cluster]
    ours, alike, n_sets, n_drawn = 0, 0, 400, 99
    rng = np.random.default_rng(0)
    for _ in range(n_sets):
        labels = (rng.random(len(cluster)) < 0.25).astype(float)
        x = rng.normal(size=40)[cluster] + 1.5 * (size == 1) + 0.3 * rng.normal(size=len(cluster))
        ours += rejects(ExchangeableLabels.of(labels, cluster), x, rng, n_drawn)
        alike += rejects(all_alike(labels, cluster), x, rng, n_drawn)
    assert ours / n_sets <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / n_sets)
    assert alike / n_sets > 0.08


def all_alike(labels: np.ndarray, cluster: np.ndarray) -> ExchangeableLabels:
    """Clusters of one label change places whatever their sizes, which is wrong here."""
    members = [np.flatnonzero(cluster == each) for each in np.unique(cluster)]
    several = [len(set(labels[rows].tolist())) > 1 for rows in members]
    mixed = [tuple(rows[:, None]) for rows, one in zip(members, several, strict=True) if one]
    pure = tuple(rows for rows, one in zip(members, several, strict=True) if not one)
    return ExchangeableLabels(labels, (*mixed, pure), between=False)


def rejects(
    found: ExchangeableLabels, x: np.ndarray, rng: np.random.Generator, n_drawn: int
) -> bool:
    drawn = np.vstack([found.labels, found.draw(rng, n_drawn)])
    n_first = drawn.sum(axis=1)
    difference = drawn @ x / n_first - (1 - drawn) @ x / (len(x) - n_first)
    return bool((difference >= difference[0] - 1e-12).mean() <= 0.05)
