"""Words and turns of phrase that keep a reader waiting stay out of the pages."""

import ast
import re
import tokenize
from pathlib import Path

import pytest

from tests.support.paths import ROOT

DOCS = ROOT / "docs"
MADE = {"_build", "_generated", "names", "help", "printed"}
PAGES = [
    ROOT / "README.md",
    *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CODE_OF_CONDUCT", "CONTRIBUTING", "SECURITY")),
    ROOT / "paper" / "paper.md",
    *sorted(
        path
        for path in DOCS.rglob("*.md")
        if not MADE & set(path.relative_to(DOCS).parts) and path.name != "changelog.md"
    ),
]

NOT_PROSE = re.compile(
    r"^`{3}.*?^`{3}$|^\$\$$.*?^\$\$$|`[^`]*`|\$[^$\n]+\$|\]\([^)]*\)|^---$.*?^---$|<!--.*?-->",
    re.M | re.S,
)
"""Code, formulas and the targets of links."""

INSTEAD = {
    r"what (?:is|was|are|were|has|have|had|they|each|others|no)\b(?![^.?]*\?)": (
        "a noun, or a verb: 'the estimand', 'the result'"
    ),
    r"(?<!there )(?:is|are|was|were) no (?!longer|more|less)": "is not a, does not have",
    r"\bcovered\b|\bcovers?\b(?! 9\d)": "the interval contains the true value; coverage",
    r"\badmit(?:s|ted)?\b": "accepts",
    r"\bspeaks? (?:for|against)\b": "favours, suggests",
    r"\bholds?\b(?!-)|\bheld against\b": "contains, is valid, is true, is confirmed",
    r"\bof which\b": "two sentences",
    r"\bso many\b": "the number",
    r"\banew\b": "again",
    r"\bbesides?\b": "next to, together with, compared with, apart from",
    r"\bdear\b": "expensive",
    r"\bwhere there (?:is|are) none\b": "if there is none",
    r"\btoo seldom\b": "intervals miss the true value too often",
    r"\bliberal\b": "rejects too often",
    r"\bof one's own\b": "your own",
    r"\bgives? way\b": "is replaced",
    r"\btakes? (?:its|their) time\b": "slow",
    r"\bas soon as as\b": "once",
    r"\blacks?\b": "does not have, is missing",
    r"\bis usual\b": "typical values",
    r"\bhas not\b(?! \w+(?:ed|en|nt|t)\b)": "does not have",
    r"\bthan need be\b": "than necessary",
    r"\bthe very\b(?! rules)(?! model)": "leave it out",
    r"\b(?:it|this) says\b": "name the thing that says it",
    r"\bhad none\b|\bhas none\b": "did not have, has no ...",
    r"\btold of\b|\btold apart\b": "receives, found different",
    r"\blean(?:s|ing)? on\b": "depends on",
    r"\blabelling": "labeling",
}
"""Patterns, and words that a native reader does not stumble over."""


def prose(text: str) -> str:
    """Without code, formulas and addresses, line for line."""
    return NOT_PROSE.sub(lambda found: "\n" * found[0].count("\n"), text)


def found_in(text: str) -> list[str]:
    return [
        f"line {text.count(chr(10), 0, found.start()) + 1}: {found[0]!r}: write {words}"
        for pattern, words in INSTEAD.items()
        for found in re.finditer(pattern, text, re.I)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_are_written_in_plain_words(page: Path) -> None:
    assert found_in(prose(page.read_text(encoding="utf-8"))) == []


PROBLEM = re.compile(r"`(?:held_\w+|bates_\w+|strips|spikes|spambase|null_2)`")
EXPLAINED = ("#problem-held-spam", "#the-problems", "(the-problems)=", "(problems.md)")


def test_pages_that_name_a_problem_lead_to_its_description() -> None:
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    lost = [
        str(page.relative_to(ROOT))
        for page, text in texts.items()
        if PROBLEM.search(text) and not any(target in text for target in EXPLAINED)
    ]
    assert lost == []


PACKAGE = ROOT / "ucvtest"

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(path: Path) -> list[str]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    texts = (ast.get_docstring(node) for node in nodes if isinstance(node, DOCUMENTED))
    return [text for text in texts if text]


def rooms() -> dict[str, str]:
    """The docstrings of each room, and of each module that is a room by itself."""
    found: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).with_suffix("").parts[0]
        found.setdefault(room, []).extend(docstrings(path))
    return {room: prose("\n\n".join(texts)) for room, texts in found.items()}


def test_docstrings_are_written_in_plain_words() -> None:
    found = {room: found_in(text) for room, text in rooms().items()}
    assert {room: lines for room, lines in found.items() if lines} == {}


BESIDE = ("mlflow_plugin", "r_bridge/ucvtest_r")
"""Packages of ours whose messages reach users too."""

MESSAGE = re.compile(r"\w+(?: \S+){2}")
"""Three words in a row: shorter texts are names and keys."""


def text_of(node: ast.AST) -> str:
    """A literal, with {} for what an f-string fills in."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(text_of, node.values))
    return str(node.value) if isinstance(node, ast.Constant) else "{}"


def messages(path: Path) -> list[str]:
    """String literals of several words that are not docstrings: messages, notes, verdicts."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    skipped = {node.value for node in nodes if isinstance(node, ast.Expr)}
    skipped |= {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    literals = [
        node
        for node in nodes
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    ]
    texts = [text_of(node) for node in literals if node not in skipped]
    return [text for text in texts if MESSAGE.search(text)]


@pytest.mark.parametrize("folder", ["ucvtest", *BESIDE])
def test_messages_are_written_in_plain_words(folder: str) -> None:
    found = {
        str(path.relative_to(ROOT)): lines
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (lines := found_in("\n".join(messages(path))))
    }
    assert found == {}


def comments(path: Path) -> list[str]:
    with path.open("rb") as file:
        tokens = tokenize.tokenize(file.readline)
        return [token.string for token in tokens if token.type == tokenize.COMMENT]


@pytest.mark.parametrize("folder", ["ucvtest", *BESIDE, "examples", "studies", "tests/support"])
def test_comments_and_docstrings_are_written_in_plain_words(folder: str) -> None:
    found = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = prose("\n".join([*comments(path), *docstrings(path)]))
        if lines := found_in(text):
            found[str(path.relative_to(ROOT))] = lines
    assert found == {}


R_PACKAGE = ROOT / "r_bridge" / "ucvtest"
R_CODE = re.compile(r"\\code\{[^{}]*\}|\\(?:usage|examples)\{.*?\n\}|`{3}.*?`{3}", re.S)


@pytest.mark.parametrize("pattern", ["man/*.Rd", "vignettes/*.Rmd"])
def test_pages_of_the_r_package_are_written_in_plain_words(pattern: str) -> None:
    texts = {
        path.name: R_CODE.sub("", path.read_text(encoding="utf-8"))
        for path in R_PACKAGE.glob(pattern)
    }
    assert {name: lines for name, text in texts.items() if (lines := found_in(text))} == {}
