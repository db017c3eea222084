"""Gains of columns next to brute force, to tests of two learners, and ranks of copies."""

import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from tests.oracles import column_gains as oracle
from tests.support.samples import PAIRED
from ucvtest import hooks
from ucvtest.data.groups import as_groups
from ucvtest.gains.copies import _orders, pvalue_of_rank

X, Y, AMOUNTS, GROUPS = PAIRED
TABLE = pd.DataFrame(X, columns=["age", "crp", "noise"])
FITS, MANY = 40, 200


def gains(learner: Any = "lda", **options: Any) -> uv.ColumnGains:
    return uv.columns(TABLE, Y, learner, **{"rng": 0, "fits": FITS} | options)


def alone(first: Any, second: Any, y: Any = Y, **options: Any) -> uv.TestResult:
    """The same difference by the test of two learners."""
    asked = {name: options.pop(name) for name in ("loss", "groups") if name in options}
    return uv.UStatisticTest(TABLE, y, first, second, **asked).fit(
        n_pairs=MANY // 2, rng=0, **options
    )


def seen(learner: Any, *columns: str) -> Any:
    return uv.learners.on_columns(learner, columns)


def test_least_squares_as_all_learning_sets_give_it():
    rng = np.random.default_rng(2)
    features = rng.normal(size=(10, 2))
    response = features[:, 0] + 0.3 * rng.normal(size=10)
    found = uv.columns(features, response, LinearRegression(), {"a": [0], "b": [1]}, rng=0)
    assert found.settings["learn_size"] == 4
    for row, result in zip(found.frame.itertuples(), found.results.values(), strict=True):
        exact = oracle.gain(features, response, [["a", "b"].index(row.block)], 4)
        assert abs(row.gain - exact) < 4 * result.diagnostics["mc_se_estimate"]


@pytest.mark.parametrize(
    ("y", "learner", "loss"),
    [(Y, "lda", "zero_one"), (AMOUNTS, LinearRegression(), "squared"), (Y, "logistic:0.1", "log")],
    ids=["zero_one", "squared", "log"],
)
def test_each_gain_is_the_difference_of_two_learners(y, learner, loss):
    found = uv.columns(TABLE, y, learner, loss=loss, fits=MANY, rng=0)
    options = {"variance": "midpoint", "interval": "stabilised"}
    expected = alone(seen(learner, "age", "noise"), learner, y, loss=loss, **options)
    one = uv.columns(TABLE, y, learner, ["crp"], loss=loss, fits=MANY, rng=0).frame
    row, result = found.frame.iloc[1], [*found.results.values()][1]
    # Draws of the test of two differ, those of more blocks do not.
    assert near(row["gain"], expected, result)
    assert row["without_block"] - row["with_block"] == pytest.approx(row["gain"], rel=1e-9)
    assert one.loc[0, ["gain", "se", "pvalue"]].tolist() == pytest.approx(
        row[["gain", "se", "pvalue"]].tolist(), rel=1e-9
    )


def near(value: float, *results: uv.TestResult) -> bool:
    """Whether a value is an estimate, but for the Monte-Carlo errors."""
    errors = [result.diagnostics["mc_se_estimate"] for result in results]
    return bool(abs(value - results[0].estimate) < 4 * np.hypot(*errors))


def test_blocks_are_added_to_a_base_and_auc_rises():
    found = gains(base=["age"], loss="auc", fits=None)
    expected = alone(seen("lda", "age", "crp"), seen("lda", "age"), loss="auc")
    assert near(found.frame["gain"][0], expected, *[*found.results.values()][:1])
    assert found.frame["block"].tolist() == ["crp", "noise"]
    above = gains(base=["age"], loss="auc", fits=None, alternative="greater")
    assert np.isposinf(above.frame["conf_high"]).all()


@pytest.mark.parametrize(
    ("y", "learner", "constant"), [(Y, "lda", 0.5), (AMOUNTS, "ridge:1.0", None)]
)
def test_an_empty_base_is_the_best_constant(y, learner, constant):
    found = uv.columns(TABLE, y, learner, {"all": list(TABLE)}, base=[], fits=FITS, rng=0)
    assert found.frame["gain"][0] > 0
    without = found.frame["without_block"][0]
    # A constant is learnt as well, and is worse than that of the whole sample.
    assert without > (constant if constant is not None else np.var(AMOUNTS))


def test_what_no_fit_uses_has_no_interval():
    found = gains("majority")
    assert found.frame["finding"].tolist() == ["not used"] * 3
    assert found.frame["pvalue_adjusted"].tolist() == [1.0] * 3
    assert found.frame["conf_low"].isna().all()
    assert "not used" in found.verdict


def test_slow_learners_have_twenty_fits_and_jitted_ones_never_few():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    slow, quick = gains(tree, fits=None), gains(fits=8)
    assert slow.n_fits == 4 * 20
    assert gains(tree, fits=24).n_fits == 4 * 24
    kinds = [
        {result.diagnostics["variance"] for result in found.results.values()}
        for found in (slow, quick)
    ]
    assert kinds == [{"few"}, {"midpoint"}]


@pytest.mark.parametrize(
    "learner",
    [
        "lda",
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        lambda X_train, y_train, X_test: np.where(X_test.iloc[:, 0] > 0.5, 1, 0),
    ],
    ids=["jitted", "translated", "pipeline", "function"],
)
def test_a_learner_on_columns_is_the_learner_of_these_columns(learner):
    columns = ["crp", "age"]
    found = uv.CorrectedTTest(TABLE, Y, seen(learner, *columns)).fit(rng=0)
    expected = uv.CorrectedTTest(TABLE[columns], Y, learner).fit(rng=0)
    assert found.estimate == pytest.approx(expected.estimate, rel=1e-12)
    assert found.settings["backend"] == expected.settings["backend"]
    assert uv.learners.on_columns("lda", [1, 0]).name == "lda on 1, 0"


def test_copies_are_ranked():
    found = gains(copies=19, blocks={"two": ["age", "crp"]}).frame
    rng, estimates = np.random.default_rng([0, 0]), []
    for number in range(20):
        copy = TABLE.copy()
        if number:
            rng.permutation([0])
            rows = np.lexsort((rng.random(40), np.zeros(40)))
            copy[["age", "crp"]] = TABLE[["age", "crp"]].to_numpy()[rows]
        test = uv.UStatisticTest(copy, Y, seen("lda", *TABLE))
        estimates.append(test.fit(n_pairs=FITS // 2, variance="midpoint", rng=0).estimate)
    expected = sum(value <= estimates[0] for value in estimates) / 20
    assert found["pvalue_copies"][0] == expected


@pytest.mark.parametrize("without_value", ["the block", "copies"])
def test_estimates_without_a_value_are_no_evidence_of_information(without_value):
    of_copies = math.nan if without_value == "copies" else 0.3
    values = iter([math.nan if without_value == "the block" else 0.1, *[of_copies] * 19])

    def fit(_):
        return SimpleNamespace(estimate=next(values), better="lower")

    question = uv.UStatisticTest(TABLE, Y, "lda").question
    assert pvalue_of_rank(question, fit, 19, [0], False, np.random.default_rng(0)) == 1.0


def test_copies_stay_within_groups_or_move_with_them():

    groups = as_groups(GROUPS, 40)
    rng = np.random.default_rng(0)
    (within,) = _orders(40, 1, groups, False, rng)
    assert (groups.index[within] == groups.index).all()
    assert sorted(within) == list(range(40))
    (among,) = _orders(40, 1, groups, True, rng)
    assert len({*zip(groups.index, groups.index[among], strict=True)}) == groups.n_groups


def test_the_outcome_is_saved_drawn_told_and_announced_once(tmp_path):
    outcomes: list[Any] = []

    class Hook:
        def fitting(self, test):
            return hooks.ExitStack()

        def fitted(self, test, result):
            outcomes.append(result)

        def concluded(self, question, outcome):
            outcomes.append(outcome)

    hook = Hook()
    hooks.add_hook(hook)
    try:
        found = gains(blocks={"two": ["age", "crp"], "noise": ["noise"]}, copies=19)
    finally:
        hooks.remove_hook(hook)
    assert outcomes == [found]
    restored = uv.ColumnGains.from_dict(json.loads(found.to_json()))
    assert restored == found
    assert restored.frame.equals(found.frame)
    found.save_plot(tmp_path / "gains.png")
    assert (tmp_path / "gains.png").stat().st_size > 1000
    for text in (found.verdict, str(found), found.methods_text()):
        assert "two" in text
        assert "relevant" not in text.replace("irrelevant", "")
    assert uv.cite(found).text


def test_columns_that_are_alike_are_named():
    alike = TABLE.assign(again=TABLE["age"] + 0.01 * TABLE["crp"])
    options: dict[str, Any] = {"rng": 0, "fits": 8}
    found = uv.columns(alike, Y, "lda", **options)
    assert any("age and again" in note for note in found.notes)
    together = {"age": ["age", "again"], "crp": ["crp"], "noise": ["noise"]}
    found = uv.columns(alike, Y, "lda", together, **options)
    assert not any("age and again" in note for note in found.notes)
