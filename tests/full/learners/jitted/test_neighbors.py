from collections import Counter

import numpy as np
import pytest

from tests.support.samples import breast_cancer, diabetes, evaluate, iris, learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.learners import knn
from ucvtest.learners.jitted import neighbors
from ucvtest.learners.jitted.neighbors import NearestNeighbors


def slow_knn(sample, k, learning):
    """Labels, shares of the last class and ties, one observation at a time."""
    labels, shares = (np.full(learning.shape, np.nan) for _ in range(2))
    ties = Counter(vote_ties=0, distance_ties=0)
    for row, members in enumerate(learning):
        rows = np.flatnonzero(members)
        for i in np.flatnonzero(~members):
            distance = ((sample.matrix[rows] - sample.matrix[i]) ** 2).sum(axis=1)
            order = sorted(range(len(rows)), key=lambda j: (distance[j], rows[j]))
            votes = sample.class_index[rows[order[:k]]].tolist()
            most = max(Counter(votes).values())
            winners = [code for code in votes if votes.count(code) == most]
            labels[row, i] = winners[0]
            shares[row, i] = votes.count(sample.n_classes - 1) / k
            ties["vote_ties"] += len(set(winners)) > 1
            if k < len(rows):
                ties["distance_ties"] += int(distance[order[k - 1]] == distance[order[k]])
    return labels, shares, ties


def rounded(sample):
    """The same sample with many equal distances, all of them exact in binary."""
    return make_sample(np.round(sample.matrix), sample.response, as_classes=True)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("make", [breast_cancer, iris], ids=["two classes", "three classes"])
def test_ties_follow_the_stated_rules_and_are_counted(make, k):
    sample = rounded(make())
    learning = learning_sets(sample, 40, 8)
    labels, shares, ties = slow_knn(sample, k, learning)
    found = evaluate(sample, knn(k), "label", learning)
    np.testing.assert_array_equal(found.values, labels)
    assert found.ties == ties
    assert ties["distance_ties"] > 0
    assert (ties["vote_ties"] > 0) == (k % 2 == 0 or (k > 2 and sample.n_classes > 2))
    if sample.n_classes == 2:
        score = evaluate(sample, knn(k), "score", learning)
        np.testing.assert_array_equal(score.values, shares)
        assert score.ties == {"distance_ties": ties["distance_ties"]}


def test_a_class_absent_from_a_learning_set_is_never_predicted():
    sample = iris()
    learning = learning_sets(sample, 60, 3) & (sample.class_index != np.arange(3)[:, None])
    found = evaluate(sample, knn(3), "label", learning).values
    np.testing.assert_array_equal(found, slow_knn(sample, 3, learning)[0])


def test_more_than_127_neighbours_do_not_overflow():
    rng = np.random.default_rng(0)
    sample = make_sample(rng.normal(size=(320, 2)), np.arange(320) % 2, as_classes=True)
    learning = learning_sets(sample, 310, 2)
    found = evaluate(sample, knn(300), "label", learning)
    labels, _, ties = slow_knn(sample, 300, learning)
    np.testing.assert_array_equal(found.values, labels)
    assert found.ties == ties


@pytest.mark.parametrize("output", ["label", "score"])
def test_a_learning_set_smaller_than_k_names_the_split(output):
    sample = breast_cancer()
    learning = learning_sets(sample, 9, 3)
    learning[2, np.flatnonzero(learning[2])[0]] = False
    with pytest.raises(ValueError, match=r"on split 2 .* fewer observations than neighbours .*use"):
        evaluate(sample, knn(9), output, learning)


@pytest.mark.parametrize(
    ("sample", "output", "ties"),
    [
        (rounded(breast_cancer(200)), "label", "nearest"),
        (rounded(breast_cancer(200)), "label", "second"),
        (breast_cancer(200), "score", "first"),
        (rounded(iris()), "label", "first"),
        (diabetes(160), "number", "nearest"),
    ],
    ids=["tied", "tied and open", "shares", "three classes", "numbers"],
)
def test_neighbours_that_are_not_kept_are_sorted_again(sample, output, ties, monkeypatch):
    """Of large samples only the nearest are kept; sets of few members need those farther away."""
    learner = NearestNeighbors(4, ties)
    learning = np.concatenate([learning_sets(sample, size, 6) for size in (5, 8, 100)])
    labels = np.random.default_rng(0).permuted(np.tile(sample.target, (len(learning), 1)), axis=1)

    def predicted():
        state = learner.prepare(sample)
        known = learner.predict(state, learning, output, ~learning)
        other = learner.predict(state, learning[:1], output, None, labels)
        return state.data.shared[0][0].shape, known, other

    size, *expected = predicted()
    monkeypatch.setattr(neighbors, "KEPT_BYTES", 1)
    monkeypatch.setattr(neighbors, "BLOCK_NUMBERS", 50 * sample.n_obs)
    fewer, *found = predicted()
    assert fewer == (32, size[1])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours.values, theirs.values)
        assert ours.ties == theirs.ties
