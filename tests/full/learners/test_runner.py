"""What the runner adds to the fit of one learning set."""

import jax
import numpy as np
import pytest

from tests.full.learners.shrunken_means import ShrunkenMeans
from tests.support.samples import breast_cancer, evaluate, learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.learners.batching import padded_size
from ucvtest.learners.solvers.linear_algebra import inverted, solved


def test_a_label_at_the_cut_or_missing_is_left_to_the_scores():
    sample = breast_cancer()
    learner, learning = ShrunkenMeans(0.3), learning_sets(sample, 60, 5)
    state = learner.prepare(sample)
    assert learner.codes(state, learning) is not None
    # All means are the same, and so all scores are zero.
    equal = ShrunkenMeans(1.0)
    assert equal.codes(equal.prepare(sample), learning) is None
    assert evaluate(sample, equal, "label", learning).ties["score_ties"] == (~learning).sum()


@pytest.mark.parametrize(
    ("near", "far", "is_open"),
    [(1 + 1e-9, 3.0, True), (1 + 1e-7, 3.0, False), (1 + 1e-7, 1e6, True)],
)
def test_careful_learners_leave_open_what_rounding_errors_could_decide(near, far, is_open):
    # The means are 0 and 2. The margin is absolute, and relative to the largest score.
    features = np.array([0.0, 0.0, 2.0, 2.0, near, far])[:, None]
    sample = make_sample(features, [0, 0, 1, 1, 1, 1], as_classes=True)
    learning = np.array([[True] * 4 + [False] * 2])
    for learner, expected in (ShrunkenMeans(), False), (ShrunkenMeans(careful=True), is_open):
        state = learner.prepare(sample)
        assert (learner.codes(state, learning) is None) == expected
        predicted = learner.predict(state, learning, "label").values[0]
        np.testing.assert_array_equal(np.isnan(predicted), [False] * 4 + [expected, False])


@pytest.mark.parametrize(
    ("n_obs", "size"), [(1, 32), (33, 64), (256, 256), (257, 320), (999, 1024)]
)
def test_few_sizes_of_samples_are_compiled(n_obs, size):
    assert padded_size(n_obs) == size


@pytest.mark.parametrize("size", [1, 3, 9, 30])
@pytest.mark.parametrize("filled", [0, 5])
def test_systems_are_solved_side_by_side(rng, size, filled):
    factors = rng.normal(size=(6, 4, size, size + 2))
    matrices = factors @ factors.swapaxes(2, 3)
    matrices[2, 1, :, -1] = matrices[2, 1, -1, :] = 0.0
    right = rng.normal(size=(6, 4, size, 2))
    whole = np.zeros((6, 4, size + filled, size + filled))
    whole[..., :size, :size] = matrices
    whole[..., range(size, size + filled), range(size, size + filled)] = 1.0
    longer = np.pad(right, ((0, 0), (0, 0), (0, filled), (0, 0)))
    with jax.enable_x64(True):
        solve, invert = (jax.jit(jax.vmap(jax.vmap(each))) for each in (solved, inverted))
        found = np.asarray(solve(whole, longer))[:, :, :size]
        inverses, log_determinants = (np.asarray(each) for each in invert(matrices))
    assert np.isnan(found[2, 1]).all()
    assert np.isnan(inverses[2, 1]).all()
    assert np.isnan(log_determinants[2, 1])
    regular = np.ones((6, 4), dtype=bool)
    regular[2, 1] = False
    for row in zip(*np.nonzero(regular), strict=True):
        np.testing.assert_allclose(matrices[row] @ found[row], right[row], atol=1e-7)
        np.testing.assert_allclose(matrices[row] @ inverses[row], np.eye(size), atol=1e-7)
        logarithm = np.linalg.slogdet(matrices[row]).logabsdet
        np.testing.assert_allclose(log_determinants[row], logarithm, rtol=1e-8, atol=1e-8)
