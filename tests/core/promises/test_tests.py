"""What every test class promises, whichever paper it comes from."""

import copy
import inspect
import json
import pickle
import re
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedShuffleSplit

import ucvtest as uv
from ucvtest.evaluation.problem import Problem
from ucvtest.methods.registry import TESTS
from ucvtest.results.text_tables import number_column

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:60, [1, 4, 8]], Y[:60]

EXECUTION = ("rng", "n_jobs", "batch_size", "progress")

FEW: dict[str, dict[str, Any]] = {
    "influence": {"n_repeats": 60},
    "leave_pair_out": {"n_permutations": 19},
    "permutation": {"n_permutations": 19},
    "ustatistic": {"n_pairs": 60},
    "ustatistic of the AUC": {"n_pairs": 300},
}
"""Options of `fit` that keep tests with many fits short."""

DESIGNS: dict[str, Any] = {
    "fold_covariance": 10,
    "influence": StratifiedShuffleSplit(100, test_size=20, random_state=0),
    "leave_pair_out": uv.designs.LeavePairOut(),
    "ustatistic": uv.designs.DisjointSets(29),
    "ustatistic of the AUC": StratifiedShuffleSplit(600, test_size=32, random_state=0),
}
"""Designs of losses that tests without a default design can take."""

GIVEN: dict[str, dict[str, Any]] = {"leave_pair_out": {"pvalue": "wmw"}}
"""Options of `fit` where losses are given."""

CASES = {**TESTS, "ustatistic of the AUC": uv.UStatisticTest}
"""The tests, and one again that goes other ways for the AUC."""

ARGUMENTS: dict[str, dict[str, Any]] = {"ustatistic of the AUC": {"loss": "auc"}}
"""Arguments of the classes."""

each_test = pytest.mark.parametrize("name", CASES)
each_comparison = pytest.mark.parametrize(
    "name", [n for n, cls in CASES.items() if cls.needs.compares]
)
each_on_losses = pytest.mark.parametrize(
    "name", [n for n, cls in CASES.items() if "losses" not in cls.needs.without]
)


def learners_for(cls: Any) -> tuple[str, ...]:
    return ("lda", "knn:3") if cls.needs.compares else ("lda",)


def made(name: str, *, learners: Any = None, **arguments: Any) -> Any:
    cls: Any = CASES[name]
    learners = learners_for(cls) if learners is None else learners
    return cls(X, Y, *learners, **ARGUMENTS.get(name, {}), **arguments)


def fitted(name: str, **options: Any) -> uv.TestResult:
    result: uv.TestResult = made(name).fit(**{"rng": 0, **FEW.get(name, {}), **options})
    return result


_kept: dict[str, uv.TestResult] = {}


def result_of(name: str) -> uv.TestResult:
    """One result for all tests that only look at it."""
    if name not in _kept:
        _kept[name] = fitted(name)
    return _kept[name]


def losses_for(name: str) -> uv.Losses:
    cls: Any = CASES[name]
    design = DESIGNS.get(name) or cls.default_design
    auc = cls.needs.only_loss == "auc" or name in ("influence", "leave_pair_out", *ARGUMENTS)
    return uv.evaluate(learners_for(cls), X, Y, design, "auc" if auc else None, rng=0)


def given(name: str) -> Any:
    return CASES[name].from_losses(losses_for(name))


def same(first: uv.TestResult, second: uv.TestResult) -> bool:
    def kept(result: uv.TestResult) -> str:
        return json.dumps({k: v for k, v in result.to_dict().items() if k != "elapsed"})

    return kept(first) == kept(second)


# ----------------------------------------------------------------------------- what it declares


def test_all_tests_are_registered_and_public():
    public = {name for name in uv.__all__ if name.endswith("Test") and name != "Test"}
    assert {cls.__name__ for cls in TESTS.values()} == public


@each_test
def test_the_name_is_that_of_the_class_and_of_its_results(name):
    short = name.removesuffix(" of the AUC")
    assert CASES[name].method_name == short
    assert made(name).method_name == short
    assert result_of(name).settings["test"] == short


@each_on_losses
def test_losses_are_taken(name):
    assert given(name).fit(**GIVEN.get(name, {})).n_obs == len(Y)


# ---------------------------------------------------------------------------- how it is called


@each_test
def test_fit_ends_with_how_the_fits_are_run(name):
    parameters = list(inspect.signature(CASES[name].fit).parameters.values())
    assert tuple(each.name for each in parameters[-4:]) == EXECUTION
    assert all(each.kind is each.KEYWORD_ONLY and each.default is None for each in parameters[-4:])


RANGES = {
    "bayesian_t rope": "a finite number of at least 0",
    "diebold_mariano horizon": "an integer of at least 1",
    "fold_covariance rho": "a finite number between -1 and 1, 'nadeau_bengio' or None",
    "fold_covariance n_repeats": "an integer of at least 1",
    "influence n_repeats": "an integer of at least 1 or 'auto'",
    "influence max_fits": "an integer of at least 1",
    "influence max_seconds": "a finite number from 0.001 to 1e+09",
    "leave_pair_out n_permutations": "an integer of at least 1 or 'exact'",
    "leave_pair_out n_simulations": "an integer of at least 1",
    "leave_pair_out stop_after": "an integer of at least 1",
    "leave_pair_out max_seconds": "a finite number from 0.001 to 1e+09",
    "permutation n_permutations": "an integer of at least 1, 'exact' or 'analytic'",
    "permutation delta": "a finite number between 0 and 1",
    "permutation stop_after": "an integer of at least 1",
    "permutation max_seconds": "a finite number from 0.001 to 1e+09",
    "ustatistic n_pairs": "an integer of at least 2, 'auto' or 'exact'",
    "ustatistic tol": "a finite number between 0 and 1",
    "ustatistic max_fits": "an integer of at least 4",
    "ustatistic max_seconds": "a finite number from 0.001 to 1e+09",
}
"""What the numbers among the own options of tests can be."""


@each_test
def test_own_options_declare_their_ranges(name):
    """What lies outside is refused: see `OUTSIDE` in `tests/core/doors/refusals.py`."""
    record = CASES[name].Options
    assert {*inspect.signature(CASES[name].fit).parameters} == {"self", *EXECUTION, *record().own}
    test, ranges = CASES[name].method_name, {}
    # A file to go on from decides nothing.
    for own in {*record().own} - {"checkpoint"}:
        with pytest.raises(ValueError, match=own) as refused:
            record(**{own: object()})
        if found := re.fullmatch(f"{own} must be (.+), got .*", str(refused.value)):
            ranges[f"{test} {own}"] = found[1]
    assert ranges == {key: said for key, said in RANGES.items() if key.split()[0] == test}


@each_test
def test_documentation_has_all_parts(name):
    cls = CASES[name]
    for call, parts in (
        (cls, ("Parameters", "Raises", "Notes", "References", "Examples")),
        (cls.fit, ("Parameters", "Returns", "Raises")),
    ):
        text = inspect.getdoc(call)
        assert text is not None
        for part in parts:
            assert f"\n{part}\n{'-' * len(part)}\n" in text, (call, part)
        for parameter in inspect.signature(call).parameters:
            assert parameter == "self" or parameter in text, (call, parameter)


WRONG: list[dict[str, Any]] = [
    *({"groups": groups} for groups in (["a"] * 60, ["a", "b"], [None, *range(1, 60)])),
    {"group_weight": "patient"},
    *({"null_value": value} for value in (1e300, 10**400, "a", True, np.nan, [1.0], 3)),
]
"""Arguments of constructors that no test has."""


@each_test
def test_refusals_name_the_argument(name):
    """Their words are in `tests/core/doors/refusals.py`, for one test each."""
    cls = CASES[name]
    for wrong in WRONG:
        if wrong.keys() <= inspect.signature(cls).parameters.keys():
            with pytest.raises(ValueError, match=next(iter(wrong))):
                made(name, **wrong).fit()


@each_test
def test_groups_of_one_row_change_nothing(name):
    labels = [f"patient {number}" for number in range(len(Y))]
    grouped = made(name, groups=labels, group_weight="row")
    assert same(grouped.fit(**{"rng": 0, **FEW.get(name, {})}), result_of(name))


@each_test
def test_from_a_formula(name):
    cls: Any = CASES[name]
    data = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y)
    test = cls.from_formula("y ~ a + b + c", data, *learners_for(cls), **ARGUMENTS.get(name, {}))
    found = test.fit(rng=0, **FEW.get(name, {}))
    np.testing.assert_equal(found.estimate, result_of(name).estimate)
    np.testing.assert_equal(found.pvalue, result_of(name).pvalue)


# ------------------------------------------------------------------------------- what it gives


@each_test
def test_the_result_is_complete(name):
    result = result_of(name)
    assert result.n_obs == len(Y)
    assert result.n_fits > 0
    assert result.elapsed > 0
    assert result.method
    assert result.estimand
    assert result.notes
    statistic, pvalue = result
    np.testing.assert_equal((statistic, pvalue), (result.statistic, result.pvalue))
    for field in ("estimate", "se", "variance", "statistic", "pvalue", "df", "null_value"):
        assert type(getattr(result, field)) is float, field


@each_test
def test_the_result_can_be_kept(name):
    result = result_of(name)
    written = uv.TestResult.from_dict(json.loads(result.to_json()))
    for again in (written, pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert again == result
        assert hash(again) == hash(result)
        assert again.to_json() == result.to_json()
    assert written.summary().as_text() == result.summary().as_text()
    assert replace(result, n_fits=result.n_fits + 1) != result


@each_test
def test_the_result_can_be_shown(name):
    result = result_of(name)
    text = result.summary(notes=True).as_text()
    assert result.method in text
    assert result.verdict[:30] in " ".join(text.split())
    assert result.summary().as_html()
    assert result.summary().as_latex()
    assert len(result.summary_frame()) == 1
    for kind in result.plot_kinds:
        result.plot(Figure().subplots(), kind=kind)


@each_test
def test_a_seed_repeats_the_result(name):
    assert same(fitted(name), result_of(name))


@each_test
def test_batches_and_workers_change_nothing(name):
    assert same(fitted(name, batch_size=7), result_of(name))
    assert same(fitted(name, n_jobs=2), result_of(name))


@each_test
def test_hooks_are_told_once(name):
    class Listener:
        def __init__(self) -> None:
            self.heard: list[uv.TestResult] = []

        def fitting(self, test: Any) -> Any:
            from contextlib import nullcontext

            return nullcontext()

        def fitted(self, test: Any, result: uv.TestResult) -> None:
            self.heard.append(result)

    listener = Listener()
    uv.hooks.add_hook(listener)
    try:
        result = fitted(name)
    finally:
        uv.hooks.remove_hook(listener)
    assert listener.heard == [result]


@each_test
def test_a_learner_that_fails_is_named_with_the_split(name):
    def broken(X_train: Any, y_train: Any, X_test: Any) -> Any:
        raise RuntimeError("out of order")

    test = made(name, learners=(broken, *learners_for(CASES[name])[1:]))
    with pytest.raises(ValueError, match=r"broken.*split \d+.*out of order") as caught:
        test.fit(rng=0, **FEW.get(name, {}))
    assert isinstance(caught.value.__cause__, RuntimeError)


@each_comparison
def test_a_learner_does_not_differ_from_itself(name):
    result = made(name, learners=("lda", "lda")).fit(rng=0, **FEW.get(name, {}))
    assert result.estimate == 0
    if result.status == "ok":
        assert result.pvalue == 1
    else:
        assert "degenerate" in result.status
        assert np.isnan(result.pvalue)


# ------------------------------------------------------------------------- each learner alone


def own_values(result: uv.TestResult) -> list[float]:
    names = ("estimate_learner", "estimate_other", "se_learner", "se_other")
    return [result.diagnostics[name] for name in names]


@each_comparison
def test_each_learner_has_its_own_value(name):
    result = result_of(name)
    table, settings = result.tables["Learners"], result.settings
    assert tuple(table)[:3] == ("learner", "estimate", "se")
    assert table["learner"] == (settings["learner"], settings["other"]) == ("lda", "knn:3")
    np.testing.assert_equal([*table["estimate"], *table["se"]], own_values(result))
    assert np.isfinite(table["estimate"]).all()
    again = uv.TestResult.from_dict(json.loads(json.dumps(result.to_dict())))
    np.testing.assert_equal(own_values(again), own_values(result))
    np.testing.assert_equal(dict(again.tables["Learners"]), dict(table))
    for text in (result.summary().as_text(), result.summary().as_markdown()):
        _, title, rest = text.partition("Learners")
        assert title
        # A column without any number is not printed.
        for column in ("estimate", "se") if np.isfinite(table["se"]).any() else ("estimate",):
            for cell in number_column(table[column], None):
                assert cell in rest, cell


@each_comparison
def test_own_values_differ_by_the_estimate(name):
    result = result_of(name)
    first, other = own_values(result)[:2]
    assert first - other == pytest.approx(result.estimate, abs=1e-12)


@each_comparison
def test_own_values_are_those_of_the_test_of_one_learner(name):
    cls: Any = CASES[name]
    losses = losses_for(name)
    estimates, errors = np.reshape(own_values(cls.from_losses(losses).fit()), (2, 2))
    for place, values in enumerate(losses.known_values):
        if cls.needs.learners == "two":
            se = values.std(ddof=1) / np.sqrt(len(values))
            expected = (values.mean(), np.nan if np.isnan(result_of(name).se) else se)
        else:
            alone = cls.from_losses(losses, place, null_value=0.5).fit()
            assert not {"se_learner", "estimate_learner"} & set(alone.diagnostics)
            expected = (alone.estimate, alone.se)
        if name == "ustatistic":
            found = alone.diagnostics
            se = np.hypot(np.sqrt(found["variance_jackknife"]), found["mc_se_estimate"])
            expected = (alone.estimate, se)
        assert estimates[place] == pytest.approx(expected[0], rel=1e-9)
        assert np.isnan(errors[place]) == np.isnan(result_of(name).se)
        np.testing.assert_allclose(errors[place], expected[1], rtol=1e-9)


# --------------------------------------------------------------------------- data or losses


@each_on_losses
def test_what_was_made_from_losses_has_every_attribute(name):
    from_data, from_losses = made(name), given(name)
    # What is needed from data alone says so: it is no attribute that one kind lacks.
    names = [name for name in dir(from_data) if not name.startswith("__")]
    assert [name for name in names if not hasattr(from_losses, name)] == []
    with pytest.raises(ValueError, match="forecast needs fits, and this test was made from losses"):
        from_losses.question.data("forecast")


@each_on_losses
def test_losses_are_judged_before_they_exist(name):
    losses, cls = losses_for(name), CASES[name]
    given_test = cls.from_losses(losses)
    ahead = replace(given_test.question, observed=None)
    options = GIVEN.get(name, {})
    made_ahead = cls.about(ahead)
    assert type(made_ahead.fit_options(**options)) is type(given_test.fit_options(**options))


@each_test
def test_a_test_is_a_question_and_options_of_its_own(name):
    test = made(name)
    with pytest.raises(FrozenInstanceError):
        test.question.hypothesis = None
    before = dict(vars(test))
    test.fit(**FEW.get(name, {}), rng=0)
    assert dict(vars(test)) == before


@each_test
def test_data_are_validated_once(name, monkeypatch):
    calls = []
    validate = Problem.of.__func__

    def counted(cls: Any, *args: Any, **kwargs: Any) -> Problem:
        calls.append(1)
        return validate(cls, *args, **kwargs)

    monkeypatch.setattr(Problem, "of", classmethod(counted))
    made(name)
    assert len(calls) == 1
