"""Influence values against numeric derivatives of the perturbed estimates, and closed forms."""

import itertools

import numpy as np
import pytest

from tests.oracles import influence as oracle
from tests.support.samples import rows_class_by_class
from ucvtest.kernels import influence
from ucvtest.kernels.influence.estimate import Rows
from ucvtest.kernels.influence.sums import LearningSets, PairCounts


def draw_bootstrap(rng, n_repeats, sizes):
    """Counts of bootstrap samples of each class."""
    parts = [rng.multinomial(n, np.full(n, 1 / n), size=n_repeats) for n in sizes]
    return np.hstack(parts)


def draw_scores(rng, tested, y, ties):
    """Scores that depend on what is learnt; whole numbers where there are to be ties."""
    learnt = ~tested @ rng.normal(size=tested.shape[1])
    scores = y + rng.normal(size=tested.shape) + 0.3 * np.tanh(learnt)[:, None]
    return np.round(scores) if ties else scores


def labels(n1, n0):
    return np.repeat([1, 0], [n1, n0])


AUC_CASES = [
    (6, 5, 2, 1, 200, False),
    (6, 5, 2, 1, 200, True),
    (5, 5, 1, 1, 400, True),
]


class TestAuc:
    @pytest.mark.parametrize(("n1", "n0", "t1", "t0", "n_repeats", "ties"), AUC_CASES)
    def test_values_equal_the_numeric_derivative(self, n1, n0, t1, t0, n_repeats, ties):
        rng = np.random.default_rng(n1 * n0 + ties)
        y = labels(n1, n0)
        tested = rows_class_by_class(rng, n_repeats, (n1, n0), (t1, t0))
        scores = draw_scores(rng, tested, y, ties)
        found = influence.auc(scores, tested, y)
        u1, u0 = oracle.auc_influence(scores, tested, y)
        np.testing.assert_allclose(found["u1"], u1, atol=1e-8)
        np.testing.assert_allclose(found["u0"], u0, atol=1e-8)
        assert [found["u1"].sum(), found["u0"].sum()] == pytest.approx([0, 0], abs=1e-10)
        expected = np.sqrt((u1**2).sum() / n1**2 + (u0**2).sum() / n0**2)
        assert found["se"] == pytest.approx(expected, abs=1e-8)
        assert np.abs(found["terms1"][1]).max() > 0.01  # the derivative is not term I alone

    @pytest.mark.parametrize("ties", [False, True])
    def test_bootstrap_values_equal_the_numeric_derivative(self, ties):
        rng = np.random.default_rng(3)
        y, counts = labels(6, 5), draw_bootstrap(rng, 60, (6, 5))
        counts = counts[((counts[:, :6] == 0).any(axis=1)) & ((counts[:, 6:] == 0).any(axis=1))]
        tested = counts == 0
        scores = draw_scores(rng, tested, y, ties)
        found = influence.auc(scores, tested, y, counts)
        u1, u0 = oracle.auc_influence(scores, tested, y, counts)
        np.testing.assert_allclose(found["u1"], u1, atol=1e-8)
        np.testing.assert_allclose(found["u0"], u0, atol=1e-8)

    def test_terms_equal_the_lemma(self):
        rng = np.random.default_rng(5)
        y, tested = labels(6, 5), rows_class_by_class(rng, 200, (6, 5), (2, 1))
        scores = draw_scores(rng, tested, y, ties=True)
        found = influence.auc(scores, tested, y)
        t1, t0 = tested[:, :6] * 1.0, tested[:, 6:] * 1.0
        psi = np.vectorize(oracle.psi)(scores[:, :6, None], scores[:, None, 6:])
        both = t1[:, :, None] * t0[:, None, :]
        n, c = (both * psi).sum(0), both.sum(0)
        for i in range(6):
            ratio = 2 - 6 * t1[:, i]  # (42b)
            second = ((both * psi * ratio[:, None, None]).sum(0) / c).mean()
            third = (n * (both * ratio[:, None, None]).sum(0) / c**2).mean()
            first = (n / c)[i].mean() - (n / c).mean()
            np.testing.assert_allclose(found["terms1"][:, i], [first, second, third], atol=1e-12)
        # Only with the sign of (46): with that of (19) the values are another thing altogether.
        u1 = oracle.auc_influence(scores, tested, y)[0]
        assert np.abs(found["terms1"].sum(axis=0) - u1).max() > 0.1

    def test_leave_one_out_is_the_naive_estimate(self):
        # (23): terms II and III cancel where each pair has one training set.
        rng = np.random.default_rng(0)
        y = labels(4, 5)
        pairs = list(itertools.product(range(4), range(4, 9)))
        tested = np.zeros((20, 9), dtype=bool)
        for row, pair in enumerate(pairs):
            tested[row, list(pair)] = True
        found = influence.auc(rng.normal(size=(20, 9)), tested, y)
        np.testing.assert_allclose(found["u1"], found["terms1"][0], atol=1e-12)
        np.testing.assert_allclose(found["u0"], found["terms0"][0], atol=1e-12)

    def test_results_do_not_depend_on_how_rows_are_divided(self, rng, monkeypatch):
        y, tested = labels(6, 5), rows_class_by_class(rng, 401, (6, 5), (2, 1))
        scores = draw_scores(rng, tested, y, ties=True)
        expected = influence.auc(scores, tested, y)
        monkeypatch.setattr("ucvtest.kernels.influence.calls.CALL_CELLS", 6 * 100)
        found = influence.auc(scores, tested, y)
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], atol=1e-12)

    def test_only_the_order_of_scores_counts(self, rng):
        y, tested = labels(6, 5), rows_class_by_class(rng, 200, (6, 5), (2, 1))
        scores = draw_scores(rng, tested, y, ties=True)
        scores[0, np.flatnonzero(tested[0])[0]] = np.inf
        expected, found = (influence.auc(s, tested, y) for s in (scores, np.arctan(scores)))
        np.testing.assert_allclose(found["u1"], expected["u1"], atol=1e-12)


class TestOneFold:
    """Scores that are given: the classical standard error of the empirical AUC."""

    def data(self, seed, n1=17, n0=23):
        rng = np.random.default_rng(seed)
        y = labels(n1, n0)
        return np.round(2 * (0.8 * y + rng.normal(size=len(y)))), y

    @pytest.mark.parametrize("seed", range(3))
    def test_equals_delong_with_the_plug_in_divisor(self, seed):
        scores, y = self.data(seed)
        found = influence.auc(scores[None], np.ones((1, len(y))), y)
        of_positives, of_negatives = oracle.delong(scores, y)
        expected = np.sqrt(16 / 17 * of_positives + 22 / 23 * of_negatives)
        assert found["se"] == pytest.approx(expected, rel=1e-12)


class TestError:
    @pytest.mark.parametrize(("n", "n_tested", "n_repeats"), [(8, 2, 40), (6, 1, 40)])
    def test_values_equal_the_numeric_derivative(self, n, n_tested, n_repeats):
        rng = np.random.default_rng(n)
        tested = rows_class_by_class(rng, n_repeats, (n,), (n_tested,))
        losses = (rng.random((n_repeats, n)) < rng.random(n)) * 1.0
        found = influence.error(losses, tested)
        expected = oracle.error_influence(losses, tested)
        np.testing.assert_allclose(found["u"], expected, atol=1e-8)
        assert found["se"] == pytest.approx(np.sqrt((expected**2).sum()) / n, abs=1e-8)

    def test_bootstrap_values_equal_the_numeric_derivative(self):
        rng = np.random.default_rng(2)
        counts = draw_bootstrap(rng, 30, (8,))
        losses = (rng.random((30, 8)) < rng.random(8)) * 1.0
        found = influence.error(losses, counts == 0, counts)
        expected = oracle.error_influence(losses, counts == 0, counts)
        np.testing.assert_allclose(found["u"], expected, atol=1e-8)

    def test_bootstrap_values_tend_to_the_published_form(self):
        # Efron and Tibshirani (1997): the limit over all bootstrap samples.
        rng = np.random.default_rng(2)
        n, n_repeats = 10, 200_000
        counts = draw_bootstrap(rng, n_repeats, (n,))
        tested = counts == 0
        x = rng.normal(size=n)
        losses = (np.abs((counts @ x / n)[:, None] - x) > 0.8) * 1.0
        found = influence.error(losses, tested, counts)
        e = (tested * losses).sum(0) / tested.sum(0)
        q = (tested * losses).mean(1)
        excess = counts - counts.mean(0)
        published = (2 + 1 / (n - 1)) * (e - e.mean()) + n * (excess.T @ q) / tested.sum(0)
        np.testing.assert_allclose(found["u"], published, atol=0.03)
        assert np.abs(published).max() > 0.3

    def test_any_loss_will_do(self):
        rng = np.random.default_rng(0)
        tested = rows_class_by_class(rng, 40, (8,), (2,))
        losses = rng.normal(size=(40, 8)) ** 2
        found = influence.error(losses, tested)["u"]
        np.testing.assert_allclose(found, oracle.error_influence(losses, tested), atol=1e-7)


class TestMonteCarloErrors:
    def runs(self, n_repeats, n_runs=60):
        """The same sample and rule, different folds."""
        z = np.random.default_rng(4).normal(size=16)
        y = labels(8, 8)

        def score(tested):
            learnt = (~tested * (y - 0.5) * z).sum(axis=1, keepdims=True)
            return 0.6 * y + z * np.tanh(learnt) + 0.5 * z

        found = []
        for seed in range(n_runs):
            rng = np.random.default_rng(seed)
            tested = rows_class_by_class(rng, n_repeats, (8, 8), (2, 2))
            rows = Rows(tested, ~tested, np.arange(n_repeats))
            sums = PairCounts.of(y, n_repeats, [rows]).sums()
            sums.add(rows, score(tested))
            found.append(sums.influence([rows]))
        return found

    def test_stated_errors_agree_with_the_spread(self):
        runs = self.runs(600)
        for value, stated in (("estimate", "mc_se"), ("variance", "mc_se_variance")):
            spread = np.std([getattr(run, value) for run in runs], ddof=1)
            mean_square = np.mean([getattr(run, stated) ** 2 for run in runs])
            # 60 runs tell a standard deviation to 9%, 16 groups theirs to 18%.
            assert 0.7 < np.sqrt(mean_square) / spread < 1.4, value

    def test_stated_bias_is_the_noise_of_the_influence_values(self):
        runs = self.runs(600)
        noise = np.var([run.values for run in runs], axis=0, ddof=1)
        expected = (noise / runs[0].divisor ** 2).sum()
        stated = np.mean([run.mc_bias_variance for run in runs])
        # 16 values with 59 degrees of freedom each.
        assert stated == pytest.approx(expected, rel=0.2)
        # The variance of a sum of independent groups is that of one, times their number.
        groups, divisor = runs[0].by_group, runs[0].divisor
        of_sum = len(groups) * groups.var(axis=0, ddof=1)
        assert runs[0].mc_bias_variance == pytest.approx((of_sum / divisor**2).sum())

    def test_noise_of_shares_is_that_of_a_linear_third_term(self, rng):
        members, n, learnt = np.array([0, 2, 3, 5, 7, 8]), 6, rng.integers(3, 8, size=9) * 1.0
        sets = LearningSets(*np.zeros((4, 1)), learnt, n_rows=10)
        moved = rng.normal(size=(4, n))
        moved -= moved.mean(axis=1, keepdims=True)
        share = learnt[members].mean() / 10
        third = np.where(np.eye(n) > 0, -share, share / (n - 1))
        np.testing.assert_allclose(sets.noise_of_shares(members, moved), moved - moved @ third)


class TestAdHoc:
    def test_equal_the_definitions(self, rng):
        folds = rng.random((6, 4, 4))
        found = influence.ad_hoc_variances(folds)
        assert found["adhoc_1"] == pytest.approx(np.mean([oracle.adhoc_1(f) for f in folds]))
        assert found["adhoc_2"] == pytest.approx(np.mean([oracle.adhoc_2(f) for f in folds]))
        for name, mle in (("adhoc_3", False), ("adhoc_3_mle", True)):
            expected = np.mean([oracle.adhoc_3(f, f.mean(), mle) for f in folds])
            assert found[name] == pytest.approx(expected)

    def test_unequal_folds_use_the_estimate_itself(self, rng):
        folds, overall = rng.random((3, 4, 3)), rng.random(3)
        found = influence.ad_hoc_variances(folds, overall)
        expected = [oracle.adhoc_3(f, e) for f, e in zip(folds, overall, strict=True)]
        assert found["adhoc_3"] == pytest.approx(np.mean(expected))
        assert np.isnan(found["adhoc_2"])

    def test_error_rates_have_one_form(self, rng):
        folds = rng.random((5, 4))
        found = influence.ad_hoc_variances(folds)
        expected = folds.var(axis=1, ddof=1).mean() / 4  # (6), averaged as in (9)
        for name in ("adhoc_1", "adhoc_2", "adhoc_3"):
            assert found[name] == pytest.approx(expected)
        assert found["adhoc_3_mle"] == pytest.approx(expected * 3 / 4)
