"""Paths of penalties give the numbers of the single learners, and fit each learning set once."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ucvtest as uv
from ucvtest.data.sample import make_sample
from ucvtest.learners.jitted import regularization_paths
from ucvtest.learners.jitted.regularization_paths import on_paths


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 60)), np.repeat([0, 1], 20)
    X[:, :3] += 0.8 * y[:, None]
    return make_sample(X, y, as_classes=True)


@pytest.fixture(scope="module")
def learning():
    rng = np.random.default_rng(1)
    found = np.zeros((12, 40), dtype=bool)
    found[:, :19] = True
    return rng.permuted(found, axis=1)


PATHS = {
    "lasso": uv.learners.lasso_path([0.3, 0.02, 0.1, 0.6]),
    "lasso in own units": uv.learners.lasso_path([3.0, 1.5, 0.4], False, "sum"),
    "elastic net": tuple(uv.learners.elastic_net(lam, 0.5) for lam in (0.5, 0.2, 0.05)),
    "ridge": uv.learners.ridge_path([100.0, 0.1, 3.0]),
    "ridge, mean, intercept": uv.learners.ridge_path([1.0, 0.3, 0.01], True, "mean"),
}


@pytest.mark.parametrize("title", PATHS)
def test_scores_are_those_of_the_single_learners(sample, learning, title):
    members = PATHS[title]
    joined = on_paths({each.name: each for each in members})
    for name, learner in zip(joined, members, strict=True):
        assert joined[name] is not learner
        assert joined[name].name == name
        state = joined[name].prepare(sample)
        found = joined[name].scores(state, learning)
        alone = learner.scores(learner.prepare(sample), learning)
        assert_allclose(found, alone, rtol=1e-5, atol=1e-6)
        # The null model exactly, which a tie of a balanced learning set hangs on.
        null = np.log(learning @ sample.target / (~sample.target.astype(bool) & learning).sum(1))
        is_null = (alone == null[:, None]).all(axis=1)
        assert_array_equal(found[is_null], alone[is_null])


def test_learning_sets_are_fitted_once_for_all(sample, learning, monkeypatch):
    calls = []
    members = uv.learners.ridge_path([3.0, 1.0, 0.1])
    whole = type(members[0]).path_scores

    def counted(self, state, sets, each):
        calls.append(len(sets))
        return whole(self, state, sets, each)

    monkeypatch.setattr(type(members[0]), "path_scores", counted)
    joined = on_paths(dict(enumerate(members)))
    (path,) = {each._path for each in joined.values()}
    twice = np.concatenate([learning, learning[:3]])
    for learner in joined.values():
        found = learner.scores(learner.prepare(sample), twice)
        assert_array_equal(found[:3], found[12:])
    assert calls == [12]
    assert not path.fitted_scores


def test_learners_of_other_kinds_and_few_of_one_kind_stay_as_they_are():
    learners = {
        "a": uv.learners.lasso(0.1),
        "b": uv.learners.lasso(0.2),
        "c": uv.learners.lda(),
        "d": uv.learners.lasso(0.3, standardize=False),
    }
    assert on_paths(learners) == learners


def test_a_comparison_is_the_same_with_and_without_paths(sample, monkeypatch):
    X, y = sample.matrix, sample.response
    test = uv.TestSpec("ustatistic", fit={"n_pairs": 60})
    settings = {"correction": "simultaneous", "baseline": 0, "rng": 0}
    found = uv.compare(X, y, ["ridge_path:4"], test, **settings)
    monkeypatch.setattr(regularization_paths, "FEWEST", 100)
    alone = uv.compare(X, y, ["ridge_path:4"], test, **settings)
    assert found.learners == ("ridge:10000.0", "ridge:100.0", "ridge:1.0", "ridge:0.01")
    assert_allclose(found.frame["estimate"], alone.frame["estimate"], atol=1e-9)
    assert_allclose(found.frame["se"], alone.frame["se"], atol=1e-9)
