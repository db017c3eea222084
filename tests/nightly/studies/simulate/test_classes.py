"""Simulated data against what is known of them."""

import numpy as np

from studies import simulate


def test_normal_classes_have_the_moments_asked_for():
    X, y = simulate.normal_classes(20_000, 10_000, 3, 0.5, rng=1)
    assert X.shape == (30_000, 3)
    assert y.tolist() == [0] * 20_000 + [1] * 10_000
    np.testing.assert_allclose(X[y == 0].mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), 0.5, atol=0.04)
    for label in (0, 1):
        np.testing.assert_allclose(np.cov(X[y == label].T), np.eye(3), atol=0.05)
