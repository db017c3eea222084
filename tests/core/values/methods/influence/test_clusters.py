"""Influence values of clusters: all learning sets of G = 6 and 7, and deletion of clusters."""

from collections.abc import Callable, Iterator
from itertools import combinations, product

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.data.groups import Clusters, as_groups
from ucvtest.kernels.influence.clusters import ClusterPairCounts, ClusterPairs, with_offset
from ucvtest.kernels.influence.estimate import Influence, Rows
from ucvtest.kernels.influence.sums import LossCounts

SIZES = {6: [1, 3, 2, 1, 4, 2], 7: [2, 1, 3, 1, 2, 4, 1]}
WEIGHTS = ("group", "row")

each_weight = pytest.mark.parametrize("weight", WEIGHTS)
each_number = pytest.mark.parametrize("n_groups", list(SIZES))


class Data:
    """Rows of a few clusters, and a rule that learns the direction between the class means."""

    def __init__(self, n_groups: int, weight: str, *, pure: bool = False) -> None:
        rng = np.random.default_rng(n_groups)
        self.index = rng.permutation(np.repeat(np.arange(n_groups), SIZES[n_groups]))
        groups = as_groups(self.index, len(self.index))
        assert groups is not None
        self.index = groups.index
        self.clusters = Clusters(groups, weight)
        of_cluster = np.arange(n_groups) % 2
        self.y = of_cluster[self.index] if pure else rng.permutation(np.arange(len(self.index)) % 2)
        common = rng.normal(size=(n_groups, 2))[self.index]
        self.X = np.round(common + rng.normal(size=(len(self.index), 2)) + self.y[:, None], 1)
        self.n_groups = n_groups

    def scores(self, learnt: tuple[int, ...]) -> np.ndarray:
        rows = np.isin(self.index, learnt)
        means = [
            self.X[rows & (self.y == code)].mean(axis=0) if (rows & (self.y == code)).any() else 0.0
            for code in (0, 1)
        ]
        return self.X @ np.broadcast_to(means[1] - means[0], 2)

    def losses(self, learnt: tuple[int, ...]) -> np.ndarray:
        return ((self.scores(learnt) > 0.8) != self.y).astype(float)

    def row_weights(self) -> np.ndarray:
        found = np.ones(len(self.y))
        if self.clusters.weight == "group":
            for row in range(len(self.y)):
                found[row] = 1 / ((self.index == self.index[row]) & (self.y == self.y[row])).sum()
        return found


def rows_of(learning: list[tuple[int, ...]], n_groups: int) -> Rows:
    learnt = np.array([np.isin(np.arange(n_groups), each) for each in learning])
    return Rows(~learnt, learnt, np.arange(len(learning)))


def jackknife(
    kernel: Callable[[tuple[int, ...]], float], samples: tuple[tuple[int, ...], ...]
) -> float:
    """The delete-one jackknife of a statistic of clusters, sample by sample."""
    found = 0.0
    everything = tuple(c for sample in samples for c in sample)
    for sample in samples:
        left = [kernel(tuple(c for c in everything if c != one)) for one in sample]
        n = len(sample)
        found += (n - 1) / n * sum((each - kernel(everything)) ** 2 for each in left)
    return found


# ------------------------------------------------------------------------------------- mean losses


@each_weight
@each_number
@pytest.mark.parametrize("learn_size", [2, 3])
def test_error_rate_equals_enumeration_and_deletion(n_groups, weight, learn_size):
    data = Data(n_groups, weight)
    sets = list(combinations(range(n_groups), learn_size))
    sizes = data.clusters.groups.sizes
    losses = {learnt: data.losses(learnt) for learnt in sets}
    sums = {learnt: np.bincount(data.index, each) for learnt, each in losses.items()}
    tested = {c: [sums[learnt][c] for learnt in sets if c not in learnt] for c in range(n_groups)}
    total = np.array([np.mean(tested[c]) for c in range(n_groups)])
    theta = (total / sizes).mean() if weight == "group" else total.sum() / sizes.sum()

    def kernel_of(learnt: tuple[int, ...], c: int) -> float:
        if weight == "group":
            return sums[learnt][c] / sizes[c]
        return theta + (sums[learnt][c] - theta * sizes[c]) / sizes.mean()

    def kernel(sample: tuple[int, ...]) -> float:
        return float(
            np.mean(
                [
                    kernel_of(learnt, c)
                    for learnt in combinations(sample, learn_size)
                    for c in sample
                    if c not in learnt
                ]
            )
        )

    rows = rows_of(sets, n_groups)
    passes = LossCounts.of(n_groups, len(sets), [rows]).sums()
    passes.add(rows, data.clusters.sums(np.array([losses[learnt] for learnt in sets])))
    found = with_offset(passes.influence([rows]), data.clusters.offset)
    assert found.estimate == pytest.approx(theta, rel=1e-12)
    repaired = found.repaired(np.full(n_groups, float(n_groups - learn_size)))
    assert repaired.variance == pytest.approx(jackknife(kernel, (tuple(range(n_groups)),)))


# ------------------------------------------------------------------------------ areas under curves


def auc_of(data: Data, sets: list[tuple[int, ...]]) -> Influence:
    pairs = ClusterPairs.of(data.clusters, data.y == 1)
    rows = rows_of(sets, data.n_groups)
    passes = ClusterPairCounts.of_pairs(pairs, len(sets), [rows]).sums()
    passes.add(rows, np.array([data.scores(learnt) for learnt in sets]))
    return passes.influence([rows])


class PairKernel:
    """The AUC over pairs of different clusters, linear at the theta of the whole sample."""

    def __init__(self, data: Data, sets: Callable[[tuple[int, ...]], Iterator[tuple[int, ...]]]):
        self.data, self.sets, self.w = data, sets, data.row_weights()
        everything = tuple(range(data.n_groups))
        self.v = {
            (a, b): sum(self.w[i] * self.w[j] for i, j in self.rows(a, b))
            for a, b in product(everything, repeat=2)
            if a != b
        }
        self.theta, self.scale = 0.0, 1.0
        counted = {pair: v for pair, v in self.v.items() if v}
        shares = {pair: np.mean(self.shares(pair, everything)) for pair in counted}
        self.theta = sum(shares.values()) / sum(counted.values())
        self.n_pairs = len(counted)
        self.scale = sum(counted.values())

    def rows(self, a: int, b: int) -> list[tuple[int, int]]:
        data = self.data
        first = np.flatnonzero((data.index == a) & (data.y == 1))
        return list(product(first, np.flatnonzero((data.index == b) & (data.y == 0))))

    def shares(self, pair: tuple[int, int], sample: tuple[int, ...]) -> list[float]:
        found = []
        for learnt in self.sets(sample):
            if not set(pair) & set(learnt):
                s = self.data.scores(learnt)
                right = [((s[i] > s[j]) + 0.5 * (s[i] == s[j]), i, j) for i, j in self.rows(*pair)]
                found.append(sum(self.w[i] * self.w[j] * each for each, i, j in right))
        return found

    def mean(self, sample: tuple[int, ...], possible: list[tuple[int, int]]) -> float:
        """Mean over pairs of the linear kernel; unordered pairs count once."""
        total = sum(
            np.mean(self.shares(pair, sample)) - self.theta * self.v[pair]
            for pair in possible
            if self.v[pair]
        )
        return float(total / len(possible))


@each_weight
@each_number
def test_auc_of_mixed_clusters_equals_enumeration_and_deletion(n_groups, weight):
    data, g = Data(n_groups, weight), 3
    kernel = PairKernel(data, lambda sample: combinations(sample, g))
    scale = kernel.scale / (n_groups * (n_groups - 1))

    def statistic(sample: tuple[int, ...]) -> float:
        possible = [(a, b) for a, b in product(sample, repeat=2) if a != b]
        return kernel.mean(sample, possible) / scale

    found = auc_of(data, list(combinations(range(n_groups), g)))
    assert found.estimate == pytest.approx(kernel.theta, rel=1e-12)
    repaired = found.repaired(np.full(n_groups, float(n_groups - g)))
    assert repaired.variance == pytest.approx(jackknife(statistic, (tuple(range(n_groups)),)))
    assert abs(found.values.sum()) < 1e-9


@each_weight
@each_number
def test_auc_of_clusters_of_one_label_equals_enumeration_and_deletion(n_groups, weight):
    data = Data(n_groups, weight, pure=True)
    label = data.clusters.groups.classes(data.y)
    assert label is not None
    samples = tuple(tuple(np.flatnonzero(label == code).tolist()) for code in (1, 0))

    def sets(sample: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        each = [[c for c in sample if label[c] == code] for code in (1, 0)]
        for first, second in product(*(combinations(of_class, 1) for of_class in each)):
            yield (*first, *second)

    kernel = PairKernel(data, sets)
    scale = kernel.scale / (len(samples[0]) * len(samples[1]))

    def statistic(sample: tuple[int, ...]) -> float:
        possible = [(a, b) for a in samples[0] for b in samples[1] if {a, b} <= set(sample)]
        return kernel.mean(sample, possible) / scale

    found = auc_of(data, list(sets(tuple(range(n_groups)))))
    assert found.estimate == pytest.approx(kernel.theta, rel=1e-12)
    n_tested = np.array([len(samples[0 if label[c] else 1]) - 1.0 for c in range(n_groups)])
    assert found.repaired(n_tested).variance == pytest.approx(jackknife(statistic, samples))


# ---------------------------------------------------------------------- kernels and the test class


@each_weight
@pytest.mark.parametrize("pure", [True, False])
def test_kernels_are_the_sums_of_the_test(weight, pure):
    data = Data(7, weight, pure=pure)
    rng = np.random.default_rng(0)
    if pure:
        label = data.clusters.groups.classes(data.y)
        order = np.argsort(rng.random((60, 7)) + 2 * label, axis=1)
        sets = [tuple(row) for row in order[:, [0, 1, 4]].tolist()]
    else:
        sets = [tuple(row) for row in np.argsort(rng.random((60, 7)), axis=1)[:, :3].tolist()]
    tested = np.array([~np.isin(data.index, each) for each in sets])
    options = {"groups": data.index, "group_weight": weight}
    scores = np.array([data.scores(each) for each in sets])
    expected = auc_of(data, sets)
    found = uv.kernels.influence.auc(scores, tested, data.y, **options)
    assert found["auc"] == expected.estimate
    assert found["se"] ** 2 == pytest.approx(expected.variance)
    assert ("u" in found) == (not pure)
    losses = np.array([data.losses(each) for each in sets])
    error = uv.kernels.influence.error(losses, tested, **options)
    assert error["u"].shape == (7,)
    assert abs(error["u"].sum()) < 1e-9


N_GROUPS = 18
PATIENT = np.repeat(np.arange(N_GROUPS), np.arange(N_GROUPS) % 3 + 1)
RNG = np.random.default_rng(5)
COMMON = RNG.normal(size=N_GROUPS)[PATIENT]
X = np.column_stack([COMMON + RNG.normal(size=len(PATIENT)), RNG.normal(size=len(PATIENT))])
MIXED = (COMMON + RNG.normal(size=len(PATIENT)) > 0).astype(int)
LEARNERS = ("nearest_centroid", "ridge:1.0")


@pytest.mark.parametrize("metric", ["auc", "error"])
def test_losses_that_exist_give_the_same(metric):
    learning = np.array([np.isin(PATIENT, RNG.permutation(N_GROUPS)[:12]) for _ in range(80)])
    splits = [(np.flatnonzero(row), np.flatnonzero(~row)) for row in learning]
    learners = LEARNERS if metric == "auc" else ("nearest_centroid", "majority")
    loss = "auc" if metric == "auc" else "zero_one"
    losses = uv.evaluate(learners, X, MIXED, splits, loss, groups=PATIENT, rng=0)
    for weight in WEIGHTS:
        found = uv.InfluenceFunctionTest.from_losses(losses, group_weight=weight).fit()
        options = {"groups": PATIENT, "group_weight": weight}
        each = []
        for place in range(2):
            values = np.zeros(learning.shape)
            values[~learning] = losses.known_values[place]
            if metric == "auc":
                each.append(uv.kernels.influence.auc(values, ~learning, MIXED, **options))
            else:
                each.append(uv.kernels.influence.error(values, ~learning, **options))
        assert found.estimate == pytest.approx(each[0][metric] - each[1][metric])
        values = found.diagnostics["influence"]
        np.testing.assert_allclose(values, each[0]["u"] - each[1]["u"], atol=1e-9)
