"""The AUC as a U-statistic: against enumeration and deletion, closed forms, and by chance."""

import itertools
import math

import numpy as np
import pytest

from tests.oracles import auc_ustatistic as oracle
from tests.oracles.influence import delong
from tests.support.samples import rows_class_by_class
from ucvtest.kernels import auc_ustatistic

NUMBERS = ("auc", "variance", "jackknife", "pair_effects", "df")
CASES = [  # n1, n0, g1, g0
    (4, 4, 1, 1),
    (4, 4, 2, 2),
    (3, 5, 1, 2),
    (5, 4, 2, 1),
    (5, 4, 1, 2),
    (5, 5, 3, 2),
    (5, 4, 1, 1),
]


class Problem:
    """Points in the plane, and learners by class means whose scores also lean on who was learnt."""

    def __init__(self, n1, n0, *, ties=False, seed=1):
        rng = np.random.default_rng(seed)
        n = n1 + n0
        self.points = rng.normal(size=(n, 2))
        self.points[:n1] += 0.5
        self.lean = rng.normal(size=(2, n))
        self.n1, self.ties, self.known = n1, ties, {}
        self.positives, self.negatives = tuple(range(n1)), tuple(range(n1, n))
        self.y = np.repeat([1, 0], [n1, n0])

    def score(self, learning, t, strength=0.5):
        key = (learning, t, strength)
        if key not in self.known:
            at = self.points[t]
            means = [
                self.points[[i for i in learning if (i < self.n1) == positive]].mean(axis=0)
                for positive in (True, False)
            ]
            found = ((at - means[1]) ** 2).sum() - ((at - means[0]) ** 2).sum()
            found += strength * self.lean[0, list(learning)].sum() * self.lean[1, t]
            self.known[key] = round(found) if self.ties else found
        return self.known[key]

    def other(self, learning, t):
        return self.score(learning, t, strength=-0.9)

    def complete(self, g1, g0, learner):
        """Scores and learning sets of a complete design."""
        sets = [a + b for a, b in oracle.learning_sets(self.positives, self.negatives, g1, g0)]
        learnt = np.array([np.isin(np.arange(len(self.y)), chosen) for chosen in sets])
        scores = [[learner(chosen, t) for t in range(len(self.y))] for chosen in sets]
        return np.array(scores, dtype=float), learnt


def draw_scores(rng, learnt, y):
    """Scores that depend on what is learnt."""
    moved = learnt @ rng.normal(size=len(y))
    return y + rng.normal(size=len(y)) * (1 + 0.3 * np.tanh(moved))[:, None]


def latin_square():
    """Each of nine rules separates, ties or reverses all that it ranks: effects of pairs alone."""
    y = np.repeat([1, 0], 3)
    pairs = list(itertools.product(range(3), range(3)))
    learnt = np.array([np.isin(np.arange(6), (i, 3 + j)) for i, j in pairs])
    return np.array([y * ((i + j) % 3 - 1.0) for i, j in pairs]), learnt, y


@pytest.fixture
def sampled(rng):
    """Scores of two learners on 400 random learning sets."""
    y = np.repeat([1, 0], [9, 11])
    learnt = rows_class_by_class(rng, 400, (9, 11), (3, 4))
    return draw_scores(rng, learnt, y), learnt, y, draw_scores(rng, learnt, y)


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("case", CASES)
class TestCompleteDesign:
    def found(self, case, ties, two):
        n1, n0, g1, g0 = case
        problem = Problem(n1, n0, ties=ties)
        scores, learnt = problem.complete(g1, g0, problem.score)
        other = problem.complete(g1, g0, problem.other)[0] if two else None
        kernel = oracle.difference(problem.score, problem.other if two else None)
        found = auc_ustatistic.from_scores(scores, learnt, problem.y, other, exact=True)
        return found, (kernel, problem.positives, problem.negatives, g1, g0)

    def test_equals_enumeration_and_deletion(self, case, ties, two):
        found, definition = self.found(case, ties, two)
        j, m2 = sum(oracle.jackknife(*definition)), sum(oracle.pair_effects(*definition))
        assert found["auc"] == pytest.approx(oracle.complete(*definition), abs=1e-10)
        assert found["jackknife"] == pytest.approx(j, abs=1e-10)
        assert found["pair_effects"] == pytest.approx(m2, abs=1e-10)
        assert j > 1e-3
        assert m2 > 1e-4
        half = all(2 * g <= n for n, g in zip(case[:2], case[2:], strict=True))
        expected = max((j + j**2 / (j + m2)) / 2, m2 / 2) if half else j
        assert found["variance"] == pytest.approx(expected, abs=1e-10)
        assert (found["mc_se_estimate"], found["mc_se_variance"]) == (0, 0)
        assert found["status"] == "ok"

    def test_degrees_of_freedom_and_influence_values(self, case, ties, two):
        found, definition = self.found(case, ties, two)
        j, sizes = oracle.jackknife(*definition), case[:2]
        welch = sum(j) ** 2 / sum(part**2 / (n - 1) for part, n in zip(j, sizes, strict=True))
        assert found["df"] == pytest.approx(min(max(welch, 1), sum(sizes) - 2), abs=1e-9)
        for name, part, n in zip(("u1", "u0"), j, sizes, strict=True):
            assert (found[name] ** 2).sum() / (n * (n - 1)) == pytest.approx(part, abs=1e-12)
            assert found[name].sum() == pytest.approx(0, abs=1e-12)


class TestRandomLearningSets:
    @pytest.mark.parametrize("two", [False, True])
    @pytest.mark.parametrize("case", [(6, 6, 2, 2), (5, 7, 2, 3), (7, 5, 4, 2)])
    def test_agree_with_all_learning_sets(self, case, two):
        n1, n0, g1, g0 = case
        problem, rng = Problem(n1, n0), np.random.default_rng(7)
        scores, learnt = problem.complete(g1, g0, problem.score)
        other = problem.complete(g1, g0, problem.other)[0]
        exact = auc_ustatistic.from_scores(
            scores, learnt, problem.y, other if two else None, exact=True
        )
        all_found = []
        for _ in range(4):
            rows = rng.integers(len(learnt), size=2000)
            found = auc_ustatistic.from_scores(
                scores[rows], learnt[rows], problem.y, other[rows] if two else None
            )
            assert abs(found["auc"] - exact["auc"]) < 4 * found["mc_se_estimate"]
            assert abs(found["variance"] - exact["variance"]) < 4 * found["mc_se_variance"]
            all_found.append(found)
        for name in ("auc", "variance", "jackknife", "pair_effects"):
            values = np.array([each[name] for each in all_found])
            error = values.std(ddof=1) / math.sqrt(len(values))
            assert abs(values.mean() - exact[name]) < 10.2 * error, name  # t with 3 df: 1 in 500

    def test_products_of_blocks_hold_no_monte_carlo_noise(self):
        problem, rng = Problem(6, 6), np.random.default_rng(0)
        scores, learnt = problem.complete(2, 2, problem.score)
        exact = auc_ustatistic.from_scores(scores, learnt, problem.y, exact=True)["jackknife"]
        products, raw = [], []
        for _ in range(60):
            rows = rng.integers(len(learnt), size=60)
            found = auc_ustatistic.from_scores(scores[rows], learnt[rows], problem.y)
            products.append(found["jackknife"])
            raw.append(sum((found[name] ** 2).sum() for name in ("u1", "u0")) / 30)
        bias, noise = np.subtract(products, exact), np.subtract(raw, products)
        errors = [values.std(ddof=1) / math.sqrt(60) for values in (bias, noise)]
        assert abs(bias.mean()) < 4 * errors[0]
        assert noise.mean() > 4 * errors[1]

    def test_monte_carlo_errors_are_those_of_repetitions(self):
        rng = np.random.default_rng(2)
        y, points = np.repeat([1, 0], 6), rng.normal(size=12)
        found = []
        for _ in range(40):
            learnt = rows_class_by_class(rng, 120, (6, 6), (2, 2))
            scores = np.tanh(learnt @ (points * y) + 0.3)[:, None] * points + np.sin(7 * points)
            found.append(auc_ustatistic.from_scores(scores, learnt, y))
        for name, error in (("auc", "mc_se_estimate"), ("variance", "mc_se_variance")):
            spread = np.std([each[name] for each in found], ddof=1)
            mean = np.mean([each[error] for each in found])
            assert 0.75 < mean / spread < 1.8, name

    def test_do_not_depend_on_how_rows_are_divided(self, sampled, monkeypatch):
        scores, learnt, y, other = sampled
        expected = auc_ustatistic.from_scores(scores, learnt, y, other)
        monkeypatch.setattr("ucvtest.kernels.ustatistic.placements.CALL", 16)
        found = auc_ustatistic.from_scores(scores, learnt, y, other)
        for name in (*NUMBERS, "u1", "u0", "mc_se_estimate", "mc_se_variance"):
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, err_msg=name)

    def test_rows_drawn_together_count_as_one_draw(self, sampled):
        scores, learnt, y, _ = sampled
        once = auc_ustatistic.from_scores(scores, learnt, y)
        twice = [np.repeat(each, 2, axis=0) for each in (scores, learnt)]
        pairs = auc_ustatistic.from_scores(*twice, y, cluster=np.repeat(np.arange(400), 2))
        ignored = auc_ustatistic.from_scores(*twice, y)
        # The same rows twice tell no more, up to the degrees of freedom of the fit.
        assert pairs["mc_se_estimate"] == pytest.approx(once["mc_se_estimate"], rel=0.03)
        assert ignored["mc_se_estimate"] < 0.8 * once["mc_se_estimate"]
        for name in ("auc", "pair_effects"):
            assert pairs[name] == pytest.approx(once[name], rel=1e-9)


class TestClosedForms:
    def test_scores_that_are_given_have_the_variance_of_delong(self, rng):
        y = np.repeat([1, 0], [13, 17])
        scores = np.round(2 * (y + rng.normal(size=30)))
        found = auc_ustatistic.from_scores(
            scores[None], np.zeros((1, 30), dtype=bool), y, exact=True
        )
        assert found["jackknife"] == pytest.approx(sum(delong(scores, y)), rel=1e-12)

    def test_where_single_observations_tell_nothing_the_floor_holds(self):
        scores, learnt, y = latin_square()
        scores[0, 1] += 1.0
        found = auc_ustatistic.from_scores(scores, learnt, y, exact=True)
        assert 0 < found["jackknife"] < found["pair_effects"] / 2
        assert found["variance"] == found["pair_effects"] / 2

    def test_above_half_of_a_class_the_jackknife_answers(self, rng):
        y, learnt = np.repeat([1, 0], 10), rows_class_by_class(rng, 300, (10, 10), (6, 4))
        found = auc_ustatistic.from_scores(draw_scores(rng, learnt, y), learnt, y)
        assert found["variance"] == found["jackknife"]
        assert found["pair_effects"] > 0


class TestNoAnswer:
    @pytest.fixture
    def learnt(self, rng):
        return rows_class_by_class(rng, 200, (10, 10), (4, 4))

    Y = np.repeat([1, 0], 10)

    @pytest.mark.parametrize(
        ("scores", "other", "why"),
        [
            (Y, None, "the classes were separated completely"),
            (-Y, None, "the classes were separated completely"),
            (0 * Y, None, "all tested scores were equal"),
            (np.arange(20) % 7, np.exp(np.arange(20) % 7), "ranked every tested pair alike"),
            (Y, 0 * Y, "differ by as much for every observation"),
        ],
    )
    def test_the_reason_is_said(self, learnt, scores, other, why):
        rows = [None if each is None else np.tile(each, (200, 1)) for each in (scores, other)]
        found = auc_ustatistic.from_scores(rows[0], learnt, self.Y, rows[1])
        assert math.isnan(found["variance"])
        assert math.isnan(found["df"])
        assert math.isnan(found["mc_se_variance"])
        assert found["jackknife"] == pytest.approx(0, abs=1e-12)
        assert found["status"].startswith("degenerate: the jackknife variance is zero, ")
        assert why in found["status"]

    def test_effects_of_pairs_alone(self):
        scores, learnt, y = latin_square()
        found = auc_ustatistic.from_scores(scores, learnt, y, exact=True)
        assert found["pair_effects"] > 0.01
        assert math.isnan(found["variance"])
        assert found["status"].endswith("every observation was ranked equally well")
