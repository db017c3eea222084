"""The variance estimators against the paper's definitions, on kernels without a learner."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from scipy import integrate, stats

from tests.oracles import ustatistic as oracle
from ucvtest.designs.draws import (
    all_learning_sets,
    draw_from_halves,
    draw_orders,
    exchange_one,
    learning_sets,
)
from ucvtest.kernels.ustatistic import from_pairs
from ucvtest.kernels.ustatistic.columns import DifferenceOfLosses, MeanLosses
from ucvtest.kernels.ustatistic.contrasts import _error_of_clipping, covariance, estimate, linear
from ucvtest.kernels.ustatistic.exact import CompleteProducts
from ucvtest.kernels.ustatistic.rows import SINGLE, Rows, Strata
from ucvtest.kernels.ustatistic.unbiased import OverlapSums, PairProducts

Z = np.random.default_rng(1).normal(size=12)


def losses(learning):
    """A loss with effects of every order, for all observations; shape (R, n)."""
    z = Z[: learning.shape[1]]
    mean = (learning @ z) / learning.sum(axis=1)
    product = np.where(learning, z, 1.0).prod(axis=1)
    return np.tanh(mean[:, None] - z) + 0.5 * z + 0.2 * product[:, None] + 1.5


def paper_kernel(n, g):
    def phi(learning, test):
        mask = np.zeros((1, n), dtype=bool)
        mask[0, list(learning)] = True
        return losses(mask)[0, test]

    return oracle.symmetrised_kernel(phi, n, g)


def paper_values(n, g):
    phi_0 = paper_kernel(n, g)
    return {
        "estimate": oracle.complete_statistic(phi_0),
        "theta_squared": oracle.kappa_hat(phi_0, 0),
        "unbiased": oracle.variance_hat(phi_0, n, g),
        "asymptotic": oracle.asymptotic_variance(phi_0, n, g),
        "jackknife": oracle.jackknife_variance(phi_0, n),
        "geometric": oracle.geometric_variance(phi_0, n, g),
        "midpoint": oracle.midpoint_variance(phi_0, n, g),
        "pair_effects": oracle.pair_effects(phi_0, n, g),
    }


def values_of(rows, weights=(1.0,)):
    """Estimates by name, and the estimate with its errors."""
    effects = rows.effects()
    found = estimate(effects, linear(weights, effects.u))
    values = {"estimate": found.value, **found.variances}
    if "unbiased" in values:
        values["theta_squared"] = found.value**2 - found.mc_se**2 - values["unbiased"]
    return values, found


def outside(learning, values=None):
    """Losses (1, R, n), 0 where learnt from."""
    values = losses(learning) if values is None else values
    return np.where(learning, 0.0, values)[None]


def complete_rows(n, g, values=losses, n_rows=50):
    """Rows of all learning sets, in parts of which each must be as good as any other."""
    strata = Strata.single(n, g)
    products = CompleteProducts(strata, 1) if n >= 2 * g + 2 else None
    pairs = 2 * g <= n and n - g >= 3
    rows = Rows(strata, 1, exact=True, pairs=pairs, products=products)
    for sets in all_learning_sets(n, g, n_rows):
        rows.add(outside(sets, values(sets)), sets, np.arange(len(sets)))
        rows.settle()
    return rows


def complete_kappas(n, g):
    products = CompleteProducts(Strata.single(n, g), 1)
    for sets in all_learning_sets(n, g, 50):
        products.add_all(outside(sets), sets)
    return products.kappas()[:, 0, 0]


def complete(n, g):
    return values_of(complete_rows(n, g))[0]


def draw(rng, n_pairs, n, g, overlap=0):
    orders = draw_orders(rng, n_pairs, n)
    l1, l2 = learning_sets(orders, 0, g), learning_sets(orders, g - overlap, g)
    return losses(l1), losses(l2), l1, l2


def add_pairs(rows, rng, n_pairs, n, g, overlap=0):
    """Draws of two sets."""
    *_, l1, l2 = draw(rng, n_pairs, n, g, overlap)
    learning = np.concatenate([l1, l2])
    rows.add(outside(learning), learning, np.tile(np.arange(n_pairs), 2))


@pytest.mark.parametrize(("n", "g"), [(4, 1), (7, 1), (8, 3), (9, 3), (10, 4)])
class TestCompleteSums:
    def test_every_variance_equals_the_definition(self, n, g):
        found = complete(n, g)
        for name, value in paper_values(n, g).items():
            assert found[name] == pytest.approx(value, abs=1e-12), name

    def test_every_kappa_equals_the_definition(self, n, g):
        phi_0 = paper_kernel(n, g)
        expected = [oracle.kappa_hat(phi_0, c) for c in range(g + 2)]
        np.testing.assert_allclose(complete_kappas(n, g), expected, atol=1e-12)

    def test_clipped_lies_between_geometric_and_jackknife(self, n, g):
        found = complete(n, g)
        low, high = found["geometric"] - 1e-15, found["jackknife"] + 1e-15
        assert low <= found["clipped"] <= high


@pytest.mark.parametrize(
    ("n", "g"), [(9, 4), (8, 4), (6, 3), (5, 2), (9, 6), (8, 5), (6, 4), (4, 2)]
)
def test_larger_learning_sets_have_fewer_variances(n, g):
    found, phi_0 = complete(n, g), paper_kernel(n, g)
    expected = {
        "estimate": oracle.complete_statistic(phi_0),
        "jackknife": oracle.jackknife_variance(phi_0, n),
    }
    if 2 * g <= n and n - g >= 3:
        for name in ("geometric", "midpoint"):
            expected[name] = getattr(oracle, f"{name}_variance")(phi_0, n, g)
        expected["pair_effects"] = oracle.pair_effects(phi_0, n, g)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.seconds(3, reason="167 960 learning sets")
def test_variance_of_an_additive_kernel_in_closed_form():
    # Phi_0 of degree one: the complete statistic is a mean of h_i/m, whatever n and g.
    n, g = 20, 9
    rng = np.random.default_rng(0)
    a, d = rng.normal(size=(2, n))
    a, d = a - a.mean(), d - d.mean()
    rows = complete_rows(n, g, lambda sets: 3.0 + (sets @ a)[:, None] + d, 20_000)
    h, found = g * a + d, values_of(rows)[0]
    for name in ("unbiased", "asymptotic", "jackknife", "geometric"):
        assert found[name] == pytest.approx((h @ h) / (n * (n - 1)), rel=1e-8), name


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_expectations_of_jackknife_and_pair_effects(k):
    """Of a kernel of one order k only, over all samples of signs."""
    n, g = 8, 3
    sets = np.concatenate(list(all_learning_sets(n, g, 100)))
    found = []
    for signs in product((-1.0, 1.0), repeat=n):
        # The mean over all k of the g + 1 observations of the products of their signs.
        learnt = [np.where(sets, signs, 0.0) @ np.ones(n), np.where(sets, signs, 1.0).prod(axis=1)]
        total = learnt[0][:, None] + np.array(signs)
        squares = (total**2 - (g + 1)) / 2
        all_four = learnt[1][:, None] * np.array(signs)
        symmetric = {1: total, 2: squares, 3: all_four * total, 4: all_four}[k]
        one = values_of(complete_rows(n, g, lambda _, x=symmetric: x / comb(g + 1, k), 100))[0]
        found.append((one["estimate"] ** 2, one["jackknife"], one["pair_effects"]))
    v = 1 / comb(n, k)
    m2 = v * comb(k, 2) * (n - 2) * (n - 3) / ((n - k) * (n - k - 1))
    expected = (v, v * k * (n - 1) / (n - k), m2)
    np.testing.assert_allclose(np.mean(found, axis=0), expected, atol=1e-12)


@pytest.fixture(scope="module")
def runs():
    """100 independent runs of 384 pairs, in stages as a fit adds them."""
    found, n, g, n_draws, n_sets = [], 9, 3, 64, 3
    for seed in range(100):
        rng = np.random.default_rng(seed)
        products = PairProducts(1)
        rows = Rows(Strata.single(n, g), 1, products=products)
        for stage in range(2):
            halves = draw_from_halves(rng, n_draws, n_sets, n, g)
            exchanged = exchange_one(rng, halves[0][:32, 0], halves[1][:32, 0])
            numbers = stage * n_draws + np.arange(n_draws)
            three = np.stack([exchanged, halves[1][:32, 0], halves[0][:32, 0]])
            of_three = outside(three.reshape(-1, n)).reshape(1, *three.shape)
            products.exchange(of_three, three, numbers[:32])
            learning = np.concatenate(halves, axis=1).reshape(-1, n)
            rows.add(outside(learning), learning, np.repeat(numbers, 2 * n_sets))
            rows.settle()
        found.append(values_of(rows))
    return found


class TestMonteCarlo:
    n, g = 9, 3

    @pytest.mark.parametrize(
        "name", ["estimate", "unbiased", "asymptotic", "jackknife", "theta_squared"]
    )
    def test_unbiased_for_the_complete_value(self, runs, name):
        values = np.array([values[name] for values, _ in runs])
        error = values.mean() - paper_values(self.n, self.g)[name]
        assert abs(error) < 3.5 * values.std(ddof=1) / np.sqrt(len(values))

    @pytest.mark.parametrize(
        "name", ["estimate", "unbiased", "asymptotic", "jackknife", "geometric", "midpoint"]
    )
    def test_stated_standard_error_is_the_spread_over_runs(self, runs, name):
        spread = np.std([values[name] for values, _ in runs], ddof=1)
        errors = [found.errors.get(name, found.mc_se) for _, found in runs]
        stated = np.sqrt(np.mean(np.square(errors)))
        assert 0.75 < stated / spread < 1.35

    def test_error_of_the_clipped_variance_counts_what_clipping_hides(self):
        # Few pairs: v-hat is often beyond the jackknife, and the clipped value then equals it.
        truth = complete(self.n, self.g)["clipped"]
        errors, stated = [], []
        for seed in range(80):
            rows = Rows(Strata.single(self.n, self.g), 1, products=PairProducts(1))
            add_pairs(rows, np.random.default_rng(seed), 24, self.n, self.g)
            values, found = values_of(rows)
            errors.append(values["clipped"] - truth)
            stated.append(found.errors["clipped"])
        ratio = np.sqrt(np.mean(np.square(stated)) / np.mean(np.square(errors)))
        assert 0.7 < ratio < 1.6

    def test_jackknife_alone_for_large_learning_sets(self):
        n, g = 9, 6
        truth = complete(n, g)
        values, errors = [], []
        for seed in range(60):
            rows = Rows(Strata.single(n, g), 1, pairs=False)
            add_pairs(rows, np.random.default_rng(seed), 128, n, g, overlap=2 * g - n)
            by_name, found = values_of(rows)
            assert set(by_name) == {"estimate", "jackknife"}
            values.append(by_name["jackknife"])
            errors.append(found.errors["jackknife"])
        z = (np.mean(values) - truth["jackknife"]) / (np.std(values) / np.sqrt(60))
        assert abs(z) < 3.5
        assert 0.7 < np.mean(errors) / np.std(values) < 1.4

    def test_overlaps_give_every_kappa(self):
        n, g = self.n, self.g
        truth = complete_kappas(n, g)
        values = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            rows = Rows(Strata.single(n, g), 1, pairs=False)
            add_pairs(rows, rng, 64, n, g)
            sums = OverlapSums(rows.strata, rows.fit(), range(g + 2))
            for overlap in sums.overlaps:
                learning = np.concatenate(draw(rng, 64, n, g, overlap)[2:])
                sums.add(overlap, outside(learning)[0], learning)
            values.append(sums.kappas().mean(axis=0))
        z = (np.mean(values, axis=0) - truth) / (np.std(values, axis=0) / np.sqrt(40))
        assert np.abs(z).max() < 3.5


class TestFromPairs:
    n, g = 9, 3

    def test_all_disjoint_pairs_come_close_to_the_definition(self):
        sets = [set(s) for s in combinations(range(self.n), self.g)]
        pairs = [(a, b) for a in sets for b in sets if not a & b]
        l1, l2 = np.zeros((2, len(pairs), self.n), dtype=bool)
        for row, (a, b) in enumerate(pairs):
            l1[row, list(a)] = l2[row, list(b)] = True
        found = from_pairs(losses(l1), losses(l2), l1, l2)
        truth = paper_values(self.n, self.g)
        assert abs(found["estimate"] - truth["estimate"]) < 3 * found["mc_se_estimate"]
        assert abs(found["variance"] - truth["unbiased"]) < 3 * found["mc_se_variance"]
        assert found["mc_se_variance"] < 0.03 * truth["unbiased"]

    def test_clusters_are_kept_together(self):
        d1, d2, l1, l2 = draw(np.random.default_rng(0), 100, self.n, self.g)
        twice = [np.repeat(part, 2, axis=0) for part in (d1, d2, l1, l2)]
        once = from_pairs(d1, d2, l1, l2)
        clustered = from_pairs(*twice, cluster=np.repeat(np.arange(100), 2))
        for name, value in once.items():
            # The control variate sees twice the rows and shrinks a little less.
            assert clustered[name] == pytest.approx(value, rel=0.05), name
        ignored = from_pairs(*twice)
        assert ignored["mc_se_variance"] < 0.9 * once["mc_se_variance"]

    def test_two_pairs_do_not_tell_their_own_error(self):
        found = from_pairs(*draw(np.random.default_rng(0), 2, self.n, self.g))
        assert np.isfinite(found["variance"])
        assert np.isnan(found["mc_se_variance"])

    @pytest.mark.parametrize("n_pairs", [3, 5, 6, 33])
    def test_few_pairs_give_finite_numbers(self, n_pairs):
        found = from_pairs(*draw(np.random.default_rng(0), n_pairs, self.n, self.g))
        assert all(np.isfinite(value) for value in found.values())


def test_covariance_is_that_of_the_delete_one_jackknife():
    n, g, shifts = 7, 3, (0.0, 0.7, 1.5)

    def mean_without(gone, shift):
        rest = [k for k in range(n) if k != gone]
        values = []
        for members in combinations(rest, g):
            learning = np.isin(np.arange(n), members)[None]
            others = [k for k in rest if k not in members]
            values += list((losses(learning) * np.sin(shift + Z[:n]))[0, others])
        return np.mean(values)

    sets = np.concatenate(list(all_learning_sets(n, g, 50)))
    rows = Rows(Strata.single(n, g), 3, exact=True)
    each = [outside(sets, losses(sets) * np.sin(shift + Z[:n]))[0] for shift in shifts]
    rows.add(np.stack(each), sets, np.arange(len(sets)))
    effects = rows.effects()
    found = covariance(effects, [linear(weights, effects.u) for weights in np.eye(3)])
    without = np.array([[mean_without(gone, shift) for shift in shifts] for gone in range(n)])
    moved = without - without.mean(axis=0)
    np.testing.assert_allclose(found, (n - 1) / n * moved.T @ moved, atol=1e-12)


@pytest.mark.parametrize("unbiased", [0.1, 0.9, 1.4, 1.8])
def test_error_of_clipping_is_that_of_a_normal_error(unbiased):
    low, high, scale = 0.5, 1.5, 0.4
    clipped = min(max(unbiased, low), high)

    def squared(error):
        moved = min(max(unbiased + error, low), high)
        return (moved - clipped) ** 2 * stats.norm.pdf(error, scale=scale)

    bounds = [low - unbiased, high - unbiased]
    mean, _ = integrate.quad(squared, -4, 4, points=[at for at in bounds if abs(at) < 4])
    values = {"unbiased": unbiased, "geometric": low, "jackknife": high, "clipped": clipped}
    assert _error_of_clipping(values, scale) == pytest.approx(np.sqrt(mean), rel=0.02)


def test_fits_to_half_of_the_rows_have_a_penalty():
    # Without it, sets of one side of a split, which are much alike, would make them all noise.
    n, g, rng = 12, 5, np.random.default_rng(0)
    sets = np.concatenate([x.reshape(-1, n) for x in draw_from_halves(rng, 20, 4, n, g)])
    rows = Rows(Strata.single(n, g), 1, pairs=False)
    rows.add(outside(sets), sets, np.tile(np.repeat(np.arange(20), 4), 2))
    for half, fit in enumerate(rows._of_halves()):
        learnt = sets[np.tile(np.repeat(np.arange(20) % 2 != half, 4), 2)].astype(float)
        phi = (losses(learnt > 0) * (1 - learnt)).sum(axis=1) / (n - g)
        centred = learnt - learnt.mean(axis=0)
        gram = centred.T @ centred
        gram += gram.trace() / len(learnt) * np.eye(n)
        response = centred.T @ (phi - phi.mean())
        eta = np.linalg.solve(gram, response - response.mean())
        np.testing.assert_allclose(fit.eta[0], eta - eta.mean(), atol=1e-10)


def test_a_difference_has_a_column_of_its_own():
    n, g, rng = 9, 3, np.random.default_rng(1)
    l1, l2 = draw(rng, 200, n, g)[2:]
    sets, numbers = np.concatenate([l1, l2]), np.tile(np.arange(200), 2)
    values = [np.where(sets, 0.0, x) for x in (losses(sets), np.cos(losses(sets)))]
    strata, found = Strata.single(n, g), {}
    for columns in (MeanLosses(strata, 2), DifferenceOfLosses(strata, 2)):
        products = PairProducts(columns.n_paired)
        rows = Rows(strata, 2, products=products, n_paired=columns.n_paired)
        rows.add(columns.placed(values, sets, numbers, None), sets, numbers)
        effects = rows.effects()
        for places in ((0, 1), (0,), (1,)):
            of_places = estimate(effects, columns.contrast(places, effects.u))
            found.setdefault(places, []).append(of_places)
    for places, (apart, difference) in found.items():
        assert difference.value == pytest.approx(apart.value, abs=1e-12)
        assert difference.mc_se == pytest.approx(apart.mc_se, rel=1e-8)
        # A learner alone has no effects of pairs.
        names = set(apart.variances) if len(places) == 2 else {"jackknife"}
        assert set(difference.variances) == names
        for name in names:
            assert difference.variances[name] == pytest.approx(apart.variances[name], rel=1e-8)
            assert difference.errors[name] == pytest.approx(apart.errors[name], rel=1e-8)


def test_many_counts_of_errors_are_summed_as_numbers_are():
    n, g, rng = 60, 25, np.random.default_rng(0)
    n_draws = 16 * SINGLE // (2 * n) + 200
    halves, numbers = draw_from_halves(rng, n_draws, 1, n, g), np.tile(np.arange(n_draws), 2)
    sets, z = np.concatenate(halves).reshape(-1, n), rng.normal(size=n)
    wrong = outside(sets, (sets @ z / g)[:, None] + 0.5 * rng.normal(size=n) > z)
    found = []
    for placed in (wrong.astype(np.uint8), wrong.astype(float)):
        rows = Rows(Strata.single(n, g), 1, products=PairProducts(1, 16), n_blocks=16)
        rows.add(placed, sets, numbers)
        found.append(values_of(rows)[0])
    # In single precision and in double.
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    assert found[0] != found[1]
