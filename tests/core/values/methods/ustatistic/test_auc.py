"""UStatisticTest of the AUC: enumeration, its kernel, intervals, and what users get wrong."""

import json
import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t as student
from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit, StratifiedShuffleSplit

import ucvtest as uv
from tests.full.kernels.test_auc_ustatistic import Problem
from tests.oracles import auc_ustatistic as oracle
from ucvtest.common.execution import Execution
from ucvtest.kernels import auc_ustatistic
from ucvtest.kernels.auc_ustatistic.blocks import LearningSets
from ucvtest.methods.ustatistic.auc.estimation import Sampler

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


def missing(X_train, y_train, X_test):
    return np.full(len(X_test), np.nan)


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
    learning = sampler.drawn(500)
    scores = sampler.scores(learning)
    together = np.tile(np.arange(500), 2) if sampler.sizes.paired else None
    found = auc_ustatistic.from_scores(scores[0], learning, y, scores[1], cluster=together)
    assert result.estimate == found["auc"]
    assert result.variance == found["variance"]
    assert result.diagnostics["mc_se_variance"] == found["mc_se_variance"]
    assert result.df == found["df"]
    assert result.se == math.sqrt(found["variance"] + found["mc_se_estimate"] ** 2)
    assert result.diagnostics["n_pairs"] == 500
    assert result.n_fits == 2000


@pytest.mark.parametrize(
    ("learn_size", "by_class"), [(None, (17, 11)), (20, (12, 8)), ((27, 8), (27, 8))]
)
def test_learning_sets_are_drawn_within_the_classes(data, learn_size, by_class):
    X, y = data
    test = uv.UStatisticTest(X, y, "lda", loss="auc", learn_size=learn_size)
    execution = Execution.of(0, None, None)
    sampler = Sampler(
        test.learning_sets.sizes, test.question.losses(execution), execution.generator
    )
    learning = sampler.drawn(50)
    assert (learning[:, y == 0].sum(axis=1) == by_class[0]).all()
    assert (learning[:, y == 1].sum(axis=1) == by_class[1]).all()
    assert (learning[:50] & learning[50:]).any() == (by_class[0] == 27)
    assert test.learn_size == sum(by_class)
    result = test.fit(130, rng=0)
    assert result.settings["learn_size"] == sum(by_class)
    assert result.settings["learn_size_by_class"] == by_class
    assert result.settings["loss"] == "auc"
    assert (
        f"AUC when learning from {sum(by_class)} observations, {by_class[1]} of them positive"
        in result.estimand
    )


def test_random_pairs_are_near_all_learning_sets():
    problem = Problem(6, 5)
    X = np.arange(11)[:, None] * 1.0
    learners = learner_of(problem.score), learner_of(problem.other)
    test = uv.UStatisticTest(X, problem.y, *learners, loss="auc", learn_size=(1, 2))
    whole, drawn = test.fit("exact"), test.fit(600, rng=1)
    assert abs(drawn.estimate - whole.estimate) < 4 * drawn.diagnostics["mc_se_estimate"]
    names = ("midpoint", "jackknife")
    assert tuple(drawn.tables["Variances"]["variance"]) == names
    for name, error in zip(names, drawn.tables["Variances"]["mc_se"], strict=True):
        key = f"variance_{name}"
        assert abs(drawn.diagnostics[key] - whole.diagnostics[key]) < 4 * error


@pytest.mark.parametrize("name", ["midpoint", "jackknife"])
def test_every_variance_can_be_asked_for(data, name):
    X, y = data
    test = uv.UStatisticTest(X, y, "lda", "gaussian_nb", loss="auc")
    result, usual = test.fit(3000, variance=name, rng=0), test.fit(3000, rng=0)
    assert result.diagnostics["variance"] == name
    assert result.variance == usual.diagnostics[f"variance_{name}"]
    assert result.diagnostics["mc_se_variance"] > 0
    row = list(usual.tables["Variances"]["variance"]).index(name)
    assert usual.tables["Variances"]["mc_se"][row] == result.diagnostics["mc_se_variance"]


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
    assert any("Stopped at max_fits = 1500" in note for note in stopped.notes)


def test_later_draws_are_ranked_by_the_code_of_the_first(data, monkeypatch):
    depths, calls = [], LearningSets.calls

    def watched(self, depth):
        depths.append((len(self.draw), depth))
        return calls(self, depth)

    monkeypatch.setattr(LearningSets, "calls", watched)
    uv.UStatisticTest(*data, "lda", "gaussian_nb", loss="auc").fit(rng=0)
    assert len({rows for rows, _ in depths}) > 1
    assert len({depth for _, depth in depths}) == 1


def test_batches_and_workers_change_nothing(data):
    X, y = data
    for learners in (("lda", "gaussian_nb"), (first, exponential), ("lda", first)):
        test = uv.UStatisticTest(X, y, *learners, loss="auc")
        found = test.fit(130, rng=5).to_dict()
        for options in ({"batch_size": 17}, {"n_jobs": 2}):
            again = test.fit(130, rng=5, **options).to_dict()
            assert json.dumps({**again, "elapsed": 0}) == json.dumps({**found, "elapsed": 0})


def test_parts_in_memory_change_nothing(data, monkeypatch):
    X, y = data
    test = uv.UStatisticTest(X, y, "lda", loss="auc", learn_size=(27, 8))
    losses = uv.evaluate("lda", X, y, StratifiedShuffleSplit(300, test_size=0.5, random_state=0),
                         "auc", rng=0)  # fmt: skip
    given = uv.UStatisticTest.from_losses(losses)
    whole = given.fit()
    monkeypatch.setattr("ucvtest.methods.ustatistic.auc.estimation.STAGE_CELLS", 60 * 70)
    parts = given.fit()
    assert parts.estimate == pytest.approx(whole.estimate, rel=1e-12)
    assert parts.variance == pytest.approx(whole.variance, rel=1e-9)
    assert test.fit(150, rng=0).status == "ok"


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
    again = uv.TestResult.from_dict(json.loads(result.to_json()))
    assert again.rule == result.rule
    assert again.conf_int() == result.conf_int()
    rows = result.tables["Variances"]
    assert (rows["conf_low"][0], rows["conf_high"][0]) == result.conf_int()
    assert "95% low" in result.summary(notes=True).as_text()


def test_one_learner_is_tested_against_what_is_given(data):
    X, y = data
    plain = uv.UStatisticTest(X, y, "lda", loss="auc").fit(300, rng=0)
    assert math.isnan(plain.null_value)
    assert math.isnan(plain.pvalue)
    low, high = plain.conf_int()
    assert 0 < low < plain.estimate < high < 1
    assert not any("permutation" in note for note in plain.notes)
    again = uv.TestResult.from_dict(json.loads(plain.to_json()))
    assert again.conf_int() == plain.conf_int()
    half = uv.UStatisticTest(X, y, "lda", loss="auc", null_value=0.5).fit(300, rng=0)
    assert half.pvalue < 0.01
    assert any("LeavePairOutTest" in note for note in half.notes)


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


def test_rows_of_one_draw_stay_together(data):
    X, y = data
    folds = RepeatedStratifiedKFold(n_splits=6, n_repeats=50, random_state=0)
    losses = uv.evaluate(["lda", "gaussian_nb"], X, y, folds, "auc", rng=0)
    result = uv.UStatisticTest.from_losses(losses).fit()
    learnt = losses.design.learning
    scores = np.zeros((2, *learnt.shape))
    scores[:, ~learnt] = losses.values
    cluster = np.repeat(np.arange(50), 6)
    found = auc_ustatistic.from_scores(scores[0], learnt, y, scores[1], cluster=cluster)
    assert result.diagnostics["variance"] == "jackknife"
    assert result.variance == found["variance"] == found["jackknife"]
    assert result.diagnostics["mc_se_estimate"] == found["mc_se_estimate"]
    assert any("more than half" in note for note in result.notes)


@pytest.mark.parametrize(
    ("design", "message"),
    [
        (ShuffleSplit(300, test_size=0.5, random_state=0), "the same number in every split"),
        (uv.designs.KFold(7, n_repeats=40), "the same number in every split"),
    ],
)
def test_other_designs_are_refused(data, design, message):
    X, y = data
    losses = uv.evaluate("lda", X, y, design, "auc", rng=0)
    with pytest.raises(ValueError, match=message):
        uv.UStatisticTest.from_losses(losses)


def test_too_few_given_scores(data):
    X, y = data
    design = StratifiedShuffleSplit(100, test_size=0.5, random_state=1)
    losses = uv.evaluate("lda", X, y, design, "auc", rng=0)
    result = uv.UStatisticTest.from_losses(losses).fit()
    assert result.status.startswith("too few resamples: 100 learning sets are not enough")
    assert result.status.endswith("use scores of more splits")
    assert result.estimate == pytest.approx(losses.means.mean())


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
        with pytest.warns(uv.UcvtestWarning, match="no confidence interval"):
            assert np.isnan(result.conf_int()).all()
        assert why in result.verdict
    expected = {"all": 0.5, "sep": 1.0, "ran": 0.0}[why[:3]]
    assert result.estimate == pytest.approx(expected, abs=1e-12)
    assert result.n_fits <= 1200


def test_missing_scores_name_the_learner(data):
    X, y = data
    with pytest.raises(ValueError, match="missing"):
        uv.UStatisticTest(X, y, "lda", missing, loss="auc").fit(300, rng=0)


def test_a_small_class_is_noted():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 7])
    result = uv.UStatisticTest(rng.normal(size=(47, 2)), y, "lda", loss="auc").fit(300, rng=0)
    assert any("The smaller class has 7 observations" in note for note in result.notes)


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        ({"learn_size": 1}, {}, r"between 2 and n - 4 = 56 with loss='auc', got 1: use 28"),
        ({"learn_size": 57}, {}, r"between 2 and n - 4 = 56"),
        ({"learn_size": (35, 3)}, {}, r"35 of 36 negatives, .*: use learn_size=\(17, 11\)"),
        ({"learn_size": (3, 0)}, {}, "0 of 24 positives"),
        ({"learn_size": "half"}, {}, "a pair of them, negatives first"),
        ({"learn_size": (1, 2, 3)}, {}, "a pair of them, negatives first"),
        ({"learn_size": (1.5, 2)}, {}, r"a pair of them, negatives first, .*; got \(1.5, 2\)"),
        ({}, {"variance": "asymptotic"}, "does not exist for loss='auc'"),
        ({"learn_size": 40}, {"variance": "midpoint"}, "at most half of each class"),
        ({}, {"variance": "unbiased"}, "for loss='auc': use one of auto, midpoint, jackknife, few"),
        ({}, {"n_pairs": "exact"}, "n_pairs='exact' needs"),
    ],
)
def test_errors_come_before_the_first_fit(data, options, fit, message):
    X, y = data
    with pytest.raises(ValueError, match=message):
        uv.UStatisticTest(X, y, "lda", loss="auc", **options).fit(rng=0, **fit)


def test_what_the_auc_cannot_be_about(data):
    X, y = data
    with pytest.raises(ValueError, match="class 1 has 2 observations"):
        uv.UStatisticTest(X, (np.arange(60) < 2) * 1, "lda", loss="auc")
    with pytest.raises(ValueError, match="kappa_profile is about a mean of losses"):
        uv.UStatisticTest(X, y, "lda", loss="auc").kappa_profile()


def test_a_pair_of_sizes_is_for_the_auc(data):
    X, y = data
    with pytest.raises(ValueError, match="learn_size"):
        uv.UStatisticTest(X, y, "lda", learn_size=(4, 4))


# ------------------------------------------------------------------------- beside other tests


def test_compare(data):
    X, y = data
    found = uv.compare(X, y, ["lda", "gaussian_nb", "knn:5"], "ustatistic", loss="auc", rng=2)
    alone = uv.UStatisticTest(X, y, "lda", "knn:5", loss="auc").fit(rng=2)
    result = found.result("ustatistic", "lda", "knn:5")
    assert result.estimate == alone.estimate
    assert result.se == alone.se
    design = StratifiedShuffleSplit(400, test_size=0.5, random_state=1)
    spec = uv.TestSpec("ustatistic", {"design": design})
    shared = uv.compare(X, y, ["lda", "gaussian_nb"], [spec, "corrected_t"], loss="auc", rng=2)
    assert shared.result("ustatistic").status == "ok"


class TestThroughCompare:
    SPEC = uv.TestSpec("ustatistic", {}, {"n_pairs": 300})

    @pytest.mark.parametrize(
        ("learners", "moved", "why"),
        [
            ((first, exponential), 0, "ranked every tested pair alike"),
            ((first, constant), 50, "differ by as much for every observation"),
        ],
    )
    def test_the_status_says_why_there_is_no_variance(self, data, learners, moved, why):
        X, y = data
        found = uv.compare(X + moved * y[:, None], y, learners, [self.SPEC], loss="auc", rng=0)
        assert why in found.frame["status"][0]
        assert math.isnan(found.frame["se"][0])

    def test_missing_scores_name_the_learner(self, data):
        X, y = data
        with pytest.raises(ValueError, match="learner missing predicts nan"):
            uv.compare(X, y, [first, missing], [self.SPEC], loss="auc", rng=0)

    def test_a_small_class_is_noted(self):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], [40, 7])
        found = uv.compare(
            rng.normal(size=(47, 2)), y, ["lda", "gaussian_nb"], [self.SPEC], loss="auc", rng=0
        )
        notes = [note for result in found.results.values() for note in result.notes]
        assert any("The smaller class has 7 observations" in note for note in notes)
