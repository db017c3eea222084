"""`compare_losses`: the results of the tests themselves, on losses that exist."""

import json

import numpy as np
import pytest
from sklearn.model_selection import TimeSeriesSplit

import ucvtest as uv
from ucvtest.methods.registry import TESTS

PLACE = np.arange(60)
Y = (PLACE * 7 % 11 < 5).astype(int)
SCORES = {"a": PLACE * 37 % 61 + 20 * Y, "b": PLACE * 23 % 59 + 10 * Y, "c": PLACE * 31 % 53}
RULES = {name: (row > 36).astype(int) for name, row in SCORES.items()}
FOLDS = {"a": [0.9, 0.9, 0.8, 0.9], "b": [0.5, 0.6, 0.5, 0.6], "c": [0.6, 0.7, 0.8, 0.6]}


def of_rules(**options):
    return uv.Losses.from_predictions(Y, RULES, **options)


def of_folds(scores=FOLDS, **options):
    return uv.Losses.from_scores(scores, n_learn=15, n_test=5, **options)


def kept(result):
    return {name: each for name, each in result.to_dict().items() if name != "elapsed"}


def test_results_are_those_of_the_tests_themselves():
    losses = of_rules()
    found = uv.compare_losses(losses, ["mcnemar", uv.HoldOutTest], alternative="less")
    assert found.pairs == (("a", "b"), ("a", "c"), ("b", "c"))
    for (test, *pair), result in found.results.items():
        expected = TESTS[test].from_losses(losses, *pair, alternative="less").fit()
        assert kept(result) == kept(expected)
    assert (found.n_fits, found.n_obs, found.correction) == (0, 60, "holm")
    assert found.settings["tests"] == {"mcnemar": "mcnemar", "hold_out": "hold_out"}
    assert found.settings["source"] == "predictions"
    text = found.summary(notes=True).as_text()
    assert "A: fixed rules, one test set: nothing was fitted, for mcnemar, hold_out" in text
    assert found.fits_frame["n_fits"].tolist() == [0]
    assert uv.Comparison.from_dict(json.loads(found.to_json())) == found


def test_all_are_compared_with_a_baseline():
    for baseline in ("b", 1):
        found = uv.compare_losses(of_folds(), "corrected_t", baseline=baseline)
        assert found.pairs == (("a", "b"), ("c", "b"))
        assert found.result(learner="a").estimate == pytest.approx(0.325)
        assert found.settings["baseline"] == "b"
    assert "a is better than b" in found.verdict


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        (of_rules(), {"hold_out", "mcnemar"}),
        (of_rules(groups=PLACE // 2), {"hold_out", "mcnemar"}),
        (uv.Losses.from_predictions(Y, SCORES, loss="auc"), {"delong"}),
        (uv.Losses.from_predictions(None, SCORES, loss="score"), {"hold_out"}),
        (of_folds(), {"bayesian_t", "corrected_t"}),
    ],
)
def test_by_default_all_valid_tests_that_admit_the_losses(losses, expected):
    assert set(uv.compare_losses(losses).tests) == expected


def test_options_of_fit_are_passed_on_and_checked_first():
    spec = uv.TestSpec("bayesian_t", fit={"rope": 0.3})
    found = uv.compare_losses(of_folds(), {"mine": spec, "naive": "naive_t"})
    assert found.tests == ("mine", "naive")
    assert found.result("mine", "a", "b").posterior.rope == 0.3
    assert "naive" in found.verdict
    with pytest.raises(ValueError, match="test 'bayesian_t': rope must be a finite number"):
        uv.compare_losses(of_folds(), uv.TestSpec("bayesian_t", fit={"rope": -1}))


def test_losses_of_evaluate_give_what_compare_gives():
    X = np.random.default_rng(0).normal(size=(60, 2)) + Y[:, None]
    expected = uv.compare(X, Y, ["lda", "knn:3"], ["corrected_t", "mcnemar"], rng=0)
    losses = uv.evaluate(["lda", "knn:3"], X, Y, 10, rng=0)
    found = uv.compare_losses(losses, ["corrected_t", "mcnemar"])
    assert found.result("corrected_t").pvalue == expected.result("corrected_t").pvalue
    assert (found.n_fits, found.settings["rng"]) == (20, 0)
    assert "10-fold cross-validation, 10 learning sets of 54: 20 fits" in str(
        found.summary(notes=True)
    )


def of_splits(splits, loss="zero_one"):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = X[:, 0] + np.arange(30) % 3 if loss == "squared" else np.arange(30) % 2
    return uv.evaluate(["knn:3", "ridge:1"], X, y, design=splits, loss=loss, rng=0)


ROWS = np.arange(30)
IN_TIME = [[*TimeSeriesSplit(5).split(ROWS)], [*TimeSeriesSplit(3, max_train_size=6).split(ROWS)]]
TAKEN_BY_NONE = {
    "in time, of scores": lambda: of_splits(IN_TIME[0], "auc"),
    "backwards": lambda: of_splits([(29 - one, 29 - other) for one, other in IN_TIME[0]]),
    "uneven": lambda: of_splits([(ROWS[:20], ROWS[20:]), (ROWS[5:], ROWS[:5])], "squared"),
    "some rows": lambda: of_splits([(ROWS[:9], ROWS[9:12]), (ROWS[9:16], ROWS[3:5])], "auc"),
    "one mean": lambda: of_folds({"a": [0.1], "b": [0.2]}, design="splits"),
    "two means of long names": lambda: of_folds(
        {name * 300: [0.1] for name in "ab"}, design="splits"
    ),
}


@pytest.mark.parametrize(("splits", "loss"), [(IN_TIME[0], "zero_one"), (IN_TIME[1], "squared")])
def test_losses_in_the_order_of_time_are_for_one_test(splits, loss):
    losses = of_splits(splits, loss)
    assert uv.compare_losses(losses, "diebold_mariano").results
    with pytest.raises(ValueError, match="'diebold_mariano' does, if rows are in") as refusal:
        uv.compare_losses(losses)
    assert len(str(refusal.value)) <= 600


@pytest.mark.parametrize("kind", TAKEN_BY_NONE)
def test_a_refusal_of_all_tests_can_be_read(kind):
    correction = "simultaneous" if "two" in kind else "holm"
    with pytest.raises(ValueError, match="no test accepts these losses: test") as refusal:
        uv.compare_losses(TAKEN_BY_NONE[kind](), correction=correction)
    assert len(str(refusal.value)) <= 600
    assert "more tests do not either: name one" in str(refusal.value)
