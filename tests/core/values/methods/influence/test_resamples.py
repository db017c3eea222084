"""Folds and bootstrap samples: what is drawn, how often, and in which parts."""

import numpy as np
import pytest

from ucvtest.methods.influence.resamples import (
    draw_bootstrap,
    draw_folds,
    single_folds,
)

CLASSES = (np.array([0, 3, 4, 7, 9, 10, 11]), np.array([1, 2, 5, 6, 8]))


def test_monte_carlo_tests_one_fold_of_each_class(rng):
    folds = draw_folds(rng, 4000, CLASSES, 2, all_tested=False)
    rows = folds.rows(0, 4000)
    for members, size in zip(CLASSES, (3, 2), strict=True):
        assert set(rows.tested[:, members].sum(axis=1)) == {size}
        share = rows.tested[:, members].mean(axis=0)
        np.testing.assert_allclose(share, size / len(members), atol=0.035)
    assert (rows.counts == ~rows.tested).all()
    # Classes are divided independently.
    joint = rows.tested[:, 0] & rows.tested[:, 1]
    assert joint.mean() == pytest.approx(3 / 7 * 2 / 5, abs=0.03)


def test_repeated_tests_all_pairs_of_folds(rng):
    folds = draw_folds(rng, 3, CLASSES, 3, all_tested=True)
    assert folds.n_rows == 27
    rows = folds.rows(0, 27)
    np.testing.assert_array_equal(rows.repeat, np.repeat([0, 1, 2], 9))
    for repeat in range(3):
        tested = rows.tested[rows.repeat == repeat]
        together = tested[:, CLASSES[0]].T.astype(int) @ tested[:, CLASSES[1]]
        assert (together == 1).all()
    assert folds.fold_shares.sum() == pytest.approx(1)
    sizes = rows.tested[:9][:, CLASSES[0]].sum(1) * rows.tested[:9][:, CLASSES[1]].sum(1)
    np.testing.assert_allclose(folds.fold_shares, sizes / 35)


def test_single_folds():
    folds = single_folds(CLASSES)
    rows = folds.rows(0, folds.n_rows)
    assert len(rows.tested) == 35
    assert (rows.tested.sum(axis=1) == 2).all()
    assert len(np.unique(rows.tested, axis=0)) == 35


def test_bootstrap_draws_each_class_by_itself(rng):
    drawn = draw_bootstrap(rng, 3000, CLASSES)
    rows = drawn.rows(0, 3000)
    for members in CLASSES:
        n = len(members)
        counts = rows.counts[:, members]
        assert (counts.sum(axis=1) == n).all()
        assert (counts == 0).mean() == pytest.approx((1 - 1 / n) ** n, abs=0.01)
        assert counts.astype(float).var() == pytest.approx(1 - 1 / n, rel=0.05)
    assert (rows.tested == (rows.counts == 0)).all()
