"""Kernels that take a cluster for each row, against enumeration over G = 6 and 7 clusters."""

from itertools import combinations, product

import numpy as np
import pytest

from tests.oracles import clusters as oracle
from ucvtest.kernels import auc_ustatistic, leave_pair_out, permutation
from ucvtest.kernels.ustatistic.columns import RankedMixed, Ranking
from ucvtest.kernels.ustatistic.contrasts import estimate
from ucvtest.kernels.ustatistic.placements import hand_till
from ucvtest.kernels.ustatistic.rows import Rows, Strata
from ucvtest.stats.cluster_permutation import ExchangeableLabels

SIZES = {6: [1, 4, 2, 3, 1, 2], 7: [2, 1, 3, 1, 1, 4, 2]}
NAMES = np.array(list("pqrstuv"))

each_weight = pytest.mark.parametrize("weight", ["group", "row"])
each_number = pytest.mark.parametrize("n_clusters", list(SIZES))


def rows_of(n_clusters):
    """Labels and clusters of rows, some clusters with both labels, in mixed order."""
    rng = np.random.default_rng(n_clusters)
    index = rng.permutation(np.repeat(np.arange(n_clusters), SIZES[n_clusters]))
    y = rng.integers(0, 2, size=len(index))
    y[np.flatnonzero(index == 5)] = (0, 1) if n_clusters == 6 else (0, 1, 0, 1)
    return y, index, NAMES[index]


class TestFromScores:
    """U, J and the degrees of freedom equal those of all learning sets."""

    @each_weight
    @each_number
    def test_mixed_clusters(self, n_clusters, weight):
        y, index, names = rows_of(n_clusters)
        sets = list(combinations(range(n_clusters), 2))
        learnt = np.array([np.isin(index, each) for each in sets])
        table = np.round(np.random.default_rng(0).normal(size=learnt.shape), 1)
        psi, pairs, theta = oracle.auc_kernel(
            lambda rows: table[(learnt == rows).all(axis=1)][0], index, y, sets, weight
        )
        scores = np.where(learnt, np.nan, table)
        options = {"exact": True, "group_weight": weight, "groups": names}
        found = auc_ustatistic.from_scores(scores, learnt, y, **options)
        assert found["auc"] == pytest.approx(theta, abs=1e-12)
        samples = [range(n_clusters)]
        linear = oracle.auc_linear_part(psi, pairs, theta, samples)
        jackknife = oracle.auc_jackknife(linear, samples)
        assert found["variance"] == pytest.approx(jackknife, abs=1e-12)
        assert found["u"].shape == (n_clusters,)
        assert (found["u"] ** 2).sum() / n_clusters / (n_clusters - 1) == pytest.approx(jackknife)
        assert found["df"] == n_clusters - 1
        swapped = auc_ustatistic.from_scores(-scores, learnt, 1 - y, scores, **options)
        assert swapped["auc"] == pytest.approx(
            auc_ustatistic.from_scores(scores, learnt, 1 - y, -scores, **options)["auc"] * -1
        )

    @each_weight
    @pytest.mark.parametrize("labels", [(1, 0, 1, 0, 0, 1), (1, 0, 1, 0, 0, 1, 0)])
    def test_clusters_of_one_label(self, labels, weight):
        n_clusters, own = len(labels), np.array(labels)
        _, index, names = rows_of(n_clusters)
        y = own[index]
        sides = [np.flatnonzero(own == c).tolist() for c in (1, 0)]
        sets = [tuple(sorted(each)) for each in product(*sides)]
        learnt = np.array([np.isin(index, each) for each in sets])
        table = np.round(np.random.default_rng(1).normal(size=learnt.shape), 1)
        psi, pairs, theta = oracle.auc_kernel(
            lambda rows: table[(learnt == rows).all(axis=1)][0], index, y, sets, weight
        )
        found = auc_ustatistic.from_scores(
            table, learnt, y, exact=True, group_weight=weight, groups=names
        )
        assert found["auc"] == pytest.approx(theta, abs=1e-12)
        linear = oracle.auc_linear_part(psi, pairs, theta, sides)
        jackknife = oracle.auc_jackknife(linear, sides)
        assert found["jackknife"] == pytest.approx(jackknife, abs=1e-12)
        assert (len(found["u1"]), len(found["u0"])) == tuple(map(len, sides))

    @each_weight
    @pytest.mark.parametrize("positive", [None, 1])
    @each_number
    def test_three_classes(self, n_clusters, positive, weight):
        _, index, names = rows_of(n_clusters)
        y = np.random.default_rng(5).integers(0, 3, size=len(index))
        samples = [range(n_clusters)]
        sets = list(combinations(range(n_clusters), 2))
        learnt = np.array([np.isin(index, each) for each in sets])
        table = np.round(np.random.default_rng(6).normal(size=(*learnt.shape, 3)), 1)
        theta, h = oracle.auc_of_classes(
            lambda rows, c: table[(learnt == rows).all(axis=1)][0, :, c],
            index,
            y,
            sets,
            weight,
            positive,
        )
        scores = np.where(learnt[:, :, None], np.nan, table)
        found = auc_ustatistic.from_scores(
            scores, learnt, y, exact=True, pos_label=positive, group_weight=weight, groups=names
        )
        assert found["auc"] == pytest.approx(theta, abs=1e-12)
        assert found["variance"] == pytest.approx(oracle.auc_jackknife(h, samples), abs=1e-12)
        assert found["df"] == n_clusters - 1
        assert found["u"].shape == (n_clusters,)

    @pytest.mark.parametrize("positive", [None, 1])
    def test_clusters_of_one_of_three_labels_are_one_sample(self, positive):
        own = np.array([1, 0, 2, 0, 1, 2, 0])
        _, index, names = rows_of(7)
        learnt, scores = self.drawn_by(index, 7)
        found = auc_ustatistic.from_scores(
            scores, learnt, own[index], pos_label=positive, groups=names
        )
        assert found["u"].shape == (7,)
        assert found["df"] == pytest.approx(6)

    @staticmethod
    def drawn_by(index, n_clusters, seed=0, n_rows=300):
        """Random learning sets of two clusters, and scores of three classes."""
        rng = np.random.default_rng(seed)
        sets = rng.permuted(np.tile(np.arange(n_clusters) < 2, (n_rows, 1)), axis=1)
        return sets[:, index], rng.normal(size=(n_rows, len(index), 3))

    @each_weight
    def test_differences_and_parts_of_three_classes(self, weight):
        _, index, names = rows_of(7)
        y = np.random.default_rng(5).integers(0, 3, size=len(index))
        learnt, scores = self.drawn_by(index, 7)
        other = scores + np.random.default_rng(1).normal(size=scores.shape)
        other[:, y == 1, 1] += 1
        arguments = {"group_weight": weight, "groups": names}
        first = auc_ustatistic.from_scores(scores, learnt, y, **arguments)
        second = auc_ustatistic.from_scores(other, learnt, y, **arguments)
        both = auc_ustatistic.from_scores(scores, learnt, y, other, **arguments)
        assert both["auc"] == pytest.approx(first["auc"] - second["auc"])
        np.testing.assert_allclose(both["u"], first["u"] - second["u"], atol=1e-12)
        sets = np.array([learnt[:, index == each].all(axis=1) for each in range(7)]).T
        v = hand_till(3)
        rankings = tuple(
            Ranking(np.flatnonzero(y == c), np.flatnonzero(y == d), c, v[c, d])
            for c, d in np.argwhere(v).tolist()
        )
        columns = RankedMixed(Strata.single(7, 2), 1, rankings, index, weight == "group")
        found = []
        for parts in ([slice(0, 300)], [slice(0, 70), slice(70, 300)]):
            sums = Rows(columns.strata, columns.n_columns, pairs=False)
            for rows in parts:
                draw = np.arange(300)[rows]
                placed = columns.placed([scores[rows]], sets[rows], draw, None)
                sums.add(placed, sets[rows], draw)
            effects = sums.effects()
            found.append(estimate(effects, columns.contrast((0,), effects.u)))
        whole, in_parts = found
        assert in_parts.value == pytest.approx(whole.value)
        assert in_parts.variances["jackknife"] == pytest.approx(whole.variances["jackknife"])
        assert whole.value == pytest.approx(first["auc"])

    @each_weight
    @pytest.mark.parametrize("several", [False, True])
    def test_rules_that_have_learnt(self, several, weight):
        """One row that learns from nothing: the jackknife of a U-statistic of two clusters."""
        y, index, names = rows_of(6)
        table = np.round(np.random.default_rng(4).normal(size=(len(y), 3)), 1)
        samples = [range(6)]
        if several:
            y = np.random.default_rng(5).integers(0, 3, size=len(index))
            theta, h = oracle.auc_of_classes(lambda rows, c: table[:, c], index, y, [()], weight)
        else:
            kernel = oracle.auc_kernel(lambda rows: table[:, 1], index, y, [()], weight)
            theta, h = kernel[2], oracle.auc_linear_part(*kernel, samples)
        found = auc_ustatistic.from_scores(
            table[None] if several else table[None, :, 1],
            np.zeros((1, len(y))),
            y,
            exact=True,
            group_weight=weight,
            groups=names,
        )
        assert found["auc"] == pytest.approx(theta, abs=1e-12)
        assert found["variance"] == pytest.approx(oracle.auc_jackknife(h, samples), abs=1e-12)

    def test_classes_that_are_never_tested_together(self):
        index = np.repeat(np.arange(8), 2)
        y = np.where(index < 2, np.tile([1, 2], 8), 0)
        sets = np.tile(np.isin(np.arange(8), (0, 2)), (80, 1))
        # Either of the two clusters that contain classes 1 and 2 is always learnt from.
        sets[1::2] = np.isin(np.arange(8), (1, 3))
        scores = np.random.default_rng(0).normal(size=(80, 16, 3))
        found = auc_ustatistic.from_scores(scores, sets[:, index], y, groups=index)
        assert np.isnan(found["auc"])
        assert found["status"].startswith(
            "too few resamples: some two classes were tested together"
        )


@each_weight
@each_number
def test_leave_pair_out_counts_pairs_of_different_clusters(n_clusters, weight):
    y, index, names = rows_of(n_clusters)
    n = len(y)
    scores = np.round(np.random.default_rng(2).normal(size=(n, n)), 1)
    number, right, total, ties = 0, 0.0, 0.0, 0.0
    for i, j in product(np.flatnonzero(y == 1), np.flatnonzero(y == 0)):
        if index[i] == index[j]:
            scores[i, j] = scores[j, i] = np.nan
            continue
        of_i, of_j = ((index == index[k]) & (y == y[k]) for k in (i, j))
        w = 1.0 if weight == "row" else 1 / of_i.sum() / of_j.sum()
        number, total, ties = number + 1, total + w, ties + w * (scores[i, j] == scores[j, i])
        right += w * ((scores[i, j] > scores[j, i]) + (scores[i, j] == scores[j, i]) / 2)
    found = leave_pair_out.errors(scores, y, group_weight=weight, groups=names)
    assert found["auc"] == pytest.approx(right / total)
    assert found["n_pairs"] == number
    assert found["n_ties"] == pytest.approx(ties / total * number)
    assert found["n_errors"] == pytest.approx(found["u"] * number)


@each_weight
@each_number
@pytest.mark.parametrize("loss", ["squared", "absolute", "zero_one", [[0.0, 1.0], [3.0, 0.0]]])
def test_optimism_is_that_of_all_labels_that_rows_can_get(loss, n_clusters, weight):
    y, index, names = rows_of(n_clusters)
    (labels,) = ExchangeableLabels.of(y * 1.0, index).every(100_000)
    fitted = np.random.default_rng(3).integers(0, 3, size=labels.shape) / 2
    w = np.full(len(y), 1 / len(y))
    if weight == "group":
        w = 1 / np.bincount(index)[index] / n_clusters

    def losses(true):
        if isinstance(loss, str) and loss != "zero_one":
            return np.abs(fitted - true) ** (2 if loss == "squared" else 1)
        table = 1 - np.eye(2) if loss == "zero_one" else np.array(loss)
        code = true.astype(int)
        return (
            table[code, np.floor(fitted).astype(int)] + table[code, np.ceil(fitted).astype(int)]
        ) / 2

    e_out = np.mean([losses(np.tile(new, (len(labels), 1))) @ w for new in labels], axis=0)
    found = permutation.generalization(
        fitted, labels, y * 1.0, loss, group_weight=weight, groups=names
    )
    np.testing.assert_allclose(found["e_in"], losses(labels) @ w)
    np.testing.assert_allclose(found["e_out"], e_out)
    np.testing.assert_allclose(found["e_gen"], found["e_out"] - found["e_in"])
