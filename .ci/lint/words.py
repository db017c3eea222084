"""Words and turns of phrase that keep a reader waiting stay out of pages, comments and messages."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from files import ROOT

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
R_PACKAGE = ROOT / "r_bridge" / "ucvtest"
OF_MESSAGES = ("ucvtest", "mlflow_plugin", "r_bridge/ucvtest_r")
OF_COMMENTS = (*OF_MESSAGES, "examples", "studies", "tests/support", ".ci")

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
    """Phrases to be written otherwise, with their lines."""
    return [
        f"{text.count(chr(10), 0, found.start()) + 1}: {found[0]!r}: write {words}"
        for pattern, words in INSTEAD.items()
        for found in re.finditer(pattern, text, re.I)
    ]


PROBLEM = re.compile(r"`(?:held_\w+|bates_\w+|strips|spikes|spambase|null_2)`")
EXPLAINED = ("#problem-held-spam", "#the-problems", "(the-problems)=", "(problems.md)")

R_CODE = re.compile(r"\\code\{[^{}]*\}|\\(?:usage|examples)\{.*?\n\}|`{3}.*?`{3}", re.S)

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(path: Path) -> list[str]:
    """All of a file."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    texts = (ast.get_docstring(node) for node in nodes if isinstance(node, DOCUMENTED))
    return [text for text in texts if text]


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


def comments(path: Path) -> list[str]:
    """All of a file."""
    with path.open("rb") as file:
        tokens = tokenize.tokenize(file.readline)
        return [token.string for token in tokens if token.type == tokenize.COMMENT]


def texts() -> Iterator[tuple[Path, str]]:
    """Files, and the part of them that people read."""
    for page in PAGES:
        yield page, prose(page.read_text(encoding="utf-8"))
    for pattern in ("man/*.Rd", "vignettes/*.Rmd"):
        for page in sorted(R_PACKAGE.glob(pattern)):
            yield page, R_CODE.sub("", page.read_text(encoding="utf-8"))
    for folder in OF_MESSAGES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, "\n".join(messages(path))
    for folder in OF_COMMENTS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, prose("\n".join([*comments(path), *docstrings(path)]))


def findings() -> Iterator[str]:
    """Lines to be written otherwise; of code, lines of its messages or comments alone."""
    for path, text in texts():
        for line in found_in(text):
            yield f"{path.relative_to(ROOT)}:{line}"
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if PROBLEM.search(text) and not any(target in text for target in EXPLAINED):
            yield f"{page.relative_to(ROOT)}: names a problem, and does not link its description"
