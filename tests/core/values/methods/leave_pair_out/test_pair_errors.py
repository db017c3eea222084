"""Errors of pairs, some of them at a time."""

import numpy as np

from tests.support.samples import breast_cancer
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.methods.leave_pair_out import pair_errors as module


def test_pairs_of_one_labeling_may_come_in_parts(monkeypatch):
    sample = breast_cancer(24, 2)
    labels = sample.target.astype(bool)
    labelings = np.stack([labels, np.roll(labels, 5)])
    found = []
    for cells in (4_000_000, 24 * 17, 24):
        monkeypatch.setattr(module, "CELLS_PER_BATCH", cells)
        errors = module.pair_errors(sample, as_learner("nearest_centroid"))
        found.append(errors.count(labelings, np.random.default_rng(0)))
    for wrong, tied in found[1:]:
        np.testing.assert_array_equal(wrong, found[0][0])
        np.testing.assert_array_equal(tied, found[0][1])
    assert (found[0][0] > 0).all()
