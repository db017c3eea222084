import itertools
from collections import Counter

import numpy as np
import pytest

from ucvtest.kernels.permutation import SAMPLINGS
from ucvtest.methods.permutation.labelings import Labelings

Y = np.array([2.0, 0.0, 1.0, 0.0, 2.0, 2.0])


def everything(labelings, size):
    labels, probability = zip(*labelings.every(size), strict=True)
    return np.concatenate(labels), np.concatenate(probability)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_all_permutations_once(size):
    labelings = Labelings(Y)
    labels, probability = everything(labelings, size)
    expected = Counter(itertools.permutations(Y.tolist()))
    assert set(map(tuple, labels.tolist())) == set(expected)
    assert len(labels) == labelings.number == len(expected) == 60
    np.testing.assert_allclose(probability, 1 / 60)


@pytest.mark.parametrize("sampling", ["bootstrap", "rademacher"])
def test_all_drawings_with_their_probability(sampling):
    labelings = Labelings(np.array([0.0, 1.0, 1.0, 0.0, 1.0]), sampling)
    reference = labelings.reference
    counts = Counter(itertools.product(reference.tolist(), repeat=5))
    labels, probability = everything(labelings, 10)
    assert len(labels) == labelings.number == len(counts) == 32
    for row, share in zip(labels.tolist(), probability, strict=True):
        assert share == pytest.approx(counts[tuple(row)] / len(reference) ** 5)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_draws_do_not_depend_on_how_many_are_asked_for(sampling):
    def draw(sizes):
        rng, labelings = np.random.default_rng(5), Labelings((Y > 0) * 1.0, sampling)
        return np.vstack([labelings.draw(rng, size) for size in sizes])

    np.testing.assert_array_equal(draw([9]), draw([2, 3, 4]))


def test_what_is_drawn():
    rng, target = np.random.default_rng(0), np.array([0.0, 1.0, 1.0, 1.0, 1.0])
    drawn = {each: Labelings(target, each).draw(rng, 4000) for each in SAMPLINGS}
    assert (drawn["permutation"].sum(axis=1) == 4).all()
    # Five standard errors of 20 000 independent labels.
    assert abs(drawn["bootstrap"].mean() - 0.8) < 5 * np.sqrt(0.16 / 20_000)
    assert abs(drawn["rademacher"].mean() - 0.5) < 5 * np.sqrt(0.25 / 20_000)
    assert len(np.unique(drawn["bootstrap"].sum(axis=1))) > 2
