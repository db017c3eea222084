"""Names of learners, tests, classes and columns are text: no page, paper or picture obeys them."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import ucvtest as uv
from tests.support.cells import all_of_them
from ucvtest.comparison.comparison import Fits
from ucvtest.methods.registry import TESTS
from ucvtest.results.joint_result import JointResult
from ucvtest.results.plot_data import Layer, Picture

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror="alert(1)">',
    "</caption></table><b>",
    r"\input{/etc/passwd}",
    r"}\end{tabular}\write18{ls}%",
    "$\\frac$",
    "$<$<$",
    "[x](javascript:alert(1))",
    "a|b`c`*d*_e_",
    "one\n\n<h1>two</h1>\n| three",
    "[6pt]",
    "*",
    "&lt;b&gt;",
)

DRAWN = HOSTILE if all_of_them() else HOSTILE[1:10:4]
"""Names with tags, formulas and lines, of which pictures are drawn."""

FEW: dict[str, dict[str, Any]] = {
    "influence": {"n_repeats": 20},
    "leave_pair_out": {"n_permutations": 19},
    "permutation": {"n_permutations": 19},
    "ustatistic": {"n_pairs": 30},
}
"""Options of `fit` that keep tests with many fits short."""

# What the package itself writes; anything else stems from a name.
TAGS = {"div", "table", "caption", "tr", "th", "td", "p", "br", "thead", "tbody", "style"}
COMMANDS = {
    *("begin", "end", "textbf", "par", "smallskip", "toprule", "midrule", "bottomrule"),
    *("textbackslash", "hline", "caption"),
}


class Page(HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Any]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def check_html(page: str, names: tuple[str, ...] = ()) -> None:
    found = Page(page)
    assert found.tags <= TAGS
    assert found.attributes <= {"class", "style", "border", "scope"}
    for name in names:
        assert "".join(name.split()) in "".join(found.text.split())


def check_latex(paper: str) -> None:
    commands = set(re.findall(r"\\([a-zA-Z]+)", paper))
    assert commands <= COMMANDS
    bare = re.sub(r"\\[^a-zA-Z]", "", paper)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert "%" not in bare.replace("%\\caption", "")
    # An optional argument, or a star, after the end of a row.
    assert not re.search(r"\\\\\s*[\[*]", paper)
    assert paper.count(r"\begin") == paper.count(r"\end")


def check_markdown(text: str) -> None:
    bare = re.sub(r"\\[!-/:-@\[-`{-~]|&(lt|amp);", "", text)
    assert "<" not in bare
    assert "&" not in bare
    assert "](" not in bare
    assert "$" not in bare
    assert "`" not in bare
    # Rows of a table have as many cells as their head.
    for table in re.findall(r"(?:^\|.*\n?)+", bare, re.MULTILINE):
        assert len({line.count("|") for line in table.strip().split("\n")}) == 1


def check_summary(summary: Any, names: tuple[str, ...] = ()) -> None:
    check_html(summary.as_html(), names)
    check_html(summary._repr_html_())
    check_latex(summary.as_latex())
    check_markdown(summary.as_markdown())
    for table in summary.tables:
        check_html(table.as_html())
        check_html(table._repr_html_())
        check_latex(table.as_latex_tabular())


def drawn(draw: Callable[[Any], Any]) -> Figure:
    figure = Figure()
    draw(figure.subplots())
    # Matplotlib parses formulas when it draws.
    figure.savefig(io.BytesIO(), format="png")
    return figure


def hostile_result(name: str) -> uv.TestResult:
    layers = [
        Layer("bars", [0, 1], [0.5, 0.5], name),
        Layer("vertical", x=0.2, label=name, role="estimate"),
    ]
    return uv.TestResult(
        estimate=0.1,
        se=0.1,
        variance=0.01,
        statistic=1.0,
        pvalue=0.3,
        df=9.0,
        null_value=0.0,
        alternative="two-sided",
        method=name,
        estimand=name,
        reference="t",
        status=name,
        n_obs=10,
        n_fits=20,
        elapsed=0.1,
        settings={"learner": name, "other": f"{name} 2", "loss": name, name: name},
        diagnostics={"variance": name},
        notes=(name, f"the positive class is {name}"),
        tables={
            name: {name: (name, "b"), "pvalue": (0.1, 0.2)},
            "Variances": {
                "variance": (name, "b"),
                "conf_low": (0.0, 0.1),
                "conf_high": (0.1, 0.2),
            },
        },
        pictures={name: Picture(name, name, layers, name), "untitled": Picture("", "", layers)},
        better="lower",
        null_hypothesis=name,
        assumption=name,
    )


@pytest.mark.parametrize("name", HOSTILE)
class TestEveryField:
    def test_summary_of_a_result(self, name):
        check_summary(hostile_result(name).summary(), (name,))

    def test_notebook_pages(self, name):
        result = hostile_result(name)
        check_html(result._repr_html_(), (name,))
        learners = (name, f"{name} 2")
        joint = JointResult(learners, (0.6, 0.7), np.eye(2), 1.0, 1, 0.3, name, name, name)
        check_html(joint._repr_html_(), learners)
        scores = {key: [0.1, 0.2] for key in learners}
        for losses in (
            uv.Losses.from_scores(scores, n_learn=1, n_test=1),
            uv.Losses.from_predictions(None, scores, loss="score"),
        ):
            shown = replace(losses, in_words=name, settings={"design": name})
            check_html(shown._repr_html_(), learners)
        advice = replace(uv.advise(60), reasons=(name,), settings={"design": name})
        check_html(advice._repr_html_())

    def test_pictures_of_a_result(self, name):
        if name not in DRAWN:
            pytest.skip("drawn where all cells of grids are")
        result = hostile_result(name)
        for kind in result.plot_kinds:
            figure = drawn(lambda ax, kind=kind: result.plot(ax, kind=kind))
            assert not any(text.get_parse_math() for text in figure.axes[0].texts)

    def test_comparison(self, name):
        learners = tuple(f"{name}{place}" for place in range(3))
        pairs = [(one, two) for one in learners for two in learners if one < two]
        tests = (name, f"{name} 2")
        results = {(test, *pair): hostile_result(name) for test in tests for pair in pairs}
        fits = (Fits(name, (9,), 10, 20, tests),)
        settings = {"loss": name, "alternative": name}
        comparison = uv.Comparison(learners, results, fits, "holm", 0.1, settings)
        check_summary(comparison.summary(), learners)
        check_html(comparison._repr_html_(), learners)
        if name in DRAWN:
            drawn(comparison.plot)
        check_html(comparison.frame.to_html())
        check_html(comparison.fits_frame.to_html())


X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=list(HOSTILE[:3]))
CLASSES = np.array([HOSTILE[2], HOSTILE[6]])[(X.iloc[:, 0] > 0).astype(int)]


@pytest.mark.parametrize("name", TESTS)
def test_every_test(name):
    cls: Any = TESTS[name]
    learners = ("lda", "knn:3") if cls.needs.compares else ("lda",)
    result = cls(X, CLASSES, *learners).fit(rng=0, **FEW.get(name, {}))
    named = {**result.settings, "learner": HOSTILE[0], "other": HOSTILE[5]}
    shown = replace(result, settings=named)
    check_summary(shown.summary(), HOSTILE[:1])
    for kind in shown.plot_kinds if all_of_them() else shown.plot_kinds[:1]:
        drawn(lambda ax, kind=kind: shown.plot(ax, kind=kind))


def test_a_selection_of_hostile_learners():
    chosen = uv.select_model(X, CLASSES, ["lda", "knn:1"], rng=0, n_permutations=9)
    hostile = tuple(SimpleNamespace(name=name) for name in HOSTILE[:2])
    shown = replace(
        chosen,
        learners=hostile,
        names=HOSTILE[:2],
        settings={"complexity": HOSTILE[5], "loss_in_words": HOSTILE[5]},
    )
    check_html(shown.table.to_html(), HOSTILE[:2])
    check_html(shown._repr_html_(), HOSTILE[:2])
    drawn(shown.plot)
