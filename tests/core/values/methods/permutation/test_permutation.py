"""The permutation estimate against enumeration and closed forms."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import ucvtest as uv
from tests.support.cells import repeated
from ucvtest.learners import kernel_ridge, ridge


def two_species():
    X, y = load_iris(return_X_y=True)
    return X[50:, :2], y[50:]


def small_regression(seed=0, n=7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n) + 1


def minimiser(X, lam, penalize_intercept, scale):
    """Fitted values of many responses (n, P), by least squares on rows that stand for lam."""
    n, p = X.shape
    weight = math.sqrt(lam * (n if scale == "mean" else 1))
    penalised = np.eye(p + 1)[0 if penalize_intercept else 1 :]
    design = np.vstack([np.column_stack([np.ones(n), X]), weight * penalised])

    def fit(responses):
        zeros = np.zeros((len(penalised), responses.shape[1]))
        slopes = np.linalg.lstsq(design, np.vstack([responses, zeros]), rcond=None)[0]
        return design[:n] @ slopes

    return fit


def e_gen_over(labels, fit, y):
    """Section 2: mean over labelings (P, n) of e_out - e_in, each as a sum over pairs."""
    g = fit(labels.T).T
    e_in = ((g - labels) ** 2).mean(axis=1)
    e_out = ((g[:, :, None] - y) ** 2).mean(axis=(1, 2))
    return float((e_out - e_in).mean())


RIDGES = [
    (lam, penalize, scale)
    for lam in (0.0, 0.7)
    for penalize in (False, True)
    for scale in ("sum", "mean")
]


class TestLinearSmoothers:
    @pytest.mark.parametrize(("lam", "penalize", "scale"), RIDGES)
    def test_analytic_and_exact_are_the_mean_over_7_factorial(self, lam, penalize, scale):
        X, y = small_regression()
        labels = y[np.array(list(itertools.permutations(range(7))))]
        expected = e_gen_over(labels, minimiser(X, lam, penalize, scale), y)
        test = uv.PermutationComplexityTest(X, y, ridge(lam, penalize, scale))
        for how in ("analytic", "exact"):
            result = test.fit(how)
            assert result.diagnostics["e_gen"] == pytest.approx(expected, abs=1e-10)
            assert result.diagnostics["mc_se_estimate"] == 0.0
            residual = minimiser(X, lam, penalize, scale)(y[:, None])[:, 0] - y
            e_in = np.mean(residual**2)
            assert result.estimate == pytest.approx(e_in + expected, abs=1e-10)
        assert result.n_fits == 5041
        assert result.pvalue * 5040 == pytest.approx(round(result.pvalue * 5040))

    @pytest.mark.parametrize("lam", [0.0, 0.7])
    def test_with_replacement_it_is_the_mean_over_5_to_the_5(self, lam):
        X, y = small_regression(1, n=5)
        labels = y[np.indices((5,) * 5).reshape(5, -1).T]
        expected = e_gen_over(labels, minimiser(X, lam, False, "sum"), y)
        test = uv.PermutationComplexityTest(X, y, ridge(lam))
        for how in ("analytic", "exact"):
            found = test.fit(how, "bootstrap").diagnostics["e_gen"]
            assert found == pytest.approx(expected, abs=1e-10)

    @pytest.mark.parametrize("sampling", ["permutation", "bootstrap"])
    def test_sampled_agrees_within_its_error(self, sampling):
        """Seven seeds; |z| > 4.5 happens once in 20 000 runs of this test."""
        X, y = small_regression()
        test = uv.PermutationComplexityTest(X, y, ridge(0.7))
        exact = test.fit("analytic", sampling).diagnostics
        for seed in range(7):
            found = test.fit(400, sampling, rng=seed).diagnostics
            for name, error in (("e_gen", "mc_se_estimate"), ("p_in", "mc_se_p_in")):
                assert abs(found[name] - exact[name]) < 4.5 * found[error]

    def test_its_error_is_the_spread_over_seeds(self):
        X, y = small_regression()
        test = uv.PermutationComplexityTest(X, y, ridge(0.7))
        runs = [test.fit(50, rng=seed).diagnostics for seed in range(60)]
        spread = np.std([run["e_gen"] for run in runs], ddof=1)
        stated = np.mean([run["mc_se_estimate"] for run in runs])
        # The standard deviation of 60 normal values is within 30% of the truth (3.3 s.e.).
        assert spread == pytest.approx(stated, rel=0.3)

    @pytest.mark.parametrize(
        "learner",
        [
            kernel_ridge(0.3, "rbf"),
            "polynomial:2",
            "knn:2",
            Ridge(alpha=0.5),
            make_pipeline(PolynomialFeatures(2), LinearRegression()),
        ],
        ids=str,
    )
    def test_every_linear_smoother_has_the_closed_form(self, learner):
        X, y = small_regression(n=5)
        X = X[:, :1]
        test = uv.PermutationComplexityTest(X, y, learner)
        closed, exact = test.fit("analytic"), test.fit("exact")
        for name in ("e_in", "e_gen", "p_in"):
            assert closed.diagnostics[name] == pytest.approx(exact.diagnostics[name], abs=1e-9)

    @pytest.mark.parametrize("sampling", ["permutation", "bootstrap", "rademacher"])
    def test_two_classes_as_numbers(self, sampling):
        X, y = np.random.default_rng(1).normal(size=(7, 1)), list("aababba")
        test = uv.PermutationComplexityTest(X, y, ridge(0.4), loss="squared")
        closed, exact = test.fit("analytic", sampling), test.fit("exact", sampling)
        for name in ("e_in", "e_gen", "p_in"):
            assert closed.diagnostics[name] == pytest.approx(exact.diagnostics[name], abs=1e-10)


def stumps(x):
    """All rules sign(s (x - t)) on these points, closed under negation, shape (K, n)."""
    cuts = np.concatenate([[-np.inf], np.sort(x)])
    up = np.where(x > cuts[:, None], 1, -1)
    return np.unique(np.vstack([up, -up]), axis=0)


def best_stump(X_train, y_train, X_test):
    rules = stumps(X_train[:, 0])
    return rules[(rules @ y_train).argmax()]


class TestClasses:
    x = np.array([0.1, 0.5, 0.2, 0.9, 0.7, 0.3, 0.8, 0.6])
    y = np.array([1, -1, 1, -1, 1, -1, -1, -1])

    def labelings(self):
        chosen = itertools.combinations(range(8), 3)
        return np.array([[1 if i in places else -1 for i in range(8)] for places in chosen])

    def test_theorem_4_for_the_exact_minimiser(self):
        rules, labels = stumps(self.x), self.labelings()
        agreement = labels @ rules.T / 8
        complexity = agreement.max(axis=1).mean()
        g = rules[agreement.argmax(axis=1)]
        e_gen = np.mean(2 * (labels * g).mean(axis=1) - 2 * self.y.mean() * g.mean(axis=1))
        assert complexity == pytest.approx(e_gen / 2 + self.y.mean() * g.mean())
        test = uv.PermutationComplexityTest(self.x[:, None], self.y, best_stump)
        found = test.fit("exact").diagnostics
        assert found["p_in"] == pytest.approx(complexity, abs=1e-12)
        # Squared error of labels -1, 1 is four times the error rate.
        assert 4 * found["e_gen"] == pytest.approx(e_gen, abs=1e-12)

    def test_exact_pvalue_and_bounds(self):
        rules, labels = stumps(self.x), self.labelings()
        e_in = (1 - (labels @ rules.T / 8).max(axis=1)) / 2
        observed = (1 - (rules @ self.y / 8).max()) / 2
        test = uv.PermutationComplexityTest(self.x[:, None], self.y, best_stump)
        result = test.fit("exact", delta=0.1)
        assert result.statistic == observed
        # A count over all, without a rounding error that would matter at the level itself.
        assert result.pvalue == np.mean(e_in <= observed)
        found = result.diagnostics
        assert found["p_in_bound"] == found["p_in"]
        expected = uv.kernels.permutation.error_bound(observed, found["p_in"], 8, 0.1)
        assert found["error_bound"] == expected

    def test_rademacher_complexity(self):
        rules = stumps(self.x)
        signs = np.array(list(itertools.product([-1, 1], repeat=8)))
        complexity = (signs @ rules.T / 8).max(axis=1).mean()
        test = uv.PermutationComplexityTest(self.x[:, None], self.y, best_stump)
        found = test.fit("exact", "rademacher").diagnostics
        assert found["p_in"] == pytest.approx(complexity, abs=1e-12)
        assert found["e_gen"] == pytest.approx(complexity / 2, abs=1e-12)

    def test_section_2_3_with_a_loss_matrix(self):
        _, y = load_iris(return_X_y=True)
        y = load_iris().target_names[y[::15]]
        X = np.random.default_rng(8).normal(size=(10, 1))  # no distances are equal
        costs = np.array([[0, 1, 3], [2, 0, 1], [5, 1, 0]])
        test = uv.PermutationComplexityTest(X, y, "nearest_centroid", loss=costs)
        assert test.metric.name == "matrix"
        result = test.fit(200, rng=3)
        codes = np.unique(y, return_inverse=True)[1]
        rng = np.random.default_rng(3)
        rng.integers(2**63 - 1)
        e_in, e_gen = [], []
        for drawn in rng.permuted(np.tile(codes, (200, 1)), axis=1):
            centre = np.array([X[drawn == c].mean(axis=0) for c in range(3)])
            g = ((X[:, None] - centre) ** 2).sum(axis=2).argmin(axis=1)
            e_in.append(np.mean([costs[t, p] for t, p in zip(drawn, g, strict=True)]))
            e_gen.append(np.mean([costs[t, p] for t in codes for p in g]) - e_in[-1])
        assert result.diagnostics["e_gen"] == pytest.approx(np.mean(e_gen), abs=1e-12)
        assert result.settings["loss_matrix"] == costs.tolist()
        assert math.isnan(result.diagnostics["p_in"])

    def test_pos_label_is_the_last_row_of_a_loss_matrix(self):
        X, y = two_species()
        costs = np.array([[0, 1], [5, 0]])
        expected = uv.PermutationComplexityTest(X, y, "lda", loss=costs).fit(9, rng=0)
        turned = uv.PermutationComplexityTest(X, y, "lda", loss=costs[::-1, ::-1], pos_label=1)
        assert turned.fit(9, rng=0).statistic == expected.statistic
        as_given = uv.PermutationComplexityTest(X, y, "lda", loss=costs, pos_label=1)
        assert as_given.fit(9, rng=0).statistic != expected.statistic

    def test_losses_of_numbers_without_a_short_cut(self):
        X, y = small_regression(n=15)

        def huber(true, predicted):
            away = np.abs(true - predicted)
            return np.where(away < 1, away**2 / 2, away - 0.5)

        def squared(true, predicted):
            return (true - predicted) ** 2

        found = [
            uv.PermutationComplexityTest(X, y, "ridge:1", loss=loss).fit(30, rng=0).estimate
            for loss in (squared, "squared", huber, "absolute")
        ]
        assert found[0] == pytest.approx(found[1], rel=1e-12)
        assert len({round(each, 9) for each in found}) == 3
        X, y = two_species()
        log_loss = uv.PermutationComplexityTest(X, y, "lda", loss="log").fit(30, rng=0)
        assert 0.3 < log_loss.estimate < 0.8


class TestPvalue:
    def pvalues(self, n_runs, n_permutations=19):
        rng = np.random.default_rng(77)
        found = []
        for _ in range(n_runs):
            X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
            test = uv.PermutationComplexityTest(X, y, "ridge:1")
            found.append(test.fit(n_permutations, rng=rng, progress=False).pvalue)
        return np.array(found)

    @pytest.mark.seconds(6, reason="a level shows in many samples alone")
    def test_uniform_under_the_null(self):
        """2000 runs: every level by a binomial test, all of them by a chi-squared one."""
        found = self.pvalues(n_runs := repeated(2000))
        for level in (0.05, 0.1, 0.5):
            rejected = int((found <= level + 1e-9).sum())
            assert stats.binomtest(rejected, n_runs, level).pvalue > 1e-4
        counts = np.bincount(np.rint(found * 20).astype(int), minlength=21)[1:]
        assert counts.sum() == n_runs
        assert stats.chisquare(counts).pvalue > 1e-4

    def test_its_monte_carlo_error(self):
        X, y = two_species()
        noise = np.random.default_rng(3).normal(size=X.shape)
        result = uv.PermutationComplexityTest(noise, y, "lda").fit(50, rng=0)
        expected = math.sqrt(result.pvalue * (1 - result.pvalue) / 50)
        assert result.diagnostics["mc_se_pvalue"] == pytest.approx(expected)
        result = uv.PermutationComplexityTest(*small_regression(n=5), "ridge:1").fit("exact")
        assert result.diagnostics["mc_se_pvalue"] == 0.0

    def test_few_permutations_cannot_reject(self):
        test = uv.PermutationComplexityTest(*two_species(), "lda")
        few, enough = test.fit(18, rng=0), test.fit(19, rng=0)
        assert few.pvalue > 0.05 >= enough.pvalue

    def test_ties_count(self):
        """1 nearest neighbour fits every labeling, so nothing can be told: p = 1."""
        X, y = np.arange(20.0)[:, None], [0, 1] * 10
        result = uv.PermutationComplexityTest(X, y, "knn:1").fit(30, rng=0)
        assert result.pvalue == 1.0
        # As uncertain as the smallest p-value that 30 permutations can give, 1/31.
        assert result.diagnostics["mc_se_pvalue"] == pytest.approx(1 / 31)
        assert result.diagnostics["e_in"] == 0.0
        # ... and its estimate is the error of guessing.
        assert result.estimate == pytest.approx(0.5)

    def test_rounding_errors_of_an_interpolation_are_ties(self, rng):
        """More features than observations: every labeling is fitted, p = 1."""
        X, y = rng.normal(size=(8, 20)), rng.normal(size=8)
        for scale in (1e-3, 1.0, 1e6):
            test = uv.PermutationComplexityTest(X, scale * y, LinearRegression())
            result = test.fit(30, rng=1)
            assert result.diagnostics["e_in"] < 1e-20 * scale**2
            assert result.pvalue == 1.0

    def test_the_observed_labeling_is_one_of_all_whatever_chance_does(self, rng):
        """A rule with randomness of its own: "exact" never says p = 0."""
        X, y = rng.normal(size=(5, 1)), [0, 0, 1, 1, 1]

        def guess(X_train, y_train, X_test):
            return rng.integers(2, size=len(X_test))

        test = uv.PermutationComplexityTest(X, y, guess)
        assert min(test.fit("exact").pvalue for _ in range(60)) >= 0.1 - 1e-12

    @pytest.mark.parametrize(
        ("how", "sampling"), [(20, "bootstrap"), (20, "rademacher"), ("analytic", "permutation")]
    )
    def test_none_without_permutations(self, how, sampling):
        X, y = two_species()
        loss = "squared" if how == "analytic" else None
        result = uv.PermutationComplexityTest(X, y, "ridge:1", loss=loss).fit(how, sampling, rng=0)
        assert math.isnan(result.pvalue)
        assert result.status == "ok"
        assert result.null_hypothesis is None


class TestResult:
    @pytest.fixture
    def test(self):
        return uv.PermutationComplexityTest(*two_species(), "lda")

    def test_a_single_labeling_says_so(self, test):
        result = test.fit(1, rng=0)
        assert result.status.startswith("too few resamples: a single labeling")
        assert math.isnan(result.diagnostics["mc_se_estimate"])

    def test_a_single_class_is_counted(self):
        X, y = np.arange(6.0)[:, None], list("aaaabb")
        result = uv.PermutationComplexityTest(X, y, "lda").fit("exact", "bootstrap")
        assert result.diagnostics["one_class_fits"] == 2


X, Y = two_species()
