"""Names say what a thing is: words that could mean anything name nothing in the package."""

import ast
from pathlib import Path

import pytest

import ucvtest

PACKAGE = Path(ucvtest.__file__).parent
PAGE = PACKAGE.parent / "docs" / "develop" / "names.md"
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


def given_names(tree):
    """Names that the code gives, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            yield node.name or "", node.lineno


def empty_names(source):
    """The names among them that say nothing, with their lines."""
    names = given_names(ast.parse(source))
    return [(name, line) for name, line in names if name.strip("_").lower() in EMPTY_WORDS]


def test_nothing_is_called_by_a_word_that_could_mean_anything():
    called = [
        f"{path.relative_to(PACKAGE.parent)}:{line}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for name, line in empty_names(path.read_text(encoding="utf-8"))
    ]
    assert called == [], "say what it is, see docs/develop/names.md"


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "for each in losses: pass",
        "total = sum(one for one in losses)",
        "def _given(): pass",
        "def mean(asked): pass",
        "class Found: pass",
        "self._kept, self.told = 1, 2",
        "try: pass\nexcept ValueError as what: pass",
    ],
)
def test_every_kind_of_name_is_seen(source):
    assert len(empty_names(source)) == 1


def test_words_in_texts_comments_and_calls_are_free():
    assert empty_names("# found\ntext = f'{loss} given'\nresults.each(own=text)") == []


@pytest.mark.skipif(not PAGE.exists(), reason="the package is not in its repository")
def test_the_page_lists_them():
    (listed,) = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if "`after`" in line
    ]
    assert {word.strip("`") for word in listed.rstrip(".").split(", ")} == EMPTY_WORDS
