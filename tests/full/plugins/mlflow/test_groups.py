"""Groups of observations among the parameters that MLflow is told."""

import numpy as np
import pytest

import ucvtest as uv

pytest.importorskip("mlflow")
content = pytest.importorskip("ucvtest_mlflow.content")

INDEX = np.repeat(np.arange(20), np.arange(20) % 4 + 1)
Y = np.random.default_rng(0).integers(0, 2, size=50)
X = np.random.default_rng(1).normal(size=(50, 2)) + Y[:, None]


def logged(outcome):
    return {each.key: each.value for each in content.params(outcome, "u")}


def test_number_and_sizes_of_groups_are_parameters():
    groups = {"u.n_groups": "20", "u.smallest_group": "1", "u.largest_group": "4"}
    compared = uv.compare(X, Y, ["lda", "majority"], "corrected_t", groups=INDEX, rng=0)
    result = uv.CorrectedTTest(X, Y, "lda", groups=INDEX, group_weight="row").fit(rng=0)
    for outcome, weight in ((compared, "group"), (result, "row")):
        found = logged(outcome)
        assert groups.items() <= found.items()
        assert found["u.group_weight"] == weight


def test_without_groups_there_are_none():
    found = logged(uv.CorrectedTTest(X, Y, "lda").fit(rng=0))
    assert not [name for name in found if "group" in name]
