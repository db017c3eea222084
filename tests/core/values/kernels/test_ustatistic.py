"""The variance estimators against the paper's definitions, on kernels without a learner."""

from itertools import combinations, product
from math import comb

import jax
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
from ucvtest.kernels.ustatistic.accumulator import Accumulator
from ucvtest.kernels.ustatistic.control_variate import (
    MOST_ROUNDING,
    SETS_PER_SUM,
    SINGLE,
    in_double,
    rounded_losses,
)
from ucvtest.kernels.ustatistic.kappa import OverlapFit
from ucvtest.kernels.ustatistic.monte_carlo_groups import groups_of
from ucvtest.kernels.ustatistic.residuals import JointSums, _sums_of_groups, residual_sums
from ucvtest.kernels.ustatistic.variances import _error_of_clipping
from ucvtest.methods.ustatistic.enumeration import CompleteSums

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


def complete(n, g):
    return CompleteSums(n, g, ((losses(sets), sets) for sets in all_learning_sets(n, g, 50)))


def draw(rng, n_pairs, n, g, overlap=0):
    orders = draw_orders(rng, n_pairs, n)
    l1, l2 = learning_sets(orders, 0, g), learning_sets(orders, g - overlap, g)
    return losses(l1), losses(l2), l1, l2


def draw_singly(rng, n_pairs, n, g, overlap=0):
    """The same with one set on each side of a draw."""
    return tuple(part[:, None] for part in draw(rng, n_pairs, n, g, overlap))


def draw_halves(rng, n_draws, n_sets, n, g):
    """Several learning sets from each half of random splits of the sample."""
    l1, l2 = draw_from_halves(rng, n_draws, n_sets, n, g)

    def all_losses(learning):
        return losses(learning.reshape(-1, n)).reshape(learning.shape)

    return all_losses(l1), all_losses(l2), l1, l2


@pytest.mark.parametrize(("n", "g"), [(4, 1), (7, 1), (8, 3), (9, 3), (10, 4)])
class TestCompleteSums:
    def test_every_variance_equals_the_definition(self, n, g):
        found = complete(n, g).estimates()
        for name, value in paper_values(n, g).items():
            assert found[name] == pytest.approx(value, abs=1e-12), name

    def test_every_kappa_equals_the_definition(self, n, g):
        phi_0 = paper_kernel(n, g)
        expected = [oracle.kappa_hat(phi_0, c) for c in range(g + 2)]
        np.testing.assert_allclose(complete(n, g).kappas(), expected, atol=1e-12)

    def test_clipped_lies_between_geometric_and_jackknife(self, n, g):
        found = complete(n, g).estimates()
        assert found["geometric"] <= found["clipped"] <= found["jackknife"]


@pytest.mark.parametrize(("n", "g"), [(9, 4), (8, 4), (6, 3), (5, 2)])
def test_learning_sets_of_half_the_sample_have_the_midpoint_too(n, g):
    found, phi_0 = complete(n, g).estimates(), paper_kernel(n, g)
    assert set(found) - {"slope", "slope_error"} == {
        "estimate",
        "jackknife",
        "geometric",
        "midpoint",
        "pair_effects",
    }
    assert found["pair_effects"] == pytest.approx(oracle.pair_effects(phi_0, n, g), abs=1e-12)
    assert found["jackknife"] == pytest.approx(oracle.jackknife_variance(phi_0, n), abs=1e-12)
    assert found["geometric"] == pytest.approx(oracle.geometric_variance(phi_0, n, g), abs=1e-12)
    assert found["midpoint"] == pytest.approx(oracle.midpoint_variance(phi_0, n, g), abs=1e-12)


@pytest.mark.parametrize(("n", "g"), [(9, 6), (8, 5), (6, 4), (4, 2)])
def test_large_learning_sets_have_the_jackknife_only(n, g):
    found = complete(n, g).estimates()
    assert set(found) == {"estimate", "jackknife"}
    expected = oracle.jackknife_variance(paper_kernel(n, g), n)
    assert found["jackknife"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.seconds(3, reason="167 960 learning sets")
def test_variance_of_an_additive_kernel_in_closed_form():
    # Phi_0 of degree one: the complete statistic is a mean of h_i/m, whatever n and g.
    n, g = 20, 9
    rng = np.random.default_rng(0)
    a, d = rng.normal(size=(2, n))
    a, d = a - a.mean(), d - d.mean()
    batches = all_learning_sets(n, g, 5000)
    sums = CompleteSums(n, g, ((3.0 + (sets @ a)[:, None] + d, sets) for sets in batches))
    h = g * a + d
    found = sums.estimates()
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
        one = CompleteSums(n, g, [(symmetric / comb(g + 1, k), sets)]).estimates()
        found.append((one["estimate"] ** 2, one["jackknife"], one["pair_effects"]))
    v = 1 / comb(n, k)
    m2 = v * comb(k, 2) * (n - 2) * (n - 3) / ((n - k) * (n - k - 1))
    expected = (v, v * k * (n - 1) / (n - k), m2)
    np.testing.assert_allclose(np.mean(found, axis=0), expected, atol=1e-12)


@pytest.fixture(scope="module")
def runs():
    """100 independent runs of 384 pairs, in blocks as a fit adds them."""
    found = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        sums = Accumulator(9, 3, disjoint=True, n_draws=64)
        for _ in range(2):
            draws = draw_halves(rng, 64, 3, 9, 3)
            exchanged = exchange_one(rng, draws[2][:32, 0], draws[3][:32, 0])
            sums.add(draws, exchanged=(losses(exchanged), exchanged))
        found.append(sums.estimates())
    return found


class TestMonteCarlo:
    n, g = 9, 3

    @pytest.mark.parametrize(
        "name", ["estimate", "unbiased", "asymptotic", "jackknife", "theta_squared"]
    )
    def test_unbiased_for_the_complete_value(self, runs, name):
        values = np.array([run.values[name] for run in runs])
        error = values.mean() - paper_values(self.n, self.g)[name]
        assert abs(error) < 3.5 * values.std(ddof=1) / np.sqrt(len(values))

    @pytest.mark.parametrize(
        "name",
        [
            "estimate",
            "unbiased",
            "asymptotic",
            "jackknife",
            "geometric",
            "midpoint",
            "theta_squared",
        ],
    )
    def test_stated_standard_error_is_the_spread_over_runs(self, runs, name):
        spread = np.std([run.values[name] for run in runs], ddof=1)
        stated = np.sqrt(np.mean([run.mc_se[name] ** 2 for run in runs]))
        assert 0.75 < stated / spread < 1.35

    def test_error_of_the_clipped_variance_counts_what_clipping_hides(self):
        # Few pairs: v-hat is often beyond the jackknife, and the clipped value then equals it.
        truth = complete(self.n, self.g).estimates()["clipped"]
        errors, stated = [], []
        for seed in range(80):
            sums = Accumulator(self.n, self.g, disjoint=True, n_draws=24)
            sums.add(draw_singly(np.random.default_rng(seed), 24, self.n, self.g))
            found = sums.estimates()
            errors.append(found.values["clipped"] - truth)
            stated.append(found.mc_se["clipped"])
        ratio = np.sqrt(np.mean(np.square(stated)) / np.mean(np.square(errors)))
        assert 0.7 < ratio < 1.6

    def test_jackknife_alone_for_large_learning_sets(self):
        n, g = 9, 6
        truth = complete(n, g).estimates()
        values, errors = [], []
        for seed in range(60):
            sums = Accumulator(n, g, disjoint=False, n_draws=128)
            sums.add(draw_singly(np.random.default_rng(seed), 128, n, g, overlap=2 * g - n))
            found = sums.estimates()
            assert set(found.values) == {"estimate", "jackknife"}
            values.append(found.values["jackknife"])
            errors.append(found.mc_se["jackknife"])
        z = (np.mean(values) - truth["jackknife"]) / (np.std(values) / np.sqrt(60))
        assert abs(z) < 3.5
        assert 0.7 < np.mean(errors) / np.std(values) < 1.4

    def test_overlaps_give_every_kappa(self):
        n, g = self.n, self.g
        truth = complete(n, g).kappas()
        values = []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            fit = OverlapFit(n, g, 64)
            fit.add(draw_singly(rng, 64, n, g))
            sums = fit.sums(range(g + 2))
            for overlap in sums.overlaps:
                sums.add(overlap, draw_singly(rng, 64, n, g, overlap))
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


def test_pair_effects_are_those_of_a_loop(rng):
    """tau_ij of every group: E[X 1{i, j in S}] without what i, j and the mean explain."""
    n, g, m, n_draws = 9, 3, 4, 12
    draws = draw_halves(rng, n_draws, 2, n, g)
    sums = Accumulator(n, g, disjoint=True, n_draws=n_draws)
    sums.add(draws)
    centre, a, d = sums._blocks[-1].additive
    expected = np.zeros((sums.n_groups, n, n))
    for k, d1, d2, l1, l2 in zip(groups_of(np.arange(n_draws), sums.n_groups), *draws, strict=True):
        for differences, learning in zip([*d1, *d2], [*l1, *l2], strict=True):
            joint, effect, mean = np.zeros((n, n)), np.zeros(n), 0.0
            for t in np.flatnonzero(~learning):
                x = (differences[t] - centre[k] - a[k] @ learning - d[k, t]) / (2 * (n - g))
                inside = learning | (np.arange(n) == t)
                mean += x
                effect += x * inside
                joint += x * np.outer(inside, inside)
            effect -= m / n * mean
            tau = joint - (m - 1) / (n - 2) * np.add.outer(effect, effect)
            expected[k] += tau - m * (m - 1) / (n * (n - 1)) * mean
    expected[:, np.arange(n), np.arange(n)] = 0.0
    np.testing.assert_allclose(sums.sums().pair_effects(), expected, atol=1e-12)


# --------------------------------------------------------------- sums in single precision


def additive_fits(rng, n, scale=0.05):
    """Two fits as `AdditiveFit.solve` makes them: a and d sum to zero."""
    a, d = scale * rng.normal(size=(2, 2, n))
    return rng.uniform(0, 0.6, 2), a - a.mean(1, keepdims=True), d - d.mean(1, keepdims=True)


@pytest.mark.parametrize(("n", "g"), [(4, 1), (9, 3), (20, 9), (60, 15), (120, 58), (120, 5)])
def test_rounded_fits_are_near_and_sum_to_zero(rng, n, g):
    fits = additive_fits(rng, n)
    rounded = rounded_losses(fits, g)
    assert {part.dtype for part in rounded} == {np.dtype(np.float32)}
    for before, after in zip(fits[1:], rounded[1:], strict=True):
        # Sums of multiples of a power of two: no rounding.
        assert (after.sum(axis=1, dtype=float) == 0).all()
        assert np.abs(after - before).max() < MOST_ROUNDING / (n - g)
    # What they add to the number of errors of one rule over the tested observations.
    learning = np.argsort(rng.random((2000, n)), axis=1) < g
    moved = (rounded[1] - fits[1])[0] @ learning.T * (n - g)
    assert moved.std() < MOST_ROUNDING


@pytest.mark.parametrize("n", [240, 500])
def test_fits_of_many_observations_stay_as_they_are(rng, n):
    fits = additive_fits(rng, n)
    assert all(a is b for a, b in zip(fits, rounded_losses(fits, n // 2 - 1), strict=True))


@pytest.mark.parametrize(("n", "g"), [(9, 3), (20, 9), (120, 5), (120, 58), (160, 150)])
@pytest.mark.parametrize("learning", [-1, 0.1, 1])
@pytest.mark.parametrize("test", [0.1, 3])
def test_no_sum_of_residuals_exceeds_single_precision(n, g, learning, test):
    """Of effects of which one stands out, up or down."""
    one = np.eye(1, n) - 1 / n
    n_single = 0
    for scale in np.geomspace(0.01, 1, 100):
        fits = rounded_losses((np.array([-0.5]), learning * scale * one, -test * scale * one), g)
        if fits[0].dtype == float:
            continue
        n_single += 1
        centre, a, d = (np.round(part.astype(float) * 2**40).astype(int) for part in fits)
        every = np.concatenate([centre, a[0], d[0], [2**40]])
        unit = np.gcd.reduce(every)
        assert unit & (unit - 1) == 0
        sums = np.sort(a[0])[:g].sum(), np.sort(a[0])[-g:].sum()
        reached = (centre[0] + total + effect for total in sums for effect in d[0])
        largest = 2**40 + max(abs(value) for value in reached)
        assert SETS_PER_SUM * (n - g) * largest <= SINGLE * unit
    assert n_single > 10


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("n", "g", "scale"), [(20, 9, 0.5), (120, 58, 0.02), (160, 40, 0.01)])
def test_single_precision_loses_nothing_of_the_largest_sums(rng, n, g, scale, sign):
    """Every rule errs everywhere, on sets of the observations with the largest effects."""
    fits = tuple(np.repeat(part[:1], 2, axis=0) for part in additive_fits(rng, n, scale))
    fits = rounded_losses((-sign * fits[0], fits[1], fits[2]), g)
    assert fits[0].dtype == np.float32
    l1 = np.zeros((2, 32, 8, n), dtype=bool)
    order = np.argsort(sign * fits[1][0])
    l1[..., order[:g]] = True
    l2 = np.zeros_like(l1)
    l2[..., order[g : 2 * g]] = True
    errors = np.full(l1.shape, sign, dtype=np.int8)
    arrays = (errors, errors, l1, l2, np.ones(l1.shape[:3]))
    found = []
    for additive in (fits, tuple(part.astype(float) for part in fits)):
        joint = JointSums(2, n)
        found.append(residual_sums(*arrays, additive, g, 0, joint) | joint.known)
    single, double = found
    for key, expected in double.items():
        np.testing.assert_allclose(single[key], expected, rtol=1e-13, atol=1e-12, err_msg=key)


def test_all_else_is_in_double_precision(rng, monkeypatch):
    """The estimates are those with the same fits in double precision throughout."""
    l1, l2 = draw_from_halves(rng, 80, 3, 20, 9)
    exchanged = exchange_one(rng, l1[:, 0], l2[:, 0])
    d1, d2 = rng.integers(-1, 2, (2, *l1.shape))
    d3 = rng.integers(-1, 2, exchanged.shape)

    def estimates():
        sums = Accumulator(20, 9, disjoint=True, n_draws=80)
        sums.add((d1, d2, l1, l2), exchanged=(d3, exchanged))
        kind = {part.dtype for part in sums._blocks[0].additive}
        return kind, sums.estimates().values

    single, found = estimates()
    monkeypatch.setattr(
        "ucvtest.kernels.ustatistic.control_variate.rounded_losses",
        lambda fits, g: in_double(rounded_losses(fits, g)),
    )
    double, expected = estimates()
    assert (single, double) == ({np.dtype(np.float32)}, {np.dtype(float)})
    assert found == pytest.approx(expected, rel=1e-12)


def test_many_sets_in_a_draw_are_added_up_in_double_precision(rng):
    errors = np.zeros((4, 65, 9), dtype=np.int8)
    sets = np.broadcast_to(np.arange(9) < 3, errors.shape)
    for n_sets, kind in ((64, np.float32), (65, float)):
        sums = Accumulator(9, 3, disjoint=True, n_draws=4)
        d, learning = errors[:, :n_sets], sets[:, :n_sets]
        sums.add((d, d, learning, learning[..., ::-1]))
        assert {part.dtype for part in sums._blocks[0].additive} == {np.dtype(kind)}


@pytest.mark.parametrize(("factor", "n_sets"), [(0.3, 8), (1.0, 65)])
def test_sums_over_other_draws_than_those_that_settled_the_fit(rng, monkeypatch, factor, n_sets):
    """The fit stays as it is, rounded; sums that are not exact are in double precision."""
    sums = Accumulator(9, 3, disjoint=True, n_draws=32)
    learning = np.argsort(rng.random((80, 8, 9))) < 3
    errors = rng.integers(-1, 2, learning.shape)
    sums.add((errors, errors, learning, learning[..., ::-1]))
    assert sums._fits._settled[0].dtype == np.float32
    precisions = []

    def call(*arguments, **settings):
        precisions.append({part.dtype for part in arguments[5]})
        return residual_sums(*arguments, **settings)

    monkeypatch.setattr("ucvtest.kernels.ustatistic.accumulator.residual_sums", call)
    sets = np.broadcast_to(learning[:, :1], (80, n_sets, 9))
    others = factor * rng.integers(-1, 2, sets.shape)
    sums.add((others, others, sets, sets[..., ::-1]))
    assert precisions
    assert all(each == {np.dtype(float)} for each in precisions)
    # One block: they share a fit.
    assert len(sums._blocks) == 1


def test_products_of_residuals_ask_for_all_digits():
    """Accelerators round the factors of a product in single precision unless told not to."""
    d, sets = np.zeros((2, 1, 4, 9), dtype=np.int8), np.zeros((2, 1, 4, 9), dtype=bool)
    fits = tuple(np.zeros(shape, dtype=np.float32) for shape in (2, (2, 9), (2, 9)))
    with jax.enable_x64(True):
        traced = _sums_of_groups.trace(
            np.zeros((2, 9, 9)), d, d, sets, sets, np.ones((2, 1, 4)), fits, 9, 3, 0
        )
        text = str(traced.jaxpr)
    assert text.count("dot_general[") == text.count("precision=(Precision.HIGHEST, ") > 0


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
