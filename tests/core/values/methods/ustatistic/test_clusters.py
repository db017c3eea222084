"""`UStatisticTest` on clusters, against enumeration of all sets of clusters."""

from itertools import combinations

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import clusters as oracle
from ucvtest.data.groups import Clusters, Groups
from ucvtest.kernels.ustatistic import placements
from ucvtest.kernels.ustatistic.contrasts import estimate, linear, share
from ucvtest.kernels.ustatistic.rows import Rows, Strata
from ucvtest.methods.ustatistic.auc_sizes import AucSizes
from ucvtest.methods.ustatistic.run import rows_of_part

SIZES = {6: [1, 4, 2, 3, 1, 2], 7: [2, 1, 3, 1, 1, 4, 2]}
G = 2


def sample(n_clusters):
    """Rows of unequal clusters, shuffled; features and labels have clusters in common."""
    rng = np.random.default_rng(n_clusters)
    index = np.repeat(np.arange(n_clusters), SIZES[n_clusters])
    shared = rng.normal(size=(n_clusters, 2))
    X = shared[index] + rng.normal(size=(len(index), 2))
    y = (X[:, 0] + rng.normal(size=len(index)) > 0).astype(int)
    order = rng.permutation(len(index))
    names = np.array(list("pqrstuv"))[index[order]]
    # Clusters are numbered as they first appear.
    return X[order], y[order], names, np.unique(names, return_inverse=True)[1]


def nearest_mean(X, y, X_new):
    labels = np.unique(y)
    means = np.array([X[y == label].mean(axis=0) for label in labels])
    return labels[((X_new[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)]


def first_label(X, y, X_new):
    return np.full(len(X_new), y.min())


def loss_of_rows(X, y, *learners):
    def losses(learnt):
        each = [learner(X[learnt], y[learnt], X) != y for learner in learners]
        return each[0] * 1.0 - (each[1] if len(each) > 1 else 0.0)

    return losses


@pytest.fixture(scope="module", params=SIZES)
def data(request):
    return sample(request.param)


@pytest.fixture(scope="module", params=[1, 2], ids=["one", "two"])
def learners(request):
    return (nearest_mean, first_label)[: request.param]


@pytest.mark.parametrize("weight", ["group", "row"])
def test_estimates_are_those_of_enumeration(data, learners, weight):
    X, y, names, index = data
    n_clusters = int(index.max()) + 1
    test = uv.UStatisticTest(X, y, *learners, learn_size=G, groups=names, group_weight=weight)
    result = test.fit("exact", variance="unbiased", interval="wald")
    sums = oracle.cluster_losses(loss_of_rows(X, y, *learners), index, G)
    phi, estimate = oracle.kernel(sums, index, G, weight)
    found = result.diagnostics
    assert result.estimate == pytest.approx(estimate, abs=1e-12)
    jackknife = oracle.jackknife(phi, n_clusters)
    assert found["variance_jackknife"] == pytest.approx(jackknife, abs=1e-12)
    assert result.variance == pytest.approx(oracle.unbiased(phi), abs=1e-12)
    assert result.n_obs == len(y)
    assert found["n_groups"] == n_clusters
    assert result.settings["group_weight"] == weight


@pytest.fixture(scope="module")
def larger():
    rng = np.random.default_rng(0)
    index = np.repeat(np.arange(10), rng.integers(1, 6, size=10))
    X = rng.normal(size=(10, 2))[index] + rng.normal(size=(len(index), 2))
    y = (X[:, 0] + rng.normal(size=len(index)) > 0).astype(int)
    return X, y, index


@pytest.mark.parametrize("weight", ["group", "row"])
def test_random_sets_agree_with_all_sets(larger, weight):
    X, y, index = larger
    rules = ("nearest_centroid", "knn:1")
    test = uv.UStatisticTest(X, y, *rules, learn_size=3, groups=index, group_weight=weight)
    exact = test.fit("exact", variance="clipped")
    drawn = test.fit(6000, variance="clipped", rng=1)
    for name in ("midpoint", "jackknife", "unbiased", "asymptotic"):
        key = f"variance_{name}"
        assert drawn.diagnostics[key] == pytest.approx(exact.diagnostics[key], rel=0.15)
    assert drawn.estimate == pytest.approx(
        exact.estimate, abs=5 * drawn.diagnostics["mc_se_estimate"]
    )
    of_learners = [each.tables["Learners"]["se"] for each in (drawn, exact)]
    np.testing.assert_allclose(*of_learners, rtol=0.1)


def score_of(X, y):
    """Difference of squared distances to the means, as "nearest_centroid" scores."""

    def score(learnt):
        if len(np.unique(y[learnt])) < 2:
            return np.zeros(len(y))
        means = [X[learnt & (y == label)].mean(axis=0) for label in (0, 1)]
        return ((X - means[0]) ** 2).sum(axis=1) - ((X - means[1]) ** 2).sum(axis=1)

    return score


@pytest.mark.parametrize("weight", ["group", "row"])
@pytest.mark.parametrize("n_clusters", SIZES)
def test_aucs_of_mixed_clusters_are_those_of_enumeration(n_clusters, weight):
    X, y, names, index = sample(n_clusters)
    test = uv.UStatisticTest(
        X, y, "nearest_centroid", loss="auc", learn_size=G, groups=names, group_weight=weight
    )
    result = test.fit("exact")
    sets = list(combinations(range(n_clusters), G))
    psi, pairs, theta = oracle.auc_kernel(score_of(X, y), index, y, sets, weight)
    assert result.estimate == pytest.approx(theta, abs=1e-12)
    samples = [range(n_clusters)]
    jackknife = oracle.auc_jackknife(oracle.auc_linear_part(psi, pairs, theta, samples), samples)
    assert result.variance == pytest.approx(jackknife, abs=1e-12)
    assert result.df == n_clusters - 1


@pytest.mark.parametrize("own", [False, True])
def test_aucs_of_three_classes_and_two_learners(own):
    """Random learning sets, some without a class; clusters of one class each are one sample too."""
    rng = np.random.default_rng(4)
    index = np.repeat(np.arange(14), rng.integers(1, 4, size=14))
    y = index % 3 if own else rng.integers(0, 3, size=len(index))
    X = rng.normal(size=(len(index), 2)) + np.eye(3)[y, :2]
    test = uv.UStatisticTest(X, y, "lda", "knn:3", loss="auc", learn_size=4, groups=index)
    exact, drawn = test.fit("exact"), test.fit(3000, rng=0)
    assert drawn.df == pytest.approx(13)
    error = 5 * drawn.diagnostics["mc_se_estimate"]
    assert drawn.estimate == pytest.approx(exact.estimate, abs=error)
    error = 5 * drawn.diagnostics["mc_se_variance"]
    assert drawn.variance == pytest.approx(exact.variance, abs=error)
    first, second = exact.tables["Learners"]["estimate"]
    assert first - second == pytest.approx(exact.estimate, abs=1e-12)


def test_scores_of_many_rows_are_few_at_a_time():
    clusters = Clusters(Groups(np.arange(20), np.repeat(np.arange(20), 1000)), "row")
    sizes = AucSizes.of((np.arange(20),), (9,), clusters=clusters, rankings=())
    assert rows_of_part(sizes) * 20_000 * 8 <= 2e8


def test_clusters_of_one_row_rank_as_rows_do():
    # The code of clusters, which such groups do not reach otherwise.
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 10)
    learnt = np.hstack([rng.permuted(np.tile(np.arange(10) < 4, (400, 1)), axis=1)] * 2)
    learnt[:, 10:] = rng.permuted(learnt[:, 10:], axis=1)
    scores = y + rng.normal(size=20) + 0.1 * rng.normal(size=(400, 20))
    strata, found = Strata(y, (4, 4)), []
    for clusters in (None, (np.arange(20), np.ones(20))):
        rows = Rows(strata, 1 if clusters is None else 2)
        v, draw = placements.two_classes(), np.arange(400)
        placed = placements.place_classes(strata, v, [scores], learnt, draw, rows.pair, clusters)
        rows.add(placed, learnt, draw)
        effects = rows.effects()
        contrast = linear([1], effects.u) if clusters is None else share(2, 0, 1, effects.u)
        found.append(estimate(effects, contrast))
    for name in ("midpoint", "jackknife"):
        assert found[1].variances[name] == pytest.approx(found[0].variances[name], rel=1e-9)
    assert found[1].value == pytest.approx(found[0].value, rel=1e-12)
