"""The pages of the documentation are complete, agree with the package, and lead somewhere."""

import importlib
import json
import re
import subprocess
import sys
from functools import reduce

import pytest

import ucvtest as uv
from tests.support.paths import ROOT
from ucvtest.methods.registry import TESTS
from ucvtest.metrics.named import SMOOTH
from ucvtest.results.citations import all_papers

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from made import reference as made_reference
from made.files import Folder

DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if not {"_build", "_ext", "_generated", "help"} & set(path.relative_to(DOCS).parts)
)
TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
EXECUTED = re.compile(r"^```\{code-cell\} python\n(?::.*\n)*(.*?)^```$", re.M | re.S)
INCLUDED = re.compile(r"^```\{include\} (\S+)\n((?::.*\n)*)```$", re.M)
PARTS = (
    "What it estimates",
    "How it is computed",
    "What it assumes",
    "What it costs",
    "When it fails",
    "Errata",
    "References",
)
"""Of the page of each method, below its question."""

LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """Labels, and headings as links name them."""
    headings = re.findall(r"^#{1,3} (.+)$", text, re.M)
    made = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
    return made | set(re.findall(r"^\(([\w-]+)\)=$", text, re.M))


def ids(pages):
    return [str(page.relative_to(DOCS)) for page in pages]


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The pages of the reference, which a build writes."""
    parts, names = (Folder(tmp_path_factory.mktemp(each)) for each in ("parts", "names"))
    made_reference.write(parts, names)
    return {path.stem: path.read_text() for path in names.path.iterdir()}


def test_every_public_name_has_a_page(reference):
    public = json.loads((ROOT / "tests/core/promises/public_names.json").read_text())
    missing = []
    for name, kind in public.items():
        owner = name.rpartition(".")[0]
        itself = f"ucvtest.{name}" in reference
        member = ":members:" in reference.get(f"ucvtest.{owner}", "")
        # A result that unpacks, as namedtuples do, shows its fields in its own text.
        if not (itself or member or kind == "module" or f"ucvtest.{owner}" in reference):
            missing.append(name)
    assert missing == []


def test_every_test_has_a_page_that_shows_what_was_measured():
    # The list of pages ends with all that it does not name.
    assert {":glob:", "*"} <= {*TEXTS[DOCS / "methods" / "index.md"].splitlines()}
    for name in TESTS:
        text = TEXTS[DOCS / "methods" / f"{name}.md"]
        assert f"(method-{name.replace('_', '-')})=" in text
        for part in ("facts", "calibration", "references"):
            assert f"../_generated/{part}_{name}.md" in text
        headings = re.findall(r"^## (.+)$", text, re.M)
        assert [each for each in PARTS if each not in headings] == [], name
        question = text.partition("```{include} ../_generated/facts")[0]
        assert "?" in question or "{warning}" in question or "same" in question, name
        assert "$$" in text, name


@pytest.mark.parametrize("page", PAGES, ids=ids(PAGES))
def test_links_lead_to_pages_and_headings(page):
    everywhere = set().union(*map(anchors, TEXTS.values()))
    lost = []
    for target in LINK.findall(TEXTS[page]):
        path, _, anchor = target.partition("#")
        if not path:
            found = anchor in everywhere
        elif path.startswith("../_generated/"):
            found = True  # a build that lacks it fails
        else:
            file = (page.parent / path).resolve()
            found = file.exists() and (not anchor or anchor in anchors(file.read_text()))
        if not found:
            lost.append(target)
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=ids(PAGES))
def test_what_pages_include_of_other_files_is_there_once(page):
    for path, options in INCLUDED.findall(TEXTS[page]):
        if "_generated" in path:
            continue
        text = (page.parent / path).read_text(encoding="utf-8")
        for marked in re.findall(r'^:(?:start-after|end-before): "(.*)"$', options, re.M):
            assert text.count(marked) == 1, marked


@pytest.mark.parametrize(
    ("page", "command"),
    {
        "tutorials/auc.md": 'loss="auc"',
        "tutorials/two-learners.md": "uv.compare(X, y, {",
        "tutorials/predictions.md": "from_predictions",
        "tutorials/curves.md": "uv.curves.roc",
        "tutorials/groups.md": "groups=patient",
        "tutorials/gate.md": '"margin": 0.02',
        "r/index.md": "caret::train(",
    }.items(),
)
def test_a_question_is_one_click_from_the_front(page, command):
    assert f"]({page})" in TEXTS[DOCS / "index.md"]
    assert command in TEXTS[DOCS / page]


def test_pages_that_are_executed_say_so():
    for page, text in TEXTS.items():
        assert bool(EXECUTED.findall(text)) == text.startswith("---\nfile_format: mystnb"), page


def test_makefile_targets_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    named = {name for text in TEXTS.values() for name in re.findall(r"`make ([a-z]+)`", text)}
    assert named <= targets


def test_scripts_that_pages_name_exist():
    named = {
        path
        for text in TEXTS.values()
        for path in re.findall(r"python\s+((?:examples|studies)/[\w/]+\.py)", text)
    }
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_names_that_pages_link_exist():
    roles = re.compile(r"\{py:\w+\}`~?([\w.]+)`")
    for name in {name for text in TEXTS.values() for name in roles.findall(text)}:
        package, *rest = name.split(".")
        assert reduce(getattr, rest, importlib.import_module(package)) is not None


def test_functions_of_r_are_exported():
    exported = (ROOT / "r_bridge" / "ucvtest" / "NAMESPACE").read_text()
    called = re.compile(r"(?<![:\w.])(\w+_(?:test|tests|learners|losses))\(")
    code = re.findall(r"^```r\n(.*?)^```$", TEXTS[DOCS / "r" / "index.md"], re.M | re.S)
    names = {name for block in code for name in called.findall(block)}
    assert len(names) >= 5
    assert [name for name in names if f"export({name})" not in exported] == []


def test_citations_are_known():
    keys = {paper.key for paper in all_papers()}
    cited = {key for text in TEXTS.values() for key in re.findall(r"\{footcite:t\}`(\w+)`", text)}
    assert cited <= keys


@pytest.mark.slow
def test_the_whole_documentation_builds(tmp_path):
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    check = [sys.executable, "docs/check_links.py", str(tmp_path)]
    for command in ([*build, "docs", str(tmp_path)], check):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_metric_is_on_its_page():
    page = TEXTS[DOCS / "choose" / "metrics.md"]
    averages = ("_macro", "_weighted", "_micro")
    names = [name for name in SMOOTH if not name.endswith(averages)]
    assert [name for name in names if f'"{name}"' not in page] == []
    makers = [f"uv.metrics.{name}" for name in uv.metrics.__all__ if name not in SMOOTH]
    assert [name for name in makers if name not in page and name != "uv.metrics.kappa"] == []
