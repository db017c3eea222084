import itertools

import numpy as np
import pytest

from tests.support.samples import diabetes, evaluate
from ucvtest.data.sample import make_sample
from ucvtest.learners import hat_matrix, held_out_predictions, kernel_ridge, ridge

LEARNERS = [
    ridge(0.0),
    *(ridge(0.3, *options) for options in itertools.product([False, True], ["sum", "mean"])),
    kernel_ridge(0.2),
    kernel_ridge(0.01, "rbf", scale="mean"),
    kernel_ridge(0.2, "polynomial", degree=2),
]


def wide():
    rng = np.random.default_rng(3)
    return make_sample(rng.normal(size=(30, 50)), rng.normal(size=30), as_classes=False)


def sets_of(size, n_obs, n_sets=20):
    rng = np.random.default_rng(2)
    return rng.permuted(np.tile(np.arange(n_obs), (n_sets, 1)), axis=1)[:, :size]


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_it_is_the_fit_without_them(learner, size):
    for sample in (diabetes(40), wide()):
        if learner.lam == 0 and sample.matrix.shape[1] > 20:
            continue
        held_out = sets_of(size, sample.n_obs)
        hat = hat_matrix(learner, sample.matrix, sample.n_obs - size)
        found = held_out_predictions(hat, sample.target, held_out)
        learning = np.ones((len(held_out), sample.n_obs), dtype=bool)
        np.put_along_axis(learning, held_out, False, axis=1)
        refitted = evaluate(sample, learner, "number", learning).values
        expected = np.take_along_axis(refitted, held_out, axis=1)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_many_responses_at_once():
    sample, rng = diabetes(40), np.random.default_rng(0)
    responses = rng.permuted(np.tile(sample.target[:, None], (1, 5)), axis=0)
    hat, held_out = hat_matrix(ridge(1.0), sample.matrix), sets_of(3, 40)
    together = held_out_predictions(hat, responses, held_out)
    for column, response in enumerate(responses.T):
        alone = held_out_predictions(hat, response, held_out)
        np.testing.assert_allclose(together[:, :, column], alone)


def test_the_hat_matrix_fits_all_observations():
    sample = diabetes(40)
    X = np.column_stack([np.ones(40), sample.matrix])
    fitted = X @ np.linalg.lstsq(X, sample.target, rcond=None)[0]
    np.testing.assert_allclose(hat_matrix(ridge(0.0), sample.matrix) @ sample.target, fitted)
