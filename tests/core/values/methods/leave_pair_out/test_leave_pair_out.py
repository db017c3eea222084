"""LeavePairOutTest: brute force, and the paper's theorems."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from tests.oracles import leave_pair_out as oracle
from tests.support.cells import repeated
from ucvtest.codes.null_distributions import (
    SETTINGS,
    simulated_nulls,
    wilcoxon_null,
)
from ucvtest.data.sample import make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.kernels.leave_pair_out import nearest_neighbour_errors
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.methods.leave_pair_out import forecast


def problem(n, n_positive, seed, shift=0.8, p=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n_positive
    return rng.normal(size=(n, p)) + shift * y[:, None], y.astype(int)


def ridge_score(X, y, X_test):
    return Ridge(1.0).fit(X, y).predict(X_test)


def neighbour_score(X, y, X_test):
    return KNeighborsClassifier(3).fit(X, y).predict_proba(X_test)[:, 1]


def lda_score(X, y, X_test):
    return LinearDiscriminantAnalysis().fit(X, y).decision_function(X_test)


def first_feature(X, y, X_test):
    """Not learnt: the first feature."""
    return np.asarray(X_test)[:, 0]


def constant(X, y, X_test):
    return np.zeros(len(X_test))


def null_errors(result):
    """The null distribution of a result as probabilities by number of errors."""
    diagnostics = result.diagnostics
    return dict(zip(diagnostics["null_errors"], diagnostics["null_probabilities"], strict=True))


SCORES = {"ridge:1.0": ridge_score, "knn:3": neighbour_score}


@pytest.mark.seconds(6, reason="all 70 labelings, pair by pair")
class TestBruteForce:
    @pytest.mark.parametrize("learner", ["ridge:1.0"])
    def test_null_distribution_over_all_70_labelings(self, learner):
        X, y = problem(8, 4, 1)
        result = uv.LeavePairOutTest(X, y, learner).fit(n_permutations="exact")
        every = [oracle.n_errors(X, B, SCORES[learner]) for B in oracle.words(8, 4)]
        values, counts = np.unique(every, return_counts=True)
        assert null_errors(result) == dict(zip(values, counts / 70, strict=True))
        observed = oracle.n_errors(X, y == 1, SCORES[learner])
        assert result.diagnostics["n_errors"] == observed
        assert result.statistic == observed / 16
        assert result.estimate == 1 - observed / 16
        assert result.pvalue == np.mean(np.array(every) <= observed)
        assert result.n_fits == 70 * 16
        assert result.status == "ok"

    def test_wrong_and_tied_pairs_of_neighbours(self):
        X, _ = problem(8, 4, 1)
        nearest = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)[:, 1:5]
        for B in oracle.words(8, 4)[:: 70 // repeated(70)]:
            wrong, tied = nearest_neighbour_errors(nearest, B[None])
            found = oracle.pair_errors(X, B, neighbour_score)
            assert wrong[0] == sum(k == 1 for k in found.values())
            assert tied[0] == sum(k == 0.5 for k in found.values())

    @pytest.mark.parametrize(
        ("jitted", "score"), [("lda", lda_score), ("nearest_centroid", None), ("qda", None)]
    )
    def test_jitted_learners(self, jitted, score):
        """Fits of many labelings at once, against one labeling and one pair after the other."""
        X, y = problem(8, 4, 2, p=1)
        result = uv.LeavePairOutTest(X, y, jitted).fit(n_permutations=9, rng=5)
        reference = score or SplitScores(jitted)
        again = uv.LeavePairOutTest(X, y, reference).fit(n_permutations=9, rng=5)
        assert null_errors(result) == null_errors(again)
        assert result.pvalue == again.pvalue
        assert result.diagnostics["computed_by"] == "jitted fits"
        assert again.diagnostics["computed_by"] == "fits"

    def test_estimators_with_a_closed_form_are_found(self):
        X, y = problem(10, 5, 3)
        for estimator, name in ((Ridge(1.0), "ridge:1.0"), (KNeighborsClassifier(3), "knn:3")):
            test = uv.LeavePairOutTest(X, y, estimator)
            result = test.fit(n_permutations=99, rng=1)
            assert result.diagnostics["computed_by"] == "closed form"
            expected = uv.LeavePairOutTest(X, y, name).fit(n_permutations=99, rng=1)
            assert null_errors(result) == null_errors(expected)
            plain = uv.LeavePairOutTest(X, y, estimator, backend="sklearn")
            slow = plain.fit(n_permutations=2, rng=1)
            assert slow.diagnostics["computed_by"] == "fits"
            assert slow.estimate == result.estimate

    def test_equally_distant_neighbours_of_scikit_learn_are_left_to_it(self):
        X, y = problem(8, 4, 3)
        X = np.round(X)
        result = uv.LeavePairOutTest(X, y, KNeighborsClassifier(3)).fit(n_permutations=3, rng=1)
        assert result.diagnostics["computed_by"] == "jitted fits"


class SplitScores:
    """A jitted learner as a plain function, one learning set at a time."""

    def __init__(self, name):
        self.name = name

    def __call__(self, X_train, y_train, X_test):
        X = np.vstack([X_train, X_test])
        y = np.concatenate([y_train, [0, 1]])
        learning = np.arange(len(X))[None] < len(X_train)
        evaluator = Evaluator(make_sample(X, y, as_classes=True), as_learner(self.name), "score")
        return evaluator.predict(learning, ~learning, np.zeros(1, int)).values[0, len(X_train) :]


class TestPermutations:
    def test_pvalue_counts_the_observed_labeling(self):
        X, y = problem(10, 4, 4)
        result = uv.LeavePairOutTest(X, y, "ridge:1.0").fit(n_permutations=199, rng=2)
        nulls = null_errors(result)
        observed = result.diagnostics["n_errors"]
        count = round(199 * sum(p for errors, p in nulls.items() if errors <= observed))
        assert result.pvalue == (count + 1) / 200
        p = result.pvalue
        assert result.diagnostics["mc_se_pvalue"] == pytest.approx(math.sqrt(p * (1 - p) / 199))
        assert result.n_fits == 200 * 24

    def test_sampled_distribution_is_near_the_exact_one(self):
        X, y = problem(10, 5, 4)
        test = uv.LeavePairOutTest(X, y, "knn:3")
        exact = test.fit(n_permutations="exact").pvalue
        # Four standard errors: 1 in 16 000.
        error = 4 * math.sqrt(exact * (1 - exact) / 9999) + 1e-4
        assert test.fit(rng=3).pvalue == pytest.approx(exact, abs=error)

    def test_the_observed_labeling_is_one_of_all_whatever_chance_does(self, rng):
        """Scores with randomness of their own: "exact" never says p = 0."""
        X, y = problem(5, 2, 5)

        def guess(X_train, y_train, X_test):
            return rng.normal(size=len(X_test))

        test = uv.LeavePairOutTest(X, y, guess)
        pvalues = [test.fit(n_permutations="exact").pvalue for _ in range(60)]
        assert min(pvalues) >= 0.1

    @pytest.mark.parametrize("learner", ["ridge:1.0", "knn:3"])
    def test_millions_of_fits_without_a_fit(self, learner, monkeypatch):
        """What a fit would cost is paid once: studies/benchmarks/leave_pair_out.py times it."""

        def never(*_args, **_kwargs):
            raise AssertionError("fitted")

        X, y = problem(24, 12, 7)
        monkeypatch.setattr(Evaluator, "predict_labelings", never)
        result = uv.LeavePairOutTest(X, y, learner).fit(n_permutations=9999, rng=0)
        assert result.n_fits == 1_440_000


class TestOtherNulls:
    @pytest.mark.parametrize(("n0", "n1"), [(4, 4), (10, 10), (12, 8), (3, 9)])
    def test_wmw_equals_scipy(self, rng, n0, n1):
        X = rng.normal(size=(n0 + n1, 1))
        y = np.arange(n0 + n1) < n1
        result = uv.LeavePairOutTest(X, y, first_feature).fit("wmw")
        expected = stats.mannwhitneyu(X[y, 0], X[~y, 0], alternative="greater", method="exact")
        assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
        assert result.estimate == pytest.approx(expected.statistic / (n0 * n1))
        assert result.n_fits == n0 * n1

    def test_ties_are_rounded_up(self):
        X = np.array([[1.0], [0.0], [0.0], [-1.0], [3.0]])
        result = uv.LeavePairOutTest(X, [1, 1, 0, 0, 0], first_feature).fit("wmw")
        assert result.diagnostics["n_errors"] == 2.5
        assert result.diagnostics["n_ties"] == 1
        assert result.pvalue == wilcoxon_null(5, 2).pvalue(3)

    def test_supremum_is_the_bound(self):
        X, y = problem(24, 8, 8, shift=3)
        result = uv.LeavePairOutTest(X, y, "ridge:1.0").fit("supremum")
        W = math.ceil(result.diagnostics["n_errors"])
        upper = uv.codes.light_code_bounds(W, 24, 8).upper
        assert result.pvalue == upper / math.comb(24, 8)
        assert result.n_fits == 128
        assert "null_errors" not in result.diagnostics

    def test_empirical_is_the_largest_of_the_settings(self):
        X, y = problem(10, 4, 10)
        test = uv.LeavePairOutTest(X, y, "ridge:1.0")
        result = test.fit("empirical", n_simulations=400, rng=3)
        table = result.tables["Simulated settings"]
        assert len(table["setting"]) == 8
        assert result.pvalue == max(table["pvalue"])
        assert result.settings["n_simulations"] == 400
        fewer = test.fit("empirical", n_simulations=40, rng=3)
        assert result.diagnostics["mc_se_pvalue"] < fewer.diagnostics["mc_se_pvalue"]

    @pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
    def test_simulated_errors_equal_brute_force(self, setting, monkeypatch):
        monkeypatch.setattr("ucvtest.codes.null_distributions.SETTINGS", (setting,))
        nulls = simulated_nulls(5, 4, 6, np.random.default_rng(2))
        samples = setting.draw(np.random.default_rng(2), 6, 9)
        score = ridge_score if setting.learner == "ridge" else neighbour_score
        expected = [oracle.n_errors(X, np.arange(9) < 4, score) for X in samples]
        null = nulls[setting.name]
        assert np.repeat(null.errors, null.counts).tolist() == sorted(expected)

    def test_too_few_for_three_neighbours(self):
        names = simulated_nulls(2, 2, 5, np.random.default_rng(0))
        assert len(names) == 4
        assert all(name.startswith("ridge") for name in names)


class TestResult:
    def test_critical_values_of_the_table_reject(self):
        X, y = problem(10, 5, 11)
        result = uv.LeavePairOutTest(X, y, "ridge:1.0").fit(n_permutations="exact")
        nulls = null_errors(result)
        largest = result.tables["Largest number of errors that rejects"]["errors"][0]
        assert sum(p for W, p in nulls.items() if float(largest) >= W) <= 0.05
        above = min(W for W in nulls if float(largest) < W)
        assert sum(p for W, p in nulls.items() if above >= W) > 0.05

    @pytest.mark.parametrize(
        ("learner", "status"),
        [(constant, "degenerate: every pair is tied"), (first_feature, "too few permutations")],
    )
    def test_status(self, learner, status):
        X, y = problem(8, 4, 1)
        result = uv.LeavePairOutTest(X, y, learner).fit(n_permutations=9, rng=0)
        assert result.status.startswith(status)


class TestForecast:
    def test_counts_fits_and_seconds(self, monkeypatch):
        X, y = problem(10, 4, 12)
        monkeypatch.setattr(forecast, "_seconds", lambda errors, labels: 0.25)
        test = uv.LeavePairOutTest(X, y, DecisionTreeClassifier())
        found = test.forecast(999)
        assert found.n_fits == 24_000
        assert found.seconds == 1000 * 0.25
        assert test.forecast("exact").n_fits == 210 * 24


# ------------------------------------------------------------------------- losses that exist


@pytest.fixture(scope="module")
def scored():
    """Data, and the scores of three learners without every pair."""
    rng = np.random.default_rng(3)
    y = np.array(["ill", "well"])[rng.permutation(np.repeat([0, 1], [6, 4]))]
    X = rng.normal(size=(10, 3)) + 0.8 * (y == "well")[:, None]
    learners = ["ridge:1.0", "lda", "knn:3"]
    return X, y, uv.evaluate(learners, X, y, uv.designs.LeavePairOut(), "auc", rng=0)


@pytest.mark.parametrize(
    ("pvalue", "learner"),
    [
        (pvalue, learner)
        for pvalue in ("supremum", "wmw", "empirical")
        for learner in ("ridge:1.0", "lda", "knn:3")
        # Its own fits draw seeds before the samples are simulated.
        if (pvalue, learner) != ("empirical", "lda")
    ],
)
def test_given_scores_are_tested_as_those_of_its_own_fits(scored, pvalue, learner):
    X, y, losses = scored
    options = {"pvalue": pvalue, "n_simulations": 200}
    seed = {"rng": 1} if pvalue == "empirical" else {}
    expected = uv.LeavePairOutTest(X, y, learner).fit(**options, rng=1)
    found = uv.LeavePairOutTest.from_losses(losses, learner).fit(**options, **seed)
    for name in ("estimate", "statistic", "pvalue", "n_fits", "n_obs", "null_value"):
        assert getattr(found, name) == getattr(expected, name), name
    for name in ("method", "estimand", "reference", "status", "alternative"):
        assert getattr(found, name) == getattr(expected, name), name
    for name in ("n_errors", "n_ties", "n_pairs"):
        assert found.diagnostics[name] == expected.diagnostics[name]
    assert found.tables == expected.tables
    assert found.settings["learner"] == learner
    assert found.settings["rng"] == (1 if pvalue == "empirical" else 0)


def test_tied_scores_count_one_half():
    y = np.array([1, 0, 1, 0])
    learning = ~np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]], dtype=bool)
    scores = np.array([[2.0, 2, 0, 0], [1, 0, 0, 5], [0, 3, 4, 0], [0, 0, 7, 7]])
    losses = uv.Losses.from_arrays(scores, learning, loss="auc", y=y)
    result = uv.LeavePairOutTest.from_losses(losses).fit("wmw")
    assert result.diagnostics["n_errors"] == 2.0
    assert result.diagnostics["n_ties"] == 2
    assert result.estimate == 0.5
