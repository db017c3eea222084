"""The AUC of several classes: against enumeration and deletion, two classes, and fixed rules."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tests.oracles import auc_several_classes as oracle
from tests.support.samples import rows_class_by_class
from ucvtest.kernels import auc_ustatistic

CASES = [  # n_c, g_c
    ((4, 3, 4), (1, 1, 2)),
    ((4, 4, 4), (2, 1, 2)),
    ((5, 3, 4), (3, 1, 1)),
    ((3, 3, 3, 3), (1, 1, 1, 1)),
    ((4, 5), (2, 1)),
]


class Problem:
    """Points in the plane, and learners by class means whose scores also lean on who was learnt."""

    def __init__(self, sizes, *, ties=False, seed=1):
        rng = np.random.default_rng(seed)
        self.y = np.repeat(range(len(sizes)), sizes)
        self.points = rng.normal(size=(len(self.y), 2))
        self.points += 0.6 * rng.normal(size=(len(sizes), 2))[self.y]
        self.lean = rng.normal(size=(2, len(self.y)))
        self.ties, self.known = ties, {}
        ends = np.cumsum((0, *sizes))
        self.classes = tuple(tuple(range(a, b)) for a, b in itertools.pairwise(ends.tolist()))

    def score(self, learning, t, strength=0.5):
        key = (tuple(sorted(learning)), t, strength)
        if key not in self.known:
            lean = strength * self.lean[0, list(learning)].sum() * self.lean[1, t]
            found = []
            for code in range(len(self.classes)):
                mean = self.points[[i for i in learning if self.y[i] == code]].mean(axis=0)
                found.append(lean * (code + 1) - ((self.points[t] - mean) ** 2).sum())
            self.known[key] = np.round(found) if self.ties else np.array(found)
        return self.known[key]

    def other(self, learning, t):
        return self.score(learning, t, strength=-0.9)

    def complete(self, learn_sizes, learner):
        """Scores and learning sets of a complete design."""
        sets = [sum(each, ()) for each in oracle.learning_sets(self.classes, learn_sizes)]
        everyone = range(len(self.y))
        learnt = np.array([np.isin(everyone, chosen) for chosen in sets])
        return np.array([[learner(chosen, t) for t in everyone] for chosen in sets]), learnt


@pytest.mark.seconds(3, reason="enumerates all learning sets")
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_complete_designs_equal_enumeration_and_deletion(case, ties, two):
    sizes, learn_sizes = case
    problem = Problem(sizes, ties=ties)
    learners = [problem.score, problem.other][: 1 + two]
    designs = [problem.complete(learn_sizes, each) for each in learners]
    learnt, scores = designs[0][1], [found for found, _ in designs]
    found = auc_ustatistic.from_scores(
        scores[0], learnt, problem.y, scores[1] if two else None, exact=True
    )
    definition = (learners, problem.classes, learn_sizes)
    parts = oracle.jackknife(*definition)
    j, m2 = sum(parts), sum(map(sum, oracle.pair_effects(*definition)))
    halves = all(2 * g <= n for n, g in zip(sizes, learn_sizes, strict=True))
    df = j**2 / sum(part**2 / (n - 1) for part, n in zip(parts, sizes, strict=True))
    assert found["auc"] == pytest.approx(oracle.complete(*definition), abs=1e-12)
    assert found["jackknife"] == pytest.approx(j, abs=1e-12)
    assert found["pair_effects"] == pytest.approx(m2, abs=1e-12)
    midpoint = max((j + j**2 / (j + m2)) / 2, m2 / 2) if halves else np.nan
    assert found["midpoint"] == pytest.approx(midpoint, abs=1e-12, nan_ok=True)
    # As `UStatisticTest` takes by default.
    assert found["variance"] == found["midpoint" if halves and len(sizes) == 2 else "jackknife"]
    assert found["df"] == pytest.approx(np.clip(df, 1, sum(sizes) - len(sizes)), rel=1e-9)
    assert found["mc_se_estimate"] == found["mc_se_variance"] == 0
    assert found["status"] == "ok"
    for u, part, n in zip(found["u"], parts, sizes, strict=True):
        assert (u**2).sum() / (n * (n - 1)) == pytest.approx(part, abs=1e-12)


@pytest.mark.parametrize("case", CASES[:3])
def test_one_class_against_the_rest_equals_enumeration_and_deletion(case):
    sizes, learn_sizes = case
    problem = Problem(sizes)
    scores, learnt = problem.complete(learn_sizes, problem.score)
    found = auc_ustatistic.from_scores(scores, learnt, problem.y, exact=True, pos_label=1)
    kernel = oracle.against_rest(1, sizes)
    definition = ([problem.score], problem.classes, learn_sizes, kernel)
    assert found["auc"] == pytest.approx(oracle.complete(*definition), abs=1e-12)
    assert found["jackknife"] == pytest.approx(sum(oracle.jackknife(*definition)), abs=1e-12)
    m2 = sum(map(sum, oracle.pair_effects(*definition)))
    assert found["pair_effects"] == pytest.approx(m2, abs=1e-12)


@pytest.mark.parametrize("two", [False, True])
def test_two_classes_are_those_of_the_binary_kernel(two):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [14, 19])
    learnt = rows_class_by_class(rng, 500, (14, 19), (6, 9))
    moved = 1 + 0.3 * np.tanh(learnt @ rng.normal(size=33))
    first = y + rng.normal(size=33) * moved[:, None] + 0.1 * rng.normal(size=(500, 33))
    second = first + 0.5 * rng.normal(size=33)
    cluster = np.arange(500) // 2
    binary = auc_ustatistic.from_scores(first, learnt, y, second if two else None, cluster=cluster)
    by_class = [np.stack([-each, each], axis=2) for each in (first, second)]
    found = auc_ustatistic.from_scores(
        by_class[0], learnt, y, by_class[1] if two else None, cluster=cluster
    )
    for name in binary.keys() & found.keys() - {"status"}:
        assert found[name] == pytest.approx(binary[name], rel=1e-8), name
    assert found["u"][1] == pytest.approx(binary["u1"], rel=1e-8)
    assert found["u"][0] == pytest.approx(binary["u0"], rel=1e-8)


@pytest.mark.parametrize("decimals", [1, 9])
def test_fixed_rules_are_scored_as_by_scikit_learn(decimals):
    rng = np.random.default_rng(5)
    sizes = (9, 14, 11, 6)
    y = np.repeat(range(4), sizes)
    scores = np.round(rng.normal(size=(40, 4)) + 1.2 * np.eye(4)[y], decimals)
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    learnt = np.zeros((1, 40), dtype=bool)
    found = auc_ustatistic.from_scores(shares[None], learnt, y, exact=True)
    expected = roc_auc_score(y, shares, multi_class="ovo", average="macro")
    assert found["auc"] == pytest.approx(expected, rel=1e-12)
    for code in range(4):
        one = auc_ustatistic.from_scores(shares[None], learnt, y, exact=True, pos_label=code)
        assert one["auc"] == pytest.approx(roc_auc_score(y == code, shares[:, code]), rel=1e-12)


def test_random_learning_sets_are_near_all_of_them():
    problem = Problem((5, 4, 5))
    learn_sizes = (2, 1, 2)
    scores, learnt = problem.complete(learn_sizes, problem.score)
    whole = auc_ustatistic.from_scores(scores, learnt, problem.y, exact=True)
    rows = np.random.default_rng(2).integers(len(learnt), size=3000)
    drawn = auc_ustatistic.from_scores(scores[rows], learnt[rows], problem.y)
    assert abs(drawn["auc"] - whole["auc"]) < 4 * drawn["mc_se_estimate"]
    assert abs(drawn["variance"] - whole["variance"]) < 4 * drawn["mc_se_variance"]
    assert drawn["pair_effects"] == pytest.approx(whole["pair_effects"], rel=0.2)


def test_infinite_scores_are_ranked_and_untested_ones_ignored():
    rng = np.random.default_rng(3)
    y = np.repeat(range(3), 8)
    learnt = rows_class_by_class(rng, 200, (8, 8, 8), (3, 3, 3))
    scores = rng.normal(size=(200, 24, 3)) + np.eye(3)[y]
    scores[scores > 2] = np.inf
    finite = np.where(scores == np.inf, 1e6, scores)
    found = auc_ustatistic.from_scores(np.where(learnt[..., None], np.nan, scores), learnt, y)
    again = auc_ustatistic.from_scores(finite, learnt, y)
    assert found["auc"] == again["auc"]
    assert found["variance"] == again["variance"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda y, rng: np.eye(3)[y] + 0 * rng.normal(size=(200, 1, 1)), "separated completely"),
        (lambda y, rng: np.zeros((200, 24, 3)), "ranked equally well, as by equal scores"),
    ],
)
def test_what_does_not_vary_has_no_variance(make, reason):
    rng = np.random.default_rng(3)
    y = np.repeat(range(3), 8)
    learnt = rows_class_by_class(rng, 200, (8, 8, 8), (3, 3, 3))
    scores = make(y, rng)
    found = auc_ustatistic.from_scores(scores, learnt, y)
    assert np.isnan(found["variance"])
    assert np.isnan(found["df"])
    assert reason in found["status"]
    found = auc_ustatistic.from_scores(scores, learnt, y, 2 * scores)
    assert "ranked every tested pair alike" in found["status"]
