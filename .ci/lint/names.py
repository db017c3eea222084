"""Names say what a thing is: words that could mean anything name nothing in the package."""

import ast
from collections.abc import Iterator

from files import ROOT

PAGE = ROOT / "docs" / "develop" / "names.md"
EMPTY_WORDS = frozenset(
    [
        "after",
        "asked",
        "beside",
        "both",
        "each",
        "end",
        "facts",
        "found",
        "further",
        "given",
        "got",
        "here",
        "how",
        "info",
        "look",
        "misc",
        "obj",
        "one",
        "others",
        "pieces",
        "ret",
        "said",
        "shown",
        "sides",
        "something",
        "stuff",
        "temp",
        "thing",
        "things",
        "tmp",
        "told",
        "turns",
        "usual",
        "util",
        "val",
        "wanted",
        "ways",
        "what",
        "why",
    ]
)
"""What nothing is called, with or without underscores."""


def given_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that the code gives, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            yield node.name or "", node.lineno


def empty_names(source: str) -> list[tuple[str, int]]:
    """The names among them that say nothing, with their lines."""
    names = given_names(ast.parse(source))
    return [(name, line) for name, line in names if name.strip("_").lower() in EMPTY_WORDS]


def findings() -> Iterator[str]:
    """Names that say nothing, and words that the page and this list do not share."""
    for path in sorted((ROOT / "ucvtest").rglob("*.py")):
        for name, line in empty_names(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT)}:{line}: {name}: see docs/develop/names.md"
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    (listed,) = [line for line in lines if "`after`" in line]
    words = {word.strip("`") for word in listed.rstrip(".").split(", ")}
    for word in sorted(words ^ EMPTY_WORDS):
        yield f"{PAGE.relative_to(ROOT)}: {word}: stands in the page or in .ci/lint/names.py alone"
