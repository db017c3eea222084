"""Predictions of fixed rules: the tests of SciPy and statsmodels, and what is refused."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import log_loss
from statsmodels.stats.contingency_tables import mcnemar

import ucvtest as uv
from ucvtest.designs.design import Design

PLACE = np.arange(60)
Y = (PLACE * 7 % 11 < 5).astype(int)
A, B = PLACE * 37 % 61 + 20 * Y, PLACE * 23 % 59 + 10 * Y
RULES = {"a": (A > 40).astype(int), "b": (B > 34).astype(int)}
SCORES = {"a": A, "b": B}


OWN = uv.metrics.Moments(lambda y, p: (y - p)[:, None], np.sum, "own")


def made(rules=RULES, y=Y, **options):
    return uv.Losses.from_predictions(y, rules, **options)


def check_fixed(result, estimand):
    assert result.estimand == estimand
    assert (result.n_obs, result.n_fits, result.status) == (60, 0, "ok")
    assert "learn_size" not in result.settings
    assert not any("fitted" in note or "split" in note for note in result.notes)
    assert "earning-set" not in result.summary(notes=True).as_text()


def test_mcnemar_is_that_of_statsmodels():
    wrong = {name: rule != Y for name, rule in RULES.items()}
    expected = mcnemar(pd.crosstab(wrong["a"], wrong["b"]).to_numpy(), exact=True)
    result = uv.McNemarTest.from_losses(made()).fit()
    assert result.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert result.estimate == pytest.approx(wrong["a"].mean() - wrong["b"].mean())
    check_fixed(result, "difference in error rate of these rules")


def test_losses_are_those_of_the_definition():
    probability = {"a": (A + 0.5) / 100}
    assert made(probability, loss="log").means[0, 0] == pytest.approx(
        log_loss(Y, probability["a"]), rel=1e-12
    )
    brier = made(probability, loss="squared").values[0]
    np.testing.assert_allclose(brier, (probability["a"] - Y) ** 2)
    # The same for words, whose positive class counts as 1.
    words = made(probability, np.where(Y, "ill", "well"), loss="squared", pos_label="ill")
    np.testing.assert_array_equal(words.values[0], brier)
    # Whole numbers are amounts for losses of numbers, and so are two of them.
    np.testing.assert_array_equal(
        made({"a": A}, Y + 1, loss="absolute").values[0], np.abs(A - Y - 1)
    )
    costs = np.array([[0.0, 1.0], [5.0, 0.0]])
    np.testing.assert_array_equal(made(loss=costs).values[0], costs[Y, RULES["a"]])
    assert made(loss=lambda y, p: 3.0 * (y != p)).in_words == "mean custom loss"
    np.testing.assert_array_equal(made(loss=lambda y, p: 3.0 * (y != p)).values, 3 * made().values)


def test_probabilities_of_0_for_what_happened_are_noted():
    certain = made({"p": [0, 0.9, 0, 0.2, 1]}, [0, 1, 1, 0, 1], loss="log")
    notes = uv.HoldOutTest.from_losses(certain).fit().notes
    assert any(note.startswith("1 predictions had a probability of 0 for") for note in notes)
    unsure = made({"p": [0.1, 0.9, 0.1, 0.2, 1]}, [0, 1, 1, 0, 1], loss="log")
    assert "probability of 0" not in " ".join(uv.HoldOutTest.from_losses(unsure).fit().notes)


def test_scores_of_each_observation_are_better_where_they_are_higher():
    losses = made(SCORES, None, loss="score")
    assert losses.greater_is_better
    expected = stats.ttest_rel(A, B)
    result = uv.HoldOutTest.from_losses(losses).fit()
    assert tuple(result) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-12)
    assert result.estimate == pytest.approx(A.mean() - B.mean())
    assert result.estimate > 0
    assert result.better == "higher"
    check_fixed(result, "difference in mean score of these rules")
    other = uv.HoldOutTest.from_losses(losses, "b", "a", alternative="less").fit()
    assert other.pvalue == pytest.approx(expected.pvalue / 2)
    assert "second learner (a) is better" in other.verdict


def test_nothing_is_fitted_to_nothing():
    for design in (Design.of_fixed_rules(60), [([], np.arange(60))]):
        for call in (
            lambda design=design: uv.evaluate("lda", A[:, None], Y, design),
            lambda design=design: uv.HoldOutTest(A[:, None], Y, "lda", design=design),
        ):
            with pytest.raises(ValueError, match=r"learns from nothing.*from_predictions"):
                call()


def test_frames_and_series_are_matched_by_their_index():
    index = pd.Index([f"patient {place}" for place in PLACE])
    y, frame = pd.Series(Y, index), pd.DataFrame(RULES, index)
    np.testing.assert_array_equal(made(frame, y).values, made().values)
    for each in (frame, {"a": frame["a"]}):
        with pytest.raises(ValueError, match=r"predictions\['a'\] have the same index in another"):
            made(each, y.iloc[::-1])
    with pytest.raises(ValueError, match="has the key 'a': names must be different"):
        made(pd.concat([frame, frame], axis=1), y)
    objects = pd.DataFrame(SCORES, index, dtype=object)
    np.testing.assert_array_equal(made(objects, y, loss="auc").values, [A, B])


def test_names_are_columns_of_a_mapping_as_of_a_table():
    columns = {"y": Y, "place": PLACE // 2, **RULES}
    found, expected = (
        uv.Losses.from_predictions("y", kind(columns), groups="place")
        for kind in (dict, pd.DataFrame)
    )
    assert found.learners == expected.learners == tuple(RULES)
    assert found.values.tolist() == expected.values.tolist()
    assert found.groups.tolist() == expected.groups.tolist()
    with pytest.raises(ValueError, match="y='z' is not a column of predictions, which has 'y', "):
        uv.Losses.from_predictions("z", columns)


def test_exact_numbers_are_not_called_labels():
    why = r"^y contains numbers of the type {}, which count as labels: convert them to float$"
    for kind in (Decimal, Fraction):
        y = [kind(place) / 4 for place in range(8)]
        for options in ({"metric": "r2"}, {"loss": "squared"}):
            with pytest.raises(ValueError, match=why.format(kind.__name__)):
                uv.Losses.from_predictions(y, {"a": [0.5] * 8}, **options)
        with pytest.raises(ValueError, match=why.format(kind.__name__)):
            uv.CorrectedTTest(np.eye(8), y, "ridge")


def test_labels_that_were_never_seen_are_errors_with_a_warning():
    rule = np.where(PLACE == 3, 7, RULES["a"])
    with pytest.warns(
        uv.UcvtestWarning, match=r"1 predictions of labels that do not occur in y \(7\)"
    ):
        losses = made({"a": rule})
    assert losses.means[0, 0] == pytest.approx((rule != Y).mean())
    with (
        pytest.warns(uv.UcvtestWarning, match="labels that do not occur in y"),
        pytest.raises(
            ValueError, match=r"^predictions\['a'\] contains 7, for which the matrix has"
        ),
    ):
        made({"a": rule}, loss=[[0, 1], [1, 0]])


def test_bool_and_categorical_labels_are_labels():
    expected = made().values
    np.testing.assert_array_equal(made({n: r == 1 for n, r in RULES.items()}, Y).values, expected)
    words = pd.Series(np.where(Y, "ill", "well"), dtype="category")
    rules = {
        name: pd.Series(np.where(rule, "ill", "well"), dtype=kind)
        for (name, rule), kind in zip(RULES.items(), ("category", "string"), strict=True)
    }
    np.testing.assert_array_equal(made(rules, words).values, expected)


@pytest.mark.parametrize("labels", [Y, np.where(Y, "ill", "well"), Y > 0])
@pytest.mark.parametrize(
    "scored", [{"loss": "log"}, {"loss": "brier"}, {"loss": "auc"}, {"metric": "average_precision"}]
)
def test_two_columns_of_predict_proba_are_its_last_column(labels, scored):
    shares = A / 100
    last = np.unique(labels)[-1]
    pair = {"a": np.column_stack([1 - shares, shares])}
    expected = made({"a": shares}, labels, pos_label=last, **scored)
    if "metric" in scored:
        scored = {**scored, "pos_label": last}
    found = made(pair, labels, **scored)
    np.testing.assert_allclose(found.values, expected.values)
    assert found.settings["column_order"] == np.unique(labels).tolist()
    first = made(pair, labels, **{**scored, "pos_label": np.unique(labels)[0]})
    of_first = made({"a": 1 - shares}, labels, **{**scored, "pos_label": np.unique(labels)[0]})
    np.testing.assert_allclose(first.values, of_first.values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": {"a": 1}}, r"predictions\['a'\] must have one dimension, got shape \(\)"),
        ({"rules": {"a": RULES["a"].astype(str)}}, "all numbers or all text"),
        ({"rules": {"a": [{}] * 60}}, r"predictions\['a'\] must contain labels"),
        ({"y": Y * 0 + 2, "loss": "brier"}, r"one class only \(2\), .* pass pos_label"),
        ({"metric": "recall[0]", "pos_label": 1}, "pos_label=1 is not the class that metric='rec"),
        ({"metric": "recall[2]"}, "the metric names 2, which is not a class of y"),
        ({"metric": "j_index"}, "use 'balanced_accuracy'"),
        ({"loss": "logloss"}, "did you mean 'log_loss', which stands for 'log'"),
        ({"y": PLACE % 3, "loss": "log"}, "a column for each of 3 classes in the order of"),
        ({"y": np.c_[Y, Y]}, r"y must have one dimension, got shape \(60, 2\)$"),
        ({"loss": uv.Loss("score", np.subtract, "number")}, "has the name 'score', which has an"),
        ({"loss": uv.Loss("auc", np.subtract, "number")}, "has the name 'auc', which has an"),
        ({"loss": lambda y, p: np.zeros(3)}, r"loss custom returned shape \(3,\)"),
        ({"y": A / 7, "metric": OWN, "pos_label": "x"}, "not apply with metric='own'"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        made(**arguments)


@pytest.mark.parametrize("metric", ["mcc", "f1_macro", "brier_skill", "average_precision"])
def test_labels_of_mixed_types_are_refused(metric):
    mixed = np.array([1, "x"] * 30, dtype=object)
    for y in (mixed, pd.Series(mixed), [{}] * 60):
        for options in ({"metric": metric}, {"loss": "auc", "pos_label": "x"}):
            with pytest.raises(ValueError, match="y mixes labels of types that cannot be sorted"):
                made(y=y, **options)


LABELS = np.where(Y, "ill", "well")
CHANCE = A / 81
COLUMNS = pd.DataFrame({"ill": CHANCE, "well": 1 - CHANCE})


@pytest.mark.parametrize(
    "options", [{"loss": "log"}, {"loss": "brier"}, {"metric": "brier_skill"}, {"metric": "log"}]
)
def test_columns_of_two_classes_are_checked(options):
    by_name = made({"a": COLUMNS}, LABELS, **options).means
    np.testing.assert_allclose(by_name, made({"a": CHANCE}, Y, **options).means, rtol=1e-12)
    # Halves that both round up, as shares of trees do, are no other probabilities.
    made({"a": COLUMNS.assign(well=1.005 - CHANCE)}, LABELS, **options)
    twice = COLUMNS.assign(well=CHANCE)
    with pytest.raises(ValueError, match=r"rows that sum to .* all classes sum to 1"):
        made({"a": twice}, LABELS, **options)
