"""What is said of ties is what is known, and of statistics that are no ratio what they are."""

import math

import numpy as np

import ucvtest as uv

SCORES = {"a": [0.8, 0.9, 0.7, 0.8, 0.9], "b": [0.8, 0.9, 0.7, 0.8, 0.9]}
FIVE_BY_TWO = {name: [0.8, 0.7] * 5 for name in ("a", "b")}
OF_SETS = "the two learners had the same {} in every test set, so"


def fold_scores(scores=SCORES, **more):
    more = {"n_learn": 80, "n_test": 20} | more
    return uv.Losses.from_scores(scores, **more)


def test_fold_scores_that_tie_say_nothing_of_observations():
    for test in (uv.CorrectedTTest, uv.NaiveTTest, uv.BayesianTTest):
        status = test.from_losses(fold_scores()).fit().status
        assert OF_SETS.format("score") in status
        assert "observation" not in status
    # Three more of the kind.
    for more, word in (
        ({"score": "accuracy"}, "score"),
        ({"greater_is_better": False}, "mean loss"),
        ({"design": "splits"}, "score"),
    ):
        status = uv.CorrectedTTest.from_losses(fold_scores(**more)).fit().status
        assert OF_SETS.format(word) in status


def test_five_by_two_folds_that_tie():
    losses = fold_scores(FIVE_BY_TWO, n_learn=50, n_test=50, design="repeated_kfold", n_folds=2)
    for test in (uv.FiveByTwoTTest, uv.FiveByTwoFTest):
        assert OF_SETS.format("score") in test.from_losses(losses).fit().status


def test_rules_that_were_never_fitted_are_no_fits():
    y = [0, 1] * 6
    losses = uv.Losses.from_predictions(y, {"a": y, "b": y}, loss="squared")
    status = uv.HoldOutTest.from_losses(losses).fit().status
    assert "the same loss at every observation, so there is no difference" in status


def statistic_notes(result: uv.TestResult) -> list[str]:
    text = " ".join(result.summary(notes=True).as_text().split())
    return [part for part in text.split("[") if "is not (estimate - null value) / std err" in part]


def test_statistics_on_other_scales_say_so():
    y, scores = [0, 1] * 8, {"a": [0.1, 0.8] * 7 + [0.9, 0.7]}
    auc = uv.DeLongTest.from_losses(uv.Losses.from_predictions(y, scores, loss="auc"))
    found = auc.fit()
    assert not math.isclose(found.statistic, (found.estimate - 0.5) / found.se, rel_tol=0.01)
    (note,) = statistic_notes(found)
    assert (
        "z is not (estimate - null value) / std err: the test is made on the logit scale." in note
    )
    assert statistic_notes(auc.fit(interval="wald")) == []


def test_statistics_of_ustatistics_say_on_which_scale_they_are():
    X, y = np.arange(20.0)[:, None], np.array([0, 1] * 10)
    rules = (
        lambda X_train, y_train, X_test: (X_test[:, 0] % 2) ** (X_test[:, 0] != 5),
        lambda X_train, y_train, X_test: np.zeros(len(X_test)),
    )
    test = uv.UStatisticTest(X, y, *({name: rule} for name, rule in zip("ab", rules, strict=True)))
    result = test.fit(rng=0, max_fits=2000)
    expected = (result.estimate - result.null_value) / result.se
    noted = not math.isclose(result.statistic, expected, rel_tol=0.01)
    assert len(statistic_notes(result)) == noted
    assert statistic_notes(test.fit(rng=0, max_fits=2000, interval="wald")) == []


def test_plain_statistics_need_no_word():
    scores = {"a": [0.8, 0.9, 0.7, 0.8, 0.9], "b": [0.7, 0.7, 0.7, 0.6, 0.9]}
    assert statistic_notes(uv.CorrectedTTest.from_losses(fold_scores(scores)).fit()) == []
