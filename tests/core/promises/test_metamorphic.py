"""The same question in other words has the same answer, or is refused: no verdict turns.

Each relation changes how something is asked, by names of classes, their order, the order of
learners or of rows, or units, and says what becomes of the answer. Tests of the registry are
covered by what their classes declare; a new one needs no line here.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from tests.core.promises.metamorphic import (
    CASES,
    FEATURES,
    GIVEN_LOSSES,
    OF_CLASSES,
    ORDER,
    RNG,
    ROWS,
    RULES,
    SIDES,
    Case,
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
    [(n, kind) for n, kind in ASKED if kind in GIVEN_LOSSES and TESTS[n].takes_losses],
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
        assert not cls.takes_losses or any(arrays_for(name, kind) for kind in kinds), name


# ---------------------------------------------------------------------------- names of classes


@pytest.mark.parametrize(
    ("name", "kind", "labeling"),
    [
        (name, kind, labeling)
        for name, kind in ASKED
        if kind in KINDS_OF_LABELS
        for labeling in (LABELINGS if kind in GIVEN_LOSSES else ("control and case", "-1 and 1"))
    ],
)
def test_classes_by_other_names(name: str, kind: str, labeling: str) -> None:
    names = LABELINGS[labeling]
    case = replace(CASES[kind], y=named(names)).asking(pos_label=names[1])
    if kind == "functions":
        case = replace(case, learners=scores_of(names[1]))
        if labeling not in TELL and answer(name, kind) is not None:
            untold = replace(case, options=CASES[kind].options)
            assert "pos_label is missing" in refusal(lambda: on_data(name, untold))
    check(name, kind, case, lambda found: about_class(found, names[1]))


@pytest.mark.parametrize("name", [n for n, kind in ASKED if kind == "labels" and takes_splits(n)])
def test_errors_are_about_no_positive_class(name: str) -> None:
    case = CASES["labels"].asking(design=design_of(name, "labels"))
    before = on_data(name, case)
    for names in (("control", "case"), (2, 1)):
        check_same(on_data(name, replace(case, y=named(names))), before)


@each_on_labels
def test_classes_in_a_declared_order(name: str, kind: str) -> None:
    y = pd.Series(pd.Categorical(named(("control", "case")), CATEGORIES, ordered=True))
    case = replace(CASES[kind], y=y).asking(pos_label="case")
    if kind == "functions":
        case = replace(case, learners=scores_of("case"))
    check(name, kind, case, lambda found: about_class(found, "case"))


@each_on_rules_of_classes
@pytest.mark.parametrize("labeling", LABELINGS)
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


@pytest.mark.parametrize("loss", ["zero_one", "costs", "log", "brier", "auc"])
@pytest.mark.parametrize("names", [["z", "m", "k"], [3, 1, 2], ["3", "1", "2"]], ids=str)
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


@pytest.mark.parametrize("name", [n for n, cls in TESTS.items() if cls.only_loss is None])
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
    ("name", "kind"), [each for each in ASKED if TESTS[each[0]].compares and each[1] != "absolute"]
)
# In the other order "less" is "greater".
@pytest.mark.parametrize("side", ["two-sided", "less"])
def test_learners_in_the_other_order(name: str, kind: str, side: str) -> None:
    case = CASES[kind]
    if side == "less":
        if kind not in GIVEN_LOSSES:
            return
        case = case.asking(alternative=side)
    try:
        before = on_data(name, case)
    except ValueError:
        refusal(lambda: on_data(name, case.swapped()))
    else:
        check_same(on_data(name, case.swapped()), tuple(each.swapped() for each in before))


@pytest.mark.parametrize("name", [n for n, cls in TESTS.items() if "ratio" in cls.contrasts])
def test_ratios_are_reciprocal(name: str) -> None:
    case = CASES["numbers"].asking(contrast="ratio")
    before = on_data(name, case)
    check_same(on_data(name, case.swapped()), tuple(each.reciprocal() for each in before))


@each_on_losses
@pytest.mark.parametrize("side", ["two-sided", "less"])
def test_learners_of_arrays_in_the_other_order(name: str, kind: str, side: str) -> None:
    arrays = arrays_for(name, kind)
    if arrays is None or len(arrays.learners) == 1:
        return
    options = {} if side == "two-sided" else {"alternative": side}
    try:
        before = from_losses(name, arrays.losses(), **options)
    except ValueError:
        options = {} if side == "two-sided" else {"alternative": SIDES[side]}
        refusal(lambda: from_losses(name, arrays.swapped().losses(), **options))
        return
    options = {} if side == "two-sided" else {"alternative": SIDES[side]}
    expected = tuple(each.swapped() for each in before)
    check_same(from_losses(name, arrays.swapped().losses(), **options), expected)
    check_same(from_losses(name, arrays.losses(), "second", "first", **options), expected)


@pytest.mark.parametrize("loss", RULES)
@pytest.mark.parametrize("side", SIDES)
def test_rules_in_the_other_order(loss: str, side: str) -> None:
    before = on_rules(RULES[loss], alternative=side)
    found = on_rules(RULES[loss].swapped(), alternative=SIDES[side])
    check_same(found, tuple(each.swapped() for each in before))


# ------------------------------------------------------------------------------ order of rows

GROUPS = np.r_[0, 0, 1, 1, 2:22]


@each_on_data_once
def test_rows_of_one_input_in_another_order(name: str, kind: str) -> None:
    if TESTS[name].in_time:
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
    if not takes_splits(name) or TESTS[name].in_time:
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
    if arrays is None or TESTS[name].in_time:
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


@pytest.mark.parametrize("moved", ["first values", "second values", "learning", "testing", "y"])
def test_rows_of_one_array_in_another_order(moved: str) -> None:
    arrays = arrays_for("delong", "scores")
    assert arrays is not None

    def table(name: str, given: Any) -> pd.DataFrame:
        made = pd.DataFrame(given, columns=ROWS)
        return made.iloc[:, ORDER] if name == moved else made

    y = with_names(arrays.y)
    changed = replace(
        arrays,
        values=[
            table(f"{name} values", each)
            for name, each in zip(arrays.learners, arrays.values, strict=True)
        ],
        learning=table("learning", arrays.learning),
        testing=table("testing", arrays.testing),
        y=shuffled(y) if moved == "y" else y,
    )
    assert "are matched by position" in refusal(changed.losses)


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
    if TESTS[name].in_time:
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


@pytest.mark.parametrize("name", [name for name, kind in ASKED if kind == "numbers"])
def test_null_values_in_other_units(name: str) -> None:
    kind, factor = "numbers", 1e6
    if answer(name, kind) is None:
        return
    case = CASES[kind].of_one(null_value=2.0)
    try:
        before = on_data(name, case)
    except (TypeError, ValueError) as error:
        if "null_value" not in str(error) and not TESTS[name].needs_other:
            raise
        return
    moved = replace(case, y=1000 * case.y + 5000).asking(null_value=2.0 * factor)
    check_same(on_data(name, moved, factor), tuple(each.in_other_units(factor) for each in before))


@pytest.mark.parametrize("name", [n for n, cls in TESTS.items() if cls.only_loss is None])
def test_costs_in_other_units(name: str) -> None:
    costs = np.array([[0, 1], [4, 0]])
    try:
        before = on_data(name, CASES["labels"].asking(loss=costs))
    except ValueError:
        refusal(lambda: on_data(name, CASES["labels"].asking(loss=3 * costs)))
        return
    expected = tuple(each.in_other_units(3) for each in before)
    check_same(on_data(name, CASES["labels"].asking(loss=3 * costs), 3.0), expected)


SCORING = {
    "accuracy": ("labels", 1.0),
    "neg_mean_squared_error": ("numbers", 0.0),
    "neg_mean_absolute_error": ("absolute", 0.0),
}


@pytest.mark.parametrize("name", [n for n, cls in TESTS.items() if cls.only_loss is None])
@pytest.mark.parametrize("scoring", SCORING)
def test_scores_are_mirrored_losses(name: str, scoring: str) -> None:
    kind, centre = SCORING[scoring]
    case = CASES[kind]
    options = {key: each for key, each in case.options.items() if key != "loss"}
    check(
        *(name, kind, replace(case, options={**options, "scoring": scoring})),
        lambda found: tuple(each.in_other_units(-1, centre) for each in found),
    )


@pytest.mark.parametrize("name", [n for n, cls in TESTS.items() if cls.takes_set_scores])
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


@pytest.mark.parametrize("name", [n for n, cls in TESTS.items() if cls.takes_losses])
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
