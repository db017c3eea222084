"""Rows of placements against the engines that they replace: equal, or within Monte-Carlo errors.

Complete designs, few fits, and of AUCs the estimate and M2 are the same up to rounding.
"""

import numpy as np
import pytest

from ucvtest.data.groups import Clusters, as_groups
from ucvtest.designs.draws import all_learning_sets, draw_from_halves, draw_orders, exchange_one
from ucvtest.designs.draws import learning_sets as cut
from ucvtest.designs.within_classes import WithinClasses
from ucvtest.kernels.auc_ustatistic.clusters import RowWeights, SingleLabelClusters
from ucvtest.kernels.auc_ustatistic.few_fits import PlacedRounds
from ucvtest.kernels.auc_ustatistic.few_fits_of_clusters import (
    rounds_of_mixed,
    rounds_of_single_label,
)
from ucvtest.kernels.auc_ustatistic.mixed_clusters import MixedClusters
from ucvtest.kernels.auc_ustatistic.ranked_classes import RankedClasses
from ucvtest.kernels.auc_ustatistic.several_classes import Classes
from ucvtest.kernels.auc_ustatistic.several_variances import SeveralClasses
from ucvtest.kernels.auc_ustatistic.two_classes import TwoClasses
from ucvtest.kernels.ustatistic import contrasts, exact, few, placements, unbiased
from ucvtest.kernels.ustatistic.accumulator import Accumulator
from ucvtest.kernels.ustatistic.contrasts import estimate, linear, share, slope
from ucvtest.kernels.ustatistic.kappa import OverlapFit
from ucvtest.kernels.ustatistic.rows import Rows, Strata
from ucvtest.methods.ustatistic.enumeration import CompleteSums
from ucvtest.stats.few_fits import Rounds as OldRounds

Z = np.random.default_rng(1).normal(size=60)


def losses(learning, shift=0.0):
    """Effects of every order; 0 where learnt from."""
    z = Z[: learning.shape[-1]]
    mean = (learning @ z / learning.sum(axis=-1))[..., None]
    values = np.tanh(mean - z + shift) + z / 2 + shift * mean + 0.1 * mean**2
    return np.where(learning, 0.0, values)


def of_two(learning):
    return np.stack([losses(learning), losses(learning, 0.7)])


def close(old, new, errors=None, **tolerance):
    """Equal, or within one Monte-Carlo error (of either engine, the larger)."""
    for name, value in old.items():
        if errors is None:
            assert new[name] == pytest.approx(value, **{"rel": 1e-10, **tolerance}), name
        else:
            assert abs(new[name] - value) <= errors[name], name


@pytest.mark.parametrize(("n", "g"), [(9, 3), (10, 4), (8, 5)])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_learning_sets(n, g, weighted):
    sets, strata = np.concatenate(list(all_learning_sets(n, g, 50))), Strata.single(n, g)
    placed, offset = of_two(sets), np.linspace(-1, 1, n) if weighted else None
    products = exact.CompleteProducts(strata, 2) if n >= 2 * g + 2 else None
    rows = Rows(strata, 2, exact=True, products=products)
    # In parts: each must be as good as any other.
    for part in np.array_split(np.arange(len(sets)), 3):
        rows.add(placed[:, part], sets[part], part)
        rows.settle()
    effects = rows.effects()
    contrast = linear([1, -1], effects.u, offset)
    found = estimate(effects, contrast)
    old = CompleteSums(n, g, [(placed[0] - placed[1], sets)], offset)
    expected = old.estimates()
    new = {"estimate": found.value, **found.variances}
    if "slope" in expected:
        new["slope"], new["slope_error"], _ = slope(effects, contrast)
    if products is not None:
        new["theta_squared"] = found.value**2 - new["unbiased"]
        if not weighted:
            kappas = np.array([1, -1]) @ products.kappas() @ np.array([1, -1])
            assert np.allclose(kappas, old.kappas(), rtol=1e-12)
    close(expected, new)
    assert found.mc_se == 0


@pytest.mark.parametrize(("n_sets", "stages"), [(1, 1), (1, 4), (2, 3)])
def test_random_pairs_of_losses(n_sets, stages):
    n, g, n_draws, rng = 20, 7, 1500 // n_sets, np.random.default_rng(3)
    halves = draw_from_halves(rng, n_draws, n_sets, n, g)
    exchanged = exchange_one(rng, halves[0][:, 0], halves[1][:, 0])
    old = Accumulator(n, g, disjoint=True, n_draws=n_draws)
    first, second = (of_two(sets) for sets in halves)
    old.add(
        (first[0] - first[1], second[0] - second[1], *halves),
        exchanged=(losses(exchanged) - losses(exchanged, 0.7), exchanged),
    )
    expected = old.estimates()
    sets, draw = np.concatenate(halves, axis=1), np.arange(n_draws)
    products = unbiased.PairProducts(2)
    rows = Rows(Strata.single(n, g), 2, products=products)
    for part in np.array_split(draw, stages):
        start = (part - part[0]) * 2 * n_sets
        partners = np.stack([start + n_sets, start], axis=1)
        products.exchange(of_two(exchanged[part]), exchanged[part], partners, part)
        learning = sets[part].reshape(-1, n)
        rows.add(of_two(learning), learning, np.repeat(part, 2 * n_sets))
        rows.settle()
    effects = rows.effects()
    contrast = linear([1, -1], effects.u)
    found = estimate(effects, contrast)
    new = {"estimate": found.value, **found.variances}
    errors = {name: max(expected.mc_se[name], found.errors.get(name, 0.0)) for name in new}
    new["slope"], new["slope_error"], error = slope(effects, contrast)
    errors |= {"slope": np.hypot(error, expected.mc_se["slope"]), "slope_error": 0.05}
    old_values = dict(expected.values)
    del old_values["theta_squared"]
    close(old_values, new, errors)
    # Monte-Carlo errors are those of ten blocks, and of 32.
    assert found.mc_se == pytest.approx(expected.mc_se["estimate"], rel=0.3)
    assert found.errors["midpoint"] == pytest.approx(expected.mc_se["midpoint"], rel=0.6)


def test_kappas_of_random_pairs():
    n, g, rng = 12, 3, np.random.default_rng(5)

    def pairs(overlap, n_draws=400):
        orders = draw_orders(rng, n_draws, n)
        return cut(orders, 0, g), cut(orders, g - overlap, g)

    for_fit = pairs(0)
    fit = OverlapFit(n, g, 400)
    fit.add(tuple(x[:, None] for x in (*map(losses, for_fit), *for_fit)))
    rows = Rows(Strata.single(n, g), 1, pairs=False)
    rows.add(
        losses(np.concatenate(for_fit))[None], np.concatenate(for_fit), np.tile(np.arange(400), 2)
    )
    old = fit.sums(range(g + 2))
    new = unbiased.OverlapSums(rows.strata, rows.fit(), range(g + 2))
    assert new.overlaps == old.overlaps
    for overlap in new.overlaps:
        sets = pairs(overlap)
        old.add(overlap, tuple(x[:, None] for x in (*map(losses, sets), *sets)))
        new.add(overlap, losses(np.concatenate(sets)), np.concatenate(sets))
    expected, found = old.kappas(), new.kappas()
    errors = expected.std(axis=0, ddof=1) / np.sqrt(len(expected))
    assert (abs(found.mean(axis=0) - expected.mean(axis=0)) < errors).all()


# --------------------------------------------------------------------------------------- AUCs


class Aucs:
    """Learning sets within classes, scores of two learners, and both engines' contrasts."""

    def __init__(self, kind, complete, seed=0):
        rng = np.random.default_rng(seed)
        name, *detail = kind
        self.unit = self.pair_weight = None
        n_classes = detail[0] if name != "clusters" else 2
        if name == "classes":
            sizes = {2: (5, 6), 3: (4, 4, 5)}[n_classes] if complete else (10, 9, 12)[:n_classes]
            labels = rng.permutation(np.repeat(np.arange(n_classes), sizes))
            learn = ({2: (2, 3), 3: (1, 2, 2)}[n_classes] if complete else (4, 3, 5))[:n_classes]
            y = labels
        else:
            n_groups = (8 if complete else 20) if name == "mixed" else (10 if complete else 24)
            rows = rng.integers(2, 5, n_groups)
            self.unit = np.repeat(np.arange(n_groups), rows)
            if name == "clusters":
                labels, learn = np.arange(n_groups) % 2, (2, 2) if complete else (5, 5)
                y = labels[self.unit]
            else:
                labels, learn = np.zeros(n_groups, dtype=int), (3,) if complete else (8,)
                y = rng.permutation(np.arange(len(self.unit)) % n_classes)
        self.strata = Strata(labels, learn)
        members = self.strata.members
        sets = WithinClasses.of(members, learn)
        if complete:
            self.learning = np.concatenate(list(sets.every(10_000)))
            self.draw = np.arange(len(self.learning))
        else:
            self.learning, self.draw = sets.drawn(rng, 500), sets.draws(500)
        several = n_classes > 2
        score = (y[:, None] == np.arange(n_classes)) if several else y[:, None]
        shape = (2, self.learning.shape[1], *score.shape)
        learnt = np.einsum("mi,dijc->dmjc", self.learning * 1.0, 0.15 * rng.normal(size=shape))
        scores = (0.7 * score + rng.normal(size=(2, *score.shape)))[:, None] + learnt
        # Rounded, for ties.
        self.scores = list(np.round(scores if several else scores[..., 0], 1))
        if name == "classes":
            self._of_classes(members, n_classes, one=detail[1:] == ["rest"], exact=complete)
        elif name == "clusters":
            self._of_clusters(members, y, rows, detail[0], exact=complete)
        else:
            self._of_mixed(y, n_classes, detail[1], exact=complete)

    def _of_classes(self, members, n_classes, *, one, exact):
        strata = self.strata
        if n_classes == 2:
            self.v, self.old = placements.two_classes(), TwoClasses(members[::-1], exact=exact)
            self.old_rounds = lambda s, sets: [PlacedRounds.of(x, sets, members[::-1]) for x in s]
        else:
            sizes = strata.sizes.tolist()
            self.v = placements.one_against_rest(sizes, 2) if one else placements.hand_till(3)
            classes = Classes(strata.labels, strata.learn_sizes, self.v)
            self.old = SeveralClasses(classes, 2, exact=exact)
            self.old_rounds = lambda s, sets: [PlacedRounds.of_classes(x, sets, classes) for x in s]
        self.n_columns, self.contrast = 2, lambda means: linear([1, -1], means)

    def _of_clusters(self, members, y, rows, weight, *, exact):
        clusters = Clusters(as_groups(self.unit, len(self.unit)), weight)
        weights = RowWeights.of(clusters, (y == 1, y == 0))
        self.old = SingleLabelClusters(members[::-1], weights, exact=exact)
        self.old_rounds = lambda s, sets: rounds_of_single_label(s, sets, members[::-1], weights)
        self.pair_weight = (1 / rows if weight == "group" else np.ones(len(rows)))[self.unit]
        self.v, self.n_columns = placements.two_classes(), 3
        self.contrast = lambda means: share(3, 0, 2, means) - share(3, 1, 2, means)

    def _of_mixed(self, y, n_classes, weight, *, exact):
        clusters = Clusters(as_groups(self.unit, len(self.unit)), weight)
        ranked = (
            RankedClasses.of_two(clusters, y == 1)
            if n_classes == 2
            else RankedClasses.of_several(clusters, y, None)
        )
        self.old = MixedClusters(ranked, self.strata.learn_sizes[0], exact=exact)
        self.old_rounds = lambda s, sets: rounds_of_mixed(s, sets, ranked)
        v = placements.two_classes() if n_classes == 2 else placements.hand_till(n_classes)
        pairs = np.argwhere(v).tolist()
        self.v, self.by_group = None, weight == "group"
        self.rankings = [
            (np.flatnonzero(y == c), np.flatnonzero(y == d), None if n_classes == 2 else c)
            for c, d in pairs
        ]
        self.n_columns = 3 * len(pairs)
        self.contrast = lambda means: contrasts.total(
            sign * v[c, d] * share(self.n_columns, 3 * k + learner, 3 * k + 2, means)
            for learner, sign in enumerate((1.0, -1.0))
            for k, (c, d) in enumerate(pairs)
        )

    def placed(self, some, pair=None):
        scores, sets = [s[some] for s in self.scores], self.learning[some]
        if self.v is None:
            return placements.place_mixed(
                self.rankings, scores, sets, self.unit, by_group=self.by_group
            )
        clusters = None if self.pair_weight is None else (self.unit, self.pair_weight)
        return placements.place_classes(
            self.strata, self.v, scores, sets, self.draw[some], pair, clusters
        )


KINDS = [
    ("classes", 2),
    ("classes", 3),
    ("classes", 3, "rest"),
    ("clusters", "group"),
    ("clusters", "row"),
    ("mixed", 2, "group"),
    ("mixed", 2, "row"),
    ("mixed", 3, "row"),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.seconds(3, reason="two engines, and their programs")
def test_aucs(kind, complete):
    case = Aucs(kind, complete)
    rows = Rows(case.strata, case.n_columns, exact=complete, pairs=case.v is not None)
    every = np.arange(len(case.draw))
    rows.add(case.placed(every, rows.pair), case.learning, case.draw)
    effects = rows.effects()
    found = estimate(effects, case.contrast(effects.u))
    case.old.add(case.scores, case.learning, case.draw)
    expected = case.old.estimate((1, -1))
    # theta of clusters is that of all rows here, and of the first ones there.
    of_ratio = {"rel": 1e-3} if kind[0] != "classes" and not complete else {}
    close({"U": expected.auc}, {"U": found.value}, **of_ratio)
    if case.v is not None:
        m2 = found.variances["pair_effects"]
        close({"M2": expected.pair_effects}, {"M2": m2}, **of_ratio)
    names = ["jackknife"] if case.v is None else ["jackknife", "midpoint"]
    old = {name: expected.values[name] for name in names}
    if complete:
        close({**old, "df": expected.df}, {**found.variances, "df": found.df})
    else:
        errors = {name: expected.mc_se[name] + found.errors[name] for name in names}
        close(old, found.variances, errors)
        assert found.mc_se == pytest.approx(expected.mc_se_estimate, rel=0.01)
        assert found.df == pytest.approx(expected.df, rel=0.05)


@pytest.mark.parametrize("kind", [("losses",), *KINDS], ids=str)
def test_few_fits(kind):
    if kind == ("losses",):
        orders = draw_orders(np.random.default_rng(0), 10, 20)
        sets = np.stack([cut(orders, 0, 9), cut(orders, 9, 9)], axis=1)
        old = OldRounds.of(losses(sets) - losses(sets, 0.7), sets).estimate()
        rounds = few.Rounds(Strata.single(20, 9))
        flat = sets.reshape(-1, 20)
        rounds.add(of_two(flat), flat, np.arange(20) // 2)
        new = rounds.estimate(linear([1, -1], rounds.means))
    else:
        case = Aucs(kind, complete=False)
        # The draws of sets are tiled: both of a pair have its number.
        some = np.concatenate([np.flatnonzero(case.draw == k) for k in range(10)])
        rounds = few.Rounds(case.strata)
        rounds.add(case.placed(some), case.learning[some], case.draw[some])
        by_round = some.reshape(10, 2)
        scores = [s[by_round] for s in case.scores]
        first, other = case.old_rounds(scores, case.learning[by_round])
        old = first.plus(other.weighted(-1.0)).estimate()
        new = rounds.estimate(case.contrast(rounds.means_of_fits))
    close({**old._asdict(), "se": old.se}, {**new._asdict(), "se": new.se}, abs=1e-14)
