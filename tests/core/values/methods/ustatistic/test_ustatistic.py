"""UStatisticTest against the paper's definition, enumeration, and its own stated errors."""

import math
from functools import partial

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import ustatistic as oracle
from tests.support.cells import repeated
from ucvtest.methods.ustatistic.run import Sampler


def normal_problem(n, seed, shift=0.6):
    """Two classes, three normal features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return rng.normal(size=(n, 3)) * [1, 2, 1] + shift * y[:, None], y


def nearest_mean(X_train, y_train, X_test):
    """A deterministic learner that is easy to follow: the label of the nearer class mean."""
    means = np.array([X_train[y_train == label].mean(axis=0) for label in (0, 1)])
    return ((X_test[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)


def first_feature(X_train, y_train, X_test):
    """Threshold the first feature at its mean."""
    return (X_test[:, 0] > X_train[:, 0].mean()).astype(int)


def train_mean(X_train, y_train, X_test):
    """The mean response, whatever X."""
    return np.full(len(X_test), y_train.mean())


def nothing(X_train, y_train, X_test):
    """Zero, whatever was learnt."""
    return np.zeros(len(X_test))


def slope(X_train, y_train, X_test):
    """Least squares through the mean on the first feature."""
    x, y = X_train[:, 0], y_train
    b = np.cov(x, y)[0, 1] / x.var(ddof=1) if len(x) > 1 else 0.0
    return y.mean() + b * (X_test[:, 0] - x.mean())


def paper_kernel(X, y, g, loss, learner, other=None):
    """Phi_0 with the one-class rule of the package, from plain Python."""

    def predict(rule, learning, test):
        labels = y[list(learning)]
        if loss == "zero_one" and len(set(labels)) == 1:
            return labels[0]
        return rule(X[list(learning)], labels, X[[test]])[0]

    def one(rule, learning, test):
        error = predict(rule, learning, test) - y[test]
        return float(error != 0) if loss == "zero_one" else error**2

    def phi(learning, test):
        second = 0.0 if other is None else one(other, learning, test)
        return one(learner, learning, test) - second

    return oracle.symmetrised_kernel(phi, len(y), g)


def classes(n, seed):
    X, y = normal_problem(n, seed)
    return X, np.arange(n) % 2 if len(set(y)) == 1 else y


def numbers(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + 0.5 * rng.normal(size=n)


EXACT_CASES = [
    (classes, 8, 3, "zero_one", nearest_mean, first_feature),
    (classes, 9, 3, "zero_one", nearest_mean, None),
    (numbers, 8, 2, "squared", slope, train_mean),
    (numbers, 8, 1, "squared", train_mean, nothing),
]


@pytest.mark.seconds(4, reason="enumerates all learning sets")
class TestExact:
    @pytest.mark.parametrize(("data", "n", "g", "loss", "learner", "other"), EXACT_CASES)
    def test_equals_the_definition(self, data, n, g, loss, learner, other):
        X, y = data(n, 3)
        phi_0 = paper_kernel(X, y, g, loss, learner, other)
        test = uv.UStatisticTest(X, y, learner, other, learn_size=g, loss=loss)
        result = test.fit(n_pairs="exact", variance="jackknife", rng=0)
        expected = {
            "variance_unbiased": oracle.variance_hat(phi_0, n, g),
            "variance_asymptotic": oracle.asymptotic_variance(phi_0, n, g),
            "variance_jackknife": oracle.jackknife_variance(phi_0, n),
            "variance_geometric": oracle.geometric_variance(phi_0, n, g),
            "variance_midpoint": oracle.midpoint_variance(phi_0, n, g),
            "pair_effects": oracle.pair_effects(phi_0, n, g),
            "theta_squared": oracle.kappa_hat(phi_0, 0),
        }
        assert result.estimate == pytest.approx(oracle.complete_statistic(phi_0), abs=1e-12)
        for name, value in expected.items():
            assert result.diagnostics[name] == pytest.approx(value, abs=1e-10), name
        assert result.diagnostics["mc_se_estimate"] == 0
        kappa = test.kappa_profile(n_pairs="exact").kappa
        np.testing.assert_allclose(
            kappa, [oracle.kappa_hat(phi_0, c) for c in range(g + 2)], atol=1e-10
        )

    def test_large_learning_sets(self):
        X, y = classes(9, 3)
        phi_0 = paper_kernel(X, y, 6, "zero_one", nearest_mean, first_feature)
        result = uv.UStatisticTest(X, y, nearest_mean, first_feature, learn_size=6).fit("exact")
        assert result.variance == pytest.approx(oracle.jackknife_variance(phi_0, 9), abs=1e-12)
        assert result.df == 8
        assert math.isfinite(result.pvalue)


class TestOwnValues:
    @pytest.mark.parametrize(("learn_size", "loss"), [(19, "zero_one"), (30, "zero_one")])
    def test_drawn_ones_agree_with_a_long_test_of_each_learner(self, learn_size, loss):
        X, y = normal_problem(40, 1)
        learners = ("lda", "gaussian_nb")
        make = partial(uv.UStatisticTest, X, y, learn_size=learn_size, loss=loss)
        both = make(*learners).fit(8000, rng=1, variance="jackknife")
        for learner, estimate, se in zip(*both.tables["Learners"].values(), strict=True):
            alone = make(learner).fit(4000, rng=2, variance="jackknife")
            assert estimate == pytest.approx(alone.estimate, abs=0.05 * alone.se)
            # Large learning sets are noisier.
            assert se == pytest.approx(alone.se, rel=0.05 if learn_size < 20 else 0.1)

    def test_learners_that_never_err(self):
        # Of six in each class: learning sets of seven have both.
        X = np.arange(12.0)[:, None]
        y = X[:, 0] > 5
        known = lambda a, b, c: c[:, 0] > 5  # noqa: E731
        opposite = lambda a, b, c: c[:, 0] <= 5  # noqa: E731
        for n_pairs in (200, "exact"):
            result = uv.UStatisticTest(X, y, known, opposite, learn_size=7).fit(n_pairs, rng=0)
            assert result.tables["Learners"]["estimate"] == (0.0, 1.0)
            assert result.tables["Learners"]["se"] == (0.0, 0.0)


class TestSampling:
    X, y = classes(12, 5)

    def run(self, rng, **options):
        test = uv.UStatisticTest(self.X, self.y, "nearest_centroid", "knn:1", learn_size=4)
        return test.fit(**{"n_pairs": 200, "variance": "unbiased", "rng": rng} | options)

    def test_agrees_with_the_exact_value_within_its_stated_errors(self):
        exact = self.run(0, n_pairs="exact").diagnostics
        exact_estimate = self.run(0, n_pairs="exact").estimate
        runs = [self.run(seed) for seed in range(40)]
        for name, stated, truth in (
            ("estimate", "mc_se_estimate", exact_estimate),
            ("variance", "mc_se_variance", exact["variance_unbiased"]),
        ):
            values = np.array([getattr(run, name) for run in runs])
            errors = np.array([run.diagnostics[stated] for run in runs])
            assert abs(values.mean() - truth) < 3.5 * values.std(ddof=1) / np.sqrt(40)
            assert 0.7 < np.sqrt(np.mean(errors**2)) / values.std(ddof=1) < 1.45

    def test_a_seed_decides_the_draws_whatever_the_learners(self):
        X, y = normal_problem(40, 0)
        seen = []

        def spy(X_train, y_train, X_test):
            seen.append(X_train[:, 0].sum())
            return np.zeros(len(X_test), dtype=int)

        uv.UStatisticTest(X, y, spy, learn_size=12).fit(n_pairs=20, rng=1)
        alone = sorted(seen)
        seen.clear()
        uv.UStatisticTest(X, y, spy, "lda", learn_size=12).fit(n_pairs=20, rng=1)
        assert sorted(seen) == alone


class TestKappaProfile:
    X, y = numbers(12, 0)

    def test_sampled_agrees_with_exact(self):
        test = uv.UStatisticTest(self.X, self.y, "ridge:1", "knn:1", learn_size=3)
        exact, sampled = test.kappa_profile(n_pairs="exact"), test.kappa_profile(rng=0)
        z = (sampled.kappa - exact.kappa) / sampled.mc_se
        assert np.abs(z).max() < 4

    def test_predicts_the_variance_at_its_own_sample_size(self):
        test = uv.UStatisticTest(self.X, self.y, "ridge:1", "knn:1", learn_size=3)
        exact = test.fit("exact").diagnostics["variance_unbiased"]
        assert test.kappa_profile(n_pairs="exact").variance(12) == pytest.approx(exact, abs=1e-12)
        sampled = test.kappa_profile(n_pairs=2000, rng=1)
        assert abs(sampled.variance(12) - exact) < 4 * sampled.variance_mc_se(12)

    def test_predicts_the_variance_at_another_sample_size(self):
        # The mean response has a kernel whose variance is known for every n.
        rng = np.random.default_rng(0)
        predicted, direct = [], []
        for _ in range(n_samples := repeated(300)):
            y = rng.normal(size=12)
            test = uv.UStatisticTest(np.zeros((12, 1)), y, "ridge:1e9", learn_size=2)
            predicted.append(test.kappa_profile(n_pairs="exact").variance(24))
            y = rng.normal(size=24)
            # Squared error of the mean of two at a third: a U-statistic of degree two at heart.
            direct.append(1.5 * y.var(ddof=1))
        expected = np.var(direct, ddof=1)
        error = np.std(predicted) / np.sqrt(n_samples) + 0.1 * expected
        assert abs(np.mean(predicted) - expected) < 3 * error


class TestInference:
    def test_reference_belongs_to_the_variance(self):
        X, y = normal_problem(40, 1)
        test = uv.UStatisticTest(X, y, "lda", "knn:3", learn_size=12)
        names = ("midpoint", "clipped", "jackknife", "unbiased", "asymptotic")
        found = {name: test.fit(n_pairs=3000, variance=name, rng=0) for name in names}
        assert {name: r.reference for name, r in found.items() if r.status == "ok"}.items() <= {
            "midpoint": "t",
            "clipped": "t",
            "jackknife": "t",
            "unbiased": "normal",
            "asymptotic": "normal",
        }.items()
        assert found["midpoint"].df == found["clipped"].df == found["jackknife"].df == 39
        assert math.isnan(found["unbiased"].df)
        assert len({r.variance for r in found.values()}) >= 3

    @pytest.mark.parametrize(
        ("n", "learn_size", "loss", "chosen"),
        [
            (40, 12, "zero_one", "midpoint"),
            (40, 20, "zero_one", "midpoint"),
            (40, 21, "zero_one", "jackknife"),
            (41, 20, "zero_one", "midpoint"),
            (12, 5, "zero_one", "midpoint"),
            (11, 4, "zero_one", "jackknife"),
            (40, 12, "squared", "jackknife"),
            (40, 12, "log", "jackknife"),
        ],
    )
    def test_auto_variance(self, n, learn_size, loss, chosen):
        X, y = normal_problem(n, 1)
        learner = {"zero_one": "nearest_centroid", "squared": "ridge:1", "log": "lda"}[loss]
        test = uv.UStatisticTest(X, y, learner, learn_size=learn_size, loss=loss)
        result = test.fit(n_pairs=512, rng=0)
        assert result.diagnostics["variance"] == chosen
        assert result.settings["variance"] == "auto"
        asked = test.fit(n_pairs=512, variance=chosen, rng=0)
        assert (asked.estimate, asked.variance) == (result.estimate, result.variance)

    @pytest.mark.seconds(4, reason="as many pairs as the tolerance needs")
    def test_the_default_ends_by_itself_at_every_tolerance(self):
        for seed in range(2):
            X, y = normal_problem(60, seed)
            test = uv.UStatisticTest(X, y, "lda", "nearest_centroid", learn_size=29)
            found = [test.fit(tol=tol, rng=seed) for tol in (0.9, 0.05)]
            for result, error in zip(found, (0.25, 0.05), strict=True):
                assert result.status == "ok"
                assert result.diagnostics["mc_se_variance"] <= error * result.variance
            assert found[0].n_fits < found[1].n_fits < 100_000

    def test_many_observations_do_without_the_clipped_variance(self):
        X, y = normal_problem(2002, 1)
        test = uv.UStatisticTest(X, y, "nearest_centroid", learn_size=10)
        assert test.fit_options(n_pairs=64).variance == "jackknife"

    def test_standard_error_holds_the_monte_carlo_error(self):
        X, y = normal_problem(40, 1)
        r = uv.UStatisticTest(X, y, "lda", learn_size=12).fit(n_pairs=100, rng=0)
        expected = math.sqrt(r.variance + r.diagnostics["mc_se_estimate"] ** 2)
        assert r.se == pytest.approx(expected, rel=1e-12)

    @pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
    def test_the_chosen_variance_has_the_same_interval_and_p_value_in_the_table(self, alternative):
        X, y = normal_problem(40, 1)
        test = uv.UStatisticTest(X, y, "lda", "knn:3", learn_size=12, alternative=alternative)
        result = test.fit(n_pairs=500, rng=0)
        assert result.status == "ok"
        table = result.tables["Variances"]
        row = table["variance"].index(result.diagnostics["variance"])
        assert (table["conf_low"][row], table["conf_high"][row]) == result.conf_int()
        assert table["pvalue"][row] == result.pvalue

    def test_a_tie_left_open_costs_the_mean_of_both_labels(self):
        X, y = normal_problem(40, 1)

        def one_each(truth, prediction):
            return truth != prediction

        found, expected = (
            uv.UStatisticTest(X, y, "majority:half", loss=loss, learn_size=12).fit(
                60, "jackknife", rng=0
            )
            for loss in (one_each, "zero_one")
        )
        assert found.diagnostics["class_ties"] > 0
        assert found.estimate == expected.estimate

    def test_a_loss_sees_only_what_was_predicted(self):
        X, y = normal_problem(40, 1)

        def relative(truth, prediction):
            assert (prediction > 0).all()
            return np.abs(truth / prediction - 1)

        y = np.exp(X[:, 0])
        result = uv.UStatisticTest(X, y, "knn:3", loss=relative).fit(30, rng=0)
        assert result.estimate > 0


class TestWhatCannotBeTested:
    def test_negative_variance_estimate(self):
        # Over all learning sets of each sample, so no matter of Monte-Carlo error.
        n_negative = 0
        for seed in range(8):
            X, y = classes(10, seed)
            test = uv.UStatisticTest(X, y, "nearest_centroid", "knn:1", learn_size=4)
            result = test.fit("exact", variance="unbiased")
            if result.variance >= 0:
                assert not result.status.startswith("negative")
                continue
            n_negative += 1
            assert result.status.startswith("negative variance estimate (")
            assert np.isnan([result.pvalue, result.se]).all()
            remedied = test.fit("exact", variance="midpoint")
            assert remedied.status == "ok"
            assert 0 < remedied.pvalue <= 1
        assert n_negative > 0

    def test_too_few_resamples(self):
        X, y = normal_problem(60, 1)
        test = uv.UStatisticTest(X, y, "lda", "nearest_centroid", learn_size=26)
        result = test.fit(n_pairs=10, variance="midpoint", rng=0)
        assert result.status.startswith("too few resamples")
        assert math.isnan(result.pvalue)
        noisy = [test.fit(n_pairs=200, variance="unbiased", rng=seed) for seed in range(5)]
        for result in noisy:
            imprecise = not result.diagnostics["mc_se_variance"] <= result.variance / 4
            assert imprecise == math.isnan(result.pvalue)
        assert any(result.status.startswith("too few resamples") for result in noisy)

    @pytest.mark.parametrize("variance", ["clipped", "jackknife", "unbiased", "asymptotic"])
    @pytest.mark.parametrize("n_pairs", ["exact", 50, "auto"])
    def test_a_loss_that_does_not_vary(self, variance, n_pairs):
        # 0.1 is no binary fraction, so that sums of it leave rounding errors.
        test = uv.UStatisticTest(
            normal_problem(10, 0)[0],
            np.arange(10) % 2,
            "nearest_centroid",
            learn_size=4,
            loss=lambda y, p: np.full(p.shape, 0.1),
            null_value=0,
        )
        result = test.fit(n_pairs=n_pairs, variance=variance, rng=0)
        assert result.status.startswith("degenerate: the loss is the same at every observation, ")
        assert math.isnan(result.pvalue)
        assert result.n_fits < 2000

    def test_products_below_zero_ask_for_more_pairs(self):
        # No sample has a negative jackknife; squares stand in for it, with a large error.
        X, y = normal_problem(40, 1)
        test = uv.UStatisticTest(X, y, "lda", "ridge:0.001", learn_size=14)
        result = test.fit(20, variance="jackknife", rng=0)
        assert result.variance > 0
        assert result.status.startswith("too few resamples: the Monte-Carlo standard error")
        assert math.isnan(result.pvalue)


def test_resamples_for_precision():
    # Corollary 5.1 with d = 2: 10^5 splits fix two digits with probability 0.99.
    assert uv.resamples_for_precision(0.01, confidence=1 - 2 * math.exp(-5)) == 100_000
    assert uv.resamples_for_precision(0.01, low=0) < uv.resamples_for_precision(0.01)
    assert uv.resamples_for_precision(0.01, 0.9) < uv.resamples_for_precision(0.01)


# ------------------------------------------------------------------------- losses that exist


def drawn_by(test, n_pairs, monkeypatch):
    """The result of a test's own fit, and its design and losses as `uv.Losses`."""
    stages, fit = [], Sampler.fitted

    def watched(self, drawn):
        fitted = fit(self, drawn)
        stages.append(fitted)
        return fitted

    with monkeypatch.context() as patch:
        patch.setattr(Sampler, "fitted", watched)
        result = test.fit(n_pairs, rng=0)
    ((drawn, values),) = stages
    # Draw by draw, without the third sets, which only the asymptotic variance needs.
    order = np.argsort(drawn.draw, kind="stable")
    values, learning = (values[0] - sum(values[1:]))[order], drawn.learning[order]
    return result, uv.Losses.from_arrays(values.astype(float), learning, loss="squared")


@pytest.mark.parametrize("variance", ["clipped", "unbiased", "jackknife"])
def test_given_losses_are_tested_as_those_of_its_own_fits(variance, monkeypatch):
    rng = np.random.default_rng(3)
    y = rng.normal(size=40)
    X = y[:, None] + rng.normal(size=(40, 3))
    own = uv.UStatisticTest(X, y, "ridge:1.0", learn_size=12, null_value=1.0)
    expected, losses = drawn_by(own, 400, monkeypatch)
    test = uv.UStatisticTest.from_losses(losses, null_value=1.0)
    found = test.fit(variance=variance)
    for name in ("clipped", "unbiased", "jackknife", "geometric"):
        name = f"variance_{name}"
        np.testing.assert_allclose(found.diagnostics[name], expected.diagnostics[name], rtol=1e-9)
    np.testing.assert_allclose(found.estimate, expected.estimate)
    assert found.diagnostics["n_pairs"] == expected.diagnostics["n_pairs"] == 400
    if variance == "jackknife":
        np.testing.assert_allclose(found.pvalue, expected.pvalue)
        np.testing.assert_allclose(found.se, expected.se)
    assert (found.n_fits, found.n_obs) == (800, 40)


def test_losses_of_evaluate_give_the_variance_of_from_pairs():
    rng = np.random.default_rng(3)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + y[:, None]
    losses = uv.evaluate(["lda", "knn:3"], X, y, uv.designs.DisjointSets(12, 300), rng=0)
    found = uv.UStatisticTest.from_losses(losses).fit(variance="unbiased")
    table = np.nan_to_num(losses.difference(0, 1).table)
    learning = losses.design.learning
    expected = uv.kernels.ustatistic.from_pairs(
        table[::2], table[1::2], learning[::2], learning[1::2]
    )
    np.testing.assert_allclose(found.variance, expected["variance"])
    np.testing.assert_allclose(found.estimate, expected["estimate"])
    np.testing.assert_allclose(found.diagnostics["mc_se_estimate"], expected["mc_se_estimate"])


@pytest.mark.parametrize(
    ("design", "classes_kept", "chosen"),
    [
        (uv.designs.RandomSplits(3000, 0.5), False, "midpoint"),
        (uv.designs.RandomSplits(3000, 0.5, stratify=True), True, "midpoint"),
        (uv.designs.RandomSplits(3000, 0.3), False, "jackknife"),
        (uv.designs.KFold(2, n_repeats=1500), False, "midpoint"),
    ],
)
def test_random_splits_of_one_size_are_admitted(design, classes_kept, chosen):
    X, y = normal_problem(40, 1)
    y = np.sort(y)
    losses = uv.evaluate(["lda", "knn:3"], X + y[:, None], y, design, rng=0)
    found = uv.UStatisticTest.from_losses(losses).fit()
    (size,) = losses.design.learn_sizes
    assert (found.status, found.n_fits) == ("ok", 6000)
    assert found.diagnostics["variance"] == chosen
    own = uv.UStatisticTest(X + y[:, None], y, "lda", "knn:3", learn_size=size)
    expected = own.fit(6000, rng=1)
    assert expected.diagnostics["variance"] == chosen
    if classes_kept:
        # Another estimand: near, but not the same.
        assert found.se == pytest.approx(expected.se, rel=0.25)
        return
    for value, error in (("estimate", "mc_se_estimate"), ("variance", "mc_se_variance")):
        errors = [result.diagnostics[error] for result in (found, expected)]
        assert abs(getattr(found, value) - getattr(expected, value)) < 4 * np.hypot(*errors)
