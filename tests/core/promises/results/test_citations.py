"""The papers behind a result, and its paragraph for a paper."""

import re
from typing import get_args

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.methods.influence.options import Scheme
from ucvtest.methods.registry import TESTS
from ucvtest.results.citations import all_papers, cite
from ucvtest.results.methods_text import INTERVALS, SCHEMES
from ucvtest.stats.interval_rules import KINDS, ChangedUnits

Y = np.tile([0, 1], 15)
RULES = {"a": np.where(np.arange(30) % 7 == 0, 1 - Y, Y), "b": np.zeros(30, int)}
LOSSES = uv.Losses.from_predictions(Y, RULES)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    return X, (X[:, 0] + rng.normal(size=40) > 0).astype(int)


@pytest.fixture(scope="module")
def ustatistic(data):
    return uv.UStatisticTest(*data, "lda", "majority").fit(n_pairs=600, rng=0)


def test_every_test_has_a_paper_and_every_paper_a_test():
    behind = [each["test"] for paper in all_papers() for each in paper.behind if "test" in each]
    assert set(behind) == set(TESTS)


def test_entries_are_whole():
    for paper in all_papers():
        assert {"author", "title", "year"} <= set(paper.fields)
        assert all("where" in each for each in paper.behind)
        assert paper.bibtex.count("{") == paper.bibtex.count("}")
    keys = [paper.key for paper in all_papers()]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("arguments", "options", "expected"),
    [
        ({}, {}, ("fuchs2013", "efron1981", "tibshirani1988")),
        ({}, {"interval": "wald"}, ("fuchs2013", "efron1981")),
        ({}, {"variance": "unbiased"}, ("fuchs2013",)),
    ],
)
def test_what_a_result_used_is_cited(data, arguments, options, expected):
    result = uv.UStatisticTest(*data, "lda", "gaussian_nb", **arguments).fit(600, rng=0, **options)
    assert cite(result).keys == (*expected, "ucvtest")


def test_clusters_and_sequential_pvalues_are_cited(data):
    groups = np.arange(30) // 3
    clustered = uv.Losses.from_predictions(Y, RULES, groups=groups)
    by_group = uv.McNemarTest.from_losses(clustered).fit()
    by_row = uv.McNemarTest.from_losses(clustered, group_weight="row").fit()
    assert "durkalski2003" in cite(by_group).keys
    assert "yang2010" in cite(by_row).keys
    assert "durkalski2003" not in cite(by_row).keys
    stopped = uv.PermutationComplexityTest(*data, "lda").fit(99, stop_after=3, rng=0)
    assert "besag1991" in cite(stopped).keys


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("harrell", "harrell1982"),
        (uv.metrics.harrell(20), "harrell1982"),
        ("uno", "uno2011"),
        (uv.metrics.auc(9), "blanche2013"),
        (uv.metrics.brier(9), "graf1999"),
        (uv.metrics.integrated_brier([5, 9]), "graf1999"),
    ],
)
def test_metrics_of_survival_are_cited(metric, expected):
    times, rows = uv.survival(np.arange(30) % 13 + 1, Y), np.arange(30)
    columns = np.column_stack([rows % 3, rows % 4]) / 4
    several = not isinstance(metric, str) and len(metric.times) > 1
    rules = {"a": columns if several else columns[:, 0]}
    losses = uv.Losses.from_predictions(times, rules, metric=metric, fold=rows % 2)
    assert expected in cite(uv.CrossValidationWaldTest.from_losses(losses).fit()).keys
    fixed = uv.Losses.from_predictions(times, rules, metric=metric)
    assert expected in cite(uv.HoldOutTest.from_losses(fixed).fit()).keys


def test_metrics_of_labels_are_not_those_of_survival():
    risks = {"a": np.arange(30) / 30}
    for metric, test in (("auc", uv.DeLongTest), ("brier", uv.HoldOutTest)):
        losses = uv.Losses.from_predictions(Y, risks, metric=metric)
        found = cite(test.from_losses(losses).fit()).keys
        assert not {"graf1999", "blanche2013"} & set(found)


def test_comparison_cites_the_papers_of_all_its_results():
    found = cite(uv.compare_losses(LOSSES, ["mcnemar", "hold_out"]))
    assert found.keys == ("dietterich1998", "mcnemar1947", "fay2021", "ucvtest")
    assert found.bibtex.count("\n@") + 1 == len(found.keys)
    assert str(found) == found.text
    assert "{" not in found.text


def test_paragraph_says_what_was_done(ustatistic):
    text = ustatistic.methods_text()
    for part in (
        "lda (first) and majority (second) were compared on 40 observations",
        "[@fuchs2013; @efron1981; @tibshirani1988]",
        ustatistic.estimand,
        "the loss is zero-one",
        "600 pairs of random learning sets, learning-set size 19",
        f"{ustatistic.n_fits} model fits",
        "'midpoint'",
        "(Tibshirani)",
        "two-sided, of the hypothesis that the estimand is 0",
        f"ucvtest {uv.__version__} [@ucvtest], random numbers from seed 0.",
    ):
        assert part in text


def test_paragraph_of_a_saved_result_is_the_same(ustatistic):
    assert uv.TestResult.from_dict(ustatistic.to_dict()).methods_text() == (
        ustatistic.methods_text()
    )


def test_answers_about_a_margin_cite_their_result(ustatistic):
    of_result = cite(ustatistic).keys
    within = ustatistic.equivalence(-0.1, 0.1)
    assert cite(within).keys == (*of_result[:-1], "schuirmann1987", "ucvtest")
    assert cite(ustatistic.noninferiority(0.1)).keys == of_result
    assert type(within).from_dict(within.to_dict()).citation_keys == within.citation_keys


def test_paragraph_cites_what_cite_finds(ustatistic):
    # As pandoc writes citations: [@one; @two].
    named = re.findall(r"\[(@[\w; @]+)\]", ustatistic.methods_text())
    assert tuple(re.findall(r"@(\w+)", " ".join(named))) == cite(ustatistic).keys


def test_paragraph_without_fits_or_with_clusters():
    text = uv.McNemarTest.from_losses(LOSSES).fit().methods_text()
    assert "Predictions were given, and no model was fitted." in text
    assert "Fay and Lumbard" in text
    clustered = uv.Losses.from_predictions(Y, RULES, groups=np.arange(30) // 3)
    assert "10 clusters" in uv.McNemarTest.from_losses(clustered).fit().methods_text()


def test_paragraph_without_an_answer(data):
    result = uv.UStatisticTest(*data, "lda", "lda").fit(50, rng=0)
    assert f"There is no p-value: {result.status}." in result.methods_text()


@pytest.mark.parametrize("number", ["analytic", 20])
def test_paragraph_of_permutations(data, number):
    X, _ = data
    text = uv.PermutationComplexityTest(X, X[:, 1], "ridge:1.0").fit(number, rng=0).methods_text()
    words = {"analytic": "in closed form", 20: "20 permutations of the labels"}
    assert words[number] in text


def test_paragraph_of_posterior_probabilities(data):
    text = uv.BayesianTTest(*data, "lda", "majority").fit(0.02, rng=0).methods_text()
    assert "half width 0.02" in text
    assert "credible interval is Student's t" in text


def test_every_rule_and_every_scheme_has_words():
    # A mirror image is called what the rule in it is.
    assert set(INTERVALS) == set(KINDS) - {ChangedUnits.kind}
    assert {*SCHEMES, "monte_carlo"} == set(get_args(Scheme))


def test_paragraph_says_what_was_drawn(data):
    stopped = uv.PermutationComplexityTest(*data, "majority").fit(99, stop_after=3, rng=0)
    text = stopped.methods_text()
    assert f"{stopped.diagnostics['n_drawn']} permutations of the labels, of 99 at most" in text
    drawn = uv.InfluenceFunctionTest(*data, "lda").fit(400, "monte_carlo", rng=0)
    assert "400 random test sets, each 1/5 of the data" in drawn.methods_text()
    nested = uv.NestedCrossValidationTest(*data, "lda", "majority").fit(rng=0)
    assert "learning-set size" not in nested.methods_text().partition("Resampling:")[2]
