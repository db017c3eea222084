"""The repaired influence variance: by deletion on enumerated designs, and in the class."""

import itertools

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import auc_ustatistic as oracle
from ucvtest.common.execution import Execution
from ucvtest.inference.studentise import Hypothesis
from ucvtest.kernels.influence.estimate import Rows
from ucvtest.kernels.influence.sums import LossCounts, PairCounts
from ucvtest.methods.influence.estimation import draw_resamples, estimates_from, fitted_losses
from ucvtest.methods.influence.options import InfluenceOptions, Layout, resampled_classes
from ucvtest.methods.influence.variances import study_variances


class Rule:
    """A random score (loss) for every learning set and observation."""

    def __init__(self, seed):
        self.rng, self.known = np.random.default_rng(seed), {}

    def __call__(self, learning, t):
        key = (learning, t)
        if key not in self.known:
            # What observations are worth, alone and in pairs, in steps: some ties.
            value = (t % 5) * 0.3 + sum((i * i + t) % 7 for i in learning) * 0.2
            self.known[key] = round(value + self.rng.normal(), 1)
        return self.known[key]

    def loss(self, learning, t):
        return float(self(learning, t) > 1.5)


def partitions(items, size):
    """All partitions into folds of one size, once each."""
    if not items:
        yield ()
        return
    for rest in itertools.combinations(items[1:], size - 1):
        fold = (items[0], *rest)
        for others in partitions([i for i in items if i not in fold], size):
            yield (fold, *others)


def rows_of(n, folds_of_repeats):
    """One row for each fold (or union of two folds) that is tested."""
    tested = [np.isin(np.arange(n), fold) for folds in folds_of_repeats for fold in folds]
    repeat = np.repeat(np.arange(len(folds_of_repeats)), [len(folds) for folds in folds_of_repeats])
    return Rows(np.array(tested), ~np.array(tested), repeat)


def influence_of(counts, rows, rule):
    sums = counts.sums()
    values = [
        [rule(tuple(np.flatnonzero(~tested).tolist()), t) for t in range(len(tested))]
        for tested in rows.tested
    ]
    sums.add(rows, np.array(values, dtype=float))
    return sums.influence([rows])


def by_class(n1, n0, size1, size0, *, repeated):
    """All designs of the AUC: the tested folds of each class of all repeats.

    Repeated K-fold cross-validation tests all pairs of folds; of the whole sample ("whole"), where
    every fold contains members of both classes, each fold of one class with one of the other.
    """
    positives, negatives = list(range(n1)), list(range(n1, n1 + n0))
    if repeated == "whole":
        return [
            [a + b for a, b in zip(first, second, strict=True)]
            for first in partitions(positives, size1)
            for one in partitions(negatives, size0)
            for second in itertools.permutations(one)
        ]
    if repeated:
        return [
            [a + b for a in first for b in second]
            for first in partitions(positives, size1)
            for second in partitions(negatives, size0)
        ]
    return [
        [a + b]
        for a in itertools.combinations(positives, size1)
        for b in itertools.combinations(negatives, size0)
    ]


class TestDeletion:
    @pytest.mark.parametrize("two", [False, True])
    @pytest.mark.parametrize(
        ("n1", "n0", "size1", "size0", "repeated"),
        [
            (4, 4, 2, 2, False),
            (5, 6, 3, 2, False),
            (4, 4, 2, 2, True),
            (6, 4, 3, 2, True),
            (4, 6, 2, 3, "whole"),
        ],
    )
    def test_auc(self, n1, n0, size1, size0, repeated, two):
        y = np.repeat([1, 0], [n1, n0])
        rules = (Rule(0), Rule(1)) if two else (Rule(0),)
        design = by_class(n1, n0, size1, size0, repeated=repeated)
        rows = rows_of(n1 + n0, design)
        counts = PairCounts.of(y, len(design), [rows])
        found = [influence_of(counts, rows, rule) for rule in rules]
        influence = found[0].minus(found[1]) if two else found[0]
        kernel = oracle.difference(rules[0], rules[1] if two else None)
        positives, negatives = tuple(range(n1)), tuple(range(n1, n1 + n0))
        g1, g0 = n1 - size1, n0 - size0
        expected = oracle.jackknife(kernel, positives, negatives, g1, g0)
        repaired = influence.repaired(np.where(y == 1, size1, size0))
        assert repaired.estimate == pytest.approx(
            oracle.complete(kernel, positives, negatives, g1, g0), abs=1e-12
        )
        assert repaired.variance == pytest.approx(sum(expected), abs=1e-12)
        for label, part in zip((1, 0), expected, strict=True):
            of_class = repaired.of_class(np.flatnonzero(y == label))
            assert of_class.variance == pytest.approx(part, abs=1e-12)
        # The paper's is too small, as what II and III say of the learning sets is.
        share = 0.9 if repeated == "whole" else 0.8  # the order of rows makes other random rules
        assert influence.variance < share * repaired.variance

    @pytest.mark.parametrize(("n", "size", "repeated"), [(6, 2, False), (6, 3, True), (8, 2, True)])
    def test_error(self, n, size, repeated):
        rule = Rule(2)

        def complete(items):
            sets = itertools.combinations(items, n - size)
            return np.mean([rule.loss(s, t) for s in sets for t in items if t not in s])

        left = np.array([complete([i for i in range(n) if i != out]) for out in range(n)])
        items = list(range(n))
        design = (
            list(partitions(items, size))
            if repeated
            else [[fold] for fold in itertools.combinations(items, size)]
        )
        rows = rows_of(n, design)
        counts = LossCounts.of(n, len(design), [rows])
        influence = influence_of(counts, rows, rule.loss)
        repaired = influence.repaired(np.full(n, size))
        assert influence.estimate == pytest.approx(complete(items), abs=1e-12)
        expected = (n - 1) / n * ((left - left.mean()) ** 2).sum()
        assert repaired.variance == pytest.approx(expected, abs=1e-12)
        assert influence.variance < 0.8 * repaired.variance


def mixed(n_negative, n_positive, shift=0.7, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n_negative, n_positive])
    return rng.normal(size=(len(y), 2)) + shift * y[:, None], y


@pytest.mark.parametrize("scheme", ["monte_carlo", "repeated"])
@pytest.mark.parametrize("metric", ["auc", "error"])
class TestTheClass:
    def fit(self, metric, scheme, n_repeats="auto", other=None):
        X, y = mixed(20, 15)
        test = uv.InfluenceFunctionTest(X, y, "lda", other, metric=metric)
        return test.fit(n_repeats, scheme, "jackknife", rng=0)

    def test_is_the_repair_without_its_noise(self, metric, scheme):
        result = self.fit(metric, scheme)
        sizes = np.repeat([20.0, 15.0], [20, 15]) if metric == "auc" else np.full(35, 35.0)
        terms = [result.diagnostics[f"term_{k}"] for k in (1, 2, 3)]
        values = terms[0] + (sizes - 1) / (sizes / 5 - 1) * (terms[1] - terms[2])
        raw = (values**2 / (sizes * (sizes - 1))).sum()
        assert 0.6 * raw < result.variance < raw
        assert result.variance == result.diagnostics["variance_jackknife"]
        assert result.variance > 1.2 * result.diagnostics["variance_influence"]
        assert result.settings["variance"] == "jackknife"
        assert result.status == "ok"

    def test_reference_is_students_t(self, metric, scheme):
        result = self.fit(metric, scheme)
        assert result.reference == "t"
        if metric == "error":
            assert result.df == 34
        else:
            assert 14 <= result.df <= 33
        low, high = result.conf_int()
        if metric == "error":
            assert (high - low) / 2 > 1.98 * result.se
        table = result.tables["Variances"]
        assert table["variance"][:3] == ("influence", "jackknife", "term_1")
        assert table["conf_low"][1] == pytest.approx(low)


@pytest.mark.parametrize(
    ("sizes", "scheme", "metric", "chosen"),
    [
        ((20, 15), "monte_carlo", "auc", "jackknife"),
        ((20, 15), "repeated", "auc", "jackknife"),
        # Folds of two sizes; a fold of one observation is empty without it.
        ((20, 13), "repeated", "auc", "influence"),
        ((20, 9), "monte_carlo", "auc", "influence"),
        ((20, 15), "bootstrap", "auc", "influence"),
        ((20, 15), "kfold", "auc", "influence"),
        ((20, 15), "monte_carlo", "error", "influence"),
        ((20, 15), "repeated", "error", "influence"),
    ],
)
def test_the_default(sizes, scheme, metric, chosen):
    X, y = mixed(*sizes)
    test = uv.InfluenceFunctionTest(X, y, "lda", metric=metric, null_value=0.5)
    n_repeats = {"monte_carlo": 300, "repeated": 30, "bootstrap": 100}.get(scheme, "auto")
    result = test.fit(n_repeats, scheme, rng=0)
    assert result.settings["variance"] == result.diagnostics["variance"] == chosen
    assert result.variance == result.diagnostics[f"variance_{chosen}"]


def test_squares_are_products_of_groups():
    X, y = mixed(20, 15)
    layout = Layout(resampled_classes(35, y), 5)
    options = InfluenceOptions(300, "monte_carlo", "jackknife")
    rng = np.random.default_rng(0)
    resamples = draw_resamples(layout, options, rng)
    problem = uv.InfluenceFunctionTest(X, y, "lda").question.data("")
    source = fitted_losses(problem, resamples, Execution.of(0, None, None))
    found = estimates_from(layout, resamples, source, rng)
    sizes = np.repeat([4, 3], [20, 15])
    repaired = found.influence.repaired(sizes)
    k, expected = len(repaired.by_group), 0.0
    assert k == 16
    for members in layout.classes:
        of_class = repaired.of_class(members)
        # What each group says by itself: the whole, and what it deviates, k times as much.
        noise = of_class.by_group - of_class.by_group.mean(axis=0)
        alone = (of_class.values + k * noise) / of_class.divisor
        total = alone.sum(axis=0)
        expected += (total @ total - (alone**2).sum()) / (k * (k - 1))
    hypothesis = Hypothesis(0.5, "two-sided")
    studied = study_variances(hypothesis, layout, "monte_carlo", found)["jackknife"]
    assert studied.test.variance == pytest.approx(expected, rel=1e-12)
