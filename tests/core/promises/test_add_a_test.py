"""Every test stands in every place where people look for it; what is missing is named.

`docs/develop/add-a-test.md` lists the places. Whatever else knows the tests reads the registry.
"""

import importlib
import importlib.util
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import ModuleType
from typing import Literal

import pytest

import ucvtest as uv
import ucvtest.methods
from tests.core.promises.test_tests import DESIGNS
from tests.core.promises.toy import SignTest
from tests.support.paths import ROOT
from ucvtest.inference.base import HypothesisTest, fit_by
from ucvtest.inference.needs import FOR_FIXED_RULES, Needs
from ucvtest.inference.options import FitOptions
from ucvtest.methods.registry import TESTS
from ucvtest.results.citations import all_papers

R = ROOT / "r_bridge" / "ucvtest"


def write_tests() -> ModuleType:
    """The script that writes the R package's part of each test."""
    path = ROOT / "r_bridge" / "write_tests.py"
    spec = importlib.util.spec_from_file_location("write_tests", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def missing(cls: type[HypothesisTest]) -> list[str]:
    """A sentence for each place that a test lacks, with the file to change and what it needs."""
    return [sentence for of in (of_the_class, of_the_pages, of_r) for sentence in of(cls)]


def of_the_class(cls: type[HypothesisTest]) -> Iterator[str]:
    """What Python needs: registry, public name, line for lists, tests."""
    name, home = cls.__name__, cls.__module__
    if TESTS.get(cls.method_name) is not cls:
        yield f"ucvtest/methods/registry.py: add a line for {name}"
    if name not in uv.__all__:
        yield f"ucvtest/__init__.pyi: add `from {home} import {name} as {name}`"
    if not getattr(cls, "in_short", ""):
        yield f"{path_of(home)}: give {name} a line for lists, in_short"
    room, *_, module = home.removeprefix("ucvtest.methods.").split(".")
    file = f"tests/core/values/methods/{room}/test_{room if module == 'method' else module}.py"
    # What takes long stands in another tier.
    anywhere = ROOT.glob(f"tests/*/**/{file.partition('values/')[2]}")
    if not any(holds(path, name) for path in anywhere):
        yield f"{file}: test {name}"
    designed = getattr(cls, "default_design", None) is not None
    if "losses" not in cls.needs.without and not designed and cls.method_name not in DESIGNS:
        yield f"tests/core/promises/test_tests.py: give DESIGNS a design for {cls.method_name!r}"
    if cls.needs.fixed and name not in FOR_FIXED_RULES:
        yield f"ucvtest/inference/needs.py: name {name} in FOR_FIXED_RULES"


def of_the_pages(cls: type[HypothesisTest]) -> Iterator[str]:
    """What readers need: the paper, the page, the line in README."""
    short = cls.method_name
    if not any(each.get("test") == short for paper in all_papers() for each in paper.behind):
        yield (
            "ucvtest/results/papers.toml: add the paper, or a table [[paper.behind]] with "
            f'test = "{short}"'
        )
    if not holds(ROOT / "docs" / "methods" / f"{short}.md", f"facts_{short}.md"):
        yield f"docs/methods/{short}.md: write the page"
    if not holds(ROOT / "README.md", rf"\]\(docs/methods/{short}\.md\) .*`{cls.__name__}`"):
        yield (
            "README.md: add `| [Name](docs/methods/"
            f"{short}.md) | the question it answers | `{cls.__name__}` | paper |`"
        )


def of_r(cls: type[HypothesisTest]) -> Iterator[str]:
    """What R needs: its line in R's table, and its help with the test's own arguments."""
    name, script = cls.r_function, write_tests()
    help_page = script.page_of(cls)
    constructor, fit = script.own_arguments(cls)
    for argument in constructor | fit:
        if not holds(help_page, rf"\\item\{{[^}}]*\b{argument}\b[^}}]*\}}"):
            yield f"{told(help_page)}: add an \\item{{{argument}}} to \\arguments"
    if not holds(R / "R" / "tests.R", f'"{cls.__name__}"'):
        yield f"run `python r_bridge/write_tests.py`, which writes {name} for R"


def holds(path: Path, pattern: str) -> bool:
    return path.exists() and re.search(pattern, path.read_text(encoding="utf-8"), re.M) is not None


def told(path: Path) -> str:
    return str(path.relative_to(ROOT))


def path_of(module: str) -> str:
    return module.replace(".", "/") + ".py"


@pytest.mark.parametrize("name", TESTS)
def test_nothing_is_missing(name):
    assert missing(TESTS[name]) == []


def test_every_class_of_the_methods_is_registered():
    found = set()
    for each in pkgutil.walk_packages(ucvtest.methods.__path__, "ucvtest.methods."):
        module = importlib.import_module(each.name)
        found |= {
            value
            for value in vars(module).values()
            if inspect.isclass(value)
            and issubclass(value, HypothesisTest)
            and "method_name" in vars(value)
        }
    assert [sentence for cls in found - {*TESTS.values()} for sentence in missing(cls)] == []


def test_what_r_says_of_the_tests_is_what_the_registry_says():
    for path, text in write_tests().written().items():
        assert path.read_text() == text, "run `python r_bridge/write_tests.py`"


# ------------------------------------------------------------------------------ a newcomer


@dataclass(frozen=True)
class Ties(FitOptions):
    ties: Literal["left out", "halved"] = "left out"


class Newcomer(SignTest):
    """The toy, as if it stood in a file of its own."""

    @fit_by(Ties)
    def fit(self) -> None:
        """Fit, with an option that R's help lacks."""


Newcomer.__name__ = "SignTest"
Newcomer.__module__ = "ucvtest.methods.classical.sign"


def test_a_newcomer_is_told_of_every_place():
    assert missing(Newcomer) == [
        "ucvtest/methods/registry.py: add a line for SignTest",
        "ucvtest/__init__.pyi: add `from ucvtest.methods.classical.sign import SignTest as "
        "SignTest`",
        "tests/core/values/methods/classical/test_sign.py: test SignTest",
        "ucvtest/results/papers.toml: add the paper, or a table [[paper.behind]] with test = "
        '"sign"',
        "docs/methods/sign.md: write the page",
        "README.md: add `| [Name](docs/methods/sign.md) | the question it answers | `SignTest` | "
        "paper |`",
        "r_bridge/ucvtest/man/resampling_tests.Rd: add an \\item{ties} to \\arguments",
        "run `python r_bridge/write_tests.py`, which writes sign_test for R",
    ]


def test_a_newcomer_of_another_kind_is_told_of_more(monkeypatch):
    monkeypatch.setattr(Newcomer, "default_design", None)
    monkeypatch.setattr(Newcomer, "needs", replace(Newcomer.needs, fixed=True))
    monkeypatch.setattr(Newcomer, "in_short", "")
    monkeypatch.setattr(Newcomer, "__module__", "ucvtest.methods.sign.method")
    told_of = missing(Newcomer)
    for sentence in (
        "ucvtest/methods/sign/method.py: give SignTest a line for lists, in_short",
        "tests/core/values/methods/sign/test_sign.py: test SignTest",
        "tests/core/promises/test_tests.py: give DESIGNS a design for 'sign'",
        "ucvtest/inference/needs.py: name SignTest in FOR_FIXED_RULES",
    ):
        assert sentence in told_of


def test_the_page_for_newcomers_lists_these_places():
    page = (ROOT / "docs" / "develop" / "add-a-test.md").read_text()
    named = {sentence.partition(": ")[0] for sentence in missing(Newcomer)[:-1]}
    assert [each for each in named if each.replace("sign", "NAME") not in page] == []
    assert "`python r_bridge/write_tests.py`" in page
    attributes = {name for name in vars(HypothesisTest)["__annotations__"] if name[0] != "_"}
    described = (attributes | {each.name for each in fields(Needs) if each.init}) - {
        "needs",
        "question",
    }
    assert [name for name in described if f"`{name}`" not in page] == []


def test_r_gets_the_function_of_a_newcomer():
    script = write_tests()
    written = {path.name: text for path, text in script.written({"sign": Newcomer}).items()}
    assert (
        '  sign_test = test_spec("SignTest",\n'
        "    constructor = alist(design = random_splits(test_fraction = 0.2)),\n"
        '    fit = alist(ties = "left out")))\n'
    ) in written["tests.R"]
    assert "export(sign_test)\nS3method(sign_test, default)\n" in written["NAMESPACE"]
    assert (
        '    \\code{design = random_splits(test_fraction = 0.2)}, \\code{ties = "left out"}'
    ) in written["resampling_tests.Rd"]
