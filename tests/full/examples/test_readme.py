"""README is short, complete and leads somewhere; tests/full/docs/test_code.py runs its code."""

import re

import pytest

from tests.support.paths import ROOT
from tests.support.scripts import script
from ucvtest.methods.registry import TESTS

README = ROOT / "README.md"
LONGEST = 150


def test_it_is_one_document() -> None:
    assert len(README.read_text().splitlines()) <= LONGEST


def test_every_test_is_listed_with_its_page() -> None:
    rows = re.findall(
        r"^\| \[.*?\]\(docs/methods/(\w+)\.md\) .*?\| `(\w+)`", README.read_text(), re.M
    )
    assert dict(rows) == {name: cls.__name__ for name, cls in TESTS.items()}


def test_links_lead_to_files() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#\s]+)", README.read_text())
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_named_targets_exist() -> None:
    makefile = README.with_name("Makefile").read_text()
    targets = set(re.findall(r"\bmake ([a-z]+)", README.read_text()))
    assert {"demo", "test"} <= targets
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


def test_continuous_integration_types_what_people_are_told_to_type() -> None:
    told = re.findall(r"^    (make [a-z]+)", README.read_text(), re.M)
    typed = re.findall(r"^(make [a-z]+)$", (ROOT / ".ci" / "run").read_text(), re.M)
    assert typed == told == ["make demo", "make test"]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_opening_case_has_the_numbers_of_its_example(page: str) -> None:
    usual, ours, _ = script("examples/opening.py").answers(quick=True)
    words = " ".join((ROOT / page).read_text().split())
    first, second = (usual.diagnostics[f"estimate_{which}"] for which in ("learner", "other"))
    assert f"misclassifies {first:.0%} of the patients and the other {second:.0%}" in words
    assert usual.pvalue < 0.001
    assert f"(p = {ours.pvalue:.2f})" in words
