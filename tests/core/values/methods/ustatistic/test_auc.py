"""UStatisticTest of the AUC: enumeration, its kernel, and intervals."""

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student
from sklearn.model_selection import StratifiedShuffleSplit

import ucvtest as uv
from tests.core.values.kernels.test_auc_ustatistic import Problem
from tests.oracles import auc_ustatistic as oracle
from ucvtest.common.execution import Execution
from ucvtest.kernels import auc_ustatistic
from ucvtest.methods.ustatistic.run import Sampler

CASES = [  # n1, n0, g1, g0
    (4, 4, 1, 1),
    (4, 4, 2, 2),
    (3, 5, 1, 2),
    (5, 4, 2, 1),
    (5, 5, 3, 2),
]


@pytest.fixture(scope="module")
def data():
    """60 observations, 24 of them positive, in mixed order."""
    rng = np.random.default_rng(4)
    y = rng.permutation(np.repeat([0, 1], [36, 24]))
    return rng.normal(size=(60, 3)) * [1, 2, 1] + 0.7 * y[:, None], y


def learner_of(score):
    """A callable about observations by their numbers, which are all that X contains."""

    def learner(X_train, y_train, X_test):
        learning = tuple(sorted(int(i) for i in X_train[:, 0]))
        return np.array([score(learning, int(t)) for t in X_test[:, 0]], dtype=float)

    return learner


def constant(X_train, y_train, X_test):
    return np.zeros(len(X_test))


def first(X_train, y_train, X_test):
    return X_test[:, 0]


def exponential(X_train, y_train, X_test):
    return np.exp(X_test[:, 0])


def interval(result, alpha=0.05):
    return np.array(result.conf_int(alpha))


# ------------------------------------------------------------------------------- enumeration


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_exact_equals_enumeration_and_deletion(case, ties, two):
    n1, n0, g1, g0 = case
    problem = Problem(n1, n0, ties=ties)
    learners = [learner_of(problem.score), learner_of(problem.other)][: 1 + two]
    # Positives and negatives need not come in order.
    order = np.random.default_rng(0).permutation(n1 + n0)
    X = np.arange(n1 + n0)[order, None] * 1.0
    test = uv.UStatisticTest(X, problem.y[order], *learners, loss="auc", learn_size=(g0, g1))
    result = test.fit("exact", rng=0)

    kernel = oracle.difference(problem.score, problem.other if two else None)
    definition = (kernel, problem.positives, problem.negatives, g1, g0)
    parts = oracle.jackknife(*definition)
    j, m2 = sum(parts), sum(oracle.pair_effects(*definition))
    df = j**2 / (parts[0] ** 2 / (n1 - 1) + parts[1] ** 2 / (n0 - 1))
    halves = 2 * g1 <= n1 and 2 * g0 <= n0
    variance = max((j + j**2 / (j + m2)) / 2, m2 / 2) if halves else j
    assert result.estimate == pytest.approx(oracle.complete(*definition), abs=1e-10)
    assert result.diagnostics["variance_jackknife"] == pytest.approx(j, abs=1e-10)
    assert result.diagnostics["pair_effects"] == pytest.approx(m2, abs=1e-10)
    assert result.diagnostics["variance"] == ("midpoint" if halves else "jackknife")
    assert result.variance == pytest.approx(variance, abs=1e-10)
    assert result.df == pytest.approx(np.clip(df, 1, n1 + n0 - 2), rel=1e-9)
    assert result.se == pytest.approx(math.sqrt(variance), abs=1e-10)
    assert result.diagnostics["mc_se_estimate"] == result.diagnostics["mc_se_variance"] == 0
    assert result.n_fits == math.comb(n1, g1) * math.comb(n0, g0) * (1 + two)
    if two:
        alone = [oracle.complete(oracle.difference(score, None), *definition[1:])
                 for score in (problem.score, problem.other)]  # fmt: skip
        assert result.tables["Learners"]["estimate"] == pytest.approx(alone, abs=1e-10)


def test_influence_values_delete_observations():
    problem = Problem(5, 4)
    X = np.arange(9)[:, None] * 1.0
    test = uv.UStatisticTest(X, problem.y, learner_of(problem.score), loss="auc", learn_size=(1, 2))
    values = test.fit("exact").diagnostics["influence"]
    kernel = oracle.difference(problem.score, None)
    whole = oracle.complete(kernel, problem.positives, problem.negatives, 2, 1)
    for i in problem.positives:
        rest = oracle.without(problem.positives, i)
        left = oracle.complete(kernel, rest, problem.negatives, 2, 1)
        assert values[i] == pytest.approx(4 * (whole - left), abs=1e-10)


# ------------------------------------------------------------------------------ random pairs


@pytest.mark.parametrize("learn_size", [None, 20, (18, 13)])
def test_pairs_equal_the_kernel_on_the_same_fits(data, learn_size):
    X, y = data
    test = uv.UStatisticTest(X, y, "lda", "gaussian_nb", loss="auc", learn_size=learn_size)
    result = test.fit(500, rng=3)
    execution = Execution.of(3, None, None)
    sampler = Sampler(
        test.learning_sets.sizes, test.question.losses(execution), execution.generator
    )
    drawn, scores = sampler.fitted(sampler.drawn(500))
    learning = drawn.learning
    together = np.tile(np.arange(500), 2) if sampler.sizes.paired else None
    found = auc_ustatistic.from_scores(scores[0], learning, y, scores[1], cluster=together)
    assert result.estimate == found["auc"]
    assert result.variance == found["variance"]
    assert result.diagnostics["mc_se_variance"] == found["mc_se_variance"]
    assert result.df == found["df"]
    assert result.se == math.sqrt(found["variance"] + found["mc_se_estimate"] ** 2)
    assert result.diagnostics["n_pairs"] == 500
    assert result.n_fits == 2000


def test_auto_stops_by_its_monte_carlo_error(data):
    X, y = data
    test = uv.UStatisticTest(X, y, "lda", "gaussian_nb", loss="auc")
    fine, rough = test.fit(rng=0), test.fit(tol=0.5, rng=0)
    assert fine.diagnostics["converged"]
    assert fine.diagnostics["mc_se_variance"] <= 0.05 * fine.variance
    assert rough.n_fits == 2 * 600 < fine.n_fits
    stopped = test.fit(max_fits=1500, rng=0)
    assert stopped.n_fits == 1500
    assert not stopped.diagnostics["converged"]


# ---------------------------------------------------------------------- intervals and p-values


def test_difference_by_hand(data):
    X, y = data
    result = uv.UStatisticTest(X, y, "lda", "gaussian_nb", loss="auc").fit(300, rng=0)
    half = student.ppf(0.975, result.df) * result.se
    assert interval(result) == pytest.approx([result.estimate - half, result.estimate + half])
    assert result.statistic == pytest.approx(result.estimate / result.se)
    assert result.pvalue == pytest.approx(2 * student.sf(abs(result.statistic), result.df))
    assert result.null_value == 0
    assert result.better == "higher"
    assert result.rule is None
    first_value, other_value = result.tables["Learners"]["estimate"]
    assert first_value - other_value == pytest.approx(result.estimate, abs=1e-9)


@pytest.mark.parametrize("side", ["two-sided", "less", "greater"])
def test_one_learner_by_hand(data, side):
    X, y = data
    test = uv.UStatisticTest(X, y, "lda", loss="auc", null_value=0.8, alternative=side)
    result = test.fit(300, rng=0)
    u = result.estimate
    se = result.se / (u * (1 - u))
    statistic = (logit(u) - logit(0.8)) / se
    tail = {
        "two-sided": 2 * student.sf(abs(statistic), result.df),
        "less": student.cdf(statistic, result.df),
        "greater": student.sf(statistic, result.df),
    }[side]
    assert result.statistic == pytest.approx(statistic)
    assert result.pvalue == pytest.approx(tail)
    half = student.ppf(0.975 if side == "two-sided" else 0.95, result.df) * se
    low, high = expit(logit(u) - half), expit(logit(u) + half)
    expected = {"two-sided": (low, high), "less": (0, high), "greater": (low, 1)}[side]
    assert interval(result) == pytest.approx(expected)
    for alpha in (result.pvalue * (1 - 1e-6), result.pvalue * (1 + 1e-6), 0.2):
        low, high = result.conf_int(alpha)
        assert (result.pvalue <= alpha) == (not low <= 0.8 <= high)
    rows = result.tables["Variances"]
    assert (rows["conf_low"][0], rows["conf_high"][0]) == result.conf_int()


# -------------------------------------------------------------------------------- given scores


def test_given_scores_are_those_of_the_kernel(data):
    X, y = data
    design = StratifiedShuffleSplit(400, test_size=0.55, random_state=1)
    losses = uv.evaluate(["lda", "gaussian_nb"], X, y, design, "auc", rng=0)
    result = uv.UStatisticTest.from_losses(losses).fit()
    learnt = losses.design.learning
    scores = np.zeros((2, *learnt.shape))
    scores[:, ~learnt] = losses.values
    found = auc_ustatistic.from_scores(scores[0], learnt, y, scores[1])
    assert result.status == found["status"] == "ok"
    assert result.estimate == found["auc"]
    assert result.variance == found["variance"]
    assert result.n_fits == 800
    assert result.settings["learn_size_by_class"] == (
        learnt[0, y == 0].sum(),
        learnt[0, y == 1].sum(),
    )


# ------------------------------------------------------------------------- statuses, errors


def test_too_few_pairs(data):
    X, y = data
    result = uv.UStatisticTest(X, y, "lda", "knn:3", loss="auc").fit(20, variance="midpoint", rng=0)
    assert result.status.startswith("too few resamples: 40 learning sets are not enough")
    assert math.isnan(result.se)
    assert math.isfinite(result.estimate)
    assert np.isfinite(result.tables["Learners"]["estimate"]).all()
    assert np.isnan(result.tables["Learners"]["se"]).all()


@pytest.mark.parametrize(
    ("learners", "moved", "why"),
    [
        ((constant,), 0, "all tested scores were equal"),
        ((first,), 50, "separated completely"),
        ((first, exponential), 0, "ranked every tested pair alike"),
        ((first, first), 0, "ranked every tested pair alike"),
    ],
)
def test_without_a_variance_the_status_says_why(data, learners, moved, why):
    X, y = data
    test = uv.UStatisticTest(X + moved * y[:, None], y, *learners, loss="auc")
    for result in (test.fit(300, rng=0), test.fit(max_fits=10_000, rng=0)):
        assert result.status.startswith("degenerate: the jackknife variance is zero")
        assert why in result.status
        assert math.isnan(result.pvalue)
    expected = {"all": 0.5, "sep": 1.0, "ran": 0.0}[why[:3]]
    assert result.estimate == pytest.approx(expected, abs=1e-12)
    assert result.n_fits <= 1200
