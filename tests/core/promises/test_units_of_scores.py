"""With `scoring=` every number is a score, greater ones better; with `loss=` it is a loss."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import get_scorer, make_scorer, mean_squared_error
from typer.testing import CliRunner

import ucvtest as uv
from tests.support.samples import PAIRED
from ucvtest.cli import app
from ucvtest.results.units import WITH_ESTIMATES

X, Y, AMOUNTS, _ = PAIRED
FLOWERS, SPECIES = load_iris(return_X_y=True)

CLASSICAL = [
    uv.HoldOutTest,
    uv.CorrectedTTest,
    uv.NaiveTTest,
    uv.BayesianTTest,
    uv.FiveByTwoTTest,
    uv.FiveByTwoFTest,
    uv.ConservativeZTest,
    uv.CrossValidationWaldTest,
    uv.NestedCrossValidationTest,
    uv.FoldCovarianceTest,
]
OPTIONS = {
    uv.UStatisticTest: {"n_pairs": 400},
    uv.InfluenceFunctionTest: {"n_repeats": 300},
    uv.PermutationComplexityTest: {"n_permutations": 19},
}
SINGLE = "nearest_centroid"
CENTRE = {"accuracy": 1.0, "neg_log_loss": 0.0, "neg_mean_squared_error": 0.0}
LOSS = {"accuracy": "zero_one", "neg_log_loss": "log", "neg_mean_squared_error": "squared"}
PAIRS = {
    "accuracy": (SINGLE, "majority"),
    "neg_log_loss": ("lda", "majority"),
    "neg_mean_squared_error": ("ridge:1.0", "knn:3"),
}
SIDES = {"less": "greater", "greater": "less", "two-sided": "two-sided"}


def mirrored(cls, scoring, *, paired=True, alternative="two-sided", null=None):
    """The result with a scoring, that with the loss, and what their estimates add up to."""
    learners = PAIRS[scoring][: 1 + paired]
    centre = 0.0 if paired else CENTRE[scoring]
    options = {} if cls is uv.FiveByTwoFTest else {"alternative": alternative}
    y = AMOUNTS if scoring == "neg_mean_squared_error" else Y
    if cls is uv.PermutationComplexityTest:
        options = {}
    found = []
    for turned, words in ((False, {"scoring": scoring}), (True, {"loss": LOSS[scoring]})):
        own = dict(options)
        if turned and "alternative" in own:
            own["alternative"] = SIDES[alternative]
        if null is not None:
            own["null_value"] = centre - null if turned else null
        test = cls(X, y, *learners, **words, **own)
        found.append(test.fit(rng=0, **OPTIONS.get(cls, {})))
    return (*found, centre)


def check(score, loss, centre):
    """All that is reported is the mirror image, and p-values are the same."""
    exactly = {"rel": 1e-12, "abs": 1e-12, "nan_ok": True}
    assert score.better == "higher"
    assert score.estimate == pytest.approx(centre - loss.estimate, **exactly)
    assert (score.pvalue, score.se, score.df) == pytest.approx(
        (loss.pvalue, loss.se, loss.df), nan_ok=True, abs=0
    )
    assert score.null_value == pytest.approx(centre - loss.null_value, **exactly)
    assert score.alternative == SIDES[loss.alternative]
    has_interval = loss.rule is not None or loss.reference in ("t", "normal")
    for alpha in (0.05, 0.3) if has_interval else ():
        low, high = loss.conf_int(alpha)
        assert score.conf_int(alpha) == pytest.approx((centre - high, centre - low), **exactly)
    again = uv.TestResult.from_dict(json.loads(json.dumps(score.to_dict())))
    assert again.summary_frame().equals(score.summary_frame())
    if has_interval:
        assert again.conf_int() == score.conf_int()
    if loss.settings.get("other") is not None:
        for name in ("estimate_learner", "estimate_other"):
            whole = score.diagnostics[name] + loss.diagnostics[name]
            assert whole == pytest.approx(CENTRE[score.settings["loss"]], **exactly)
    assert "error rate" not in score.estimand
    assert score.settings["loss"] in CENTRE
    for kind in score.pictures.keys() & set(WITH_ESTIMATES):
        for one, other in zip(score.pictures[kind].layers, loss.pictures[kind].layers, strict=True):
            np.testing.assert_allclose(one.x, (centre - other.x)[::-1], rtol=0, atol=1e-12)
    better = [words for words in ("first learner", "second learner") if words in loss.verdict]
    assert better == [
        words for words in ("first learner", "second learner") if words in score.verdict
    ]


@pytest.mark.parametrize("scoring", CENTRE)
@pytest.mark.parametrize("cls", CLASSICAL)
def test_two_learners(cls, scoring):
    check(*mirrored(cls, scoring))


@pytest.mark.parametrize("scoring", ["accuracy", "neg_mean_squared_error"])
@pytest.mark.parametrize("cls", CLASSICAL)
def test_one_learner_against_a_value(cls, scoring):
    null = 0.7 if scoring == "accuracy" else -1.5
    side = "two-sided" if cls is uv.FiveByTwoFTest else "greater"
    check(*mirrored(cls, scoring, paired=False, alternative=side, null=null))


def test_tests_that_know_error_rates():
    for alternative in SIDES:
        check(*mirrored(uv.McNemarTest, "accuracy", alternative=alternative))
    stabilised, loss, centre = mirrored(uv.UStatisticTest, "accuracy")
    assert stabilised.diagnostics["interval"] == loss.diagnostics["interval"] == "stabilised"
    assert stabilised.diagnostics["slope"] == -loss.diagnostics["slope"] != 0
    check(stabilised, loss, centre)
    found = mirrored(uv.UStatisticTest, "accuracy", paired=False, alternative="greater", null=0.6)
    assert found[0].diagnostics["interval"] == "plus_four"
    check(*found)
    check(*mirrored(uv.UStatisticTest, "neg_mean_squared_error", paired=False))
    check(*mirrored(uv.InfluenceFunctionTest, "accuracy"))
    check(*mirrored(uv.InfluenceFunctionTest, "accuracy", paired=False, null=0.7))
    check(*mirrored(uv.PermutationComplexityTest, "accuracy", paired=False))


def test_what_a_test_was_asked_is_what_it_says():
    test = uv.HoldOutTest(X, Y, SINGLE, scoring="accuracy", null_value=0.7, alternative="greater")
    assert (test.null_value, test.alternative) == (0.7, "greater")
    result = test.fit(rng=0)
    known = {name: result.settings[name] for name in ("loss", "null_value", "alternative")}
    assert known == {"loss": "accuracy", "null_value": 0.7, "alternative": "greater"}
    assert result.statistic == round(result.estimate * result.diagnostics["n_tested"])
    with pytest.raises(ValueError, match=r"null_value=1\.2 is not a value .* between 0 and 1"):
        uv.UStatisticTest(X, Y, SINGLE, scoring="accuracy", null_value=1.2).fit(n_pairs=30)


def test_a_margin_is_in_units_of_the_score():
    score, loss, _ = mirrored(uv.HoldOutTest, "accuracy")
    for margin in (0.02, 0.4):
        one, other = score.noninferiority(margin), loss.noninferiority(margin)
        assert (one.decision, one.pvalue, one.bound) == (other.decision, other.pvalue, -other.bound)
    assert score.equivalence(-0.3, 0.1).pvalue == loss.equivalence(-0.1, 0.3).pvalue


def test_posterior_probabilities_change_sides():
    score, loss, _ = mirrored(uv.BayesianTTest, "accuracy")
    assert (score.posterior.p_left, score.posterior.p_right) == (
        *(loss.posterior.p_right, loss.posterior.p_left),
    )
    assert score.diagnostics["p_left"] == loss.diagnostics["p_right"]
    one, other = (each.tables["Posterior probabilities"] for each in (score, loss))
    assert one["region"] == other["region"]
    assert one["probability"] == other["probability"][::-1]


@pytest.mark.parametrize("correction", ["holm", "simultaneous"])
def test_comparisons(correction):
    learners = [SINGLE, "majority", "knn:3"]
    options = {"tests": ["hold_out"], "correction": correction, "rng": 0}
    # The one-sided distribution of several errors is simulated, and has no exact mirror image.
    one, other = ("greater", "less") if correction == "holm" else ("two-sided",) * 2
    score = uv.compare(X, Y, learners, scoring="accuracy", alternative=one, **options)
    loss = uv.compare(X, Y, learners, loss="zero_one", alternative=other, **options)
    assert score.settings["loss"] == "accuracy"
    np.testing.assert_allclose(score.frame["estimate"], -loss.frame["estimate"], atol=1e-12)
    np.testing.assert_allclose(score.frame["conf_low"], -loss.frame["conf_high"], atol=1e-12)
    for column in ("pvalue", "pvalue_adjusted"):
        np.testing.assert_allclose(score.frame[column], loss.frame[column], rtol=1e-12)
    if correction == "simultaneous":
        assert score.best_set() == loss.best_set()
        one, other = score.learner_frame(), loss.learner_frame()
        assert list(one["learner"]) == list(other["learner"])
        np.testing.assert_allclose(one["estimate"], 1 - other["estimate"], atol=1e-12)


def test_simultaneous_differences_from_the_same_learning_sets():
    names = [SINGLE, "majority", "ridge:1.0"]
    test = uv.TestSpec("ustatistic", fit={"n_pairs": 300})
    options = {"correction": "simultaneous", "rng": 0}
    score = uv.compare(X, Y, names, test, scoring="accuracy", **options)
    loss = uv.compare(X, Y, names, test, loss="zero_one", **options)
    np.testing.assert_array_equal(score.frame["estimate"], -loss.frame["estimate"])
    np.testing.assert_array_equal(score.frame["conf_low"], -loss.frame["conf_high"])
    np.testing.assert_allclose(score.frame["pvalue_adjusted"], loss.frame["pvalue_adjusted"])
    assert score.best_set() == loss.best_set()


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_tables_hold_scores_and_come_back_from_files(tmp_path, ending):
    learners = ["lda", "majority"]
    losses = uv.evaluate(learners, FLOWERS, SPECIES, 5, loss="brier", rng=0)
    scores = uv.evaluate(learners, FLOWERS, SPECIES, 5, scoring="neg_brier_score", rng=0)
    assert (scores.loss, scores.greater_is_better) == ("neg_brier_score", True)
    assert scores.bounds == (-2.0, 0.0)
    np.testing.assert_array_equal(scores.means, -losses.means)
    scores.save(tmp_path / f"a.{ending}")
    again = uv.Losses.load(tmp_path / f"a.{ending}")
    for cls in (uv.CorrectedTTest, uv.CrossValidationWaldTest):
        check_pair = [cls.from_losses(each).fit() for each in (again, losses)]
        assert check_pair[0].better == "higher"
        assert check_pair[0].estimate == -check_pair[1].estimate
        assert check_pair[0].pvalue == check_pair[1].pvalue
    one = uv.compare_losses(again, ["corrected_t"], alternative="greater")
    other = uv.compare_losses(losses, ["corrected_t"], alternative="less")
    assert one.frame["pvalue"][0] == other.frame["pvalue"][0]


def test_counts_of_errors_are_known_behind_a_table_of_accuracies():
    scores = uv.evaluate([SINGLE, "majority"], X, Y, 5, scoring="accuracy", rng=0)
    losses = uv.evaluate([SINGLE, "majority"], X, Y, 5, loss="zero_one", rng=0)
    one, other = (uv.McNemarTest.from_losses(each).fit() for each in (scores, losses))
    assert (one.estimate, one.pvalue) == (-other.estimate, other.pvalue)
    assert one.statistic == other.diagnostics["only_second_wrong"]


def test_selections():
    learners = [SINGLE, "majority"]
    score = uv.select_model(X, Y, learners, scoring="accuracy", n_permutations=5, rng=0)
    loss = uv.select_model(X, Y, learners, loss="zero_one", n_permutations=5, rng=0)
    assert score.choices == loss.choices
    for name in ("e_in", "permutation", "loo", "kfold"):
        np.testing.assert_array_equal(score.columns[name], 1 - loss.columns[name])
    assert score.settings["loss"] == "accuracy"


def test_ratios_are_about_losses():
    with pytest.raises(ValueError, match="use loss='squared' instead of scoring"):
        uv.UStatisticTest(
            *(X, AMOUNTS, "ridge:1.0", "knn:3"),
            scoring="neg_mean_squared_error",
            contrast="ratio",
        )


@pytest.mark.parametrize(
    ("name", "scorer"),
    [
        ("accuracy", get_scorer("accuracy")),
        ("neg_mean_squared_error", make_scorer(mean_squared_error, greater_is_better=False)),
    ],
)
def test_scorers_are_what_their_names_are(name, scorer):
    y = Y if name == "accuracy" else AMOUNTS
    found = [
        uv.CorrectedTTest(X, y, *PAIRS[name], scoring=each).fit(rng=0) for each in (name, scorer)
    ]
    assert found[0].summary_frame().equals(found[1].summary_frame())
    assert found[0].settings == found[1].settings


def test_a_checkpoint_of_losses_is_not_one_of_scores(tmp_path):
    test = uv.TestSpec("ustatistic", fit={"n_pairs": 30})
    options = {"tests": test, "rng": 0, "checkpoint": tmp_path / "kept.json"}
    uv.compare(X, Y, [SINGLE, "majority"], scoring="accuracy", **options)
    with pytest.raises(ValueError, match="loss"):
        uv.compare(X, Y, [SINGLE, "majority"], loss="zero_one", **options)


@pytest.mark.seconds(6, reason="imports MLflow")
def test_mlflow_logs_scores():
    content = pytest.importorskip("ucvtest_mlflow.content")
    score, loss, _ = mirrored(uv.HoldOutTest, "accuracy")
    one, other = (
        {each.key.removeprefix("/"): each.value for each in content.metrics(result, "")}
        for result in (score, loss)
    )
    assert one["estimate"] == -other["estimate"]
    assert (one["conf_low"], one["pvalue"]) == (-other["conf_high"], other["pvalue"])
    assert one["estimate_learner"] == 1 - other["estimate_learner"]


def test_the_shell_speaks_of_scores(tmp_path):
    path = tmp_path / "table.csv"
    rows = np.column_stack([X, Y])
    np.savetxt(path, rows, delimiter=",", header="a,b,c,ill", comments="")
    common = ["compare", str(path), "--target", "ill", "--learner", SINGLE, "--json", "-"]
    named = [*common, "--other", "majority", "--test", "hold_out"]
    runner = CliRunner()
    score = json.loads(
        runner.invoke(app, [*named, "--scoring", "accuracy", "--alternative", "greater"]).stdout
    )
    loss = json.loads(
        runner.invoke(app, [*named, "--loss", "zero_one", "--alternative", "less"]).stdout
    )
    assert (score["estimate"], score["pvalue"]) == (-loss["estimate"], loss["pvalue"])
    assert (score["better"], loss["better"]) == ("higher", "lower")
