"""What can be passed beside groups=, and what is said of what cannot."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold

import ucvtest as uv

INDEX = np.repeat(np.arange(20), 2)
Y = np.random.default_rng(0).integers(0, 2, size=40)
X = np.random.default_rng(1).normal(size=(40, 2)) + Y[:, None]
THREE = np.where(INDEX == 3, 2, Y)
"""With a third class in one group only."""


def test_a_splitter_by_groups_takes_groups_of_one_row():
    found = uv.evaluate("majority", X, Y, GroupKFold(5), groups=np.arange(40), rng=0)
    assert found.design.test_sizes == (8,)
    assert found.groups is None
    test = uv.CorrectedTTest(X, Y, "majority", design=GroupKFold(5), groups=np.arange(40))
    assert test.fit(rng=0).estimand


def test_a_number_as_cv_is_folds_of_groups():
    found = uv.evaluate("majority", X, Y, cv=5, groups=INDEX, rng=0)
    own = uv.designs.KFold(5, stratify=True)
    same = uv.evaluate("majority", X, Y, own, groups=INDEX, rng=0)
    assert (found.design.testing == same.design.testing).all()
    real = uv.CorrectedTTest(X, X[:, 0], "ridge:1", cv=5, groups=INDEX)
    assert real.design == uv.designs.KFold(5)


def test_a_rare_class_in_one_group_is_refused_where_sets_are_scored():
    for loss in (None, "zero_one", "log"):
        losses = uv.evaluate("lda", X, THREE, 4, loss, groups=INDEX, rng=0)
        assert np.isfinite(losses.means).all()
    message = r"class 2 is in one group only \(3\), which is either learnt from or tested"
    with pytest.raises(ValueError, match=message):
        uv.evaluate("lda", X, THREE, 4, groups=INDEX, scoring="balanced_accuracy")
    with pytest.raises(ValueError, match=message):
        uv.UStatisticTest(X, THREE, "lda", groups=INDEX, loss="auc")


def test_rounding_makes_no_auc_above_one():
    # Of two learners sums are taken in another order than of one.
    index = np.repeat(np.arange(20), np.arange(20) % 8 + 1)
    y = np.random.default_rng(5).integers(0, 2, size=len(index))
    features = np.random.default_rng(6).normal(size=(len(y), 2)) + 3 * y[:, None]
    test = uv.CorrectedTTest(features, y, "lda", "gaussian_nb", loss="auc", groups=index)
    assert abs(test.fit(rng=0).estimate) < 0.2


def test_identical_rows_are_said_to_be_told_by_groups():
    with pytest.warns(UserWarning, match=r"Name the rows of each unit \(groups\)"):
        uv.UStatisticTest(np.repeat(X, 2, axis=0), np.repeat(Y, 2), "lda")
