"""Arguments, calls, values and row numbers in the words of Python, R and the shell."""

import ast
from pathlib import Path

import numpy as np
import pytest
from ucvtest_r.wording import RDoor

import ucvtest as uv
from tests.support.paths import ROOT
from ucvtest.cli.errors import ShellDoor
from ucvtest.common import words
from ucvtest.common.words import Door, same_door, through

DOORS = {
    "Python": Door(),
    "R": RDoor(),
    "shell": ShellDoor({"learn_size": "--learn-size", "loss": "--loss", "test": "--test"}),
}

ROWS = [line.split("\t") for line in Path(__file__).with_name("words.tsv").read_text().splitlines()]


@pytest.mark.parametrize(("token", "python", "r", "shell"), ROWS[1:], ids=lambda text: text)
def test_each_door_writes_a_token_in_its_words(token: str, python: str, r: str, shell: str) -> None:
    for name, expected in zip(ROWS[0][1:], (python, r, shell), strict=True):
        with through(DOORS[name]):
            assert str(eval(token, vars(words) | {"np": np})) == expected


def test_a_door_is_open_in_its_context_alone() -> None:
    with through(DOORS["R"]):
        with pytest.raises(ValueError, match="n_folds must be an integer, got TRUE"):
            uv.designs.KFold(True)
        in_worker = same_door()
    with pytest.raises(ValueError, match="n_folds must be an integer, got True"):
        uv.designs.KFold(True)
    with in_worker():
        assert words.excerpt(True) == "TRUE"


def test_tokens_are_written_when_a_message_is_made() -> None:
    # Constants of modules are made at import, when no door is open.
    tokens = {"arg", "call", "item", "excerpt", "place", "term", "cause_of", "has"}
    early = []
    for path in sorted((ROOT / "ucvtest").rglob("*.py")):
        waiting: list[ast.AST] = [ast.parse(path.read_text())]
        while waiting:
            node = waiting.pop()
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                waiting += [*getattr(node, "decorator_list", []), node.args]
                continue
            function = getattr(node, "func", None)
            if isinstance(function, ast.Name) and function.id in tokens:
                early.append(f"{path.name}: {ast.unparse(node)}")
            waiting += ast.iter_child_nodes(node)
    assert early == []
