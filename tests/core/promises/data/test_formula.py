"""Formulas are data, not code: what they may contain, and that nothing else runs or leaks."""

import os

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from ucvtest.data.formula import FUNCTIONS, read_formula


@pytest.fixture
def data(rng):
    frame = pd.DataFrame(rng.normal(size=(24, 3)), columns=["a", "b c", "Sepal.Length"])
    frame["p"] = 1 + frame["a"].abs()
    frame["site"] = list("uvw") * 8
    frame["y"] = np.arange(24) % 2
    return frame


@pytest.mark.parametrize(
    "code",
    [
        "I({} + a)",
        "{}",
        "{{{}}}",
        "log(a, where={})",
        "a[{}]",
        "C(site, levels=[{}])",
        "I([{} for _ in (1,)])",
        "(lambda: {})()",
        "log({})",
        "I(a if {} else a)",
        "I(f'{{{}}}')",
        "Q({})",
    ],
)
def test_no_code_runs(data, tmp_path, monkeypatch, code):
    monkeypatch.chdir(tmp_path)
    for side in ("y ~ a + {}", "{} ~ a"):
        formula = side.format(code.format("__import__('os').system('touch x')"))
        with pytest.raises(ValueError, match=r"^formula="):
            uv.UStatisticTest.from_formula(formula, data, "lda")
    assert os.listdir(tmp_path) == []


REFUSED = [
    *("a.to_csv('x')", "np.load('x')", "eval('1')", "scale(a, _state={})", "log(a, out=p)"),
    *("I(a.real)", "I(np)", "Q('np')", "I(a", "I(a +)", "a | p", "a ~ p", "'a'", "\x00"),
    *("I(1/0)", "log(site)", "I(" + "(" * 300 + "a" + ")" * 300 + ")"),
    # What would take for ever.
    *("I(9**9**9**9)", "I(a**9**9**9)", "I(k**999999999)", "(a + p)**1000", ".**30"),
    *("*".join(["a", "p", "site"] * 20), "poly(a, 1000000000)", "bs(a, df=1000000000)"),
]


@pytest.mark.parametrize("term", REFUSED)
def test_everything_else_is_refused(data, term):
    data["k"] = np.array(range(24), dtype=object)
    with pytest.raises(ValueError, match=r"^formula=") as error:
        read_formula(f"y ~ {term}", data)
    assert "\n" not in str(error.value)


def test_all_that_is_listed_is_possible(data):
    calls = {name: f"{name}(p)" for name in FUNCTIONS} | {
        "C": "C(site)",
        "Q": "Q('b c')",
        "I": "I(a**2 - 1/p)",
        "poly": "poly(a, degree=2)",
        "bs": "bs(a, df=4)",
        "cs": "cs(a, df=3)",
    }
    for name, call in calls.items():
        _, features = read_formula(f"y ~ {call}", data)
        assert next(iter(features)).startswith(f"{name}("), call
    np.testing.assert_array_equal(
        read_formula("y ~ sqrt(p) + abs(a)", data)[1],
        np.column_stack([np.sqrt(data["p"]), np.abs(data["a"])]),
    )


@pytest.mark.parametrize(
    ("terms", "columns"),
    [
        ("Sepal.Length + `b c`", ["Sepal.Length", "b c"]),
        ("np.log(p) + exp(`b c`)", ["np.log(p)", "exp(`b c`)"]),
        ("{a + p}", ["a + p"]),
        ("(a + p)^2", ["a", "p", "a:p"]),
        ("a %in% p", ["p", "p:a"]),
        ("-1 + a", ["a"]),
        ("0 + a", ["a"]),
        # Indicators of all levels sum to a constant, which lda has to refuse.
        ("site + a", ["site[T.v]", "site[T.w]", "a"]),
        (". - site - p", ["a", "b c", "Sepal.Length"]),
    ],
)
def test_operators_and_names(data, terms, columns):
    assert list(read_formula(f"y ~ {terms}", data)[1]) == columns


@pytest.mark.parametrize(
    ("response", "of"),
    [("y", lambda data: data["y"]), ("np.exp(a)", lambda data: np.exp(data["a"]))],
)
def test_the_response_is_a_column_as_it_is_or_an_expression(data, response, of):
    found, features = read_formula(f"{response} ~ p", data)
    np.testing.assert_allclose(found, of(data))
    assert list(features) == ["p"]


@pytest.mark.seconds(3, reason="more terms than Python allows calls within calls")
def test_a_long_sum_is_no_problem(rng):
    wide = pd.DataFrame(rng.normal(size=(4, 1100))).add_prefix("gene").assign(y=[0, 1, 0, 1])
    assert read_formula("y ~ " + " + ".join(wide.columns[:-1]), wide)[1].shape == (4, 1100)


@pytest.mark.parametrize("name", ["1", "Intercept"])
def test_no_column_is_dropped_for_the_intercept(data, name):
    named = data.rename(columns={"p": name})
    for terms in (".", f"a + `{name}`"):
        with pytest.raises(
            ValueError, match=f"column '{name}' would be mistaken for the intercept"
        ):
            read_formula(f"y ~ {terms}", named)
    assert list(read_formula(f"`{name}` ~ . - y - site", named)[1]) == ["a", "b c", "Sepal.Length"]
    assert read_formula("y ~ 1 + a", named)[1].shape == (24, 1)
