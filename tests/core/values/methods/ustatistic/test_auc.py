"""UStatisticTest of the AUC: enumeration, its kernel, and intervals."""

import math

import numpy as np
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

import ucvtest as uv
from tests.core.values.kernels.test_auc_ustatistic import Problem
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


# ------------------------------------------------------------------------------- enumeration


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_exact_is_the_kernel_on_all_learning_sets(case, ties, two):
    n1, n0, g1, g0 = case
    problem = Problem(n1, n0, ties=ties)
    learners = [learner_of(problem.score), learner_of(problem.other)][: 1 + two]
    # Positives and negatives need not come in order.
    order = np.random.default_rng(0).permutation(n1 + n0)
    X = np.arange(n1 + n0)[order, None] * 1.0
    test = uv.UStatisticTest(X, problem.y[order], *learners, loss="auc", learn_size=(g0, g1))
    result = test.fit("exact", rng=0)

    # Which equals enumeration and deletion: see kernels/test_auc_ustatistic.py.
    scores, learnt = problem.complete(g1, g0, problem.score)
    other = problem.complete(g1, g0, problem.other)[0] if two else None
    found = auc_ustatistic.from_scores(scores, learnt, problem.y, other, exact=True)
    halves = 2 * g1 <= n1 and 2 * g0 <= n0
    assert result.estimate == pytest.approx(found["auc"], abs=1e-10)
    assert result.diagnostics["variance_jackknife"] == pytest.approx(found["jackknife"], abs=1e-10)
    assert result.diagnostics["pair_effects"] == pytest.approx(found["pair_effects"], abs=1e-10)
    assert result.diagnostics["variance"] == ("midpoint" if halves else "jackknife")
    assert (result.variance, result.df) == pytest.approx((found["variance"], found["df"]), rel=1e-9)
    assert result.se == pytest.approx(math.sqrt(found["variance"]), abs=1e-10)
    assert result.diagnostics["mc_se_estimate"] == result.diagnostics["mc_se_variance"] == 0
    assert result.n_fits == math.comb(n1, g1) * math.comb(n0, g0) * (1 + two)


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
