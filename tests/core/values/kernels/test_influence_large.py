"""Sums over pairs of many observations in whole numbers, against the jitted sums of all pairs."""

from dataclasses import fields

import numpy as np
import pytest

from ucvtest.kernels.influence import large_tables
from ucvtest.kernels.influence.estimate import Rows
from ucvtest.kernels.influence.large_tables import LargePairCounts
from ucvtest.kernels.influence.sums import PairCounts

N_ROWS, SIZES = 120, (9, 13)


def rows_and_scores(bootstrap):
    """Test sets of some of each class, or of what a bootstrap sample leaves out; with ties."""
    generator = np.random.default_rng(5)
    y = generator.permutation(np.repeat([1, 0], SIZES))
    counts = np.zeros((N_ROWS, len(y)), dtype=int)
    for members in (np.flatnonzero(y == 1), np.flatnonzero(y == 0)):
        for row in counts:
            if bootstrap:
                np.add.at(row, generator.choice(members, len(members)), 1)
            else:
                row[generator.choice(members, len(members) - 3, replace=False)] = 1
    scores = np.round(generator.normal(size=counts.shape) + y, 1)
    scores[:, 3] = np.inf
    # Looked at only where tested.
    scores[counts > 0] = np.nan
    return y, Rows(counts == 0, counts, np.arange(N_ROWS)), scores


@pytest.mark.parametrize("bootstrap", [False, True])
@pytest.mark.parametrize("most_short", [30_000, 10])
def test_sums_are_those_of_the_jitted_tables(bootstrap, most_short, monkeypatch):
    monkeypatch.setattr(large_tables, "CELLS", 30)
    monkeypatch.setattr(large_tables, "MOST_SHORT", most_short)
    y, rows, scores = rows_and_scores(bootstrap)
    parts = [
        Rows(rows.tested[part], rows.counts[part], rows.repeat[part])
        for part in (slice(0, 70), slice(70, None))
    ]
    found = []
    for kind in (PairCounts, LargePairCounts):
        counts = kind.of(y, N_ROWS, parts)
        assert counts.n_untested == 0
        sums = counts.sums()
        for part, values in zip(parts, (scores[:70], scores[70:]), strict=True):
            sums.add(part, values)
        found.append((counts.by_group, sums.influence(parts)))
    (expected_counts, expected), (large_counts, large) = found
    np.testing.assert_array_equal(large_counts, expected_counts)
    for field in fields(expected):
        np.testing.assert_allclose(
            getattr(large, field.name), getattr(expected, field.name), rtol=1e-11, atol=1e-13
        )
