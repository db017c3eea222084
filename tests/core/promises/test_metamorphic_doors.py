"""The relations of test_metamorphic.py at the doors that ask several tests, or none.

Comparisons, evaluations, selections, plans, the shell and MLflow.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ucvtest as uv
from tests.core.promises.metamorphic import (
    AMOUNTS,
    BUILT_IN,
    EXACT,
    FEATURES,
    GUESSED,
    LABELS,
    OF_NUMBERS,
    RULES,
    SCORES,
    SHARES,
    SIDES,
    SIMULATED,
    Finding,
    Findings,
    N,
    check_same,
    named,
    refusal,
    same_or_refused,
    shuffled,
    with_names,
)
from ucvtest.cli import app

THREE = {**BUILT_IN, "majority": "majority"}
NAMES = {"no and yes": ("no", "yes"), "control and case": ("control", "case"), "2 and 1": (2, 1)}
each_labeling = pytest.mark.parametrize("labeling", NAMES)

ORDERS: list[Callable[[list[Any]], list[Any]]] = [
    lambda items: items[::-1],
    lambda items: [*items[1:], *items[:1]],
]


def in_order(learners: Mapping[str, Any], order: Callable[[list[Any]], list[Any]]) -> Any:
    """The same learners in another order."""
    return dict(order(list(learners.items())))


def findings_of(found: uv.Comparison) -> Findings:
    """All pairs of a comparison, each with its learners in the order of their names."""
    pairs = []
    for row in found.frame.to_dict("records"):
        pair = Finding(
            learner=row["learner"],
            other=row["other"],
            estimate=row["estimate"],
            low=row["conf_low"],
            high=row["conf_high"],
            fixed=(row["pvalue"], row["pvalue_adjusted"]),
            test=row["test"],
        )
        pairs.append(pair if pair.learner < str(pair.other) else pair.swapped())
    return tuple(pairs)


# -------------------------------------------------------------------------------- comparisons

TESTS_COMPARED: list[Any] = ["corrected_t", "hold_out", "mcnemar"]
SIMULTANEOUS: list[Any] = ["hold_out", uv.TestSpec("ustatistic", fit={"n_pairs": 300})]


def compared(
    y: Any = LABELS, learners: Any = THREE, tests: Any = TESTS_COMPARED, **options: Any
) -> uv.Comparison:
    return uv.compare(options.pop("X", FEATURES), y, learners, tests, rng=0, **options)


@each_labeling
@pytest.mark.parametrize("correction", ["holm", "simultaneous"])
def test_comparisons_with_classes_by_other_names(labeling: str, correction: str) -> None:
    tests = SIMULTANEOUS if correction == "simultaneous" else TESTS_COMPARED
    before = compared(tests=tests, correction=correction)
    names = NAMES[labeling]
    found = compared(named(names), tests=tests, correction=correction, pos_label=names[1])
    check_same(findings_of(found), findings_of(before))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("correction", ["holm", "fdr_bh", None, "simultaneous"])
def test_comparisons_with_learners_in_another_order(order: Any, correction: Any) -> None:
    tests = SIMULTANEOUS if correction == "simultaneous" else TESTS_COMPARED
    before = compared(tests=tests, correction=correction)
    found = compared(learners=in_order(THREE, order), tests=tests, correction=correction)
    closely = SIMULATED if correction == "simultaneous" else EXACT
    check_same(findings_of(found), findings_of(before), closely)
    if correction == "simultaneous":
        for test in ("hold_out", "ustatistic"):
            assert set(found.best_set(test=test)) == set(before.best_set(test=test))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("correction", ["holm", "simultaneous"])
@pytest.mark.parametrize("loss", ["auc", "zero_one", "squared"])
def test_rules_in_another_order(order: Any, correction: str, loss: str) -> None:
    rules = RULES[loss]
    between = {"auc": SCORES, "zero_one": GUESSED}.get(loss, rules.predictions)["good"]
    three = {**rules.predictions, "third": np.roll(between, 3)}

    def asked(predictions: Any) -> Findings:
        losses = uv.Losses.from_predictions(rules.y, predictions, **rules.options)
        test = "delong" if loss == "auc" else "hold_out"
        return findings_of(uv.compare_losses(losses, test, correction=correction))

    closely = SIMULATED if correction == "simultaneous" else EXACT
    check_same(asked(in_order(three, order)), asked(three), closely)


@pytest.mark.parametrize("side", SIDES)
def test_a_baseline_in_another_place(side: str) -> None:
    before = compared(baseline="knn", alternative=side)
    found = compared(learners=in_order(THREE, ORDERS[0]), baseline="knn", alternative=side)
    check_same(findings_of(found), findings_of(before))


@pytest.mark.parametrize("side", SIDES)
def test_two_learners_of_a_comparison_change_places(side: str) -> None:
    before = findings_of(compared(learners=BUILT_IN, alternative=side))
    turned = in_order(BUILT_IN, ORDERS[0])
    check_same(findings_of(compared(learners=turned, alternative=SIDES[side])), before)


def test_the_joint_test_knows_no_order() -> None:
    three = {**SCORES, "third": np.roll(SCORES["good"], 3)}
    first, other = (
        uv.DeLongTest.joint(uv.Losses.from_predictions(LABELS, each, loss="auc"))
        for each in (three, in_order(three, ORDERS[0]))
    )
    assert (first.pvalue, first.statistic) == pytest.approx((other.pvalue, other.statistic))


def test_formulas_match_rows_too() -> None:
    rows = with_names(FEATURES).set_axis(["a", "b"], axis=1).assign(y=LABELS)
    groups = with_names(np.r_[0, 0, 1, 1, 2:22])
    test = uv.CorrectedTTest.from_formula("y ~ a + b", rows, *BUILT_IN.values(), groups=groups)
    assert test.n_units == 22
    for data, clusters in ((shuffled(rows), groups), (rows, shuffled(groups))):
        refusal(
            lambda data=data, clusters=clusters: uv.CorrectedTTest.from_formula(
                "y ~ a + b", data, *BUILT_IN.values(), groups=clusters
            )
        )


def test_splits_are_places_and_names_are_refused() -> None:
    rows = with_names(FEATURES), with_names(LABELS)
    splits = [(rows[1].index[:12], rows[1].index[12:])]
    refusal(lambda: uv.HoldOutTest(*rows, *BUILT_IN.values(), design=splits))


def test_comparisons_in_other_units() -> None:
    before = findings_of(compared(AMOUNTS, OF_NUMBERS, ["corrected_t", "hold_out"]))
    found = compared(1000 * AMOUNTS + 5000, OF_NUMBERS, ["corrected_t", "hold_out"])
    check_same(findings_of(found), tuple(each.in_other_units(1e6) for each in before))


def test_comparisons_with_rows_in_another_order() -> None:
    groups = np.r_[0, 0, 1, 1, 2:22]
    before = findings_of(compared(groups=groups))
    rows = {"X": with_names(FEATURES), "y": with_names(LABELS), "groups": with_names(groups)}
    check_same(findings_of(compared(**rows)), before)
    for moved in rows:
        refusal(lambda moved=moved: compared(**{**rows, moved: shuffled(rows[moved])}))


# ------------------------------------------------------------------- evaluations and selections


def means(losses: uv.Losses) -> dict[str, Any]:
    return dict(zip(losses.learners, losses.means, strict=True))


@each_labeling
@pytest.mark.parametrize("loss", ["zero_one", "auc"])
def test_evaluations(labeling: str, loss: str) -> None:
    splits = list(uv_splits())
    before = means(uv.evaluate(THREE, FEATURES, LABELS, splits, loss, rng=0))
    names = NAMES[labeling]
    turned = in_order(THREE, ORDERS[1])
    found = uv.evaluate(turned, FEATURES, named(names), splits, loss, pos_label=names[1], rng=0)
    for name, each in means(found).items():
        np.testing.assert_allclose(each, before[name], rtol=1e-12)


def uv_splits() -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(4).split(FEATURES, LABELS)


def test_evaluations_with_rows_in_another_order() -> None:
    rows = with_names(FEATURES), with_names(LABELS)
    refusal(lambda: uv.evaluate(THREE, shuffled(rows[0]), rows[1], 4, rng=0))
    refusal(lambda: uv.evaluate(THREE, rows[0], shuffled(rows[1]), 4, rng=0))
    splits = [(np.array(learnt), np.array(tested)) for learnt, tested in uv_splits()]
    before = uv.evaluate(THREE, *rows, splits, rng=0).means
    # Row k of what is shuffled was row ORDER[k]: splits name places.
    place = np.argsort([rows[1].index.get_loc(name) for name in shuffled(rows[1]).index])
    moved = [(place[learnt], place[tested]) for learnt, tested in splits]
    found = uv.evaluate(THREE, shuffled(rows[0]), shuffled(rows[1]), moved, rng=0).means
    np.testing.assert_allclose(found, before, rtol=1e-12)


def chosen(found: uv.ModelSelection) -> dict[str, str]:
    """The choices, but for those of learners that tie, of which the first is taken."""
    ties = [name for name in found.choices if len(best_by(found, name)) > 1]
    if found.criterion in ties:
        assert any("the first in the list is chosen" in note for note in found.notes)
    choices = found.choices.items()
    return {name: found.names[place] for name, place in choices if name not in ties}


def best_by(found: uv.ModelSelection, criterion: str) -> np.ndarray:
    values = found.columns[criterion]
    return np.flatnonzero(np.isclose(values, np.nanmin(values), rtol=1e-9))


@each_labeling
def test_selections(labeling: str) -> None:
    options = {"n_permutations": 5, "n_folds": N, "rng": 0}
    before = uv.select_model(FEATURES, LABELS, THREE, **options)
    names = NAMES[labeling]
    found = uv.select_model(FEATURES, named(names), THREE, pos_label=names[1], **options)
    assert chosen(found) == chosen(before)
    for name in found.columns:
        np.testing.assert_allclose(found.columns[name], before.columns[name], rtol=1e-9)
    turned = uv.select_model(FEATURES, LABELS, in_order(THREE, ORDERS[0]), **options)
    assert chosen(turned) == chosen(before)
    assert "loo" not in chosen(before)
    for order in (ORDERS[0], ORDERS[1]):
        learners = in_order(THREE, order)
        tied = uv.select_model(FEATURES, LABELS, learners, "loo", **options)
        assert chosen(tied) == chosen(before)
    for name in turned.columns:
        np.testing.assert_allclose(turned.columns[name][::-1], before.columns[name], rtol=1e-9)


def test_selections_in_other_units() -> None:
    options = {"n_permutations": 5, "rng": 0, "loss": "squared"}
    before = uv.select_model(FEATURES, AMOUNTS, OF_NUMBERS, **options)
    found = uv.select_model(FEATURES, 1000 * AMOUNTS + 5000, OF_NUMBERS, **options)
    assert chosen(found) == chosen(before)
    for name in ("e_in", "permutation", "loo", "kfold"):
        np.testing.assert_allclose(found.columns[name], 1e6 * before.columns[name], rtol=1e-7)


# -------------------------------------------------------------------------------------- plans


def planned(*data: Any, **options: Any) -> tuple[Any, ...]:
    found = uv.plan(*data, curve=False, rng=0, n=[30, 60], **options)
    powers = () if "power" not in found.frame else tuple(found.frame["power"])
    return (found.n_needed, found.n_low, found.n_high, *powers)


@each_labeling
def test_plans_with_classes_by_other_names(labeling: str) -> None:
    learners, names = BUILT_IN.values(), NAMES[labeling]
    before = planned(FEATURES, LABELS, *learners, difference=0.1)
    found = planned(FEATURES, named(names), *learners, difference=0.1, pos_label=names[1])
    assert found == pytest.approx(before, rel=1e-9)
    refusal(lambda: planned(with_names(FEATURES), shuffled(with_names(LABELS)), "lda", width=0.1))


def test_plans_of_learners_in_the_other_order_and_in_other_units() -> None:
    first, other = OF_NUMBERS.values()
    before = planned(FEATURES, AMOUNTS, first, other, difference=0.5)
    assert planned(FEATURES, AMOUNTS, other, first, difference=0.5) == pytest.approx(before)
    moved = planned(FEATURES, 1000 * AMOUNTS + 5000, first, other, difference=0.5e6)
    assert moved == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("loss", RULES)
def test_plans_from_rules(loss: str) -> None:
    losses = RULES[loss].losses()
    before = planned(losses, None, "good", "poor", difference=0.2)
    assert planned(losses, None, "poor", "good", difference=0.2) == pytest.approx(before)
    assert planned(RULES[loss].swapped().losses(), None, "good", "poor", difference=0.2) == before


# -------------------------------------------------------------------------------------- MLflow


def by_mlflow(y: Any, predictions: Any, loss: str, names: Any = None, **options: Any) -> Findings:
    comparison = pytest.importorskip("ucvtest_mlflow.comparison")
    rows = comparison.Rows(y, *predictions.values(), names=tuple(predictions), groups=names)
    return (Finding.of(comparison.compare_predictions(rows, loss, **options)),)


@each_labeling
@pytest.mark.parametrize("loss", ["zero_one", "log", "auc"])
def test_mlflow(labeling: str, loss: str) -> None:
    rules, names = RULES[loss], NAMES[labeling]
    before = by_mlflow(rules.y, rules.predictions, loss)
    turned = dict(reversed(rules.predictions.items()))
    check_same(by_mlflow(rules.y, turned, loss), tuple(each.swapped() for each in before))
    y, predictions = named(names), rules.predictions
    if loss == "zero_one":
        predictions = {name: named(names, each) for name, each in predictions.items()}
    else:
        refusal(lambda: by_mlflow(y, predictions, loss))
    found = by_mlflow(y, predictions, loss, pos_label=names[1])
    check_same(found, tuple(each.about_class(names[1]) for each in before))
    rows = {"y": with_names(rules.y)}
    rows |= {name: with_names(each) for name, each in rules.predictions.items()}
    for moved in rows:
        given = {**rows, moved: shuffled(rows[moved])}
        same_or_refused(lambda given=given: by_mlflow(given.pop("y"), given, loss), before)


# --------------------------------------------------------------------------------------- shell


def shell(table: pd.DataFrame, path: Path, command: str, *words: Any) -> dict[str, Any]:
    """What a command answers, as JSON; with its exit status."""
    table.to_csv(path / "table.csv", index=False)
    asked = [command, str(path / "table.csv"), *map(str, words), "--json", "-"]
    done = CliRunner().invoke(app, asked)
    if done.exit_code == 2:
        raise ValueError(done.stderr)
    return {**json.loads(done.stdout), "exit_status": done.exit_code}


def table_of(y: Any, **columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"ill": y, **columns})


def data_table(y: Any = LABELS) -> pd.DataFrame:
    return table_of(y, a=FEATURES[:, 0], b=FEATURES[:, 1])


def check_answers(found: dict[str, Any], expected: dict[str, Any], *names: str) -> None:
    numbers = [[each[name] for name in names] for each in (found, expected)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, nan_ok=True)


@pytest.mark.parametrize("labeling", ["control and case"])
@pytest.mark.parametrize("test", ["corrected_t", "delong", "ustatistic"])
def test_compare_in_the_shell(tmp_path: Path, labeling: str, test: str) -> None:
    learners = ["--learner", "nearest_centroid", "--other", "knn:1"]
    words = ["compare", "--target", "ill", "--test", test]
    words += ["--n-pairs", "100"] if test == "ustatistic" else []
    before = shell(data_table(), tmp_path, *words, *learners)
    names = NAMES[labeling]
    renamed = data_table(named(names))
    found = shell(renamed, tmp_path, *words, *learners, "--pos-label", names[1])
    check_answers(found, before, "estimate", "pvalue", "se")
    # Distances do not depend on the order of columns.
    turned = data_table()[["b", "ill", "a"]]
    check_answers(shell(turned, tmp_path, *words, *learners), before, "estimate", "pvalue", "se")
    swapped = ["--learner", "knn:1", "--other", "nearest_centroid"]
    found = shell(data_table(), tmp_path, *words, *swapped)
    check_answers(found, before, "pvalue", "se")
    assert found["estimate"] == pytest.approx(-before["estimate"], rel=1e-9)


OF_RULES = {"zero_one": GUESSED, "auc": SCORES, "log": SHARES}


@pytest.mark.parametrize("labeling", ["control and case", "2 and 1"])
@pytest.mark.parametrize("loss", OF_RULES)
@pytest.mark.parametrize("command", ["predictions", "gate"])
def test_rules_in_the_shell(tmp_path: Path, labeling: str, loss: str, command: str) -> None:
    words = [command, "--target", "ill", "--loss", loss]
    words += ["--margin", 0.1] if command == "gate" else []
    told = ("pvalue", "estimate", "exit_status")
    table = table_of(LABELS, **OF_RULES[loss])
    before = shell(table, tmp_path, *words, "--scores", "good,poor")
    moved = shell(shuffled(table), tmp_path, *words, "--scores", "good,poor")
    check_answers(moved, before, *told)
    names = NAMES[labeling]
    renamed = table.assign(ill=named(names))
    if loss == "zero_one":
        renamed = renamed.assign(**{name: named(names, each) for name, each in GUESSED.items()})
    else:
        refused = refusal_of(lambda: shell(renamed, tmp_path, *words, "--scores", "good,poor"))
        assert "--pos-label is missing" in refused
    asked = ("--scores", "good,poor", "--pos-label", names[1])
    check_answers(shell(renamed, tmp_path, *words, *asked), before, *told)
    if command == "predictions":
        found = shell(table, tmp_path, *words, "--scores", "poor,good")
        check_answers(found, before, "pvalue")
        assert found["estimate"] == pytest.approx(-before["estimate"])


def refusal_of(call: Callable[[], Any]) -> str:
    with pytest.raises(ValueError, match=r"\w") as refused:
        call()
    return str(refused.value)


@pytest.mark.parametrize("labeling", ["control and case"])
def test_plans_and_selections_in_the_shell(tmp_path: Path, labeling: str) -> None:
    names = NAMES[labeling]
    two = ["--learner", "nearest_centroid", "--other", "knn:1"]
    plan = ["plan", "--target", "ill", *two, "--difference", 0.1]
    select = ["select", "--target", "ill", *two[:2], "--learner", "knn:1", "--permutations", 5]
    for words, told in ((plan, ["n_needed", "n_low", "n_high"]), (select, ["best"])):
        before = shell(data_table(), tmp_path, *words)
        found = shell(data_table(named(names)), tmp_path, *words, "--pos-label", names[1])
        assert [found[name] for name in told] == [before[name] for name in told]
