"""What a call returns is equal to its copy, whatever it contains, and unequal to anything else."""

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

import ucvtest as uv
from ucvtest.advice.configured_tests import PROCEDURES
from ucvtest.common.equality import same

X = np.random.default_rng(0).normal(size=(40, 2))
Y = (X[:, 0] + np.random.default_rng(1).normal(size=40) > 0).astype(int)


def copies(value):
    return [pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)]


def test_results_with_nan_and_arrays():
    result = uv.NaiveTTest(X, Y, "lda").fit(rng=0)
    assert np.isnan(result.pvalue)
    full = replace(result, diagnostics={"a": np.array([1.0, np.nan]), "b": (np.nan, "x")})
    assert all(other == full for other in copies(full))
    assert replace(full, diagnostics={"a": np.array([1.0, 2.0]), "b": (np.nan, "x")}) != full
    assert replace(full, diagnostics={"a": np.array([1.0]), "b": (np.nan, "x")}) != full
    assert replace(full, pvalue=0.5) != full


def test_comparisons():
    found = uv.compare(X, Y, ["lda", "knn:3", "majority"], ["naive_t", "corrected_t"], rng=0)
    assert all(other == found for other in copies(found))
    assert uv.Comparison.from_dict(json.loads(found.to_json())) == found
    assert replace(found, correction=None) != found


def test_advice():
    advice = uv.advise(100)
    assert all(other == advice for other in copies(advice))
    assert uv.advise(100) == advice
    assert uv.advise(101) != advice


def test_model_selections():
    chosen = uv.select_model(X, Y, ["lda", "knn:3"], rng=0, n_permutations=5)
    for other in copies(chosen):
        assert other == chosen
        assert not other.columns["permutation"].flags.writeable
    assert replace(chosen, criterion="loo") != chosen


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"design": uv.designs.KFold(5)},
        {"design": ShuffleSplit(3, random_state=0)},
        {"design": [(np.arange(20), np.arange(20, 40)), (np.arange(30), np.arange(30, 40))]},
    ],
)
def test_specs(options):
    spec = uv.TestSpec("corrected_t", options)
    assert all(other == spec for other in copies(spec))
    assert hash(uv.TestSpec("corrected_t", options)) == hash(spec)
    assert uv.TestSpec("naive_t", options) != spec
    assert uv.TestSpec("corrected_t", {"design": uv.designs.KFold(4)}) != spec


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (np.nan, float("nan"), True),
        (np.nan, 0.0, False),
        (np.nan, "nan", False),
        ((1, [np.nan]), (1, [np.nan]), True),
        (np.array(["a"]), np.array(["a"]), True),
        (np.array([None, np.nan], dtype=object), np.array([None, np.nan], dtype=object), True),
        (np.array([1.0]), [1.0, 2.0], False),
        ({"a": 1}, {"b": 1}, False),
        (ShuffleSplit(3), ShuffleSplit(3), True),
        (ShuffleSplit(3), ShuffleSplit(4), False),
        (object(), object(), False),
        (uv.Losses, uv.Loss, False),
    ],
)
def test_equality(one, other, expected):
    assert same(one, other) is expected


@pytest.mark.parametrize("n_obs", [20, 33, 40, 101, 350])
def test_learning_sets_of_procedures_are_as_large_as_drawn_ones(n_obs):
    for procedure in PROCEDURES.values():
        if procedure.design is None or procedure.test == "NestedCrossValidationTest":
            continue
        drawn = procedure.design.draw(n_obs, np.random.default_rng(0))
        assert procedure.learn_size(n_obs) == drawn.learning[0].sum()


def test_advice_for_huge_samples_draws_nothing():
    for n in (10**7, 10**30):
        advice = uv.advise(n)
        assert advice.n_obs == n
        assert not advice.promises
