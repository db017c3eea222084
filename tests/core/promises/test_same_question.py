"""What is the same question has the same answer, however it is put."""

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

import ucvtest as uv
from tests.support.samples import PAIRED

X, Y, AMOUNTS, _ = PAIRED
THREE = np.arange(40) % 3
FAST = ("nearest_centroid", "majority")

ERRORS = {
    "a matrix": [[0, 1], [1, 0]],
    "a matrix of numbers": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "a data frame": pd.DataFrame([[0, 1], [1, 0]]),
    "scikit-learn's function": metrics.zero_one_loss,
    "another one": metrics.hamming_loss,
    "another name": "error",
}
TESTS = {
    uv.UStatisticTest: {"n_pairs": 200},
    uv.HoldOutTest: {},
    uv.McNemarTest: {},
    uv.CorrectedTTest: {},
    uv.InfluenceFunctionTest: {"n_repeats": 60},
}


def fitted(cls, loss, y=Y, learners=FAST):
    return cls(X, y, *learners, loss=loss).fit(rng=0, **TESTS.get(cls, {}))


def same(one, other):
    assert one.summary_frame().equals(other.summary_frame())
    assert one.settings["loss"] == other.settings["loss"]
    assert one.diagnostics.keys() == other.diagnostics.keys()


@pytest.mark.parametrize("cls", TESTS)
@pytest.mark.parametrize("kind", ERRORS)
def test_the_error_rate(kind, cls):
    same(fitted(cls, "zero_one"), fitted(cls, ERRORS[kind]))


def test_the_error_rate_of_one_learner_and_of_three_classes():
    alone = ("nearest_centroid",)
    for cls in (uv.UStatisticTest, uv.HoldOutTest):
        same(fitted(cls, "zero_one", learners=alone), fitted(cls, [[0, 1], [1, 0]], learners=alone))
    matrix = 1 - np.eye(3, dtype=int)
    same(fitted(uv.CorrectedTTest, "zero_one", THREE), fitted(uv.CorrectedTTest, matrix, THREE))
    with pytest.raises(ValueError, match=r"loss has shape \(3, 3\), but y has 2 classes"):
        fitted(uv.CorrectedTTest, matrix)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (metrics.mean_squared_error, "squared"),
        (metrics.mean_absolute_error, "absolute"),
    ],
)
def test_losses_of_numbers(function, name):
    learners = ("ridge:1.0", "knn:3")
    one, other = (fitted(uv.CorrectedTTest, each, AMOUNTS, learners) for each in (function, name))
    same(one, other)
    predicted = {"a": AMOUNTS * 0.9, "b": AMOUNTS + 0.1}
    tables = [
        uv.Losses.from_predictions(AMOUNTS, predicted, loss=each) for each in (function, name)
    ]
    np.testing.assert_array_equal(tables[0].means, tables[1].means)
    assert tables[0].loss == tables[1].loss


def test_losses_of_probabilities():
    for function, name in ((metrics.log_loss, "log"), (metrics.brier_score_loss, "brier")):
        same(
            *(fitted(uv.CorrectedTTest, each, Y, ("lda", "majority")) for each in (function, name))
        )


def test_scores_of_scikit_learn_are_no_losses():
    for function in (metrics.accuracy_score, metrics.r2_score, metrics.f1_score):
        with pytest.raises(ValueError, match=r"scikit-learn's function .*make_scorer.*as scoring"):
            fitted(uv.CorrectedTTest, function)


def test_names_of_tables():
    learning = np.array([[0, 1], [1, 0]]).repeat(22, axis=1)
    values = np.arange(88.0).reshape(2, 44) % 7
    one, other = (uv.Losses.from_arrays(values, learning, loss=each) for each in ("mse", "squared"))
    assert (one.loss, one.in_words) == (other.loss, other.in_words)


def test_scoring_by_name_scorer_and_callable():
    scorers = ("f1", metrics.get_scorer("f1"), metrics.make_scorer(metrics.f1_score))
    results = [
        uv.CorrectedTTest(X, Y, "nearest_centroid", "knn:3", scoring=each).fit(rng=0)
        for each in scorers
    ]
    for other in results[1:]:
        same(results[0], other)


EQUAL, UNEQUAL = [[0, 1], [1, 0]], [[0, 1], [5, 0]]
SCALED = [
    *(uv.UStatisticTest, uv.HoldOutTest, uv.CorrectedTTest, uv.BayesianTTest, uv.FiveByTwoFTest),
    *(uv.ConservativeZTest, uv.CrossValidationWaldTest, uv.NestedCrossValidationTest),
    *(uv.FiveByTwoTTest, uv.FoldCovarianceTest, uv.PermutationComplexityTest),
]


def numbers(result):
    """All that a result contains: by names, so that two can be compared."""
    found = {"conf_int": np.array(result.conf_int() if result.se > 0 else (np.nan, np.nan))}
    for name in ("estimate", "se", "variance", "statistic", "pvalue", "df", "null_value"):
        found[name] = getattr(result, name)
    found |= {name: x for name, x in result.diagnostics.items() if not isinstance(x, str)}
    for title, table in result.tables.items():
        if title == "Parts":
            # One of them is a share, and has no units.
            rows = zip(table["part"], table["value"], table["mc_se"], strict=True)
            found |= {(title, name): cells for name, *cells in rows}
            continue
        found |= {(title, name): cells for name, cells in table.items() if name not in WORDS}
    return {name: np.array(x, dtype=float) for name, x in found.items()}


WORDS = {"learner", "variance", "region", "part", "moment", "unbiased_for", "end", "learnt from"}
WORDS |= {"interval", "bound on"}


def scaled(cls, matrix, factor, learners):
    options = {"null_value": 0.3 * factor} if len(learners) == 1 and cls.compares else {}
    test = cls(X, Y, *learners, loss=factor * np.array(matrix), **options)
    fit = {uv.UStatisticTest: {"n_pairs": 200}, uv.PermutationComplexityTest: {"n_permutations": 9}}
    more = {"rope": 0.01 * factor} if cls is uv.BayesianTTest else {}
    return test.fit(rng=0, **fit.get(cls, {}), **more)


@pytest.mark.parametrize(
    ("cls", "n_learners", "factor"),
    [
        (cls, number, factor)
        for cls in SCALED
        for number, factor in ((1, 4.0), (2, 0.1))
        if number == 1 or cls.compares
    ],
)
def test_costs_in_another_currency(cls, n_learners, factor):
    learners = FAST[:n_learners]
    plain, other = (scaled(cls, UNEQUAL, each, learners) for each in (1.0, factor))
    powers = powers_between(plain, other, factor)
    errors, costs = (scaled(cls, EQUAL, each, learners) for each in (1.0, factor))
    assert costs.better == "lower"
    assert costs.alternative == errors.alternative
    assert (costs.pvalue, costs.df) == pytest.approx((errors.pvalue, errors.df), nan_ok=True)
    found = powers_between(errors, costs, factor)
    # What costs that differ show of themselves is the rule for costs that are equal.
    differing = {name for name in powers.keys() & found.keys() if powers[name] != found[name]}
    differing -= {name for name in differing if None in (powers[name], found[name])}
    assert not differing
    if errors.se > 0:
        ends = [factor * end for end in errors.conf_int()]
        assert costs.conf_int() == pytest.approx(ends, rel=1e-12)
    again = uv.TestResult.from_dict(costs.to_dict())
    assert again.summary_frame().equals(costs.summary_frame())


def powers_between(one, other, factor):
    """With which power of the factor each number changes; None where that cannot be told."""
    first, second = numbers(one), numbers(other)
    assert first.keys() == second.keys()
    found = {}
    for name, x in first.items():
        y = second[name]
        told = np.isfinite(x) & np.isfinite(y) & (np.abs(x) > 1e-9) & (np.abs(y) > 1e-12)
        if not told.any():
            found[name] = None
            continue
        fits = [
            power
            for power in (-1, 0, 1, 2)
            if np.allclose(y[told], x[told] * factor**power, rtol=1e-8, atol=0)
        ]
        assert len(fits) == 1, (name, x[told], y[told])
        found[name] = fits[0]
    return found


def test_slopes_have_the_units_of_costs():
    one, three = (fitted(uv.UStatisticTest, np.eye(2)[::-1] * cost).diagnostics for cost in (1, 3))
    for name in ("slope", "se_slope", "mc_se_slope"):
        assert three[name] == pytest.approx(one[name] / 3, rel=1e-6) != 0


def test_tables_of_costs_remember_that_they_are_equal(tmp_path):
    matrix = [[0, 3], [3, 0]]
    errors = uv.evaluate(FAST, X, Y, 5, "zero_one", rng=0)
    costs = uv.evaluate(FAST, X, Y, 5, matrix, rng=0)
    assert (costs.loss, costs.bounds, costs.greater_is_better) == ("matrix", (0.0, 3.0), False)
    np.testing.assert_allclose(costs.means, 3 * errors.means, rtol=1e-15)
    costs.save(tmp_path / "costs.json")
    again = uv.Losses.load(tmp_path / "costs.json")
    one, other = (uv.McNemarTest.from_losses(each).fit() for each in (errors, again))
    assert other.estimate == pytest.approx(3 * one.estimate, rel=1e-15)
    assert one.pvalue == other.pvalue
    rules = {"a": Y, "b": 1 - Y % 3}
    tables = [uv.Losses.from_predictions(Y, rules, loss=each) for each in ("zero_one", matrix)]
    one, other = (uv.HoldOutTest.from_losses(each, "b").fit() for each in tables)
    assert one.conf_int() == pytest.approx([end / 3 for end in other.conf_int()], rel=1e-15)
    assert one.method == other.method == "Hold-out binomial test"


def test_comparisons_and_selections_of_costs():
    names = [*FAST, "knn:3"]
    for test in (uv.TestSpec("ustatistic", fit={"n_pairs": 300}), "hold_out"):
        options = {"correction": "simultaneous", "rng": 0}
        errors = uv.compare(X, Y, names, test, loss="zero_one", **options)
        costs = uv.compare(X, Y, names, test, loss=[[0, 3], [3, 0]], **options)
        np.testing.assert_allclose(costs.frame["conf_low"], 3 * errors.frame["conf_low"])
        np.testing.assert_allclose(costs.frame["pvalue_adjusted"], errors.frame["pvalue_adjusted"])
        assert costs.best_set() == errors.best_set()
        assert costs.settings["loss"] == "matrix"
    chosen = uv.select_model(X, Y, names, loss=[[0, 3], [3, 0]], n_permutations=5, rng=0)
    plain = uv.select_model(X, Y, names, loss="zero_one", n_permutations=5, rng=0)
    assert chosen.choices == plain.choices
    np.testing.assert_allclose(chosen.columns["loo"], 3 * plain.columns["loo"])
    with pytest.raises(
        ValueError, match="loss is 3 times the error rate: plan for loss='zero_one'"
    ):
        uv.plan(X, Y, *FAST, loss=[[0, 3], [3, 0]], width=0.1)
