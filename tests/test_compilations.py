import time

import numpy as np
import pytest
from resampling import learning_sets

from ucvtest.evaluation import Evaluator
from ucvtest.learners.base import JittedLearner, padded_rows, padded_size
from ucvtest.learners.coerce import as_learner
from ucvtest.learners.discriminant import _jitted_scores
from ucvtest.learners.logistic import _newton
from ucvtest.learners.neighbors import _collect
from ucvtest.learners.ridge import _primal, dual
from ucvtest.sample import make_sample

COMPILED = {
    "lda": _jitted_scores,
    "ridge:1.0": _primal,
    "knn:3": _collect,
    "logistic:1.0": _newton,
    "qda": _jitted_scores,
    "gaussian_nb": _jitted_scores,
    "nearest_centroid": _jitted_scores,
}

EVERY_LEARNER = [
    *COMPILED,
    "elastic_net:0.1,0.5",
    "kernel_ridge:1.0,kernel=rbf",
    "lasso:0.1",
    "majority",
]


def two_classes(n_obs, n_columns=3):
    rng = np.random.default_rng(0)
    y = np.arange(n_obs) % 2
    return make_sample(rng.normal(size=(n_obs, n_columns)) + y[:, None], y, as_classes=True)


@pytest.mark.parametrize("name", COMPILED)
def test_two_hundred_sizes_need_a_handful_of_compilations(name):
    learner, before = as_learner(name), COMPILED[name]._cache_size()
    # A logistic regression fits as many sets as a call has rows while it prepares.
    for n_obs in range(21, 221, 20 if "logistic" in name else 1):
        sample = two_classes(n_obs, 2)
        rows = learner.rows_per_call(sample) if "logistic" in name else 4
        learner.scores(learner.prepare(sample), learning_sets(sample, n_obs // 2, rows))
    # Multiples of 32 from 32 to 224.
    assert COMPILED[name]._cache_size() - before <= 7


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n_columns"), [("ridge:1.0", 300), ("kernel_ridge:1.0,kernel=rbf", 2)]
)
def test_two_hundred_sizes_of_dual_systems(name, n_columns):
    learner, before = as_learner(name), dual._cache_size()
    for n_obs in range(21, 221):
        sample = two_classes(n_obs, n_columns)
        learner.scores(learner.prepare(sample), learning_sets(sample, n_obs // 2, 4))
    # 13 sizes of systems, multiples of 8 from 16 to 112, and 7 of samples, which rise together.
    assert dual._cache_size() - before <= 13 + 7 - 1


@pytest.mark.parametrize("name", EVERY_LEARNER)
def test_company_and_size_change_only_the_last_digits(name):
    """A sample inside a larger one: the observations never learnt from change nothing."""
    whole = two_classes(70)
    part = make_sample(whole.matrix[:40], whole.response[:40], as_classes=True)
    learning = learning_sets(part, 24, 10)
    longer = np.pad(learning, ((0, 0), (0, 30)))
    alone, inside = (
        Evaluator(sample, as_learner(name), "score").predict(rows, ~rows, np.arange(10)).values
        for sample, rows in ((part, learning), (whole, longer))
    )
    np.testing.assert_allclose(inside[:, :40], alone, rtol=1e-9, atol=1e-9)


def test_padding():
    assert [padded_size(n) for n in (1, 32, 33)] == [32, 32, 64]
    padded = padded_rows(np.ones((3, 33)), axis=1)
    assert padded.shape == (3, 64)
    assert padded.sum() == 99


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", EVERY_LEARNER)
def test_twenty_batches_of_ten_thousand_end(name):
    """XLA on the CPU can deadlock: the time limit of the test is the watchdog."""
    sample = two_classes(40, 2)
    learner = as_learner(name)
    assert isinstance(learner, JittedLearner)
    evaluator = Evaluator(sample, learner, "label")
    learning = learning_sets(sample, 20, 10_000)
    start = time.perf_counter()
    for _ in range(20):
        predicted = evaluator.predict(learning, ~learning, np.arange(10_000)).values
    assert np.isfinite(predicted[~learning]).all()
    assert time.perf_counter() - start < 500
