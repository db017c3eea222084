"""A loss by another name, its score, and its costs in another currency are the same question."""

import inspect
import json
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from typer.testing import CliRunner

import ucvtest as uv
from tests.core.promises.metamorphic import SIDES
from tests.core.promises.own_errors import is_own
from tests.support.samples import PAIRED
from ucvtest.cli import app
from ucvtest.methods.registry import TESTS
from ucvtest.metrics.directions import names_a_score

X, Y, AMOUNTS, _ = PAIRED
FAST = ("nearest_centroid", "majority")
FIT: dict[str, dict[str, Any]] = {
    "ustatistic": {"n_pairs": 200},
    "influence": {"n_repeats": 60},
    "permutation": {"n_permutations": 9},
}
ABOUT_LOSSES = [name for name, cls in TESTS.items() if cls.needs.only_loss in (None, "zero_one")]
EXACTLY = {"rel": 1e-12, "abs": 1e-12, "nan_ok": True}


def same(one: uv.TestResult, other: uv.TestResult) -> None:
    assert one.summary_frame().equals(other.summary_frame())
    assert one.settings["loss"] == other.settings["loss"]
    assert one.diagnostics.keys() == other.diagnostics.keys()


# ---------------------------------------------------------------------------- other names


@cache
def errors_of(name: str) -> uv.TestResult:
    return fitted(name, "zero_one")


def fitted(name: str, loss: Any, y: Any = Y, learners: Any = FAST) -> uv.TestResult:
    return TESTS[name](X, y, *learners, loss=loss).fit(rng=0, **FIT.get(name, {}))


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("ustatistic", [[0, 1], [1, 0]]),
        ("mcnemar", np.array([[0.0, 1.0], [1.0, 0.0]])),
        ("corrected_t", pd.DataFrame([[0, 1], [1, 0]])),
        ("influence", metrics.zero_one_loss),
        ("ustatistic", metrics.hamming_loss),
        ("hold_out", "error"),
        ("hold_out", metrics.zero_one_loss),
        ("hold_out", [[0, 1], [1, 0]]),
    ],
)
def test_the_error_rate(name: str, loss: Any) -> None:
    same(errors_of(name), fitted(name, loss))


def test_losses_and_scores_of_scikit_learn() -> None:
    three = np.arange(40) % 3
    same(fitted("corrected_t", "zero_one", three), fitted("corrected_t", 1 - np.eye(3), three))
    for function, name, y, learners in (
        (metrics.mean_squared_error, "squared", AMOUNTS, ("ridge:1.0", "knn:3")),
        (metrics.mean_absolute_error, "absolute", AMOUNTS, ("ridge:1.0", "knn:3")),
        (metrics.log_loss, "log", Y, ("lda", "majority")),
        (metrics.brier_score_loss, "brier", Y, ("lda", "majority")),
    ):
        same(*(fitted("corrected_t", each, y, learners) for each in (function, name)))
    for y, *scorers in (
        (Y, "f1", metrics.get_scorer("f1"), metrics.make_scorer(metrics.f1_score)),
        (
            AMOUNTS,
            "neg_mean_squared_error",
            metrics.make_scorer(metrics.mean_squared_error, greater_is_better=False),
        ),
    ):
        learners = FAST if y is Y else ("ridge:1.0", "knn:3")
        first, *others = (
            uv.CorrectedTTest(X, y, *learners, scoring=each).fit(rng=0) for each in scorers
        )
        for other in others:
            same(first, other)

    def accuracy(y: Any, prediction: Any) -> Any:
        return (y == prediction) * 1.0

    for function in (metrics.accuracy_score, metrics.r2_score, metrics.f1_score, accuracy):
        for call in (
            lambda loss: fitted("corrected_t", loss),
            lambda loss: uv.evaluate("lda", X, Y, 3, loss),
            lambda loss: uv.compare(X, Y, [*FAST], "corrected_t", loss=loss),
            lambda loss: uv.Losses.from_predictions(Y, {"a": Y}, loss=loss),
        ):
            with pytest.raises(ValueError, match="score"):
                call(function)


# ------------------------------------------------------------------------- mirrored scores

CENTRE = {"accuracy": 1.0, "neg_log_loss": 0.0, "neg_mean_squared_error": 0.0}
LOSS = {"accuracy": "zero_one", "neg_log_loss": "log", "neg_mean_squared_error": "squared"}
PAIRS = {
    "accuracy": FAST,
    "neg_log_loss": ("lda", "majority"),
    "neg_mean_squared_error": ("ridge:1.0", "knn:3"),
}


def mirrored(
    name: str, scoring: str, *, paired: bool = True, side: str = "two-sided", null: Any = None
) -> tuple[uv.TestResult, uv.TestResult]:
    """The results with a scoring and with the loss, about the other side."""
    cls: Any = TESTS[name]
    y = AMOUNTS if scoring == "neg_mean_squared_error" else Y
    known, found = inspect.signature(cls).parameters, []
    for words in ({"scoring": scoring}, {"loss": LOSS[scoring]}):
        turned = "loss" in words
        if turned and "loss" not in known:
            words = {}
        if null is not None:
            words["null_value"] = CENTRE[scoring] - null if turned else null
        if side != "two-sided":
            words["alternative"] = SIDES[side] if turned else side
        test = cls(X, y, *PAIRS[scoring][: 1 + paired], **words)
        found.append(test.fit(rng=0, **FIT.get(name, {})))
    return found[0], found[1]


def check(score: uv.TestResult, loss: uv.TestResult) -> None:
    """All that is reported is the mirror image, and p-values are the same."""
    paired = score.settings.get("other") is not None
    centre = 0.0 if paired else CENTRE[score.settings["loss"]]
    assert score.better == "higher"
    assert score.estimate == pytest.approx(centre - loss.estimate, **EXACTLY)
    assert (score.pvalue, score.se, score.df) == pytest.approx(
        (loss.pvalue, loss.se, loss.df), nan_ok=True, abs=0
    )
    assert score.null_value == pytest.approx(centre - loss.null_value, **EXACTLY)
    assert score.alternative == SIDES[loss.alternative]
    has_interval = loss.rule is not None or loss.reference in ("t", "normal")
    for alpha in (0.05, 0.3) if has_interval else ():
        low, high = loss.conf_int(alpha)
        assert score.conf_int(alpha) == pytest.approx((centre - high, centre - low), **EXACTLY)
    again = uv.TestResult.from_dict(json.loads(json.dumps(score.to_dict())))
    assert again.summary_frame().equals(score.summary_frame())
    if has_interval:
        assert again.conf_int() == score.conf_int()
    for name in ("estimate_learner", "estimate_other") if paired else ():
        whole = score.diagnostics[name] + loss.diagnostics[name]
        assert whole == pytest.approx(CENTRE[score.settings["loss"]], **EXACTLY)
    assert "error rate" not in score.estimand
    for kind in score.pictures.keys() & {"posterior", "null distribution"}:
        for one, other in zip(score.pictures[kind].layers, loss.pictures[kind].layers, strict=True):
            np.testing.assert_allclose(one.x, (centre - other.x)[::-1], rtol=0, atol=1e-12)
    for words in ("first learner", "second learner"):
        assert (words in loss.verdict) == (words in score.verdict)


@pytest.mark.parametrize(
    ("name", "scoring"),
    [
        (name, scoring)
        for name in ABOUT_LOSSES
        for scoring in CENTRE
        if TESTS[name].needs.only_loss is None or scoring == "accuracy"
    ],
)
def test_scores_are_mirrored_losses(name: str, scoring: str) -> None:
    cls: Any = TESTS[name]
    asked: list[dict[str, Any]] = [{"paired": cls.needs.compares}]
    if cls.needs.compares and cls.needs.learners != "two" and scoring != "neg_log_loss":
        null = 0.7 if scoring == "accuracy" else -1.5
        side = "two-sided" if name == "five_by_two_f" else "greater"
        asked += [{"paired": False, "null": null, "side": side}]
    if name == "mcnemar":
        asked += [{"side": "less"}, {"side": "greater"}]
    for options in asked:
        try:
            found = mirrored(name, scoring, **options)
        except ValueError as error:
            if not is_own(error):
                raise
            y = AMOUNTS if scoring == "neg_mean_squared_error" else Y
            with pytest.raises(ValueError, match=r"\w"):
                cls(X, y, *PAIRS[scoring], loss=LOSS[scoring]).fit(rng=0)
        else:
            check(*found)


def test_intervals_of_error_rates_know_that_they_are() -> None:
    score, loss = mirrored("ustatistic", "accuracy")
    assert score.diagnostics["interval"] == loss.diagnostics["interval"] == "stabilised"
    assert score.diagnostics["slope"] == -loss.diagnostics["slope"] != 0
    one, _ = mirrored("ustatistic", "accuracy", paired=False, side="greater", null=0.6)
    assert one.diagnostics["interval"] == "plus_four"


def test_what_a_test_was_asked_is_what_it_says() -> None:
    test = uv.HoldOutTest(X, Y, FAST[0], scoring="accuracy", null_value=0.7, alternative="greater")
    assert (test.null_value, test.alternative) == (0.7, "greater")
    result = test.fit(rng=0)
    known = {name: result.settings[name] for name in ("loss", "null_value", "alternative")}
    assert known == {"loss": "accuracy", "null_value": 0.7, "alternative": "greater"}
    assert result.statistic == round(result.estimate * result.diagnostics["n_tested"])


def test_margins_and_posterior_probabilities_change_sides() -> None:
    score, loss = mirrored("hold_out", "accuracy")
    for margin in (0.02, 0.4):
        one, other = score.noninferiority(margin), loss.noninferiority(margin)
        assert (one.decision, one.pvalue, one.bound) == (other.decision, other.pvalue, -other.bound)
    assert score.equivalence(-0.3, 0.1).pvalue == loss.equivalence(-0.1, 0.3).pvalue
    score, loss = mirrored("bayesian_t", "accuracy")
    assert score.posterior.p_left == score.diagnostics["p_left"] == loss.posterior.p_right
    one, other = (each.tables["Posterior probabilities"] for each in (score, loss))
    assert one["region"] == other["region"]
    assert one["probability"] == other["probability"][::-1]


USTATISTIC = uv.TestSpec("ustatistic", fit={"n_pairs": 300})


@pytest.mark.parametrize(
    ("test", "correction"),
    [("hold_out", "holm"), ("hold_out", "simultaneous"), (USTATISTIC, "simultaneous")],
)
def test_comparisons(test: Any, correction: str) -> None:
    """Of scores and of losses, and of costs that are three times the error."""
    options = {"tests": test, "correction": correction, "rng": 0}
    # The one-sided distribution of several errors is simulated, and has no exact mirror image.
    sides = ("greater", "less") if correction == "holm" else ("two-sided",) * 2
    score, loss, costs = (
        uv.compare(X, Y, [*FAST, "knn:3"], **how, alternative=side, **options)
        for how, side in (
            ({"scoring": "accuracy"}, sides[0]),
            ({"loss": "zero_one"}, sides[1]),
            ({"loss": [[0, 3], [3, 0]]}, sides[1]),
        )
    )
    assert (score.settings["loss"], costs.settings["loss"]) == ("accuracy", "matrix")
    np.testing.assert_allclose(score.frame["estimate"], -loss.frame["estimate"], atol=1e-12)
    np.testing.assert_allclose(score.frame["conf_low"], -loss.frame["conf_high"], atol=1e-12)
    np.testing.assert_allclose(costs.frame["conf_low"], 3 * loss.frame["conf_low"])
    for other in (score, costs):
        for column in ("pvalue", "pvalue_adjusted"):
            np.testing.assert_allclose(other.frame[column], loss.frame[column], rtol=1e-12)
    if correction == "simultaneous":
        assert score.best_set() == costs.best_set() == loss.best_set()
        one, other = score.learner_frame(), loss.learner_frame()
        np.testing.assert_allclose(one["estimate"], 1 - other["estimate"], atol=1e-12)


def test_selections() -> None:
    score, loss, costs = (
        uv.select_model(X, Y, [*FAST, "knn:3"], n_permutations=5, rng=0, **how)
        for how in ({"scoring": "accuracy"}, {"loss": "zero_one"}, {"loss": [[0, 3], [3, 0]]})
    )
    assert score.choices == costs.choices == loss.choices
    for name in ("e_in", "permutation", "loo", "kfold"):
        np.testing.assert_array_equal(score.columns[name], 1 - loss.columns[name])
    np.testing.assert_allclose(costs.columns["loo"], 3 * loss.columns["loo"])
    assert score.settings["loss"] == "accuracy"


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_tables_hold_scores_and_costs_and_come_back_from_files(tmp_path: Any, ending: str) -> None:
    losses, scores = (
        uv.evaluate(["lda", "majority"], X, np.arange(40) % 3, 5, rng=0, **how)
        for how in ({"loss": "brier"}, {"scoring": "neg_brier_score"})
    )
    assert (scores.loss, scores.greater_is_better) == ("neg_brier_score", True)
    assert scores.bounds == (-2.0, 0.0)
    np.testing.assert_array_equal(scores.means, -losses.means)
    scores.save(tmp_path / f"a.{ending}")
    again = uv.Losses.load(tmp_path / f"a.{ending}")
    for cls in (uv.CorrectedTTest, uv.CrossValidationWaldTest):
        one, other = (cls.from_losses(each).fit() for each in (again, losses))
        assert one.better == "higher"
        assert (one.estimate, one.pvalue) == (-other.estimate, other.pvalue)
    one = uv.compare_losses(again, ["corrected_t"], alternative="greater")
    other = uv.compare_losses(losses, ["corrected_t"], alternative="less")
    assert one.frame["pvalue"][0] == other.frame["pvalue"][0]
    errors, scores, costs = (
        uv.evaluate(FAST, X, Y, 5, rng=0, **how)
        for how in ({"loss": "zero_one"}, {"scoring": "accuracy"}, {"loss": [[0, 3], [3, 0]]})
    )
    assert (costs.loss, costs.bounds, costs.greater_is_better) == ("matrix", (0.0, 3.0), False)
    costs.save(tmp_path / f"b.{ending}")
    # Counts of errors are known behind them.
    error, score, cost = (
        uv.McNemarTest.from_losses(each).fit()
        for each in (errors, scores, uv.Losses.load(tmp_path / f"b.{ending}"))
    )
    assert (-score.estimate, cost.estimate) == pytest.approx((error.estimate, 3 * error.estimate))
    assert score.pvalue == cost.pvalue == error.pvalue
    assert score.statistic == error.diagnostics["only_second_wrong"]


def test_a_checkpoint_of_losses_is_not_one_of_scores(tmp_path: Any) -> None:
    options = {"tests": USTATISTIC, "rng": 0, "checkpoint": tmp_path / "kept.json"}
    uv.compare(X, Y, [*FAST], scoring="accuracy", **options)
    with pytest.raises(ValueError, match="loss"):
        uv.compare(X, Y, [*FAST], loss="zero_one", **options)


def test_the_shell_speaks_of_scores(tmp_path: Any) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(ill=Y).to_csv(path, index=False)
    words = ["compare", str(path), "--target", "ill", "--learner", FAST[0], "--json", "-"]
    words += ["--other", FAST[1], "--test", "hold_out"]
    score, loss = (
        json.loads(CliRunner().invoke(app, [*words, *more]).stdout)
        for more in (
            ("--scoring", "accuracy", "--alternative", "greater"),
            ("--loss", "zero_one", "--alternative", "less"),
        )
    )
    assert (score["estimate"], score["pvalue"]) == (-loss["estimate"], loss["pvalue"])
    assert (score["better"], loss["better"]) == ("higher", "lower")


# ------------------------------------------------------------------- costs in another currency

EQUAL, UNEQUAL = [[0, 1], [1, 0]], [[0, 1], [5, 0]]
WORDS = {"learner", "variance", "region", "part", "moment", "unbiased_for", "end", "learnt from"}
WORDS |= {"interval", "bound on"}


def numbers(result: uv.TestResult) -> dict[Any, np.ndarray]:
    """All that a result contains: by names, so that two can be compared."""
    found: dict[Any, Any] = {"conf_int": result.conf_int() if result.se > 0 else (np.nan, np.nan)}
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


def scaled(name: str, matrix: Any, factor: float, learners: Any) -> uv.TestResult:
    cls: Any = TESTS[name]
    options = {"null_value": 0.3 * factor} if len(learners) == 1 and cls.needs.compares else {}
    test = cls(X, Y, *learners, loss=factor * np.array(matrix), **options)
    more = {"rope": 0.01 * factor} if name == "bayesian_t" else {}
    return test.fit(rng=0, **FIT.get(name, {}), **more)


@pytest.mark.parametrize(
    ("name", "n_learners", "factor"),
    [
        (name, number, factor)
        for name in ABOUT_LOSSES
        for number, factor in ((1, 4.0), (2, 0.1))
        if (TESTS[name].needs.compares if number == 2 else TESTS[name].needs.learners != "two")
    ],
)
def test_costs_in_another_currency(name: str, n_learners: int, factor: float) -> None:
    learners = FAST[:n_learners]
    try:
        plain = scaled(name, UNEQUAL, 1.0, learners)
    except ValueError as error:
        if not is_own(error):
            raise
        return
    powers = powers_between(plain, scaled(name, UNEQUAL, factor, learners), factor)
    errors, costs = (scaled(name, EQUAL, each, learners) for each in (1.0, factor))
    assert costs.better == "lower"
    assert costs.alternative == errors.alternative
    assert (costs.pvalue, costs.df) == pytest.approx((errors.pvalue, errors.df), nan_ok=True)
    found = powers_between(errors, costs, factor)
    # What costs that differ show of themselves is the rule for costs that are equal.
    differing = {name for name in powers.keys() & found.keys() if powers[name] != found[name]}
    assert not {name for name in differing if None not in (powers[name], found[name])}
    if errors.se > 0:
        ends = [factor * end for end in errors.conf_int()]
        assert costs.conf_int() == pytest.approx(ends, rel=1e-12)
    again = uv.TestResult.from_dict(costs.to_dict())
    assert again.summary_frame().equals(costs.summary_frame())


def powers_between(
    one: uv.TestResult, other: uv.TestResult, factor: float
) -> dict[Any, int | None]:
    """With which power of the factor each number changes; None where that cannot be told."""
    first, second = numbers(one), numbers(other)
    assert first.keys() == second.keys()
    found: dict[Any, int | None] = {}
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


def test_slopes_have_the_units_of_costs() -> None:
    one, three = (fitted("ustatistic", np.eye(2)[::-1] * cost).diagnostics for cost in (1, 3))
    for name in ("slope", "se_slope", "mc_se_slope"):
        assert three[name] == pytest.approx(one[name] / 3, rel=1e-6) != 0
    rules = {"a": Y, "b": 1 - Y % 3}
    error, cost = (
        uv.HoldOutTest.from_losses(uv.Losses.from_predictions(Y, rules, loss=each), "b").fit()
        for each in ("zero_one", [[0, 3], [3, 0]])
    )
    assert error.conf_int() == pytest.approx([end / 3 for end in cost.conf_int()], rel=1e-15)
    assert error.method == cost.method == "Hold-out binomial test"


# ------------------------------------------------------------------------ directions of tables

LEARNING = np.kron(1 - np.eye(3, dtype=int), np.ones((1, 6), dtype=int))
VALUES = (np.arange(2 * 3 * 18).reshape(2, 3, 18) * 7 % 11 > [[[4]], [[2]]]).astype(float)
SCORES = {"a": [0.8, 0.9, 0.7, 0.8], "b": [0.6, 0.7, 0.7, 0.5]}


def tabled(values: Any, loss: str, **options: Any) -> uv.Losses:
    return uv.Losses.from_arrays(values, LEARNING, loss=loss, **options)


def scores_of_sets(score: Any, **options: Any) -> uv.Losses:
    return uv.Losses.from_scores(SCORES, n_learn=30, n_test=10, score=score, **options)


def test_no_direction_is_guessed_from_a_name() -> None:
    for name in (
        *("accuracy", "r2", "balanced_accuracy", "f1", "neg_log_loss", "average_precision"),
        *("explained_variance", "d2_absolute_error_score", "pearson", "c_index", "accuracy_score"),
    ):
        assert names_a_score(name)
        with pytest.raises(ValueError, match="greater_is_better=True"):
            tabled(VALUES, name)
    for name in ("brier_score", "log_loss", "mse", "max_error", "root_mean_squared_error", "error"):
        assert not names_a_score(name)
        assert not tabled(VALUES, name).greater_is_better
    assert tabled(VALUES, "mse").in_words == tabled(VALUES, "squared").in_words
    for name in ("huber", "BLEU", "ROC AUC", "hit rate", "own_error", "neg_huber"):
        for call in (partial(tabled, VALUES, name), partial(scores_of_sets, name)):
            with pytest.raises(ValueError, match="greater_is_better=True"):
                call()
            assert call(greater_is_better=True).greater_is_better
            assert not call(greater_is_better=False).greater_is_better


def test_scores_that_say_so_are_scores() -> None:
    losses = tabled(VALUES, "zero_one")
    scores = tabled(1 - VALUES, "accuracy", greater_is_better=True)
    own = tabled(-VALUES, "r2", greater_is_better=True)
    one, other, third = (uv.CorrectedTTest.from_losses(x).fit() for x in (losses, scores, own))
    assert one.estimate == -other.estimate == -third.estimate
    assert one.pvalue == other.pvalue == third.pvalue
    assert (one.better, other.better, third.better) == ("lower", "higher", "higher")
    assert (other.settings["loss"], third.settings["loss"]) == ("accuracy", "r2")
    assert uv.Losses.from_dict(json.loads(json.dumps(own.to_dict()))).greater_is_better
    turned = tabled(VALUES, "1 - accuracy", greater_is_better=False)
    assert not uv.Losses.from_dict(turned.to_dict()).greater_is_better


@pytest.mark.parametrize(
    ("score", "greater", "better"),
    [
        ("r2", None, "higher"),
        ("accuracy", None, "higher"),
        ("squared", None, "lower"),
        ("rmse", None, "lower"),
        ("own", True, "higher"),
        ("own", False, "lower"),
        (None, None, "higher"),
    ],
)
def test_scores_of_test_sets_have_the_direction_of_their_name(
    score: Any, greater: Any, better: str
) -> None:
    losses = scores_of_sets(score, greater_is_better=greater)
    result = uv.CorrectedTTest.from_losses(losses).fit()
    assert result.better == better
    assert result.estimate == pytest.approx(0.175, abs=1e-12)
    assert result.settings["loss"] == (score or "score")
