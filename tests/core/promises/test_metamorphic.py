"""The same question in other words has the same answer, or is refused: no verdict turns.

Each relation changes how something is asked, by names of classes, their order, the order of
learners or of rows, or units, and says what becomes of the answer. Tests of the registry are
covered by what their classes declare; a new one needs no line here. The same is asked of
comparisons, evaluations, selections and plans, in the shell and by MLflow.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold
from typer.testing import CliRunner

import ucvtest as uv
from tests.core.promises.metamorphic import (
    AMOUNTS,
    BUILT_IN,
    CASES,
    EXACT,
    FEATURES,
    GIVEN_LOSSES,
    GUESSED,
    LABELS,
    OF_CLASSES,
    OF_NUMBERS,
    ORDER,
    RNG,
    RULES,
    SCORES,
    SIDES,
    SIMULATED,
    Case,
    Finding,
    Findings,
    N,
    Rules,
    answer,
    arrays_for,
    asked_of,
    check_same,
    design_of,
    from_losses,
    named,
    on_data,
    on_rules,
    refusal,
    same_or_refused,
    scores_of,
    shuffled,
    takes_splits,
    with_names,
)
from tests.core.promises.own_errors import is_own
from tests.support.cells import all_of_them
from ucvtest.cli import app
from ucvtest.methods.registry import TESTS

LABELINGS: dict[str, tuple[Any, Any]] = {
    "no and yes": ("no", "yes"),
    "control and case": ("control", "case"),
    "2 and 1": (2, 1),
    "False and True": (False, True),
    "-1 and 1": (-1, 1),
    "texts 1 and 0": ("1", "0"),
}
"""The names of the classes 0 and 1; some turn the sorted order."""

TELL = ("False and True", "-1 and 1")
"""Those that say by themselves which class is positive."""

CATEGORIES = ("control", "none of them", "case")
"""An order that is not the sorted one, with a class that is not there."""

KINDS_OF_LABELS = ("labels", "scores", "functions", "set scores")
KINDS_OF_NUMBERS = ("numbers", "absolute", "r2")

ASKED = [(name, kind) for name in TESTS for kind in asked_of(name)]
each_on_labels = pytest.mark.parametrize(
    ("name", "kind"), [each for each in ASKED if each[1] in KINDS_OF_LABELS]
)
each_on_data_once = pytest.mark.parametrize(
    ("name", "kind"), [(name, asked_of(name)[0]) for name in TESTS]
)
each_on_losses = pytest.mark.parametrize(
    ("name", "kind"),
    [
        (n, kind)
        for n, kind in ASKED
        if kind in GIVEN_LOSSES and "losses" not in TESTS[n].needs.without
    ],
)
each_on_rules_of_classes = pytest.mark.parametrize("loss", OF_CLASSES)
each_on_numbers = pytest.mark.parametrize(
    ("name", "kind"), [each for each in ASKED if each[1] in KINDS_OF_NUMBERS]
)


def about_class(found: Findings, positive: Any) -> Findings:
    """What is said of the class 1, said of another name."""
    return tuple(each.about_class(positive) for each in found)


def check(
    name: str, kind: str, changed: Case, becomes: Any = lambda found: found, unit: float = 1.0
) -> None:
    """The answer that is expected, or a refusal where the question was refused before."""
    before = answer(name, kind)
    if before is None:
        refusal(lambda: on_data(name, changed))
    else:
        check_same(on_data(name, changed, unit), becomes(before))


def test_every_test_is_asked_something() -> None:
    for name, cls in TESTS.items():
        assert any(answer(name, kind) is not None for kind in asked_of(name)), name
        kinds = [kind for kind in asked_of(name) if kind in GIVEN_LOSSES]
        assert "losses" in cls.needs.without or any(arrays_for(name, kind) for kind in kinds), name


# ---------------------------------------------------------------------------- names of classes


def in_turn(place: int) -> list[str]:
    """Two of the labelings, so that neighbours in a table of tests have others; or all of them."""
    every = [*LABELINGS]
    return every if all_of_them() else [every[(2 * place + each) % len(every)] for each in (0, 1)]


@pytest.mark.parametrize(
    ("name", "kind", "labeling"),
    [
        (name, kind, labeling)
        for place, (name, kind) in enumerate(each for each in ASKED if each[1] in KINDS_OF_LABELS)
        for labeling in in_turn(place)
    ],
)
def test_classes_by_other_names(name: str, kind: str, labeling: str) -> None:
    names = LABELINGS[labeling]
    case = replace(CASES[kind], y=named(names))
    # Errors are about no positive class; where sets are drawn class by class, it decides the order.
    if kind != "labels" or not takes_splits(name):
        case = case.asking(pos_label=names[1])
    if kind == "functions":
        case = replace(case, learners=scores_of(names[1]))
        if labeling not in TELL and answer(name, kind) is not None:
            untold = replace(case, options=CASES[kind].options)
            assert "pos_label is missing" in refusal(lambda: on_data(name, untold))
    check(name, kind, case, lambda found: about_class(found, names[1]))


@each_on_labels
def test_classes_in_a_declared_order(name: str, kind: str) -> None:
    y = pd.Series(pd.Categorical(named(("control", "case")), CATEGORIES, ordered=True))
    case = replace(CASES[kind], y=y).asking(pos_label="case")
    if kind == "functions":
        case = replace(case, learners=scores_of("case"))
    check(name, kind, case, lambda found: about_class(found, "case"))


@pytest.mark.parametrize(
    ("loss", "labeling"),
    [(loss, labeling) for place, loss in enumerate(OF_CLASSES) for labeling in in_turn(place)],
)
def test_classes_of_rules_by_other_names(loss: str, labeling: str) -> None:
    names = LABELINGS[labeling]
    rules, before = RULES[loss], on_rules(RULES[loss])
    renamed = replace(rules, y=named(names))
    if loss == "zero_one":
        renamed = renamed.changed(lambda guessed: named(names, guessed))
        check_same(on_rules(renamed), before)
    elif labeling not in TELL:
        assert "pos_label is missing" in refusal(renamed.losses)
    found = on_rules(renamed.asking(pos_label=names[1]))
    check_same(found, about_class(before, names[1]))
    if loss == "zero_one":
        return
    turned = renamed.changed(lambda score: -score if loss == "auc" else 1 - score)
    check_same(on_rules(turned.asking(pos_label=names[0])), about_class(before, names[0]))


@each_on_rules_of_classes
def test_classes_of_rules_in_a_declared_order(loss: str) -> None:
    y = pd.Series(pd.Categorical(named(("control", "case")), CATEGORIES))
    rules, before = replace(RULES[loss], y=y), on_rules(RULES[loss])
    if loss == "zero_one":
        rules = rules.changed(lambda guessed: named(("control", "case"), guessed))
        check_same(on_rules(rules), before)
        return
    assert "pos_label is missing" in refusal(rules.losses)
    check_same(on_rules(rules.asking(pos_label="case")), about_class(before, "case"))
    for columns in (["case", "control"], ["control", "case"]):
        table = rules.changed(
            lambda score, columns=columns: pd.DataFrame({"case": score, "control": 1 - score})[
                columns
            ]
        )
        found = on_rules(table.asking(pos_label="case"))
        check_same(found, about_class(before, "case"))


THREE = np.array(["a", "b", "c"])
OF_THREE = np.arange(N) * 5 % 7 % 3
TABLES = {
    name: RNG.dirichlet(np.ones(3), size=N) + weight * np.eye(3)[OF_THREE]
    for name, weight in (("good", 2.0), ("poor", 0.2))
}
TABLES = {name: each / each.sum(axis=1, keepdims=True) for name, each in TABLES.items()}
COSTS = pd.DataFrame([[0, 1, 4], [2, 0, 1], [7, 3, 0]], THREE, THREE)


def of_three(loss: Any, names: Any = THREE, order: Any = (0, 1, 2), **options: Any) -> Rules:
    """Rules about three classes, with names of their own and columns in an order of their own."""
    names = np.asarray(names)
    if loss in ("zero_one", "costs"):
        predicted = {name: names[table.argmax(axis=1)] for name, table in TABLES.items()}
    else:
        predicted = {
            name: pd.DataFrame(table, columns=names).iloc[:, list(order)]
            for name, table in TABLES.items()
        }
    if loss == "auc":
        options = {"pos_label": names[1], **options}
    elif loss == "costs":
        renamed = COSTS.set_axis(names, axis=0).set_axis(names, axis=1)
        loss = renamed.iloc[list(order), list(reversed(order))]
    return Rules(names[OF_THREE], predicted, {"loss": loss, **options})


@pytest.mark.parametrize(
    ("loss", "names"),
    [
        ("zero_one", [3, 1, 2]),
        ("costs", ["z", "m", "k"]),
        ("log", ["3", "1", "2"]),
        ("brier", [3, 1, 2]),
        ("auc", ["z", "m", "k"]),
    ],
)
def test_three_classes_by_other_names_and_in_another_order(loss: str, names: list[Any]) -> None:
    before = on_rules(of_three(loss))
    before = tuple(each.about_class(names[1], "b") for each in before)
    for order in ((0, 1, 2), (2, 0, 1)):
        changed = of_three(loss, names, order)
        check_same(on_rules(changed), before)
        declared = pd.Series(pd.Categorical(changed.y, [names[2], "none", *names[:2]]))
        check_same(on_rules(replace(changed, y=declared)), before)
    if loss in ("log", "brier", "auc"):
        arrays = changed.changed(lambda table: table.to_numpy())
        assert "has no names for the classes" in refusal(replace(arrays, y=declared).losses)


@pytest.mark.parametrize("name", [n for n, cls in TESTS.items() if cls.needs.only_loss is None])
def test_costs_and_learners_of_three_classes(name: str) -> None:
    """Tests that draw class by class draw in the order of the classes, which stays here."""

    def asked(names: Any, declared: Any, order: Any) -> Findings:
        labels = np.asarray(names)[OF_THREE]
        y = labels if declared is None else pd.Series(pd.Categorical(labels, declared))
        costs = COSTS.set_axis(names, axis=0).set_axis(names, axis=1)
        costs = costs.iloc[list(order), list(reversed(order))]
        case = Case(X=FEATURES, y=y, options={"loss": costs})
        if takes_splits(name):
            case = case.asking(design=design_of(name, "labels"))
        return on_data(name, case)

    names, other = list(THREE), ["k", "m", "z"]
    try:
        before = asked(names, None, (0, 1, 2))
    except ValueError:
        refusal(lambda: asked(other, None, (0, 1, 2)))
        return
    check_same(asked(other, None, (2, 0, 1)), before)
    check_same(asked(other, ["z", "none", "k", "m"], (2, 0, 1)), before)
    if takes_splits(name):
        check_same(asked(["z", "k", "m"], None, (1, 0, 2)), before)


# --------------------------------------------------------------------------- order of learners


@pytest.mark.parametrize(
    ("name", "kind"),
    [each for each in ASKED if TESTS[each[0]].needs.compares and each[1] != "absolute"],
)
def test_learners_in_the_other_order(name: str, kind: str) -> None:
    # In the other order "less" is "greater"; those that know no side refuse it.
    sided = kind in GIVEN_LOSSES and len(name + kind) % 2
    case = CASES[kind].asking(alternative="less") if sided else CASES[kind]
    try:
        before = on_data(name, case)
    except ValueError:
        refusal(lambda: on_data(name, case.swapped()))
    else:
        check_same(on_data(name, case.swapped()), tuple(each.swapped() for each in before))


@pytest.mark.parametrize("name", [n for n, cls in TESTS.items() if "ratio" in cls.needs.contrasts])
def test_ratios_are_reciprocal(name: str) -> None:
    case = CASES["numbers"].asking(contrast="ratio")
    before = on_data(name, case)
    check_same(on_data(name, case.swapped()), tuple(each.reciprocal() for each in before))


@each_on_losses
def test_learners_of_arrays_in_the_other_order(name: str, kind: str) -> None:
    arrays = arrays_for(name, kind)
    if arrays is None or len(arrays.learners) == 1:
        return
    for options, turned in (({}, {}), ({"alternative": "less"}, {"alternative": "greater"})):
        try:
            before = from_losses(name, arrays.losses(), **options)
        except ValueError:
            refusal(lambda more=turned: from_losses(name, arrays.swapped().losses(), **more))
            continue
        expected = tuple(each.swapped() for each in before)
        check_same(from_losses(name, arrays.swapped().losses(), **turned), expected)
        check_same(from_losses(name, arrays.losses(), "second", "first", **turned), expected)


@pytest.mark.parametrize("loss", RULES)
def test_rules_in_the_other_order(loss: str) -> None:
    for side, turned in SIDES.items():
        before = on_rules(RULES[loss], alternative=side)
        found = on_rules(RULES[loss].swapped(), alternative=turned)
        check_same(found, tuple(each.swapped() for each in before))


# ------------------------------------------------------------------------------ order of rows

GROUPS = np.r_[0, 0, 1, 1, 2:22]


@each_on_data_once
def test_rows_of_one_input_in_another_order(name: str, kind: str) -> None:
    if TESTS[name].needs.time:
        return
    case = CASES[kind].asking(groups=GROUPS)
    before = on_data(name, case)
    inputs = {"X": with_names(case.X), "y": with_names(case.y), "groups": with_names(GROUPS)}
    check_same(on_data(name, _with(case, inputs)), before)
    for moved in inputs:
        for unnamed in ((), *((other,) for other in inputs if other != moved)):
            given = dict(inputs)
            given[moved] = shuffled(given[moved])
            for other in unnamed:
                given[other] = np.asarray(given[other])
            changed = _with(case, given)
            same_or_refused(lambda changed=changed: on_data(name, changed), before)


def _with(case: Case, given: dict[str, Any]) -> Case:
    given = dict(given)
    return replace(case, X=given.pop("X"), y=given.pop("y")).asking(**given)


@each_on_data_once
def test_all_rows_in_another_order(name: str, kind: str) -> None:
    """Of the splits too; where a test draws its own, they are those of other rows."""
    if not takes_splits(name) or TESTS[name].needs.time:
        return
    case = CASES[kind]
    design = design_of(name, kind)
    before = on_data(name, case.asking(design=design))
    moved = replace(case, X=case.X[ORDER], y=case.y[ORDER])
    learning, testing = design.learning[:, ORDER], design.testing[:, ORDER]
    check_same(on_data(name, moved.asking(design=uv.designs.Design(learning, testing))), before)
    indices = [
        (np.flatnonzero(learnt), np.flatnonzero(tested))
        for learnt, tested in zip(learning, testing, strict=True)
    ]
    check_same(on_data(name, moved.asking(design=indices)), before)


@each_on_losses
def test_rows_of_arrays_in_another_order(name: str, kind: str) -> None:
    arrays = arrays_for(name, kind)
    if arrays is None or TESTS[name].needs.time:
        return
    before = from_losses(name, arrays.losses())
    check_same(from_losses(name, arrays.permuted(ORDER).losses()), before)


@pytest.mark.parametrize("loss", RULES)
def test_rows_of_rules_in_another_order(loss: str) -> None:
    rules = RULES[loss]
    weights = {} if loss == "auc" else {"sample_weight": np.arange(1.0, N + 1)}
    for more in (weights, {"groups": GROUPS}):
        asked = rules.asking(**more)
        inputs = {"y": asked.y, **asked.predictions, **more}
        inputs = {key: with_names(each) for key, each in inputs.items() if each is not None}
        before = answers_of(asked)
        if before is None:
            refusal(lambda asked=asked: on_rules(asked))
            continue
        check_same(on_rules(_given(rules, inputs)), before)
        everything = {key: shuffled(each) for key, each in inputs.items()}
        check_same(on_rules(_given(rules, everything)), before)
        for moved in inputs:
            changed = _given(rules, {**inputs, moved: shuffled(inputs[moved])})
            same_or_refused(lambda changed=changed: on_rules(changed), before)


@pytest.mark.parametrize("loss", RULES)
def test_names_of_groups_and_units_of_weights(loss: str) -> None:
    rules = RULES[loss]
    turned = np.array([f"patient {99 - group}" for group in GROUPS])
    before = answers_of(rules.asking(groups=GROUPS))
    if before is not None:
        check_same(on_rules(rules.asking(groups=turned)), before)
    if loss != "auc":
        weights = np.arange(1.0, N + 1)
        before = on_rules(rules.asking(sample_weight=weights))
        check_same(on_rules(rules.asking(sample_weight=10 * weights)), before)


@each_on_data_once
def test_names_of_groups_of_data(name: str, kind: str) -> None:
    """Splits that are drawn are drawn in the order of the names of groups."""
    if TESTS[name].needs.time:
        return
    case, turned = CASES[kind], 99 - GROUPS
    if takes_splits(name):
        design = uv.evaluate(
            *(case.learners, case.X, case.y, TESTS[name].default_design),
            **{"groups": GROUPS, "rng": 0, **case.options},
        ).design
        case = case.asking(design=design)
    else:
        turned = 10 * GROUPS
    before = on_data(name, case.asking(groups=GROUPS))
    names = np.array([f"patient {group:04d}" for group in turned])
    check_same(on_data(name, case.asking(groups=names)), before)


def answers_of(rules: Rules) -> Findings | None:
    """The answers, or None where one of the tests refuses."""
    try:
        return on_rules(rules)
    except ValueError:
        return None


def _given(rules: Rules, inputs: dict[str, Any]) -> Rules:
    predictions = {name: inputs[name] for name in rules.predictions}
    more = {name: each for name, each in inputs.items() if name not in ("y", *predictions)}
    return replace(rules, y=inputs.get("y"), predictions=predictions).asking(**more)


# -------------------------------------------------------------------------------------- units


@each_on_numbers
def test_responses_in_other_units(name: str, kind: str) -> None:
    case = CASES[kind]
    factor = {"numbers": 1e6, "absolute": 1e3, "r2": 1.0}[kind]
    check(
        *(name, kind, replace(case, y=1000 * case.y + 5000)),
        lambda found: tuple(each.in_other_units(factor) for each in found),
        factor,
    )


@pytest.mark.parametrize(
    "name", [n for n, cls in TESTS.items() if "set_score" in cls.needs.metrics]
)
def test_roots_of_errors_in_other_units(name: str) -> None:
    case = replace(CASES["r2"], options={"scoring": "neg_root_mean_squared_error"})
    moved = replace(case, y=1000 * case.y + 5000)
    try:
        before = on_data(name, case)
    except ValueError:
        refusal(lambda: on_data(name, moved))
        return
    check_same(on_data(name, moved, 1e3), tuple(each.in_other_units(1e3) for each in before))


@each_on_losses
def test_losses_of_arrays_in_other_units(name: str, kind: str) -> None:
    arrays = arrays_for(name, kind)
    if arrays is None:
        return
    if kind == "scores":
        # An AUC is one of ranks.
        before = from_losses(name, arrays.losses())
        for change in (np.exp, lambda scores: 1000 * scores - 7, np.arctan):
            moved = replace(arrays, values=change(arrays.values))
            check_same(from_losses(name, moved.losses()), before)
        return
    own = arrays.asking(loss="my loss", greater_is_better=False)
    moved = replace(own, values=100 * own.values)
    try:
        before = from_losses(name, own.losses())
    except ValueError:
        refusal(lambda: from_losses(name, moved.losses()))
        return
    expected = tuple(each.in_other_units(100) for each in before)
    found = from_losses(name, moved.losses(), unit=100.0)
    if kind == "labels":
        # Zeros and ones are known to be shares; that 100 is the most is known to the user alone.
        found = tuple(each.within(-100.0 if each.other else 0.0, 100.0) for each in found)
    check_same(found, expected)


@pytest.mark.parametrize("loss", ["squared", "absolute", "score"])
def test_rules_in_other_units(loss: str) -> None:
    rules = RULES[loss]
    factor = {"squared": 1e6}.get(loss, 1e3)
    y = None if rules.y is None else 1000 * rules.y + 5000
    moved = replace(rules, y=y).changed(lambda guessed: 1000 * guessed + 5000)
    expected = tuple(each.in_other_units(factor) for each in on_rules(rules))
    check_same(on_rules(moved), expected)
    results = [uv.HoldOutTest.from_losses(each.losses()).fit() for each in (rules, moved)]
    for margin in (0.1, 1.0):
        judged = [r.noninferiority(margin * f) for r, f in zip(results, (1, factor), strict=True)]
        assert judged[0].decision == judged[1].decision
        assert judged[0].pvalue == pytest.approx(judged[1].pvalue, rel=1e-9)


@pytest.mark.parametrize("change", ["exp", "affine", "ranks"])
def test_scores_of_rules_in_other_units(change: str) -> None:
    changes: dict[str, Any] = {
        "exp": np.exp,
        "affine": lambda scores: 5 + scores / 1000,
        "ranks": lambda scores: scores.argsort().argsort(),
    }
    check_same(on_rules(RULES["auc"].changed(changes[change])), on_rules(RULES["auc"]))


# -------------------------------------------------------------------------------- scores alone

FOLDS = {"good": [0.9, 0.8, 0.85, 0.7, 0.95, 0.9, 0.6, 0.8, 0.75, 0.9], "poor": [0.7, 0.75] * 5}
SIZES = {"n_learn": 40, "n_test": 40, "design": "repeated_kfold", "n_folds": 2}
NAMED = pd.DataFrame(FOLDS, index=[f"fold {k}" for k in range(10)])


def on_folds(name: str, scores: Any, unit: float = 1.0, **options: Any) -> Findings | None:
    """A test on the scores of folds, or None where it needs more of them."""
    losses = uv.Losses.from_scores(scores, **SIZES, **options)
    try:
        return from_losses(name, losses, unit=unit)
    except ValueError as error:
        if not is_own(error):
            raise
        return None


@pytest.mark.parametrize(
    "name", [n for n, cls in TESTS.items() if "losses" not in cls.needs.without]
)
def test_scores_of_folds(name: str) -> None:
    before = on_folds(name, FOLDS)
    if before is None:
        return
    turned = dict(reversed(FOLDS.items()))
    check_same(on_folds(name, turned), tuple(each.swapped() for each in before))
    percent = on_folds(name, {k: 100 * np.array(v) for k, v in FOLDS.items()}, 100.0)
    check_same(percent, tuple(each.in_other_units(100) for each in before))
    errors = {k: 1 - np.array(v) for k, v in FOLDS.items()}
    found = on_folds(name, errors, greater_is_better=False)
    check_same(found, tuple(each.in_other_units(-1) for each in before))
    check_same(on_folds(name, NAMED), before)
    moved = {"good": NAMED["good"][::-1], "poor": NAMED["poor"]}
    same_or_refused(lambda: on_folds(name, moved), before)


# ------------------------------------------------------------------------------- at other doors

TRIO = {**BUILT_IN, "majority": "majority"}
NAMES = ("control", "case")

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
    y: Any = LABELS, learners: Any = TRIO, tests: Any = TESTS_COMPARED, **options: Any
) -> uv.Comparison:
    return uv.compare(options.pop("X", FEATURES), y, learners, tests, rng=0, **options)


@pytest.mark.parametrize(
    ("names", "correction"), [((2, 1), "holm"), (("control", "case"), "simultaneous")]
)
def test_comparisons_with_classes_by_other_names(names: tuple[Any, Any], correction: str) -> None:
    tests = SIMULTANEOUS if correction == "simultaneous" else TESTS_COMPARED
    before = compared(tests=tests, correction=correction)
    found = compared(named(names), tests=tests, correction=correction, pos_label=names[1])
    check_same(findings_of(found), findings_of(before))


@pytest.mark.parametrize(
    ("order", "correction"),
    [*zip(ORDERS * 2, ["holm", "fdr_bh", None, "simultaneous"], strict=True)],
)
def test_comparisons_with_learners_in_another_order(order: Any, correction: Any) -> None:
    tests = SIMULTANEOUS if correction == "simultaneous" else TESTS_COMPARED
    before = compared(tests=tests, correction=correction)
    found = compared(learners=in_order(TRIO, order), tests=tests, correction=correction)
    closely = SIMULATED if correction == "simultaneous" else EXACT
    check_same(findings_of(found), findings_of(before), closely)
    if correction == "simultaneous":
        for test in ("hold_out", "ustatistic"):
            assert set(found.best_set(test=test)) == set(before.best_set(test=test))


@pytest.mark.parametrize(
    ("order", "correction", "loss"),
    [
        (ORDERS[0], "simultaneous", "auc"),
        (ORDERS[1], "simultaneous", "zero_one"),
        (ORDERS[1], "holm", "squared"),
    ],
)
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


def test_a_baseline_in_another_place() -> None:
    before = compared(baseline="knn", alternative="less")
    found = compared(learners=in_order(TRIO, ORDERS[0]), baseline="knn", alternative="less")
    check_same(findings_of(found), findings_of(before))


def test_two_learners_of_a_comparison_change_places() -> None:
    turned = in_order(BUILT_IN, ORDERS[0])
    for side, other in SIDES.items():
        before = findings_of(compared(learners=BUILT_IN, alternative=side))
        check_same(findings_of(compared(learners=turned, alternative=other)), before)


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


@pytest.mark.parametrize("loss", ["zero_one", "auc"])
def test_evaluations(loss: str) -> None:
    splits = list(uv_splits())
    before = means(uv.evaluate(TRIO, FEATURES, LABELS, splits, loss, rng=0))
    names = (2, 1)
    turned = in_order(TRIO, ORDERS[1])
    found = uv.evaluate(turned, FEATURES, named(names), splits, loss, pos_label=names[1], rng=0)
    for name, each in means(found).items():
        np.testing.assert_allclose(each, before[name], rtol=1e-12)


def uv_splits() -> Any:
    return StratifiedKFold(4).split(FEATURES, LABELS)


def test_evaluations_with_rows_in_another_order() -> None:
    rows = with_names(FEATURES), with_names(LABELS)
    refusal(lambda: uv.evaluate(TRIO, shuffled(rows[0]), rows[1], 4, rng=0))
    refusal(lambda: uv.evaluate(TRIO, rows[0], shuffled(rows[1]), 4, rng=0))
    splits = [(np.array(learnt), np.array(tested)) for learnt, tested in uv_splits()]
    before = uv.evaluate(TRIO, *rows, splits, rng=0).means
    # Row k of what is shuffled was row ORDER[k]: splits name places.
    place = np.argsort([rows[1].index.get_loc(name) for name in shuffled(rows[1]).index])
    moved = [(place[learnt], place[tested]) for learnt, tested in splits]
    found = uv.evaluate(TRIO, shuffled(rows[0]), shuffled(rows[1]), moved, rng=0).means
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


def test_selections() -> None:
    options = {"n_permutations": 5, "n_folds": N, "rng": 0}
    before = uv.select_model(FEATURES, LABELS, TRIO, **options)
    found = uv.select_model(FEATURES, named(NAMES), TRIO, pos_label=NAMES[1], **options)
    assert chosen(found) == chosen(before)
    for name in found.columns:
        np.testing.assert_allclose(found.columns[name], before.columns[name], rtol=1e-9)
    turned = uv.select_model(FEATURES, LABELS, in_order(TRIO, ORDERS[0]), **options)
    assert chosen(turned) == chosen(before)
    assert "loo" not in chosen(before)
    for order in (ORDERS[0], ORDERS[1]):
        learners = in_order(TRIO, order)
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


def test_plans_with_classes_by_other_names() -> None:
    learners, names = BUILT_IN.values(), NAMES
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


@pytest.mark.parametrize("loss", ["zero_one", "auc", "squared"])
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


@pytest.mark.parametrize(
    ("loss", "names"), [("zero_one", (2, 1)), ("log", ("no", "yes")), ("auc", NAMES)]
)
def test_mlflow(loss: str, names: tuple[Any, Any]) -> None:
    rules = RULES[loss]
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
